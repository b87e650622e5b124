"""The Bot API on loopback, called by the real SDK, and by plain HTTP where the SDK would hide something."""

import json
import math
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import aiohttp
import anyio
import pytest
from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)
from telegram.constants import ChatAction as Action
from telegram.constants import ParseMode
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, NetworkError, RetryAfter, TimedOut
from telegram.request import HTTPXRequest

from adapters.loopback.bucket import Budget
from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import Chat, Limits, LoopbackTelegram, Topic, User, World
from adapters.loopback.telegram.change import ButtonAnswered, Change

ADA, BOB, EVE, GROUP, FORUM, SPICES = 101, 102, 103, -200, -1_000_000_000_300, 5
WORLD = World(
    users=(*World().users, User(id=EVE, name="Eve"), User(id=104, name="Mallory")),
    chats=(
        *World().chats,
        Chat(id=104, standing="blocked"),
        Chat(id=-201, type="group", title="Thrown out", standing="kicked"),
        Chat(id=-1_000_000_000_301, type="supergroup", title="Thrown out", standing="kicked"),
        Chat(id=-1_000_000_000_302, type="supergroup", title="Left", standing="left"),
        Chat(id=-1_000_000_000_303, type="supergroup", title="Mute", standing="restricted"),
        Chat(id=-1_000_000_000_304, type="supergroup", title="Ours", standing="administrator", can_delete=True),
        Chat(id=-1_000_000_000_305, type="supergroup", title="Plain"),
    ),
)
PLENTY = Budget(name="plenty", rate=1000.0, capacity=1000)
LENIENT = Limits(private=PLENTY, group=PLENTY, overall=PLENTY, deletion=PLENTY)


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
def limits() -> Limits:
    return LENIENT


@pytest.fixture
async def telegram(hand: HandClock, limits: Limits) -> AsyncIterator[LoopbackTelegram]:
    with anyio.fail_after(5):
        async with LoopbackTelegram(world=WORLD, clock=PlatformClock(20, source=hand), limits=limits) as server:
            yield server


@pytest.fixture
async def bot(telegram: LoopbackTelegram) -> AsyncIterator[Bot]:
    async with Bot(telegram.world.bot.token, base_url=telegram.base_url, base_file_url=telegram.file_url) as client:
        yield client


async def call(telegram: LoopbackTelegram, method: str, **fields: object) -> tuple[int, object]:
    """A call by plain HTTP; the status and what is left of the body without ok and error_code."""
    url = f"{telegram.base_url}{fields.pop('token', telegram.world.bot.token)}/{method}"
    sent = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    async with aiohttp.ClientSession() as session, session.post(url, data=sent) as response:
        body = await response.json()
    assert body["ok"] is (response.status == 200)
    assert body.get("error_code", 200) == response.status
    return response.status, body.get("description", body.get("result"))


def entity(kind: str, offset: int, length: int, **more: object) -> dict[str, object]:
    return {"type": kind, "offset": offset, "length": length} | more


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        ({"chat_id": ADA}, "message text is empty"),
        ({"chat_id": ADA, "text": ""}, "message text is empty"),
        ({"chat_id": ADA, "text": " \n "}, "text must be non-empty"),
        ({"text": "a"}, "chat_id is empty"),
        ({"chat_id": 404, "text": "a"}, "chat not found"),
        ({"chat_id": "not_a_chat", "text": "a"}, "chat not found"),
        ({"chat_id": ADA, "text": "x" * 4_097}, "message is too long"),
        ({"chat_id": ADA, "text": "\U0001f600" * 4_097}, "message is too long"),
        ({"chat_id": -1_000_000_000_303, "text": "a"}, "not enough rights to send text messages to the chat"),
        ({"chat_id": ADA, "text": "a", "entities": "{}"}, "can't parse entities JSON object"),
        ({"chat_id": ADA, "text": "a", "entities": [entity("b", 0, 1)]}, None),
        ({"chat_id": ADA, "text": "a", "entities": [entity("text_link", 0, 1)]}, None),
        ({"chat_id": ADA, "text": "a", "entities": [entity("text_link", 0, 1, url="x")]}, None),
        ({"chat_id": ADA, "text": "a", "entities": [entity("text_mention", 0, 1, user={"id": 404})]}, "user not found"),
        (
            {"chat_id": ADA, "text": "a", "entities": [entity("bold", -1, 1)]},
            "receive an entity with incorrect offset -1",
        ),
        ({"chat_id": ADA, "text": "hello", "entities": [entity("bold", 100, 1)]}, None),
        ({"chat_id": ADA, "text": "hello", "entities": [entity("bold", 0, 100)]}, None),
        ({"chat_id": ADA, "text": "a\U0001f600", "entities": [entity("bold", 0, 2)]}, None),
        ({"chat_id": ADA, "text": "a", "parse_mode": "INVALID"}, "unsupported parse_mode"),
        ({"chat_id": ADA, "text": "a", "message_thread_id": 999}, "message thread not found"),
        ({"chat_id": FORUM, "text": "a", "message_thread_id": 999}, "message thread not found"),
        ({"chat_id": FORUM, "text": "a", "message_thread_id": 1}, "message thread not found"),
        ({"chat_id": ADA, "text": "a", "reply_parameters": {"message_id": 999}}, "message to be replied not found"),
        ({"chat_id": ADA, "text": "a", "reply_parameters": {"quote": "b"}}, 'can\'t find field "message_id"'),
        ({"chat_id": ADA, "text": "a", "reply_markup": {"inline_keyboard": [[{"text": "b"}]]}}, None),
    ],
)
async def test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing(
    telegram: LoopbackTelegram, fields: dict[str, object], description: str | None
) -> None:
    status, said = await call(telegram, "sendMessage", **fields)
    assert status == 400
    assert isinstance(said, str)
    assert said.startswith("Bad Request: ")
    assert description is None or said == f"Bad Request: {description}"
    assert telegram.messages() == []
    assert [(each.method, each.status, each.error) for each in telegram.calls] == [("sendMessage", 400, said)]


@pytest.mark.parametrize(
    ("chat", "error"),
    [
        (104, "bot was blocked by the user"),
        (EVE, "bot can't initiate conversation with a user"),
        (-201, "bot was kicked from the group chat"),
        (-1_000_000_000_301, "bot was kicked from the supergroup chat"),
        (-1_000_000_000_302, "bot is not a member of the supergroup chat"),
    ],
)
async def test_where_the_bot_is_not_wanted_it_can_do_nothing(
    telegram: LoopbackTelegram, bot: Bot, chat: int, error: str
) -> None:
    with pytest.raises(Forbidden, match=f"Forbidden: {error}"):
        await bot.send_message(chat, "a")
    with pytest.raises(Forbidden, match=error):
        await bot.send_chat_action(chat, Action.TYPING)
    assert telegram.messages() == []
    assert telegram.actions == []


async def test_who_writes_first_can_be_answered(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.say(EVE, EVE, "/start")
    await bot.send_message(EVE, "hello")
    telegram.stand(EVE, "blocked")
    with pytest.raises(Forbidden, match="blocked"):
        await bot.send_message(EVE, "still there?")
    telegram.stand(EVE, "member")
    await bot.send_message(EVE, "welcome back")
    assert [message.text for message in telegram.messages(EVE, author="bot")] == ["hello", "welcome back"]


async def test_4096_code_points_are_sent_and_marked_if_they_are_more_utf16_units(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    plain = await bot.send_message(ADA, "x" * 4_096 + "\n\n")
    wide = await bot.send_message(ADA, "\U0001f600" * 4_096)
    assert telegram.message(ADA, plain.message_id).over_utf16 is False
    assert telegram.message(ADA, wide.message_id).over_utf16 is True


async def test_half_a_character_is_refused(telegram: LoopbackTelegram) -> None:
    url = f"{telegram.base_url}{telegram.world.bot.token}/sendMessage"
    body = b'{"chat_id": 101, "text": "a\\ud83d"}'
    async with aiohttp.ClientSession(headers={"Content-Type": "application/json"}) as session:
        response = await session.post(url, data=body)
        assert (await response.json())["description"] == "Bad Request: strings must be encoded in UTF-8"


@pytest.mark.parametrize("way", ["form", "json", "multipart", "address"])
async def test_arguments_come_in_any_form(telegram: LoopbackTelegram, way: str) -> None:
    url = f"{telegram.base_url}{telegram.world.bot.token}/SENDmessage"
    fields = {"chat_id": "101", "text": "b", "entities": json.dumps([entity("bold", 0, 1)])}
    async with aiohttp.ClientSession() as session:
        match way:
            case "form":
                await session.post(url, data=fields)
            case "json":
                await session.post(url, json={"chat_id": 101, "text": "b", "entities": [entity("bold", 0, 1)]})
            case "multipart":
                writer = aiohttp.FormData(fields, default_to_multipart=True)
                await session.post(url, data=writer)
            case _:
                await session.get(url, params=fields)
    (message,) = telegram.messages()
    assert (message.text, [each.type for each in message.entities]) == ("b", ["bold"])
    assert [each.method for each in telegram.calls] == ["sendMessage"]


async def test_the_token_is_wrong_malformed_or_right_and_never_in_the_log(telegram: LoopbackTelegram, bot: Bot) -> None:
    assert await call(telegram, "getMe", token="7000001:wrong") == (401, "Unauthorized")
    assert await call(telegram, "getMe", token="wrong") == (404, "Not Found")
    async with HTTPXRequest() as request:
        stranger = Bot("7000001:wrong", base_url=telegram.base_url, request=request, get_updates_request=request)
        with pytest.raises(InvalidToken):
            await stranger.get_me()
    assert (await bot.get_me()).username == "dragoman_bot"
    assert telegram.world.bot.secret not in repr([each.arguments for each in telegram.calls]) + repr(
        list(telegram.calls)
    )


async def test_a_method_that_does_not_exist_is_not_found(telegram: LoopbackTelegram) -> None:
    assert await call(telegram, "sendNothing") == (404, "Not Found: method not found")


async def test_who_and_where_can_be_asked(bot: Bot) -> None:
    me = await bot.get_me()
    assert (me.can_read_all_group_messages, me.has_topics_enabled) == (False, False)
    assert (await bot.get_chat(FORUM)).is_forum
    assert (await bot.get_chat(ADA)).username == "ada_l"
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.get_chat(404)


async def test_all_that_a_message_was_is_kept(telegram: LoopbackTelegram, bot: Bot) -> None:
    question = telegram.say(ADA, ADA, "hi")
    bold, quiet = [MessageEntity("bold", 0, 1)], LinkPreviewOptions(is_disabled=True)
    sent = await bot.send_message(
        ADA,
        "a https://example.com",
        entities=bold,
        link_preview_options=quiet,
        reply_parameters=ReplyParameters(question.id),
    )
    assert sent.reply_to_message is not None
    await bot.edit_message_text("b", ADA, sent.message_id)
    message = telegram.message(ADA, sent.message_id)
    assert (message.author, message.user, message.text, message.edited) == ("bot", telegram.world.bot.id, "b", True)
    assert [(each.type, each.offset, each.length) for each in message.original.entities] == [("bold", 0, 1)]
    assert message.entities == ()
    assert (message.reply_to, message.reply_parameters) == (question.id, {"message_id": question.id})
    assert (message.original.link_preview_options, message.link_preview_options) == ({"is_disabled": True}, None)
    assert [edit.content.text for edit in message.edits] == ["b"]
    assert message.previews == ()


async def test_text_is_shown_without_what_telegram_takes_away(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(ADA, "\n a\r\n\tb \n", entities=[MessageEntity("bold", 6, 1)])
    assert (sent.text, [(each.offset, each.length) for each in sent.entities]) == ("a\n b", [(3, 1)])
    message = telegram.message(ADA, sent.message_id)
    assert (message.text, message.display) == ("\n a\r\n\tb \n", "a\n b")
    assert message.entities[0].offset == 6


async def test_entities_beyond_the_hundredth_are_not_shown(telegram: LoopbackTelegram, bot: Bot) -> None:
    many = [MessageEntity("bold", 2 * number, 1) for number in range(103)]
    sent = await bot.send_message(ADA, "x " * 103, entities=many)
    assert len(sent.entities) == 100
    assert [each.offset for each in telegram.message(ADA, sent.message_id).ignored] == [200, 202, 204]


async def test_entities_against_the_documented_rules_are_mended_and_reported(
    telegram: LoopbackTelegram, bot: Bot
) -> None:
    sent = await bot.send_message(ADA, "abcdef", entities=[MessageEntity("code", 0, 6), MessageEntity("bold", 2, 2)])
    assert [each.type for each in sent.entities] == ["code"]
    assert [flaw.kind for flaw in telegram.message(ADA, sent.message_id).flaws] == ["inside code"]


@pytest.mark.parametrize(
    ("mode", "texts", "error"),
    [
        (ParseMode.MARKDOWN_V2, ("*b*", "*unclosed"), "Can't find end of bold entity at byte offset 0"),
        (ParseMode.MARKDOWN_V2, ("_b_", "hello."), "Character '.' is reserved and must be escaped"),
        (ParseMode.HTML, ("<b>b</b>", "<b>unclosed"), 'Can\'t find end tag corresponding to start tag "b"'),
        (ParseMode.HTML, ("<i>b</i>", "#include <iostream>"), 'Unsupported start tag "iostream" at byte offset 9'),
        (ParseMode.MARKDOWN, ("*b*", "a *unclosed"), "Can't find end of the entity starting at byte offset 2"),
    ],
)
async def test_markup_that_does_not_parse_is_refused(
    telegram: LoopbackTelegram, bot: Bot, mode: ParseMode, texts: tuple[str, str], error: str
) -> None:
    good, bad = texts
    assert (await bot.send_message(ADA, good, parse_mode=mode)).text == "b"
    with pytest.raises(BadRequest, match=r"(?i)can't parse entities") as raised:
        await bot.send_message(ADA, bad, parse_mode=mode)
    assert error.lower() in str(raised.value).lower()
    (message,) = telegram.messages()
    assert message.content.parse_mode == mode


async def test_an_edit_needs_a_message_of_the_bots_own_that_stands(telegram: LoopbackTelegram, bot: Bot) -> None:
    question, sent = telegram.say(ADA, ADA, "hi"), await bot.send_message(ADA, "a")
    for message, error in ((999, "to edit not found"), (question.id, "can't be edited")):
        with pytest.raises(BadRequest, match=f"Message {error}"):
            await bot.edit_message_text("b", ADA, message)
    assert await call(telegram, "editMessageText", chat_id=ADA, text="b") == (
        400,
        "Bad Request: message identifier is not specified",
    )
    telegram.delete(ADA, sent.message_id)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("b", ADA, sent.message_id)
    assert telegram.message(ADA, sent.message_id).edits == ()


async def test_an_edit_that_changes_nothing_shown_is_refused(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(ADA, "a", entities=[MessageEntity("bold", 0, 1)])
    for text in ("a", "a\n\n", " a"):
        offset = text.index("a")
        with pytest.raises(BadRequest, match="Message is not modified: specified new message content"):
            await bot.edit_message_text(text, ADA, sent.message_id, entities=[MessageEntity("bold", offset, 1)])
    await bot.edit_message_text("a", ADA, sent.message_id)
    assert [edit.content.entities for edit in telegram.message(ADA, sent.message_id).edits] == [()]


async def test_an_edit_takes_the_keyboard_away_unless_it_brings_one(telegram: LoopbackTelegram, bot: Bot) -> None:
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
    sent = await bot.send_message(ADA, "sure?", reply_markup=keyboard)
    assert sent.reply_markup == keyboard
    await bot.edit_message_text("really?", ADA, sent.message_id, reply_markup=keyboard)
    assert telegram.message(ADA, sent.message_id).reply_markup is not None
    await bot.edit_message_text("good", ADA, sent.message_id)
    assert telegram.message(ADA, sent.message_id).reply_markup is None
    await bot.edit_message_reply_markup(ADA, sent.message_id, reply_markup=keyboard)
    assert telegram.message(ADA, sent.message_id).text == "good"
    with pytest.raises(BadRequest, match="not modified"):
        await bot.edit_message_reply_markup(ADA, sent.message_id, reply_markup=keyboard)


@pytest.mark.parametrize(
    ("markup", "error"),
    [
        ("[]", "can't parse inline keyboard button: Object expected"),
        (
            {"inline_keyboard": "bad"},
            'can\'t parse inline keyboard button: Field "inline_keyboard" must be of type Array',
        ),
        (
            {"inline_keyboard": [[{"callback_data": "x"}]]},
            "can't parse inline keyboard button: Can't find field \"text\"",
        ),
        (
            {"inline_keyboard": [[{"text": "x", "callback_data": ""}]]},
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
        ),
        ({"inline_keyboard": [[{"text": "x", "callback_data": "é" * 33}]]}, "BUTTON_DATA_INVALID"),
        ({"inline_keyboard": [[{"text": " ", "callback_data": "x"}]]}, "BUTTON_TEXT_INVALID"),
        (
            {"inline_keyboard": [[{"text": "x", "callback_data": "x", "style": "go"}]]},
            "can't parse inline keyboard button: unsupported style specified",
        ),
    ],
)
async def test_a_malformed_keyboard_is_refused(telegram: LoopbackTelegram, markup: object, error: str) -> None:
    refused = await call(telegram, "sendMessage", chat_id=ADA, text="a", reply_markup=markup)
    assert refused == (400, f"Bad Request: {error}")
    good = {"inline_keyboard": [[{"text": "x", "callback_data": "é" * 32, "style": "danger"}]]}
    status, _ = await call(telegram, "sendMessage", chat_id=ADA, text="a", reply_markup=good)
    assert status == 200


async def test_a_press_is_answered_in_time_and_once_there_was_one(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="y")]])
    sent = await bot.send_message(ADA, "sure?", reply_markup=keyboard)
    with pytest.raises(ValueError, match="no button"):
        telegram.press(ADA, ADA, sent.message_id, "n")
    with pytest.raises(KeyError, match="private chat"):
        telegram.press(BOB, ADA, sent.message_id, "y")
    changes = list[Change]()
    telegram.subscribe(changes.append)
    first, second = (telegram.press(ADA, ADA, sent.message_id, "y") for _ in range(2))
    updates = await bot.get_updates()
    queries = [update.callback_query for update in updates]
    assert [(each.id, each.data, each.from_user.id) for each in queries if each] == [
        (first, "y", ADA),
        (second, "y", ADA),
    ]
    with pytest.raises(BadRequest, match=r"(?i)message_too_long"):
        await bot.answer_callback_query(first, "x" * 201)
    await bot.answer_callback_query(first, "thanks")
    assert telegram.presses.waiting == 1
    with pytest.raises(BadRequest, match=r"(?i)query is too old"):
        await bot.answer_callback_query(first, "thanks again")
    hand.seconds += 5.1
    for query in (second, "12345"):
        with pytest.raises(BadRequest, match="Query is too old and response timeout expired or query id is invalid"):
            await bot.answer_callback_query(query)
    assert [(change.id, change.text) for change in changes if isinstance(change, ButtonAnswered)] == [(first, "thanks")]
    assert telegram.presses.answers == {first: "thanks"}
    assert (telegram.presses.shown_to(ADA), telegram.presses.shown_to(BOB), telegram.presses.waiting) == (
        ["thanks"],
        [],
        0,
    )


async def test_a_deletion_needs_a_message_that_stands_and_the_right(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    private, group = telegram.say(ADA, ADA, "hi"), telegram.say(ADA, GROUP, "hi")
    ours = telegram.say(ADA, -1_000_000_000_304, "hi")
    await bot.delete_message(ADA, private.id)
    await bot.delete_message(-1_000_000_000_304, ours.id)
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await bot.delete_message(ADA, private.id)
    with pytest.raises(BadRequest, match="Message can't be deleted"):
        await bot.delete_message(GROUP, group.id)
    sent = await bot.send_message(GROUP, "a")
    late = await bot.send_message(GROUP, "b")
    await bot.delete_message(GROUP, sent.message_id)
    hand.seconds += 48 * 3600 / 20 + 1
    with pytest.raises(BadRequest, match="Message can't be deleted"):
        await bot.delete_message(GROUP, late.message_id)
    assert [message.text for message in telegram.messages(author="bot")] == ["b"]
    assert [message.text for message in telegram.messages(author="bot", deleted=True)] == ["a", "b"]


async def test_a_reply_to_what_is_gone_needs_leave(telegram: LoopbackTelegram, bot: Bot) -> None:
    question = telegram.say(ADA, ADA, "hi")
    telegram.delete(ADA, question.id)
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(ADA, "a", reply_parameters=ReplyParameters(question.id))
    leave = ReplyParameters(question.id, allow_sending_without_reply=True)
    sent = await bot.send_message(ADA, "a", reply_parameters=leave)
    assert sent.reply_to_message is None
    assert telegram.message(ADA, sent.message_id).reply_to is None


async def test_a_topic_is_written_to_by_its_id_and_general_without(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(FORUM, "a", message_thread_id=SPICES)
    general = await bot.send_message(FORUM, "b")
    assert (sent.message_thread_id, sent.is_topic_message, general.message_thread_id) == (SPICES, True, None)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(FORUM, "c", message_thread_id=1)
    telegram.delete_topic(FORUM, SPICES)
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(FORUM, "d", message_thread_id=SPICES)
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("e", FORUM, sent.message_id)
    topic = telegram.open_topic(FORUM, "Tea")
    await bot.send_message(FORUM, "f", message_thread_id=topic.id)
    assert [message.text for message in telegram.messages(FORUM, topic=topic.id)] == ["f"]


async def test_a_private_chat_may_have_topics(hand: HandClock) -> None:
    world = World(chats=(Chat(id=ADA, topics=(Topic(id=7, name="Trip"),)),))
    with anyio.fail_after(5):
        async with LoopbackTelegram(world=world, clock=PlatformClock(source=hand)) as telegram:
            status, _ = await call(telegram, "sendMessage", chat_id=ADA, text="a", message_thread_id=7)
            assert (status, telegram.messages()[0].thread) == (200, 7)


async def test_typing_shows_for_five_platform_seconds_or_until_the_next_message(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    await bot.send_chat_action(FORUM, Action.TYPING, message_thread_id=SPICES)
    await bot.send_chat_action(FORUM, Action.TYPING, message_thread_id=1)
    assert (telegram.typing(FORUM), telegram.typing(FORUM, SPICES), telegram.typing(ADA)) == (True, True, False)
    hand.seconds += 4.9 / 20
    await bot.send_message(FORUM, "a", message_thread_id=SPICES)
    assert (telegram.typing(FORUM, 1), telegram.typing(FORUM, SPICES)) == (True, False)
    hand.seconds += 0.1 / 20
    assert not telegram.typing(FORUM)
    assert [(each.thread, each.action) for each in telegram.actions] == [(SPICES, "typing"), (None, "typing")]
    assert await call(telegram, "sendChatAction", chat_id=ADA, action="dancing") == (
        400,
        "Bad Request: wrong parameter action in request",
    )


async def test_commands_are_set_and_counted(telegram: LoopbackTelegram, bot: Bot) -> None:
    await bot.set_my_commands([BotCommand("new", "begin anew"), BotCommand("stop", "stop the answer")])
    assert telegram.commands == (("new", "begin anew"), ("stop", "stop the answer"))
    assert [command.command for command in await bot.get_my_commands()] == ["new", "stop"]
    await bot.set_my_commands([BotCommand("new", "neu beginnen")], language_code="de")
    assert telegram.commands_set == 2
    assert len(telegram.commands) == 2
    await bot.delete_my_commands()
    assert telegram.commands == ()


@pytest.mark.parametrize(
    ("commands", "error"),
    [
        ([{"command": "Bad", "description": "x"}], "BOT_COMMAND_INVALID"),
        ([{"command": "x" * 33, "description": "x"}], "BOT_COMMAND_INVALID"),
        ([{"command": "a", "description": ""}], "BOT_COMMAND_DESCRIPTION_INVALID"),
        ([{"command": "a", "description": "x" * 257}], "BOT_COMMAND_DESCRIPTION_INVALID"),
        ([{"command": f"c{number}", "description": "x"} for number in range(101)], "BOT_COMMANDS_TOO_MUCH"),
    ],
)
async def test_commands_that_break_a_rule_are_refused(telegram: LoopbackTelegram, commands: object, error: str) -> None:
    assert await call(telegram, "setMyCommands", commands=commands) == (400, f"Bad Request: {error}")
    assert telegram.commands_set == 0


async def test_a_group_that_was_upgraded_says_where_it_went(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(GROUP, "a")
    after = telegram.migrate(GROUP)
    for refused in (partial(bot.send_message, GROUP, "b"), partial(bot.edit_message_text, "b", GROUP, sent.message_id)):
        with pytest.raises(ChatMigrated) as raised:
            await refused()
        assert raised.value.new_chat_id == after.id
    await bot.send_message(after.id, "c")
    assert [message.text for message in telegram.messages(after.id)] == ["c"]


@pytest.mark.parametrize("limits", [Limits()])
async def test_too_many_messages_in_a_chat_are_told_to_wait_in_platform_seconds(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    first = await bot.send_message(ADA, "0")
    await bot.edit_message_text("1", ADA, first.message_id)
    await bot.send_message(ADA, "2")
    with pytest.raises(RetryAfter) as raised:
        await bot.edit_message_text("3", ADA, first.message_id)
    assert raised.value.retry_after == timedelta(seconds=1)
    await bot.send_message(BOB, "elsewhere")
    hand.seconds += 1 / 20
    await bot.send_message(ADA, "4")
    assert [(each.t, each.status, each.retry_after) for each in telegram.calls][4:] == [
        (0.0, 429, 1),
        (0.0, 200, None),
        (1.0, 200, None),
    ]
    assert [message.text for message in telegram.messages(ADA)] == ["1", "2", "4"]


@pytest.mark.parametrize("limits", [Limits()])
async def test_the_topics_of_a_forum_share_its_budget(bot: Bot, hand: HandClock) -> None:
    for number in range(3):
        await bot.send_message(FORUM, str(number), message_thread_id=SPICES if number % 2 else None)
    with pytest.raises(RetryAfter) as raised:
        await bot.send_message(FORUM, "more", message_thread_id=SPICES)
    assert raised.value.retry_after == timedelta(seconds=3)
    hand.seconds += 3 / 20
    await bot.send_message(FORUM, "more")


async def test_who_was_told_to_wait_is_told_so_until_it_is_over(
    telegram: LoopbackTelegram, bot: Bot, hand: HandClock
) -> None:
    sent = await bot.send_message(ADA, "a")
    telegram.fail_next("editMessageText", retry_after=30)
    with pytest.raises(RetryAfter) as raised:
        await bot.edit_message_text("b", ADA, sent.message_id)
    assert raised.value.retry_after == timedelta(seconds=30)
    hand.seconds += 20 / 20
    with pytest.raises(RetryAfter) as raised:
        await bot.send_message(ADA, "c")
    assert raised.value.retry_after == timedelta(seconds=10)
    await bot.send_message(BOB, "elsewhere")
    await bot.delete_message(ADA, sent.message_id)
    hand.seconds += 10 / 20
    await bot.send_message(ADA, "d")
    assert [each.retry_after for each in telegram.calls.rate_limited()] == [30, 10]


METHODS = ["deleteMessage", "editMessageText", "sendMessage"]


async def in_place(telegram: LoopbackTelegram, method: str) -> dict[str, int | str]:
    """Good arguments for a method, and the message that they are about."""
    await call(telegram, "sendMessage", chat_id=ADA, text="a")
    fields: dict[str, int | str] = {"chat_id": ADA, "text": "b"}
    return fields if method == "sendMessage" else fields | {"message_id": telegram.messages()[-1].id}


def screen(telegram: LoopbackTelegram) -> list[object]:
    return [(message.text, message.deleted) for message in telegram.messages(deleted=True)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["refused", "cut", "left lying"])
async def test_a_call_can_go_wrong_before_it_is_taken(telegram: LoopbackTelegram, method: str, way: str) -> None:
    fields = await in_place(telegram, method)
    before = screen(telegram)
    match way:
        case "refused":
            telegram.fail_next(method, "Bad Request: no", times=2)
            for _ in range(2):
                assert await call(telegram, method, **fields) == (400, "Bad Request: no")
        case "cut":
            telegram.fail_next(method, error_code=0)
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await call(telegram, method, **fields)
        case _:
            telegram.delay_next(method, math.inf)
            with anyio.move_on_after(0.1):
                await call(telegram, method, **fields)
                pytest.fail("answered")
    assert screen(telegram) == before


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_can_be_taken_and_its_answer_lost(telegram: LoopbackTelegram, method: str) -> None:
    fields = await in_place(telegram, method)
    before = screen(telegram)
    telegram.lose_answer_next(method)
    assert await call(telegram, method, **fields) == (500, "Internal Server Error")
    assert screen(telegram) != before


async def test_the_sdk_repeats_nothing_and_says_what_it_saw(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.lose_answer_next("sendMessage", error_code=0)
    with pytest.raises(NetworkError):
        await bot.send_message(ADA, "cut")
    telegram.fail_next("sendMessage", "Bad Gateway", error_code=502)
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await bot.send_message(ADA, "refused")
    telegram.delay_next("sendMessage", math.inf, taken=True)
    with pytest.raises(TimedOut):
        await bot.send_message(ADA, "late", read_timeout=0.1)
    assert [message.text for message in telegram.messages()] == ["cut", "late"]
    assert [each.status for each in telegram.calls][-3:] == [0, 502, 200]


async def test_what_a_client_gave_up_is_done_all_the_same(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.delay_next("sendMessage", 0.2)
    with pytest.raises(TimedOut):
        await bot.send_message(ADA, "after all", read_timeout=0.05)
    await telegram.until(lambda: telegram.messages(ADA))
    assert [message.text for message in telegram.messages()] == ["after all"]


async def test_a_taken_call_is_answered_late_and_done_at_once(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.delay_next("sendMessage", 0.1, taken=True)
    start = time.monotonic()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bot.send_message, ADA, "a")
        await telegram.until(telegram.messages)
        assert time.monotonic() - start < 0.1
    assert time.monotonic() - start >= 0.1


async def test_closed_doors_refuse_everybody_for_a_moment(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.close_doors(0.1)
    start = time.monotonic()
    with pytest.raises(NetworkError):
        await bot.send_message(ADA, "a")
    while True:
        try:
            await bot.send_message(ADA, "b")
            break
        except NetworkError:
            await anyio.lowlevel.checkpoint()
    assert time.monotonic() - start >= 0.1
    assert [message.text for message in telegram.messages()] == ["b"]


async def test_a_seed_brings_trouble_until_it_is_told_to_behave(telegram: LoopbackTelegram, bot: Bot) -> None:
    telegram.misbehave(1)
    failed = 0
    for number in range(60):
        try:
            await bot.send_message(ADA if number % 2 else BOB, str(number))
        except (NetworkError, RetryAfter):
            failed += 1
    assert failed
    assert telegram.taken
    assert all(telegram.message(message.chat, message.id).deleted for message in telegram.taken)
    telegram.behave()
    before = len(telegram.messages())
    await bot.send_message(EVE if telegram.say(EVE, EVE, "hi") else ADA, "a")
    assert len(telegram.messages()) == before + 2


async def test_pings_and_previews_of_every_version_are_reported(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(ADA, "ask @bob_k")
    code = [MessageEntity("code", 4, 6)]
    await bot.edit_message_text("ask @bob_k", ADA, sent.message_id, entities=code)
    await bot.edit_message_text("ask @\u2060bob_k, example.com", ADA, sent.message_id)
    link = [MessageEntity("text_link", 0, 3, url="tg://user?id=102")]
    await bot.edit_message_text("ask", ADA, sent.message_id, entities=link)
    message = telegram.message(ADA, sent.message_id)
    assert [(ping.kind, ping.target) for ping in message.pings] == [("mention", "bob_k"), ("text_mention", "102")]
    assert message.previews == ("example.com",)


async def test_a_user_edits_only_what_a_user_wrote(telegram: LoopbackTelegram, bot: Bot) -> None:
    sent = await bot.send_message(ADA, "a")
    with pytest.raises(ValueError, match="users edit their own"):
        telegram.edit(ADA, sent.message_id, "b")
    for absent in (
        partial(telegram.message, ADA, 999),
        partial(telegram.say, 404, GROUP, "hi"),
        partial(telegram.say, ADA, 404, "hi"),
        partial(telegram.say, ADA, BOB, "hi"),
        partial(telegram.say, ADA, FORUM, "hi", topic=999),
    ):
        with pytest.raises(KeyError):
            absent()
