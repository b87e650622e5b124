"""Inputs that broke other gateways, each a test with the name of its case.

`tests/cases/text.jsonl` says where each was reported. Cases of mode ``rendered`` cut what a renderer has made; this
project cuts Markdown and renders afterwards, so for those there is only a test that says so.
"""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from chunker import Chunker, Unit

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parents[2] / "cases" / "text.jsonl").read_text("utf-8").splitlines()
]
LEAD = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d+[.)])[ \t]+)?[ \t]*")
FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
LINES = re.compile(r"\r\n|\r|\n")
INVARIANT_SIZES = (1, 3, 7, 64, 10**9)


def run(deltas: Sequence[str], limit: int, unit: Unit, mode: str) -> list[str]:
    """Cut a text that comes in deltas."""
    chunker = Chunker(limit, unit=unit, markup=mode != "plain")
    chunks = [chunk for delta in deltas for chunk in chunker.feed(delta)]
    return [chunk.text for chunk in chunks + chunker.flush()]


def deltas(text: str, size: int | str) -> list[str]:
    """Cut a text into deltas of one size."""
    step = len(text) or 1 if size == "all" else int(size)
    return [text[at : at + step] for at in range(0, len(text), step)]


def length(text: str, unit: str) -> int:
    """Measure in a unit."""
    if unit == "utf16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass")) if unit == "utf8" else len(text)


def blocks(text: str) -> list[tuple[str, list[str], bool]]:
    """Read a text as prose (opener "") and fenced code: opener, lines, closed."""
    found: list[tuple[str, list[str], bool]] = [("", [], True)]
    run = ""
    for line in LINES.split(text):
        opener = FENCE.match(LEAD.sub("", line))
        bare = line.strip(" \t>")
        if not run and opener:
            run = opener[1] or opener[3]
            found.append(((run + (opener[2] or opener[4] or "")).rstrip(), [], False))
        elif run and bare and not bare.strip(run[0]) and len(bare) >= len(run):
            found[-1] = (found[-1][0], found[-1][1], True)
            found.append(("", [], True))
            run = ""
        else:
            found[-1][1].append(line)
    return found


def code(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for opener, lines, _ in blocks(text) if opener for line in lines]


def words(texts: Sequence[str]) -> list[str]:
    return [
        word
        for text in texts
        for opener, lines, _ in blocks(text)
        if not opener
        for line in lines
        for word in line.split()
    ]


def openers(texts: Sequence[str]) -> set[str]:
    return {opener for text in texts for opener, _, _ in blocks(text) if opener}


Check = Callable[[Any, str, list[str], dict[str, Any]], object]

# Each says, of an argument, the source, the chunks and the case's input, whether all is well.
CHECKS: dict[str, Check] = {
    "finishes": lambda arg, source, chunks, case: True,  # it is here, so it has
    "nonempty": lambda arg, source, chunks, case: all(chunk.strip() for chunk in chunks),
    "max_len": lambda arg, source, chunks, case: all(
        length(c, case.get("unit", "cp")) <= case["limit"] for c in chunks
    ),
    "valid_unicode": lambda arg, source, chunks, case: all(c.encode() and "\ufffd" not in c for c in chunks),
    "no_empty_fence": lambda arg, source, chunks, case: all(
        any(line.strip() for line in lines) for c in chunks for opener, lines, _ in blocks(c) if opener
    ),
    "prose_tokens_exact": lambda arg, source, chunks, case: words(chunks) == words([source]),
    "prose_chars_exact": lambda arg, source, chunks, case: "".join(words(chunks)) == "".join(words([source])),
    "code_lines_exact": lambda arg, source, chunks, case: code(chunks) == code([source]),
    "code_lines_stripped": lambda arg, source, chunks, case: (
        [line.strip() for line in code(chunks)] == [line.strip() for line in code([source])]
    ),
    "code_chars_exact": lambda arg, source, chunks, case: "".join(code(chunks)) == "".join(code([source])),
    "fences_closed": lambda arg, source, chunks, case: all(closed for c in chunks for _, _, closed in blocks(c)),
    "openers_in": lambda arg, source, chunks, case: openers(chunks) <= set(arg),
    "atoms_once": lambda arg, source, chunks, case: all(
        sum(c.count(a) for c in chunks) == source.count(a) for a in arg
    ),
    "lines_intact": lambda arg, source, chunks, case: (
        set(arg) <= {line.strip() for chunk in chunks for line in LINES.split(chunk)}
    ),
    "count_substring": lambda arg, source, chunks, case: sum(chunk.count(arg[0]) for chunk in chunks) == arg[1],
    "must_contain": lambda arg, source, chunks, case: all(text in "\n".join(chunks) for text in arg),
    "must_not_contain": lambda arg, source, chunks, case: not any(text in chunk for chunk in chunks for text in arg),
    "chunk_count": lambda arg, source, chunks, case: (
        arg.get("min", 0) <= len(chunks) <= arg.get("max", 10**9) and len(chunks) == arg.get("eq", len(chunks))
    ),
    "chunks_equal": lambda arg, source, chunks, case: [c.strip() for c in chunks] == [c.strip() for c in arg],
    "ends_with_any": lambda arg, source, chunks, case: all(c.rstrip().endswith(tuple(arg)) for c in chunks[:-1]),
    "no_chunk_ends_like": lambda arg, source, chunks, case: not any(re.search(arg, c) for c in chunks[:-1]),
    "no_chunk_starts_like": lambda arg, source, chunks, case: not any(re.search(arg, c) for c in chunks[1:]),
    "even_marker": lambda arg, source, chunks, case: all(chunk.count(arg) % 2 == 0 for chunk in chunks),
    "table_header_each": lambda arg, source, chunks, case: all(
        LINES.split(chunk)[: len(arg)] == arg for chunk in chunks
    ),
    "marker_count_equal": lambda arg, source, chunks, case: sum(c.count(arg) for c in chunks) == source.count(arg),
    "delta_invariant": lambda arg, source, chunks, case: all(
        run(deltas(source, size), case["limit"], case.get("unit", "cp"), case.get("mode", "")) == chunks
        for size in INVARIANT_SIZES
    ),
}


def named(case: dict[str, Any]) -> str:
    return case["id"]


CUT = [case for case in CASES if case["input"].get("mode") != "rendered" and case["input"]["limit"] > 0]


@pytest.mark.parametrize("case", CUT, ids=named)
def test_what_broke_others_is_cut_well(case: dict[str, Any]) -> None:
    given = case["input"]
    for size in given.get("deltas", [1, "all"]):
        chunks = run(deltas(given["text"], size), given["limit"], given.get("unit", "cp"), given.get("mode", ""))
        for name, *rest in case["assert"]:
            assert CHECKS[name](rest[0] if rest else None, given["text"], chunks, given), (name, case["right"], chunks)


@pytest.mark.parametrize("case", [case for case in CASES if case["input"]["limit"] <= 0], ids=named)
def test_a_limit_that_nothing_fits_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Chunker(case["input"]["limit"])


def test_only_the_case_that_cuts_rendered_text_is_not_run() -> None:
    # Telegram's HTML is made from a chunk's Markdown, after the cut, so its tags and entities cannot be cut.
    assert [case["id"] for case in CASES if case["input"].get("mode") == "rendered"] == ["I07"]
