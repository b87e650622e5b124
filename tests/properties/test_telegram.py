"""The laws of the Telegram adapter's pure parts."""

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.loopback.telegram.entity import Entity as Judged
from adapters.loopback.telegram.formatting import show
from adapters.loopback.telegram.ping import find_pings
from adapters.loopback.telegram.utf16 import cut
from adapters.telegram.decode import decode, edited
from adapters.telegram.markup import INERT, MOST, Marked, plain
from adapters.telegram.merge import GAP, HOLD, LONGEST, Merge
from adapters.telegram.prose import LIMIT, fits, rendered
from chunker.cluster import is_boundary
from gateway.inbound import CommandReceived, MessageEdited, MessageReceived, from_json, to_json
from gateway.payload import Json, mapping
from tests.properties.markdown import WORD, model_document, nasty_document
from tests.unit.adapters.telegram.payload import ME, direct, entity, group, photo, press, topic, update

SEEDS = st.integers(0, 2**32)


def as_models_write(seed: int) -> str:
    return model_document(random.Random(seed)).text


def as_nobody_should(seed: int) -> str:
    return nasty_document(random.Random(seed)).text


DOCUMENT = st.one_of(st.builds(as_models_write, SEEDS), st.builds(as_nobody_should, SEEDS))
MARKS = ("*", "**", "_", "~~", "`", "```\n", "[", "](", ")", "![", "> ", "- ", "1. ", "- [x] ", "# ", "|", "|-|-|\n")
THINGS = (
    "---\n",
    "<b>",
    "&amp;",
    "\\",
    "https://x.org",
    "@bob",
    "@",
    "tg://user?id=5",
    "x@y.org",
    "/stop",
    "word ",
    "a",
)
CHARACTERS = (
    "\n",
    "\n\n",
    "    ",
    "\t",
    "😀",
    "👩\u200d",
    "🇩",
    "\u0301",
    "\u2060",
    "\u2028",
    "\r",
    "\0",
    "\ud83d",
    "é",
)
ODD = st.lists(st.sampled_from([*MARKS, *THINGS, *CHARACTERS]), max_size=40).map("".join)
TEXT = st.one_of(DOCUMENT, ODD, st.text())

JUDGE = MarkdownIt("gfm-like", {"html": False, "linkify": False}).disable("reference")
"""As we read it: definitions stay what they are."""


def at_any_place(text: str, share: float) -> str:
    """As much of a text as is there while it is streamed."""
    return text[: round(len(text) * share)]


def repeated(text: str, times: int) -> str:
    return text * times


PREFIX = st.builds(at_any_place, TEXT, st.floats(0, 1))


def units(text: str) -> bytes:
    return text.encode("utf-16-le")


def judged(marked: Marked) -> list[Judged]:
    return [
        Judged(type=each.type, offset=each.offset, length=each.length, url=each.url, user=None, language=each.language)
        for each in marked.entities
    ]


# What is sent.


@given(PREFIX)
def test_every_prefix_is_rendered_without_a_flaw(markdown: str) -> None:
    marked = rendered(markdown)
    marked.text.encode()
    assert len(marked.entities) <= MOST
    if marked.blank:
        return
    shown = show(marked.text, judged(marked))
    assert (shown.flaws, shown.ignored) == ((), ())


@given(PREFIX)
def test_entities_nest_and_part_no_character(markdown: str) -> None:
    marked = rendered(markdown)
    places, offset = {0: 0}, 0
    for index, character in enumerate(marked.text, 1):
        offset += len(units(character)) // 2
        places[offset] = index
    for each in marked.entities:
        start, end = places[each.offset], places[each.offset + each.length]
        for place in (start, end):
            assert is_boundary(marked.text, place, max(0, place - 64))
    for first in judged(marked):
        for second in judged(marked):
            assert not first.crosses(second)
            if first.type in ("code", "pre") and first.contains(second):
                assert first == second or second.type == "blockquote"  # which may hold nothing else


@given(PREFIX)
def test_nobody_is_called(text: str) -> None:
    for marked in (rendered(text), plain(text)):
        if not marked.blank:
            assert find_pings(show(marked.text, judged(marked))) == ()


@given(DOCUMENT, st.floats(0, 1))
def test_every_word_is_shown_in_its_order(markdown: str, share: float) -> None:
    text = at_any_place(markdown, share)
    shown = WORD.findall(rendered(text).text)
    source = WORD.findall(text)
    missing = [word for word in source if word not in set(shown)]
    allowed = set[str]()
    for token in JUDGE.parse(text):
        if token.type == "fence":  # of an info string the first word is the language, and the rest is not shown
            allowed |= set(WORD.findall(token.info))
        for child in token.children or ():
            allowed |= set(WORD.findall(str(child.attrs.get("href", child.attrs.get("src", "")))))
    assert set(missing) <= allowed
    again = [word for word in shown if word in set(source)]
    assert [word for word in source if word in set(again)] == again or len(set(source)) < len(source)


@given(DOCUMENT)
def test_code_is_shown_byte_for_byte(markdown: str) -> None:
    marked = rendered(markdown)
    if plain(markdown) == marked:
        return
    tokens = [token for token in JUDGE.parse(markdown) if token.type in ("fence", "code_block")]
    blocks = [token.content.removesuffix("\n") for token in tokens]
    at = 0
    for block in blocks:
        found = marked.text.find(block, at)
        assert found >= 0
        at = found + len(block)
    if len(marked.entities) < MOST:
        kept = [cut(marked.text, each.offset, each.end) for each in judged(marked) if each.type == "pre"]
        assert [block for block in blocks if block.strip()] == [code for code in kept if code in blocks]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")))
def test_plain_text_is_as_it_was_but_for_joiners(text: str) -> None:
    assert plain(text).text.replace(INERT, "") == text.replace(INERT, "")
    assert plain(text).entities == ()


@given(st.one_of(PREFIX, st.builds(repeated, ODD, st.integers(1, 120))))
def test_what_fits_is_short_enough(text: str) -> None:
    marked = rendered(text)
    assert fits(text) <= (marked.length <= LIMIT)
    if len(text) <= 4_000:
        assert fits(text) is (marked.length <= LIMIT and not marked.blank)


NASTY = ("*a ", "**a", "[", "![", "[a](", "[a](b", "> ", "- ", "`a", "``a`", "|a", "|a|b\n|-|-\n", "_*", "<a", "@a ")


@pytest.mark.parametrize("unit", NASTY)
def test_no_text_takes_more_than_its_share_of_time(unit: str) -> None:
    """Of the text's length, that is: twice as long takes less than three times as long, and some."""

    def cost(length: int) -> float:
        texts = [(unit * length)[:length] + str(number) for number in range(3)]
        taken = list[float]()
        for text in texts:
            begun = time.process_time()
            rendered(text)
            taken.append(time.process_time() - begun)
        return min(taken)

    cost(500)
    assert cost(4_000) < 12 * cost(1_000) + 0.05


# What is heard.

WORDS = st.sampled_from(["hello", "@helm_bot hi", "/stop", "/new x", "/ask y", "😀 @helm_bot", "", "\ud83d", "\0"])
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), WORDS, st.text(max_size=5))
INSIDE = ["id", "type", "user", "offset", "length", "is_bot"]
FIELDS = [
    *("message_id", "date", "from", "chat", "text", "entities", "caption", "caption_entities", "photo", "document"),
    *("reply_to_message", "quote", "external_reply", "forward_origin", "sender_chat", "media_group_id", "poll"),
    *("message_thread_id", "is_topic_message", "migrate_to_chat_id", *INSIDE),
]
JSON = st.recursive(
    VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)),
    max_leaves=12,
)
MESSAGES = st.sampled_from(
    [direct(), direct("/stop"), group(), group("hi"), group("/ask@helm_bot why"), topic(), photo(1, media_group_id="g")]
)


def changed(message: dict[str, Any], changes: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    return {key: value for key, value in (message | changes).items() if key not in lost}


NEARLY = st.builds(
    changed,
    MESSAGES,
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
    st.sets(st.sampled_from(FIELDS), max_size=2),
)
KINDS = st.sampled_from(["message", "edited_message", "callback_query", "my_chat_member", "channel_post"])
QUERIES = st.builds(
    changed,
    st.builds(press, MESSAGES, WORDS),
    st.dictionaries(st.sampled_from(["id", "from", "data", "message"]), st.one_of(JSON, NEARLY), max_size=2),
    st.sets(st.sampled_from(["id", "from", "data", "message"]), max_size=1),
)
UPDATES = st.one_of(
    st.builds(update, st.one_of(JSON, NEARLY), st.one_of(st.integers(), JSON), KINDS),
    st.builds(update, QUERIES, st.integers(), st.just("callback_query")),
)


@given(st.lists(UPDATES, min_size=1, max_size=3))
def test_whatever_arrives_is_an_inbound_that_can_be_stored(updates: list[dict[str, Any]]) -> None:
    inbounds = decode(updates, ME)
    assert len(inbounds) == len(updates)
    for inbound in (*inbounds, edited(updates[0], [mapping(each.get("message")) for each in updates], ME)):
        assert from_json(to_json(inbound)) == inbound
        assert inbound.event_id.startswith("telegram:7:")


@given(NEARLY)
def test_only_people_who_address_us_are_answered(message: dict[str, Any]) -> None:
    (inbound,) = decode([update(message)], ME)
    if isinstance(inbound, MessageReceived | CommandReceived):
        assert inbound.user != str(ME.id)
        assert not mapping(message["from"]).get("is_bot")
        assert inbound.direct is (mapping(message["chat"])["type"] == "private")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.text("😀a \n\t", max_size=4))
def test_our_mention_is_found_wherever_it_stands(said: str, before: str) -> None:
    text = f"{before} @helm_bot {said}".replace("/", "")
    marks = [entity("mention", text, "@helm_bot")]
    (inbound,) = decode([update(group(text, entities=marks))], ME)
    assert isinstance(inbound, MessageReceived)
    assert inbound.text.split() == (before + " " + said.replace("/", "")).split() or "@helm_bot" in said + before


@given(st.one_of(MESSAGES, NEARLY))
def test_an_edit_never_becomes_a_command(message: dict[str, Any]) -> None:
    (inbound,) = decode([update(message, 1, "edited_message")], ME)
    assert not isinstance(inbound, CommandReceived)
    (first,) = decode([update(message)], ME)
    if isinstance(first, MessageReceived):
        assert isinstance(inbound, MessageEdited)
        assert inbound.message == first


# What belongs together.

SENDERS = [{"id": 101, "is_bot": False}, {"id": 102, "is_bot": False}]


@st.composite
def row(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Updates as they come one after another: three places, two people, pastes, albums, and whatever between them."""
    messages = list[dict[str, Any]]()
    date = 1_000
    for number in range(draw(st.integers(1, 14))):
        make = draw(st.sampled_from([direct, group, topic]))
        kind = draw(st.sampled_from(["short", "full", "full", "album a", "album b"]))
        date += draw(st.integers(0, GAP + 1))
        common = {"message_id": 10 + number, "date": date, "from": draw(st.sampled_from(SENDERS))}
        if kind.startswith("album"):
            messages.append(make("x") | {"media_group_id": kind, "photo": [{"file_id": f"p{number}"}]} | common)
        else:
            messages.append(make(f"{number} " + "a" * (4_000 if kind == "full" else 3)) | common)
    return [update(message, 100 + number) for number, message in enumerate(messages)]


def grouped(updates: list[dict[str, Any]], pauses: list[float], times: list[int]) -> list[list[int]]:
    """How they are put together where they arrive with these pauses, some of them several times."""
    merge, now, found = Merge(), 0.0, list[list[int]]()

    def take() -> None:
        for each in merge.take(now):
            merge.done(each)
            found.append([int(str(part["update_id"])) for part in each.updates])

    for number, each in enumerate(updates):
        for again in updates[max(0, number - times[number % len(times)]) : number]:
            merge.feed(again, now)
        merge.feed(each, now)
        take()
        now += pauses[number % len(pauses)]
        take()
    now += LONGEST + HOLD
    take()
    assert merge.due() is None
    assert merge.offset == max(int(str(each["update_id"])) for each in updates) + 1
    return found


PAUSES = st.lists(st.floats(0, HOLD / 20), min_size=1, max_size=5)
TIMES = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@given(row(), PAUSES, TIMES)
def test_what_belongs_together_does_not_depend_on_how_it_arrives(
    updates: list[dict[str, Any]], pauses: list[float], times: list[int]
) -> None:
    assert sorted(grouped(updates, pauses, times)) == sorted(grouped(updates, [0.0], [0]))


@given(row(), st.lists(st.floats(0, 3 * HOLD), min_size=1, max_size=5), TIMES)
def test_each_update_is_kept_once_and_each_place_keeps_its_order(
    updates: list[dict[str, Any]], pauses: list[float], times: list[int]
) -> None:
    found = grouped(updates, pauses, times)
    assert sorted(identifier for each in found for identifier in each) == [each["update_id"] for each in updates]
    places: dict[str, list[int]] = {}
    for each in found:
        message: Json = updates[each[0] - 100]["message"]
        assert len({repr(updates[one - 100]["message"]["from"]) for one in each}) == 1
        places.setdefault(f"{mapping(message['chat'])['id']}/{message.get('message_thread_id')}", []).append(each[0])
    assert all(firsts == sorted(firsts) for firsts in places.values())


@given(row(), st.integers(1, 14), st.integers(0, 14))
def test_a_crash_loses_nothing(updates: list[dict[str, Any]], seen: int, stored: int) -> None:
    """What is not confirmed comes again to the next process, which puts it together as the first would have."""
    merge = Merge()
    for each in updates[:seen]:
        merge.feed(each, 0.0)
    kept = list[int]()
    for each in merge.take(0.0)[:stored]:
        merge.done(each)
        kept += [int(str(part["update_id"])) for part in each.updates]
    offset = merge.offset or 0
    again = [each for each in updates if each["update_id"] >= offset]
    assert {each["update_id"] for each in updates} - {each["update_id"] for each in again} <= set(kept)
    whole = grouped(updates, [0.0], [0])
    if again:
        for each in grouped(again, [0.0], [0]):
            assert any(each == one or set(each) < set(one) for one in whole)
