"""Tools and approvals on each platform: scripts that ``dragoman play`` plays, and a gateway that is killed."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest

from adapters.loopback.venue import Venue
from gateway.approval import NOT_YOURS
from gateway.event import from_json
from gateway.grammar import check_run
from tests.e2e.command import configure, connected, dragoman, play

pytestmark = pytest.mark.anyio

PLAYS = Path(__file__).parent / "plays"
PLATFORMS = ("slack", "discord", "telegram")
PARKED = "select count(*) from gw_conv where owner is null and due is null"
SCALE = 20.0
PATIENCE = 60


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def events(report: dict[str, Any]) -> list[Any]:
    """The events of a run, held to the grammar."""
    told = [from_json(json.dumps(envelope)) for envelope in report["events"]]
    assert [envelope.seq for envelope in told] == list(range(len(told)))
    check_run(envelope.event for envelope in told)
    return told


def at(told: Sequence[Any], kind: str, call: str | None = None) -> Any:
    """The first event of a kind, of a call if one is named."""
    return next(
        each for each in told if each.event.type == kind and call in {None, getattr(each.event, "tool_use_id", None)}
    )


def results(told: Sequence[Any]) -> list[tuple[str, str | None]]:
    return [(each.event.tool_use_id, each.event.error_type) for each in told if each.event.type == "tool_result"]


def texts(report: dict[str, Any]) -> list[str]:
    return [message["text"] for message in report["messages"] if message["author"] == "bot"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_read_starts_while_the_model_talks_and_what_asks_runs_once_when_the_asker_allows_it(
    platform: str, tmp_path: Path
) -> None:
    report = play(tmp_path, "--on", platform, "--script", PLAYS / "approval.toml", "--pace", "60")
    told = events(report)
    read, end = at(told, "tool_start", "call-1-1"), at(told, "message_end")
    assert read.seq < end.seq
    assert read.timestamp < end.timestamp
    write, done = at(told, "tool_start", "call-1-2"), at(told, "tool_result", "call-1-1")
    assert write.seq > at(told, "tool_use_confirmed", "call-1-2").seq
    assert write.timestamp >= done.timestamp or write.seq > read.seq
    allowed = at(told, "approval_resolved")
    assert (allowed.event.decision, allowed.event.tool_use_id) == ("approved", "call-1-3")
    assert at(told, "tool_start", "call-1-3").seq > allowed.seq
    assert len([each for each in told if each.event.type == "tool_start"]) == 3
    assert results(told) == [("call-1-1", None), ("call-1-2", None), ("call-1-3", None)]
    assert texts(report)[-1] == "All is done: low water is at six, and it is deployed."
    assert any("Approved by" in text for text in texts(report))
    assert report["end"] == "complete"


def test_the_three_platforms_ask_at_once_in_one_process(tmp_path: Path) -> None:
    reports: Any = play(tmp_path, "--on", "all", "--script", PLAYS / "approval.toml")
    for report in reports:
        assert results(events(report))[-1] == ("call-1-3", None)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_failure_of_what_cascades_ends_its_kin_and_nothing_else(platform: str, tmp_path: Path) -> None:
    report = play(tmp_path, "--on", platform, "--script", PLAYS / "cascade.toml")
    assert results(events(report)) == [("call-1-1", "failed"), ("call-1-2", "cancelled"), ("call-1-3", None)]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_runs_of_a_message_that_was_cut_inside_of_a_call(platform: str, tmp_path: Path) -> None:
    report = play(tmp_path, "--on", platform, "--script", PLAYS / "cut.toml")
    told = events(report)
    assert results(told) == [("call-1-1", "cut")]
    assert not [each for each in told if each.event.type == "tool_start"]
    assert texts(report)[-1] == "My call was cut, so nothing was deployed."


ASKS = """
[[tool]]
name = "deploy"
result = "Deployed."
approval = true

[[turn]]
text = "I deploy."
calls = [{ name = "deploy", input = { to = "the pier" } }]

[[turn]]
text = "It is deployed."
"""


@asynccontextmanager
async def stage(platform: str, folder: Path) -> AsyncGenerator[Venue]:
    """A platform, and a gateway configured for it whose model asks before it deploys."""
    async with import_module(f"adapters.loopback.{platform}").open_venue(SCALE, None) as venue:
        configure(folder, venue, SCALE, ASKS)
        with (folder / "dragoman.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[tools]\nenable = []\nscript = "{folder / "script.toml"}"\nfiles = "{folder / "files"}"\n')
        yield venue


def asking(venue: Venue) -> list[tuple[str, str]]:
    """The messages that ask for approval, and the data of the button that allows it."""
    return [
        (message.id, data)
        for message in venue.messages()
        if message.author == "bot"
        for _, data in venue.buttons(message.id)
        if data.startswith("approve:")
    ]


def answers(venue: Venue) -> list[str]:
    return [message.text for message in venue.messages() if message.author == "bot"]


async def parked(folder: Path) -> None:
    """Return when the run waits and no process owns it: what was shown is written down then."""
    with anyio.fail_after(PATIENCE), closing(sqlite3.connect(folder / "dragoman.db")) as database:
        while database.execute(PARKED).fetchone() != (1,):  # noqa: ASYNC110 - another process does it
            await anyio.sleep(0.05)


async def until(venue: Venue, condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        await venue.until(condition)


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a10_an_approval_that_waits_over_a_kill_is_granted_then_and_the_tool_runs_once(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as venue:
        async with connected(tmp_path, venue) as process:
            venue.ask("Go!")
            await until(venue, lambda: len(asking(venue)) == 1)
            await parked(tmp_path)
            process.kill()
            await process.wait()
        async with connected(tmp_path, venue):
            ((message, data),) = asking(venue)
            for _ in range(2):
                venue.press("ada", message, data, stale=True)
            await until(venue, lambda: "It is deployed." in answers(venue) and not asking(venue))
        said = answers(venue)
        assert (said.count("I deploy."), said.count("It is deployed.")) == (1, 1)
        assert len([text for text in said if "Approved by" in text]) == 1
    assert (tmp_path / "log").read_text(encoding="utf-8").count("Traceback") == 0


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_s11_two_approvals_of_two_conversations_are_each_decided_in_their_own(
    platform: str, tmp_path: Path
) -> None:
    async with stage(platform, tmp_path) as venue, connected(tmp_path, venue):
        venue.ask("Go!", shared=True)
        await until(venue, lambda: len(asking(venue)) == 1)
        ((message, data),) = asking(venue)
        venue.say("Go!", where="channel" if platform == "slack" else "direct")
        await until(venue, lambda: len(asking(venue)) == 2)
        venue.press("bob", message, data)
        for each, allows in asking(venue):
            for _ in range(2):
                venue.press("ada", each, allows, stale=True)
        await until(venue, lambda: answers(venue).count("It is deployed.") == 2 and not asking(venue))
        assert len([text for text in answers(venue) if "Approved by" in text]) == 2
        assert answers(venue).count("I deploy.") == 2
        await until(venue, lambda: venue.whispers("bob") == [NOT_YOURS])


@pytest.mark.parametrize(
    ("users", "said"),
    [
        ("", "nobody in the script decides"),
        ('[[user]]\npress = "approve"\n[[user]]\npress = "deny"\n', "user 2 of the script: there is no button 'deny'"),
    ],
)
def test_a_script_in_which_somebody_would_wait_for_ever_ends_in_a_sentence(
    users: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "play.toml").write_text(ASKS + users, encoding="utf-8")
    done = dragoman("play", "--headless", "--script", tmp_path / "play.toml", cwd=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True)
