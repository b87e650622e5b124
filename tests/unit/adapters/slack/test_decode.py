from typing import Any

import pytest

from adapters.slack.decode import decode
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, MessageDeleted, MessageEdited, MessageReceived
from tests.cases import case
from tests.unit.adapters.slack.payload import ME, body, changed, deleted, direct, mention, message


def received(event: dict[str, Any]) -> MessageReceived:
    inbound = decode(body(event), ME)
    assert isinstance(inbound, MessageReceived), inbound
    return inbound


def reason(event: object) -> str:
    inbound = decode(body(event), ME)
    assert isinstance(inbound, Ignored), inbound
    return inbound.reason


def text(sent: str) -> str:
    return received(direct(text=sent)).text


def test_a_mention_is_a_message_in_the_thread_that_it_begins() -> None:
    assert received(mention()) == MessageReceived(
        event_id="slack:T1:Ev1",
        message_id="slack:T1:C1:17.1",
        address=Address(platform="slack", account="T1", channel="C1", thread="17.1"),
        user="U1",
        text="hello",
        direct=False,
        first=True,
    )


def test_a_mention_is_for_us_because_slack_says_so() -> None:
    assert (
        received(mention(text="whatever their client made of our name")).text
        == "whatever their client made of our name"
    )


def test_a_mention_in_a_thread_belongs_to_that_thread() -> None:
    assert received(mention(thread_ts="16.5")).address.thread == "16.5"


@pytest.mark.parametrize(
    ("thread", "expected"), [(None, None), ("17.1", None), ("16.5", "16.5")], ids=["none", "its own root", "another's"]
)
def test_a_direct_message_stands_outside_of_threads_unless_it_was_written_in_one(
    thread: str | None, expected: str | None
) -> None:
    inbound = received(direct(thread_ts=thread))
    assert (inbound.direct, inbound.address.thread) == (True, expected)


def test_a_mention_in_a_direct_channel_is_the_direct_message() -> None:
    as_mention = received(mention(channel="D1"))
    assert as_mention == received(direct(text="<@UBOT> hello"))


def test_a_direct_message_is_told_by_its_channel_type_whatever_its_id() -> None:
    assert received(direct(channel="X1")).direct


def test_a_group_of_people_is_a_channel() -> None:
    assert reason(message(channel="G1", channel_type="mpim")) == "not addressed to the bot"


def test_a_message_in_a_channel_without_a_mention_is_none_of_ours() -> None:
    assert reason(message(text="<@U2> hello")) == "not addressed to the bot"
    assert reason(message(text="&lt;@UBOT&gt; typed by hand")) == "not addressed to the bot"


def test_a_message_that_mentions_us_is_the_mention() -> None:
    as_message = received(message(text="<@UBOT> hello"))
    assert as_message == received(mention())


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message"])
def test_what_people_say_in_other_ways_is_a_message(subtype: str) -> None:
    assert received(direct(subtype=subtype)).text == "hello"


@pytest.mark.parametrize("subtype", ["channel_join", "assistant_app_thread", "message_replied", "tombstone", 7])
def test_what_is_no_new_message_is_ignored(subtype: object) -> None:
    assert reason(direct(subtype=subtype)).startswith("not a new message")


def test_what_is_hidden_is_ignored() -> None:
    assert reason(direct(hidden=True)) == "a hidden message"


@pytest.mark.parametrize(
    "marks", [{"user": "UBOT"}, {"bot_id": "B1"}, {"app_id": "A1"}, {"subtype": "bot_message", "bot_id": "B1"}]
)
def test_our_own_messages_are_ignored(marks: dict[str, object]) -> None:
    assert reason(direct(**marks)) == "our own message"
    assert reason(mention(**marks)) == "our own message"


@pytest.mark.parametrize(
    "marks", [{"bot_id": "B9"}, {"app_id": "A9"}, {"bot_profile": {"id": "B9"}}, {"user": "USLACKBOT"}]
)
def test_other_bots_are_ignored_even_where_they_mention_us(marks: dict[str, object]) -> None:
    assert reason(mention(**marks)) == "another bot's message"


@pytest.mark.parametrize(
    "change",
    [
        {"user": None},
        {"user": ""},
        {"user": ["U1"]},
        {"user": "U 1"},
        {"channel": None},
        {"channel": {"id": "C1"}},
        {"ts": "17"},
        {"ts": 17.1},
        {"thread_ts": "x"},
        {"text": None},
        {"text": ["hello"]},
    ],
    ids=str,
)
def test_a_malformed_message_is_ignored(change: dict[str, object]) -> None:
    assert reason(mention(**change)).startswith("malformed")


@pytest.mark.parametrize(
    "event", [None, [], "message", 5, {}, {"type": ["message"]}, {"type": "reaction_added"}], ids=str
)
def test_what_is_no_message_is_ignored(event: object) -> None:
    assert reason(event).startswith("not a message")


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"command": "/ask"}, {"type": "block_actions"}], ids=str)
def test_what_is_no_event_is_ignored(payload: object) -> None:
    assert isinstance(decode(payload, ME), Ignored)


def test_a_delivery_without_an_id_is_named_by_what_it_holds() -> None:
    first, again = decode({"command": "/ask"}, ME), decode({"command": "/ask"}, ME)
    other = decode({"command": "/tell"}, ME)
    assert first.event_id == again.event_id != other.event_id
    assert first.event_id.startswith("slack:T1:")


@pytest.mark.parametrize("event_id", ["", "\ud800", "two words", 5, None], ids=repr)
def test_an_id_that_cannot_be_one_is_none(event_id: object) -> None:
    named = decode(body(mention(), event_id), ME).event_id.removeprefix("slack:T1:")
    assert len(named) == 32
    assert named.isalnum()


def test_a_reason_never_holds_what_people_wrote() -> None:
    assert "secret" not in reason({"type": "my secret", "user": "U1"})


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        ("<@UBOT>", ""),
        ("<@UBOT|dragoman>  hello", "hello"),
        ("hey <@UBOT> do it", "hey do it"),
        ("do it <@UBOT>", "do it"),
        ("do it, <@UBOT>!", "do it, !"),
        ("a<@UBOT> b", "a b"),
        ("<@UBOT>\nline", "line"),
        ("<@U2> and <@W3|eve>", "@U2 and @eve"),
        ("<#C1|general> <#C2> <#C3|>", "#general #C2 #C3"),
        ("<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@team> <!subteam^S2>", "@team @S2"),
        ("<!date^1^{date}|yesterday>", "yesterday"),
        ("<https://example.org>", "https://example.org"),
        ("<https://example.org/?p=1&amp;q=2|the page>", "the page (https://example.org/?p=1&q=2)"),
        ("<http://example.org|example.org>", "http://example.org"),
        ("<http://example.org/|example.org>", "http://example.org/"),
        ("<mailto:ada@example.org|ada@example.org>", "ada@example.org"),
        ("&amp;lt;b&amp;gt; &lt;@UBOT&gt; &amp;amp;", "&lt;b&gt; <@UBOT> &amp;"),
        ("&quot; &#60; <>", "&quot; &#60; <>"),
        ("  spaced  ", "spaced"),
    ],
    ids=str,
)
def test_the_text_is_what_the_person_wrote(sent: str, heard: str) -> None:
    assert text(sent) == heard


def test_what_no_database_takes_is_replaced() -> None:
    assert text("a\0b\ud800c \U0001f600") == "a\ufffdb\ufffdc \U0001f600"


def test_a_file_is_noted() -> None:
    files = [{"name": "plan.pdf"}, {"name": " two\nlines "}, {}, "?"]
    noted = received(direct(subtype="file_share", text="see", files=files)).text.splitlines()
    assert noted == [
        "see",
        "[a file was attached: plan.pdf; it cannot be read yet]",
        "[a file was attached: two lines; it cannot be read yet]",
        "[a file was attached: without a name; it cannot be read yet]",
        "[a file was attached: without a name; it cannot be read yet]",
    ]


def test_a_file_alone_is_a_message() -> None:
    event = direct(subtype="file_share", files=[{"name": "plan.pdf"}])
    del event["text"]
    assert received(event).text == "[a file was attached: plan.pdf; it cannot be read yet]"


def test_r14_entities_are_undone_once() -> None:
    recorded = case("R14")
    assert [["equals", text(recorded["input"]["text"])]] == recorded["assert"]


def test_l24_a_repetition_is_the_same_event_and_counts_like_a_first_delivery() -> None:
    ids = [decode(body(mention(), sent["event_id"]), ME).event_id for sent in case("L24")["input"]["deliveries"]]
    assert ids == ["slack:T1:Ev1", "slack:T1:Ev1", "slack:T1:Ev2"]


def test_l25_one_message_has_one_id_under_all_its_events() -> None:
    events = [
        (mention(channel=sent["channel"], ts=sent["ts"]), sent["event_id"])
        for sent in case("L25")["input"]["deliveries"]
    ]
    inbounds = [decode(body(event, event_id), ME) for event, event_id in events]
    assert len({inbound.event_id for inbound in inbounds}) == 2
    assert {inbound.message_id for inbound in inbounds if isinstance(inbound, MessageReceived)} == {"slack:T1:C1:17.1"}


def test_l26_mention_message_and_unfurl_of_one_ts_are_one_message() -> None:
    shared = {"user": "U1", "channel": "C1", "text": "<@UBOT> see https://docs.example.org"}
    inbounds = [decode(body(shared | event, f"Ev{i}"), ME) for i, event in enumerate(case("L26")["input"]["events"])]
    messages = [inbound for inbound in inbounds if isinstance(inbound, MessageReceived)]
    assert [inbound.message_id for inbound in messages] == ["slack:T1:C1:17.1"] * 2
    assert isinstance(inbounds[2], Ignored)


def test_l27_the_unfurl_of_our_own_link_is_ignored() -> None:
    assert reason(case("L27")["input"]["event"] | {"channel": "D1", "channel_type": "im", "ts": "18.2"})


def test_l28_bots_do_not_start_each_other() -> None:
    assert "platform" in case("L28")["input"]
    assert reason(message(user="U9", bot_id="B9", text="<@UBOT> and you?", thread_ts="16.5"))


# Edits and deletions.

CHANNEL_MESSAGE = message(text="<@UBOT> hello", thread_ts="16.5")
TOMBSTONE = {
    "type": "message",
    "subtype": "tombstone",
    "text": "This message was deleted.",
    "user": "USLACKBOT",
    "hidden": True,
    "ts": "17.1",
    "thread_ts": "17.1",
}


def test_an_edit_is_the_message_as_it_reads_now_under_its_old_id() -> None:
    inbound = decode(body(changed(CHANNEL_MESSAGE, text="<@UBOT> good &lt;bye&gt;")), ME)
    assert inbound == MessageEdited(
        event_id="slack:T1:Ev1",
        message=MessageReceived(
            event_id="slack:T1:Ev1",
            message_id="slack:T1:C1:17.1",
            address=Address(platform="slack", account="T1", channel="C1", thread="16.5"),
            user="U1",
            text="good <bye>",
            direct=False,
        ),
    )


def test_an_edit_of_a_direct_message_is_direct() -> None:
    inbound = decode(body(changed(direct(), text="bye")), ME)
    assert isinstance(inbound, MessageEdited)
    assert (inbound.message.direct, inbound.message.address.thread) == (True, None)


@pytest.mark.parametrize(("before", "after"), [("hello", "<@UBOT> hello"), ("<@UBOT> hello", "hello, all")])
def test_an_edit_counts_where_either_version_is_for_us(before: str, after: str) -> None:
    assert isinstance(decode(body(changed(message(text=before), text=after)), ME), MessageEdited)


def test_a_file_that_is_taken_away_is_an_edit() -> None:
    before = direct(files=[{"name": "plan.pdf"}, {"name": "draft.pdf"}])
    inbound = decode(body(changed(before, files=[{"name": "plan.pdf"}])), ME)
    assert isinstance(inbound, MessageEdited)
    assert "draft" not in inbound.message.text


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (changed(direct(), attachments=[{"title": "a preview"}]), "changed, but not in its words"),
        (changed(direct(edited={"user": "U1"}), locale="en"), "changed, but not in its words"),
        (changed(message(text="hello"), text="bye"), "not addressed to the bot"),
        (changed(direct(user="UBOT", bot_id="B1"), text="bye"), "our own message"),
        (changed(direct(app_id="A1"), text="bye"), "our own message"),
        (changed(direct(bot_id="B9"), text="bye"), "another bot's message"),
        (changed(direct(), subtype="channel_topic"), "not a new message: channel_topic"),
        (changed(direct(), user=None), "malformed: no usable user"),
        (changed(direct()) | {"channel": None}, "malformed: no usable channel"),
        (changed(direct(), text="bye") | {"message": "?"}, "not a message: unknown"),
        (changed(direct(), text="bye") | {"previous_message": None}, "changed, but nobody edited it"),
    ],
)
def test_what_is_changed_by_nobody_or_by_a_bot_or_elsewhere_is_ignored(event: dict[str, Any], why: str) -> None:
    assert reason(event) == why


def test_an_edit_whose_older_version_is_not_told_is_one() -> None:
    event = changed(direct(), text="bye", edited={"user": "U1", "ts": "18.2"})
    del event["previous_message"]
    assert isinstance(decode(body(event), ME), MessageEdited)


@pytest.mark.parametrize("made", ["message_deleted", "tombstone"])
def test_a_message_that_is_taken_back_is_named_with_its_place(made: str) -> None:
    event = deleted(CHANNEL_MESSAGE)
    if made == "tombstone":
        event = changed(CHANNEL_MESSAGE) | {"message": TOMBSTONE}
    assert decode(body(event), ME) == MessageDeleted(
        event_id="slack:T1:Ev1",
        message_id="slack:T1:C1:17.1",
        address=Address(platform="slack", account="T1", channel="C1", thread="16.5"),
    )


def test_a_deletion_in_a_direct_conversation_needs_no_mention() -> None:
    inbound = decode(body(deleted(direct())), ME)
    assert isinstance(inbound, MessageDeleted)
    assert inbound.address == received(direct()).address


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (deleted(message(text="hello")), "not addressed to the bot"),
        (deleted(direct(user="UBOT", bot_id="B1")), "our own message"),
        (deleted(direct(bot_id="B9")), "another bot's message"),
        (deleted(TOMBSTONE | {"channel": "D1"}), "another bot's message"),
        (deleted(direct()) | {"previous_message": None}, "not a message: unknown"),
        (deleted(direct()) | {"deleted_ts": 17}, "malformed: no usable ts"),
    ],
)
def test_other_deletions_are_ignored(event: dict[str, Any], why: str) -> None:
    assert reason(event) == why


# Commands.


def command(event: dict[str, Any]) -> str | None:
    inbound = decode(body(event), ME)
    assert isinstance(inbound, CommandReceived | MessageReceived), inbound
    return inbound.command if isinstance(inbound, CommandReceived) else None


def test_a_command_has_the_ids_and_the_place_of_its_message() -> None:
    assert decode(body(mention(text="<@UBOT> stop")), ME) == CommandReceived(
        event_id="slack:T1:Ev1",
        message_id="slack:T1:C1:17.1",
        address=Address(platform="slack", account="T1", channel="C1", thread="17.1"),
        user="U1",
        command="stop",
        direct=False,
    )
    threaded = decode(body(mention(text="<@UBOT> stop", thread_ts="16.5")), ME)
    assert isinstance(threaded, CommandReceived)
    assert threaded.address.thread == "16.5"


@pytest.mark.parametrize("word", ["new", "stop", "status", "help", "approve", "deny", "approvals"])
@pytest.mark.parametrize("shape", ["{}", " {}  ", "\n{}.", "{}!", "{}! "])
def test_each_command_is_known_however_it_is_typed(word: str, shape: str) -> None:
    for typed in (word, word.upper(), word.title()):
        assert command(mention(text="<@UBOT>" + shape.format(typed))) == word
        assert command(message(text="<@UBOT|dragoman> " + shape.format(typed))) == word
        assert command(direct(text=shape.format("!" + typed))) == word


@pytest.mark.parametrize(
    "sent",
    [
        "stop it",
        "please stop",
        "stop?",
        "stop..",
        "stop !",
        "stopp",
        "/stop",
        "!stop",
        "new\nstop",
        "\u017ftop",
        "",
        "*stop*",
    ],
)
def test_anything_longer_behind_a_mention_is_a_message(sent: str) -> None:
    assert command(mention(text=f"<@UBOT> {sent}")) is None


@pytest.mark.parametrize("sent", ["stop", "! stop", "!!stop", "!stop it", "/stop", "!", "help!"])
def test_in_a_direct_message_a_bare_word_is_a_message(sent: str) -> None:
    assert command(direct(text=sent)) is None


@pytest.mark.parametrize("sent", ["<@UBOT> stop", "<@UBOT> !stop"])
def test_a_mention_in_a_direct_message_makes_it_a_command(sent: str) -> None:
    assert command(direct(text=sent)) == "stop"


def test_a_word_with_a_file_is_a_message() -> None:
    assert command(mention(text="<@UBOT> stop", subtype="file_share", files=[{"name": "x"}])) is None


def test_nobody_commands_us_where_we_are_not_addressed() -> None:
    assert reason(message(text="stop")) == "not addressed to the bot"
    assert reason(mention(text="<@UBOT> stop", bot_id="B9")) == "another bot's message"


def test_an_edit_into_a_command_stays_an_edit() -> None:
    inbound = decode(body(changed(direct(), text="!stop")), ME)
    assert isinstance(inbound, MessageEdited)
    assert inbound.message.text == "!stop"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("approve abcdefg2", ("approve", "abcdefg2")),
        ("DENY ABCDEFG2.", ("deny", "abcdefg2")),
        ("approve always abcdefg2", ("approve", "always abcdefg2")),
        ("revoke Read_URL", ("revoke", "Read_URL")),
    ],
)
def test_a_command_has_what_stands_behind_it(typed: str, expected: tuple[str, str]) -> None:
    for event in (mention(text=f"<@UBOT> {typed}"), direct(text=f"!{typed}"), direct(text=f"<@UBOT> {typed}")):
        inbound = decode(body(event), ME)
        assert isinstance(inbound, CommandReceived)
        assert (inbound.command, inbound.argument) == expected


@pytest.mark.parametrize("sent", ["approve the plan please", "deny it", "approve abcdefg2 now", "revoke a b"])
def test_what_only_begins_like_a_decision_is_a_message(sent: str) -> None:
    assert received(mention(text=f"<@UBOT> {sent}")).text == sent
    assert received(direct(text=f"!{sent}")).text == f"!{sent}"
