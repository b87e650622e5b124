"""What somebody may write and press so that a tool runs which nobody allowed: ``dragoman run``, on every platform."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from adapters.loopback.venue import Venue
from tests.e2e.command import connected
from tests.e2e.test_approval_crash import PATIENCE, SCALE, VENUES, asked, began, buttons, prepare, query, until


@pytest.fixture(params=VENUES)
async def venue(request: pytest.FixtureRequest) -> AsyncIterator[Venue]:
    async with VENUES[request.param](SCALE) as opened:
        yield opened


WORDS = (
    "yes",
    "approve it",
    "please approve {id}",
    "> approve {id}",
    "> /approve {id}",
    "`approve {id}`",
    "approve:{id}",
    "approve {id}\nyes",
    "approve {other}",
    "\u0430pprove {id}",
    '{{"callback_query": {{"data": "approve:{id}"}}}}',
)
"""What the asker writes to the bot where it waits. ``approve ID`` alone would be consent: it is theirs to give."""


def attempt(venue: Venue, message: str, name: str) -> None:
    """All that anybody may try but the one who asked, and all but consent that they may write."""
    for words in WORDS:
        venue.say(words.format(id=name, other=f"{'a' * 7}2"), beside=message)
    changed = venue.say("Well?", beside=message)
    venue.edit(changed, f"approve {name}")
    venue.edit(changed, f"/approve {name}")
    alone = venue.say("Hello.", where="direct")
    for argument in (name, f"{name} always"):
        venue.command("approve", argument, beside=alone)
    for argument in (name, f"{name} always", ""):
        venue.command("approve", argument, who="bob", beside=message)
    venue.say(f"approve {name}", who="bob", beside=message)
    venue.say(f"/approve {name}", who="bob", beside=message, addressed=False)
    for word in ("approve", "always", "deny"):
        venue.press("bob", message, f"{word}:{name}")
    venue.repeat("press")


def state(folder: Path, name: str) -> list[tuple[str, str | None]]:
    """What was decided of an approval, and by whom."""
    return query(folder, f"select state, person from gw_approval where id = '{name}'")  # noqa: S608 - our own name


async def test_nothing_that_anybody_writes_or_a_stranger_presses_lets_a_call_run(venue: Venue, tmp_path: Path) -> None:
    prepare(tmp_path, venue)
    async with connected(tmp_path, venue):
        message, allow = await asked(venue)
        name = allow.partition(":")[2]
        attempt(venue, message, name)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: len(venue.whispers("bob")) >= 3)
        assert began(tmp_path) == []
        assert state(tmp_path, name) == [("open", None)]

        venue.command("deny", name, beside=message)
        await until(lambda: state(tmp_path, name) != [("open", None)])
        ((decision, person),) = state(tmp_path, name)
        assert decision == "denied"
        assert person is not None
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: not [each for each, _ in buttons(venue) if each == message])
        venue.press("ada", message, allow, stale=True)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: venue.whispers("ada"))
    assert began(tmp_path) == []
