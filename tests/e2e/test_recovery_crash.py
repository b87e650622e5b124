"""``kill -9`` of ``dragoman run`` at any moment of a long answer, the platform living on, and a start after it.

The model is a server of ours. Every time that it is asked it writes other words, each with the number of the request,
so that the conversation tells which words are whose. The judge reads that and the requests, and nothing else.
"""

import json
import math
import os
import random
import re
import signal
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from aiohttp import web

from adapters.loopback.discord import LoopbackDiscord
from adapters.loopback.discord.route import CALLBACK_ROUTE as CALLBACK
from adapters.loopback.discord.route import PATCH_ORIGINAL
from adapters.loopback.feed import Feed
from adapters.loopback.log import Call
from adapters.loopback.slack import LoopbackSlack
from tests.e2e.answer import long_answer
from tests.e2e.command import configure, connected
from tests.e2e.ground import TERMS, Ground, Name, Way, open_ground, order
from tests.e2e.judge import Look, Row, without_first_tries

KILLS = max(20, 10 * int(os.environ.get("DRAGOMAN_SOAK") or 0))
EACH, AT_ONCE = 5, 4
"""Kills in a conversation, and how many of those there are side by side."""

LENGTH = 6_000
DELTA = 40
SECONDS = 1.5
"""How long the model writes at an answer."""

KEPT = 0.5
"""Real seconds behind the model's end until its answer is in the store for certain."""

PATIENCE = 60
"""Real seconds until an answer counts as one that never comes."""

POSTS = 8
CALLS = 20
"""About as many as an answer takes."""


@dataclass(slots=True, kw_only=True)
class Model:
    """Anthropic's Messages API, as far as an answer takes it."""

    seed: int
    url: str = ""
    requests: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    written: float = 0.0
    feed: Feed[None] = field(default_factory=Feed[None])

    def answer(self, number: int) -> str:
        """What it writes when it is asked for the n-th time."""
        return _answer(self.seed, number)

    async def until_written(self, share: float) -> None:
        """Return when it has written so much of the present answer."""
        await self.feed.until(lambda: self.written >= share)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        number, text = len(self.requests), self.answer(len(self.requests))
        self.requests.append((await request.json())["messages"])
        self.written = 0.0
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        with suppress(ConnectionError):  # whoever listened was killed
            await response.prepare(request)
            await response.write(b"".join(map(_event, _before(number))))
            for start in range(0, len(text), DELTA):
                delta = {"type": "text_delta", "text": text[start : start + DELTA]}
                await response.write(_event({"type": "content_block_delta", "index": 0, "delta": delta}))
                self._progress((start + DELTA) / len(text), number)
                await anyio.sleep(SECONDS * DELTA / len(text))
            await response.write(b"".join(map(_event, _BEHIND)))
            self._progress(math.inf, number)
        return response

    def _progress(self, share: float, number: int) -> None:
        if number == len(self.requests) - 1:
            self.written = share
            self.feed.publish(None)


@cache
def _answer(seed: int, number: int) -> str:
    return long_answer(LENGTH, seed=seed * 1000 + number, prefix=f"r{number}w")


def _before(number: int) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    return [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]


_BEHIND: list[dict[str, Any]] = [
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
]


def _event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


@asynccontextmanager
async def model_of(seed: int) -> AsyncGenerator[Model]:
    model = Model(seed=seed)
    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_post("/v1/messages", model.respond)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        model.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield model
    finally:
        await runner.cleanup()


@dataclass(slots=True, kw_only=True)
class Question:
    """A question, the first request that was made for it, and what stood behind it when the gateway was killed.

    ``answer`` is the request that must be the last one, because the model had finished and was not to be asked again.
    """

    asked: str
    way: Way
    first: int
    answer: int | None = None
    at_kills: list[list[Row]] = field(default_factory=list[list[Row]])


@dataclass(slots=True, kw_only=True)
class Lane:
    """A conversation, the model, a gateway, and what was asked there."""

    ground: Ground
    model: Model
    dice: random.Random
    log: Path
    gateway: anyio.abc.Process
    questions: list[Question] = field(default_factory=list[Question])

    @property
    def question(self) -> Question:
        """The last."""
        return self.questions[-1]

    def ask(self, way: Way) -> None:
        asked = self.ground.ask(f"Question {len(self.questions)}.", way)
        self.questions.append(Question(asked=asked, way=way, first=len(self.model.requests)))

    def kill(self) -> None:
        """``kill -9``. Done twice it is done once."""
        with suppress(ProcessLookupError):
            self.gateway.kill()

    def rows(self, question: Question) -> list[Row]:
        """What the bot wrote behind a question, and in front of the next."""
        behind = [each.asked for each in self.questions if order(each.asked) > order(question.asked)]
        rows = [row for row in self.ground.rows() if order(row.id) > order(question.asked)]
        return [row for row in rows if not behind or order(row.id) < order(behind[0])]

    def shown(self, question: Question) -> list[Row]:
        """The same without first tries, where there can be doubts: nobody hears of a post, or is too late to ask."""
        rows = self.rows(question)
        if isinstance(self.ground.server, LoopbackSlack):
            return rows
        looks = {look for draft in self.drafts(question) for look in draft}
        for notice in (self.ground.notice, self.ground.moved):
            rows = without_first_tries(rows, looks, notice)
        return rows

    def requests(self, question: Question) -> range:
        """The numbers of the requests that were made for it."""
        last = next((each.first for each in self.questions if each.first > question.first), len(self.model.requests))
        return range(question.first, last)

    def drafts(self, question: Question) -> list[list[Look]]:
        """How each answer to it would be shown whole."""
        return [self.ground.terms.looks(self.model.answer(number)) for number in self.requests(question)]

    def read(self, question: Question) -> list[list[Row]]:
        """The chunks of each draft that stand there, one behind the other; the rest is left over."""
        rows = self.shown(question)
        parts: list[list[Row]] = []
        for draft in self.drafts(question):
            pairs = zip(rows, draft, strict=False)
            parts.append([row for row, _ in takewhile(lambda pair: pair[0].look == pair[1], pairs)])
            rows = rows[len(parts[-1]) :]
        return [*parts, rows]

    def whole(self, question: Question) -> bool:
        """Whether there stands what was whole of the earlier drafts, all of the last one, and nothing else."""
        *parts, rest = self.read(question)
        return bool(parts) and not rest and [row.look for row in parts[-1]] == self.drafts(question)[-1]

    def _runs_ended(self) -> int:
        return self.log.read_text(encoding="utf-8").count(": complete, messages: ")

    async def answered(self) -> None:
        """Wait until the last question is, and its run is over: until then the model may be asked once more."""
        with anyio.move_on_after(PATIENCE):
            while not (self._runs_ended() >= len(self.questions) and self.whole(self.question)):  # noqa: ASYNC110 - a log tells nobody that it grew
                await anyio.sleep(0.05)
        if not self.whole(self.question):
            drafts = self.drafts(self.question)
            pytest.fail(
                f"{self.question}\nis answered by\n{[_place(row.look, drafts) for row in self.rows(self.question)]}"
            )


def _place(look: Look, drafts: Sequence[Sequence[Look]]) -> tuple[int, int] | str:
    """The draft and the number of a chunk."""
    return next(((at, draft.index(look)) for at, draft in enumerate(drafts) if look in draft), repr(look))


Moment = Callable[[Lane], Awaitable[str]]
"""Kills the gateway when its moment has come, and says which that was."""


async def at_a_call(lane: Lane) -> str:
    """When the platform has done what it was asked, and before its answer is out."""
    calls, left = lane.ground.server.calls, lane.dice.randrange(1, CALLS)
    last, done = len(calls) + left, anyio.Event()

    def observe() -> None:
        if len(calls) >= last and not done.is_set():
            lane.kill()
            done.set()

    unsubscribe = lane.ground.venue.subscribe(observe)
    with anyio.move_on_after(3 * SECONDS):
        await done.wait()
    unsubscribe()
    return f"at a call, {max(0, last - len(calls))} short"


async def while_a_post_is_unheard(lane: Lane) -> str:
    """While the answer to a post is on its way; it never comes."""
    number, ground = lane.dice.randrange(POSTS), lane.ground
    posts = ground.terms.posts
    taken = ground.calls(posts) + number
    with anyio.move_on_after(3 * SECONDS):
        await ground.venue.until(lambda: ground.calls(posts) >= taken)
        ground.hold(posts, math.inf)
        await ground.venue.until(lambda: ground.calls(posts) > taken)
        await anyio.sleep(lane.dice.uniform(0, 0.1))
    return f"while post {number} was unheard"


async def while_the_model_writes(lane: Lane) -> str:
    """Between two of its words."""
    share = lane.dice.random()
    with anyio.move_on_after(3 * SECONDS):
        await lane.model.until_written(share)
    return f"at {share:.0%} of the answer"


async def at_the_last_operations(lane: Lane) -> str:
    """While the answer to one of the calls behind the model's end is on its way."""
    with anyio.move_on_after(6 * SECONDS):
        await lane.model.until_written(math.inf)
    terms, calls = lane.ground.terms, len(lane.ground.server.calls)
    lane.ground.hold([*terms.posts, *terms.edits], math.inf)
    with anyio.move_on_after(0.5):
        await lane.ground.venue.until(lambda: len(lane.ground.server.calls) > calls)
        if lane.model.written == math.inf:
            lane.question.answer = lane.requests(lane.question)[-1]
    await anyio.sleep(KEPT)
    return f"at the last operations, {len(lane.ground.server.calls) - calls} of them unheard"


async def behind_the_model(lane: Lane) -> str:
    """When it has written all."""
    with anyio.move_on_after(3 * SECONDS):
        await lane.model.until_written(math.inf)
    pause = lane.dice.uniform(0, 0.3)
    await anyio.sleep(pause)
    return f"{pause:.2f} s behind the model's end"


def discord_of(lane: Lane) -> LoopbackDiscord:
    assert isinstance(lane.ground.server, LoopbackDiscord)
    return lane.ground.server


async def between_store_and_deferral(lane: Lane) -> str:
    """A command was stored, and its first answer never comes through."""
    discord = discord_of(lane)
    discord.fail_next(CALLBACK, status=0, times=1000)
    with anyio.move_on_after(3 * SECONDS):
        await discord.until(lambda: lane.question.at_kills or _refused(discord.calls.of(CALLBACK)[-1:]))
    return "between store and deferral"


def _refused(calls: Sequence[Call]) -> bool:
    return any(call.status == 0 for call in calls)


async def between_deferral_and_first_edit(lane: Lane) -> str:
    """Readers wait for a command's answer, of which nothing is there."""
    discord = discord_of(lane)
    discord.delay_next(PATCH_ORIGINAL, math.inf)
    with anyio.move_on_after(3 * SECONDS):
        await discord.until(lambda: lane.question.way == "said" or discord.interaction(lane.question.asked).response)
    return "between deferral and first edit"


async def behind_the_tokens_life(lane: Lane) -> str:
    """In mid-answer; when the gateway is there again, its command has expired."""
    share = lane.dice.uniform(0, 0.3)
    with anyio.move_on_after(3 * SECONDS):
        await lane.model.until_written(share)
    lane.kill()
    if lane.question.way == "command":
        discord_of(lane).expire(lane.question.asked)
    return f"at {share:.0%} of the answer, its command expired"


ANYWHERE: Sequence[Moment] = (
    at_a_call,
    while_a_post_is_unheard,
    while_the_model_writes,
    at_the_last_operations,
    behind_the_model,
)
OF_COMMANDS: Sequence[Moment] = (between_store_and_deferral, between_deferral_and_first_edit, behind_the_tokens_life)
MOMENTS: Mapping[Name, Sequence[Moment]] = {
    "slack": ANYWHERE,
    "discord": (*ANYWHERE, *OF_COMMANDS),
    "telegram": ANYWHERE,
}


def words(text: str) -> list[str]:
    return re.findall(r"r\d+w\d{4}", text)


def said(message: dict[str, Any]) -> str:
    content: str | list[dict[str, str]] = message["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def assert_nothing_was_taken_back(lane: Lane) -> None:
    """What was sealed at a kill stands as it stood; what was half is where it was, written over. No word is twice."""
    shown: list[str] = []
    for question in lane.questions:
        assert question.answer in {None, lane.requests(question)[-1]}
        rows, lost = lane.rows(question), lane.ground.lost(question.asked)
        for then in question.at_kills:
            now = rows[: len(then)]
            assert lost or [row.id for row in now] == [row.id for row in then]
            assert lost or [row.look for row in now[:-1]] == [row.look for row in then[:-1]]
        shown += words("\n".join(row.text for row in lane.shown(question)))
    assert len(shown) == len(set(shown))
    assert not lane.ground.waiting()


def assert_requests_are_legal(lane: Lane) -> None:
    """Each alternates, begins and ends with the user, and holds what stands there of what the model wrote."""
    shown: list[str] = []
    for question in lane.questions:
        for number, part in zip(lane.requests(question), lane.read(question)[:-1], strict=True):
            roles = [message["role"] for message in lane.model.requests[number]]
            assert roles == ["user", *["assistant", "user"] * (len(roles) // 2)]
            assert all(said(message).strip() for message in lane.model.requests[number])
            spoken = [said(message) for message in lane.model.requests[number] if message["role"] == "assistant"]
            assert words("\n".join(spoken)) == shown
            shown += words("\n".join(row.text for row in part))


MODEL = """
provider = "anthropic_messages"
name = "m"
max_tokens = 8192
base_url = "{url}"
api_key = "file:{key}"
"""


async def ask_and_kill(platform: Name, seed: int, kills: int, folder: Path, told: list[str]) -> None:
    """Ask and kill, over and over, in one conversation; then ask once more."""
    dice = random.Random(seed)
    moments = [each for _ in range(kills) for each in dice.sample(MOMENTS[platform], len(MOMENTS[platform]))]
    await anyio.Path(folder).mkdir()
    await anyio.Path(folder / "key").write_text("sk-ant-local", encoding="utf-8")
    async with model_of(seed) as model, open_ground(platform, 20) as ground, AsyncExitStack() as stack:
        asks = MODEL.format(url=model.url, key=folder / "key")
        configure(folder, ground.venue, ground.scale, model=asks, settings=ground.settings)
        gateway = await stack.enter_async_context(connected(folder, ground.venue))
        lane = Lane(ground=ground, model=model, dice=dice, log=folder / "log", gateway=gateway)
        while kills:
            lane.ask("command" if moments[-1] in OF_COMMANDS else dice.choice(("said", "command")))
            for _ in range(min(kills, dice.choice((1, 1, 1, 2)))):
                model.written = 0.0
                told.append(await moments.pop()(lane))
                kills -= 1
                assert gateway.returncode in {None, -signal.SIGKILL}
                lane.kill()
                await stack.aclose()
                lane.question.at_kills.append(lane.rows(lane.question))
                ground.server.behave()
                lane.gateway = gateway = await stack.enter_async_context(connected(folder, ground.venue))
            await lane.answered()
        lane.ask("said")
        await lane.answered()
        assert len(lane.requests(lane.question)) == 1
        assert_nothing_was_taken_back(lane)
        assert_requests_are_legal(lane)


@pytest.mark.parametrize("platform", TERMS)
async def test_an_answer_reads_as_one_whenever_the_gateway_was_killed(platform: Name, tmp_path: Path) -> None:
    """Several lanes at once, because most of the time goes into starting; each of them is five kills long."""
    told: list[str] = []
    failed: list[str] = []
    at_once = anyio.CapacityLimiter(AT_ONCE)

    async def one(lane: int) -> None:
        mine: list[str] = []
        async with at_once:
            try:
                await ask_and_kill(platform, lane, EACH, tmp_path / str(lane), mine)
            except (Exception, pytest.fail.Exception):  # noqa: BLE001 - told below
                failed.append(f"lane {lane}, killed {'; '.join(mine)}:\n{traceback.format_exc()}")
        told.extend(mine)

    async with anyio.create_task_group() as tasks:
        for lane in range(KILLS // EACH):
            tasks.start_soon(one, lane)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)
    assert len(told) == KILLS
