from typing import Any

import pytest

from adapters.slack.decode import decode
from gateway.address import Address
from gateway.inbound import Ignored, MessageReceived
from tests.unit.adapters.slack.case import case
from tests.unit.adapters.slack.payload import ME, body, direct, mention, message


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


@pytest.mark.parametrize("subtype", ["message_changed", "message_deleted", "channel_join", "assistant_app_thread", 7])
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
