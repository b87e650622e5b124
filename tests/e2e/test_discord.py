"""The Discord adapter with the real SDK, against Discord on loopback."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from adapters.discord import Settings, breaker, command, create, ingress, session
from adapters.discord.directory import Directory
from adapters.loopback.discord import Channel, Limits, LoopbackDiscord, Permission, World
from adapters.loopback.discord.mischief import SPARED
from adapters.loopback.discord.world import (
    ADA,
    ADA_DM,
    BOB,
    BOT,
    FOREIGN_CHANNEL,
    GENERAL,
    GUILD,
    PROJECT_THREAD,
    PROJECTS,
)
from gateway.adapter import Adapter
from gateway.address import Address
from gateway.error import AdapterError, StoreError
from gateway.inbound import (
    CommandReceived,
    Ignored,
    Inbound,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    PressReceived,
    Ticket,
)
from gateway.operation import (
    AppendText,
    Button,
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    ShowTyping,
    StartStream,
    TellPrivately,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)
from gateway.payload import mapping
from gateway.stores.sqlite import Settings as StoreSettings
from gateway.stores.sqlite import create as open_store

POST, PATCH = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
GET_COMMANDS = "GET /applications/{application}/commands"
PUT_COMMANDS = "PUT /applications/{application}/commands"
FOLLOW_UP = "POST /webhooks/{application}/{token}"
BUTTONS = (Button(label="Allow", data="approve:abcdefg2", style="go"), Button(label="Deny", data="deny:abcdefg2"))
CLOSED_CHANNEL = "1190000000000000109"


def at(channel: str, thread: str | None = None) -> Address:
    return Address(platform="discord", account=BOT, channel=channel, thread=thread)


class Inbox:
    """A store that can be closed for a while, and can refuse; ``admits`` is what it says of who writes."""

    def __init__(self, *, admits: bool = True) -> None:
        self.admits = admits
        self.received: list[Inbound] = []
        self.stored: list[Inbound] = []
        self.refusals = 0
        self.changed = anyio.Event()
        self.open = anyio.Event()
        self.open.set()

    async def receive(self, inbound: Inbound) -> bool:
        self.received.append(inbound)
        self._happened()
        await self.open.wait()
        if self.refusals:
            self.refusals -= 1
            msg = "the disk is full"
            raise StoreError(msg)
        self.stored.append(inbound)
        self._happened()
        return self.admits

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self.changed.wait()

    async def holds(self, count: int) -> None:
        """Wait until so many are stored."""
        await self.until(lambda: len(self.stored) >= count)

    def _happened(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    @property
    def texts(self) -> list[str]:
        return [inbound.text for inbound in self.stored if isinstance(inbound, MessageReceived)]

    @property
    def presses(self) -> list[PressReceived]:
        return [inbound for inbound in self.stored if isinstance(inbound, PressReceived)]

    @property
    def asked(self) -> list[MessageReceived]:
        return [inbound for inbound in self.stored if isinstance(inbound, MessageReceived)]


def ours(before: set[asyncio.Task[object]]) -> list[asyncio.Task[object]]:
    """The tasks that are new, without the servers' and the test's."""
    others = ("adapters/loopback", "aiohttp/web", "tests/e2e", "tests.e2e")
    return [task for task in asyncio.all_tasks() - before if not any(other in repr(task) for other in others)]


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_BOT_TOKEN", World().bot_token)
    monkeypatch.setattr(session, "IDENTIFY_PAUSE", 0.3)
    monkeypatch.setattr(session, "PAUSES", (0.05, 0.1))


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(time_scale=20) as server:
        yield server


def settings(discord: LoopbackDiscord) -> Settings:
    return Settings(
        base_url=discord.api_url, gateway_url=discord.gateway_url, allow_users=(ADA,), allow_channels=("*",)
    )


@pytest.fixture
def adapter(discord: LoopbackDiscord) -> Adapter:
    return create(settings(discord))


@asynccontextmanager
async def running(adapter: Adapter, inbox: Inbox, seconds: float = 5) -> AsyncGenerator[TaskGroup]:
    ready = anyio.Event()
    with anyio.fail_after(seconds):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(adapter.run, inbox.receive, ready.set)
            await ready.wait()
            yield tasks
            tasks.cancel_scope.cancel()


async def refusal(adapter: Adapter) -> str:
    """Why the adapter does not run."""
    with anyio.fail_after(5), pytest.raises(AdapterError) as caught:
        await adapter.run(Inbox().receive, lambda: pytest.fail("ready, though refused"))
    return str(caught.value)


async def posted(
    adapter: Adapter, text: str = "hello", address: Address | None = None, buttons: tuple[Button, ...] = ()
) -> str:
    outcome = await adapter.perform(PostMessage(address=address or at(GENERAL), text=text, buttons=buttons))
    assert isinstance(outcome, Performed), outcome
    return outcome.message_id


def ticket_of(inbound: Inbound) -> Ticket:
    assert isinstance(inbound, MessageReceived | CommandReceived)
    assert inbound.ticket is not None
    return inbound.ticket


async def stored_ticket(inbox: Inbox) -> Ticket:
    await inbox.holds(1)
    return ticket_of(inbox.stored[0])


# What comes in.


async def test_mentions_threads_and_direct_messages_are_received(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        said = discord.say(ADA, GENERAL, "what is a <dragoman>?")
        discord.say(ADA, GENERAL, "never mind", mention=False)
        discord.say(ADA, PROJECT_THREAD, "here")
        discord.say(BOB, GENERAL, "@everyone", mention=False)
        discord.say(ADA, ADA_DM, "alone")
        await inbox.holds(3)
    first, inside, direct = inbox.asked
    assert (first.text, first.address, first.user, first.own_id) == ("what is a <dragoman>?", at(GENERAL), ADA, said.id)
    assert (first.direct, first.space) == (False, GUILD)
    assert (inside.text, inside.address) == ("here", at(PROJECTS, PROJECT_THREAD))
    assert (direct.text, direct.address, direct.direct, direct.space) == ("alone", at(ADA_DM), True, None)


async def test_a_thread_that_is_begun_later_belongs_to_its_channel(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        thread = discord.start_thread(GENERAL)
        discord.say(ADA, thread.id, "here")
        await inbox.holds(1)
    assert inbox.asked[0].address == at(GENERAL, thread.id)


async def test_a_thread_that_nobody_told_of_is_looked_up(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hears_nothing(each: Directory, event: str, data: object) -> None:
        pass

    monkeypatch.setattr(Directory, "feed", hears_nothing)
    inbox = Inbox()
    async with running(adapter, inbox):
        for _ in range(2):
            discord.say(ADA, PROJECT_THREAD, "here")
        await inbox.holds(2)
    assert [said.address for said in inbox.asked] == [at(PROJECTS, PROJECT_THREAD)] * 2
    assert len(discord.calls.of("GET /channels/{channel}")) == 1


async def test_a_reply_with_a_mention_tells_what_it_answers(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        name = await posted(adapter, "I am a translator.")
        discord.say(ADA, GENERAL, "no thanks", mention=False, reply_to=name, ping=False)
        discord.say(ADA, GENERAL, "since when?", mention=False, reply_to=name)
        await inbox.holds(1)
    (said,) = inbox.asked
    assert said.text == "since when?"
    assert said.quotation is not None
    assert (said.quotation.user, said.quotation.text) == (BOT, "I am a translator.")


async def test_edits_and_deletions_of_what_was_said_to_us_are_received(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        said, aside = discord.say(ADA, GENERAL, "hi"), discord.say(ADA, GENERAL, "lunch?", mention=False)
        await inbox.holds(1)
        discord.edit(said.id, f"<@{BOT}> bye")
        discord.edit(aside.id, "dinner?")
        discord.delete(aside.id)
        discord.delete(said.id)
        await inbox.holds(3)
    _, edited, gone = inbox.stored
    assert isinstance(edited, MessageEdited)
    assert isinstance(gone, MessageDeleted)
    assert (edited.message.text, edited.message.own_id, gone.own_id) == ("bye", said.id, said.id)
    assert len({inbound.event_id for inbound in inbox.stored}) == 3


async def test_l28_our_own_messages_leave_no_trace_and_no_bot_is_answered(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        name = await posted(adapter, f"<@{BOT}> and you?")
        await adapter.perform(EditMessage(address=at(GENERAL), message_id=name, text="more"))
        await adapter.perform(DeleteMessage(address=at(GENERAL), message_id=name))
        discord.push(
            "MESSAGE_CREATE",
            {
                "id": "7",
                "channel_id": ADA_DM,
                "type": 0,
                "content": "hi",
                "author": {"id": "8", "bot": True},
                "mentions": [],
            },
        )
        discord.say(ADA, ADA_DM, "now")
        await inbox.holds(2)
    ignored, said = inbox.stored
    assert isinstance(ignored, Ignored)
    assert ignored.reason == "another bot's message"
    assert isinstance(said, MessageReceived)


async def test_what_is_dispatched_again_has_the_same_id(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.say(ADA, GENERAL, "hi")
        discord.redeliver("MESSAGE_CREATE")
        await inbox.holds(2)
    assert len({inbound.event_id for inbound in inbox.stored}) == 1


async def test_messages_that_are_deleted_together_are_each_deleted(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.push("MESSAGE_DELETE_BULK", {"ids": ["7", "8"], "channel_id": GENERAL, "guild_id": GUILD})
        await inbox.holds(2)
    assert [inbound.own_id for inbound in inbox.stored if isinstance(inbound, MessageDeleted)] == ["7", "8"]


async def test_l26_messages_are_stored_in_their_order_though_the_store_refuses_for_a_while(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ingress, "PAUSES", (0.01,))
    inbox = Inbox()
    inbox.refusals = 5
    async with running(adapter, inbox):
        for number in range(10):
            discord.say(ADA, ADA_DM, f"{number}")
        await inbox.holds(10)
    assert inbox.texts == [f"{number}" for number in range(10)]
    assert caplog.text.count("was not stored and is tried again: the disk is full") == 5


async def test_what_has_arrived_is_stored_though_it_ends(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    async with running(adapter, inbox) as tasks:
        for number in range(3):
            discord.say(ADA, ADA_DM, f"{number}")
        await inbox.until(lambda: bool(inbox.received))
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
        inbox.open.set()
    assert inbox.texts == ["0", "1", "2"]


# Interactions.


async def test_a_question_is_stored_and_then_deferred_for_all_to_see(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    async with running(adapter, inbox):
        asked = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        await inbox.until(lambda: bool(inbox.received))
        await posted(adapter, "time passes")
        assert discord.interaction(asked.id).state == "waiting"
        inbox.open.set()
        answered = await discord.until(lambda: discord.interaction(asked.id).response)
    (said,) = inbox.asked
    assert (said.text, said.address, said.own_id) == ("what?", at(GENERAL), f"@{asked.id}")
    assert discord.interaction(asked.id).state == "deferred"
    assert answered is not None
    assert not discord.message(answered).ephemeral
    assert discord.message(answered).loading


async def test_commands_are_answered_to_who_gave_them_alone(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        given = [discord.command(ADA, ADA_DM, name) for name in ("new", "stop", "status", "help")]
        await discord.until(lambda: all(discord.interaction(each.id).response for each in given))
    assert [each.command for each in inbox.stored if isinstance(each, CommandReceived)] == [
        "new",
        "stop",
        "status",
        "help",
    ]
    for each in given:
        assert discord.message(str(discord.interaction(each.id).response)).ephemeral


async def test_who_may_not_use_the_bot_is_told_so_at_once_and_alone(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox(admits=False)
    async with running(adapter, inbox):
        asked = discord.command(BOB, GENERAL, "ask", {"text": "what?"})
        response = await discord.until(lambda: discord.interaction(asked.id).response)
    assert response is not None
    message = discord.message(response)
    assert (message.content.text, message.ephemeral, message.loading) == (ingress.NOT_ALLOWED, True, False)


async def test_what_was_not_stored_is_not_deferred(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with running(adapter, inbox):
        lost = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        asked = discord.command(ADA, GENERAL, "ask", {"text": "again?"})
        await discord.until(lambda: discord.interaction(asked.id).response)
    assert discord.interaction(lost.id).response is None
    assert "was not stored, so it is not answered: the disk is full" in caplog.text


async def test_an_interaction_waits_behind_no_message(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with running(adapter, inbox):
        discord.say(ADA, GENERAL, "refused, and tried again")
        await inbox.until(lambda: bool(inbox.received))
        asked = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        await discord.until(lambda: discord.interaction(asked.id).response)
        await inbox.holds(2)


async def test_many_questions_at_once_are_each_deferred_within_one_and_a_half_seconds(
    discord: LoopbackDiscord, adapter: Adapter, tmp_path: Path
) -> None:
    """In real time, as Discord counts, and with the store that gateways have."""
    async with open_store(StoreSettings(path=str(tmp_path / "store.db"))) as store:

        async def receive(inbound: Inbound) -> bool:
            return await store.ingest(inbound) is not None

        ready = anyio.Event()
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(adapter.run, receive, ready.set)
                await ready.wait()
                for number in range(200):
                    discord.command(ADA, (GENERAL, PROJECTS)[number % 2], "ask", {"text": "what?"})
                    discord.say(ADA, GENERAL, "and what else?")
                await discord.until(lambda: all(each.state != "waiting" for each in discord.interactions))
                tasks.cancel_scope.cancel()
    assert {each.state for each in discord.interactions} == {"deferred"}
    assert max(each.latency or 0 for each in discord.interactions) < 1.5


async def test_what_was_stored_too_late_is_not_deferred(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ingress, "DEADLINE", 0.0)
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        ticket = await stored_ticket(inbox)
        late = await adapter.perform(
            EditMessage(address=at(GENERAL), message_id=ticket.opening, text="late", ticket=ticket)
        )
    assert late == Expired()
    assert discord.interaction(asked.id).response is None
    assert "was stored too late to be answered in time" in caplog.text


@pytest.mark.parametrize("status", [0, 503])
async def test_a_deferral_whose_answer_is_lost_is_made_again_in_time(
    discord: LoopbackDiscord, adapter: Adapter, status: int
) -> None:
    discord.lose_answer_next(CALLBACK, status=status)
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        await discord.until(lambda: discord.interaction(asked.id).response)
        ticket = await stored_ticket(inbox)
        shown = await adapter.perform(
            EditMessage(address=at(GENERAL), message_id=ticket.opening, text="So.", ticket=ticket)
        )
    assert shown == Performed(message_id=ticket.opening)


@pytest.mark.parametrize("trouble", [{"status": 503}, {"retry_after": 0}], ids=["refused", "limited"])
async def test_a_deferral_that_was_not_made_is_made_again_in_time(
    discord: LoopbackDiscord, adapter: Adapter, trouble: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    discord.fail_next(CALLBACK, **trouble)
    async with running(adapter, Inbox()):
        asked = discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        await discord.until(lambda: discord.interaction(asked.id).state == "deferred")
    assert "was not answered" not in caplog.text


async def test_a_post_that_waited_for_longer_than_discord_knows_its_nonce_is_not_made_again() -> None:
    async with LoopbackDiscord(limits=Limits(nonce_life=0.0), time_scale=20) as discord:
        adapter = create(settings(discord))
        inbox, post = Inbox(), PostMessage(address=at(GENERAL), text="once", nonce="n1")
        async with running(adapter, inbox):
            discord.lose_answer_next(POST, status=0)
            assert isinstance(await adapter.perform(post), Unknown)
            discord.say(ADA, GENERAL, "behind it")
            await inbox.holds(1)
            outcome = await adapter.perform(post)
    (message,) = discord.messages(GENERAL, author="bot")
    assert outcome == Performed(message_id=message.id)


async def test_whatever_is_asked_before_it_is_ready_is_spared_when_discord_misbehaves(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    async with running(adapter, Inbox()):
        assert {call.method for call in discord.calls} <= SPARED


async def test_an_edit_of_the_first_answer_waits_until_that_is_there(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    discord.delay_next(CALLBACK, 0.2)
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.command(ADA, GENERAL, "ask", {"text": "what?"})
        ticket = await stored_ticket(inbox)
        shown = await adapter.perform(
            EditMessage(address=at(GENERAL), message_id=ticket.opening, text="So.", ticket=ticket)
        )
    assert shown == Performed(message_id=ticket.opening)
    (message,) = discord.messages(GENERAL, author="bot")
    assert message.content.text == "So."


# Presses.


def told(press: PressReceived, text: str) -> TellPrivately:
    return TellPrivately(address=press.address, user=press.user, text=text, press=press.press, ticket=press.ticket)


async def test_a_press_in_a_thread_is_stored_then_acknowledged_and_answered_to_who_pressed_alone(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", at(PROJECTS, PROJECT_THREAD), BUTTONS)
        inbox.open = anyio.Event()
        pressed = discord.press(BOB, asked, "deny:abcdefg2")
        await inbox.until(lambda: bool(inbox.received))
        assert discord.interaction(pressed.id).state == "waiting"
        inbox.open.set()
        await inbox.holds(1)
        (press,) = inbox.presses
        assert await adapter.perform(told(press, "Only **ada** may.")) == Performed(message_id="")
        assert await adapter.perform(told(press, "")) == Performed(message_id="")
    assert (press.user, press.data, press.address) == (BOB, "deny:abcdefg2", at(PROJECTS, PROJECT_THREAD))
    assert press.message_id == f"discord:{BOT}:{PROJECT_THREAD}:{asked}"
    after = discord.interaction(pressed.id)
    (aside,) = after.follow_ups
    assert (after.state, after.response) == ("answered", asked)
    assert (discord.message(aside).text, discord.message(aside).ephemeral) == ("Only **ada** may.", True)
    assert [call.arguments["type"] for call in discord.calls.of(CALLBACK)] == [6]
    assert len(discord.calls.of(FOLLOW_UP)) == 1


async def test_what_is_said_to_who_pressed_waits_until_the_press_is_acknowledged(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", buttons=BUTTONS)
        discord.delay_next(CALLBACK, 0.3)
        discord.press(BOB, asked, "deny:abcdefg2")
        await inbox.holds(1)
        assert isinstance(await adapter.perform(told(inbox.presses[0], "Only ada may.")), Performed)
    assert [call.method for call in discord.calls if call.method in (CALLBACK, FOLLOW_UP)] == [CALLBACK, FOLLOW_UP]


async def test_a_press_that_was_not_stored_is_not_acknowledged_and_may_be_made_again(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", buttons=BUTTONS)
        first = discord.press(ADA, asked, "approve:abcdefg2")
        await inbox.until(lambda: bool(inbox.received))
        second = discord.press(ADA, asked, "approve:abcdefg2")
        await discord.until(lambda: discord.interaction(second.id).response)
    assert discord.interaction(first.id).state == "waiting"
    assert [press.press for press in inbox.presses] == [second.id]


async def test_who_may_not_use_the_bot_sees_nothing_of_a_press_but_what_is_said_to_them(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    inbox = Inbox(admits=False)
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", buttons=BUTTONS)
        pressed = discord.press(BOB, asked, "approve:abcdefg2")
        await discord.until(lambda: discord.interaction(pressed.id).response)
        await adapter.perform(told(inbox.presses[0], "Not you."))
    texts = [(message.text, message.ephemeral) for message in discord.messages(author="bot")]
    assert texts == [("May I?", False), ("Not you.", True)]


async def test_a_press_below_a_first_answer_and_a_guests_message_arrives_and_an_edit_takes_the_buttons_away(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    for channel in (GENERAL, FOREIGN_CHANNEL):
        async with asking(discord, adapter, channel) as asked:
            ticket = ticket_of(asked)
            edit = EditMessage(
                address=asked.address, message_id=ticket.opening, text="May I?", ticket=ticket, buttons=BUTTONS
            )
            assert isinstance(await adapter.perform(edit), Performed)
            shown = discord.messages(channel, author="bot")[-1].id
            pressed = discord.press(ADA, shown, "approve:abcdefg2")
            await discord.until(lambda name=pressed.id: discord.interaction(name).response)
            bare = EditMessage(address=asked.address, message_id=ticket.opening, text="May I?", ticket=ticket)
            assert isinstance(await adapter.perform(bare), Performed)
            assert list(discord.message(shown).components) == []


async def test_a_press_that_is_too_old_to_be_answered_has_expired(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", buttons=BUTTONS)
        pressed = discord.press(ADA, asked, "approve:abcdefg2")
        await discord.until(lambda: discord.interaction(pressed.id).response)
        discord.outdate(pressed.id)
        assert await adapter.perform(told(inbox.presses[0], "Too late.")) == Expired()
    nobodys = TellPrivately(address=at(GENERAL), user=ADA, text="Too late.", press=pressed.id)
    assert await adapter.perform(nobodys) == Expired()


async def test_nothing_is_said_to_somebody_alone_who_did_nothing(discord: LoopbackDiscord, adapter: Adapter) -> None:
    outcome = await adapter.perform(TellPrivately(address=at(GENERAL), user=ADA, text="Your text waits."))
    assert isinstance(outcome, Forbidden)
    assert list(discord.calls) == []


async def test_decisions_are_commands_with_what_they_are_about(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        given = [
            discord.command(ADA, GENERAL, "approve", {"id": "ABCDEFG2"}),
            discord.command(ADA, GENERAL, "deny"),
            discord.command(ADA, GENERAL, "revoke", {"tool": "read_url"}),
        ]
        discord.say(ADA, ADA_DM, "!approve abcdefg2")
        await inbox.holds(4)
        await discord.until(lambda: all(discord.interaction(each.id).response for each in given))
    commands = {(each.command, each.argument) for each in inbox.stored if isinstance(each, CommandReceived)}
    assert commands == {("approve", "abcdefg2"), ("deny", ""), ("revoke", "read_url")}
    assert all(discord.message(str(discord.interaction(each.id).response)).ephemeral for each in given)


async def test_buttons_and_forms_are_stored_and_ignored(discord: LoopbackDiscord, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.push("INTERACTION_CREATE", {"id": "7", "type": 3, "token": "x", "channel_id": GENERAL})
        await inbox.holds(1)
    assert [inbound.reason for inbound in inbox.stored if isinstance(inbound, Ignored)] == [
        "not a command: a button or a menu"
    ]
    assert discord.calls.of(CALLBACK) == []


async def test_commands_are_registered_before_anybody_can_give_them_and_once(discord: LoopbackDiscord) -> None:
    for _ in range(2):
        async with running(create(settings(discord)), Inbox()):
            assert {str(each["name"]) for each in discord.commands.registered[""]} == {
                *("ask", "new", "stop", "status", "help"),
                *("approve", "deny", "approvals", "revoke"),
            }
    assert len(discord.calls.of(PUT_COMMANDS)) == 1


async def test_a_failure_to_register_them_ends_nothing(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    discord.fail_next(PUT_COMMANDS, 50035, status=400)
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.say(ADA, GENERAL, "hi")
        await inbox.holds(1)
    assert "the slash commands were not registered; at the next start again: HTTP 400" in caplog.text


@pytest.mark.parametrize("route", [GET_COMMANDS, PUT_COMMANDS])
@pytest.mark.parametrize("failure", [{"status": 0}, {"status": 503}, {"code": 30034, "retry_after": 0}], ids=str)
async def test_what_could_not_be_registered_at_first_is_registered_while_it_listens(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, route: str, failure: dict[str, Any]
) -> None:
    monkeypatch.setattr(command, "PAUSES", (0.05, 0.1))
    discord.fail_next(route, **failure, times=3)
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.say(ADA, GENERAL, "hi")
        await inbox.holds(1)
        await discord.until(lambda: discord.commands.registered.get(""))
    assert len(discord.calls.of(route)) == 4
    assert len([call for call in discord.calls.of(PUT_COMMANDS) if call.status == 200]) == 1


# Tickets.


@asynccontextmanager
async def asking(discord: LoopbackDiscord, adapter: Adapter, channel: str) -> AsyncGenerator[MessageReceived]:
    """Somebody has asked with a slash command, and waits."""
    inbox = Inbox()
    async with running(adapter, inbox, seconds=10):
        asked = discord.command(ADA, channel, "ask", {"text": "what?"})
        await discord.until(lambda: discord.interaction(asked.id).response)
        await inbox.holds(1)
        yield inbox.asked[0]


async def test_where_the_bot_is_a_member_only_the_first_answer_goes_by_the_ticket(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    async with asking(discord, adapter, GENERAL) as said:
        ticket = ticket_of(said)
        assert not ticket.guest
        first = EditMessage(address=said.address, message_id=ticket.opening, text="**So.** @everyone", ticket=ticket)
        assert await adapter.perform(first) == Performed(message_id=ticket.opening)
        post = PostMessage(address=said.address, text="And so.", nonce="n1", answers=said.own_id, ticket=ticket)
        assert isinstance(await adapter.perform(post), Performed)
        assert await adapter.perform(MarkWaiting(address=said.address, message_id=said.own_id)) == NotModified()
    opening, more = discord.messages(GENERAL, author="bot")
    assert (opening.content.text, opening.content.pings) == ("**So.** @everyone", ())
    assert (more.nonce, more.interaction) == ("n1", None)


async def test_a_guest_shows_everything_by_the_ticket(discord: LoopbackDiscord, adapter: Adapter) -> None:
    async with asking(discord, adapter, FOREIGN_CHANNEL) as said:
        ticket = ticket_of(said)
        assert ticket.guest
        opening = EditMessage(address=said.address, message_id=ticket.opening, text="one", ticket=ticket)
        assert isinstance(await adapter.perform(opening), Performed)
        posts = [
            await adapter.perform(PostMessage(address=said.address, text=f"more {number}", ticket=ticket))
            for number in range(3)
        ]
        names = [post.message_id for post in posts if isinstance(post, Performed)]
        edit = EditMessage(address=said.address, message_id=names[0], text="<@1> changed", ticket=ticket)
        assert isinstance(await adapter.perform(edit), Performed)
        delete = DeleteMessage(address=said.address, message_id=names[1], ticket=ticket)
        assert isinstance(await adapter.perform(delete), Performed)
    shown = discord.messages(FOREIGN_CHANNEL, author="bot")
    assert [message.content.text for message in shown] == ["one", r"\<@1> changed", "more 2"]
    assert not any(message.content.pings for message in shown)


async def test_a_guest_who_has_said_it_all_is_told_so(discord: LoopbackDiscord, adapter: Adapter) -> None:
    discord.fail_next("POST /webhooks/{application}/{token}", 40094, status=400)
    async with asking(discord, adapter, FOREIGN_CHANNEL) as said:
        refused = await adapter.perform(PostMessage(address=said.address, text="a", ticket=ticket_of(said)))
    assert isinstance(refused, Forbidden)
    assert "40094" in refused.reason


async def test_l19_a_dead_token_is_neither_waited_for_nor_taken_for_the_bots(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    async with asking(discord, adapter, GENERAL) as said:
        ticket = ticket_of(said)
        edit = EditMessage(address=said.address, message_id=ticket.opening, text="late", ticket=ticket)
        discord.expire(ticket.opening[1:])
        assert await adapter.perform(edit) == Expired()
        # Forgotten by whoever keeps it:
        bare = EditMessage(address=said.address, message_id=ticket.opening, text="late")
        assert await adapter.perform(bare) == Expired()
        assert isinstance(await adapter.perform(PostMessage(address=said.address, text="by myself")), Performed)
        (loading, _) = discord.messages(GENERAL, author="bot")
        gone = await adapter.perform(DeleteMessage(address=said.address, message_id=ticket.opening, ticket=ticket))
        assert isinstance(gone, Performed)
    assert discord.message(loading.id).deleted
    assert [message.content.text for message in discord.messages(GENERAL, author="bot")] == ["by myself"]


async def test_a_first_answer_that_nothing_reaches_stays(discord: LoopbackDiscord, adapter: Adapter) -> None:
    stranger = create(settings(discord))
    async with asking(discord, adapter, GENERAL) as said:
        ticket = ticket_of(said)
        discord.expire(ticket.opening[1:])
        for ticket_or_none in (ticket, None):
            stays = await stranger.perform(
                DeleteMessage(address=said.address, message_id=ticket.opening, ticket=ticket_or_none)
            )
            assert isinstance(stays, EditRefused)


# The connection.


LOSSES: dict[str, tuple[Callable[[LoopbackDiscord], object], bool]] = {
    "cut off": (LoopbackDiscord.drop_sockets, True),
    "op 7": (LoopbackDiscord.ask_to_reconnect, True),
    "4000": (partial(LoopbackDiscord.disconnect, code=4000), True),
    "4007": (partial(LoopbackDiscord.disconnect, code=4007), False),
    "4009": (partial(LoopbackDiscord.disconnect, code=4009), False),
    "op 9, resumable": (partial(LoopbackDiscord.invalidate, resumable=True), True),
    "op 9": (LoopbackDiscord.invalidate, False),
}


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_lost_connection_is_opened_again(discord: LoopbackDiscord, adapter: Adapter, loss: str) -> None:
    lose, resumes = LOSSES[loss]
    inbox = Inbox()
    async with running(adapter, inbox):
        before = {each.id for each in discord.sessions}
        lose(discord)
        if resumes:
            discord.say(ADA, ADA_DM, "missed")
        else:
            await discord.until(lambda: {each.id for each in discord.sessions} - before and discord.open_sockets)
        discord.say(ADA, ADA_DM, "hello")
        await inbox.holds(2 if resumes else 1)
        assert ({each.id for each in discord.sessions} == before) is resumes
    assert inbox.texts == (["missed", "hello"] if resumes else ["hello"])


async def test_a_connection_that_says_nothing_any_more_is_left(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SILENCE", 0.3)
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.zombify()
        discord.say(ADA, ADA_DM, "hello")
        await inbox.holds(1)
    assert inbox.texts == ["hello"]


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("MESSAGE_CREATE", {}),
        ("MESSAGE_CREATE", {"author": 7, "mentions": "x", "id": []}),
        ("MESSAGE_UPDATE", {"id": "7"}),
        ("MESSAGE_DELETE", {"channel_id": None}),
        ("INTERACTION_CREATE", {"data": [], "token": 5}),
        ("GUILD_CREATE", {"channels": 5, "roles": [None]}),
        ("THREAD_LIST_SYNC", {"threads": [{"id": 7}]}),
        ("GUILD_MEMBER_ADD", {"user": {}}),
        ("NOT_AN_EVENT", {"x": "y"}),
    ],
    ids=str,
)
async def test_a_malformed_dispatch_ends_nothing(
    discord: LoopbackDiscord, adapter: Adapter, event: str, data: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    await ends_nothing(discord, adapter, event, data)
    assert "the connection to Discord broke" not in caplog.text


@pytest.mark.parametrize("data", [None, [{"id": "7"}], "words", 7], ids=repr)
@pytest.mark.parametrize(
    "event",
    [
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "MESSAGE_DELETE",
        "MESSAGE_DELETE_BULK",
        "INTERACTION_CREATE",
        "GUILD_CREATE",
        "CHANNEL_CREATE",
        "THREAD_LIST_SYNC",
        "NOT_AN_EVENT",
    ],
)
async def test_a_dispatch_whose_payload_is_no_object_ends_nothing(
    discord: LoopbackDiscord, adapter: Adapter, event: str, data: object, caplog: pytest.LogCaptureFixture
) -> None:
    await ends_nothing(discord, adapter, event, data)
    assert "the connection to Discord broke" not in caplog.text


async def ends_nothing(discord: LoopbackDiscord, adapter: Adapter, event: str, data: object) -> None:
    """What is said behind a dispatch is received by the same session, and over the same connection."""
    inbox = Inbox()
    async with running(adapter, inbox):
        before = [each.id for each in discord.sessions]
        discord.push(event, data)
        discord.say(ADA, ADA_DM, "hello")
        await inbox.until(lambda: inbox.texts == ["hello"])
        assert [each.id for each in discord.sessions] == before


GARBLED = {
    "nonsense": "nonsense",
    "cut off": '{"op": 0, "s": 4, "t": "MESSAGE_CREATE", "d": {"content": "the secr',
    "a list": "[1, 2]",
    "a text": '"secret"',
    "a page": "<html><body>502</body></html>",
    "too deep": '{"op": 0, "t": "X", "d": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a huge number": '{"op": 0, "t": "X", "d": ' + "9" * 5000 + "}",
}


@pytest.mark.parametrize("text", GARBLED.values(), ids=GARBLED)
async def test_what_is_no_json_is_passed_over_and_a_resume_goes_on_behind_it(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        before = [each.id for each in discord.sessions]
        discord.garble(text)
        discord.say(ADA, ADA_DM, "hello")
        await inbox.holds(1)
        assert "broke" not in caplog.text
        discord.garble(text)
        discord.drop_sockets()
        discord.say(ADA, ADA_DM, "and now?")
        await inbox.holds(2)
        assert [each.id for each in discord.sessions] == before
    assert inbox.texts == ["hello", "and now?"]
    assert "it is passed over" in caplog.text
    assert "secr" not in caplog.text


@pytest.mark.parametrize(
    ("text", "read"),
    [("x\ud800y", "x\N{REPLACEMENT CHARACTER}y"), ("\U0001f600\udc00", "\U0001f600\N{REPLACEMENT CHARACTER}")],
    ids=ascii,
)
async def test_a_lone_surrogate_is_read_as_a_mark_of_its_absence(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture, text: str, read: str
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.say(ADA, ADA_DM, text)
        await inbox.holds(1)
        discord.drop_sockets()
        discord.say(ADA, ADA_DM, "and now?")
        await inbox.holds(2)
    assert inbox.texts == [read, "and now?"]
    assert "passed over" not in caplog.text


@pytest.mark.parametrize("odd", [float("nan"), float("inf")], ids=str)
async def test_what_is_no_number_leaves_the_rest_of_a_dispatch_readable(
    discord: LoopbackDiscord, adapter: Adapter, odd: float
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.say(ADA, ADA_DM, "hello")
        await inbox.holds(1)
        said = next(each for each in reversed(discord.sessions[0].dispatches) if each.event == "MESSAGE_CREATE")
        discord.push(
            "MESSAGE_CREATE", {**mapping(said.data), "id": "1290000000000000001", "content": "odd", "tts": odd}
        )
        await inbox.holds(2)
    assert inbox.texts == ["hello", "odd"]


@pytest.mark.parametrize("event", ["READY", "RESUMED"])
async def test_what_the_sdk_breaks_over_ends_a_connection_and_no_more(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture, event: str
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        discord.push(event, {} if event == "READY" else {"__shard_id__": 5})
        discord.say(ADA, ADA_DM, "hello")
        await inbox.until(lambda: inbox.texts == ["hello"])
    if event == "READY":
        assert "the connection to Discord broke (KeyError); a new one is opened" in caplog.text


async def test_a_wrong_token_is_named_with_the_place_to_get_one(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "MTE5MDAwMDAwMDAwMDAwMDAwMQ.wrong.wrongwrongwrong"
    monkeypatch.setenv("DISCORD_BOT_TOKEN", wrong)
    message = await refusal(adapter)
    for part in ("Discord bot token", "env:DISCORD_BOT_TOKEN", "https://discord.com/developers/applications"):
        assert part in message
    assert wrong not in message


async def test_a_discord_that_is_not_there_is_said() -> None:
    message = await refusal(create(Settings(base_url="http://127.0.0.1:1/api")))
    assert "cannot be reached at http://127.0.0.1:1/api" in message


@pytest.mark.parametrize(
    ("code", "part"), [(4004, "does not accept the Discord bot token"), (4014, "Privileged Gateway Intents")]
)
async def test_what_discord_closes_for_good_ends_it(
    discord: LoopbackDiscord, adapter: Adapter, code: int, part: str
) -> None:
    ready = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(AdapterError, match=part):
                    await adapter.run(Inbox().receive, ready.set)

            tasks.start_soon(run)
            await ready.wait()
            discord.disconnect(code)
    assert discord.open_sockets == 0


async def test_a_token_that_is_revoked_ends_it_and_leaves_what_is_to_be_said(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    ready = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(AdapterError, match=r"DISCORD_BOT_TOKEN: was it reset"):
                    await adapter.run(Inbox().receive, ready.set)

            tasks.start_soon(run)
            await ready.wait()
            discord.fail_next(POST, 0, status=401)
            waiting = await adapter.perform(PostMessage(address=at(GENERAL), text="a"))
            assert isinstance(waiting, Unreachable)
    assert discord.open_sockets == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while storing"])
async def test_cancellation_leaves_nothing(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    monkeypatch.setattr(ingress, "FAREWELL", 0.2)
    inbox = Inbox()
    inbox.open = anyio.Event()
    before = asyncio.all_tasks()
    async with running(adapter, inbox):
        if busy:
            discord.say(ADA, ADA_DM, "hello")
            discord.command(ADA, GENERAL, "ask", {"text": "what?"})
            await inbox.until(lambda: len(inbox.received) == 2)
    assert not ours(before)
    with anyio.fail_after(5):
        await discord.until(lambda: not discord.open_sockets)
    assert discord.calls.of(CALLBACK) == []


async def test_two_bots_live_in_one_process() -> None:
    async with LoopbackDiscord() as one, LoopbackDiscord() as two:
        inboxes = Inbox(), Inbox()
        async with running(create(settings(one)), inboxes[0]), running(create(settings(two)), inboxes[1]):
            one.say(ADA, ADA_DM, "to one")
            two.say(ADA, ADA_DM, "to two")
            await inboxes[0].holds(1)
            await inboxes[1].holds(1)
    assert [inbox.texts for inbox in inboxes] == [["to one"], ["to two"]]


async def test_no_secret_is_logged(
    discord: LoopbackDiscord, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with asking(discord, adapter, GENERAL) as said:
        await adapter.perform(
            EditMessage(address=said.address, message_id=ticket_of(said).opening, text="a", ticket=ticket_of(said))
        )
    ours_alone = "\n".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("adapters.discord", "discord"))
    )
    assert World().bot_token not in ours_alone
    assert ticket_of(said).secret not in ours_alone


# What goes out.


async def test_a_message_is_posted_and_edited_without_pings_or_previews(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    text = f"**hi** @everyone <@{ADA}> https://example.org"
    with anyio.fail_after(5):
        name = await posted(adapter, text)
        edited = await adapter.perform(EditMessage(address=at(GENERAL), message_id=name, text=f"more {text}"))
    assert isinstance(edited, Performed)
    message = discord.message(name)
    for content in (message.original, *(edit.content for edit in message.edits)):
        assert content.pings == ()
        assert content.flags == 4


async def test_a_reply_stands_in_its_thread_and_names_its_question(discord: LoopbackDiscord, adapter: Adapter) -> None:
    asked = discord.say(ADA, PROJECT_THREAD, "hello")
    post = PostMessage(address=at(PROJECTS, PROJECT_THREAD), text="hi", answers=asked.id)
    with anyio.fail_after(5):
        done = await adapter.perform(post)
    assert isinstance(done, Performed)
    assert done.quota is not None  # a thread has a window of its own, and a budget
    message = discord.message(done.message_id)
    assert message.reference is not None
    assert (message.channel, message.reference.message) == (PROJECT_THREAD, asked.id)


async def test_l20_the_answer_to_a_question_that_is_gone_is_posted_all_the_same(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    asked = discord.say(ADA, GENERAL, "hello")
    discord.delete(asked.id)
    with anyio.fail_after(5):
        done = await adapter.perform(PostMessage(address=at(GENERAL), text="hi", answers=asked.id))
    assert isinstance(done, Performed)
    assert len(discord.calls.of(POST)) == 1


async def test_l20_where_replies_are_not_taken_it_goes_as_none(discord: LoopbackDiscord, adapter: Adapter) -> None:
    asked = discord.say(ADA, GENERAL, "hello")
    discord.fail_next(POST, 160002, status=400)
    with anyio.fail_after(5):
        done = await adapter.perform(PostMessage(address=at(GENERAL), text="hi", answers=asked.id))
    assert isinstance(done, Performed)
    assert discord.message(done.message_id).reference is None


@pytest.mark.parametrize("status", [0, 500])
async def test_a_post_whose_answer_was_lost_is_there_once(
    discord: LoopbackDiscord, adapter: Adapter, status: int
) -> None:
    discord.lose_answer_next(POST, status=status)
    with anyio.fail_after(5):
        post = PostMessage(address=at(GENERAL), text="hi", nonce="n1")
        assert isinstance(await adapter.perform(post), Unknown)
        assert isinstance(await adapter.perform(post), Performed)
    assert len(discord.messages(GENERAL, author="bot")) == 1


async def test_headers_say_what_is_left(discord: LoopbackDiscord, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        outcomes = [await adapter.perform(PostMessage(address=at(GENERAL), text="a")) for _ in range(3)]
    quotas = [outcome.quota for outcome in outcomes if isinstance(outcome, Performed)]
    assert [quota.remaining for quota in quotas if quota] == [4, 3, 2]
    assert all(0 < quota.seconds <= 5 for quota in quotas if quota)


async def test_what_discord_limits_is_told_at_once_and_not_slept_over(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    begun = anyio.current_time()
    with anyio.fail_after(5):
        discord.fail_next(POST, 0, status=429, retry_after=600)
        limited = await adapter.perform(PostMessage(address=at(GENERAL), text="a"))
        discord.fail_next(PATCH, 0, status=429, retry_after=7, scope="global")
        everything = await adapter.perform(EditMessage(address=at(GENERAL), message_id="1", text="a"))
        discord.fail_next(POST, 0, status=429, retry_after=9, scope="cloudflare")
        barred = await adapter.perform(PostMessage(address=at(GENERAL), text="a"))
    assert limited == RateLimited(retry_after=600)
    assert everything == RateLimited(retry_after=7, everything=True)
    assert barred == RateLimited(retry_after=9, everything=True)
    assert anyio.current_time() - begun < 2


async def test_l23_a_message_that_is_too_old_for_edits_is_begun_anew(
    discord: LoopbackDiscord, adapter: Adapter
) -> None:
    with anyio.fail_after(5):
        name = await posted(adapter)
        discord.fail_next(PATCH, 30046, status=429, retry_after=5)
        assert await adapter.perform(EditMessage(address=at(GENERAL), message_id=name, text="b")) == Expired()


async def test_before_discord_bars_us_nothing_is_sent(
    discord: LoopbackDiscord, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(breaker, "MOST", 3)
    post = PostMessage(address=at(FOREIGN_CHANNEL), text="a")
    with anyio.fail_after(5):
        for _ in range(3):
            assert isinstance(await adapter.perform(post), Forbidden)
        outcome = await adapter.perform(PostMessage(address=at(GENERAL), text="a"))
    assert isinstance(outcome, RateLimited)
    assert outcome.everything
    assert 590 < outcome.retry_after <= 600
    assert discord.invalid_requests == 3
    assert "nothing is sent for that long" in caplog.text


async def test_a_message_is_deleted_once(discord: LoopbackDiscord, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        name = await posted(adapter)
        delete = DeleteMessage(address=at(GENERAL), message_id=name)
        edit = EditMessage(address=at(GENERAL), message_id=name, text="a")
        assert isinstance(await adapter.perform(delete), Performed)
        assert await adapter.perform(delete) == MessageGone()
        assert await adapter.perform(edit) == MessageGone()


async def test_a_mark_is_put_and_taken_away(discord: LoopbackDiscord, adapter: Adapter) -> None:
    asked = discord.say(ADA, GENERAL, "hi")
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(MarkWaiting(address=at(GENERAL), message_id=asked.id)), Performed)
        assert discord.message(asked.id).reactions
        assert isinstance(await adapter.perform(UnmarkWaiting(address=at(GENERAL), message_id=asked.id)), Performed)
    assert not discord.message(asked.id).reactions


@pytest.mark.parametrize("kind", [MarkWaiting, UnmarkWaiting])
async def test_a_mark_at_a_message_that_is_gone_is_no_trouble(
    discord: LoopbackDiscord, adapter: Adapter, kind: type[MarkWaiting | UnmarkWaiting]
) -> None:
    asked = discord.say(ADA, GENERAL, "hi")
    discord.delete(asked.id)
    with anyio.fail_after(5):
        assert await adapter.perform(kind(address=at(GENERAL), message_id=asked.id)) == NotModified()


async def test_typing_is_shown_where_it_is_typed(discord: LoopbackDiscord, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(ShowTyping(address=at(PROJECTS, PROJECT_THREAD))), Performed)
    assert len(discord.typing[PROJECT_THREAD]) == 1


@pytest.mark.parametrize("markup", [True, False])
@pytest.mark.parametrize(("length", "kind"), [(2000, Performed), (2001, TooLong)])
async def test_what_is_too_long_is_not_sent(
    discord: LoopbackDiscord, adapter: Adapter, markup: bool, length: int, kind: type[Outcome]
) -> None:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=at(GENERAL), text="\U0001f600" * length, markup=markup))
    assert isinstance(outcome, kind)
    assert len(discord.calls.of(POST)) == (kind is Performed)


@pytest.mark.parametrize(("markup", "kind"), [(True, MarkupRejected), (False, Forbidden)])
async def test_what_shows_nothing_is_not_sent(
    discord: LoopbackDiscord, adapter: Adapter, markup: bool, kind: type[Outcome]
) -> None:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=at(GENERAL), text=" \n", markup=markup))
    assert isinstance(outcome, kind)
    assert discord.calls.of(POST) == []


async def test_text_alone_is_shown_as_it_stands(discord: LoopbackDiscord, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=at(GENERAL), text="**a** ||b||", markup=False))
    assert isinstance(outcome, Performed)
    assert discord.message(outcome.message_id).content.text == r"\*\*a\*\* \|\|b\|\|"


async def test_a_place_where_the_bot_is_not_is_told_with_its_mend(adapter: Adapter) -> None:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=at(FOREIGN_CHANNEL), text="a"))
    assert isinstance(outcome, Forbidden)
    assert "50001: let the bot into the channel" in outcome.reason


@pytest.mark.parametrize(
    "operation",
    [
        ReadThread(address=at(GENERAL)),
        StartStream(address=at(GENERAL), text="a"),
        AppendText(address=at(GENERAL), message_id="1", text="a"),
        FinishStream(address=at(GENERAL), message_id="1", text=""),
    ],
    ids=lambda operation: type(operation).__name__,
)
async def test_what_discord_does_not_have_is_said(
    discord: LoopbackDiscord, adapter: Adapter, operation: Operation
) -> None:
    assert isinstance(await adapter.perform(operation), Forbidden)
    assert discord.calls.of(POST) == []


async def test_a_discord_that_is_not_there_did_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = create(Settings(base_url="http://127.0.0.1:1/api"))
    with anyio.fail_after(5):
        assert isinstance(await gone.perform(PostMessage(address=at(GENERAL), text="a")), Unreachable)
    monkeypatch.delenv("DISCORD_BOT_TOKEN")
    missing = create(Settings(base_url="http://127.0.0.1:1/api"))
    assert isinstance(await missing.perform(PostMessage(address=at(GENERAL), text="a")), Forbidden)


async def test_a_channel_where_it_may_not_write_makes_it_a_guest() -> None:
    closed = Channel(id=CLOSED_CHANNEL, name="closed", guild=GUILD, denied=Permission.SEND_MESSAGES)
    world = World(channels=(*World().channels, closed))
    async with (
        LoopbackDiscord(world=world, time_scale=20) as discord,
        asking(discord, create(settings(discord)), CLOSED_CHANNEL) as said,
    ):
        assert ticket_of(said).guest
