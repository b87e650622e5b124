"""The chunker's seven laws, and those of `preview` and `settled`, over Markdown of two kinds.

`DRAGOMAN_SOAK=1` runs 20,000 documents of each kind instead of a few hundred.
"""

import os
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunker import Chunk, Chunker, Unit, split
from tests.properties import markdown_judge as judge
from tests.properties.markdown import Document, cut, model_document, nasty_document

DOCUMENTS = 20_000 if os.environ.get("DRAGOMAN_SOAK", "0") not in ("", "0") else 300
EXAMPLES = DOCUMENTS // 10
UNITS: tuple[Unit, ...] = ("cp", "utf16", "utf8")

Generator = Callable[[random.Random], Document]
generators = pytest.mark.parametrize("generate", [model_document, nasty_document])
randoms = st.randoms(use_true_random=False)


def limit_of(rnd: random.Random, low: int) -> int:
    """Draw a limit; small ones are likelier."""
    return int(low * (4096 / low) ** rnd.random())


def run(deltas: Sequence[str], limit: int, unit: Unit) -> list[Chunk]:
    """Feed deltas."""
    chunker = Chunker(limit, unit=unit)
    chunks = [chunk for delta in deltas for chunk in chunker.feed(delta)]
    return chunks + chunker.flush()


def faults(document: Document, limit: int, unit: Unit, rnd: random.Random) -> list[str]:
    """Judge one document by every law that its limit lets hold."""
    source = document.text
    chunks = split(source, limit, unit=unit)
    found = judge.cap(chunks, limit, unit) + judge.spans(source, chunks) + judge.content(source, chunks)
    if run(cut(rnd, source), limit, unit) != chunks:
        found.append("the chunks depend on the deltas")
    if limit >= 40:
        found += judge.blanks(source, chunks) + judge.headings(chunks)
        if unit == "cp":
            found += judge.validity(source, chunks, limit) + judge.atoms(source, chunks, document.atoms, limit)
    return found


@settings(max_examples=EXAMPLES)
@given(rnd=randoms)
def test_what_models_write_is_cut_by_every_law(rnd: random.Random) -> None:
    document = model_document(rnd)
    limit, unit = limit_of(rnd, 60), rnd.choice(UNITS)
    assert not faults(document, limit, unit, rnd)


def test_a_long_run_over_what_models_write_finds_no_fault() -> None:
    for seed in range(DOCUMENTS):
        rnd = random.Random(seed)
        document = model_document(rnd)
        assert not faults(document, limit_of(rnd, 60), rnd.choice(UNITS), rnd), seed
