"""Who may talk to a gateway that is a process of its own, on each platform."""

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import anyio
import pytest

from adapters.loopback.discord import venue as discord
from adapters.loopback.slack import venue as slack
from adapters.loopback.telegram import venue as telegram
from adapters.loopback.venue import Shown, Venue
from gateway.access import PAIRED_ONLY
from gateway.pairing import STRANGER
from tests.e2e.command import configure, connected

SCALE = 20.0
CODE = re.compile(r"[A-Z0-9]{4}-[A-Z0-9]{4}")
VENUES: dict[str, Callable[[float], AbstractAsyncContextManager[Venue]]] = {
    "slack": slack.open_venue,
    "discord": discord.open_venue,
    "telegram": telegram.open_venue,
}


@pytest.fixture(params=VENUES)
async def venue(request: pytest.FixtureRequest) -> AsyncIterator[Venue]:
    async with VENUES[request.param](SCALE) as opened:
        yield opened


def ours(venue: Venue) -> list[Shown]:
    return [shown for shown in venue.messages() if shown.author == "bot"]


def history(folder: Path) -> int:
    """How many entries there are of all histories: a run leaves one at least."""
    with closing(sqlite3.connect(folder / "dragoman.db")) as database:
        return database.execute("select count(*) from gw_history").fetchone()[0]


async def told(venue: Venue, count: int) -> None:
    """Wait until the bot has said so much."""
    with anyio.fail_after(20):
        await venue.until(lambda: len(ours(venue)) >= count)


async def test_x01_an_empty_list_is_nobody_who_writes_alone_gets_a_code_and_nobody_hears_anything_in_the_channel(
    venue: Venue, tmp_path: Path
) -> None:
    configure(tmp_path, venue, SCALE, '[[turn]]\ntext = "Yes."\n', settings={"allow_users": []})
    async with connected(tmp_path, venue) as process:
        venue.say("in the channel")
        for number in range(3):
            venue.say(f"alone {number}", where="direct")
        venue.say("and in the channel again", who="bob")
        await told(venue, 1)
        venue.say("alone, for the first time", who="bob", where="direct")  # what was said before has had its effect
        await told(venue, 2)
        process.terminate()  # what is to be said yet is said
        with anyio.fail_after(20):
            assert await process.wait() == 0
    first, second = ours(venue)
    codes = {found[0]: each for each in (first, second) if (found := CODE.search(each.text))}
    assert {each.text for each in codes.values()} == {STRANGER.format(code) for code in codes}
    assert (len(codes), {each.where for each in codes.values()}) == (2, {"direct"})
    assert history(tmp_path) == 0
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"{PAIRED_ONLY}: allow_users is empty." in log
    assert "Traceback" not in log
