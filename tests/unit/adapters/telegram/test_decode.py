from typing import Any

import pytest

from adapters.telegram.content import notes
from adapters.telegram.decode import decode, edited
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageEdited, MessageReceived, PressReceived, Quotation
from gateway.payload import Json
from tests.cases import case
from tests.unit.adapters.telegram.payload import (
    ADA,
    FORUM,
    GROUP,
    ME,
    direct,
    entity,
    group,
    photo,
    press,
    size,
    topic,
    update,
)


def heard(*messages: Json) -> Inbound:
    first, *_ = decode([update(message, number) for number, message in enumerate(messages, 1)], ME)
    return first


def received(*messages: Json) -> MessageReceived:
    inbound = heard(*messages)
    assert isinstance(inbound, MessageReceived), inbound
    return inbound


def reason(*messages: Json) -> str:
    inbound = heard(*messages)
    assert isinstance(inbound, Ignored), inbound
    return inbound.reason


def test_a_private_message_is_for_us() -> None:
    assert heard(direct()) == MessageReceived(
        event_id="telegram:7:1",
        message_id="telegram:7:101:9",
        address=Address(platform="telegram", account="7", channel="101"),
        user="101",
        text="hello",
        direct=True,
    )


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (group("@helm_bot hello"), "hello"),
        (group("hello @helm_bot!"), "hello !"),
        (group("Hello, @Helm_Bot", entities=[entity("mention", "Hello, @Helm_Bot", "@Helm_Bot")]), "Hello,"),
        (group("helm: hi", entities=[entity("text_mention", "helm: hi", "helm", user={"id": 7})]), ": hi"),
        (group("hi", reply_to_message=direct("what?", **{"from": {"id": 7, "is_bot": True}})), "hi"),
        (group("/ask@helm_bot why?"), "why?"),
        (group("/weather in Oslo"), "/weather in Oslo"),
        (group("/weather@helm_bot\nin Oslo"), "/weather\nin Oslo"),
    ],
    ids=["name", "inside", "case", "by id", "reply", "ask", "command", "command by name"],
)
def test_in_a_group_only_what_is_addressed_to_us_is_for_us(message: Json, text: str) -> None:
    inbound = received(message)
    assert (inbound.text, inbound.direct, inbound.address.channel) == (text, False, str(GROUP))


@pytest.mark.parametrize(
    "message",
    [
        group("hello"),
        group("@helm_bot hello", entities=[]),
        group("@helm_bots hello", entities=[entity("mention", "@helm_bots hello", "@helm_bots")]),
        group("hi", reply_to_message=direct("what?")),
        group("see /new", entities=[entity("bot_command", "see /new", "/new")]),
    ],
    ids=["nobody", "not marked", "another", "a person's", "inside"],
)
def test_what_a_group_says_among_itself_is_not_for_us(message: Json) -> None:
    assert reason(message) == "not addressed to the bot"


def test_a_command_for_another_bot_is_not_for_us() -> None:
    assert reason(group("/stop@other_bot")) == "a command for another bot"


def test_x05_a_mention_behind_emoji_is_seen_and_one_outside_of_the_text_is_nothing() -> None:
    given = case("X05")["input"]
    assert received(group(given["text"], entities=given["entities"])).text == "😀😀 help"
    outside = [{"type": "mention", "offset": 90, "length": 9}, {"type": "mention", "offset": -1, "length": 9}]
    assert reason(group(given["text"], entities=outside)) == "not addressed to the bot"
    assert received(direct(given["text"], entities=outside)).text == given["text"]


def test_l36_what_is_said_in_general_has_no_thread() -> None:
    assert case("L36")["input"]["update"]["message_thread_id"] == 1
    for said in (topic(thread=1), topic(thread=1, is_topic_message=False), topic(thread=17, is_topic_message=None)):
        assert received(said).address == Address(platform="telegram", account="7", channel=str(FORUM))


def test_a_topic_is_a_thread() -> None:
    assert received(topic()).address.thread == "5"


def test_what_stands_in_a_topic_does_not_answer_the_message_that_opened_it() -> None:
    ours = {"message_id": 5, "from": {"id": 7, "is_bot": True}, "forum_topic_created": {"name": "Spices"}}
    assert reason(topic("hello", reply_to_message=ours)) == "not addressed to the bot"
    assert received(topic(reply_to_message=ours)).quotation is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/start", "help"),
        ("/start payload", "help"),
        ("/help", "help"),
        ("/new", "new"),
        ("/NEW", "new"),
        ("/stop", "stop"),
        ("/stop now, please", "stop"),
        ("/status@helm_bot", "status"),
    ],
)
@pytest.mark.parametrize("make", [direct, group], ids=["direct", "group"])
def test_a_command_is_what_telegram_marked_as_one(make: Any, text: str, command: str) -> None:
    inbound = heard(make(text))
    assert isinstance(inbound, CommandReceived)
    assert (inbound.command, inbound.message_id.endswith(":9")) == (command, True)


@pytest.mark.parametrize(
    ("text", "command", "argument"),
    [
        ("/approve", "approve", ""),
        ("/approve abcdefg2", "approve", "abcdefg2"),
        ("/approve@helm_bot ABCDEFG2", "approve", "abcdefg2"),
        ("/Deny\n abcdefg2 ", "deny", "abcdefg2"),
        ("/approve always abcdefg2", "approve", "always abcdefg2"),
        ("/approvals", "approvals", ""),
        ("/revoke", "revoke", ""),
        ("/revoke read_URL", "revoke", "read_URL"),
    ],
)
@pytest.mark.parametrize("make", [direct, group, topic], ids=["direct", "group", "topic"])
def test_a_decision_is_a_command_with_what_it_is_about(make: Any, text: str, command: str, argument: str) -> None:
    inbound = heard(make(text))
    assert isinstance(inbound, CommandReceived)
    assert (inbound.command, inbound.argument) == (command, argument)


@pytest.mark.parametrize(
    "text",
    [
        "/approve of it",
        "/approve abcdefgh",
        "/deny everything",
        "/approvals please",
        "/revoke it all",
        "/approve \N{CYRILLIC SMALL LETTER A}",
    ],
)
def test_what_has_more_than_a_decision_in_it_is_a_message(text: str) -> None:
    assert received(direct(text)).text == text


def told(query: Json) -> PressReceived | Ignored:
    (inbound,) = decode([update(query, 5, "callback_query")], ME)
    assert isinstance(inbound, PressReceived | Ignored)
    return inbound


def test_a_press_is_known_by_its_query_and_says_who_pressed_what_below_what() -> None:
    assert told(press(topic(), **{"from": {"id": 102, "is_bot": False}})) == PressReceived(
        event_id="telegram:7:callback:4001",
        press="4001",
        message_id=f"telegram:7:{FORUM}:9",
        address=Address(platform="telegram", account="7", channel=str(FORUM), thread="5"),
        user="102",
        data="approve:abcdefg2",
        direct=False,
    )
    for message, direct_ in ((direct(), True), (group(), False)):
        inbound = told(press(message))
        assert isinstance(inbound, PressReceived)
        assert (inbound.direct, inbound.address.thread) == (direct_, None)


def test_a_press_below_a_message_that_is_too_old_to_be_shown_arrives() -> None:
    old = {"message_id": 9, "date": 0, "chat": {"id": GROUP, "type": "group", "title": "Harbour"}}
    inbound = told(press() | {"message": old})
    assert isinstance(inbound, PressReceived)
    assert inbound.message_id == f"telegram:7:{GROUP}:9"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (press(id=4001), "malformed: no usable query id"),
        (press(id="a:b"), "malformed: no usable query id"),
        ({"data": "x"}, "malformed: no usable query id"),
        (press(**{"from": None}), "malformed: no usable sender"),
        (press(**{"from": {"id": 8, "is_bot": True}}), "another bot's press"),
        (press(direct(chat={"id": -5, "type": "channel"})), "a press below a channel's post"),
        (press(direct(chat={"id": -5, "type": []})), "a press below a channel's post"),
        (press() | {"message": direct()}, "a press below another's message"),
        (press() | {"message": None, "inline_message_id": "x"}, "a press below a message that is not ours to see"),
        (press(direct(message_id="x")), "a press below a message that is not ours to see"),
        (press(data=None, game_short_name="x"), "a press without data of ours"),
        (press(data=""), "a press without data of ours"),
        (press(data="é" * 33), "a press without data of ours"),
    ],
)
def test_a_press_that_is_malformed_or_not_for_us_is_ignored(query: Json, expected: str) -> None:
    inbound = told(query)
    assert isinstance(inbound, Ignored)
    assert inbound.reason == expected


@pytest.mark.parametrize(
    "message",
    [
        direct("stop"),
        direct("/stop", entities=[]),
        direct("/new what is a dragoman?"),
        direct("/stop@other_bot"),
        direct("/stopwatch"),
        direct("please /stop", entities=[entity("bot_command", "please /stop", "/stop")]),
    ],
    ids=["word", "not marked", "with words", "another's", "longer", "inside"],
)
def test_what_is_no_command_is_a_message(message: dict[str, Any]) -> None:
    assert received(message).text == message["text"]


def test_a_command_behind_our_name_is_one() -> None:
    text = "@helm_bot /stop"
    marks = [entity("mention", text, "@helm_bot"), entity("bot_command", text, "/stop")]
    assert isinstance(heard(group(text, entities=marks)), CommandReceived)


def test_what_is_asked_is_no_command() -> None:
    text = "/ask /stop"
    marks = [entity("bot_command", text, "/ask"), entity("bot_command", text, "/stop")]
    assert received(direct(text, entities=marks)).text == "/stop"


def test_l31_an_edit_never_becomes_a_command() -> None:
    first, second = case("L31")["input"]["updates"]
    messages = [first["message"], second["edited_message"]]
    said, after = (direct(message["text"], message_id=message["message_id"]) for message in messages)
    assert isinstance(heard(said), CommandReceived)
    (inbound,) = decode([update(after, 2, "edited_message")], ME)
    assert isinstance(inbound, MessageEdited)
    assert (inbound.event_id, inbound.message.message_id, inbound.message.text) == (
        "telegram:7:2",
        "telegram:7:101:9",
        "/stop",
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (direct() | {"from": {"id": 8, "is_bot": True}}, "another bot's message"),
        (direct() | {"from": {"id": 7, "is_bot": True}}, "our own message"),
        (group(sender_chat={"id": GROUP}), "said as a chat, so nobody knows by whom"),
        (direct(chat={"id": -5, "type": "channel"}), "a channel's post"),
        (direct(None, new_chat_members=[ADA]), "not a message: new_chat_members"),
        (direct(None, migrate_to_chat_id=-5), "not a message: migrate_to_chat_id"),
        (direct(None), "not a message: nothing that was said"),
        (direct(**{"from": None}), "malformed: no usable sender"),
        (direct(message_id="x"), "malformed: no usable chat or message id"),
        (direct(chat={"id": True, "type": "private"}), "malformed: no usable chat or message id"),
        ({}, "malformed: no usable chat or message id"),
    ],
)
def test_what_no_person_says_is_ignored(message: Json, expected: str) -> None:
    assert reason(message) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"update_id": 1, "my_chat_member": {"new_chat_member": {"status": "kicked"}}}, "my_chat_member, kicked"),
        ({"update_id": 1, "Secret words": {}}, "not a message: unknown"),
        ({"update_id": 1}, "not a message: nothing"),
        ({}, "not a message: nothing"),
    ],
)
def test_what_is_no_message_is_ignored(given: Json, expected: str) -> None:
    (inbound,) = decode([given], ME)
    assert isinstance(inbound, Ignored)
    assert inbound.reason.endswith(expected)


def test_what_has_no_name_is_named_by_what_it_is() -> None:
    names = [decode([{"update_id": None, "message": each}], ME)[0].event_id for each in ("a", "a", "b")]
    assert names[0] == names[1] != names[2]


# What a message holds.


def test_m04_an_album_is_one_message_with_all_captions_at_their_pictures() -> None:
    parts = [
        photo(place, media_group_id="g1") | ({"caption": text} if text else {}) for place, text in enumerate(ALBUM, 1)
    ]
    inbounds = decode([update(part, number) for number, part in enumerate(parts, 1)], ME)
    first, *rest = inbounds
    assert isinstance(first, MessageReceived)
    assert first.text == (
        "[photo 1: id photo-1; it cannot be read yet]\ncompare these\n"
        "[photo 2: id photo-2; it cannot be read yet]\n"
        "[photo 3: id photo-3; it cannot be read yet]\nthis one is new"
    )
    assert rest == [Ignored(event_id=f"telegram:7:{number}", reason="part of telegram:7:1") for number in (2, 3)]


ALBUM = ("compare these", "", "this one is new")


def test_m04_the_mention_may_stand_at_any_picture() -> None:
    place = {"chat": {"id": GROUP, "type": "group"}}
    named = "look, @helm_bot"
    parts = [
        photo(1, **place, caption="compare these"),
        photo(2, **place, caption=named, caption_entities=[entity("mention", named, "@helm_bot")]),
    ]
    assert received(*parts).text.endswith("look,")
    assert reason(parts[0]) == "not addressed to the bot"


def test_l34_a_text_that_was_cut_anywhere_is_whole_again() -> None:
    assert case("L34")["input"]["updates"][0]["text"] == "'🙂'*2048"
    assert size("🙂" * 2048) == 4096
    assert received(direct("🙂" * 2048), direct("and so on")).text == "🙂" * 2048 + "and so on"
    assert received(direct("a" * 4000), direct("b")).text == "a" * 4000 + "\nb"


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ({"voice": {"file_id": "v1"}}, "[voice: id v1; it cannot be read yet]"),
        ({"document": {"file_id": "d1", "file_name": "a\nb.pdf"}}, "[document: a b.pdf, id d1; it cannot be read yet]"),
        ({"sticker": {"file_id": "s1", "emoji": "👍"}}, "[sticker: 👍, id s1; it cannot be read yet]"),
        ({"animation": {"file_id": "a1"}, "document": {"file_id": "a1"}}, "[animation: id a1; it cannot be read yet]"),
        ({"location": {"latitude": 1.5, "longitude": 2}}, "[location: 1.5, 2]"),
        (
            {"venue": {"title": "Gate", "location": {"latitude": 1, "longitude": 2}}, "location": {"latitude": 1}},
            "[venue: Gate, 1, 2]",
        ),
        ({"contact": {"first_name": "Bo", "phone_number": "+1"}}, "[contact: Bo, +1]"),
        ({"poll": {"question": "Tea?", "options": [{"text": "yes"}, {"text": "no"}]}}, "[poll: Tea?, yes, no]"),
        ({"dice": {"emoji": "🎲", "value": 3}}, "[dice: 🎲, 3]"),
        ({"paid_media": {"star_count": 1}}, "[paid media: it cannot be read]"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_noted(content: dict[str, object], note: str) -> None:
    assert notes(content) == [note]
    assert received(direct(None, **content)).text == note


def test_a_forwarded_message_says_so() -> None:
    said = direct("look", forward_origin={"type": "user", "sender_user": {"first_name": "Bo"}})
    assert received(said).text == "[forwarded from Bo]\nlook"
    assert received(direct("look", forward_origin={"type": "x"})).text == "[forwarded from somebody]\nlook"


def test_what_is_answered_goes_with_the_answer() -> None:
    before = direct("the gate closes at six", **{"from": {"id": 102, "first_name": "Bo"}})
    assert received(direct(reply_to_message=before)).quotation == Quotation(user="102", text="the gate closes at six")
    picked = received(direct(reply_to_message=before, quote={"text": "at six"}))
    assert picked.quotation == Quotation(user="102", text="at six")
    ours = received(group("why?", reply_to_message=direct("no", **{"from": {"id": 7, "is_bot": True}})))
    assert ours.quotation == Quotation(user="7", text="no")


def test_what_is_answered_from_elsewhere_goes_with_the_answer() -> None:
    outside = {"origin": {"type": "channel", "chat": {"title": "News"}}, "photo": [{"file_id": "p1"}]}
    assert received(direct(external_reply=outside, quote={"text": "rain"})).quotation == Quotation(
        user="News", text="rain"
    )
    assert received(direct(external_reply=outside)).quotation == Quotation(
        user="News", text="[photo: id p1; it cannot be read yet]"
    )


def test_an_edit_of_a_part_is_one_of_the_whole() -> None:
    parts = [direct("a" * 4000), direct("c", message_id=10)]
    inbound = edited(update(parts[1], 5, "edited_message"), parts, ME)
    assert isinstance(inbound, MessageEdited)
    assert (inbound.event_id, inbound.message.message_id) == ("telegram:7:5", "telegram:7:101:9")
    assert inbound.message.text == "a" * 4000 + "\nc"


def test_what_no_database_takes_is_replaced_in_place() -> None:
    text = "\ud83d\0 @helm_bot hi"
    assert received(group(text, entities=[{"type": "mention", "offset": 3, "length": 9}])).text == "�� hi"
