"""A table as text in columns, for a font whose characters are equally wide. Pure."""

from collections.abc import Sequence
from typing import Literal

from gateway.width import width

Side = Literal["left", "right", "center"]

WIDEST = 40
"""Columns to which a cell is filled up; a longer one pushes its row aside."""

LARGEST = 6_000
"""Characters that a table may take when it is filled up; beyond that it is not."""


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


def _line(row: Sequence[str], widths: Sequence[int], sides: Sequence[Side]) -> str:
    cells = [_filled(cell, size, side) for cell, size, side in zip(row, widths, sides, strict=True)]
    return " | ".join(cells).rstrip()


def _filled(cell: str, size: int, side: Side) -> str:
    room = max(0, size - width(cell))
    before = {"left": 0, "right": room, "center": room // 2}[side]
    return " " * before + cell + " " * (room - before)
