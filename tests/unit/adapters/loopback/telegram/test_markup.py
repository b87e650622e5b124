"""HTML and the two Markdowns."""

import pytest

from adapters.loopback.telegram import hypertext, markdown
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import Entity


def plain(parsed: tuple[str, list[Entity]]) -> tuple[str, list[tuple[str, int, int]]]:
    text, entities = parsed
    return text, sorted((each.type, each.offset, each.length) for each in entities)


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("<b>a</b>&lt;&#33;&amp;amp;", "a<!&amp;", [("bold", 0, 1)]),
        ("\U0001f600<i><u>a</u></i>", "\U0001f600a", [("italic", 2, 1), ("underline", 2, 1)]),
        ('<pre><code class="language-py">a</code></pre>', "a", [("code", 0, 1), ("pre", 0, 1)]),
        ("<blockquote expandable>a</blockquote>", "a", [("expandable_blockquote", 0, 1)]),
        ('<span class="tg-spoiler">a</span><tg-spoiler>b</tg-spoiler>', "ab", [("spoiler", 0, 1), ("spoiler", 1, 1)]),
        ("<a>a</a>", "a", []),
    ],
)
def test_html_is_split_from_its_text(source: str, text: str, entities: list[tuple[str, int, int]]) -> None:
    assert plain(hypertext.parse(source)) == (text, entities)


def test_a_link_keeps_its_address() -> None:
    _, (link,) = hypertext.parse('<a href="https://a.com/?b&amp;c">a</a>')
    assert link.url == "https://a.com/?b&c"
    _, (link,) = markdown.parse(r"[a](https://a.com/\))")
    assert link.url == "https://a.com/)"
    _, (link,) = markdown.parse_old("[a](https://a.com)")
    assert link.url == "https://a.com"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("é<script>", 'Unsupported start tag "script" at byte offset 2'),
        ("<span>a</span>", 'Unsupported start tag "span" at byte offset 0'),
        ("a < b", 'Unsupported start tag "" at byte offset 2'),
        ("<b><i>test</b></i>", 'Unmatched end tag at byte offset 10, expected "</i>", found "</b>"'),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
    ],
)
def test_html_that_does_not_parse_is_refused(source: str, said: str) -> None:
    with pytest.raises(RefusedError) as raised:
        hypertext.parse(source)
    assert str(raised.value) == f"Bad Request: can't parse entities: {said}"


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        (r"*a* _b_ __c__ ~d~ ||e|| \.", "a b c d e .", None),
        ("*a _b_*", "a b", [("bold", 0, 3), ("italic", 2, 1)]),
        ("`a*b\\``", "a*b`", [("code", 0, 4)]),
        ("```a\nb```", "a\nb", [("pre", 0, 3)]),
        (">a\n>b\nc", "a\nb\nc", [("blockquote", 0, 3)]),
        (">a", "a", [("blockquote", 0, 1)]),
    ],
)
def test_markdown_v2_is_split_from_its_text(
    source: str, text: str, entities: list[tuple[str, int, int]] | None
) -> None:
    found = plain(markdown.parse(source))
    assert found[0] == text
    assert entities is None or found[1] == entities


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("é*a", "Can't find end of Bold entity at byte offset 2"),
        ("`a", "Can't find end of Code entity at byte offset 0"),
        ("[a", "Can't find end of TextUrl entity at byte offset 0"),
        ("a-b", "Character '-' is reserved and must be escaped with the preceding '\\'"),
    ],
)
def test_markdown_v2_that_does_not_parse_is_refused(source: str, said: str) -> None:
    with pytest.raises(RefusedError) as raised:
        markdown.parse(source)
    assert str(raised.value) == f"Bad Request: can't parse entities: {said}"


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("*a* _b_ `c`", "a b c", [("bold", 0, 1), ("code", 4, 1), ("italic", 2, 1)]),
        ("```a*b``` \\*", "a*b *", [("pre", 0, 3)]),
        ("a-b. [c](https://d.com)", "a-b. c", [("text_link", 5, 1)]),
    ],
)
def test_the_older_markdown_is_split_from_its_text(
    source: str, text: str, entities: list[tuple[str, int, int]]
) -> None:
    assert plain(markdown.parse_old(source)) == (text, entities)


@pytest.mark.parametrize(("source", "offset"), [("é*a", 2), ("a_b", 1), ("[a", 0)])
def test_the_older_markdown_is_refused_where_it_is_left_open(source: str, offset: int) -> None:
    with pytest.raises(RefusedError, match=f"starting at byte offset {offset}"):
        markdown.parse_old(source)
