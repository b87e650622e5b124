"""Writing a stretch of source so that it is valid Markdown by itself.

Rule 1: what is added stands in front (`Opening`), behind (`closing`), or at a line's start (`Edit`); the rest is the
source, untouched.
Rule 2: an addition is made only where room for content remains behind it; otherwise the text goes raw.
"""

from collections.abc import Sequence
from typing import NamedTuple

from chunker.length import WIDEST, Measure
from chunker.state import Fence, State, lead


class Edit(NamedTuple):
    """``source[start:stop]`` is written as ``insert``."""

    start: int
    stop: int
    insert: str


class Opening(NamedTuple):
    """What a chunk that starts inside a block is given to start with."""

    prefix: str = ""
    """Whole lines: the fence's opener, or the table's head."""
    quotes: str = ""
    """The quote markers of the containers that were open before."""


NOTHING = Opening()


def closing(containers: tuple[int, ...], base: int, fence: Fence) -> str:
    """Write the line that closes a fence, with the line break before it."""
    return "\n" + lead(containers, base) + " " * fence.indent + fence.marker


def opening(state: State, limit: int, measure: Measure) -> Opening:
    """Write what reopens a state, as much of it as leaves room for content in ``limit``."""
    if not state.containers and state.leaf not in ("fence", "table"):
        return NOTHING
    quotes = lead(state.containers, len(state.containers))
    spare = limit - 2 * len(quotes) - WIDEST
    if spare < len(quotes):
        quotes, spare = "", limit - WIDEST
    if state.leaf == "fence" and state.fence:
        return Opening(_opener(quotes, state.fence, spare, limit, measure), quotes)
    if state.leaf == "table" and state.header:
        head = "".join(f"{quotes}{line}\n" for line in state.header.split("\n"))
        size = measure(head)
        return Opening(head if size <= spare and 3 * size <= 2 * limit else "", quotes)
    return Opening("", quotes)


def _opener(quotes: str, fence: Fence, spare: int, limit: int, measure: Measure) -> str:
    """Write a fence's opening line, with its info string, the first word of it, or none."""
    spare -= 1 + len(quotes) + fence.indent + len(fence.marker)
    word = fence.info.split(maxsplit=1)[:1]
    for info in (fence.info, *word, ""):
        line = f"{quotes}{' ' * fence.indent}{fence.marker}{info}\n"
        size = measure(line)
        if size <= spare and (2 * size <= limit or not info):
            return line
    return ""


def write(source: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """Write ``source[start:end]`` with the edits that fall into it."""
    if not edits:
        return source[start:end]
    parts: list[str] = []
    at = start
    for edit in edits:
        if edit.start >= end:
            break
        insert = edit.insert
        if insert[:1] == "\n" and source[edit.start - 1 : edit.start] == "\r":
            insert = "\r" + insert[1:]  # else the two would be one line end
        parts += source[at : edit.start], insert
        at = edit.stop
    parts.append(source[at:end])
    return "".join(parts)
