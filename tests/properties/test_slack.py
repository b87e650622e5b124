"""The laws of the Slack adapter's pure parts."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.slack.ping import find_pings
from adapters.slack.decode import decode
from adapters.slack.entity import escape, unescape
from adapters.slack.render import INERT, inert, render, undo
from gateway.address import Address
from gateway.inbound import MessageReceived, from_json, to_json
from gateway.operation import EditMessage, PostMessage
from tests.unit.adapters.slack.payload import ME, body, direct, mention, message

FAINT = "\\\0\x1f\u200b\ufeff"
TRICKY = st.text(alphabet=f"<>!@#&;|^`\n {INERT}{FAINT}aUC1")
PINGS = st.sampled_from(
    ["<!channel>", "<!here|x>", "<!subteam^S1>", "<@U1>", "<#C1|c>", "&lt;!channel&gt;", "<\\!here>"]
)
TEXT = st.lists(st.one_of(st.text(), TRICKY, PINGS)).map("".join)
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))

VALUES = st.sampled_from(
    ["U1", "UBOT", "C1", "D1", "17.1", "", "im", "<@UBOT>", "message", "app_mention", "\ud800", "\0"]
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
]


def changed(event: dict[str, Any], changes: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    return {key: value for key, value in (event | changes).items() if key not in lost}


NEARLY = st.builds(
    changed,
    st.sampled_from([message(), mention(), direct(files=[{"name": "x"}])]),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
    st.sets(st.sampled_from(FIELDS), max_size=2),
)


@given(st.one_of(JSON, st.builds(body, st.one_of(JSON, NEARLY), JSON)))
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


@given(st.integers(0, 20_000), st.sampled_from(["a", "<!", "&", "\U0001f600"]), st.booleans())
def test_what_fits_is_within_slacks_limits(length: int, unit: str, markup: bool) -> None:
    address = Address(platform="slack", account="T1", channel="C1")
    call = render(EditMessage(address=address, message_id="17.1", text=unit * length, markup=markup))
    markdown, text = call.arguments.get("markdown_text"), call.arguments.get("text")
    assert (markdown is None) is (text is not None)
    assert call.fits is (len(str(markdown)) <= 12_000 if text is None else len(str(text)) <= 4_000)
