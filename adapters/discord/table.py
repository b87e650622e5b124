"""Tables, which Discord does not know, as lines of equal columns for a code block. Pure.

Rule 1: columns are as wide as a terminal shows them: two cells for CJK and emoji, none for what combines.
Rule 2: no column is widened beyond ``WIDEST``, and the last one never, so that one long cell does not make a message
    of blanks.
"""

import unicodedata
from collections.abc import Sequence

WIDEST = 30
"""Cells up to which a column is padded; what is longer stands out of its column."""

_JOINER = "\N{ZERO WIDTH JOINER}"
_EMOJI = "\N{VARIATION SELECTOR-16}"
_SKIN = range(0x1F3FB, 0x1F400)


def width(text: str) -> int:
    """How many cells of a terminal the text takes."""
    cells, last, joined = 0, 0, False
    for character in text:
        if character == _EMOJI:
            cells += 2 - last if last == 1 else 0
            last = 2
        elif not (joined or ord(character) in _SKIN):  # those are drawn into what stands before them
            wide = _cells(character)
            cells += wide
            last = wide or last
        joined = character == _JOINER
    return cells


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, the first of them as a header."""
    most = max((len(row) for row in rows), default=0)
    widths = [
        max((width(row[column]) for row in rows if column < len(row) and width(row[column]) <= WIDEST), default=1)
        for column in range(most)
    ]
    lines = [_line(row, widths) for row in rows]
    return [*lines[:1], "─┼─".join("─" * cells for cells in widths), *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (cells - width(cell)) for cell, cells in zip(row, widths, strict=False)]
    return " │ ".join(padded).rstrip()


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
