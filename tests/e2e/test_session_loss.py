"""Connections that break in mid-answer: the answer goes on whole and once, and the next question is answered."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import anyio
import pytest

from adapters.discord import session
from adapters.loopback.discord import Change, LoopbackDiscord
from adapters.loopback.discord.change import SessionResumed, SessionStarted
from adapters.loopback.telegram import LoopbackTelegram
from adapters.telegram import ingress
from tests.e2e.answer import long_answer
from tests.e2e.command import configure
from tests.e2e.ground import Ground, Name, Way, open_ground
from tests.e2e.judge import assert_whole_once_in_order
from tests.e2e.served import gateway, script

Break = Callable[[Ground], Awaitable[None]]
"""Breaks what the bot listens on, and returns when it listens again."""


def discord_of(ground: Ground) -> LoopbackDiscord:
    assert isinstance(ground.server, LoopbackDiscord)
    return ground.server


def telegram_of(ground: Ground) -> LoopbackTelegram:
    assert isinstance(ground.server, LoopbackTelegram)
    return ground.server


async def back(ground: Ground, lose: Callable[[LoopbackDiscord], object], *, anew: bool = False) -> None:
    """Break Discord's connection, and wait until a session goes on in another one, or begins."""
    discord, changes = discord_of(ground), list[Change]()
    unsubscribe = discord.subscribe(changes.append)
    lose(discord)
    with anyio.fail_after(20):
        await discord.until(lambda: any(isinstance(each, SessionStarted | SessionResumed) for each in changes))
    unsubscribe()
    assert not anew or any(isinstance(each, SessionStarted) for each in changes)


async def asked_to_reconnect(ground: Ground) -> None:
    await back(ground, LoopbackDiscord.ask_to_reconnect)


async def invalidated(ground: Ground) -> None:
    await back(ground, LoopbackDiscord.invalidate, anew=True)


async def invalidated_but_resumable(ground: Ground) -> None:
    await back(ground, lambda discord: discord.invalidate(resumable=True))


async def closed_with_4000(ground: Ground) -> None:
    await back(ground, lambda discord: discord.disconnect(4000))


async def closed_with_1001(ground: Ground) -> None:
    await back(ground, lambda discord: discord.disconnect(1001))


async def cut(ground: Ground) -> None:
    await back(ground, LoopbackDiscord.drop_sockets)


async def a_zombie(ground: Ground) -> None:
    await back(ground, LoopbackDiscord.zombify)


async def cut_behind_what_nobody_can_read(ground: Ground) -> None:
    """What comes again with the RESUME is no JSON, or no text."""
    discord = discord_of(ground)
    discord.garble("nonsense")
    discord.push("MESSAGE_CREATE", {"content": "\ud800"})
    await cut(ground)


async def polls_again(ground: Ground, polls: int = 0) -> None:
    """Wait until a poll is open, and so many were answered."""
    telegram = telegram_of(ground)
    with anyio.fail_after(20):
        await telegram.until(lambda: len(telegram.polls) >= polls and telegram.open_polls)


async def the_poll_cut(ground: Ground) -> None:
    telegram = telegram_of(ground)
    telegram.drop_connections()
    with anyio.fail_after(5):
        await telegram.until(lambda: not telegram.open_polls)
    await polls_again(ground)


async def another_poller(ground: Ground) -> None:
    """It ends ours with 409, and goes."""
    telegram = telegram_of(ground)
    polls, address = len(telegram.polls), f"{telegram.base_url}{telegram.world.bot.token}/getUpdates"
    async with aiohttp.ClientSession() as client, client.get(address, params={"timeout": "0"}) as answer:
        assert answer.status == 200
    await polls_again(ground, polls + 2)
    assert 409 in [poll.status for poll in telegram.polls]


async def polls_refused(ground: Ground) -> None:
    """Ours ends, and the next ones are answered by a server's error."""
    telegram = telegram_of(ground)
    telegram.fail_next("getUpdates", error_code=502, times=3)
    polls = len(telegram.polls)
    telegram.drop_connections()
    await polls_again(ground, polls + 3)


LOSSES: list[tuple[Name, Way, Break]] = [
    *(
        ("discord", way, loss)
        for way in ("said", "command")
        for loss in (
            asked_to_reconnect,
            invalidated,
            invalidated_but_resumable,
            closed_with_4000,
            closed_with_1001,
            cut,
            cut_behind_what_nobody_can_read,
            a_zombie,
        )
    ),
    *(("telegram", "said", loss) for loss in (the_poll_cut, another_poller, polls_refused)),
]


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "IDENTIFY_PAUSE", 0.3)
    monkeypatch.setattr(session, "PAUSES", (0.05, 0.1))
    monkeypatch.setattr(ingress, "BACK_OFF", (0.1, 0.2))


@pytest.mark.parametrize(("platform", "way", "loss"), LOSSES)
async def test_an_answer_goes_on_where_the_connection_breaks_and_the_next_question_is_answered(
    platform: Name, way: Way, loss: Break, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loss is a_zombie:
        monkeypatch.setattr(session, "SILENCE", 1.0)
    answers = [long_answer(300, seed=1, prefix="a"), long_answer(100, seed=2, prefix="b")]
    async with open_ground(platform, 60) as ground:
        configure(tmp_path, ground.venue, ground.scale, script(answers), pace=1000, settings=ground.settings)
        async with gateway(tmp_path) as ends:
            ground.ask("Tell me all about it.", way)
            with anyio.fail_after(20):
                await ground.venue.until(ground.rows)
            await loss(ground)
            ground.ask("And then?", way)
            await ends.until(2)
        assert [(each.reason, each.failure) for each in ends.ended] == [("complete", None)] * 2
        for prefix, answer in zip("ab", answers, strict=True):  # what a command waits with has its place at once
            rows = [row for row in ground.rows() if re.search(rf"{prefix}\d{{4}}", row.text)]
            assert_whole_once_in_order(rows, ground.terms.looks(answer))
        assert not ground.waiting()


@pytest.mark.parametrize("loss", [LoopbackDiscord.ask_to_reconnect, LoopbackDiscord.drop_sockets])
async def test_what_is_asked_while_nobody_listens_is_answered(
    loss: Callable[[LoopbackDiscord], object], tmp_path: Path
) -> None:
    answers = [long_answer(300, seed=1, prefix="a"), long_answer(300, seed=2, prefix="b")]
    async with open_ground("discord", 60) as ground:
        configure(tmp_path, ground.venue, ground.scale, script(answers), settings=ground.settings)
        async with gateway(tmp_path) as ends:
            for number, way in enumerate(("said", "command"), 1):
                loss(discord_of(ground))
                ground.ask(f"Question {number}.", way)
                await ends.until(number)
        assert_whole_once_in_order(ground.rows(), [look for each in answers for look in ground.terms.looks(each)])
        assert not ground.waiting()
