from typing import Any

import pytest

from adapters.discord.decode import decode
from adapters.discord.directory import Directory
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageDeleted, MessageEdited, MessageReceived, Quotation
from tests.unit.adapters.discord.payload import ME, ROLE, direct, mention, message, places


def decoded(data: object, event: str = "MESSAGE_CREATE") -> Inbound:
    return decode(event, data, ME, places())


def received(data: dict[str, Any]) -> MessageReceived:
    inbound = decoded(data)
    assert isinstance(inbound, MessageReceived), inbound
    return inbound


def reason(data: object, event: str = "MESSAGE_CREATE") -> str:
    inbound = decoded(data, event)
    assert isinstance(inbound, Ignored), inbound
    return inbound.reason


def test_a_mention_is_a_message_in_its_channel() -> None:
    assert received(mention()) == MessageReceived(
        event_id="discord:900:500",
        message_id="discord:900:10:500",
        address=Address(platform="discord", account="900", channel="10"),
        user="20",
        text="hello",
        direct=False,
        space="1",
    )


def test_the_platforms_own_id_is_behind_the_last_colon() -> None:
    assert received(mention()).own_id == "500"


def test_a_message_in_a_thread_belongs_to_the_channel_that_it_hangs_on() -> None:
    address = received(mention(channel_id="11")).address
    assert (address.channel, address.thread) == ("10", "11")


def test_a_thread_that_was_begun_later_is_known() -> None:
    known = places()
    known.feed("THREAD_CREATE", {"id": "12", "type": 11, "parent_id": "10"})
    inbound = decode("MESSAGE_CREATE", mention(channel_id="12"), ME, known)
    assert isinstance(inbound, MessageReceived)
    assert inbound.address.thread == "12"


def test_a_direct_message_needs_no_mention() -> None:
    said = received(direct())
    assert (said.direct, said.text, said.space, said.address.channel) == (True, "hello", None, "30")


def test_the_role_that_is_ours_alone_is_our_name_and_no_other_role_is() -> None:
    assert received(message(content=f"<@&{ROLE}> hi", mention_roles=[ROLE])).text == "hi"
    assert reason(message(mention_roles=["78"])) == "not addressed to the bot"


def test_everybody_is_not_us() -> None:
    assert reason(message(content="@everyone hi", mention_everyone=True)) == "not addressed to the bot"


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("<@901> hello", "hello"),
        ("<@!901>hello", "hello"),
        ("hello <@901>", "hello"),
        ("hey <@901> you", "hey you"),
        ("<@20> and <#10> and &lt;", "<@20> and <#10> and &lt;"),
        ("<@901>", ""),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
    ],
)
def test_our_mention_is_taken_off_and_nothing_else_is_undone(sent: str, text: str) -> None:
    assert received(mention(content=sent)).text == text


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"author": {"id": "901", "bot": True}}, "our own message"),
        ({"author": {"id": "5", "bot": True}}, "another bot's message"),
        ({"webhook_id": "5"}, "another bot's message"),
        ({"application_id": "5"}, "another bot's message"),
        ({"type": 7}, "not a new message: 7"),
        ({"type": "x"}, "malformed: no usable type"),
        ({"author": None}, "malformed: no usable author"),
        ({"author": {"id": "<@1>"}}, "malformed: no usable author"),
        ({"id": None}, "malformed: no usable id"),
        ({"channel_id": "x/y"}, "malformed: no usable channel_id"),
        ({"guild_id": 7}, "malformed: no usable guild_id"),
        ({"content": None}, "malformed: no content"),
        ({"mentions": None}, "not addressed to the bot"),
    ],
    ids=str,
)
def test_l28_what_is_not_said_to_us_by_a_person_starts_nothing(changes: dict[str, object], why: str) -> None:
    assert reason(mention(**changes)) == why


def test_what_was_sent_along_is_noted() -> None:
    said = direct(
        content="",
        attachments=[{"filename": "a b.png"}, {"filename": 7}],
        sticker_items=[{"name": "wave"}],
        message_reference={"type": 1},
    )
    assert received(said).text.splitlines() == [
        "[a file was attached: a b.png; it cannot be read yet]",
        "[a file was attached: without a name; it cannot be read yet]",
        "[a sticker was sent: wave]",
        "[a message was forwarded; it cannot be read yet]",
    ]


def test_a_reply_tells_what_it_answers_and_who_said_that() -> None:
    answered = {"author": {"id": "901"}, "content": "It is a translator."}
    said = received(mention(type=19, content="why?", referenced_message=answered))
    assert said.quotation == Quotation(user="901", text="It is a translator.")
    assert received(mention(type=19, referenced_message=None)).quotation is None
    assert received(
        mention(type=19, referenced_message={"author": {"id": "21"}, "content": ""})
    ).quotation == Quotation(user="21", text="")


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (mention(content="<@901> stop"), "stop"),
        (mention(content="<@901> Status."), "status"),
        (direct(content="!new"), "new"),
        (direct(content="!help!"), "help"),
        (direct(content="<@901> stop", mentions=[{"id": "901"}]), "stop"),
    ],
    ids=str,
)
def test_a_word_behind_our_name_is_a_command(said: dict[str, Any], command: str) -> None:
    inbound = decoded(said)
    assert isinstance(inbound, CommandReceived)
    assert (inbound.command, inbound.message_id.rpartition(":")[2]) == (command, "500")


@pytest.mark.parametrize(
    ("words", "command", "argument"),
    [
        ("approve abcdefg2", "approve", "abcdefg2"),
        ("Deny ABCDEFG2", "deny", "abcdefg2"),
        ("approve", "approve", ""),
        ("approvals", "approvals", ""),
        ("revoke read_url", "revoke", "read_url"),
    ],
)
def test_a_decision_is_typed_as_any_command(words: str, command: str, argument: str) -> None:
    for said in (mention(content=f"<@901> {words}"), direct(content=f"!{words}")):
        inbound = decoded(said)
        assert isinstance(inbound, CommandReceived)
        assert (inbound.command, inbound.argument) == (command, argument)


@pytest.mark.parametrize("words", ["approve of it", "approve everything", "deny it all", "revoke it all"])
def test_what_only_begins_like_a_decision_is_a_message(words: str) -> None:
    assert received(mention(content=f"<@901> {words}")).text == words
    assert received(direct(content=f"!{words}")).text == f"!{words}"


@pytest.mark.parametrize("content", ["stop", "! stop", "!stop it", "!stopping"])
def test_a_word_in_a_direct_message_is_a_word(content: str) -> None:
    assert received(direct(content=content)).text == content


def test_an_edit_is_one_where_somebody_edited() -> None:
    edited = mention(content="<@901> bye", edited_timestamp="2026-11-30T10:00:00+00:00")
    inbound = decoded(edited, "MESSAGE_UPDATE")
    assert isinstance(inbound, MessageEdited)
    assert inbound.message.message_id == "discord:900:10:500"
    assert inbound.message.text == "bye"
    assert inbound.event_id == "discord:900:500:edited:2026-11-30T10:00:00+00:00"
    assert reason(mention(), "MESSAGE_UPDATE") == "changed, but nobody edited it"
    assert reason(message(edited_timestamp="2026"), "MESSAGE_UPDATE") == "not addressed to the bot"


def test_l31_an_edit_never_becomes_a_command() -> None:
    edited = direct(content="!stop", edited_timestamp="2026-11-30T10:00:00+00:00")
    assert isinstance(decoded(edited, "MESSAGE_UPDATE"), MessageEdited)


def test_a_deletion_names_the_message_as_it_was_heard() -> None:
    gone = decoded({"id": "500", "channel_id": "11", "guild_id": "1"}, "MESSAGE_DELETE")
    assert isinstance(gone, MessageDeleted)
    heard = received(mention(channel_id="11"))
    assert (gone.message_id, gone.address, gone.own_id) == (heard.message_id, heard.address, heard.own_id)
    assert gone.event_id != heard.event_id


def test_each_kind_of_delivery_has_an_id_of_its_own_and_the_same_again() -> None:
    deliveries = [
        ("MESSAGE_CREATE", mention()),
        ("MESSAGE_UPDATE", mention(edited_timestamp="2026-11-30T10:00:00+00:00")),
        ("MESSAGE_UPDATE", mention(edited_timestamp="2026-11-30T10:00:01+00:00")),
        ("MESSAGE_DELETE", {"id": "500", "channel_id": "10"}),
        ("MESSAGE_CREATE", {"strange": 1}),
        ("MESSAGE_CREATE", {"strange": 2}),
    ]
    ids = [[decode(event, data, ME, places()).event_id for event, data in deliveries] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(deliveries)


def test_what_is_no_message_is_ignored() -> None:
    assert reason({}, "PRESENCE_UPDATE") == "not a message: PRESENCE_UPDATE"
    assert reason(None, "what people say") == "not a message: unknown"


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"id": "1"},
        {"guilds": 5},
        {"roles": [None, {"tags": 3}], "channels": ["x"], "threads": {}},
        {"threads": [{"id": 1}], "id": "12", "type": 11},
    ],
)
def test_a_directory_reads_whatever_comes(data: object) -> None:
    known = Directory(ME.user)
    for event in ("READY", "GUILD_CREATE", "GUILD_DELETE", "GUILD_ROLE_CREATE", "THREAD_LIST_SYNC", "THREAD_CREATE"):
        known.feed(event, data)
    assert known.parent("12") is None


def test_a_guild_that_we_left_is_not_ours_and_one_that_is_out_of_order_is() -> None:
    known = places()
    known.feed("GUILD_DELETE", {"id": "1", "unavailable": True})
    assert known.is_in("1")
    known.feed("GUILD_DELETE", {"id": "1"})
    assert not known.is_in("1")


def test_a_directory_forgets_what_it_heard_of_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.discord.directory.REMEMBERED", 2)
    known = places()
    known.feed("THREAD_CREATE", {"id": "12", "type": 11, "parent_id": "10"})
    assert [known.knows(name) for name in ("10", "11", "12")] == [False, True, True]
