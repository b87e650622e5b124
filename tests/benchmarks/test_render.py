"""How long one bubble takes to be rendered, on each platform: as models write it, and as nobody should.

The aim is 10 ms for model text and 50 ms for any; the figures are printed. Asserted is the ratio to what the parser
alone takes for model text: of a machine where that is a millisecond, each aim holds by far.
"""

import random
import time
from collections.abc import Callable
from statistics import mean

import pytest
from markdown_it import MarkdownIt

from adapters.discord.markup import content
from adapters.slack.render import inert
from adapters.telegram.prose import rendered
from tests.properties.markdown import model_document

LENGTH = 4_000
"""Characters of a bubble; Discord takes 1,950."""

ORDINARY = [
    "\n\n".join(model_document(random.Random(seed * 100 + part)).text for part in range(40))[:LENGTH]
    for seed in range(8)
]

HOSTILE: dict[str, str] = {
    "*a ": "*a " * 2_000,
    "**a_ ": "**a_ " * 2_000,
    "*a**": "*a**" * 2_000,
    "***": "*" * LENGTH,
    "_a*b": "_a*b" * 2_000,
    "~~a ": "~~a " * 2_000,
    "[": "[" * LENGTH,
    "[a](": "[a](" * 1_000,
    "[a](b": "[a](b" * 1_000,
    "![": "![" * 2_000,
    "](": "[" * 1_300 + "](" * 1_300,
    "[a]: b": "[a]: b\n" * 700,
    "links": "[a](https://a.b/c) " * 300,
    "nested links": "[" * 90 + "a" + "](https://a.b)" * 90 + " " + "[x](y" * 500,
    "<": "<" * LENGTH,
    "<a ": "<a " * 1_500,
    "<http:": "<https://a" * 400,
    "`": "`" * LENGTH,
    "runs of `": " ".join("`" * (1 + n % 40) for n in range(250)),
    "`` `": "`` ` " * 900,
    "> deep": "> " * 2_000 + "a",
    "> deep, often": ("> " * 19 + "a\n") * 100,
    "> wide": "> a\n" * 1_000,
    "lists deep": "".join("  " * depth + "- a\n" for depth in range(62)),
    "lists in a line": "- " * 2_000,
    "1. in a line": "1. " * 1_300,
    "items": "- a\n" * 1_000,
    "empty items": "-\n" * 2_000,
    "lists and quotes": ("> - " * 6 + "a\n") * 160,
    "lists of code": "- ```\n  a\n  ```\n" * 260,
    "table": "|a|b|c|d|\n|-|-|-|-|\n" + "|1|2|3|4|\n" * 250,
    "table of 1,000 cells": "|a|b\n|-|-\n" + "|1|2\n" * 500,
    "wide table": "|" * 60 + "\n" + "|-" * 59 + "|\n" + "|a\n" * 1_200,
    "wider table": "|a" * 600 + "|\n" + "|-" * 600 + "|\n" + "|a\n" * 400,
    "tables": "|a|\n|-|\n|b|\n\n" * 280,
    "table of emphasis": "|a|b|\n|-|-|\n" + "|*a*|`b`|\n" * 380,
    "pipes": "|" * LENGTH,
    "&": "&" * LENGTH,
    "&amp;": "&amp;" * 800,
    "&a": "&a" * 2_000,
    "&#": "&#1" * 1_300,
    "\\": "\\" * LENGTH,
    "escapes": "\\*" * 2_000,
    "combining marks": "e" + "\u0301" * (LENGTH - 1),
    "words with marks": "e\u0301 " * 1_300,
    "joiners": "\u200d" * LENGTH,
    "families": "👩‍👩‍👧‍👦" * 570,
    "flags": "🇩🇪" * 2_000,
    "CJK": "会议改到周四下午三点。" * 360,
    "right to left": "שלום " * 800,
    "@": "@" * LENGTH,
    "@a ": "@a " * 1_300,
    "@a in code": "`@a` " * 800,
    "<@1>": "<@1> " * 800,
    "https": "https://a.b " * 330,
    "http:": "http:" * 800,
    "one address": "https://a.b/" + "a?b=(" * 790,
    "mail": "a@b.c " * 660,
    "one line": "word " * 800,
    "one word": "w" * LENGTH,
    "lines": "a\n" * 2_000,
    "blank lines": "\n" * LENGTH,
    "blanks": "a" + " " * (LENGTH - 2) + "b",
    "hard breaks": "a  \n" * 1_000,
    "carriage returns": "a\r" * 2_000,
    "NUL": "\0" * LENGTH,
    "headings": "# a\n" * 1_000,
    "setext": "a\n=\n" * 1_000,
    "underlines": "a\n" + "=\n" * 1_900,
    "rules": "---\n" * 1_000,
    "fences": "```\na\n```\n" * 400,
    "open fences": "```\n~~~\n" * 500,
    "fence of backticks": "~~~~\n" + "```\n" * 990 + "~~~~",
    "indented code": "    a\n" * 660,
    "tabs": "\t" * LENGTH,
    "tasks": "- [ ] a\n" * 500,
    "bold words": "**a** " * 660,
    "bold in bold": "**a " * 300 + "b** " * 300,
    "blanks before a table": " " * 2_000 + "  =|-~'" * 290,
    "tabs before a table": "\t" * 1_000 + "|-~'\n" * 600,
    "quotes of fences": "- [ ] \t\n> > ```#\r](\t#" * 210,
    "images in links": "![](é**](__![<a>" * 260,
    "images": "会_![_](>](=![" * 300,
    "everything": "- *a* `b` [c](d) ~~e~~ &lt; <f@g.h> \\* | i\n" * 90,
}

RENDERERS: dict[str, Callable[[str], object]] = {
    "slack": inert,
    "discord": content,
    "telegram": rendered.__wrapped__,
}


def seconds(work: Callable[[str], object], text: str, times: int = 3) -> float:
    """The shortest of some."""
    took = list[float]()
    for _ in range(times):
        start = time.process_time()
        work(text)
        took.append(time.process_time() - start)
    return min(took)


@pytest.mark.parametrize("platform", RENDERERS)
def test_no_bubble_takes_long_to_render(platform: str) -> None:
    render, parser = RENDERERS[platform], MarkdownIt("gfm-like", {"html": False, "linkify": False})
    bare = [seconds(parser.parse, text) for text in ORDINARY]
    ordinary = [seconds(render, text) for text in ORDINARY]
    hostile = {name: seconds(render, text[:LENGTH]) for name, text in HOSTILE.items()}
    worst = sorted(hostile, key=lambda name: -hostile[name])[:5]
    print(  # noqa: T201 - the table
        f"\n{platform}: {LENGTH} characters rendered, in ms",
        f"model text {mean(ordinary) * 1000:8.2f}, at most {max(ordinary) * 1000:.2f}",
        f"the parser {mean(bare) * 1000:8.2f}, at most {max(bare) * 1000:.2f}",
        "any text: " + ", ".join(f"{name!r} {hostile[name] * 1000:.2f}" for name in worst),
        sep="\n  ",
    )
    assert mean(ordinary) < 4 * mean(bare)
    assert max(hostile.values()) < 60 * mean(bare)
