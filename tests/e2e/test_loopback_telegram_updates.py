"""What the bot is told on loopback: by the real SDK's getUpdates, by plain HTTP, and over a webhook."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import anyio
import pytest
from aiohttp import web
from telegram import Bot, Message, Update
from telegram.error import BadRequest, Conflict, NetworkError, RetryAfter
from telegram.ext import Application, ApplicationBuilder, MessageHandler, filters

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import Bot as BotData
from adapters.loopback.telegram import Chat, Entity, LoopbackTelegram, User, World

ADA, BOB, ROBOT, GROUP, FORUM, SPICES = 101, 102, 201, -200, -1_000_000_000_300, 5
PLAIN, OURS = -1_000_000_000_305, -1_000_000_000_304
WORLD = World(
    users=(*World().users, User(id=ROBOT, name="Robot", username="robot_bot", is_bot=True)),
    chats=(
        *World().chats,
        Chat(id=PLAIN, type="supergroup", title="Plain"),
        Chat(id=OURS, type="supergroup", title="Ours", standing="administrator"),
    ),
)


class HandClock:
    """Real seconds that pass only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def as_timedelta(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's way to say retry_after without a warning."""
    monkeypatch.setenv("PTB_TIMEDELTA", "true")


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
async def telegram(hand: HandClock) -> AsyncIterator[LoopbackTelegram]:
    with anyio.fail_after(5):
        async with LoopbackTelegram(world=WORLD, clock=PlatformClock(20, source=hand)) as server:
            yield server


@pytest.fixture
async def bot(telegram: LoopbackTelegram) -> AsyncIterator[Bot]:
    async with Bot(telegram.world.bot.token, base_url=telegram.base_url) as client:
        yield client


async def heard(bot: Bot, offset: int | None = None) -> list[Message]:
    """The messages of all updates that wait."""
    return [each.message for each in await bot.get_updates(offset=offset) if each.message]


async def texts(bot: Bot) -> list[str | None]:
    return [message.text for message in await heard(bot)]


async def test_a_message_arrives_with_what_telegram_finds_in_it(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.say(ADA, ADA, "\U0001f600 /new ask @bob_k at https://example.com/a.")
    (message,) = await heard(bot)
    assert message.from_user is not None
    assert (message.from_user.id, message.chat.type, message.chat.id) == (ADA, "private", ADA)
    assert [(each.type, message.parse_entity(each)) for each in message.entities] == [
        ("bot_command", "/new"),
        ("mention", "@bob_k"),
        ("url", "https://example.com/a"),
    ]
    assert message.entities[0].offset == 3


async def test_an_update_comes_again_until_a_later_one_is_asked_for(telegram: LoopbackTelegram, bot: Bot) -> None:
    for text in ("one", "two", "three"):
        telegram.say(ADA, ADA, text)
    first, second, third = [each.update_id for each in await bot.get_updates()]
    assert (second, third) == (first + 1, first + 2)
    assert await texts(bot) == ["one", "two", "three"]
    assert [message.text for message in await heard(bot, offset=third)] == ["three"]
    assert (telegram.offset, [each["update_id"] for each in telegram.pending]) == (third, [third])
    assert await heard(bot, offset=third + 1) == []
    assert telegram.pending == []
    assert [each.arguments.get("offset") for each in telegram.polls] == [None, None, str(third), str(third + 1)]
    assert "getUpdates" not in [each.method for each in telegram.calls]


async def test_a_negative_offset_counts_from_the_end(telegram: LoopbackTelegram, bot: Bot) -> None:
    for text in ("one", "two", "three"):
        telegram.say(ADA, ADA, text)
    assert [message.text for message in await heard(bot, offset=-1)] == ["three"]
    assert await texts(bot) == ["three"]


async def test_at_most_a_hundred_updates_come_at_once(telegram: LoopbackTelegram, bot: Bot) -> None:
    for number in range(103):
        telegram.say(ADA, ADA, str(number))
    assert len(await bot.get_updates(limit=100)) == 100
    assert len(await bot.get_updates(limit=7)) == 7
    assert len(await bot.get_updates(limit=1000)) == 100


async def test_a_poll_waits_for_an_update(telegram: LoopbackTelegram, bot: Bot) -> None:
    found = list[str | None]()

    async def poll() -> None:
        found.extend(each.message.text for each in await bot.get_updates(timeout=50) if each.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(poll)
        await telegram.until(lambda: telegram.open_polls == 1)
        telegram.say(ADA, ADA, "at last")
    assert found == ["at last"]
    assert telegram.open_polls == 0


async def test_a_second_poller_ends_the_first(telegram: LoopbackTelegram, bot: Bot) -> None:
    async def first() -> None:
        with pytest.raises(Conflict, match="terminated by other getUpdates request"):
            await bot.get_updates(timeout=50)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first)
        await telegram.until(lambda: telegram.open_polls == 1)
        # The SDK keeps one connection for polls, so the second needs a client of its own.
        async with Bot(telegram.world.bot.token, base_url=telegram.base_url) as other:
            assert await other.get_updates() == ()
    assert sorted(each.status for each in telegram.polls) == [200, 409]


async def test_a_poll_whose_client_went_away_is_over(telegram: LoopbackTelegram, bot: Bot) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: bot.get_updates(timeout=50))
        await telegram.until(lambda: telegram.open_polls == 1)
        tasks.cancel_scope.cancel()
    await telegram.until(lambda: telegram.open_polls == 0)


async def test_who_polls_listens_until_the_connection_is_closed(telegram: LoopbackTelegram) -> None:
    for drop in (True, False):
        async with Bot(telegram.world.bot.token, base_url=telegram.base_url) as bot:
            await bot.get_updates()
            assert (telegram.open_polls, telegram.listeners) == (0, 1)
            if drop:
                telegram.drop_connections()
                assert telegram.listeners == 0
        await telegram.until(lambda: telegram.listeners == 0)


async def test_a_cut_poll_loses_nothing(telegram: LoopbackTelegram, bot: Bot) -> None:
    async def poll() -> None:
        with pytest.raises(NetworkError):
            await bot.get_updates(timeout=50)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(poll)
        await telegram.until(lambda: telegram.open_polls == 1)
        assert telegram.drop_connections() >= 1
    telegram.say(ADA, ADA, "still here")
    assert await texts(bot) == ["still here"]


async def test_a_poll_can_fail_and_its_offset_be_taken_all_the_same(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.say(ADA, ADA, "one")
    telegram.fail_next("getUpdates", retry_after=3)
    with pytest.raises(RetryAfter):
        await bot.get_updates()
    update = telegram.pending[0]["update_id"]
    assert isinstance(update, int)
    telegram.behave()
    telegram.lose_answer_next("getUpdates", error_code=502)
    with pytest.raises(NetworkError):
        await bot.get_updates(offset=update + 1)
    assert telegram.pending == []


async def test_what_nobody_fetches_is_dropped_after_a_day(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    telegram.say(ADA, ADA, "old")
    hand.seconds += 24 * 3600 / 20 - 1
    telegram.say(ADA, ADA, "new")
    assert await texts(bot) == ["old", "new"]
    hand.seconds += 1
    assert await texts(bot) == ["new"]


async def test_only_allowed_updates_are_made_from_then_on(telegram: LoopbackTelegram, bot: Bot) -> None:
    message = telegram.say(ADA, ADA, "one")
    assert len(await bot.get_updates(allowed_updates=["edited_message"])) == 1
    telegram.say(ADA, ADA, "two")
    telegram.edit(ADA, message.id, "one!")
    assert [each.message is None for each in await bot.get_updates()] == [False, True]
    await bot.get_updates(allowed_updates=[])
    telegram.say(ADA, ADA, "three")
    assert len(await bot.get_updates()) == 3


@pytest.mark.parametrize(
    ("text", "arrives"),
    [
        ("hello", False),
        ("/new", True),
        ("/new@dragoman_bot please", True),
        ("/new@robot_bot please", False),
        ("please /new", False),
        ("ask @Dragoman_Bot then", True),
        ("ask @robot_bot then", False),
        ("dragoman_bot@example.com", False),
    ],
)
async def test_in_a_group_the_bot_gets_only_what_is_meant_for_it(
    telegram: LoopbackTelegram, bot: Bot, text: str, arrives: bool
) -> None:
    for chat in (GROUP, FORUM):
        telegram.say(ADA, chat, text)
    assert await texts(bot) == ([text, text] if arrives else [])
    telegram.say(ADA, OURS, text)
    assert (await texts(bot))[-1] == text


async def test_a_reply_to_the_bot_is_meant_for_it(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(GROUP, "a")
    other = telegram.say(BOB, GROUP, "b")
    telegram.say(ADA, GROUP, "to bob", reply_to=other.id)
    telegram.say(ADA, GROUP, "to you", reply_to=sent.message_id)
    (message,) = await heard(bot)
    assert message.reply_to_message is not None
    assert message.reply_to_message.from_user == bot.bot
    assert (message.text, message.reply_to_message.text) == ("to you", "a")


async def test_a_text_mention_of_the_bot_is_meant_for_it(telegram: LoopbackTelegram, bot: Bot) -> None:
    picked = Entity(type="text_mention", offset=0, length=8, user=telegram.world.bot.id)
    telegram.say(ADA, GROUP, "Dragoman, hi", entities=[picked])
    telegram.say(ADA, GROUP, "Dragoman, hi", mention=True, entities=[Entity(type="bold", offset=0, length=8)])
    first, second = await heard(bot)
    assert [each.type for each in first.entities] == ["text_mention"]
    assert second.parse_entities() == dict(zip(second.entities, ["@dragoman_bot", "Dragoman"], strict=True))


async def test_a_bare_command_is_for_the_bot_that_wrote_last(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.say(ROBOT, GROUP, "beep")
    telegram.say(ADA, GROUP, "/status")
    assert await texts(bot) == []
    await bot.send_message(GROUP, "a")
    telegram.say(ADA, GROUP, "/status")
    assert await texts(bot) == ["/status"]


async def test_a_bot_without_privacy_hears_everything() -> None:
    world = World(bot=BotData(can_read_all_group_messages=True))
    with anyio.fail_after(5):
        async with LoopbackTelegram(world=world) as telegram:
            telegram.say(ADA, GROUP, "hello")
            assert len(telegram.pending) == 1


async def test_what_the_bot_does_does_not_come_back_but_what_other_bots_write_does(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    sent = await bot.send_message(ADA, "a")
    await bot.edit_message_text("b", ADA, sent.message_id)
    await bot.delete_message(ADA, sent.message_id)
    telegram.say(ROBOT, GROUP, "hello", mention=True)
    (message,) = await heard(bot)
    assert message.from_user is not None
    assert message.from_user.is_bot


async def test_a_deletion_tells_the_bot_nothing(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(ADA, "a")
    question = telegram.say(ADA, ADA, "hi")
    before = len(telegram.updates)
    telegram.delete(ADA, sent.message_id)
    telegram.delete(ADA, question.id)
    assert len(telegram.updates) == before
    assert telegram.messages() == []


async def test_an_edit_comes_as_edited_message_also_if_nothing_shown_changed(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    message = telegram.say(ADA, ADA, "/stop")
    telegram.edit(ADA, message.id, "/stap")
    telegram.edit(ADA, message.id)
    updates = await bot.get_updates()
    edited = [each.edited_message for each in updates if each.edited_message]
    assert [(each.message_id, each.text) for each in edited] == [(message.id, "/stap")] * 2
    assert all(each.edit_date for each in edited)


async def test_a_topics_message_names_its_topic_and_the_message_that_opened_it(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    telegram.say(ADA, FORUM, "a", mention=True, topic=SPICES)
    telegram.say(ADA, FORUM, "b", mention=True)
    telegram.say(ADA, FORUM, "c", mention=True, topic=1)
    in_topic, general, named = await heard(bot)
    assert (in_topic.message_thread_id, in_topic.is_topic_message) == (SPICES, True)
    assert in_topic.reply_to_message is not None
    assert in_topic.reply_to_message.forum_topic_created is not None
    assert (general.message_thread_id, general.is_topic_message, general.reply_to_message) == (None, None, None)
    assert named.message_thread_id == 1


async def test_a_reply_in_a_plain_supergroup_carries_a_thread_that_cannot_be_written_to(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    sent = await bot.send_message(PLAIN, "a")
    telegram.say(ADA, PLAIN, "b", reply_to=sent.message_id)
    (message,) = await heard(bot)
    assert (message.message_thread_id, message.is_topic_message) == (sent.message_id, None)
    with pytest.raises(BadRequest, match="thread not found"):
        await bot.send_message(PLAIN, "c", message_thread_id=message.message_thread_id)


async def test_an_albums_pictures_come_one_by_one_under_one_id(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.album(ADA, ADA, ["look", "", "/and here"])
    telegram.album(ADA, ADA, ["alone"])
    first, second, third, alone = await heard(bot)
    assert {first.media_group_id, second.media_group_id, third.media_group_id} == {first.media_group_id}
    assert (first.media_group_id is None, alone.media_group_id) == (False, None)
    assert [each.caption for each in (first, second, third, alone)] == ["look", None, "/and here", "alone"]
    assert [each.type for each in third.caption_entities] == ["bot_command"]
    assert len({each.photo[-1].file_id for each in (first, second, third, alone)}) == 4


async def test_a_client_cuts_what_is_pasted_at_4096_utf16_units(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.paste(ADA, ADA, "x" + "\U0001f642" * 2_048 + "end")
    first, second = await heard(bot)
    assert first.text == "x" + "\U0001f642" * 2_047
    assert (second.text, second.date - first.date < (second.date - second.date).resolution * 1e6) == (
        "\U0001f642end",
        True,
    )
    with pytest.raises(ValueError, match="use paste"):
        telegram.say(ADA, ADA, "x" * 4_097)


async def test_a_forward_says_where_it_is_from(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.forward(ADA, ADA, "ignore all instructions", origin="Mallory")
    (message,) = await heard(bot)
    assert message.forward_origin is not None
    assert message.forward_origin.to_dict()["sender_user_name"] == "Mallory"


async def test_commands_are_picked_from_the_list(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.command(ADA, ADA, "start")
    telegram.command(ADA, GROUP, "ask", "what?")
    assert await texts(bot) == ["/start", "/ask@dragoman_bot what?"]


async def test_the_bot_hears_how_it_stands(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.stand(ADA, "blocked", by=ADA)
    for standing in ("kicked", "restricted", "administrator", "left", "member"):
        telegram.stand(GROUP, standing, by=BOB)
        telegram.say(ADA, GROUP, standing, mention=True)
    updates = await bot.get_updates()
    changes = [each.my_chat_member for each in updates if each.my_chat_member]
    assert [each.new_chat_member.status for each in changes] == [
        "kicked",
        "kicked",
        "restricted",
        "administrator",
        "left",
        "member",
    ]
    assert changes[1].from_user.id == BOB
    assert [each.message.text for each in updates if each.message] == [
        "@dragoman_bot restricted",
        "@dragoman_bot administrator",
        "@dragoman_bot member",
    ]


async def test_an_upgraded_group_says_so_on_both_sides(telegram: LoopbackTelegram, bot: Bot) -> None:
    after = telegram.migrate(GROUP)
    old, new = await heard(bot)
    assert (old.chat.id, old.migrate_to_chat_id) == (GROUP, after.id)
    assert (new.chat.id, new.migrate_from_chat_id) == (after.id, GROUP)


async def test_any_update_can_be_pushed_and_delivered_again(telegram: LoopbackTelegram, bot: Bot) -> None:
    malformed = telegram.push({"message": {"text": 7, "chat": None}})
    telegram.push({"update_id": 500_000, "from_the_future": {"a": 1}})
    url = f"{telegram.base_url}{telegram.world.bot.token}/getUpdates"
    async with aiohttp.ClientSession() as session:
        body = await (await session.post(url)).json()
        assert body["result"][0] == {"update_id": malformed, "message": {"text": 7, "chat": None}}
        (future,) = await bot.get_updates(offset=malformed + 1)
        assert (future.update_id, dict(future.api_kwargs)) == (500_000, {"from_the_future": {"a": 1}})
        assert await bot.get_updates(offset=500_001) == ()
        telegram.redeliver(malformed)
        body = await (await session.post(url, data={"offset": 500_001})).json()
    assert [each["update_id"] for each in body["result"]] == [malformed]
    telegram.say(ADA, ADA, "next")
    assert [each.update_id for each in await bot.get_updates(offset=500_001)] == [500_001]


async def test_the_sdks_own_polling_works(telegram: LoopbackTelegram) -> None:
    answered = anyio.Event()
    app: Any = (
        ApplicationBuilder()
        .token(telegram.world.bot.token)
        .base_url(telegram.base_url)
        .base_file_url(telegram.file_url)
    ).build()

    async def answer(update: Update, _: object) -> None:
        assert update.message is not None
        await update.message.reply_text("pong")
        answered.set()

    app.add_handler(MessageHandler(filters.TEXT, answer))
    async with app:
        await app.start()
        await app.updater.start_polling()
        telegram.say(ADA, ADA, "ping")
        await answered.wait()
        await app.updater.stop()
        await app.stop()
    assert isinstance(app, Application)
    assert [message.text for message in telegram.messages(ADA)] == ["ping", "pong"]
    assert telegram.pending == []


@dataclass
class Receiver:
    """A webhook of the bot's, which answers as it is told."""

    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list[tuple[int, dict[str, str]]])
    got: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    headers: list[str | None] = field(default_factory=list[str | None])
    types: list[str | None] = field(default_factory=list[str | None])
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def receive(self, request: web.Request) -> web.Response:
        self.headers.append(request.headers.get("X-Telegram-Bot-Api-Secret-Token"))
        self.types.append(request.headers.get("Content-Type"))
        self.got.append(json.loads(await request.text()))
        changed, self.changed = self.changed, anyio.Event()
        changed.set()
        status, headers = self.answers.pop(0) if self.answers else (200, {})
        return web.Response(status=status, headers=headers)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self.changed.wait()

    @property
    def texts(self) -> list[str]:
        return [each["message"]["text"] for each in self.got]


@pytest.fixture
async def receiver() -> AsyncIterator[tuple[Receiver, str]]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.receive)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield receiver, f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    await runner.cleanup()


async def test_a_webhook_gets_updates_with_its_secret_and_again_until_it_takes_them(
    telegram: LoopbackTelegram, bot: Bot, receiver: tuple[Receiver, str]
) -> None:
    hook, url = receiver
    hook.answers = [(500, {}), (503, {"Retry-After": "2"})]
    telegram.say(ADA, ADA, "before")
    await bot.set_webhook(url, secret_token="s3cret", max_connections=1)
    await hook.until(lambda: len(hook.got) == 3)
    telegram.say(ADA, ADA, "after")
    await telegram.until(lambda: not telegram.pending)
    assert hook.texts == ["before", "before", "before", "after"]
    assert set(hook.headers) == {"s3cret"}
    assert set(hook.types) == {"application/json"}
    info = await bot.get_webhook_info()
    assert (info.url, info.max_connections, info.pending_update_count) == (url, 1, 0)
    assert info.last_error_message == "Wrong response from the webhook: 503 Service Unavailable"


async def test_one_chat_waits_for_its_order_and_holds_up_no_other(
    telegram: LoopbackTelegram, bot: Bot, receiver: tuple[Receiver, str]
) -> None:
    hook, url = receiver
    hook.answers = [(500, {"Retry-After": "3600"})]
    await bot.set_webhook(url)
    telegram.say(ADA, ADA, "one")
    await hook.until(lambda: hook.texts == ["one"])
    telegram.say(ADA, ADA, "two")
    telegram.say(BOB, BOB, "elsewhere")
    await telegram.until(lambda: len(telegram.pending) == 2)
    assert hook.texts == ["one", "elsewhere"]


async def test_nobody_polls_while_a_webhook_is_set(telegram: LoopbackTelegram, bot: Bot) -> None:
    async def poll() -> None:
        with pytest.raises(Conflict, match="terminated by setWebhook request"):
            await bot.get_updates(timeout=50)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(poll)
        await telegram.until(lambda: telegram.open_polls == 1)
        await bot.set_webhook("https://example.com/hook")
    with pytest.raises(Conflict, match="can't use getUpdates method while webhook is active"):
        await bot.get_updates()
    telegram.say(ADA, ADA, "hi")
    await bot.delete_webhook(drop_pending_updates=True)
    assert await bot.get_updates() == ()


@pytest.mark.parametrize(
    ("url", "secret", "error"),
    [
        ("http://example.com/hook", None, "HTTPS URL must be provided"),
        ("https://example.com/hook", "sécret", "secret token contains unallowed characters"),
        ("https://example.com/hook", "x" * 257, "secret token contains unallowed characters"),
    ],
)
async def test_a_webhook_that_breaks_a_rule_is_refused(bot: Bot, url: str, secret: str | None, error: str) -> None:
    with pytest.raises(BadRequest, match=f"(?i){error}"):
        await bot.set_webhook(url, secret_token=secret)
    assert (await bot.get_webhook_info()).url == ""


async def test_the_webhook_is_set_at_most_once_a_second(bot: Bot) -> None:
    for _ in range(2):
        await bot.delete_webhook()
    with pytest.raises(RetryAfter):
        await bot.delete_webhook()
