"""The short cut decides as a scan would, and is taken for most chunks of what models write."""

import random
from collections.abc import Callable

import pytest

from chunker import Chunk, Unit, decision, scanner, split
from chunker.leap import Cut, leap
from chunker.length import Measure
from chunker.state import State
from tests.properties.markdown import Document, model_document, nasty_document

LIMITS = (100, 160, 400, 800)
UNITS: tuple[Unit, ...] = ("cp", "utf16", "utf8")
TEXT = "\n\n" + 30 * "text "
ODD = {
    "a number behind a paragraph that stands less deep than its item": "- a\n\n "
    + 80 * "b"
    + "\n2. "
    + 40 * "c "
    + TEXT,
    "a number behind a fence that stands less deep than its item": "1. a\n  ```\n  b\n  ```\n "
    + 80 * "c"
    + "\n2. "
    + 40 * "d "
    + TEXT,
    "a closing line with white space behind it, for which there is no room": "```\n"
    + 40 * "code\n"
    + "``` \n\na"
    + TEXT,
    "a row that goes on with a quote": "> " + 70 * "a" + "\n| \n\nb\n\n" + TEXT,
    "an item indented by less than the one before it": "2. a\n  - " + 80 * "b" + "\n- a | b\n--|--\n" + TEXT,
    "a paragraph behind an item": "- a\n\n " + 80 * "b" + "\n\n- a | b\n--|--\n" + TEXT,
    "an item whose list began in an earlier chunk": "- a\n  - " + 80 * "b" + "\n\n\n- a | b\n--|--\n" + TEXT,
    "text that leaves an item around the one before it, but is as far in": "- a\n\n  10. "
    + 85 * "b"
    + "\n\n      - "
    + 50 * "c"
    + "\n\n     d\n\n"
    + TEXT,
    "two definitions in an item": "- " + 90 * "a" + "\n\n  " + 70 * "b" + "\n\n  [c]: d\n  [e]: f" + TEXT,
    "an info string that leaves no room for code": "a\n\n```" + 85 * "b" + "\nc\n```\n\n" + TEXT,
    "the same in an item": 90 * "a" + "\n- b\n\n  ```" + 19 * "é" + "\n  c\n  ```\n" + TEXT,
    "a tab in the code of an item": "- " + 100 * "a" + "\n\n   ```\n   " + 70 * "b" + "\n   \tc\n   ```\n" + TEXT,
}
MARKS = ("- ", "1. ", "2) ", "  ", "   ", "    ", "  - ", "> ", "# ", "| ", "-", "- # ", "10. ")
LINES = (
    *("", "  ", "- ", "1.", "---", "===", "***", "```", "```py", "  ```", "   ```sh", "    ```", "~~~", "````", "`"),
    *("|---|---|", "| a | b |", "a | b", "> ", "[d]: e", "  - f", "2. g", "text", "**b** c", "12", "会议。", "h  "),
)


def mangled(rnd: random.Random) -> str:
    """Write a document as models do, and put odd lines and marks into it."""
    lines = model_document(rnd).text[:6000].split("\n")
    for _ in range(rnd.randint(1, 12)):
        at = rnd.randrange(len(lines))
        lines[at : at + rnd.randrange(2)] = [rnd.choice((rnd.choice(MARKS) + lines[at], rnd.choice(LINES)))]
    return "\n".join(lines)


def scanned(monkeypatch: pytest.MonkeyPatch, text: str, limit: int, unit: Unit) -> list[Chunk]:
    """Cut a text line by line."""

    def never(*_: object) -> None: ...

    with monkeypatch.context() as patch:
        patch.setattr(decision, "leap", never)
        patch.setattr(scanner, "whole_blocks", never)
        return split(text, limit, unit=unit)


@pytest.mark.parametrize("write", [model_document, nasty_document])
@pytest.mark.parametrize("limit", LIMITS)
def test_a_leap_cuts_documents_as_a_scan_does(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[random.Random], Document], limit: int
) -> None:
    for seed in range(100):
        rnd = random.Random(seed)
        text, unit = write(rnd).text, rnd.choice(UNITS)
        assert split(text, limit, unit=unit) == scanned(monkeypatch, text, limit, unit), seed


def test_a_leap_cuts_odd_documents_as_a_scan_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1500):
        rnd = random.Random(seed)
        text, limit, unit = mangled(rnd), rnd.randint(100, 400), rnd.choice(UNITS)
        assert split(text, limit, unit=unit) == scanned(monkeypatch, text, limit, unit), seed


@pytest.mark.parametrize("name", ODD)
def test_a_leap_cuts_as_a_scan_does(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = ODD[name]
    for limit in range(100, 260):
        for unit in UNITS:
            assert split(text, limit, unit=unit) == scanned(monkeypatch, text, limit, unit), (limit, unit)


def test_most_chunks_of_what_models_write_take_no_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bool] = []

    def counted(view: str, state: State, limit: int, measure: Measure) -> tuple[str, Cut] | None:
        found = leap(view, state, limit, measure)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(decision, "leap", counted)
    for seed in range(100):
        split(model_document(random.Random(seed)).text, 800)
    assert sum(taken) > 0.7 * len(taken)
