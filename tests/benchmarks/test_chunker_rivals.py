"""The chunker beside the Markdown splitters that others use: the time each takes, and the invariants each breaks.

The table is printed (`pytest -s`); asserted is only that the chunker breaks none.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from langchain_text_splitters import MarkdownTextSplitter
from semantic_text_splitter import MarkdownSplitter

from chunker import split
from tests.benchmarks.plain_splitter import split_plainly
from tests.benchmarks.test_chunker import LIMIT, ORDINARY
from tests.properties import markdown_judge as judge
from tests.properties.markdown import model_document

DOCUMENTS = 300
Splitter = Callable[[str, int], Sequence[str]]

SPLITTERS: dict[str, Splitter] = {
    "chunker": lambda text, limit: [chunk.text for chunk in split(text, limit)],
    "plain splitter": lambda text, limit: [piece for piece, _ in split_plainly(text, limit)],
    "semantic-text-splitter": lambda text, limit: MarkdownSplitter(limit).chunks(text),
    "langchain": lambda text, limit: MarkdownTextSplitter(chunk_size=limit, chunk_overlap=0).split_text(text),
}


def is_over_the_cap(source: str, texts: Sequence[str], limit: int) -> bool:
    return any(len(text) > limit for text in texts)


def ends_inside_a_fence(source: str, texts: Sequence[str], limit: int) -> bool:
    return any(judge.ends_open(text) for text in texts)


def cuts_a_line_of_code(source: str, texts: Sequence[str], limit: int) -> bool:
    """A line of code that would fit is in no piece as a whole."""
    lines = {kind.line.strip() for kind in judge.kinds(source).values() if kind.leaf == "code"}
    there = {line.strip() for text in texts for line in text.split("\n")}
    return any(line not in there for line in lines if 2 * len(line) + 24 < limit)


def loses_something(source: str, texts: Sequence[str], limit: int) -> bool:
    """What is not white in the source does not come in its order in the pieces."""
    letters = iter("".join(texts))
    return any(char not in letters for char in source if not char.isspace())


def shows_a_word_otherwise(source: str, texts: Sequence[str], limit: int) -> bool:
    """A word of code, of a table, of a heading or of a quote is something else in its piece."""
    before = judge.kinds(source)
    return any(
        judge.differs(before[word], kind) and not judge.may_change(before[word], kind, limit)
        for text in texts
        for word, kind in judge.kinds(text).items()
        if word in before
    )


INVARIANTS: dict[str, Callable[[str, Sequence[str], int], bool]] = {
    "over the cap": is_over_the_cap,
    "open fence": ends_inside_a_fence,
    "code line cut": cuts_a_line_of_code,
    "lost": loses_something,
    "shown otherwise": shows_a_word_otherwise,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found of one splitter: seconds for a megabyte, and documents that break each invariant."""

    seconds: float
    faults: Counter[str]


def timed(splitter: Splitter) -> float:
    """Say how many seconds of work a megabyte is."""
    start = time.process_time()
    splitter(ORDINARY, LIMIT)
    return time.process_time() - start


def measured(splitter: Splitter) -> Measured:
    """Time a splitter, and judge it."""
    seconds = min(timed(splitter) for _ in range(3))
    faults: Counter[str] = Counter()
    for seed in range(DOCUMENTS):
        rnd = random.Random(seed)
        source, limit = model_document(rnd).text, rnd.randint(100, 2000)
        texts = splitter(source, limit)
        faults.update(name for name, breaks in INVARIANTS.items() if breaks(source, texts, limit))
    return Measured(seconds=seconds, faults=faults)


@pytest.fixture(scope="module")
def results() -> dict[str, Measured]:
    """Every splitter, measured."""
    return {name: measured(splitter) for name, splitter in SPLITTERS.items()}


def test_the_chunker_breaks_no_invariant_that_others_break(results: dict[str, Measured]) -> None:
    print("\n" + f"{'':24}{'1 MB':>10}" + "".join(f"{name:>17}" for name in INVARIANTS))  # noqa: T201 - the table
    for name, result in results.items():
        shares = "".join(f"{result.faults[invariant] / DOCUMENTS:>17.1%}" for invariant in INVARIANTS)
        print(f"{name:24}{result.seconds * 1000:>7.0f} ms{shares}")  # noqa: T201 - the table
    assert not results["chunker"].faults
