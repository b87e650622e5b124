import time

import pytest

from adapters.discord.escape import plain
from adapters.discord.markup import LIMIT, RULE, content, fits
from gateway.width import width


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, 5 * 3 * 2, snake_case_name, a * b and one_",
        "**bold**, *soft*, ***both***, ~~gone~~ and `code` ``with ` one``",
        "# One\n\n## Two\n\n### Three",
        "- a\n- b\n  - c\n\n1. one\n2. two",
        "> quoted\n> twice",
        "```python\nif a < b:\n    print('||')\n```",
        "[label](https://example.org/a_b) and <https://example.org> and https://example.org/x_y_z*a*b",
        "One line\nand another",
        "a || b",
        "It costs $5 & that is <b>all</b>.",
        r"\*not soft\* and C:\Users\x",
    ],
)
def test_what_both_write_alike_is_passed_through(text: str) -> None:
    assert content(text) == text


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("__bold__ and _soft_", "**bold** and _soft_"),
        ("**a __b__ c**", "**a b c**"),
        ("#### Four\n\n###### Six", "### Four\n\n### Six"),
        ("Title\n=====\n\nLesser\n---", "# Title\n\n## Lesser"),
        ("- # Point", "- **Point**"),
        ("a\n\n---\n\nb", f"a\n\n{RULE}\n\nb"),
        ("- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"),
        ("+ plus\n\n1) one", "- plus\n\n1. one"),
        ("![a chart](https://x/y.png)", "[a chart](https://x/y.png)"),
        ("![](https://x/y.png)", "https://x/y.png"),
        ("&lt;b&gt; &amp; &#42;x&#42;", r"<b> & \*x\*"),
        ('[a](<https://x/a b> "title")', '[a](<https://x/a b> "title")'),
        ("[a](https://x/(b))", "[a](<https://x/(b)>)"),
    ],
    ids=str,
)
def test_what_discord_lacks_is_shown_by_what_it_has(markdown: str, shown: str) -> None:
    assert content(markdown) == shown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a || b || c", r"a \|\| b \|\| c"),
        ("foo__bar__baz", r"foo\_\_bar\_\_baz"),
        ("2 ** 3 ** 4", r"2 \*\* 3 \*\* 4"),
        ("a ~~ b ~~", r"a \~\~ b \~\~"),
        ("a ` b\n\nc ` d", "a \\` b\n\nc \\` d"),
        ("-# small", r"\-# small"),
        ("text\n    # no heading\n    > no quote", "text\n\\# no heading\n\\> no quote"),
        ("<@690000000000000001> said so", "<@690000000000000001> said so"),
        ("<@123> <@!1> <@&4> <#5> <t:1:R> <:e:6> <a:e:7> </ask:8>", None),
        ("é_a_é and _ b _", r"é\_a\_é and \_ b \_"),
    ],
    ids=str,
)
def test_nothing_is_markup_that_markdown_did_not_mean(markdown: str, shown: str | None) -> None:
    expected = markdown.replace("<", "\\<") if shown is None else shown
    assert content(markdown) == expected


def test_quotes_have_one_level_and_every_line_says_so() -> None:
    assert content(">>> deep\nlazy\n\n> > two\n>\n> one") == "> deep\n> lazy\n\n> two\n> \n> one"
    assert content(">no blank") == "> no blank"


def test_code_is_the_same_to_the_byte_wherever_it_stands() -> None:
    code = "if a:\n\tx = '**' + \"__\"  # |||\n\n  y"
    indented = code.replace("\n", "\n  ")
    for markdown in (f"```py\n{code}\n```", f"~~~py title=x\n{code}\n~~~", f"- item\n\n  ```py\n  {indented}\n  ```"):
        assert f"```py\n{code}\n```" in content(markdown)
    assert content("    indented\n      code") == "```\nindented\n  code\n```"


def test_backticks_inside_of_code_do_not_end_it() -> None:
    shown = content("````\n```py\nx\n```\n````")
    assert shown.count("```") == 2
    assert shown.replace("\N{WORD JOINER}", "") == "```\n```py\nx\n```\n```"


def test_a_language_that_is_none_is_left_out_and_a_block_of_nothing_is_one() -> None:
    assert content("```c++ {1,2}\nx\n```") == "```c++\nx\n```"
    assert content("```what is: this?\nx\n```").startswith("```what\n")
    assert content("```{.py}\nx\n```") == "```\nx\n```"
    assert content("a\n```\n```") == "a\n```\n \n```"


def test_a_table_is_code_with_columns_of_equal_width() -> None:
    table = "| a | 会议 | c |\n|---|:-:|---|\n| 1 | b `x` | [d](https://e) |\n| 👍🏽 | é\u0301 | 👩‍👩‍👧 |"
    *lines, end = content(table).split("\n")
    assert (lines[0], end) == ("```", "```")
    assert {width(line.replace("┼", "│").split("│")[0]) for line in lines[1:]} == {3}
    assert lines[3].endswith("d (https://e)")


def test_the_columns_of_a_table_line_up_below_a_rule_as_wide_as_they_are() -> None:
    table = "| You have | Read it by |\n|---|---|\n| JSON | a streaming parser such as `ijson` |\n| logs | line |\n"
    _, head, rule, *rows, _ = content(table.replace("|\n", "| x |\n").replace("--| x", "--|---")).split("\n")
    assert {line.replace("┼", "│").rindex("│") for line in (head, rule, *rows)} == {44}
    assert len(rule) == len(head)


@pytest.mark.parametrize(
    ("text", "cells"),
    [("abc", 3), ("会议", 4), ("e\u0301", 1), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪🇫🇷", 4), ("❤️", 2), ("1️⃣", 2), ("", 0)],
)
def test_width_is_counted_in_cells_of_a_terminal(text: str, cells: int) -> None:
    assert width(text) == cells


def test_definitions_of_links_are_not_swallowed() -> None:
    assert content("see [a][1]\n\n[1]: https://x/y_z") == "see [a](https://x/y_z)\n\n[1]: https://x/y_z"
    assert content("see [a][1]") == "see [a][1]"
    assert content("[1]: https://x/y_z") == "[1]: https://x/y_z"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**a** _b_ `c` ||d||", r"\*\*a\*\* \_b\_ \`c\` \|\|d\|\|"),
        ("# a\n- b\n> c\n-# d", "\\# a\n\\- b\n\\> c\n\\-# d"),
        ("[a](https://x/y_z)", r"\[a](https://x/y_z)"),
        ("1. a\\b <@1>", r"1. a\\b \<@1>"),
    ],
)
def test_plain_text_shows_as_it_stands(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_what_fits_is_what_fits_after_rendering() -> None:
    assert fits("x" * LIMIT)
    assert not fits("x" * (LIMIT + 1))
    assert fits("word " * 399)
    assert not fits("a||b" * 499)
    row = "|" + "|".join(["x" * 29, "y", "z"]) + "|\n"
    table = f"{row}|-|-|-|\n" + "|a|b|c|\n" * 60
    assert len(table) < LIMIT
    assert not fits(table)


NASTY = [
    "[", "![](", "![", "*a ", "_a", "` a", "> ", "- ", "|a", "<a", "&amp;", "**a*", "[a](b)", "~~a", "# a\n", "\n",
    "|a|b|\n|-|-|\n", "- a\n", "> a\n", "```\n", "a\n", "a**_", "[a]((", "[a](<", "   - a\n", " ", "\t", "*_",
    "# a\n[a]1. a\n> - ", "__```a https://a![", "a**_**a*[---\n", "> a\n[<ahttps://a", "\\][ https://a",
    "*_![](![[a](b)",
]  # fmt: skip
TABLES = ["|a" * 300 + "\n" + "|-" * 300 + "\n" + "|a\n" * 800, "|a" * 100 + "\n" + "|-" * 100 + "\n" + "|\n" * 1700]
DEEP = [">" * 4000, ">" * 19 + "a\n" * 1900, "- " * 19 + "a\n" * 1900, "\n".join("  " * i + "- a" for i in range(60))]


LONG = [*((unit * 4000)[:4000] for unit in NASTY), *TABLES, *DEEP]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_no_text_takes_long(text: str) -> None:
    """A tenth of a second at most, with a busy machine in mind; alone it is a third of that (README)."""
    content(text)
    spent: list[float] = []
    for _ in range(3):
        begun = time.process_time()
        content(text)
        spent.append(time.process_time() - begun)
    assert min(spent) < 0.1


def test_a_backslash_does_not_become_part_of_an_address() -> None:
    assert content("https://x.y/a<@1>") == r"https://x.y/a \<@1>"
    assert plain("https://x.y/a<b>") == r"https://x.y/a \<b>"
