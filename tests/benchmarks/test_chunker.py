"""How fast the chunker is, beside a splitter that does less, and that no text makes it slow.

Only ratios within one run are asserted; the times are printed by pytest-benchmark.
"""

import random
import time
from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from chunker import Chunker, Unit, split
from tests.benchmarks.plain_splitter import split_plainly
from tests.properties.markdown import model_document

MEGABYTE = 1_000_000
LIMIT = 800


def prose(size: int) -> str:
    """Write so many characters of model-like Markdown."""
    parts: list[str] = []
    length = 0
    for seed in range(size):
        if length >= size:
            break
        parts.append(model_document(random.Random(seed)).text)
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)[:size]


ORDINARY = prose(MEGABYTE)
HOSTILE: dict[str, Callable[[int], str]] = {
    "one line": lambda size: "word " * (size // 5),
    "no space": lambda size: "x" * size,
    "backticks": lambda size: "`" * size,
    "backtick runs": lambda size: " ".join("`" * (1 + n % 40) for n in range(size // 21)),
    "brackets": lambda size: "[" * size,
    "open emphasis": lambda size: "**a " * (size // 4),
    "dashes": lambda size: "- \n" * (size // 3),
    "numbers": lambda size: "1. \n" * (size // 4),
    "items": lambda size: "- a\n" * (size // 4),
    "quotes 1,000 deep": lambda size: ("> " * 1000 + "a\n") * (size // 2002),
    "lists 200 deep": lambda size: ("".join("  " * n + "- a\n" for n in range(200))) * (size // 40600),
    "fences": lambda size: "```\na\n~~~\nb\n" * (size // 12),
    "open fences": lambda size: "```\na\n```x\n" * (size // 11),
    "newlines": lambda size: "\n" * size,
    "backslashes": lambda size: "\\" * size,
    "marks": lambda size: "e" + "\u0301" * size,
    "less-than": lambda size: "<a" * (size // 2),
    "table rows": lambda size: "| a | b |\n|---|---|\n" + "| c | d |\n" * (size // 10),
    "pipes": lambda size: "a | b\n" * (size // 6),
    "one-character lines": lambda size: "a\n" * (size // 2),
    "emoji": lambda size: "👩‍👩‍👧‍👦" * (size // 7),
    "CJK": lambda size: "会议改到周四下午三点。" * (size // 11),
}


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def stream(text: str, size: int = 4) -> None:
    """Feed a text in deltas of one size."""
    chunker = Chunker(LIMIT)
    for at in range(0, len(text), size):
        chunker.feed(text[at : at + size])
    chunker.flush()


def hoard(text: str, size: int = 4) -> None:
    """Do with deltas the least that whoever cuts them must do: call, keep, add, compare."""
    deltas: list[str] = []
    length = 0

    def feed(delta: str) -> bool:
        nonlocal length
        deltas.append(delta)
        length += len(delta)
        return length > LIMIT

    for at in range(0, len(text), size):
        if feed(text[at : at + size]):
            deltas.clear()
            length = 0


def test_a_megabyte_at_once(benchmark: BenchmarkFixture) -> None:
    benchmark(split, ORDINARY, LIMIT)


def test_a_megabyte_by_the_plain_splitter(benchmark: BenchmarkFixture) -> None:
    benchmark(split_plainly, ORDINARY, LIMIT)


def test_a_megabyte_in_deltas_of_four_characters(benchmark: BenchmarkFixture) -> None:
    benchmark(stream, ORDINARY)


@pytest.mark.parametrize("unit", ["utf16", "utf8"])
def test_a_megabyte_in_another_unit(benchmark: BenchmarkFixture, unit: Unit) -> None:
    benchmark(split, ORDINARY, LIMIT, unit=unit)


def test_streaming_and_other_units_cost_little_more_than_one_go() -> None:
    batch = min(seconds(lambda: split(ORDINARY, LIMIT)) for _ in range(5))
    bare = min(seconds(lambda: hoard(ORDINARY)) for _ in range(5))
    assert min(seconds(lambda: stream(ORDINARY)) for _ in range(5)) < batch + 2 * bare
    assert min(seconds(lambda: split(ORDINARY, LIMIT, unit="utf16")) for _ in range(5)) < 2.2 * batch


def test_what_the_plain_splitter_does_not_know_costs_little() -> None:
    pairs = [
        (seconds(lambda: split(ORDINARY, LIMIT)), seconds(lambda: split_plainly(ORDINARY, LIMIT))) for _ in range(7)
    ]
    assert min(ours for ours, _ in pairs) < 1.6 * min(theirs for _, theirs in pairs)


@pytest.mark.parametrize("size", [MEGABYTE // 10, MEGABYTE, 10 * MEGABYTE])
def test_ten_times_the_text_takes_about_ten_times_as_long(size: int) -> None:
    text = "\n\n".join([ORDINARY] * 10)[:size]
    few = min(seconds(lambda: split(text[: size // 10], LIMIT)) for _ in range(3))
    assert min(seconds(lambda: split(text, LIMIT)) for _ in range(2)) < 20 * few


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_makes_it_slow(name: str) -> None:
    ordinary = min(seconds(lambda: split(ORDINARY, LIMIT)) for _ in range(2))
    small, large = HOSTILE[name](MEGABYTE // 10), HOSTILE[name](MEGABYTE)
    few = min(seconds(lambda: split(small, LIMIT)) for _ in range(2))
    many = seconds(lambda: split(large, LIMIT))
    assert many < 40 * ordinary
    assert many < 25 * few + 0.05
    assert seconds(lambda: stream(large)) < 1.5 * many + 10 * ordinary
