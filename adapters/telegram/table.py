"""A table as text in columns, for a font whose characters are equally wide. Pure."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from chunker.cluster import REGIONAL, ZERO_WIDTH_JOINER, extends

Side = Literal["left", "right", "center"]

WIDEST = 40
"""Columns to which a cell is filled up; a longer one pushes its row aside."""

LARGEST = 6_000
"""Characters that a table may take when it is filled up; beyond that it is not."""

_EMOJI = "\N{VARIATION SELECTOR-16}"


def columns(rows: Sequence[Sequence[str]], sides: Sequence[Side]) -> str:
    """The rows, one a line, with a rule under the first.

    Args:
        rows: their cells, the head's first.
        sides: to which side each column of the head leans; any further to the left.
    """
    most = max(len(row) for row in rows)
    rows = [[*row, *[""] * (most - len(row))] for row in rows]
    rest: list[Side] = ["left"] * (most - len(sides))
    sides = [*sides, *rest]
    widths = [min(WIDEST, max(width(row[at]) for row in rows)) for at in range(len(sides))]
    if len(rows) * sum(each + 3 for each in widths) > LARGEST:
        return "\n".join(" | ".join(row).rstrip(" |") for row in rows)
    head, *body = (_line(row, widths, sides) for row in rows)
    rule = "-+-".join("-" * max(1, each) for each in widths)
    return "\n".join([head, rule, *body])


def width(text: str) -> int:
    """How many columns a text takes: two for a wide character or an emoji, none for what joins the one before."""
    if text.isascii():
        return len(text)
    total, joined, single = 0, False, False
    for char in text:
        if char == _EMOJI:
            total += single
            single = False
        elif extends(char):
            joined = joined or char == ZERO_WIDTH_JOINER
        elif joined:
            joined = False  # drawn into the one before
        else:
            each = _width(char)
            total += each
            single = each == 1
        if char != ZERO_WIDTH_JOINER:
            joined = False
    return total


@lru_cache(maxsize=1024)
def _width(char: str) -> int:
    if REGIONAL[0] <= char <= REGIONAL[1]:
        return 1  # two of them are a flag
    if unicodedata.category(char) in ("Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _line(row: Sequence[str], widths: Sequence[int], sides: Sequence[Side]) -> str:
    cells = [_filled(cell, size, side) for cell, size, side in zip(row, widths, sides, strict=True)]
    return " | ".join(cells).rstrip()


def _filled(cell: str, size: int, side: Side) -> str:
    room = max(0, size - width(cell))
    before = {"left": 0, "right": room, "center": room // 2}[side]
    return " " * before + cell + " " * (room - before)
