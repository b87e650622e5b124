"""Tables, which Discord does not know, as lines of equal columns for a code block. Pure.

Rule 1: columns are as wide as a terminal shows them: two cells for CJK and emoji, none for what combines.
Rule 2: no column is widened beyond ``WIDEST``, and the last one never, so that one long cell does not make a message
    of blanks.
"""

from collections.abc import Sequence

from gateway.width import width

WIDEST = 30
"""Cells up to which a column is padded; what is longer stands out of its column."""


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
