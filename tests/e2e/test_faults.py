"""Platforms that misbehave at random: whatever they do, an answer stands in its place whole, once and in order.

The judge looks at the platform's own state, never at what the gateway says of it. Each word of an answer is numbered.
"""

import os
import random
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.loopback.slack import LoopbackSlack
from gateway.notice import MAY_BE_A_REPEAT, MAY_BE_MISSING
from gateway.reply import DOUBTS
from tests.e2e.answer import long_answer
from tests.e2e.command import configure, play
from tests.e2e.ground import TERMS, Ground, Name, Variant, Way, open_ground, order
from tests.e2e.judge import (
    Judge,
    Row,
    assert_begun,
    assert_doubts_are_marked,
    assert_gaps_are_marked,
    assert_waits_were_kept,
    assert_whole_once_in_order,
    without_first_tries,
)
from tests.e2e.served import gateway, script

SOAK = int(os.environ.get("DRAGOMAN_SOAK") or 0)
SEEDS = max(30, 20 * SOAK)
FEWER = SEEDS // 5
PLAYED = (0, 1, 3, *range(10, 2 * SOAK))
"""Those that go through the command, in a process of its own each."""

WORD = r"[ab]\d{4}"
AT_ONCE = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is tried on a platform: an answer of some length, in a place of some kind, under a judge.

    ``unknown_outcome`` is what is done about a post of which nobody can tell whether it arrived, and ``notice`` what
    marks it. ``ways`` are taken in turn, and so are the ``variants``. Without a judge an answer may end early, for the
    platform takes only so much, and there is no room for notices.
    """

    platform: Name
    length: int
    assert_shown: Judge | None
    seeds: int = SEEDS
    variants: Sequence[Variant] = ("",)
    ways: Sequence[Way] = ("said",)
    time_scale: float = 60
    unknown_outcome: str = "repeat"
    notice: str = MAY_BE_A_REPEAT


KINDS = {
    "slack": Kind(platform="slack", length=6_000, assert_shown=assert_whole_once_in_order),
    "slack, deaf": Kind(
        platform="slack", length=1_500, assert_shown=assert_doubts_are_marked, seeds=FEWER, variants=("deaf",)
    ),
    "discord": Kind(
        platform="discord", length=6_000, assert_shown=assert_whole_once_in_order, ways=("command", "said")
    ),
    "discord, guest": Kind(
        platform="discord", length=1_500, assert_shown=None, seeds=FEWER, variants=("deaf",), time_scale=20
    ),
    "telegram": Kind(platform="telegram", length=1_500, assert_shown=assert_doubts_are_marked, variants=("", "group")),
    "telegram, skipping": Kind(
        platform="telegram",
        length=1_500,
        assert_shown=assert_gaps_are_marked,
        seeds=FEWER,
        unknown_outcome="skip",
        notice=MAY_BE_MISSING,
    ),
}
"""Where a post without an answer stays a doubt, answers are short: ten doubts end a reply."""


async def judge(kind: Kind, seed: int, folder: Path) -> None:
    """Ask twice in a conversation while all goes wrong, and look at it."""
    answers = [long_answer(kind.length, seed=seed, prefix="a"), long_answer(300, seed=seed, prefix="b")]
    pace, way = random.Random(seed).choice((300, 1500, 5000)), kind.ways[seed % len(kind.ways)]
    async with open_ground(kind.platform, kind.time_scale, kind.variants[seed % len(kind.variants)]) as ground:
        settings = {**ground.settings, "unknown_outcome": kind.unknown_outcome}
        configure(folder, ground.venue, ground.scale, script(answers), pace=pace, settings=settings)
        ground.server.misbehave(seed)
        async with gateway(folder) as ends:
            asked = [ground.ask("Tell me all about it.", way)]
            await ends.until(1)
            asked.append(ground.ask("And then?", way))
            await ends.until(2)
        given_up = [each.failure is not None for each in ends.ended]
        assert all(each.reason == "complete" or each.failure for each in ends.ended), ends.ended
        assert ground.doubts() >= DOUBTS * sum(given_up) or ground.spent(asked, given_up), ends.ended
        said = [answers[0], answers[0] if given_up[0] else answers[1]]  # of what was given up the model does not know
        assert_shown(kind, ground, said, asked, given_up)
        assert not ground.waiting()
        assert ground.places() <= {ground.place(asked[0])}
        assert_waits_were_kept(list(ground.server.calls))


def assert_shown(kind: Kind, ground: Ground, said: Sequence[str], asked: Sequence[str], cut: Sequence[bool]) -> None:
    """Behind each question stands its answer; where that was given up, its beginning."""
    notice, second = ground.terms.look(kind.notice), order(asked[1])
    parts = [[row for row in ground.rows() if (order(row.id) > second) is behind] for behind in (False, True)]
    for rows, answer, given_up in zip(parts, said, cut, strict=True):
        looks = ground.terms.looks(answer)
        if kind.ways != ("said",):  # where a command expired, a sentence says so; what was begun may be left above it
            rows = without_first_tries(rows, looks, ground.moved)  # noqa: PLW2901 - the same, looked at more closely
        if kind.assert_shown is None:
            assert assert_begun(rows, answer, None, WORD) <= ground.doubts()
        elif given_up:
            assert_begun(rows, answer, notice, WORD)
        else:
            kind.assert_shown(rows, looks, notice)


async def test_whatever_a_platform_does_an_answer_is_whole_and_once_and_the_next_question_is_answered(
    tmp_path: Path,
) -> None:
    """All at once, because most of the time is spent on waiting. A failure names the seeds that it came with."""
    failed: list[str] = []
    at_once = anyio.CapacityLimiter(AT_ONCE)

    async def one(name: str, seed: int) -> None:
        async with at_once:
            folder = tmp_path / f"{name} {seed}"
            await anyio.Path(folder).mkdir()
            try:
                await judge(KINDS[name], seed, folder)
            except Exception:  # noqa: BLE001 - told below
                failed.append(f"{name} {seed}: {traceback.format_exc()}")

    async with anyio.create_task_group() as tasks:
        for name, kind in KINDS.items():
            for seed in range(kind.seeds):
                tasks.start_soon(one, name, seed)
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)


@pytest.mark.parametrize("seed", PLAYED)
@pytest.mark.parametrize("platform", TERMS)
def test_the_command_plays_a_seed(platform: Name, seed: int, tmp_path: Path) -> None:
    answer, terms = long_answer(1_500 if platform == "telegram" else 6_000, seed=seed), TERMS[platform]
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    options = ("--on", platform, "--script", "answer.md", "--pace", "1500", "--time-scale", "60")
    played = play(tmp_path, *options, "--faults", str(seed))
    messages = sorted([*played["messages"], *played["deleted"]], key=lambda message: order(message["id"]))
    rows = [
        Row(id=m["id"], look=terms.read(m["text"], m.get("entities")), deleted=m in played["deleted"])
        for m in messages
        if m["author"] == "bot"
    ]
    assert_shown = assert_whole_once_in_order if terms.settled else assert_doubts_are_marked
    assert_shown(rows, terms.looks(answer), terms.look(MAY_BE_A_REPEAT))
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
