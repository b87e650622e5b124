"""Who is let in and who is not, over the real store in memory, on virtual time."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count

import anyio
import pytest

from gateway import pairing
from gateway.access import Allow
from gateway.door import Door
from gateway.inbound import MessageReceived
from gateway.store import Pairings
from gateway.stores.sqlite import create_in_memory
from tests.unit.gateway.chat import EVERYBODY, Chat, command, message, place, platform

pytestmark = pytest.mark.virtual_time

HOUR = 3600
NOBODY = platform(Chat(), allow=Allow())
SOME = platform(Chat(), allow=Allow(users=frozenset({"U1"}), channels=frozenset({"C1"})))
NUMBERS = count()


def direct(user: str = "U2", account: str = "A1") -> MessageReceived:
    return replace(message("Hi!"), direct=True, user=user, address=replace(place("D1"), account=account))


@asynccontextmanager
async def opened() -> AsyncGenerator[Pairings]:
    async with create_in_memory(anyio.current_time) as store:
        yield store.pairings


def door(pairings: Pairings, *, on: bool = True) -> Door:
    return Door(pairings, pairing=on, draw=lambda most: next(NUMBERS) % most)


async def pair(pairings: Pairings) -> None:
    for each in await pairings.everyone():
        if each.code is not None:
            await pairings.confirm(each.code)


async def test_who_is_paired_is_let_in_directly_and_nowhere_else() -> None:
    async with opened() as pairings:
        ours = door(pairings)
        assert not await ours.admits(SOME, direct())
        said = await ours.refuse(direct())
        assert said is not None
        (known,) = await pairings.everyone()
        assert known.code is not None
        assert said == pairing.sentence(known.code)
        assert not await ours.admits(SOME, direct())
        await pair(pairings)
        assert await ours.admits(SOME, direct())
        assert await ours.admits(
            NOBODY, replace(command("help", number=1), direct=True, user="U2", address=direct().address)
        )
        assert not await ours.admits(SOME, replace(direct(), direct=False))
        assert not await ours.admits(SOME, message("Hi!", address=place("C1"), user="U2"))
        assert not await ours.admits(SOME, direct(account="A2"))
        await pairings.revoke("chat", "U2")
        assert not await ours.admits(SOME, direct())


async def test_who_is_on_the_list_needs_no_pairing() -> None:
    async with opened() as pairings:
        for on in (True, False):
            assert await door(pairings, on=on).admits(platform(Chat(), allow=EVERYBODY), message("Hi!"))
            assert await door(pairings, on=on).admits(SOME, direct("U1"))


async def test_in_a_channel_nobody_gets_a_code() -> None:
    async with opened() as pairings:
        assert await door(pairings).refuse(message("Hi!", user="U2")) is None
        assert await door(pairings).refuse(replace(direct(), user="")) is None
        assert await pairings.everyone() == []


async def test_a_stranger_makes_the_bot_speak_once_an_hour() -> None:
    async with opened() as pairings:
        ours = door(pairings)
        said: list[str | None] = []
        for _ in range(120):
            said.append(await ours.refuse(direct()))
            await anyio.sleep(HOUR / 60)
        told = [sentence for sentence in said if sentence is not None]
        assert [said.index(sentence) for sentence in told] == [0, 60]
        assert told[0] != told[1]


async def test_a_crowd_makes_it_speak_three_times_an_hour(caplog: pytest.LogCaptureFixture) -> None:
    async with opened() as pairings:
        ours = door(pairings)
        said = [await ours.refuse(direct(f"U{number}")) for number in range(100)]
        assert [sentence is not None for sentence in said] == [True] * 3 + [False] * 97
        assert "U99 gets no pairing code: 3 are open already" in caplog.text
        assert await ours.refuse(direct("U99", account="A2")) is not None
        await anyio.sleep(HOUR)
        assert await ours.refuse(direct("U99")) is not None


async def test_after_a_restart_the_same_code_is_said_once_again() -> None:
    async with opened() as pairings:
        before, after = door(pairings), door(pairings)
        said = await before.refuse(direct())
        assert said is not None
        assert [await after.refuse(direct()) for _ in range(3)] == [said, None, None]


async def test_where_pairing_is_off_the_configuration_alone_decides() -> None:
    async with opened() as pairings:
        await door(pairings).refuse(direct())
        await pair(pairings)
        shut = door(pairings, on=False)
        assert not await shut.admits(SOME, direct())
        assert await shut.refuse(direct("U3")) is None
        assert len(await pairings.everyone()) == 1
