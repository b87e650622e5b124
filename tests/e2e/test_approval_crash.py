"""``kill -9`` of ``dragoman run`` while a tool waits for a person or works; the platform lives on, a new one starts.

The tool is a function in a file of its own, as a user writes one. It writes down when it begins, so that what it did
outlives the process, whatever that still told.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, closing, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from adapters.loopback.discord import venue as discord
from adapters.loopback.slack import venue as slack
from adapters.loopback.telegram import venue as telegram
from adapters.loopback.venue import Shown, Venue
from tests.e2e.command import configure, connected

SCALE = 20.0
PATIENCE = 40
"""Real seconds until something counts as never coming."""

VENUES: dict[str, Callable[[float], AbstractAsyncContextManager[Venue]]] = {
    "slack": slack.open_venue,
    "discord": discord.open_venue,
    "telegram": telegram.open_venue,
}

TOOL = '''
import time
from pathlib import Path

from gateway.function import tool

HERE = Path(__file__).parent


@tool
def deploy(to: str) -> str:
    """Deploys something."""
    with (HERE / "began").open("a") as began:
        began.write(to + "\\n")
    while (HERE / "hang").exists():
        time.sleep(0.01)
    return "Deployed."
'''

SCRIPT = """
[[turn]]
text = "I deploy it now."
calls = [{ name = "deploy", input = { to = "the pier" } }]

[[turn]]
text = "That is all."
"""


@pytest.fixture(params=VENUES)
async def venue(request: pytest.FixtureRequest) -> AsyncIterator[Venue]:
    async with VENUES[request.param](SCALE) as opened:
        yield opened


TWICE = """
[[turn]]
text = "I deploy both."
calls = [{ name = "deploy", input = { to = "the pier" } }, { name = "deploy", input = { to = "the bank" } }]

[[turn]]
text = "That is all."
"""


def prepare(folder: Path, venue: Venue, script: str = SCRIPT) -> None:
    (folder / "tool.py").write_text(TOOL, encoding="utf-8")
    configure(folder, venue, SCALE, script, tools={"modules": [str(folder / "tool.py")], "enable": []})


def query(folder: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "dragoman.db", isolation_level=None)) as database:
        return database.execute(sql).fetchall()


def began(folder: Path) -> list[str]:
    """What the tool was begun with."""
    path = folder / "began"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


async def until(condition: Callable[[], object]) -> None:
    """Wait for what no platform tells of: a database and a file tell nobody that they have changed."""
    with anyio.fail_after(PATIENCE):
        while not condition():  # noqa: ASYNC110 - as said above
            await anyio.sleep(0.01)


def parked(folder: Path) -> bool:
    """Whether a conversation waits, and no process works on it."""
    waits = "select count(*) from gw_approval join gw_conv on gw_conv.id = conv where state = 'open' and owner is null"
    return query(folder, waits) == [(1,)]


def ours(venue: Venue) -> list[Shown]:
    return [shown for shown in venue.messages() if shown.author == "bot"]


def buttons(venue: Venue) -> list[tuple[str, str]]:
    """All that can be pressed: the message, and the data."""
    return [(shown.id, data) for shown in ours(venue) for _, data in venue.buttons(shown.id)]


async def asked(venue: Venue) -> tuple[str, str]:
    """Ask; and the button that allows what the model wants to do, once that is shown."""
    venue.ask("Deploy it, please.", shared=True)
    return await allowing(venue)


async def allowing(venue: Venue, before: str = "") -> tuple[str, str]:
    """The button that allows something, once there is one below another message than the one before."""

    def found() -> list[tuple[str, str]]:
        return [(at, data) for at, data in buttons(venue) if at != before and data.startswith("approve:")]

    with anyio.fail_after(PATIENCE):
        await venue.until(found)
    return found()[0]


async def answered(venue: Venue) -> list[str]:
    """What stands there of the bot's, once the answer has ended and nothing can be pressed any more."""
    with anyio.fail_after(PATIENCE):
        await venue.until(lambda: ours(venue)[-1].text == "That is all." and not buttons(venue))
    return [shown.text for shown in ours(venue)]


def results(folder: Path) -> list[str]:
    """What the model was told of its calls, as the history has it."""
    return [body for (body,) in query(folder, "select body from gw_history order by seq") if "tool_use_id" in body]


async def test_an_approval_waits_over_a_kill_and_lets_its_tool_run_once(venue: Venue, tmp_path: Path) -> None:
    prepare(tmp_path, venue)
    async with connected(tmp_path, venue) as gateway:
        message, allow = await asked(venue)
        await until(lambda: parked(tmp_path))
        gateway.kill()
    before = [(shown.id, shown.text) for shown in ours(venue)]
    async with connected(tmp_path, venue):
        venue.press("bob", message, allow)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: len(venue.whispers("bob")) == 1)
        assert [(shown.id, shown.text) for shown in ours(venue)] == before
        assert began(tmp_path) == []
        for time in range(2):
            venue.press("ada", message, allow, stale=time > 0)
        shown = await answered(venue)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: not venue.waiting())
    assert began(tmp_path) == ["the pier"]
    first, question, last = shown
    assert (first, last) == ("I deploy it now.", "That is all.")
    assert question.startswith("I asked to run")
    assert "Done." in question


async def test_a_kill_right_behind_a_press_that_was_stored_loses_it_not(venue: Venue, tmp_path: Path) -> None:
    prepare(tmp_path, venue)
    async with connected(tmp_path, venue) as gateway:
        message, allow = await asked(venue)
        await until(lambda: parked(tmp_path))
        query(tmp_path, "create trigger full before insert on gw_history begin select raise(abort, 'no room'); end")
        venue.press("ada", message, allow)
        await until(lambda: query(tmp_path, "select state from gw_approval") == [("approved",)])
        gateway.kill()
    assert began(tmp_path) == []
    query(tmp_path, "drop trigger full")
    async with connected(tmp_path, venue):
        shown = await answered(venue)
    assert began(tmp_path) == ["the pier"]
    first, question, last = shown
    assert (first, last) == ("I deploy it now.", "That is all.")
    assert "Done." in question


async def test_a_tool_in_whose_middle_the_gateway_was_killed_is_not_begun_again_and_the_model_reads_so(
    venue: Venue, tmp_path: Path
) -> None:
    prepare(tmp_path, venue)
    (tmp_path / "hang").touch()
    async with connected(tmp_path, venue) as gateway:
        message, allow = await asked(venue)
        venue.press("ada", message, allow)
        await until(lambda: began(tmp_path))
        gateway.kill()
    (tmp_path / "hang").unlink()
    async with connected(tmp_path, venue):
        shown = await answered(venue)
        venue.press("ada", message, allow, stale=True)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: venue.whispers("ada"))
    assert began(tmp_path) == ["the pier"]
    first, question, last = shown
    assert (first, last) == ("I deploy it now.", "That is all.")
    assert "Done." not in question
    assert "may have" in results(tmp_path)[-1]


async def test_a_press_that_is_delivered_again_to_another_process_allows_nothing_more(
    venue: Venue, tmp_path: Path
) -> None:
    prepare(tmp_path, venue, TWICE)
    async with connected(tmp_path, venue) as gateway:
        first, allow = await asked(venue)
        venue.press("ada", first, allow)
        second, other = await allowing(venue, first)
        await until(lambda: parked(tmp_path))
        gateway.kill()
    async with connected(tmp_path, venue):
        with suppress(LookupError):  # Discord tells a new session nothing of an old one's
            venue.repeat("press")
        venue.press("ada", first, allow, stale=True)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: venue.whispers("ada"))
        assert began(tmp_path) == ["the pier"]
        assert parked(tmp_path)
        venue.press("ada", second, other.replace("approve:", "deny:"))
        shown = await answered(venue)
    assert began(tmp_path) == ["the pier"]
    assert "It was not run." in shown[-2]
