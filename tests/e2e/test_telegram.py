"""The Telegram adapter with the real SDK, against Telegram on loopback."""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import anyio
import pytest
from anyio.abc import SocketAttribute, TaskGroup
from telegram import Bot

from adapters.loopback.telegram import LoopbackTelegram, Topic, User, World
from adapters.telegram import Settings, Webhook, create, ingress, webhook
from adapters.telegram.menu import COMMANDS
from adapters.telegram.prose import rendered
from gateway.adapter import Adapter
from gateway.address import Address
from gateway.error import AdapterError, StoreError
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageEdited, MessageReceived, PressReceived
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

ADA, BOB, GROUP, FORUM = 101, 102, -200, -1_000_000_000_300
OTHER_BOT = User(id=900, name="Other", username="other_bot", is_bot=True)
SECRET = "word_from_the_test"  # noqa: S105 - of this test


def at(chat: int, topic: int | None = None) -> Address:
    thread = None if topic is None else str(topic)
    return Address(platform="telegram", account=str(World().bot.id), channel=str(chat), thread=thread)


CHAT = at(ADA)
BUTTONS = (Button(label="Allow", data="approve:abcdefg2", style="go"), Button(label="Deny", data="deny:abcdefg2"))


class Inbox:
    """A store that can be closed for a while, and can refuse."""

    def __init__(self) -> None:
        self.received: list[Inbound] = []
        self.refusals = 0
        self.came = anyio.Event()
        self.open = anyio.Event()
        self.open.set()

    async def receive(self, inbound: Inbound) -> bool:
        self.received.append(inbound)
        self.came.set()
        self.came = anyio.Event()
        await self.open.wait()
        if self.refusals:
            self.refusals -= 1
            msg = "the disk is full"
            raise StoreError(msg)
        return True

    async def until(self, count: int) -> None:
        while len(self.received) < count:
            await self.came.wait()

    @property
    def messages(self) -> list[MessageReceived]:
        return [inbound for inbound in self.received if isinstance(inbound, MessageReceived)]

    @property
    def presses(self) -> list[PressReceived]:
        return [inbound for inbound in self.received if isinstance(inbound, PressReceived)]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.messages]

    @property
    def reasons(self) -> list[str]:
        return [inbound.reason for inbound in self.received if isinstance(inbound, Ignored)]


def ours(before: set[asyncio.Task[object]]) -> list[asyncio.Task[object]]:
    """The tasks that are new, without the servers' and the test's."""
    others = ("adapters/loopback", "aiohttp/web", "tests/e2e", "tests.e2e")
    return [task for task in asyncio.all_tasks() - before if not any(other in repr(task) for other in others)]


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", World().bot.token)
    monkeypatch.setenv("TELEGRAM_WEBHOOK_SECRET", SECRET)


@pytest.fixture
async def telegram() -> AsyncIterator[LoopbackTelegram]:
    world = World()
    async with LoopbackTelegram(world=replace(world, users=(*world.users, OTHER_BOT)), time_scale=20) as server:
        yield server


@pytest.fixture
def adapter(telegram: LoopbackTelegram) -> Adapter:
    return create(Settings(base_url=telegram.base_url))


@asynccontextmanager
async def running(adapter: Adapter, inbox: Inbox) -> AsyncGenerator[TaskGroup]:
    ready = anyio.Event()
    with anyio.fail_after(15):
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


async def confirmed(telegram: LoopbackTelegram) -> None:
    """Wait until everything that was sent is kept."""
    await telegram.until(lambda: not telegram.pending)


async def posted(
    adapter: Adapter, text: str = "hello", address: Address = CHAT, buttons: tuple[Button, ...] = ()
) -> str:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=address, text=text, buttons=buttons))
    assert isinstance(outcome, Performed), outcome
    return outcome.message_id


# What comes in.


async def test_messages_are_received_where_the_bot_is_addressed(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "hello")
        telegram.say(ADA, GROUP, "what is a dragoman?", mention=True)
        telegram.say(ADA, FORUM, "and saffron?", mention=True, topic=5)
        telegram.say(ADA, FORUM, "in general?", mention=True, topic=1)
        telegram.say(BOB, GROUP, "lunch?")
        await inbox.until(4)
        await confirmed(telegram)
    assert [(each.text, each.address.channel, each.address.thread, each.direct) for each in inbox.messages] == [
        ("hello", str(ADA), None, True),
        ("what is a dragoman?", str(GROUP), None, False),
        ("and saffron?", str(FORUM), "5", False),
        ("in general?", str(FORUM), None, False),
    ]
    assert [each.event_id for each in inbox.messages] == [
        f"telegram:{telegram.world.bot.id}:{update['update_id']}" for update in telegram.updates
    ]


async def test_with_privacy_off_only_what_is_addressed_is_received() -> None:
    world = World()
    world = replace(
        world,
        bot=replace(world.bot, can_read_all_group_messages=True),
        users=(*world.users, OTHER_BOT),
    )
    async with LoopbackTelegram(world=world) as telegram:
        inbox = Inbox()
        adapter = create(Settings(base_url=telegram.base_url))
        async with running(adapter, inbox):
            asked = await posted(adapter, "shall I?", at(GROUP))
            telegram.say(ADA, GROUP, "lunch?")
            telegram.say(ADA, GROUP, "yes", reply_to=int(asked))
            telegram.say(OTHER_BOT.id, GROUP, "@dragoman_bot hello")
            telegram.say(ADA, GROUP, "/stop@other_bot")
            telegram.say(ADA, GROUP, "/stop")
            await inbox.until(5)
    assert inbox.reasons == ["not addressed to the bot", "another bot's message", "a command for another bot"]
    (reply,) = inbox.messages
    assert reply.quotation is not None
    assert (reply.text, reply.quotation.text, reply.quotation.user) == ("yes", "shall I?", str(world.bot.id))
    assert isinstance(inbox.received[-1], CommandReceived)


async def test_commands_are_received(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        for name in ("start", "new", "stop", "status", "help"):
            telegram.command(ADA, ADA, name)
        telegram.command(ADA, GROUP, "stop")
        telegram.command(ADA, GROUP, "ask", "why?")
        await inbox.until(7)
    given = [inbound for inbound in inbox.received if isinstance(inbound, CommandReceived)]
    assert [(each.command, each.direct) for each in given] == [
        ("help", True),
        ("new", True),
        ("stop", True),
        ("status", True),
        ("help", True),
        ("stop", False),
    ]
    assert inbox.texts == ["why?"]


async def test_decisions_are_received_with_what_they_are_about(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.command(ADA, ADA, "approve", "abcdefg2")
        telegram.command(ADA, GROUP, "deny", "ABCDEFG2")
        telegram.command(ADA, FORUM, "revoke", "read_url", topic=5)
        telegram.command(ADA, GROUP, "approve", "of it")
        await inbox.until(4)
    given = [inbound for inbound in inbox.received if isinstance(inbound, CommandReceived)]
    assert [(each.command, each.argument, each.address) for each in given] == [
        ("approve", "abcdefg2", CHAT),
        ("deny", "abcdefg2", at(GROUP)),
        ("revoke", "read_url", at(FORUM, 5)),
    ]
    assert inbox.texts == ["/approve of it"]


# Presses.


async def test_a_press_in_a_topic_is_received_and_answered(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", at(FORUM, 5), BUTTONS)
        query = telegram.press(BOB, FORUM, int(asked), "deny:abcdefg2")
        await inbox.until(1)
        (press,) = inbox.presses
        told = TellPrivately(address=press.address, user=press.user, text="(Only `ada` may.)", press=press.press)
        assert await adapter.perform(told) == Performed(message_id="")
    assert (press.press, press.user, press.address) == (query, str(BOB), at(FORUM, 5))
    assert press.message_id == f"telegram:{World().bot.id}:{FORUM}:{asked}"
    assert (telegram.presses.shown_to(BOB), telegram.presses.shown_to(ADA)) == (["(Only ada may.)"], [])
    (call,) = telegram.calls.of("answerCallbackQuery")
    assert call.arguments["show_alert"] in (True, "true")


async def test_a_press_that_was_not_stored_comes_again_and_is_not_answered_meanwhile(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = await posted(adapter, "May I?", buttons=BUTTONS)
        inbox.refusals = 1
        telegram.press(ADA, ADA, int(asked), "approve:abcdefg2")
        await inbox.until(2)
        await confirmed(telegram)
    first, second = inbox.presses
    assert first == second
    assert telegram.presses.waiting == 1
    assert not telegram.calls.of("answerCallbackQuery")


async def test_an_edit_without_buttons_takes_them_away(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    asked = await posted(adapter, "May I?", buttons=BUTTONS)
    assert telegram.message(ADA, int(asked)).reply_markup is not None
    edit = EditMessage(address=CHAT, message_id=asked, text="May I?")
    assert isinstance(await adapter.perform(edit), Performed)
    assert telegram.message(ADA, int(asked)).reply_markup is None


async def test_a_press_that_is_too_old_to_be_answered_has_expired(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    asked = await posted(adapter, "May I?", buttons=BUTTONS)
    query = telegram.press(ADA, ADA, int(asked), "approve:abcdefg2")
    telegram.presses.outdate()
    late = TellPrivately(address=CHAT, user=str(ADA), text="", press=query)
    assert await adapter.perform(late) == Expired()
    nobodys = TellPrivately(address=CHAT, user=str(ADA), text="", press="no query")
    assert await adapter.perform(nobodys) == Expired()


async def test_nothing_is_said_to_somebody_alone_who_pressed_nothing(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    told = await adapter.perform(TellPrivately(address=CHAT, user=str(ADA), text="Your text waits."))
    assert isinstance(told, Forbidden)
    assert list(telegram.calls) == []


async def test_an_edit_is_received_under_the_messages_name(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        said = telegram.say(ADA, ADA, "delete the old notes")
        telegram.edit(ADA, said.id, "list the old notes")
        await inbox.until(2)
    (message,) = inbox.messages
    edit = inbox.received[1]
    assert isinstance(edit, MessageEdited)
    assert (edit.message.message_id, edit.message.text) == (message.message_id, "list the old notes")


async def test_an_update_is_confirmed_when_it_is_stored_and_not_before(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
        await posted(adapter, "time passes")
        assert len(telegram.pending) == 1
        inbox.open.set()
        await confirmed(telegram)


async def test_what_was_not_stored_comes_again(
    telegram: LoopbackTelegram, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ingress, "BACK_OFF", (0.05,))
    inbox = Inbox()
    inbox.refusals = 1
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "one")
        telegram.say(BOB, BOB, "two")
        await inbox.until(3)
        await confirmed(telegram)
    assert inbox.texts == ["one", "one", "two"]
    assert "was not stored, so Telegram is asked for it again: the disk is full" in caplog.text


async def test_l29_what_was_confirmed_does_not_come_again(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "one")
        await confirmed(telegram)
    async with running(create(Settings(base_url=telegram.base_url)), inbox):
        telegram.say(ADA, ADA, "two")
        await inbox.until(2)
    assert inbox.texts == ["one", "two"]


async def test_m04_an_album_is_received_as_one_message(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.album(ADA, GROUP, ["compare these", "", "this one is new, @dragoman_bot"])
        await inbox.until(1)
        await confirmed(telegram)
    assert len(inbox.messages) == 1
    # In privacy mode Telegram tells only of the picture that names us.
    assert inbox.texts[0].endswith("this one is new,")
    inbox = Inbox()
    async with running(adapter, inbox):
        parts = telegram.album(ADA, ADA, ["compare these", "", "this one is new"])
        await inbox.until(3)
        await confirmed(telegram)
    (message,) = inbox.messages
    assert message.own_id == str(parts[0].id)
    assert [line for line in message.text.split("\n") if not line.startswith("[")] == [
        "compare these",
        "this one is new",
    ]
    assert message.text.count("[photo") == 3
    assert inbox.reasons == [f"part of {message.event_id}"] * 2


async def test_l34_a_paste_is_received_as_one_message(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    text = "🙂" * 2048 + "and so on"
    inbox = Inbox()
    async with running(adapter, inbox):
        assert len(telegram.paste(ADA, ADA, text)) == 2
        await inbox.until(2)
        await confirmed(telegram)
    assert inbox.texts == [text]


async def test_a_part_that_comes_later_is_waited_for_without_being_confirmed() -> None:
    inbox = Inbox()
    async with LoopbackTelegram() as telegram, running(create(Settings(base_url=telegram.base_url)), inbox):
        telegram.say(ADA, ADA, "a" * 4000)
        telegram.say(BOB, BOB, "meanwhile")
        await inbox.until(1)
        await telegram.until(lambda: len(telegram.polls.of("getUpdates")) > 3)
        assert inbox.texts == ["meanwhile"]
        assert len(telegram.pending) == 2
        telegram.say(ADA, ADA, "b")
        await inbox.until(3)
        await confirmed(telegram)
    assert inbox.texts == ["meanwhile", "a" * 4000 + "\nb"]


async def test_o07_what_comes_behind_a_picture_does_not_overtake_it(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.album(ADA, ADA, ["look", ""])
        telegram.say(ADA, ADA, "what is wrong with it?")
        telegram.say(BOB, BOB, "hello")
        await inbox.until(4)
    mine = [message.text.split("\n")[-1] for message in inbox.messages if message.user == str(ADA)]
    assert mine[-1] == "what is wrong with it?"
    assert len(mine) == 2


async def test_messages_are_received_in_the_order_of_their_arrival(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        for number in range(150):
            telegram.say(ADA if number % 2 else BOB, ADA if number % 2 else BOB, f"{number}")
        await inbox.until(150)
        await confirmed(telegram)
    assert inbox.texts == [f"{number}" for number in range(150)]


async def test_whatever_comes_is_kept_and_confirmed(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        strange: list[dict[str, object]] = [
            {"message": {"message_id": "x"}},
            {"message": []},
            {"message": {"chat": {"id": 1, "type": "private"}, "message_id": 1, "from": 5, "date": "?"}},
            {"edited_message": None},
            {"callback_query": {"id": "1", "data": "x"}},
            {"something_new": {"of": "tomorrow"}},
            {},
        ]
        for update in strange:
            telegram.push(update)
        telegram.say(ADA, ADA, "hello")
        await inbox.until(8)
        await confirmed(telegram)
    assert inbox.texts == ["hello"]
    assert len(inbox.reasons) == 7


async def test_how_the_bot_stands_in_a_chat_is_noted(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.stand(GROUP, "kicked")
        await inbox.until(1)
    assert inbox.reasons == ["not a message: my_chat_member, kicked"]


# The connection.


async def test_while_another_process_polls_it_is_said_and_tried_again(
    telegram: LoopbackTelegram, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ingress, "BACK_OFF", (0.05,))
    inbox = Inbox()
    async with running(adapter, inbox):
        await telegram.until(lambda: telegram.open_polls)
        async with Bot(telegram.world.bot.token, base_url=telegram.base_url) as other:
            await other.get_updates(timeout=0)
            await telegram.until(lambda: any(call.status == 409 for call in telegram.polls.of("getUpdates")))
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
    assert "another process asks with this token" in caplog.text


async def test_a_webhook_that_is_set_is_taken_away(
    telegram: LoopbackTelegram, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    async with Bot(telegram.world.bot.token, base_url=telegram.base_url) as other:
        await other.set_webhook("http://127.0.0.1:1/nobody")
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
    assert "a webhook is set" in caplog.text
    assert len(telegram.calls.of("deleteWebhook")) == 1


async def test_what_goes_wrong_while_polling_is_tried_again(
    telegram: LoopbackTelegram, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ingress, "BACK_OFF", (0.02,))
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.fail_next("getUpdates", error_code=502, times=2)
        telegram.fail_next("getUpdates", error_code=0)
        telegram.drop_connections()
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
        await confirmed(telegram)
    assert inbox.texts == ["hello"]
    assert "is asked again" in caplog.text or "tried again" in caplog.text


async def test_a_rate_limit_while_polling_is_kept(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.fail_next("getUpdates", retry_after=1)
        telegram.drop_connections()
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
    assert inbox.texts == ["hello"]


@pytest.mark.parametrize("token", ["7000001:wrong", "1:AAA"])
async def test_a_wrong_token_is_named_with_the_place_to_get_one(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", token)
    message = await refusal(adapter)
    assert all(part in message for part in ("Telegram bot token", "env:TELEGRAM_BOT_TOKEN", "@BotFather")), message
    assert token not in message


async def test_a_telegram_that_is_not_there_is_said() -> None:
    message = await refusal(create(Settings(base_url="http://127.0.0.1:1/bot")))
    assert "cannot be reached at http://127.0.0.1:1/bot" in message
    assert "AAE" not in message


async def test_a_token_that_is_revoked_ends_it(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    ready = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(AdapterError, match=r"bot token .*TELEGRAM_BOT_TOKEN.*Unauthorized"):
                    await adapter.run(Inbox().receive, ready.set)

            tasks.start_soon(run)
            await ready.wait()
            telegram.fail_next("getUpdates", "Unauthorized", error_code=401)
            telegram.say(ADA, ADA, "hello")


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while storing"])
async def test_cancellation_leaves_nothing(telegram: LoopbackTelegram, adapter: Adapter, busy: bool) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    before = asyncio.all_tasks()
    async with running(adapter, inbox):
        if busy:
            telegram.say(ADA, ADA, "hello")
            await inbox.until(1)
    assert not ours(before)
    with anyio.fail_after(5):
        await telegram.until(lambda: not telegram.open_polls)
    assert len(telegram.pending) == busy


async def test_z05_the_token_is_in_no_line(
    telegram: LoopbackTelegram, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.fail_next("sendMessage", error_code=0)
        lost = await adapter.perform(PostMessage(address=CHAT, text="hi"))
        telegram.fail_next("getUpdates", error_code=0)
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
    secret = telegram.world.bot.secret
    assert secret not in caplog.text
    assert secret not in repr(lost)
    assert "/getMe" in caplog.text


async def test_the_commands_are_set_only_when_they_changed(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    for _ in range(2):
        async with running(create(Settings(base_url=telegram.base_url)), Inbox()):
            pass
    assert (telegram.commands, telegram.commands_set) == (COMMANDS, 1)


async def test_commands_that_cannot_be_set_hinder_nothing(
    telegram: LoopbackTelegram, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.fail_next("setMyCommands", retry_after=600)
    inbox = Inbox()
    async with running(adapter, inbox):
        telegram.say(ADA, ADA, "hello")
        await inbox.until(1)
    assert "the list of commands could not be set" in caplog.text


# The webhook.


@pytest.fixture
def hooked(telegram: LoopbackTelegram, unused_port: int) -> Adapter:
    hook = Webhook(url=f"http://127.0.0.1:{unused_port}/telegram", port=unused_port)
    return create(Settings(base_url=telegram.base_url, webhook=hook))


@pytest.fixture
async def unused_port() -> int:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        return int(listener.extra(SocketAttribute.local_port))  # noqa: S610 - no database


async def test_updates_come_through_the_webhook(telegram: LoopbackTelegram, hooked: Adapter) -> None:
    inbox = Inbox()
    async with running(hooked, inbox):
        telegram.say(ADA, ADA, "one")
        telegram.say(ADA, ADA, "two")
        asked = await posted(hooked, "May I?", buttons=BUTTONS)
        telegram.press(ADA, ADA, int(asked), "approve:abcdefg2")
        await inbox.until(3)
        await confirmed(telegram)
    assert inbox.texts == ["one", "two"]
    assert [press.data for press in inbox.presses] == ["approve:abcdefg2"]
    async with running(hooked, inbox):
        telegram.say(ADA, ADA, "three")
        await inbox.until(4)
    assert len(telegram.calls.of("setWebhook")) == 1
    assert not telegram.polls.of("getUpdates")


async def test_what_was_not_stored_comes_again_through_the_webhook(telegram: LoopbackTelegram, hooked: Adapter) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with running(hooked, inbox):
        telegram.say(ADA, ADA, "one")
        await inbox.until(2)
        await confirmed(telegram)
    assert inbox.texts == ["one", "one"]


async def test_who_does_not_show_the_secret_is_turned_away(
    telegram: LoopbackTelegram, hooked: Adapter, unused_port: int
) -> None:
    inbox = Inbox()
    async with running(hooked, inbox), aiohttp.ClientSession() as session:
        for headers in (
            dict[str, str](),
            {"X-Telegram-Bot-Api-Secret-Token": "wrong"},
            {"X-Telegram-Bot-Api-Secret-Token": "ä"},
        ):
            async with session.post(f"http://127.0.0.1:{unused_port}/telegram", json={}, headers=headers) as answer:
                assert answer.status == 403
        shown = {"X-Telegram-Bot-Api-Secret-Token": SECRET}
        async with session.post(f"http://127.0.0.1:{unused_port}/telegram", data="{", headers=shown) as answer:
            assert answer.status == 400
        # The secret is told once more, and once only.
        await telegram.until(lambda: len(telegram.calls.of("setWebhook")) == 2)
    assert inbox.received == []


async def test_a_stranger_at_the_webhook_ends_nothing_whatever_telegram_says(
    telegram: LoopbackTelegram, hooked: Adapter, unused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "AGAIN", 0.05)
    inbox = Inbox()
    async with running(hooked, inbox), aiohttp.ClientSession() as session:
        telegram.fail_next("setWebhook", retry_after=1)
        telegram.fail_next("setWebhook", error_code=500)
        async with session.post(f"http://127.0.0.1:{unused_port}/telegram", json={}) as answer:
            assert answer.status == 403
        await telegram.until(lambda: len([each for each in telegram.calls.of("setWebhook") if each.status == 200]) == 2)
        telegram.say(ADA, ADA, "one")
        await inbox.until(1)
    assert inbox.texts == ["one"]


async def test_an_address_that_is_taken_is_said(telegram: LoopbackTelegram, hooked: Adapter, unused_port: int) -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=unused_port):
        assert f"port {unused_port}" in await refusal(hooked)


async def test_a_webhook_that_telegram_does_not_take_is_said(telegram: LoopbackTelegram, unused_port: int) -> None:
    hook = Webhook(url="http://example.org/telegram", port=unused_port)
    message = await refusal(create(Settings(base_url=telegram.base_url, webhook=hook)))
    assert "does not accept the webhook" in message
    assert "HTTPS" in message


# What goes out.


async def test_a_message_is_posted_and_edited_with_entities_without_pings_or_previews(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    text = "**hi** @bob_k [there](https://x.org) [bob](tg://user?id=102) https://example.org"
    identifier = await posted(adapter, text)
    with anyio.fail_after(5):
        edited = await adapter.perform(EditMessage(address=CHAT, message_id=identifier, text=f"{text} `code`"))
    assert edited == Performed(message_id=identifier)
    message = telegram.message(ADA, int(identifier))
    assert (message.pings, message.previews, message.flaws) == ((), (), ())
    assert [each.type for each in message.entities] == ["bold", "text_link", "code"]
    assert all(version.parse_mode is None for version in message.versions)


async def test_a_reply_names_its_message_and_goes_without_it_where_that_is_gone(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    asked, gone = telegram.say(ADA, ADA, "what?"), telegram.say(ADA, ADA, "never mind")
    telegram.delete(ADA, gone.id)
    with anyio.fail_after(5):
        for said in (asked, gone):
            assert isinstance(
                await adapter.perform(PostMessage(address=CHAT, text="hi", answers=str(said.id))), Performed
            )
    assert [message.reply_to for message in telegram.messages(ADA, author="bot")] == [asked.id, None]


async def test_l36_general_is_written_to_without_its_number(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    identifier = await posted(adapter, address=at(FORUM, 1))
    assert telegram.message(FORUM, int(identifier)).message_thread_id is None
    await posted(adapter, address=at(FORUM))
    await posted(adapter, address=at(FORUM, 5))
    assert [call.arguments.get("message_thread_id") for call in telegram.calls.of("sendMessage")] == [None, None, "5"]


async def test_l37_what_is_for_a_topic_that_is_gone_is_shown_in_its_chat(
    telegram: LoopbackTelegram, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    telegram.delete_topic(FORUM, 5)
    first = await posted(adapter, "one", at(FORUM, 5))
    await posted(adapter, "two", at(FORUM, 5))
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(ShowTyping(address=at(FORUM, 5))), Performed)
    assert [message.text for message in telegram.messages(FORUM)] == ["one", "two"]
    assert telegram.message(FORUM, int(first)).message_thread_id is None
    sent = [(call.arguments.get("message_thread_id"), call.status) for call in telegram.calls.of("sendMessage")]
    assert sent == [("5", 400), (None, 200), (None, 200)]
    assert "topic 5" in caplog.text


async def test_l37_a_row_of_replies_without_topics_is_no_thread(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    world = World()
    place = next(chat for chat in world.chats if chat.id == FORUM)
    assert all(isinstance(topic, Topic) for topic in place.topics)
    inbox = Inbox()
    async with running(adapter, inbox):
        moved = telegram.migrate(GROUP)  # a supergroup without topics
        asked = telegram.say(ADA, moved.id, "hello", mention=True)
        telegram.say(BOB, moved.id, "and me?", mention=True, reply_to=asked.id)
        await inbox.until(4)
    assert [message.address.thread for message in inbox.messages] == [None, None]


async def test_answers_follow_a_group_that_became_a_supergroup(
    telegram: LoopbackTelegram, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    asked = telegram.say(ADA, GROUP, "hi", mention=True)
    before = await posted(adapter, "one", at(GROUP))
    moved = telegram.migrate(GROUP)
    with anyio.fail_after(5):
        after = await adapter.perform(PostMessage(address=at(GROUP), text="two", answers=str(asked.id)))
        assert isinstance(after, Performed)
        for operation in (
            EditMessage(address=at(GROUP), message_id=before, text="one more"),
            DeleteMessage(address=at(GROUP), message_id=before),
        ):
            assert isinstance(await adapter.perform(operation), EditRefused)
        edit = EditMessage(address=at(GROUP), message_id=after.message_id, text="two more")
        assert await adapter.perform(edit) == Performed(message_id=after.message_id)
        assert isinstance(await adapter.perform(ShowTyping(address=at(GROUP))), Performed)
    assert [message.text for message in telegram.messages(moved.id)] == ["two more"]
    assert telegram.typing(moved.id)
    assert "allow_groups needs the new id" in caplog.text


async def test_where_a_group_went_is_learnt_from_what_comes_in(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        moved = telegram.migrate(GROUP)
        await inbox.until(2)
        await posted(adapter, "hello", at(GROUP))
    assert [message.text for message in telegram.messages(moved.id)] == ["hello"]
    assert [call.status for call in telegram.calls.of("sendMessage")] == [200]


async def test_typing_is_shown(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        assert await adapter.perform(ShowTyping(address=CHAT)) == Performed(message_id="")
        assert isinstance(await adapter.perform(ShowTyping(address=at(FORUM, 5))), Performed)
    assert telegram.typing(ADA)
    assert telegram.typing(FORUM, 5)


async def test_a_message_is_deleted_once(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    identifier = await posted(adapter)
    with anyio.fail_after(5):
        delete = DeleteMessage(address=CHAT, message_id=identifier)
        assert await adapter.perform(delete) == Performed(message_id=identifier)
        assert await adapter.perform(delete) == MessageGone()
    assert telegram.messages(ADA) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 5_000, TooLong()),
        ("🙂" * 2_049, TooLong()),
        (" \n", MarkupRejected(reason="nothing is left of the text")),
        ("hello", NotModified()),
    ],
    ids=["long", "emoji", "blank", "same"],
)
async def test_an_edit_may_come_to_nothing(
    telegram: LoopbackTelegram, adapter: Adapter, text: str, expected: Outcome
) -> None:
    identifier = await posted(adapter)
    with anyio.fail_after(5):
        assert await adapter.perform(EditMessage(address=CHAT, message_id=identifier, text=text)) == expected
    assert telegram.message(ADA, int(identifier)).text == "hello"


async def test_an_edit_of_what_is_gone_and_of_what_is_another_persons_is_refused(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    said, identifier = telegram.say(ADA, ADA, "hello"), await posted(adapter)
    telegram.delete(ADA, int(identifier))
    with anyio.fail_after(5):
        gone = await adapter.perform(EditMessage(address=CHAT, message_id=identifier, text="a"))
        foreign = await adapter.perform(EditMessage(address=CHAT, message_id=str(said.id), text="a"))
    assert gone == MessageGone()
    assert isinstance(foreign, EditRefused)


async def test_the_longest_message_is_taken_whole(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    text = "**" + "🙂" * 2_000 + "**"
    message = telegram.message(ADA, int(await posted(adapter, text)))
    assert message.text == rendered(text).text
    assert not message.over_utf16


@pytest.mark.parametrize(
    ("standing", "mend"),
    [("blocked", "the person has blocked the bot"), ("kicked", "add the bot"), ("restricted", "administrator")],
)
async def test_what_is_forbidden_is_said_with_its_mend(
    telegram: LoopbackTelegram, adapter: Adapter, standing: str, mend: str
) -> None:
    chat = ADA if standing == "blocked" else GROUP
    telegram.stand(chat, standing)  # pyright: ignore[reportArgumentType]  # one of its words
    with anyio.fail_after(5):
        refused = await adapter.perform(PostMessage(address=at(chat), text="hi"))
    assert isinstance(refused, Forbidden)
    assert mend in refused.reason


async def test_a_chat_that_nobody_knows_is_forbidden(telegram: LoopbackTelegram, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        for address in (at(404), replace(CHAT, channel="somewhere")):
            assert isinstance(await adapter.perform(PostMessage(address=address, text="hi")), Forbidden)
        gone = await adapter.perform(EditMessage(address=CHAT, message_id="?", text="hi"))
    assert gone == MessageGone()


async def test_a_rate_limit_is_told_at_once_and_lasts_as_long_as_told(
    telegram: LoopbackTelegram, adapter: Adapter
) -> None:
    telegram.fail_next("sendMessage", retry_after=10_072)
    with anyio.fail_after(5):
        assert await adapter.perform(PostMessage(address=CHAT, text="hi")) == RateLimited(retry_after=10_072)
    assert len(telegram.calls.of("sendMessage")) == 1


@pytest.mark.parametrize("error_code", [0, 500], ids=["cut off", "failed"])
async def test_l09_a_post_whose_answer_is_lost_is_unknown_and_sent_once(
    telegram: LoopbackTelegram, adapter: Adapter, error_code: int
) -> None:
    telegram.lose_answer_next("sendMessage", error_code=error_code)
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(PostMessage(address=CHAT, text="hi")), Unknown)
    assert len(telegram.messages(ADA)) == 1


async def test_an_answer_that_takes_too_long_is_unknown(
    telegram: LoopbackTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adapters.telegram import web  # noqa: PLC0415 - the SDK

    monkeypatch.setattr(web, "TIMEOUT", 0.2)
    telegram.delay_next("sendMessage", math.inf, taken=True)
    with anyio.fail_after(5):
        lost = await create(Settings(base_url=telegram.base_url)).perform(PostMessage(address=CHAT, text="hi"))
    assert lost == Unknown(reason="ReadTimeout")


async def test_what_was_certainly_not_sent_may_be_sent_again(
    telegram: LoopbackTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = create(Settings(base_url="http://127.0.0.1:1/bot"))
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(PostMessage(address=CHAT, text="hi")), Unreachable)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    await posted(create(Settings(base_url=telegram.base_url)))


async def test_what_is_not_telegram_is_said() -> None:
    async with LoopbackTelegram() as telegram:
        base_url = telegram.base_url.replace("/bot", "/elsewhere")
        outcome = await create(Settings(base_url=base_url)).perform(PostMessage(address=CHAT, text="hi"))
    assert isinstance(outcome, Forbidden | Unknown | Unreachable)


async def test_a_message_is_shown_without_a_token_only_once_there_is_one(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELEGRAM_BOT_TOKEN")
    with anyio.fail_after(5):
        refused = await adapter.perform(PostMessage(address=CHAT, text="hi"))
    assert isinstance(refused, Forbidden)
    assert "@BotFather" in refused.reason


@pytest.mark.parametrize(
    "operation",
    [
        StartStream(address=CHAT, text="a"),
        AppendText(address=CHAT, message_id="1", text="a"),
        FinishStream(address=CHAT, message_id="1", text="a"),
        ReadThread(address=CHAT),
        MarkWaiting(address=CHAT, message_id="1"),
        UnmarkWaiting(address=CHAT, message_id="1"),
    ],
    ids=lambda operation: type(operation).__name__,
)
async def test_what_telegram_has_not_is_forbidden(adapter: Adapter, operation: Operation) -> None:
    assert isinstance(await adapter.perform(operation), Forbidden)
