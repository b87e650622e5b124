"""The laws of the Discord adapter's pure parts."""

import random
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.discord.decode import decode
from adapters.discord.directory import Directory
from adapters.discord.escape import plain
from adapters.discord.markup import LIMIT, content, fits
from adapters.discord.outcome import Answer, outcome
from adapters.discord.render import render
from gateway.address import Address
from gateway.inbound import CommandReceived, MessageDeleted, MessageEdited, MessageReceived, Ticket, from_json, to_json
from gateway.operation import DeleteMessage, EditMessage, MarkWaiting, PostMessage, RateLimited
from gateway.payload import mapping
from tests.properties.markdown import WORD, Document, model_document, nasty_document
from tests.unit.adapters.discord.payload import ME, direct, interaction, mention, message, places, press

CHANNEL = Address(platform="discord", account="900", channel="10")

VALUES = st.sampled_from(["901", "900", "10", "11", "1", "", "<@901>", "!stop", "ask", "\ud800", "\0", "@600"])
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), VALUES),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.text(), VALUES), inner, max_size=3)
    ),
    max_leaves=12,
)
FIELDS = [
    *(
        "id",
        "type",
        "author",
        "content",
        "mentions",
        "mention_roles",
        "guild_id",
        "channel_id",
        "webhook_id",
        "channel",
    ),
    *("attachments", "referenced_message", "edited_timestamp", "data", "token", "member", "user", "app_permissions"),
    *("authorizing_integration_owners", "context", "message_reference", "sticker_items", "application_id"),
]


def changed(fields: dict[str, Any], changes: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    return {key: value for key, value in (fields | changes).items() if key not in lost}


NEARLY = st.builds(
    changed,
    st.sampled_from(
        [
            message(),
            mention(),
            direct(),
            mention(edited_timestamp="2026"),
            interaction(),
            interaction("stop", None),
            press(),
        ]
    ),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
    st.sets(st.sampled_from(FIELDS), max_size=2),
)
EVENTS = st.sampled_from(["MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "INTERACTION_CREATE", "READY"])
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
PLACES = places()


@given(st.one_of(EVENTS, st.text()), st.one_of(JSON, NEARLY))
def test_whatever_arrives_is_an_inbound_that_can_be_stored(event: str, data: object) -> None:
    inbound = decode(event, data, ME, PLACES)
    assert from_json(to_json(inbound)) == inbound
    assert inbound == decode(event, data, ME, PLACES)
    assert inbound.event_id.startswith("discord:900:")


@given(EVENTS, NEARLY)
def test_only_people_who_address_us_are_answered(event: str, data: dict[str, Any]) -> None:
    inbound = decode(event, data, ME, PLACES)
    if isinstance(inbound, MessageEdited):
        inbound = inbound.message
    if isinstance(inbound, MessageReceived | CommandReceived):
        assert re.fullmatch("[0-9]+", inbound.user)
        assert inbound.user != ME.user or inbound.ticket is not None
        assert inbound.own_id == (inbound.ticket.opening if inbound.ticket else data["id"])
        assert not data.get("webhook_id") or inbound.ticket is not None
        assert inbound.direct is (inbound.space is None) or inbound.ticket is not None
    if isinstance(inbound, MessageDeleted):
        assert inbound.message_id.startswith("discord:900:")


@given(st.lists(st.tuples(st.one_of(EVENTS, st.sampled_from(["GUILD_CREATE", "THREAD_LIST_SYNC"])), JSON), max_size=5))
def test_a_directory_reads_whatever_comes(dispatches: list[tuple[str, object]]) -> None:
    known = Directory("901")
    for event, data in dispatches:
        known.feed(event, data)


@given(STORABLE)
def test_what_a_person_types_is_what_is_heard(typed: str) -> None:
    inbound = decode("MESSAGE_CREATE", direct(content=f"{typed} ..."), ME, PLACES)
    assert isinstance(inbound, MessageReceived)
    assert inbound.text == f"{typed} ...".strip()


# What is shown.


def written(rnd: random.Random) -> Document:
    """A document of a few messages at most."""
    return next(
        document
        for document in iter(lambda: rnd.choice((model_document, nasty_document))(rnd), None)
        if len(document.text) <= 6_000
    )


DOCUMENTS = st.builds(written, st.randoms(use_true_random=False))
SCRAPS = st.sampled_from(
    [
        *(
            "||",
            "__",
            "**",
            "*",
            "_",
            "~~",
            "`",
            "```",
            "\n",
            "\n\n",
            " ",
            "a",
            "b_c",
            "-# ",
            ">>> ",
            "> ",
            "# ",
            "#### ",
        ),
        *("---\n", "- ", "1. ", "+ ", "[ ] ", "[x](https://y)", "![x](https://y)", "<@1>", "<t:1>", "|", "|-|-|\n"),
        *("\\", "&amp;", "    ", "@everyone", "https://x.y/a_b", "<b>", "会议", "👍🏽", "~~~\n"),
    ]
)
TEXT = st.lists(st.one_of(SCRAPS, st.text(max_size=3)), max_size=30).map("".join)

_FENCE = re.compile(r"^(?:> )?```[^\n`]*\n.*?\n(?:> )?```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<![\\`])(`{1,2}|`{4,})(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_MASKED = re.compile(r"\]\(<?https?://[^\s()]*>?\)")
_LINKED = re.compile(r"https?://[^\s<]+[^\s<.,:;\"')\]]")


def prose(shown: str, *, markup: bool = True) -> str:
    """What of it is neither code, nor an address, nor behind a backslash."""
    rest = _MASKED.sub(".", _SPAN.sub(".", _FENCE.sub(".", shown))) if markup else shown
    return re.sub(r"\\[^0-9A-Za-z\s]", ".", _LINKED.sub(".", rest))


@given(DOCUMENTS)
def test_no_word_is_lost_or_doubled_and_their_order_stays(document: Document) -> None:
    def words(text: str) -> list[str]:
        return WORD.findall(text)

    assert words(content(document.text)) == words(document.text)


@given(TEXT)
def test_nothing_that_markdown_shows_is_lost(text: str) -> None:
    """Letters and digits, but for those of an entity's name and of a fence's language."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    seen = "".join(
        child.content
        for token in parser.parse(text)
        for child in (token.children if token.type == "inline" and token.children else [token])
        if child.type in ("text", "code_inline", "fence", "code_block")
    )
    shown = iter(content(text))
    assert all(letter in shown for letter in seen if letter.isalnum())


@given(TEXT)
def test_nothing_is_rendered_that_markdown_did_not_mean(text: str) -> None:
    rest = prose(content(text))
    assert rest.count("||") < 2
    assert rest.count("__") < 2
    assert not re.search(r"^ *-# ", rest, re.MULTILINE)
    assert not re.search(r"^ *>>> ", rest, re.MULTILINE)
    if content(text) != plain(text).strip():  # else there is nothing to be seen, and it is shown as it stands
        assert not re.search(r"^ *#{4,} ", rest, re.MULTILINE)
    assert not re.search(r"<(?:@[!&]?|#|t:)\d", rest)


@given(DOCUMENTS)
def test_code_is_the_same_to_the_byte(document: Document) -> None:
    shown = content(document.text).replace("\N{WORD JOINER}", "") + "\n"
    for token in MarkdownIt("commonmark", {"html": False}).enable("table").parse(document.text):
        if token.type == "fence" and token.content.strip("\n") and "\N{WORD JOINER}" not in token.content:
            quoted = "".join(f"> {line}\n" for line in token.content.removesuffix("\n").split("\n"))
            assert token.content in shown or quoted in shown


@given(TEXT)
def test_fitting_is_as_long_as_what_is_sent(text: str) -> None:
    assert fits(text) is (len(content(text)) <= LIMIT)


@given(st.sampled_from(["word ", "**b** ", "a|", "|| ", "- x\n", "会"]), st.integers(300, 1200))
def test_fitting_is_as_long_as_what_is_sent_near_the_limit(unit: str, times: int) -> None:
    assert fits(unit * times) is (len(content(unit * times)) <= LIMIT)


@given(TEXT)
def test_plain_text_only_gains_backslashes(text: str) -> None:
    shown = plain(text)
    gained = shown.replace(" \\<", "\\<")  # and a blank between an address and what is none
    unmarked = re.compile(r"\\(?=[\\`|~*_<\[#>+-])")
    assert unmarked.sub("", gained) == unmarked.sub("", text.replace(" <", "<"))
    assert not set("*`|~") & set(prose(shown, markup=False))


@given(TEXT, st.booleans(), st.sampled_from([None, True, False]), st.sampled_from([None, "5", "@600"]))
def test_every_message_wakes_nobody_and_shows_no_preview(
    text: str, markup: bool, guest: bool | None, name: str | None
) -> None:
    ticket = None if guest is None else Ticket(secret="s", lifetime=900, opening="@600", guest=guest)
    operation = (
        PostMessage(address=CHANNEL, text=text, markup=markup, ticket=ticket, nonce="n")
        if name is None
        else EditMessage(address=CHANNEL, message_id=name, text=text, markup=markup, ticket=ticket)
    )
    call = render(operation)
    assert (call is None) is (ticket is None and name == "@600")
    if call is not None:
        body = mapping(call.body)
        assert (body["allowed_mentions"], body["flags"]) == ({"parse": []}, 4)
        assert call.fits is (len(call.text or "") <= LIMIT)
        assert call == render(operation)


# What comes back.


@given(
    st.integers(400, 599),
    st.one_of(JSON, st.fixed_dictionaries({"code": st.integers(0, 200_000), "errors": JSON, "retry_after": JSON})),
    st.dictionaries(st.sampled_from(["retry-after", "x-ratelimit-scope", "x-ratelimit-limit"]), st.text(max_size=5)),
    st.sampled_from(
        [
            PostMessage(address=CHANNEL, text="a"),
            EditMessage(address=CHANNEL, message_id="5", text="a"),
            DeleteMessage(address=CHANNEL, message_id="5"),
            MarkWaiting(address=CHANNEL, message_id="5"),
        ]
    ),
)
def test_whatever_comes_back_has_an_outcome(
    status: int, body: object, headers: dict[str, str], operation: PostMessage | EditMessage | DeleteMessage
) -> None:
    result = outcome(Answer(status=status, body=body, headers=headers), operation)
    if isinstance(result, RateLimited):
        assert status == 429
        assert result.retry_after >= 0


def test_model_documents_are_mostly_passed_through() -> None:
    rnd = random.Random(7)
    documents = [model_document(rnd).text for _ in range(200)]
    backslashes = [text for text in documents if content(text).count("\\") > text.count("\\")]
    assert len(backslashes) < 40
