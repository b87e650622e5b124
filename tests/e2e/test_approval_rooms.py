"""Two conversations of one channel that wait for a person at once: ``dragoman run``, on every platform."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from adapters.loopback.discord import LoopbackDiscord
from adapters.loopback.discord.venue import DiscordVenue
from adapters.loopback.discord.world import ADA, PROJECTS
from adapters.loopback.slack import LoopbackSlack
from adapters.loopback.slack.venue import SlackVenue
from adapters.loopback.telegram import LoopbackTelegram, World
from adapters.loopback.telegram.venue import TelegramVenue
from adapters.loopback.telegram.world import Topic
from adapters.loopback.venue import Shown, Value, Venue
from tests.e2e.command import configure, connected
from tests.e2e.test_approval_crash import PATIENCE, SCALE, buttons, until

FORUM = -1_000_000_000_300
TOPICS = (Topic(id=5, name="Spices"), Topic(id=6, name="Silk"))

TOOL = '''
from pathlib import Path

from gateway.function import tool
from gateway.tool import Context

HERE = Path(__file__).parent


@tool
def deploy(context: Context) -> str:
    """Deploys something."""
    with (HERE / "began").open("a") as began:
        began.write(context.conversation + "\\n")
    return "Deployed."
'''

SCRIPT = """
[[turn]]
text = "I deploy it now."
calls = [{ name = "deploy", input = {} }]

[[turn]]
text = "That is all."
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A platform with two conversations in one channel: their names in ``Shown.thread``, and how they begin."""

    venue: Venue
    ask: Callable[[], Sequence[str]]
    settings: dict[str, Value]


@asynccontextmanager
async def slack() -> AsyncGenerator[Channel]:
    async with LoopbackSlack(time_scale=SCALE) as server:
        yield Channel(
            venue=SlackVenue(server),
            ask=lambda: [server.say("U1", "C1", f"Deploy, number {number}.").ts for number in (1, 2)],
            settings={},
        )


@asynccontextmanager
async def discord() -> AsyncGenerator[Channel]:
    async with LoopbackDiscord(time_scale=SCALE) as server:
        threads = [server.start_thread(PROJECTS, name).id for name in ("one", "two")]
        yield Channel(
            venue=DiscordVenue(server),
            ask=lambda: [server.say(ADA, thread, "Deploy.").channel for thread in threads],
            settings={"allow_channels": [PROJECTS]},
        )


@asynccontextmanager
async def telegram() -> AsyncGenerator[Channel]:
    chats = tuple(replace(each, topics=TOPICS) if each.id == FORUM else each for each in World().chats)
    async with LoopbackTelegram(world=replace(World(), chats=chats), time_scale=SCALE) as server:
        yield Channel(
            venue=TelegramVenue(server),
            ask=lambda: [
                str(server.say(101, FORUM, "Deploy.", mention=True, topic=topic.id).thread) for topic in TOPICS
            ],
            settings={"allow_groups": [str(FORUM)]},
        )


CHANNELS = {"slack": slack, "discord": discord, "telegram": telegram}


@pytest.fixture(params=CHANNELS)
async def channel(request: pytest.FixtureRequest) -> AsyncIterator[Channel]:
    async with CHANNELS[request.param]() as opened:
        yield opened


def said(venue: Venue, thread: str) -> list[Shown]:
    return [shown for shown in venue.messages() if shown.author == "bot" and shown.thread == thread]


@pytest.mark.parametrize("newest_first", [False, True])
async def test_s11_two_approvals_of_one_channel_each_pressed_twice_run_once_each_in_their_own_conversation(
    channel: Channel, tmp_path: Path, newest_first: bool
) -> None:
    venue = channel.venue
    (tmp_path / "tool.py").write_text(TOOL, encoding="utf-8")
    tools: dict[str, Value] = {"modules": [str(tmp_path / "tool.py")], "enable": []}
    configure(tmp_path, venue, SCALE, SCRIPT, settings=channel.settings, tools=tools)
    async with connected(tmp_path, venue):
        threads = channel.ask()
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: sum(data.startswith("approve:") for _, data in buttons(venue)) == len(threads))
        allow = {
            shown.thread: (shown.id, data)
            for shown in venue.messages()
            for message, data in buttons(venue)
            if message == shown.id and data.startswith("approve:")
        }
        assert set(allow) == set(threads)
        ids = {thread: allow[thread][1].partition(":")[2] for thread in threads}
        for mine, other in (threads, reversed(threads)):
            shown = " ".join(each.text for each in said(venue, mine))
            assert ids[mine] in shown
            assert ids[other] not in shown

        first, second = reversed(threads) if newest_first else threads
        for time in range(2):
            venue.press("ada", *allow[first], stale=time > 0)
        with anyio.fail_after(PATIENCE):
            await venue.until(
                lambda: (
                    said(venue, first)[-1].text == "That is all."
                    and {message for message, _ in buttons(venue)} == {allow[second][0]}
                )
            )
        assert len(said(venue, second)) == 2
        for time in range(2):
            venue.press("ada", *allow[second], stale=time > 0)
        with anyio.fail_after(PATIENCE):
            await venue.until(lambda: said(venue, second)[-1].text == "That is all." and not buttons(venue))
            await venue.until(lambda: not venue.waiting())
        await until(lambda: (tmp_path / "log").read_text(encoding="utf-8").count(": complete, messages: ") == 2)
    began = Counter((tmp_path / "began").read_text(encoding="utf-8").splitlines())
    assert len(began) == len(threads)
    assert set(began.values()) == {1}
    for thread in threads:
        opening, question, last = (each.text for each in said(venue, thread))
        assert (opening, last) == ("I deploy it now.", "That is all.")
        assert "Done." in question
