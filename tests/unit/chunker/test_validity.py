"""Law 4 by example: kinds of Markdown in which a line was once shown otherwise than in the source.

Each kind is a pattern, written with every marker that makes a difference, and cut at every limit of a range; the judge
is markdown-it-py. Words of the judge are three consonants and a vowel, each there once.
"""

import pytest

from chunker import Chunker, split
from tests.properties import markdown_judge as judge

WORDS = [f"{a}{b}{c}a" for a in "bcd" for b in "fghjk" for c in "lmnpqrstvw"]
MARKERS = ("- ", "* ", "1. ", "7) ", "10. ", "> ")
ITEMS = tuple(marker for marker in MARKERS if marker != "> ")
LIMITS = range(40, 72)

KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "what follows a table whose head is torn": ("{m}a a a | a a | a a\n{i}--- | --- | ---\na a", MARKERS),
    "what follows a table whose marker is part of its header": (
        "{m}a a a | a a | a a\n--- | --- | ---\n    a a",
        ITEMS,
    ),
    "what follows a table whose delimiter row is torn": ("> a | a | a\n> -------------- | --- | --\na", ("",)),
    "the rest of a line that has more cells than its delimiter row": ("{m}a a a a a a a | a |\n{i}| :-", MARKERS),
    "a lazy row and its delimiter row": ("> a a a a a a a\n| a | a |\n-|-|-", ("",)),
    "a lazy row behind an item": ("{m}a a a a a a\na | a\n{i}--- | ---", ITEMS),
    "a row of a continued quote, and a lazy delimiter row": ("a a a a a a a\n\n> a a\n>\n> a | a\n-|-", ("",)),
    "a row that is indented like code": ("> a a a a a a a a\n>     | a | a |\n> | - | - |", ("",)),
    "an item that goes on with a list, and would head a table": (
        "{m}a a a a a a\n{m}a | a\n{i}--- | ---\n\n    a",
        ITEMS,
    ),
    "an item of another list": ("1. a\n* a a | a a\n-| -\na a a\n    a", ("",)),
    "a quote behind an item that held one": ("{m}> a a a a a a a a\n> a\n> ===", ITEMS),
    "a quote behind an item that held a fence in one": ("{m}a a a a a\n{i}> ```js x=1\n> a", ITEMS),
    "a number that begins no list": ("a a a a a a a a\n{m}# a", ("2. ", "7) ", "10. ")),
    "a number before a row": ("> a a a a a a a a.\n> 7) | a a |\n>    | :-- |", ("",)),
    "a definition inside a paragraph": ("{m}%\n{i}[a]: /a", ("", *MARKERS)),
    "a definition that is longer than a chunk": ("> [a]: https://o.io/%\n    a", ("",)),
    "an underline that comes later": ("{m}a a a a a a a a\n{i}-\n{i}    a", ("", "1. ")),
    "code behind a code span that is no line of its own": ("a a```        a a a a a a\n          a", ("",)),
    "a fence's marker behind white space in a paragraph": ("a a |\n    ~~~~~python\n            -    ```", ("",)),
    "the line after a marker that is reopened in vain": (
        "{m}**a a a a a a a a a a a a a a a:\n{i}a\n\n{i}\ta",
        ("- ", "1. "),
    ),
    "a code span that begins with more backticks": ("> `a a a a a a a\n``a a a a a a a a a", ("",)),
    "a line without markers behind two quotes": ("> > a a a\n    # a\n> >     a a a", ("",)),
    "tabs behind the marker of a quote in a quote": (" >      \ta a a a a\n      >> \ta", ("",)),
    "code in a quote that looks like one": ("+ a a a a a\n  >     >\ta", ("",)),
    "an empty fence at the end": ("  - #\n     7) * ````js x", ("",)),
    "a fence that a blank line ends": (">~~~cccccccccccccccccccccccccccccc\n\n", ("",)),
    "a closing line that is cut": ("{m}```\n{i}a\n{i}     a a a a a a\n{i} ```\n{i}a a", MARKERS),
    "a line of code that ends like a fence": ("# a a a a a\n>    ```x\n> >    ````", ("",)),
    "code behind an empty item": ("> a a a a a a a\n>   -   \n>           a", ("",)),
    "an item that a line leaves halfway": (" -   - a a a a |\n    * a a", ("",)),
    "a line too far in to be a delimiter row": ("> a a a | a a | a\n>     --- |-- |-:\n>     a", ("",)),
    "white space between a line's markers": (">7) ``a a a a a a. a a a a a a a!\n>    a", ("",)),
    "a number four columns in behind a quote": ("-    >a a a\n    1. a a a a a a a a a", ("",)),
    "a lazy row whose delimiter row is not": (">>   a a a\n>    | a | a a a |\n> >   | ---: | :-: |\n>a", ("",)),
    "text behind two items that leaves both, but is as far in as the inner": (
        "{m}a a a a a a a a\n\n{i}- a\n\n   a a",
        ITEMS,
    ),
    "an item behind two that leaves both, but is as far in as the inner": (
        "{m}a a a a a a a a\n\n{i}- a\n\n   + a a",
        ITEMS,
    ),
    "code behind two items that leaves both, but is as far in as the inner": (
        ">    * a a a a a a a a\n>      + a a\n>\n>     a",
        ("",),
    ),
    "code behind a quote in an item that leaves both": (">   7) a a a a a a a a\n>      > a a\n>     # a", ("",)),
    "a fence behind two items that leaves both, but is as far in as the inner": (
        "10. a a a a a a a a a\n\n    {m}a\n   ```\n    a\n   a\n   ```",
        ("- ", "7) "),
    ),
    "code that a column more would have put into an item": (
        "10. a a a a a a a a a a\n\n    - a\n\n   - a\n\n    -   # a a",
        ("",),
    ),
    "a quote two columns in behind an item in one": ("+    a a a a a\n     + a a\n  >\n      a", ("",)),
}


def written(pattern: str, marker: str) -> str:
    """Write a pattern: each ``a`` is a word, ``%`` a word longer than a chunk, ``{i}`` the marker's columns."""
    words = iter(WORDS)
    indent = "> " if marker == "> " else " " * len(marker)
    text = pattern.replace("{m}", marker).replace("{i}", indent)
    return "".join("".join(WORDS[-20:]) if char == "%" else next(words) if char == "a" else char for char in text)


CASES = [(kind, written(pattern, marker)) for kind, (pattern, markers) in KINDS.items() for marker in markers]


@pytest.mark.parametrize(("kind", "source"), CASES)
def test_every_line_keeps_its_kind(kind: str, source: str) -> None:
    for limit in LIMITS:
        chunks = split(source, limit)
        found = judge.validity(source, chunks, limit) + judge.items(source, chunks) + judge.blanks(source, chunks)
        found += judge.cap(chunks, limit, "cp") + judge.spans(source, chunks) + judge.content(source, chunks)
        assert not found, (kind, limit, [chunk.text for chunk in chunks])
        chunker = Chunker(limit)
        assert [chunk for char in source for chunk in chunker.feed(char)] + chunker.flush() == chunks


@pytest.mark.parametrize("ticks", [2, 3, 4])
@pytest.mark.parametrize("letter", ["é", "😀"])
@pytest.mark.parametrize("before", range(8))
def test_a_reopened_marker_and_the_backticks_behind_it_make_no_fence(ticks: int, letter: str, before: int) -> None:
    for letters in range(10, 31, 2):
        source = "`" + "w" * (100 + before) + letter * letters + "**bold** " + "`" * ticks + "python\n" + "Hello " * 10
        chunks = split(source, 60, unit="utf16")
        assert not judge.validity(source, chunks, 60, "utf16"), [chunk.text for chunk in chunks]
        assert not judge.content(source, chunks)
