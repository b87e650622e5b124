"""Where in the Markdown a cut fell: all that a chunk needs to know of the text before it.

Rule 1: a state is immutable and small; it names what is open at the cut, never what was said.
Rule 2: two cuts with equal states and equal text behind them give equal chunks.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

QUOTE = -1
"""A block quote in `State.containers`; a positive number is a list item, by the columns its content is indented."""

DEEPEST = 12
"""Containers that are told apart; markers nested deeper are read as text."""


Leaf = Literal["none", "paragraph", "heading", "fence", "indented", "table"]
"""The block that is open behind the last line. Plain strings: to look up a member of an enum takes longer than to
compare two of them."""


class Fence(NamedTuple):
    """An open fence: the columns in front of its marker, the marker run, the info string."""

    indent: int
    marker: str
    info: str


class Row(NamedTuple):
    """A line that was cut, as the header that it becomes if a delimiter row follows."""

    cells: int = 0
    """The cells that ended before the cut; -1 if the line can be no header."""
    outer: int = 0
    """The same for one who takes the line's markers of quotes and items for a part of its first cell."""
    depth: int = DEEPEST
    """The outermost of the containers whose markers the line begins with, by its depth."""


class State(NamedTuple):
    """What is open at a cut. A named tuple, not a dataclass: one is made at every boundary that a scan passes."""

    leaf: Leaf = "none"
    containers: tuple[int, ...] = ()
    markers: str = ""
    """The characters that tell one list from another, by the depth of the item: ``-``, ``.`` and the like."""
    fence: Fence | None = None
    header: str = ""
    """The header and delimiter row of an open table, without its containers."""
    marks: tuple[str, ...] = ()
    """The markers of emphasis and code spans that the cut broke, outermost first."""
    mid: bool = False
    """The cut fell inside a line."""
    row: Row = Row()
    """The line of a paragraph that the cut fell into or behind."""


START = State()


@lru_cache(maxsize=256)
def lead(containers: tuple[int, ...], base: int = 0) -> str:
    """Write what puts a new line into these containers.

    Args:
        containers: Outermost first.
        base: So many of them were open before the chunk began; of these only the quotes are written.
    """
    return "".join(
        "> " if width == QUOTE else " " * width if depth >= base else "" for depth, width in enumerate(containers)
    )
