"""What has been read of a window so far, and where it may be cut.

Rule 1: two boundaries are kept, the last that fits behind a block and the last that fits at another line end, since of
each kind only the last is ever wanted. The line ends inside the paragraph that runs over the room are left to
`boundary`.
Rule 2: `Edit`s say where the text parts from the source; what is not edited is sent as it stands.
Rule 3: the room is exact: what is added and taken away before a place counts there, and nothing else does.
"""

import re
from typing import NamedTuple

from chunker.excerpt import Edit, closing, opening
from chunker.inline import spans
from chunker.length import WIDEST, Measure, reach
from chunker.line import MARKER, OPENER
from chunker.state import Fence, Leaf, Row, State, lead

INK = re.compile(r"\S")


def first_ink(text: str, at: int) -> int:
    """Find the first character from ``at`` on that is not white, or the end of the text."""
    if at < len(text) and not text[at].isspace():
        return at
    found = INK.search(text, at)
    return found.start() if found else len(text)


class Boundary(NamedTuple):
    """A place between two lines. A named tuple for speed: one is made for most blocks."""

    end: int
    """Where the chunk's text ends."""
    pos: int
    """Where the next chunk begins."""
    state: State
    suffix: str
    """What closes the fence that the cut leaves."""


class Tail(NamedTuple):
    """The block that runs over the end of the room."""

    leaf: Leaf
    start: int
    """Where its text begins: of a paragraph the first line, otherwise the line that runs over."""
    containers: tuple[int, ...]


class Survey:
    """One window, as far as it is read."""

    leaf: Leaf
    growth = 0
    """What the edits so far have added."""
    closer = ""
    """What closes the open fence."""
    suffix = ""
    """The same, if a chunk has room for it wherever the fence is cut."""
    body = False
    """The open fence or table has a line in this chunk."""
    hollow = False
    """The innermost item has nothing but its marker so far."""
    heading = -1
    """Where the heading begins that is the last block, or -1."""
    resumed = -1
    """Where the paragraph's text begins that the chunk goes on with, or -1."""
    block: Boundary | None = None
    line: Boundary | None = None
    lone: Boundary | None = None
    """A cut that breaks nothing, but leaves a heading alone, or a line that may go on."""
    gap: Boundary | None = None
    """The last line end of code that has a blank line behind it."""
    dangling = False
    """A fence was left without a closer since the last text."""
    tail: Tail | None = None
    before = Row()
    """What the chunk's first line had before the cut."""
    began = 0
    """The depth of the first container that the last block's first line opened."""
    veiled = -1
    """Where a line begins that would make a table's head of the line before, were it not written further in."""

    def __init__(
        self, view: str, state: State, limit: int, measure: Measure, *, final: bool, markup: bool = True
    ) -> None:
        self.view = view
        size = self.size = len(view)
        self.limit = limit
        self.measure = measure
        self.final = final
        self.markup = markup
        self.state = state
        self.leaf, self.containers, self.markers, self.fence, self.header, _, mid, _ = state
        self.fence_containers = self.containers
        self.base = len(self.containers)
        self.opening = opening(state, limit, measure)
        self.room = limit - measure(self.opening.prefix)
        self.ink = first_ink(view, 0)
        keeps = mid or self.leaf in ("fence", "indented")
        start = self.start = 0 if keeps else view.rfind("\n", 0, self.ink) + 1
        self.last = size if final else size - 1
        self.cap = self.reach(self.room)
        self.half = reach(view, start, (limit + 1) // 2 - (limit - self.room), measure)
        self.pos = self.text_end = self.para = self.row = start
        self.opener = start
        """Where the line begins that opens the open fence."""
        self.code = self.resumed_end = self.tail_end = size
        """Where the code of the open fence begins; where the paragraph ends that the chunk goes on with, and that which
        runs over the room, as far as they are known."""
        self.edits: list[Edit] = []
        self.loose = self.leaf == "heading" or (self.leaf == "table" and not self.opening.prefix)
        """The chunk's first lines are written as a paragraph, but are none."""
        if self.fence and self.leaf == "fence":
            self.set_fence(self.fence)
            if not self.opening.prefix:
                self.closer = self.suffix = ""

    def end_of_line(self, pos: int) -> int:
        """Find where a line ends."""
        eol = self.view.find("\n", pos)
        return self.size if eol < 0 else eol

    def is_partial(self, eol: int) -> bool:
        """Say whether a line goes on behind the window."""
        return eol == self.size and not self.final

    def is_unsure(self, first: int, eol: int) -> bool:
        """Say whether more of the line is needed to say what it begins."""
        return self.is_partial(eol) and (
            MARKER.match(self.view, first) is not None or OPENER.match(self.view, first) is not None
        )

    def mark(self, depth: int, marker: str) -> None:
        """Note the marker of the item that begins at this depth."""
        if self.markers[depth:] != marker:
            self.markers = self.markers[:depth].ljust(depth) + marker

    def edit(self, start: int, stop: int, insert: str) -> None:
        """Note where the text parts from the source."""
        if self.view[start:stop] == insert:
            return
        self.edits.append(Edit(start, stop, insert))
        self.growth += len(insert) - (stop - start)
        if not self.tail:
            self.cap = self.reach(self.room - self.growth)

    def boundary(self, end: int, pos: int, leaf: Leaf = "none") -> None:
        """Note that the text may be cut before the line at ``pos``, if what comes before it fits."""
        if end <= self.ink or self.tail:
            return
        suffix = self.suffix if self.dangling or self.leaf == "fence" else ""
        is_gap = end < pos - 1
        if suffix is not self.closer and leaf == "none" and (self.dangling or self.leaf == "fence"):
            if end <= self.cap_inside(self.closer, end):
                suffix = self.closer
            elif self.block:
                return  # there is no room to close the fence, but there was some before it
        if leaf == "fence" and is_gap and pos - 1 <= self.cap_before(suffix):
            end = pos - 1  # the blank lines of code before the cut are code, too
        elif end > (self.cap_inside(suffix, end) if suffix else self.cap):
            return
        if self.heading >= 0 and not (self.heading <= self.ink and end >= self.half):
            self.lone = Boundary(end, pos, State(leaf, self.containers, self.markers), suffix)
        elif leaf == "none":
            self.block = Boundary(end, pos, State("none", self.containers, self.markers), suffix)
        else:
            state = State(leaf, self.containers, self.markers, self.fence, self.header)
            self.line = Boundary(end, pos, state, suffix)
            if is_gap and leaf == "fence":
                self.gap = self.line

    def cap_before(self, suffix: str) -> int:
        """Say how far the text may go if something follows it."""
        if not suffix:
            return self.cap
        return self.reach(self.room - self.growth - len(suffix))

    def cap_inside(self, suffix: str, stop: int | None = None) -> int:
        """Say how far the text may go if something follows it and it ends before ``stop``, or anywhere."""
        if not self.edits:
            return self.cap_before(suffix)
        growth = self.growth
        at = self.reach(self.room - growth - len(suffix))
        for edit in reversed(self.edits):
            if edit.start < (at if stop is None else stop):
                break
            growth -= len(edit.insert) - (edit.stop - edit.start)
            at = min(self.reach(self.room - growth - len(suffix)), edit.start)
        return at

    def strays(self) -> bool:
        """Say whether the paragraph ends without closing a marker that was reopened in front of it."""
        marks = "".join(self.state.marks)
        going_on = self.leaf == "paragraph" and self.para == self.resumed and not self.final
        found = spans(marks + self.view[self.resumed : self.resumed_end], open_ended=going_on)
        return sum(span.start < len(marks) for span in found) < len(self.state.marks)

    def reach(self, budget: int) -> int:
        """Say how far a number of units goes; never to the end of a window that is not the end of the text."""
        if self.measure is len:
            return min(self.start + max(budget, 0), self.last)
        return min(reach(self.view, self.start, budget, self.measure), self.last)

    def advance(self, start: int, eol: int, leaf: Leaf | None = None) -> None:
        """Go behind a line, and note whether its block runs over the room."""
        self.pos = eol + 1
        self.text_end = eol
        self.dangling = False
        if self.para == self.resumed and self.leaf == "paragraph":
            self.resumed_end = eol
        if self.tail and self.leaf == "paragraph" and self.para == self.tail.start:
            self.tail_end = eol
        if eol <= self.cap or self.tail:
            return
        kind: Leaf = leaf or self.leaf
        if kind not in ("fence", "indented"):
            stripped = len(self.view[:eol].rstrip())
            if stripped <= self.cap:
                self.text_end = stripped
                return
        self.tail = Tail(kind, self.para if kind == "paragraph" else start, self.containers)
        self.tail_end = eol

    def set_fence(self, fence: Fence) -> None:
        """Note the open fence, and what closes it, if a chunk has room for that at all."""
        self.fence = fence
        self.fence_containers = self.containers
        suffix = closing(self.containers, self.base, fence)
        needed = len(suffix) + len(fence.marker) + fence.indent + 1 + WIDEST
        self.closer = suffix
        self.suffix = suffix if needed + 2 * len(lead(self.containers, self.base)) <= self.limit else ""
