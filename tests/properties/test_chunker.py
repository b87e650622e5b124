"""The chunker's seven laws, and those of `preview` and `settled`, over Markdown of two kinds.

The judges share nothing with the chunker; law 4 is markdown-it-py's word for word. `make soak` sets `DRAGOMAN_SOAK` to
10, for 20,000 documents of each kind instead of a few hundred.
"""

import os
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunker import Chunk, Chunker, Unit, split
from tests.properties import markdown_judge as judge
from tests.properties.markdown import Document, cut, model_document, nasty_document

SOAK = int(os.environ.get("DRAGOMAN_SOAK") or 0)
DOCUMENTS = SOAK * 2_000 or 400
EXAMPLES = SOAK * 200 or 40
UNITS: tuple[Unit, ...] = ("cp", "utf16", "utf8")
NASTY_FAULTS = 0.001
"""The share of nasty documents that may break law 4 or leave a fence empty; chunker/README.md names the kinds."""

randoms = st.randoms(use_true_random=False)
some = settings(max_examples=EXAMPLES)


def either(rnd: random.Random) -> Document:
    """Write a document of either kind."""
    return rnd.choice((model_document, nasty_document))(rnd)


def limit_of(rnd: random.Random, low: int) -> int:
    """Draw a limit up to 4,096; small ones are likelier."""
    return int(low * (4097 / low) ** rnd.random())


def fed(chunker: Chunker, deltas: Sequence[str]) -> list[Chunk]:
    """Feed deltas, and flush."""
    return [chunk for delta in deltas for chunk in chunker.feed(delta)] + chunker.flush()


def basics(source: str, chunks: Sequence[Chunk], limit: int, unit: Unit) -> list[str]:
    """Judge by what holds at every limit: cap, nothing lost, no blanks."""
    found = judge.cap(chunks, limit, unit) + judge.spans(source, chunks) + judge.content(source, chunks)
    return found + judge.blanks(source, chunks, fences=limit >= 100)


# -- laws 1, 2, 3, 6: everywhere ----------------------------------------------------------------------------------


@some
@given(rnd=randoms)
def test_cap_content_and_cut_invariance_hold_at_every_limit_in_every_unit(rnd: random.Random) -> None:
    source, limit, unit = either(rnd).text[:3000], limit_of(rnd, 1), rnd.choice(UNITS)
    chunks = split(source, limit, unit=unit)
    assert not basics(source, chunks, limit, unit)
    assert fed(Chunker(limit, unit=unit), cut(rnd, source)) == chunks


@some
@given(rnd=randoms)
def test_a_surface_without_markup_gets_the_source_and_nothing_else(rnd: random.Random) -> None:
    source, limit, unit = either(rnd).text[:3000], limit_of(rnd, 1), rnd.choice(UNITS)
    chunks = split(source, limit, unit=unit, markup=False)
    assert not judge.cap(chunks, limit, unit) + judge.spans(source, chunks)
    assert all(chunk.text in source[chunk.start : chunk.end] and chunk.text.strip() for chunk in chunks)
    assert "".join("".join(chunk.text for chunk in chunks).split()) == "".join(source.split())
    assert fed(Chunker(limit, unit=unit, markup=False), cut(rnd, source)) == chunks


@some
@given(
    source=st.text(alphabet=st.sampled_from("ab *_`~#>|-:=[]()<&;\\.\n\r\t\u0301\u200d😀界1"), max_size=300),
    data=st.data(),
)
def test_text_that_means_nothing_is_cut_without_loss_too(source: str, data: st.DataObject) -> None:
    limit = data.draw(st.integers(1, 80))
    size = data.draw(st.integers(1, 9))
    unit = data.draw(st.sampled_from(UNITS))
    chunks = split(source, limit, unit=unit)
    assert not judge.cap(chunks, limit, unit) + judge.spans(source, chunks)
    assert all(chunk.text.strip() for chunk in chunks)
    assert fed(Chunker(limit, unit=unit), [source[at : at + size] for at in range(0, len(source), size)]) == chunks


@some
@given(rnd=randoms)
def test_a_chunk_is_made_smaller_until_it_fits(rnd: random.Random) -> None:
    source, limit = either(rnd).text[:3000], limit_of(rnd, 60)

    def fits(text: str) -> bool:
        return len(text) + text.count("a") <= limit

    chunks = split(source, limit, fits=fits)
    assert not judge.spans(source, chunks) + judge.content(source, chunks)
    assert all(fits(chunk.text) for chunk in chunks)
    assert fed(Chunker(limit, fits=fits), cut(rnd, source)) == chunks


@some
@given(rnd=randoms)
def test_early_chunks_end_at_blocks_and_keep_every_law(rnd: random.Random) -> None:
    document, limit = model_document(rnd), limit_of(rnd, 60)
    early = rnd.randint(1, limit)
    chunks = split(document.text, limit, early=early)
    assert not basics(document.text, chunks, limit, "cp") + judge.validity(document.text, chunks, limit)
    assert fed(Chunker(limit, early=early), cut(rnd, document.text)) == chunks
    assert len(chunks) >= len(split(document.text, limit))


# -- laws 4, 5: valid by itself, cut well -------------------------------------------------------------------------


@some
@given(rnd=randoms)
def test_what_models_write_is_valid_chunk_by_chunk_and_cut_well(rnd: random.Random) -> None:
    document, limit = model_document(rnd), limit_of(rnd, 60)
    chunks = split(document.text, limit)
    assert not judge.validity(document.text, chunks, limit) + judge.items(document.text, chunks)
    assert not judge.atoms(document.text, chunks, document.atoms, limit)
    assert not judge.gaps(document.text, chunks, limit)
    assert not judge.headings(chunks)


def test_a_long_run_over_what_models_write_finds_no_fault_and_full_chunks() -> None:
    fills: list[float] = []
    for seed in range(DOCUMENTS):
        rnd = random.Random(seed)
        document, limit, unit = model_document(rnd), limit_of(rnd, 60), rnd.choice(UNITS)
        source = document.text
        chunks = split(source, limit, unit=unit)
        found = basics(source, chunks, limit, unit) + judge.headings(chunks)
        if unit == "cp":
            found += judge.atoms(source, chunks, document.atoms, limit) + judge.gaps(source, chunks, limit)
        found += judge.validity(source, chunks, limit, unit) + judge.items(source, chunks)
        assert not found, seed
        assert fed(Chunker(limit, unit=unit), cut(rnd, source)) == chunks, seed
        fills += [judge.length(chunk.text, unit) / limit for chunk in chunks[:-1]]
    assert sum(fills) / len(fills) >= 0.80


def test_a_long_run_over_nasty_markdown_loses_nothing_and_seldom_shows_a_word_otherwise() -> None:
    count = 0
    for seed in range(DOCUMENTS):
        rnd = random.Random(seed)
        document, limit, unit = nasty_document(rnd), limit_of(rnd, 40), rnd.choice(UNITS)
        source = document.text
        chunks = split(source, limit, unit=unit)
        assert not judge.cap(chunks, limit, unit) + judge.spans(source, chunks) + judge.content(source, chunks), seed
        assert all(chunk.text.strip() for chunk in chunks), seed
        assert fed(Chunker(limit, unit=unit), cut(rnd, source)) == chunks, seed
        found = judge.validity(source, chunks, limit, unit) + judge.items(source, chunks)
        count += bool(found + judge.blanks(source, chunks))
    assert count / DOCUMENTS <= NASTY_FAULTS, count


# -- preview and settled ------------------------------------------------------------------------------------------


@some
@given(rnd=randoms)
def test_a_preview_is_a_valid_message_within_the_limit_at_every_prefix(rnd: random.Random) -> None:
    document, limit = either(rnd), limit_of(rnd, 60)
    chunker = Chunker(limit)
    for delta in cut(rnd, document.text[:4000]):
        chunker.feed(delta)
        text = chunker.preview()
        assert len(text) <= limit
        assert bool(text) == bool(text.strip())
        assert not judge.ends_open(text)


@some
@given(rnd=randoms)
def test_a_preview_shows_every_word_as_the_whole_text_does(rnd: random.Random) -> None:
    document, limit = model_document(rnd), limit_of(rnd, 100)
    chunker = Chunker(limit)
    last = judge.kinds(document.text)
    for delta in cut(rnd, document.text):
        chunker.feed(delta)
        shown = judge.kinds(chunker.preview())
        wrong = {word: kind for word, kind in shown.items() if not judge.same(last[word], kind, limit)}
        assert not wrong


@some
@given(rnd=randoms)
def test_settled_text_grows_to_the_end_and_no_cut_falls_before_it(rnd: random.Random) -> None:
    document, limit = model_document(rnd), limit_of(rnd, 200)
    chunker = Chunker(limit)
    settled = read = 0
    for delta in cut(rnd, document.text):
        chunks = chunker.feed(delta)
        read += len(delta)
        assert all(chunk.end >= settled for chunk in chunks)
        before, settled = settled, chunker.settled()
        assert before <= settled <= read
    chunker.flush()
    assert chunker.settled() == len(document.text)


@some
@given(rnd=randoms)
def test_preview_and_settled_depend_on_the_text_alone(rnd: random.Random) -> None:
    document, limit = either(rnd), limit_of(rnd, 60)
    text = document.text[: rnd.randint(0, len(document.text))]
    one, other = Chunker(limit), Chunker(limit)
    for delta in cut(rnd, text):
        one.feed(delta)
    other.feed(text)
    assert (one.preview(), one.settled()) == (other.preview(), other.settled())


@pytest.mark.parametrize("blank", ["", " ", "\n", " \n\n\t\r\n \u3000\u00a0\n"])
def test_nothing_comes_of_a_text_that_is_white(blank: str) -> None:
    chunker = Chunker(1)
    assert (chunker.feed(blank), chunker.preview(), chunker.settled()) == ([], "", 0)
    assert chunker.flush() == []
    assert chunker.settled() == len(blank)
