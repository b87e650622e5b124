"""A Slack that misbehaves at random: whatever it does, an answer stands in its thread whole, once and in order.

The judge looks at the platform's own state, never at what the gateway says of it. Each word of an answer is numbered.
"""

import os
import random
import traceback
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.loopback.log import Call
from adapters.loopback.slack import LoopbackSlack, Workspace
from adapters.slack.render import undo
from chunker import split
from gateway import app
from gateway.conversation import RunEnded
from gateway.event import Envelope
from gateway.notice import MAY_BE_A_REPEAT
from tests.e2e.answer import long_answer
from tests.e2e.command import play, write_configuration

SOAK = int(os.environ.get("DRAGOMAN_SOAK") or 0)
SEEDS = max(30, 20 * SOAK)
DEAF_SEEDS = SEEDS // 5
PLAYED = (0, 1, 3, *range(10, 2 * SOAK))
"""Those that go through the command, in a process of its own each."""

AT_ONCE = 36
LIMIT = 800
PATIENCE = 200
"""Real seconds until a run counts as one that never ends: the longest waits are 10 s each, and come in rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A message of the bot's; ``deleted`` by a reader."""

    text: str
    deleted: bool


Judge = Callable[[Sequence[Row], Sequence[str]], None]
"""Compares the thread with the chunks that it should show."""


def assert_whole_once_in_order(rows: Sequence[Row], chunks: Sequence[str]) -> None:
    """Each chunk stands there once, in its place, or was read in whole before its reader deleted it."""
    missing = list(chunks)
    read = {row.text for row in rows if row.deleted}
    for row in rows:
        if not row.deleted:
            assert row.text in missing, f"shown twice, out of order, or no chunk at all: {row.text!r}"
            at = missing.index(row.text)
            assert not set(missing[:at]) - read, f"never shown whole: {missing[:at]}"
            missing = missing[at + 1 :]
    assert not set(missing) - read, f"never shown whole: {missing}"


def assert_doubts_are_marked(rows: Sequence[Row], chunks: Sequence[str]) -> None:
    """The same, but that in front of a notice there may be what it is about: a first try at what follows."""
    assert_whole_once_in_order(
        [row for at, row in enumerate(rows) if not _doubtful(row, rows[at + 1 :], chunks)], chunks
    )


def _doubtful(row: Row, behind: Sequence[Row], chunks: Sequence[str]) -> bool:
    """Whether a message is a notice, or one that a notice is about."""
    if row.text == MAY_BE_A_REPEAT:
        return True
    following = next((each.text for each in behind if each.text == MAY_BE_A_REPEAT or not each.deleted), None)
    return following == MAY_BE_A_REPEAT and (row.text not in chunks or row.text in {each.text for each in behind})


def assert_waits_were_kept(calls: Sequence[Call]) -> None:
    """Who was told to wait called that method again when the time was over, and not before."""
    for method in {call.method for call in calls}:
        for call, following in pairwise(sorted((c for c in calls if c.method == method), key=lambda c: c.t)):
            assert call.retry_after is None or following.t >= call.t + call.retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is tried: a seed in a workspace, with an answer of some length, under a judge."""

    name: str
    seed: int
    workspace: Workspace
    length: int
    assert_shown: Judge


DEAF = Workspace(scopes=tuple(scope for scope in Workspace().scopes if not scope.endswith(":history")))
"""Here nothing can be read back, so that a post without an answer stays a doubt. Ten of them end a reply."""

CASES = [
    *(
        Case(name="faults", seed=seed, workspace=Workspace(), length=6_000, assert_shown=assert_whole_once_in_order)
        for seed in range(SEEDS)
    ),
    *(
        Case(name="deaf", seed=seed, workspace=DEAF, length=1_500, assert_shown=assert_doubts_are_marked)
        for seed in range(DEAF_SEEDS)
    ),
]


class Ends:
    """Waits for the ends of runs."""

    def __init__(self) -> None:
        self.ended: list[RunEnded] = []
        self._told = anyio.Event()

    def watch(self, what: Envelope | RunEnded) -> None:
        if isinstance(what, RunEnded):
            self.ended.append(what)
            self._told.set()
            self._told = anyio.Event()

    async def until(self, count: int) -> None:
        with anyio.fail_after(PATIENCE):
            while len(self.ended) < count:
                await self._told.wait()


@asynccontextmanager
async def gateway(folder: Path) -> AsyncGenerator[Ends]:
    """A gateway in this process, as ``dragoman run`` has it."""
    ends, ready, stop = Ends(), anyio.Event(), anyio.Event()
    parts = app.assemble(app.configure(folder / "dragoman.toml"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: app.serve(parts, watch=ends.watch, ready=ready.set, stop=stop))
        with anyio.fail_after(PATIENCE):
            await ready.wait()
        yield ends
        stop.set()


def script(answers: Sequence[str]) -> str:
    return "".join(f"[[turn]]\ntext = '''\n{each}'''\n" for each in answers)


async def judge(case: Case, folder: Path) -> None:
    """Ask twice in a thread while all goes wrong, and look at the thread."""
    answers = [long_answer(case.length, seed=case.seed, prefix="a"), long_answer(300, seed=case.seed, prefix="b")]
    async with LoopbackSlack(workspace=case.workspace, time_scale=60) as slack:
        write_configuration(folder, slack, script(answers), pace=random.Random(case.seed).choice((300, 1500, 5000)))
        slack.misbehave(case.seed)
        async with gateway(folder) as ends:
            asked = slack.say("U1", "C1", "Tell me all about it.")
            await ends.until(1)
            slack.say("U1", "C1", "And then?", thread=asked.ts)
            await ends.until(2)
        assert [(each.reason, each.failure) for each in ends.ended] == [("complete", None)] * 2
        taken = {message.ts for message in slack.taken}
        messages = [each for each in slack.messages(author="bot", deleted=True) if not each.deleted or each.ts in taken]
        assert {message.thread_ts for message in messages} == {asked.ts}
        rows = [Row(text=undo(message.text), deleted=message.deleted) for message in messages]
        case.assert_shown(rows, [chunk.text for answer in answers for chunk in split(answer, LIMIT)])
        assert_waits_were_kept(list(slack.calls))


async def test_whatever_slack_does_an_answer_is_whole_and_once_and_the_next_mention_is_answered(tmp_path: Path) -> None:
    """All at once, because most of the time is spent on waiting. A failure names the seeds that it came with."""
    failed: list[str] = []
    at_once = anyio.CapacityLimiter(AT_ONCE)

    async def one(case: Case) -> None:
        async with at_once:
            folder = tmp_path / f"{case.name}{case.seed}"
            await anyio.Path(folder).mkdir()
            try:
                await judge(case, folder)
            except Exception:  # noqa: BLE001 - told below
                failed.append(f"{case.name} {case.seed}: {traceback.format_exc()}")

    async with anyio.create_task_group() as tasks:
        for case in CASES:
            tasks.start_soon(one, case)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)


@pytest.mark.parametrize("seed", PLAYED)
def test_the_command_plays_a_seed(seed: int, tmp_path: Path) -> None:
    answer = long_answer(6_000, seed=seed)
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    options = ("--script", "answer.md", "--pace", "1500", "--time-scale", "60")
    played = play(tmp_path, *options, "--faults", str(seed))
    messages = sorted([*played["messages"], *played["deleted"]], key=lambda message: message["id"])
    rows = [Row(text=m["text"], deleted=m in played["deleted"]) for m in messages if m["author"] == "bot"]
    assert_whole_once_in_order(rows, [chunk.text for chunk in split(answer, LIMIT)])
    assert played["end"] == "complete"


async def test_while_the_doors_are_closed_nobody_is_let_in_and_what_is_under_way_goes_on() -> None:
    async with LoopbackSlack() as slack, aiohttp.ClientSession() as session:
        client: Any = AsyncWebClient(
            token=slack.workspace.bot_token, base_url=slack.base_url, session=session, retry_handlers=[]
        )
        done = anyio.Event()

        async def post() -> None:
            await client.chat_postMessage(channel="C1", markdown_text="on its way")
            done.set()

        slack.delay_next("chat.postMessage", 0.1, taken=True)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(post)
                await slack.until(lambda: slack.messages(author="bot"))
                slack.close_doors(0.5)
                with pytest.raises(aiohttp.ClientConnectorError):
                    await client.auth_test()
                await done.wait()
                with pytest.raises(aiohttp.ClientConnectorError):  # nor on the connection of that call
                    await client.auth_test()
            while not slack.calls.of("auth.test"):
                with suppress(aiohttp.ClientConnectorError):
                    await client.auth_test()
