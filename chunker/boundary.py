"""Places for a cut inside a paragraph: line ends, sentence ends, white space, and at last between two clusters.

Rule 1: what belongs together (`inline`) is not cut while it can be kept whole.
Rule 2: no cut makes the first thing of a chunk what was not the first thing of a line, where it would then mean more.
Rule 3: of each kind the last place that fits is taken; each kind is looked for backwards from the end of the room.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from chunker.chunk import Reason
from chunker.cluster import boundary
from chunker.inline import Span, spans
from chunker.line import read

SENTENCE = re.compile(r"[.!?…]+[\"'”’»)\]*_~`]*(?=\s)|[。！？；]+[”’」』）】》〉\"')*_~`]*")
UNFINISHED = re.compile(
    r"(?:\b(?:[a-zA-Z]|Dr|Mr|Mrs|Ms|Prof|Rev|St|Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|etc|al|cf|ca|approx|No|Nos|Nr|Fig|Figs|"
    r"Eq|Vol|pp|ed|eds|Ch|Sec|dept|est|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|bzw|usw|bspw|evtl|ggf|inkl)"
    r"|\d|\b[a-zA-Z]\.[a-zA-Z])\.\Z"
)
"""A full stop that ends no sentence: an abbreviation's, or a number's."""
GUARD = re.compile(
    r"#{1,6}(?:\s|\Z)|[><]|[-+*](?:\s|\Z)|\d{1,9}(?:[.)](?:\s|\Z)|\Z)|(?:=+|-+)[ \t]*(?:\n|\Z)|`{3}|~{3}|[`~]{1,2}\Z"
    r"|(?:[-*_][ \t]*){3,}(?:\n|\Z)|[-*_]{1,2}\Z|\[[^\]\n]*\]:|\[[^\]\n]*\]\Z|[|:][-:| \t]*(?:\n|\Z)"
)
HALF_LABEL = re.compile(r"\[[^\]\n]*\Z")
DEEPEST_BREAK = 3
"""Spans in one another that are closed and reopened at one cut."""
MOST_REFUSALS = 32
"""Places of one kind that are looked at in vain because of what would begin a chunk there."""
WHITE = re.compile(r"\s")
NO_BREAK = frozenset("\u00a0\u202f\u2007")


class Place(NamedTuple):
    """A cut inside a paragraph."""

    end: int
    pos: int
    reason: Reason
    mid: bool
    marks: tuple[str, ...] = ()
    """The markers of what it breaks, outermost first."""


class Paragraph:
    """The paragraph that runs over the room, and where it may be cut.

    Args:
        view: The window.
        first: The first character of the chunk that is not white.
        start: Where the paragraph begins.
        stop: Where it ends, as far as it is known.
        cap: How far the chunk may go at most.
        room: How far it may go with this text behind it, and its own text ending here.
        marks: The markers that were reopened in front of it.
        containers: What it stands in.
        open_ended: It may go on behind the window.
        markup: Its Markdown means something.
    """

    def __init__(  # noqa: PLR0913  # each a fact of the survey; a record of them would only be taken apart again
        self,
        view: str,
        *,
        first: int,
        start: int,
        stop: int,
        cap: int,
        room: Callable[[str, int], int],
        marks: Sequence[str] = (),
        containers: tuple[int, ...] = (),
        open_ended: bool,
        markup: bool,
    ) -> None:
        self.view = view
        self.first = first
        self.start = start
        self.low = max(start, first)
        self.stop = stop
        self.cap = min(cap, stop)
        self.room = room
        self.containers = containers
        self.markup = markup
        lead = "".join(marks)
        shift = start - len(lead)
        self.spans = [
            Span(span.start + shift, span.end + shift, span.marker)
            for span in spans(lead + view[start:stop], open_ended=open_ended)
        ]
        around = (span for span in self.spans if span.marker and markup and span.start < self.cap < span.end)
        self.broken = list(islice(around, DEEPEST_BREAK))
        """Spans that hold the end of the room and may be closed and reopened there, outermost first."""
        self._walls: dict[int, tuple[list[int], list[int]]] = {}

    def last(self, reason: Reason, floor: int, *, breaking: int = 0, doubtful: bool = False) -> Place | None:
        """Find the last allowed place of a kind that is not before ``floor``.

        Args:
            reason: The kind.
            floor: The least end of the chunk's text.
            breaking: How many of the spans that run over the room may be broken, by closing and reopening them.
            doubtful: What follows may begin with a label of which one cannot see yet whether it defines a link.
        """
        refusals = 0
        for end, pos in self.places(reason, max(floor, self.low + 1)):
            marks = self.marks_at(end, pos, breaking)
            if pos >= self.stop or marks is None or end > self.room("".join(marks), end):
                continue
            line_start = self.view.rfind("\n", end, pos) + 1
            if not line_start and self.containers and self.line_of(pos):
                continue  # white space between the markers of a line
            place = Place(end, line_start or pos, reason, mid=not line_start, marks=marks)
            ink = self.ink_of(place)
            if not self.markup:
                return place
            if self.joins(place):
                continue
            if not GUARD.match(self.view, ink) and (doubtful or not HALF_LABEL.match(self.view, ink)):
                return place
            refusals += 1
            if refusals == MOST_REFUSALS:
                break
        return None

    def cluster(self, cap: int) -> Place:
        """Find a place between two clusters; always succeeds."""
        view, low = self.view, self.low
        cap -= sum(len(span.marker) for span in self.broken if span.start + len(span.marker) < cap)
        low = low if cap > low else self.first
        at = boundary(view, cap, low) if cap > low else low + 1
        place = found = self.between(at)
        for _ in range(8):
            guard = GUARD.match(view, self.ink_of(place)) if self.markup else None
            doubt = guard and place.end < place.pos and guard.end() == len(view)
            if (not guard or doubt) and not self.joins(place):
                return place  # between words a doubt is no reason against it: the next chunk asks again
            if place.end - 1 <= low:
                break
            at = boundary(view, place.end - 1, low)
            place = self.between(at)
        return found._replace(marks=()) if self.joins(found) else found

    # -- parts ----------------------------------------------------------------------------------------------------

    def between(self, at: int) -> Place:
        """Make a cut between two clusters; where it falls between two lines, the next chunk begins with a line."""
        broken = (span.marker for span in self.broken if span.start + len(span.marker) < at)
        marks = tuple(marker for marker in broken if marker)
        pos = self.after(at)
        line = self.line_of(pos)
        end = len(self.view[:line].rstrip())
        if end > self.low:
            return Place(end, line, "cluster", mid=False, marks=marks)
        return Place(len(self.view[:at].rstrip()) if at > self.low else at, pos, "cluster", mid=True, marks=marks)

    def marks_at(self, end: int, pos: int, breaking: int) -> tuple[str, ...] | None:
        """List the markers that a cut breaks, or say with None that it is not allowed."""
        starts, ends = self.walls(breaking)
        wall = bisect_left(starts, pos) - 1
        if wall >= 0 and ends[wall] > end:
            return None
        broken = [span for span in self.broken[:breaking] if span.start < pos and span.end > end]
        if any(end <= span.start + len(span.marker) for span in broken):
            return None
        return tuple(span.marker for span in broken)

    def walls(self, breaking: int) -> tuple[list[int], list[int]]:
        """List the stretches that may not be cut, as starts and ends; those that overlap are one."""
        if breaking not in self._walls:
            starts: list[int] = []
            ends: list[int] = []
            spared = self.broken[:breaking]
            for span in self.spans:
                if span in spared:
                    continue
                if ends and span.start < ends[-1]:
                    ends[-1] = max(ends[-1], span.end)
                else:
                    starts.append(span.start)
                    ends.append(span.end)
            self._walls[breaking] = starts, ends
        return self._walls[breaking]

    def places(self, reason: Reason, floor: int) -> Iterator[tuple[int, int]]:
        """List the places of a kind, last first, as the end of the text and the start of what follows."""
        if reason == "line":
            yield from self.line_ends(floor)
        elif reason == "sentence":
            yield from reversed(list(self.sentence_ends(floor)))
        else:
            yield from self.spaces(floor)

    def line_ends(self, floor: int) -> Iterator[tuple[int, int]]:
        """List the line ends."""
        view, at = self.view, self.cap + 1
        while (at := view.rfind("\n", floor, at)) >= 0:
            end = len(view[:at].rstrip()) if view[at - 1].isspace() else at
            if end >= floor and at + 1 < self.stop:
                yield end, at + 1

    def sentence_ends(self, floor: int) -> Iterator[tuple[int, int]]:
        """List the sentence ends, first first."""
        view = self.view
        for found in SENTENCE.finditer(view, floor - 1, min(self.cap + 1, self.stop)):
            end = found.end()
            if floor <= end <= self.cap and not UNFINISHED.search(view, max(self.start, end - 12), end):
                yield end, self.after(end)

    def spaces(self, floor: int) -> Iterator[tuple[int, int]]:
        """List the runs of white space."""
        view, at = self.view, min(self.cap, self.stop - 1)
        if not WHITE.search(view, floor, at + 1):
            return
        while at >= floor:
            if view[at].isspace() and view[at] not in NO_BREAK:
                end = at
                while end > floor and view[end - 1].isspace():
                    end -= 1
                yield end, self.after(at)
                at = end
            at -= 1

    def after(self, at: int) -> int:
        """Pass over white space."""
        while at < len(self.view) and self.view[at].isspace():
            at += 1
        return at

    def joins(self, place: Place) -> bool:
        """Say whether a marker that is reopened would be one longer marker with what follows: a fence, perhaps."""
        return bool(place.marks) and self.view.startswith(place.marks[-1][0], self.ink_of(place))

    def ink_of(self, place: Place) -> int:
        """Find the first character that the next chunk shows."""
        return place.pos if place.mid else self.content_of(place.pos)

    def content_of(self, line: int) -> int:
        """Find where the content of a line begins."""
        eol = self.view.find("\n", line)
        return read(self.view, line, eol if eol >= 0 else len(self.view), self.containers).first

    def line_of(self, pos: int) -> int:
        """Find the line whose content begins here or later; 0 if there is none."""
        line = self.view.rfind("\n", self.low, pos) + 1
        return line if line and self.content_of(line) >= pos else 0
