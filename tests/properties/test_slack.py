"""The laws of the Slack adapter's pure parts."""

import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.block import buttons_of, text_of
from adapters.loopback.slack.content import read_update
from adapters.loopback.slack.listing import channel_page, read_span, thread_page
from adapters.loopback.slack.message import Content, Message
from adapters.loopback.slack.ping import find_pings
from adapters.slack.decode import decode
from adapters.slack.entity import escape, unescape
from adapters.slack.reading import Reading
from adapters.slack.render import INERT, Call, inert, render, undo
from gateway.address import Address
from gateway.inbound import CommandReceived, MessageDeleted, MessageEdited, MessageReceived, from_json, to_json
from gateway.operation import Button, EditMessage, PostMessage, ReadThread
from tests.unit.adapters.slack.payload import ME, body, deleted, direct, mention, message, pressed
from tests.unit.adapters.slack.payload import changed as edited

FAINT = "\\\0\x1f\u200b\ufeff"
TRICKY = st.text(alphabet=f"<>!@#&;|^`\n {INERT}{FAINT}aUC1")
PINGS = st.sampled_from(
    ["<!channel>", "<!here|x>", "<!subteam^S1>", "<@U1>", "<#C1|c>", "&lt;!channel&gt;", "<\\!here>"]
)
TEXT = st.lists(st.one_of(st.text(), TRICKY, PINGS)).map("".join)
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))

VALUES = st.sampled_from(
    [
        "U1",
        "UBOT",
        "C1",
        "D1",
        "17.1",
        "",
        "im",
        "<@UBOT>",
        "message",
        "app_mention",
        "message_changed",
        "message_deleted",
        "tombstone",
        "\ud800",
        "\0",
    ]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), VALUES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.text(), VALUES), inner, max_size=3)
    ),
    max_leaves=12,
)
FIELDS = [
    "type",
    "subtype",
    "user",
    "text",
    "ts",
    "thread_ts",
    "channel",
    "channel_type",
    "files",
    "bot_id",
    "app_id",
    "hidden",
    "message",
    "previous_message",
    "deleted_ts",
    "edited",
]


def changed(event: dict[str, Any], changes: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    return {key: value for key, value in (event | changes).items() if key not in lost}


NEARLY = st.builds(
    changed,
    st.sampled_from(
        [
            message(),
            mention(),
            direct(files=[{"name": "x"}]),
            edited(direct(), text="bye"),
            deleted(direct()),
            direct(text="!stop"),
        ]
    ),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
    st.sets(st.sampled_from(FIELDS), max_size=2),
)


PARTS = ["type", "user", "channel", "container", "message", "actions", "api_app_id", "team"]
ACTIONS = ["type", "action_id", "value", "action_ts"]


def nearly_pressed(changes: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    return pressed(actions=[changed(pressed()["actions"][0], changes, lost)])


NEARLY_PRESSED = st.builds(
    changed,
    st.builds(
        nearly_pressed,
        st.dictionaries(st.sampled_from(ACTIONS), JSON, max_size=2),
        st.sets(st.sampled_from(ACTIONS), max_size=1),
    ),
    st.dictionaries(st.sampled_from(PARTS), JSON, max_size=2),
    st.sets(st.sampled_from(PARTS), max_size=2),
)


@given(st.one_of(JSON, st.builds(body, st.one_of(JSON, NEARLY), JSON), NEARLY_PRESSED))
def test_whatever_arrives_is_an_inbound_that_can_be_stored(payload: object) -> None:
    inbound = decode(payload, ME)
    assert from_json(to_json(inbound)) == inbound
    assert inbound == decode(payload, ME)
    assert inbound.event_id.startswith("slack:T1:")


@given(NEARLY)
def test_only_people_who_address_us_are_answered(event: dict[str, object]) -> None:
    inbound = decode(body(event), ME)
    if isinstance(inbound, MessageReceived):
        assert inbound.user not in ("", ME.user)
        assert not event.get("bot_id")
        assert inbound.direct or event["type"] == "app_mention" or "<@UBOT>" in str(event["text"])
        assert inbound.message_id == f"slack:T1:{inbound.address.channel}:{event['ts']}"
        assert inbound.direct or inbound.address.thread is not None


@given(STORABLE)
def test_what_a_person_types_is_what_is_heard(typed: str) -> None:
    inbound = decode(body(direct(text=escape(typed))), ME)
    assert isinstance(inbound, MessageReceived)
    assert inbound.text == typed.strip()


WORDS = st.sampled_from(
    [
        *("new", "stop", "status", "NEW", "\u017ftop", "!", ".", " ", "\n", "stopping", "it"),
        *("approve ", "Deny ", "revoke ", "abcdefg2", " always ", "a_tool"),
    ]
)
COMMAND = re.compile(
    r"new|stop|status|help|approvals|revoke\s+[\w-]{1,64}|deny(\s+[a-z2-7]{8})?"
    r"|approve(\s+[a-z2-7]{8})?(\s+always)?|approve\s+always\s+[a-z2-7]{8}",
    re.IGNORECASE | re.A,
)


@given(st.lists(WORDS, max_size=4).map("".join), st.booleans())
def test_a_command_is_a_word_and_nothing_else(typed: str, alone: bool) -> None:
    event = direct(text=f"!{typed}") if alone else mention(text=f"<@UBOT> {typed}")
    inbound = decode(body(event), ME)
    words = re.sub(r"(?<=\w)[.!]\Z", "", typed.rstrip() if alone else typed.strip())
    expected = COMMAND.fullmatch(words)
    assert isinstance(inbound, CommandReceived) is (expected is not None)
    if isinstance(inbound, CommandReceived):
        assert [inbound.command, *inbound.argument.lower().split()] == words.lower().split()


@given(STORABLE, STORABLE, st.sampled_from([direct(), mention(thread_ts="16.5")]))
def test_an_edit_is_what_would_have_been_heard_at_first(first: str, second: str, said: dict[str, Any]) -> None:
    before, after = (said | {"type": "message", "text": f"<@UBOT> {escape(text)} ..."} for text in (first, second))
    inbound = decode(body(edited(before, text=after["text"])), ME)
    if first == second:
        assert not isinstance(inbound, MessageEdited)
    else:
        assert isinstance(inbound, MessageEdited)
        assert inbound.message == decode(body(after), ME)


@given(st.sampled_from([direct(), direct(thread_ts="16.5"), mention(), mention(thread_ts="16.5")]))
def test_a_deletion_names_the_message_as_it_was_heard(said: dict[str, Any]) -> None:
    heard, gone = decode(body(said), ME), decode(body(deleted(said | {"type": "message"})), ME)
    assert isinstance(heard, MessageReceived)
    assert isinstance(gone, MessageDeleted)
    assert (gone.message_id, gone.address) == (heard.message_id, heard.address)


class Listing:
    """A conversation as Slack lists it, in small pages. ``tame``: it shows a thread's root once, where it belongs."""

    def __init__(self, seconds: list[int], size: int, *, tame: bool) -> None:
        self.messages = [self.message(second) for second in seconds]
        self.size = size
        self.tame = tame

    def message(self, second: int) -> Message:
        content = Content(text="a")
        ts = f"{second}.000000"
        return Message(channel="C1", ts=ts, t=0, author="user", user="U1", content=content, original=content)

    def answer(self, call: Call) -> dict[str, object]:
        span = read_span(Arguments(call.arguments), default=100, most=self.size)
        if call.method == "conversations.history":
            page = channel_page(self.messages, span)
        else:
            page = thread_page(self.messages, span)
            if self.tame and page.messages and (span.start is not None or not span.holds(page.messages[0])):
                page.messages.pop(0)
        shown = [{"type": "message", "user": "U1", "text": "a", "ts": each.ts} for each in page.messages]
        return {"messages": shown, "response_metadata": {"next_cursor": page.cursor}}


SECONDS = st.integers(1_000, 1_030)


@given(
    st.tuples(st.none() | SECONDS, st.none() | SECONDS),
    st.integers(1, 12),
    st.builds(Listing, st.sets(SECONDS, max_size=25).map(sorted), st.integers(1, 6), tame=st.booleans()),
    st.sampled_from([None, "1000.000000"]),
)
def test_the_newest_messages_are_read_however_the_pages_are_cut(
    ends: tuple[int | None, int | None], limit: int, listing: Listing, thread: str | None
) -> None:
    after, before = (None if end is None else f"{end}.000000" for end in ends)
    address = Address(platform="slack", account="T1", channel="C1", thread=thread)
    reading, calls = Reading(ReadThread(address=address, after=after, before=before, limit=limit), ME), 0
    while (call := reading.next_call()) is not None:
        reading.feed(listing.answer(call))
        calls += 1
    said = [each.ts for each in listing.messages]
    inside = [ts for ts in said if (after is None or ts > after) and (before is None or ts < before)]
    assert [said.message_id for said in reading.messages] == inside[-limit:]
    assert calls <= len(said) // min(listing.size, limit if thread is None else listing.size) + 1


@given(STORABLE)
def test_entities_are_made_and_undone_once(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not set("<>") & set(escape(text))


@given(TEXT)
def test_nothing_that_is_sent_pings(text: str) -> None:
    for markup in (True, False):
        call = render(
            PostMessage(address=Address(platform="slack", account="T1", channel="C1"), text=text, markup=markup)
        )
        sent = str(call.arguments["markdown_text" if markup else "text"])
        assert find_pings(sent, link_names=False, parse="none") == ()
        seen = sent.translate(dict.fromkeys(map(ord, FAINT)))  # for these may be gone when Slack looks
        assert not re.search("<[!@#]", seen)


@given(TEXT)
def test_making_text_inert_can_be_undone(text: str) -> None:
    assert undo(inert(text)) == text


@given(TEXT)
def test_making_text_inert_only_adds_our_character(text: str) -> None:
    assert inert(text).replace(INERT, "") == text.replace(INERT, "")
    assert len(inert(text)) - len(text) == len(re.findall(rf"<[{INERT}{re.escape(FAINT)}]*[!@#]", text))


ONE = (Button(label="Yes", data="yes"),)


@given(st.integers(1, 20_000), st.sampled_from(["a", "<!", "&", "\U0001f600", "a\n"]), st.booleans())
def test_what_fits_is_taken_by_slack_with_buttons_too(length: int, unit: str, markup: bool) -> None:
    address = Address(platform="slack", account="T1", channel="C1")
    operation = EditMessage(address=address, message_id="17.1", text=unit * length, markup=markup, buttons=ONE)
    call = render(operation)
    assert call.fits is render(replace(operation, buttons=())).fits
    if call.fits:
        content = read_update(Arguments(call.arguments))
        assert [button.value for button in buttons_of(content.blocks)] == ["yes"]
        assert not content.pings
        if not markup:
            assert text_of(content.blocks).split() == (unit * length).split() or length * len(unit) > 3_000


@given(st.integers(0, 20_000), st.sampled_from(["a", "<!", "&", "\U0001f600"]), st.booleans())
def test_what_fits_is_within_slacks_limits(length: int, unit: str, markup: bool) -> None:
    address = Address(platform="slack", account="T1", channel="C1")
    call = render(EditMessage(address=address, message_id="17.1", text=unit * length, markup=markup))
    markdown, text = call.arguments.get("markdown_text"), call.arguments.get("text")
    assert (markdown is None) is (text is not None)
    assert call.fits is (len(str(markdown)) <= 12_000 if text is None else len(str(text)) <= 4_000)
