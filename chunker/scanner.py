"""Reading a window of Markdown line by line, for the places where it may be cut.

Rule 1: a line is looked at once; what it needs of those before it stands in the scanner's fields.
Rule 2: two boundaries are kept, the last that fits behind a block and the last that fits at another line end. The
line ends inside the paragraph that runs over the room are left to `boundary`.
Rule 3: nothing is concluded from what a last line that is not whole might become.
Rule 4: a chunk that begins inside list items is written without their indentation. `Edit`s say where the text parts
from the source; what is not edited is sent as it stands.
"""

import re
from typing import NamedTuple

from chunker.excerpt import Edit, closing, opening
from chunker.inline import spans
from chunker.length import WIDEST, Measure, reach
from chunker.line import (
    FENCE,
    HEADING,
    INDENT,
    ITEM,
    DEFINITION,
    MARKER,
    OPENER,
    RULE,
    UNDERLINE,
    Reading,
    begins_block,
    cells,
    content,
    expanded,
    is_table,
    is_weak,
    item_width,
    read,
    skip,
)
from chunker.state import DEEPEST, QUOTE, Fence, Leaf, State, lead

INK = re.compile(r"\S")
PREFIX = re.compile(r"(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+")
HEAD_PART = re.compile(r"[-:|= \t]+$", re.MULTILINE)
SPECIAL = frozenset(" \t\n`~#>-*_+=|:0123456789")
"""What a line begins with that may be more than a line of a paragraph."""


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


class Scanner:
    """Reads one window, once. After `run` the fields tell what was found."""

    def __init__(
        self, view: str, state: State, limit: int, measure: Measure, *, final: bool, markup: bool = True
    ) -> None:
        self.view = view
        self.size = len(view)
        self.limit = limit
        self.measure = measure
        self.final = final
        self.markup = markup
        self.state = state
        self.opening = opening(state, limit, measure)
        self.room = limit - measure(self.opening.prefix)
        self.growth = 0
        ink = INK.search(view)
        self.ink = ink.start() if ink else self.size
        keeps = state.mid or state.leaf in (Leaf.FENCE, Leaf.INDENTED)
        self.start = 0 if keeps else view.rfind("\n", 0, self.ink) + 1
        self.last = self.size if final else self.size - 1
        self.cap = self.reach(self.room)
        self.half = reach(view, self.start, (limit + 1) // 2 - (limit - self.room), measure)

        self.leaf = state.leaf
        self.containers = state.containers
        self.fence = state.fence
        self.fence_containers = state.containers
        self.suffix = ""
        self.header = state.header
        self.base = len(state.containers)
        self.body = False
        """The open fence or table has a line in this chunk."""
        self.code = self.size
        """Where the code of the open fence begins in this chunk."""
        self.opener = self.start
        """Where the line begins that opens the open fence."""
        self.markers: dict[int, str] = {}
        """Of the list items that began here, by depth, the character that tells their list from another."""
        self.hollow = False
        """The innermost item has nothing but its marker so far."""
        self.heading = -1
        """Where the heading begins that is the last block, or -1."""
        self.para = self.start
        self.row = self.start
        self.resumed = -1
        self.resumed_end = self.size
        """Where the paragraph's text begins that the chunk goes on with."""
        self.edits: list[Edit] = []

        self.pos = self.start
        self.text_end = self.start
        self.block: Boundary | None = None
        self.line: Boundary | None = None
        self.lone: Boundary | None = None
        """A cut that breaks nothing, but leaves a heading alone, or a line that may go on."""
        self.loose = state.leaf is Leaf.HEADING or (state.leaf is Leaf.TABLE and not self.opening.prefix)
        """The chunk's first lines are written as a paragraph, but are none."""
        self.dangling = False
        """A fence was left without a closer since the last text."""
        self.tail: Tail | None = None
        self.tail_end = self.size
        """Where the paragraph ends that runs over the room, as far as it is known."""
        if self.fence and self.leaf is Leaf.FENCE:
            self.set_fence(self.fence)
            self.suffix = self.suffix if self.opening.prefix else ""

    def run(self) -> None:
        """Read lines until the window is over, or the block is that runs over the room."""
        if not self.markup:
            self.run_plain()
            return
        if self.pos < self.size:
            self.first_line()
        while self.pos < self.size:
            if self.tail and not (self.leaf is Leaf.PARAGRAPH and self.para == self.tail.start):
                return
            if self.containers:
                self.any_line()
            elif self.leaf is Leaf.FENCE:
                self.fence_lines()
            elif self.view[self.pos] in SPECIAL:
                self.any_line()
            else:
                self.plain_line()

    def run_plain(self) -> None:
        """Read lines as text without markup."""
        if self.state.mid or self.leaf is Leaf.PARAGRAPH:
            self.leaf = Leaf.PARAGRAPH
        while self.pos < self.size and not (self.tail and self.leaf is not Leaf.PARAGRAPH):
            if INK.match(self.view, skip(self.view, self.pos, 0)[0]):
                self.plain_line()
            else:
                self.pos = self.end_of_line(self.pos) + 1
                self.leaf = Leaf.NONE

    # -- kinds of lines -------------------------------------------------------------------------------------------

    def first_line(self) -> None:
        """Read the line in which the chunk begins, and write what was open before it."""
        state, pos = self.state, self.pos
        if not state.mid and state.leaf not in (Leaf.PARAGRAPH, Leaf.HEADING):
            self.any_line()
            return
        eol = self.end_of_line(pos)
        marks = "".join(state.marks)
        if state.mid:
            self.edit(pos, pos, self.opening.quotes + (" " * INDENT if self.leaf is Leaf.INDENTED else marks))
            first = pos
        else:
            first = read(self.view, pos, eol, state.containers).first
            self.edit(pos, first, self.opening.quotes + marks)
        self.para = self.row = self.resumed = first
        self.body = True
        self.code = pos
        if self.leaf is Leaf.HEADING:
            self.leaf = Leaf.PARAGRAPH
            self.advance(first, eol)
            self.leaf = Leaf.NONE
        else:
            self.advance(first, eol)

    def plain_line(self) -> None:
        """Read a line that can be nothing but text, outside all containers."""
        pos = self.pos
        eol = self.end_of_line(pos)
        if self.leaf is Leaf.TABLE:
            self.table_row(pos, pos, eol)
            return
        if self.leaf is not Leaf.PARAGRAPH:
            self.boundary(self.text_end, pos)
            self.leaf = Leaf.PARAGRAPH
            self.heading = -1
            self.para = pos
        self.row = pos
        self.advance(pos, eol)
        if self.view[pos] == "[" and self.para == pos and not self.tail and DEFINITION.match(self.view, pos):
            self.leaf = Leaf.NONE

    def any_line(self) -> None:
        """Read a line of any kind."""
        pos = self.pos
        eol = self.end_of_line(pos)
        reading = read(self.view, pos, eol, self.containers)
        if reading.first >= eol and self.is_partial(eol):
            self.bare_line(pos, eol)
            return
        if reading.first >= eol:
            self.blank_line(reading, pos, eol)
            return
        self.hollow = False
        if reading.matched == len(self.containers):
            self.inner_line(reading, pos, eol)
        elif self.leaf is Leaf.PARAGRAPH and self.is_lazy(reading, eol):
            self.lazy_line(reading, pos, eol)
        else:
            self.new_block(reading, pos, eol)

    def bare_line(self, pos: int, eol: int) -> None:
        """Read a last line of which only the marks of its containers are known."""
        if self.leaf in (Leaf.NONE, Leaf.INDENTED):
            self.boundary(self.text_end, pos, self.leaf)
        if self.leaf is Leaf.FENCE:
            self.pos = eol + 1
            self.tail = self.tail or Tail(self.leaf, pos, self.containers)
        else:
            self.unsure_line(pos, eol)

    def unsure_line(self, pos: int, eol: int) -> None:
        """Read a last line that may or may not go on with its block."""
        self.doubtful(pos)
        self.pos = eol + 1
        if not self.tail:
            self.tail = Tail(self.leaf, self.para if self.leaf is Leaf.PARAGRAPH else pos, self.containers)
            self.tail_end = self.text_end

    def blank_line(self, reading: Reading, pos: int, eol: int) -> None:
        """Read a line without content: it ends every leaf but a fence, and quotes without a marker."""
        self.pos = eol + 1
        if reading.matched == len(self.containers) and self.leaf is Leaf.FENCE:
            self.rewrite(reading, pos, eol)
            return
        self.dangling = self.dangling or self.leaf is Leaf.FENCE
        self.leaf = Leaf.NONE
        self.containers = self.containers[: reading.matched - self.hollow]
        self.hollow = False
        self.base = min(self.base, len(self.containers))

    def inner_line(self, reading: Reading, pos: int, eol: int) -> None:
        """Read a line that goes on in all open containers."""
        leaf, first = self.leaf, reading.first
        deep = reading.fcol - reading.col >= INDENT
        if leaf is Leaf.FENCE:
            self.code_line(reading, pos, eol)
        elif leaf is Leaf.INDENTED and deep:
            self.boundary(self.text_end, pos, Leaf.INDENTED)
            self.rewrite(reading, pos, eol)
            self.advance(pos, eol)
        elif leaf is Leaf.PARAGRAPH:
            self.paragraph_line(reading, pos, eol)
        elif leaf is Leaf.TABLE and not deep and (self.is_unsure(first, eol) or not self.begins(first, eol)):
            self.rewrite(reading, pos, eol)
            self.table_row(pos, first, eol)
        else:
            self.new_block(reading, pos, eol)

    def code_line(self, reading: Reading, pos: int, eol: int) -> None:
        """Read a line of an open fence, its closer included."""
        fence = self.fence or Fence(0, "```", "")
        run = self.view[reading.first : eol].rstrip(" \t")
        char = fence.marker[0]
        closes = reading.fcol - reading.col < INDENT and not run.strip(char)
        if closes and len(run) >= len(fence.marker):
            self.rewrite(reading, pos, eol)
            self.leaf = Leaf.NONE
            self.advance(pos, eol, Leaf.FENCE)
            return
        if self.body and not (closes and self.is_partial(eol)):
            self.boundary(self.text_end, pos, Leaf.FENCE)
        self.rewrite(reading, pos, eol)
        self.code = self.code if self.body else reading.first
        self.body = True
        self.advance(pos, eol)

    def fence_lines(self) -> None:
        """Read all lines of a fence outside containers in one go."""
        fence = self.fence or Fence(0, "```", "")
        start, view = self.pos, self.view
        closer = re.compile(rf"^ {{0,3}}{fence.marker}{fence.marker[0]}*+[ \t]*$", re.MULTILINE).search(view, start)
        stop = closer.start() if closer else self.size
        if not closer and not self.final:
            last = view.rfind("\n", start, stop) + 1 or start
            if not view[last:stop].strip(" \t" + fence.marker[0]):
                stop = last
        self.fence_boundary(start, stop)
        ink = INK.search(view, start, stop)
        if ink:
            self.code = self.code if self.body else ink.start()
            self.body = True
            self.text_end = start + len(view[start:stop].rstrip("\n"))
        if closer:
            self.leaf = Leaf.NONE
            self.pos = closer.start()
            self.advance(closer.start(), closer.end(), Leaf.FENCE)
        else:
            self.advance(start, self.size)

    def fence_boundary(self, start: int, stop: int) -> None:
        """Find the last code line before which these lines may be cut."""
        view = self.view
        cap = self.cap_before(self.suffix)
        low = start - 1 if self.body else start
        line_break = view.rfind("\n", low, min(cap + 1, stop))
        while line_break >= low:
            has_content = self.body or view[start:line_break].strip()
            if not has_content:
                return
            ink = INK.search(view, line_break, stop)
            if ink:
                self.boundary(line_break, view.rfind("\n", low, ink.start()) + 1, Leaf.FENCE)
                return
            # Only blank lines stand between here and the closer: go before the last line that has content.
            line_break = view.rfind("\n", low, len(view[:line_break].rstrip()))

    def table_row(self, pos: int, first: int, eol: int) -> None:
        """Read a body row of a table."""
        # A head without a row is left alone only where nothing else can be done.
        if not self.body and (self.block or self.line):
            pass
        elif self.view[first] == "|" or not self.is_unsure(first, eol):
            self.boundary(self.text_end, pos, Leaf.TABLE)
        else:
            self.doubtful(pos)
        self.body = True
        self.advance(first, eol)

    def paragraph_line(self, reading: Reading, pos: int, eol: int) -> None:
        """Read a line that may go on with the paragraph, underline it, make a table of it, or end it."""
        view, first = self.view, reading.first
        if reading.fcol - reading.col < INDENT:
            if UNDERLINE.match(view, first):
                self.rewrite(reading, pos, eol)
                self.underline(eol)
                return
            if self.table_head(reading, pos, eol):
                return
            if self.is_unsure(first, eol):
                self.unsure_line(pos, eol)
                return
            if self.begins(first, eol, interrupting=True):
                self.new_block(reading, pos, eol)
                return
        self.rewrite(reading, pos, eol)
        self.row = first
        self.advance(first, eol)

    def underline(self, eol: int) -> None:
        """Make the paragraph a heading."""
        self.leaf = Leaf.HEADING
        self.advance(self.para, eol)
        if self.tail:
            self.tail = Tail(Leaf.HEADING, self.para, self.containers)
        self.leaf = Leaf.NONE
        self.heading = self.para

    def table_head(self, reading: Reading, pos: int, eol: int) -> bool:
        """Make the paragraph's last line the header of a table, if this line is its delimiter row."""
        if self.row < 0:
            return False
        header = self.view[self.row : self.text_end].strip()
        delimiter = self.view[reading.first : eol].rstrip(" \t")
        if self.is_partial(eol):
            if "|" not in header or not HEAD_PART.fullmatch(delimiter) or delimiter[0] not in "|:":
                return False
        elif self.row == self.resumed and self.state.mid and cells(header) < cells(delimiter) and is_table(delimiter, delimiter):
            self.loose = True  # the rest of a header too long for a chunk
        elif not is_table(header, delimiter):
            return False
        if self.row <= self.cap:
            self.tail = None
        if self.row > self.para:
            line = self.view.rfind("\n", 0, self.row) + 1
            self.boundary(line - 1, line)
        self.rewrite(reading, pos, eol)
        self.leaf = Leaf.TABLE
        self.header = "" if self.loose else f"{header}\n{delimiter}"
        if self.para == self.resumed:
            self.resumed_end = self.row if self.row > self.para else self.row
        self.body = False
        self.advance(self.row, eol)
        return True

    def lazy_line(self, reading: Reading, pos: int, eol: int) -> None:
        """Read a line that goes on with a paragraph although its containers do not."""
        at = reading.first
        if self.is_unsure(at, eol):
            self.unsure_line(pos, eol)
            return
        if self.is_bare(reading.matched) and HEAD_PART.match(self.view, at):
            # Written without its item, the paragraph would become a heading or a table; so far in, nothing does.
            self.edit(pos, at, lead(self.containers[: reading.matched], self.base) + " " * INDENT)
        else:
            self.rewrite(reading, pos, eol)
        self.row = -1  # markdown-it makes no table's header of it
        self.advance(reading.first, eol)

    def new_block(self, reading: Reading, pos: int, eol: int) -> None:
        """Begin a block, and end what its line ends."""
        open_fence = self.dangling or self.leaf is Leaf.FENCE
        if open_fence and self.body and not self.tail and self.text_end > self.cap_before(self.suffix):
            self.tail = Tail(Leaf.FENCE, self.code, self.containers)
            return
        self.boundary(self.text_end, pos)
        sibling = self.is_sibling(reading)
        if self.loose and self.text_end == pos - 1:
            # What was a heading or a row is a paragraph here, and would take the line in.
            self.edit(pos, pos, lead(self.containers[: reading.matched], self.base).rstrip(" ") + "\n")
        self.loose = False
        if reading.matched < len(self.containers):
            self.leave(reading, pos, eol)
        self.rewrite(reading, pos, eol)
        self.open(reading, pos, eol, sibling=sibling)

    # -- opening and leaving --------------------------------------------------------------------------------------

    def open(self, reading: Reading, pos: int, eol: int, *, sibling: bool) -> None:
        """Open the containers and the leaf that begin in a line.

        Args:
            reading: The line.
            pos: Where it begins.
            eol: Where it ends.
            sibling: It ended a list item, so that its marker goes on with a list.
        """
        view = self.view
        self.leaf = Leaf.NONE
        while reading.first < eol:
            char = view[reading.first]
            if reading.fcol - reading.col >= INDENT:
                self.leaf = Leaf.INDENTED
                break
            if not sibling and char != "|" and view.find("|", reading.first, eol) >= 0 and self.heads_table(reading, eol):
                self.leaf = Leaf.PARAGRAPH
                self.para = self.row = reading.first
                break
            if char in "-*_" and RULE.match(view, reading.first):
                break
            if char == ">" and len(self.containers) < DEEPEST:
                self.containers += (QUOTE,)
                col = reading.fcol + 1
                first, fcol = skip(view, reading.first + 1, col)
                reading = Reading(0, col + (fcol > col), reading.first + 1, col, first, fcol)
            elif ITEM.match(view, reading.first) and len(self.containers) < DEEPEST:
                self.markers[len(self.containers)] = char if char in "-+*" else view[ITEM.match(view, reading.first).end() - 1]
                width, reading = item_width(view, reading, eol)
                self.containers += (width,)
                self.hollow = reading.first >= eol
            else:
                self.open_leaf(reading, pos, eol)
                return
        if reading.first < eol:
            self.heading = -1
        self.advance(pos, eol)

    def heads_table(self, reading: Reading, eol: int) -> bool:
        """Say whether the next line makes a table's header of this one, whatever else it looks like.

        markdown-it looks for tables first, so the marker of a list item becomes part of the first cell.
        """
        start = eol + 1
        stop = self.end_of_line(start)
        if start >= self.size or self.is_partial(stop):
            return False
        after = read(self.view, start, stop, self.containers)
        if after.matched < len(self.containers) or after.fcol - after.col >= INDENT:
            return False
        return is_table(self.view[reading.first : eol].strip(), self.view[after.first : stop].rstrip(" \t"))

    def open_leaf(self, reading: Reading, pos: int, eol: int) -> None:
        """Open a fence, a heading or a paragraph."""
        first = reading.first
        self.heading = -1
        fence = FENCE.match(self.view, first)
        if fence:
            self.open_fence(fence, reading, eol)
        elif HEADING.match(self.view, first):
            self.leaf = Leaf.HEADING
            self.advance(first, eol)
            self.leaf = Leaf.NONE
            self.heading = pos
        else:
            self.leaf = Leaf.PARAGRAPH
            self.para = self.row = first
            self.advance(first, eol)
            if self.view[first] == "[" and not self.tail and DEFINITION.match(self.view, first):
                self.leaf = Leaf.NONE

    def open_fence(self, found: re.Match[str], reading: Reading, eol: int) -> None:
        """Open a fence. Where its line leaves no room for content, the info string becomes content."""
        marker = found[1] or found[3]
        info = (found[2] or found[4] or "").rstrip(" \t")
        self.leaf = Leaf.FENCE
        self.body = False
        self.opener = self.view.rfind("\n", 0, found.start()) + 1
        indent = reading.fcol - reading.col
        self.set_fence(Fence(indent, marker, info))
        line = self.measure(self.view[self.opener : found.end()])
        if info and self.suffix and line + 2 * len(self.suffix) + WIDEST > self.limit:
            self.set_fence(Fence(indent, marker, ""))
            at = found.start() + len(marker)
            self.edit(at, at, "\n" + lead(self.containers, self.base))
            self.body = True
            self.code = at
            self.advance(at, eol)
        else:
            self.advance(min(eol + 1, self.size), eol)

    def set_fence(self, fence: Fence) -> None:
        """Note the open fence, and what closes it, if a chunk has room for that at all."""
        self.fence = fence
        self.fence_containers = self.containers
        suffix = closing(self.containers, self.base, fence)
        needed = len(suffix) + len(fence.marker) + fence.indent + 1 + WIDEST
        self.suffix = suffix if needed + 2 * len(lead(self.containers)) <= self.limit else ""

    def leave(self, reading: Reading, pos: int, eol: int) -> None:
        """Leave the containers that do not go on, and end what only their indentation ended."""
        kept = self.containers[: reading.matched]
        if self.is_bare(reading.matched):
            quotes = lead(kept, self.base)
            if self.leaf is Leaf.FENCE and self.suffix:
                self.edit(pos, pos, f"{self.suffix[1:]}\n")
            elif self.leaf is Leaf.TABLE or (self.leaf is Leaf.PARAGRAPH and self.would_join(reading, eol)):
                self.edit(pos, pos, quotes.rstrip(" ") + "\n")
        self.leaf = Leaf.NONE
        self.hollow = False
        self.containers = kept
        self.base = min(self.base, len(kept))

    def is_bare(self, matched: int) -> bool:
        """Say whether the open leaf is written outside the items that are left, since the chunk began inside them."""
        return matched < self.base == len(self.containers) and QUOTE not in self.containers[matched:]

    def is_sibling(self, reading: Reading) -> bool:
        """Say whether a line goes on with the list whose item it ends."""
        depth = reading.matched
        if depth == len(self.containers) or self.containers[depth] == QUOTE:
            return False
        item = ITEM.match(self.view, reading.first)
        return item is not None and self.markers.get(depth, item[0][-1]) == item[0][-1]

    def would_join(self, reading: Reading, eol: int) -> bool:
        """Say whether a line would be read as part of a paragraph that stands at its own level."""
        first = reading.first
        if UNDERLINE.match(self.view, first) or reading.fcol - reading.col >= INDENT:
            return True
        item = ITEM.match(self.view, first)
        return item is not None and is_weak(self.view, first, item.end(), eol)

    def is_lazy(self, reading: Reading, eol: int) -> bool:
        """Say whether a line without all its containers goes on with the open paragraph."""
        deep = reading.fcol - reading.col >= INDENT
        if deep and (self.containers[reading.matched] == QUOTE or ITEM.match(self.view, reading.first)):
            return True
        return self.is_unsure(reading.first, eol) or not self.begins(reading.first, eol)

    def begins(self, first: int, eol: int, *, interrupting: bool = False) -> bool:
        """Say whether a line ends an open paragraph or table."""
        return begins_block(self.view, first, eol, interrupting=interrupting)

    # -- ends of lines --------------------------------------------------------------------------------------------

    def end_of_line(self, pos: int) -> int:
        """Find where a line ends."""
        eol = self.view.find("\n", pos)
        return self.size if eol < 0 else eol

    def is_partial(self, eol: int) -> bool:
        """Say whether a line goes on behind the window."""
        return eol == self.size and not self.final

    def is_unsure(self, first: int, eol: int) -> bool:
        """Say whether more of the line is needed to say what it begins."""
        return self.is_partial(eol) and (MARKER.match(self.view, first) is not None or OPENER.match(self.view, first) is not None)

    def rewrite(self, reading: Reading, pos: int, eol: int) -> None:
        """Write a line without the indentation of the items in which the chunk began."""
        if not self.base:
            return
        base = self.containers[: self.base]
        whole = reading
        if len(self.containers) > self.base:
            reading = read(self.view, pos, eol, base)
        if (max(base) == QUOTE and pos != self.start) or reading.matched < self.base:
            return
        at, pad = content(self.view, reading)
        stop = self.prefix_end(whole)
        if self.view.find("\t", at, stop) >= 0:
            # A tab reaches another column once what stands before it is gone.
            pad += expanded(self.view, at, stop, reading.col + len(pad))
            at = stop
        self.edit(pos, at, self.opening.quotes and lead(base, self.base) + pad or pad)

    def prefix_end(self, reading: Reading) -> int:
        """Find where the content of a line begins, whose tabs are its own."""
        if self.leaf is Leaf.FENCE and self.fence and not self.fence.indent:
            return content(self.view, reading)[0]
        if self.leaf in (Leaf.FENCE, Leaf.INDENTED):
            return reading.first
        found = PREFIX.match(self.view, reading.first)
        return found.end() if found else reading.first

    def edit(self, start: int, stop: int, insert: str) -> None:
        """Note where the text parts from the source."""
        if self.view[start:stop] == insert:
            return
        self.edits.append(Edit(start, stop, insert))
        if not self.tail:
            self.growth += len(insert) - (stop - start)
            self.cap = self.reach(self.room - self.growth)

    def boundary(self, end: int, pos: int, leaf: Leaf = Leaf.NONE) -> None:
        """Note that the text may be cut before the line at ``pos``, if what comes before it fits."""
        if end <= self.ink or self.tail:
            return
        suffix = self.suffix if self.dangling or self.leaf is Leaf.FENCE else ""
        if leaf is Leaf.FENCE and end < pos - 1 <= self.cap_before(suffix):
            end = pos - 1  # the blank lines of code before the cut are code, too
        elif end > (self.cap_inside(suffix, end) if suffix else self.cap):
            return
        if self.heading >= 0 and not (self.heading <= self.ink and end >= self.half):
            self.lone = Boundary(end, pos, State(leaf, self.containers), suffix)
        elif leaf is Leaf.NONE:
            self.block = Boundary(end, pos, State(Leaf.NONE, self.containers), suffix)
        else:
            self.line = Boundary(end, pos, State(leaf, self.containers, self.fence, self.header), suffix)

    def doubtful(self, pos: int) -> None:
        """Note a line end before a line that may or may not go on with the block; used where nothing better is."""
        if self.ink < self.text_end <= self.cap and not self.tail:
            self.lone = Boundary(self.text_end, pos, State(Leaf.NONE, self.containers), "")

    def cap_before(self, suffix: str) -> int:
        """Say how far the text may go if something follows it."""
        if not suffix:
            return self.cap
        return self.reach(self.room - self.growth - len(suffix))

    def cap_inside(self, suffix: str, stop: int | None = None) -> int:
        """Say how far the text may go if something follows it and it ends before ``stop``, or anywhere."""
        growth = self.growth
        at = self.reach(self.room - growth - len(suffix))
        for edit in reversed(self.edits):
            if edit.start < (at if stop is None else stop):
                break
            growth -= len(edit.insert) - (edit.stop - edit.start)
            at = self.reach(self.room - growth - len(suffix))
        return at

    def strays(self) -> bool:
        """Say whether the paragraph ends without closing a marker that was reopened in front of it."""
        marks = "".join(self.state.marks)
        going_on = self.leaf is Leaf.PARAGRAPH and self.para == self.resumed and not self.final
        found = spans(marks + self.view[self.resumed : self.resumed_end], open_ended=going_on)
        return sum(span.start < len(marks) for span in found) < len(self.state.marks)

    def reach(self, budget: int) -> int:
        """Say how far a number of units goes; never to the end of a window that is not the end of the text."""
        return min(reach(self.view, self.start, budget, self.measure), self.last)

    def advance(self, start: int, eol: int, leaf: Leaf | None = None) -> None:
        """Go behind a line, and note whether its block runs over the room."""
        self.pos = eol + 1
        self.text_end = eol
        self.dangling = False
        if self.para == self.resumed and self.leaf is Leaf.PARAGRAPH:
            self.resumed_end = eol
        if self.tail and self.leaf is Leaf.PARAGRAPH and self.para == self.tail.start:
            self.tail_end = eol
        if eol <= self.cap or self.tail:
            return
        leaf = leaf or self.leaf
        if leaf not in (Leaf.FENCE, Leaf.INDENTED):
            stripped = len(self.view[:eol].rstrip())
            if stripped <= self.cap:
                self.text_end = stripped
                return
        self.tail = Tail(leaf, self.para if leaf is Leaf.PARAGRAPH else start, self.containers)
        self.tail_end = eol
