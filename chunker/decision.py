"""The decision where a chunk ends. A pure function of a state and a window: all of the chunker's laws meet here.

Order of preference, each at the last place that fits:

1. everything, if the text is over and fits;
2. behind a block, at a line end, behind a sentence, at white space, if the chunk is then at least half full;
3. the same four with a chunk that is less than half full;
4. inside an emphasis or code span too long for a chunk, closed before the cut and reopened behind it;
5. inside a line of code, or between two grapheme clusters.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from chunker.boundary import Paragraph, Place
from chunker.chunk import Reason
from chunker.cluster import boundary
from chunker.code import code_place, code_start
from chunker.excerpt import write
from chunker.header import row_at
from chunker.leap import leap
from chunker.length import Measure, reach
from chunker.line import DEFINITION, HEADING
from chunker.scanner import scan
from chunker.state import START, Leaf, Row, State
from chunker.survey import INK, Boundary, Survey, Tail, first_ink

GAP = re.compile(r"\n[ \t]*\n\s*(?=\S)")
"""A blank line, and what is white behind it."""
CODE = ("fence", "indented")
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
    ink = first_ink(source, start)
    if ink == len(source):
        return None
    line = source.rfind("\n", start, ink) + 1 or start
    past = first_ink(source, max(reach(source, line, rules.limit, rules.measure), ink + 1))
    return past if past < len(source) else None


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
    whole, is_end = window, final
    decision = _decide(state, window, final=final, rules=rules)
    while rules.fits and rules.limit > 1 and not rules.fits(decision.text):
        rules = rules._replace(limit=rules.limit * 3 // 4)
        last = due(window, 0, rules)
        if last is not None and last + 1 < len(window):
            window, final = window[: last + 1], False
        decision = _decide(state, window, final=final, rules=rules)
    if is_end and not whole[decision.used :].strip():
        return decision._replace(used=len(whole))  # what is white behind the last chunk is the last chunk's
    return decision


def release(state: State, source: str, seen: int, least: int, rules: Rules) -> tuple[Decision | None, int]:
    """Cut at the first block end behind ``least`` units, if there is one that is marked by a blank line.

    Args:
        state: What is open where the source begins.
        source: The open rest, as far as no cut is due in it.
        seen: So far it was looked through before, in vain.
        least: The units that a chunk must hold.
        rules: The limit and what else is asked of the text.

    Returns:
        The decision, if there is one, and how far the source was looked through.
    """
    view = flat(source)
    ink = INK.search(view)
    start = max(seen, reach(view, ink.start() if ink else 0, least, rules.measure) - 1)
    for gap in GAP.finditer(view, start):
        line = view.rfind("\n", 0, gap.end()) + 1
        survey = scan(view[: gap.end() + 1], state, rules.limit, rules.measure, final=False, markup=rules.markup)
        block = survey.block
        if block and block.pos == line and rules.measure(view[: block.end].lstrip()) >= least:
            decision = _Cut(source, survey).make(block, "block")
            if not rules.fits or rules.fits(decision.text):
                return decision, 0
        seen = gap.start() + 1
    return None, seen


def flat(source: str) -> str:
    """Write every line end as a line feed, every character at its place."""
    return source.replace("\r\n", " \n").replace("\r", "\n") if "\r" in source else source


def _decide(state: State, window: str, *, final: bool, rules: Rules) -> Decision:
    view = flat(window)
    found = leap(view, state, rules.limit, rules.measure) if view is window and rules.markup and not final else None
    if found:
        text, cut = found
        return Decision(text, cut.pos, State("none", cut.containers, cut.markers), "block")
    survey = scan(view, state, rules.limit, rules.measure, final=final, markup=rules.markup)
    if state.marks and survey.strays():
        return _decide(state._replace(marks=()), window, final=final, rules=rules)
    decision = _Cut(window, survey).choose()
    text = decision.text
    if (rules.measure(text) > rules.limit and len(text) > 1) or not text.strip() or decision.used > survey.last:
        return _raw(window, final=final, rules=rules)
    return decision


def _raw(window: str, *, final: bool, rules: Rules) -> Decision:
    """Cut without regard to Markdown, where a limit leaves no room for what would have to be added."""
    found = INK.search(window)
    ink = found.start() if found else 0
    at = reach(window, ink, rules.limit, rules.measure)
    if not final:
        at = min(at, len(window) - 1)
    if final and at == len(window):
        return Decision(window[ink:].rstrip(), at, START, "end")
    white = max(window.rfind(" ", ink, at + 1), window.rfind("\n", ink, at + 1))
    at = white if white > ink else boundary(window, at, ink) if at > ink else ink + 1
    behind = INK.search(window, at)
    return Decision(window[ink:at].rstrip(), behind.start() if behind else len(window), START, "cluster")


class _Cut:
    """Chooses among what a scan found."""

    def __init__(self, window: str, survey: Survey) -> None:
        self.window = window
        self.survey = survey
        self.leaf: Leaf = survey.tail.leaf if survey.tail else "fence" if survey.dangling else survey.leaf

    def choose(self) -> Decision:
        """Cut where the order of preference says."""
        survey = self.survey
        if survey.final and not survey.tail:
            closer = survey.closer if survey.dangling or survey.leaf == "fence" else ""
            fits = survey.text_end <= survey.cap_inside(closer, survey.text_end)
            if not fits and not survey.suffix and not survey.block:
                closer = ""  # there is no room, and no better place to look for some
            if survey.text_end <= survey.cap_inside(closer, survey.text_end):
                return self.make(Boundary(survey.text_end, survey.size, START, closer), "end")
        if survey.block and survey.block.end >= survey.half:
            return self.make(survey.block, "block")
        if survey.tail and self.leaf not in CODE:
            return self.in_tail(self.paragraph(survey.tail))
        return self.in_code()

    def paragraph(self, tail: Tail) -> Paragraph:
        """Look into the paragraph that runs over the room."""
        survey = self.survey
        return Paragraph(
            survey.view,
            first=survey.ink,
            start=tail.start,
            stop=survey.tail_end,
            cap=survey.cap,
            room=survey.cap_inside,
            marks=survey.state.marks if tail.start == survey.resumed else (),
            containers=tail.containers,
            open_ended=not survey.final and survey.leaf == "paragraph" and survey.para == tail.start,
            markup=survey.markup,
        )

    def in_tail(self, paragraph: Paragraph) -> Decision:
        """Cut where the order of preference says, a paragraph, heading or row being what runs over the room."""
        survey = self.survey
        kinds: tuple[Reason, ...] = KINDS if self.leaf == "paragraph" else ()
        for floor in (survey.half, 0):
            if survey.block and survey.block.end >= floor:
                return self.make(survey.block, "block")
            place = paragraph.last("line", floor) if kinds else None
            if place:
                return self.at(place)
            if survey.line and survey.line.end >= floor:
                return self.make(survey.line, "line")
            for kind in kinds[1:]:
                place = paragraph.last(kind, floor)
                if place:
                    return self.at(place)
        if survey.lone and not kinds:
            return self.make(survey.lone, "line")
        return self.in_span(paragraph, kinds or KINDS[1:])

    def in_span(self, paragraph: Paragraph, kinds: tuple[Reason, ...]) -> Decision:
        """Cut what is better left whole, as little of it as will do, or else anywhere."""
        survey = self.survey
        for breaking in range(len(paragraph.broken) + 1):
            for floor in (survey.half, 0):
                for kind in kinds:
                    place = paragraph.last(kind, floor, breaking=breaking, doubtful=True)
                    if place:
                        return self.at(place)
        if survey.lone:
            return self.make(survey.lone, "line")
        return self.at(paragraph.cluster(survey.cap_inside("")))

    def in_code(self) -> Decision:
        """Cut where the order of preference says, code being what runs over the room."""
        survey = self.survey
        for floor in (survey.half, 0):
            if survey.block and survey.block.end >= floor:
                return self.make(survey.block, "block")
            if survey.gap and survey.gap.end >= survey.half:
                return self.make(survey.gap, "line")
            if survey.line and survey.line.end >= floor:
                return self.make(survey.line, "line")
        if survey.lone and (not survey.body or survey.cap_inside(survey.suffix) <= code_start(survey, self.leaf)):
            return self.make(survey.lone, "line")
        return self.make(code_place(survey, self.leaf), "code")

    def at(self, place: Place) -> Decision:
        """Cut inside a paragraph, a heading or a row."""
        survey = self.survey
        tail = survey.tail or Tail("none", survey.ink, ())
        leaf = self.leaf_at(place, tail.start)
        header = survey.header if leaf == "table" and survey.body else ""
        row = row_at(survey, place.end, tail.start, mid=place.mid) if leaf == "paragraph" else Row()
        state = State(leaf, tail.containers, survey.markers, None, header, place.marks, place.mid, row)
        return self.make(Boundary(place.end, place.pos, state, "".join(reversed(place.marks))), place.reason)

    def leaf_at(self, place: Place, start: int) -> Leaf:
        """Say what the cut breaks: a row, a line with which nothing goes on, or, as far as one can see, a paragraph."""
        survey, view = self.survey, self.survey.view
        in_delimiter = place.mid and view.find("\n", start, place.pos) >= 0
        if self.leaf == "table" and (survey.body or in_delimiter):
            return "table"
        if start == survey.resumed:
            return "heading" if survey.state.leaf == "heading" else "paragraph"
        return "heading" if HEADING.match(view, start) or DEFINITION.match(view, start) else "paragraph"

    def make(self, boundary: Boundary, reason: Reason) -> Decision:
        """Write the chunk."""
        survey, window = self.survey, self.window
        end, used, state, suffix = boundary
        text = write(window, survey.start, end, survey.edits)
        if state.leaf not in CODE and not suffix.strip("\n"):
            text = text.rstrip()
        return Decision(survey.opening.prefix + text + suffix, used, state, reason)
