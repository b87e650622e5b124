"""The decision where a chunk ends. A pure function of a state and a window: all of the chunker's laws meet here.

Order of preference, each at the last place that fits:

1. everything, if the text is over and fits;
2. behind a block, at a line end, behind a sentence, at white space, if the chunk is then at least half full;
3. the same four with a chunk that is less than half full;
4. inside an emphasis or code span too long for a chunk, closed before the cut and reopened behind it;
5. inside a line of code, or between two grapheme clusters.
"""

from collections.abc import Callable
from typing import NamedTuple

from chunker.boundary import Paragraph, Place
from chunker.chunk import Reason
from chunker.cluster import boundary
from chunker.excerpt import write
from chunker.length import Measure, reach
from chunker.line import HEADING, content, read
from chunker.scanner import INK, Boundary, Scanner
from chunker.state import START, Leaf, State

CODE = (Leaf.FENCE, Leaf.INDENTED)
KINDS: tuple[Reason, ...] = ("line", "sentence", "space")


class Rules(NamedTuple):
    """What a chunk has to be."""

    limit: int
    measure: Measure
    fits: Callable[[str], bool] | None = None
    markup: bool = True


class Decision(NamedTuple):
    """A chunk, and how to go on behind it."""

    text: str
    used: int
    """How much of the window the chunk stands for."""
    state: State
    reason: Reason


def due(source: str, start: int, rules: Rules) -> int | None:
    """Find the character that makes a cut due: the first that is not white past the limit of source.

    Leading blank lines do not count. None while there is no such character.
    """
    ink = INK.search(source, start)
    if not ink:
        return None
    line = source.rfind("\n", start, ink.start()) + 1
    past = INK.search(source, reach(source, max(line, start), rules.limit, rules.measure))
    return past.start() if past else None


def decide(state: State, window: str, *, final: bool, rules: Rules) -> Decision:
    """Cut one chunk from the front of a window.

    Args:
        state: What is open where the window begins.
        window: The source, up to the character that makes a cut due, or, if ``final``, to its end.
        final: The window ends with the source.
        rules: The limit and what else is asked of the text.

    Returns:
        A decision that uses at least one character, and that leaves something to use if not ``final``.
    """
    decision = _decide(state, window, final=final, rules=rules)
    while rules.fits and rules.limit > 1 and not rules.fits(decision.text):
        rules = rules._replace(limit=rules.limit * 3 // 4)
        last = due(window, 0, rules)
        if last is not None and last + 1 < len(window):
            window, final = window[: last + 1], False
        decision = _decide(state, window, final=final, rules=rules)
    return decision


def flat(source: str) -> str:
    """Write every line end as a line feed, every character at its place."""
    return source.replace("\r\n", " \n").replace("\r", "\n") if "\r" in source else source


def _decide(state: State, window: str, *, final: bool, rules: Rules) -> Decision:
    scan = Scanner(flat(window), state, rules.limit, rules.measure, final=final, markup=rules.markup)
    scan.run()
    if state.marks and scan.strays():
        return _decide(state._replace(marks=()), window, final=final, rules=rules)
    cut = _Cut(window, scan)
    if final and not scan.tail:
        suffix = scan.suffix if scan.dangling or scan.leaf is Leaf.FENCE else ""
        if scan.text_end <= scan.cap_before(suffix):
            return cut.make(Boundary(scan.text_end, len(window), START, suffix), "end")
    return cut.in_tail() if cut.paragraph else cut.in_code()


class _Cut:
    """Chooses among what a scan found."""

    def __init__(self, window: str, scan: Scanner) -> None:
        self.window = window
        self.scan = scan
        self.leaf = scan.tail.leaf if scan.tail else scan.leaf
        self.paragraph: Paragraph | None = None
        tail = scan.tail
        if tail and self.leaf not in CODE:
            resumed = tail.start == scan.resumed
            self.paragraph = Paragraph(
                scan.view,
                first=scan.ink,
                start=tail.start,
                stop=scan.tail_end,
                cap=scan.cap,
                marks=scan.state.marks if resumed else (),
                containers=tail.containers,
                open_ended=not scan.final and scan.leaf is Leaf.PARAGRAPH and scan.para == tail.start,
                markup=scan.markup,
            )

    def in_tail(self) -> Decision:
        """Cut where the order of preference says, the paragraph included that runs over the room."""
        scan, paragraph = self.scan, self.paragraph
        assert paragraph
        kinds = KINDS if self.leaf is Leaf.PARAGRAPH else KINDS[1:]
        whole = self.leaf is not Leaf.PARAGRAPH
        for floor in (scan.half, 0):
            if scan.block and scan.block.end >= floor:
                return self.make(scan.block, "block")
            if whole and scan.line and scan.line.end >= floor:
                return self.make(scan.line, "line")
            for kind in () if whole else kinds:
                place = paragraph.last(kind, floor)
                if place:
                    return self.at(place)
                if kind == "line" and scan.line and scan.line.end >= floor:
                    return self.make(scan.line, "line")
        if scan.line:
            return self.make(scan.line, "line")
        if whole and scan.lone:
            return self.make(scan.lone, "line")
        for breaking in range(len(paragraph.broken) + 1):
            for floor in (scan.half, 0):
                for kind in kinds:
                    place = paragraph.last(kind, floor, breaking=breaking, doubtful=True)
                    if place:
                        return self.at(place)
        if scan.lone:
            return self.make(scan.lone, "line")
        return self.at(paragraph.cluster(scan.cap))

    def in_code(self) -> Decision:
        """Cut where the order of preference says, code being what runs over the room."""
        scan = self.scan
        for floor in (scan.half, 0):
            if scan.block and scan.block.end >= floor:
                return self.make(scan.block, "block")
            if scan.line and scan.line.end >= floor:
                return self.make(scan.line, "line")
        if scan.lone and (not scan.body or scan.cap_before(scan.suffix) <= scan.code):
            return self.make(scan.lone, "line")
        return self.in_code_line()

    def in_code_line(self) -> Decision:
        """Cut inside a line of code."""
        scan, view = self.scan, self.scan.view
        suffix = scan.suffix if self.leaf is Leaf.FENCE and scan.body else ""
        low = scan.ink
        if scan.leaf is Leaf.INDENTED and scan.tail:
            low = max(low, scan.tail.start)
        elif scan.body:
            low = max(low, scan.code)
        cap = scan.cap_inside(suffix)
        if cap <= low:
            suffix, cap = "", scan.cap_inside("")
        at = boundary(view, cap, low) if cap > low else low + 1
        line = view.rfind("\n", low, at + 1)
        while line > low + 1 and self.prefix_end(line + 1) >= at:
            # Before its content, a line may yet turn out to close the fence.
            at = min(len(view[:line].rstrip()) - 1, scan.cap_inside(suffix, line + 1))
            at = boundary(view, at, low) if at > low else low + 1
            line = view.rfind("\n", low, at + 1)
        eol = view.find("\n", at)
        if eol >= 0 and not view[at:eol].strip():
            at = boundary(view, max(len(view[:at].rstrip()) - 1, low + 1), low)
        mid = view[at - 1] != "\n"
        containers = scan.fence_containers if self.leaf is Leaf.FENCE else scan.containers
        state = State(self.leaf, containers, scan.fence, mid=mid)
        return self.make(Boundary(at, at, state, suffix), "code")

    def prefix_end(self, line: int) -> int:
        """Find where the content of a code line begins; where it may be a closer, its end."""
        scan, view = self.scan, self.scan.view
        eol = scan.end_of_line(line)
        start = content(view, read(view, line, eol, scan.containers))[0]
        marker = scan.fence.marker[0] if scan.leaf is Leaf.FENCE and scan.fence else " "
        return eol if eol == len(view) and not view[start:eol].strip(" \t" + marker) else start

    def at(self, place: Place) -> Decision:
        """Cut inside a paragraph, a heading or a row."""
        scan = self.scan
        containers = scan.tail.containers if scan.tail else ()
        leaf = self.leaf
        if leaf is Leaf.HEADING and not (scan.tail and HEADING.match(scan.view, scan.tail.start)):
            leaf = Leaf.PARAGRAPH  # its underline is still to come
        if leaf is Leaf.NONE:
            leaf = Leaf.PARAGRAPH
        state = State(leaf, containers, header=scan.header, marks=place.marks, mid=place.mid)
        return self.make(Boundary(place.end, place.pos, state, "".join(reversed(place.marks))), place.reason)

    def make(self, boundary: Boundary, reason: Reason) -> Decision:
        """Write the chunk."""
        scan, window = self.scan, self.window
        end, used, state, suffix = boundary
        text = write(window, scan.start, end, scan.edits)
        if state.leaf not in CODE and not suffix.strip("\n"):
            text = text.rstrip()
        if scan.final and not window[used:].strip():
            used = len(window)
        return Decision(scan.opening.prefix + text + suffix, used, state, reason)
