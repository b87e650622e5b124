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
