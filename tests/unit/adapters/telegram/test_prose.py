import pytest

from adapters.telegram.markup import INERT, MOST, Entity, Marked, plain
from adapters.telegram.prose import BULLET, LIMIT, RULE, fits, rendered
from gateway.width import width
from tests.cases import case


def cut(marked: Marked, entity: Entity) -> str:
    units = marked.text.encode("utf-16-le")
    return units[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le")


def looks(markdown: str) -> list[tuple[str, str]]:
    """The entities: what they are, and of what."""
    marked = rendered(markdown)
    return [(entity.type, cut(marked, entity)) for entity in marked.entities]


def test_r03_nothing_is_escaped_for_the_code_goes_beside_its_entity() -> None:
    """The case is about HTML, where three characters have to be escaped. We send entities, where none has."""
    marked = rendered(case("R03")["input"]["text"])
    assert marked.text == "#include <iostream>\nif (a < b && b > c) {}"
    assert [entity.json() for entity in marked.entities] == [
        {"type": "pre", "offset": 0, "length": 42, "language": "cpp"}
    ]


def test_r04_what_stands_in_a_fence_of_tildes_is_code() -> None:
    assert looks(case("R04")["input"]["text"]) == [("pre", "**not bold** [no link](x)")]


def test_r05_offsets_are_utf16_units() -> None:
    marked = rendered(case("R05")["input"]["text"])
    assert marked == Marked(text="😀 bold tail", entities=(Entity(type="bold", offset=3, length=4),))


def test_r06_what_is_not_paired_is_text() -> None:
    text = case("R06")["input"]["text"]
    assert rendered(text) == Marked(text=text)


def test_r07_a_fence_in_a_longer_one_is_code() -> None:
    marked = rendered(case("R07")["input"]["text"])
    (entity,) = marked.entities
    assert (entity.type, entity.language, cut(marked, entity)) == ("pre", "markdown", "# h1\n```python\nfoo = 1\n```")


def test_r16_the_length_is_that_of_what_is_sent() -> None:
    """Nothing grows by escaping here; what grows is a table, and what is sent of it is measured."""
    assert "'<' repeated 800 times" in case("R16")["input"]["text"]
    assert rendered("<" * 800) == Marked(text="<" * 800)
    table = f"|{'x' * 40}|{'y' * 40}|z|\n|-|-|-|\n" + "|a|b|c|\n" * 58
    assert len(table) < 600
    assert not fits(table)
    assert rendered(table).length > LIMIT


@pytest.mark.parametrize(
    ("markdown", "text", "expected"),
    [
        ("**a** *b* ~~c~~ `d`", "a b c d", [("bold", "a"), ("italic", "b"), ("strikethrough", "c"), ("code", "d")]),
        ("***a***", "a", [("bold", "a"), ("italic", "a")]),
        ("**a *b* c**", "a b c", [("bold", "a b c"), ("italic", "b")]),
        ("# A *b*\ntext", "A b\ntext", [("bold", "A b"), ("italic", "b")]),
        ("# A **b**", "A b", [("bold", "A b")]),
        ("**a `b` c**", "a b c", [("bold", "a "), ("code", "b"), ("bold", " c")]),
        ("[**a** `b`](https://x.org/y)", "a b", [("text_link", "a b"), ("bold", "a")]),
        ("<https://x.org/y>", "https://x.org/y", [("text_link", "https://x.org/y")]),
        ("![alt](https://x.org/a.png)", "alt", [("text_link", "alt")]),
        ("![](https://x.org/a.png)", "https://x.org/a.png", [("text_link", "https://x.org/a.png")]),
        ("[a](./b.md)", "a (./b.md)", []),
        ("[a](http://localhost/x)", "a (http://localhost/x)", []),
        ("[b@x.org](mailto:b@x.org)", "b@x.org", []),
        ("[a](javascript:x)", "[a](javascript:x)", []),
        ("> a\n> > b\n\nc", "a\nb\n\nc", [("blockquote", "a\nb")]),
        ("> **a**\n>\n> ```\n> b\n> ```", "a\n\nb", [("blockquote", "a\n\nb"), ("bold", "a"), ("pre", "b")]),
        ("a\n\n---\nb", f"a\n\n{RULE}\nb", []),
        ("a  \nb\nc\n\n\n\nd", "a\nb\nc\n\nd", []),
        ("<b>a</b> &amp; \\*b\\*", "<b>a</b> & *b*", []),
        ("[a]: https://x.org\n\n[a] b", "[a]: https://x.org\n\n[a] b", []),
        ("    code\n     x", "code\n x", [("pre", "code\n x")]),
        ("```\n\n```\na", "\na", []),
        ("```", "```", []),
    ],
)
def test_markdown_is_text_with_entities(markdown: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert rendered(markdown).text == text
    assert looks(markdown) == expected


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("- a\n- b", "• a\n• b"),
        ("* a\n\n* b", "• a\n\n• b"),
        ("a:\n- b\n  - c\n    d\n- e", "a:\n• b\n  • c\n    d\n• e"),
        ("3. a\n4. b\n   - c", "3. a\n4. b\n   • c"),
        ("1) a", "1) a"),
        ("- [ ] a\n- [x] **b**\n- [X] c\n- [y] d", "☐ a\n☑ b\n☑ c\n• [y] d"),
        ("- a\n\n  b\n\n  c", "• a\n\n  b\n\n  c"),
        ("- a\n  ```\n  b\n  ```\n- c", "• a\nb\n• c"),
        ("- ```\n  b\n  ```", "• \nb"),
        ("-\n- a", "•\n• a"),
        ("- - - a", "• • • a"),
        ("- # a\n- > b", "• a\n• b"),
    ],
)
def test_a_list_is_bullets_and_numbers(markdown: str, text: str) -> None:
    assert rendered(markdown).text == text


def test_a_table_is_columns_of_code() -> None:
    markdown = "| Name | Qty | `x` |\n|:-|-:|:-:|\n| 会议 | 1 | **b** |\n| 👩‍👩‍👧 | 22 | [l](https://x.org) |"
    lines = [
        "Name | Qty |         x",
        "-----+-----+------------------",
        "会议 |   1 |         b",
        "👩‍👩‍👧   |  22 | l (https://x.org)",
    ]
    assert looks(markdown) == [("pre", "\n".join(lines))]


def test_a_row_with_more_cells_than_the_head_loses_none() -> None:
    assert rendered("> | a |\n> |-|\n> | b | c \\| d | e").text == "a |       |\n--+-------+--\nb | c | d | e"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", 3),
        ("会议", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("👩‍👩‍👧‍👦", 2),
        ("🇩🇪", 2),
        ("❤️", 2),
        ("1️⃣", 2),
        ("👍🏽", 2),
        ("a\u200bb", 2),
        ("עברית", 5),
    ],
)
def test_width_is_what_a_font_takes(text: str, expected: int) -> None:
    assert width(text) == expected


# Nobody is called.


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("ask @bob", f"ask @{INERT}bob"),
        ("@**bob**", f"@{INERT}bob"),
        ("*@*.bob", "@.bob"),
        ("é@bob", f"é@{INERT}bob"),
        ("(@bob_k)", f"(@{INERT}bob_k)"),
        ("@\u2028bob", f"@{INERT}\u2028bob"),
        ("`@`bob", f"@{INERT}bob"),
        ("[@bob](https://x.org)", f"@{INERT}bob"),
        ("`@bob`", "@bob"),
        ("```\n@bob\n```", "@bob"),
        ("ada@x.org", "ada@x.org"),
        ("@ bob", "@ bob"),
        ("[bob](tg://user?id=101)", "bob"),
        ("[bob](TG:user?id=101)", "bob"),
    ],
)
def test_nobody_is_called(markdown: str, text: str) -> None:
    marked = rendered(markdown)
    assert marked.text == text
    assert not any((entity.url or "").lower().startswith("tg:") for entity in marked.entities)


def test_plain_text_calls_nobody_either() -> None:
    assert plain("**@bob** `@bob`").text == f"**@{INERT}bob** `@{INERT}bob`"


def test_beyond_so_many_entities_the_rest_is_plain_but_code_blocks_are_not() -> None:
    marked = rendered(" ".join(["**a**"] * 120) + "\n```\n@x\n```" + "\n`@bob`" * 3)
    assert len(marked.entities) == MOST
    assert marked.entities[-1].type == "pre"
    assert marked.text.endswith("@x" + f"\n@{INERT}bob" * 3)


def test_no_entity_parts_a_character() -> None:
    assert looks("**a**\u0301b") == [("bold", "a\u0301")]
    assert looks("**🇩**🇪") == [("bold", "🇩🇪")]
    assert looks("👩\u200d**👩** c") == []


@pytest.mark.parametrize("text", ["> > ```#\ra[b](\tc\n" * 250, "![](é**](__![<a>" * 250])
def test_what_the_parser_ponders_on_is_shown_as_it_stands(text: str) -> None:
    assert rendered(text) == plain(text)


def test_a_message_full_of_items_is_still_a_list() -> None:
    assert rendered("- a\n" * 1_000).text == "\n".join([f"{BULLET} a"] * 1_000)


# What fits.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", True),
        ("", False),
        (" \n", False),
        ("a" * 4000, True),
        ("a" * 4001, False),
        ("🙂" * 2000, True),
        ("🙂" * 2001, False),
        ("**" + "a" * 4000 + "**", True),
        ("@a " * 1001, False),
        ("a" * 20_000, False),
        ("[x]: https://x.org", True),
    ],
    ids=lambda value: str(value)[:12] + str(len(str(value))),
)
def test_what_fits_is_what_it_is_once_it_is_rendered(text: str, expected: bool) -> None:
    assert fits(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "> " * 40 + "deep",
        "- " * 30 + "deep",
        "> - " * 12 + "deep\n\nand so on",
        "\n".join(" " * 2 * depth + "- deep" for depth in range(30)),
    ],
    ids=["quotes", "lists", "both", "indented"],
)
def test_what_nests_too_deep_is_shown_as_it_stands(text: str) -> None:
    assert rendered(text) == Marked(text=text)


def test_halves_of_pairs_are_replaced() -> None:
    assert rendered("a \ud83d b").text == "a � b"
    assert plain("a \ud83d b").text == "a � b"
