"""A table as text in columns, for a font whose characters are equally wide. Pure.

Rule 1: columns are as wide as a terminal shows them: two for CJK and emoji, none for what combines.
Rule 2: columns begin below each other, and the rule under the head is as wide as they are. Only a cell beyond
    ``WIDEST`` pushes the rest of its row aside, so that one long cell does not make a message of blanks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.width import width

Side = Literal["left", "right", "center"]

WIDEST = 40
"""Columns to which a cell is filled up."""

LARGEST = 6_000
"""Characters that a table may take when it is filled up; beyond that it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What a table is drawn with: between two cells, below a head, and where the two meet."""

    upright: str
    level: str
    crossing: str


ASCII = Lines(upright="|", level="-", crossing="+")
BOX = Lines(upright="│", level="─", crossing="┼")


def columns(rows: Sequence[Sequence[str]], sides: Sequence[Side] = (), lines: Lines = ASCII) -> str:
    """The rows, one a line, with a rule under the first.

    Args:
        rows: their cells, the head's first.
        sides: to which side each column leans; any further to the left.
        lines: what to draw it with.
    """
    most = max(len(row) for row in rows)
    rows = [[*row, *[""] * (most - len(row))] for row in rows]
    widths = [min(WIDEST, max(1, *(width(row[at]) for row in rows))) for at in range(most)]
    bar = f" {lines.upright} "
    if len(rows) * sum(each + len(bar) for each in widths) > LARGEST:
        return "\n".join(bar.join(_unpadded(row)) for row in rows)
    leaning: list[Side] = [*sides[:most], *["left" for _ in range(most - len(sides))]]
    head, *body = (bar.join(map(_filled, row, widths, leaning)).rstrip() for row in rows)
    corner = f"{lines.level}{lines.crossing}{lines.level}"
    return "\n".join([head, corner.join(lines.level * each for each in widths), *body])


def _unpadded(row: Sequence[str]) -> Sequence[str]:
    return row[: max((at for at, cell in enumerate(row, 1) if cell), default=0)]


def _filled(cell: str, size: int, side: Side) -> str:
    room = max(0, size - width(cell))
    before = {"left": 0, "right": room, "center": room // 2}[side]
    return " " * before + cell + " " * (room - before)
