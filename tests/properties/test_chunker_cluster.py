"""Grapheme clusters, against another implementation of the same standard (UAX #29): the ``regex`` module's ``\\X``."""

import random
import unicodedata

import pytest
import regex

from chunker import split
from chunker.cluster import boundary, is_boundary

CLUSTER = regex.compile(r"\X")
UNKNOWN = "Cn"
CONJUNCT_MAKERS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
"""Viramas: whether they bind two consonants is a rule newer than the tables of Python 3.11, see chunker/README.md."""
SAMPLES = (
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "👍🏽",
    "🇩🇪",
    "🇫🇷",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "각",
    "\u1100\u1161\u11a8",
    "กำ",
    "न\u093f",
    "\r\n",
    "\u200d",
    "\u0600",
    "a",
    " ",
    "❤️",
    "1️⃣",
)


def boundaries(text: str) -> set[int]:
    return {found.end() for found in CLUSTER.finditer(text)} | {0}


def known(code: int) -> bool:
    """Say whether both sides' tables know a character."""
    char = chr(code)
    category = unicodedata.category(char)
    return category not in {UNKNOWN, "Cs", "Co"} and char not in CONJUNCT_MAKERS


def neighbours(char: str) -> tuple[str, ...]:
    return f"a{char}", f"{char}a", f"👩{char}", f"{char}\u0301"


def test_every_known_character_joins_its_neighbours_as_regex_says() -> None:
    pairs = (pair for code in filter(known, range(0x110000)) for pair in neighbours(chr(code)))
    wrong = [ascii(pair) for pair in pairs if is_boundary(pair, 1) != (1 in boundaries(pair))]
    assert wrong == []


@pytest.mark.parametrize("seed", range(200))
def test_clusters_in_a_row_are_told_apart(seed: int) -> None:
    rnd = random.Random(seed)
    text = "".join(rnd.choice(SAMPLES) for _ in range(12))
    assert {at for at in range(len(text) + 1) if is_boundary(text, at)} == boundaries(text)


@pytest.mark.parametrize("seed", range(100))
def test_no_hard_cut_takes_a_cluster_apart_that_fits(seed: int) -> None:
    rnd = random.Random(seed)
    text = "".join(rnd.choice([sample for sample in SAMPLES if sample.strip()]) for _ in range(80))
    edges = boundaries(text)
    assert all(chunk.end in edges for chunk in split(text, rnd.randint(12, 40)))


def test_a_cluster_longer_than_the_limit_is_cut_between_code_points() -> None:
    text = "e" + "\u0301" * 50
    assert boundary(text, 10, 0) == 10
    assert [len(chunk.text) for chunk in split(text, 10)] == [10, 10, 10, 10, 10, 1]
