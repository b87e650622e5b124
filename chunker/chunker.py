"""The chunker: takes in a model's text in whatever pieces it comes, gives out one message's worth at a time.

Rule 1: chunks depend on the text alone, never on how it was cut into deltas. Each is decided by `decide`, a pure
function, from a window that ends with the character that made the cut due.
Rule 2: `feed` remembers a delta and adds up; it reads the text only when a cut is due, so work is linear.
Rule 3: what has been cut is forgotten; the memory is the open rest.
"""

from collections.abc import Callable

from chunker.chunk import Chunk
from chunker.decision import Decision, Rules, decide, due, release
from chunker.length import MEASURES, Unit
from chunker.preview import growth, preview, settled
from chunker.state import START, State


class Chunker:
    """Cuts one streamed text into chunks.

    Args:
        limit: The most units a chunk's text may have, everything added included.
        unit: What is counted: ``cp`` code points, ``utf16`` code units, ``utf8`` bytes.
        fits: Asked about a finished candidate, for limits that only a renderer knows. Where it says no, a smaller
            chunk is tried, down to one character.
        early: Release a chunk at a block end already when it holds so many units.
        markup: Whether Markdown is shown as such. If not, nothing is added.

    Raises:
        ValueError: The limit is below 1, or the unit is unknown.
    """

    def __init__(
        self,
        limit: int = 800,
        *,
        unit: Unit = "cp",
        fits: Callable[[str], bool] | None = None,
        early: int | None = None,
        markup: bool = True,
    ) -> None:
        if limit < 1:
            message = f"a chunk's limit must be at least 1, not {limit}"
            raise ValueError(message)
        if unit not in MEASURES:
            message = f"unknown unit {unit!r}: one of {', '.join(MEASURES)}"
            raise ValueError(message)
        self._rules = Rules(limit, MEASURES[unit], fits, markup)
        self._early = early
        self._measure = MEASURES[unit]
        self._state: State = START
        self._start = 0
        """Where the open rest begins in the source."""
        self._settled = 0
        self._parts: list[str] = []
        self._size = 0
        """Units in the open rest."""
        self._enough = limit
        """No cut is due while the open rest has no more units than this."""
        self._seen = 0
        """How far the open rest was looked through for an early release."""
        self._line_ended = False
        """A line has ended since then."""

    def feed(self, delta: str) -> list[Chunk]:
        """Take in more text; give out the chunks that are now due."""
        self._parts.append(delta)
        self._size += self._measure(delta)
        ready = self._size > self._enough
        if self._early is not None:
            self._line_ended = self._line_ended or "\n" in delta or "\r" in delta
            ready = ready or (self._line_ended and self._size >= self._early)
        return self._drain(final=False) if ready and delta and not delta.isspace() else []

    def flush(self) -> list[Chunk]:
        """Give out what is left. The text is over; the chunker begins anew, its offsets go on."""
        chunks = self._drain(final=True)
        self._state = START
        return chunks

    def preview(self) -> str:
        """Write the open rest as a valid message within the limit, or "" if there is nothing to show yet."""
        return preview(self._state, self._rest(), self._rules)

    def growth(self) -> str:
        """Write what is settled of the open rest as its chunk will begin with it: what is open stays open."""
        return growth(self._state, self._rest(), self.settled() - self._start, self._rules)

    def settled(self) -> int:
        """Say up to which offset in the source the text can be shown and will never be rendered otherwise.

        Never less than before, and the end of the text after `flush`.
        """
        self._settled = max(self._settled, self._start + settled(self._state, self._rest(), self._rules))
        return self._settled

    def _rest(self) -> str:
        """Join the open rest."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def _drain(self, *, final: bool) -> list[Chunk]:
        """Cut as long as a cut is due, and, at the end, until nothing is left."""
        rest = self._rest()
        chunks: list[Chunk] = []
        at = 0
        while at < len(rest):
            last = due(rest, at, self._rules)
            early = self._release(rest[at:last]) if self._early is not None else None
            if early:
                decision = early
            elif last is not None:
                decision = decide(self._state, rest[at : last + 1], final=False, rules=self._rules)
            elif final and rest[at:].strip():
                decision = decide(self._state, rest[at:], final=True, rules=self._rules)
            else:
                break
            chunks.append(self._cut(decision))
            at += decision.used
        if final:
            self._start += len(rest) - at
        self._keep("" if final else rest[at:])
        return chunks

    def _release(self, rest: str) -> Decision | None:
        """Look for a block end at which a chunk may go early."""
        decision, self._seen = release(self._state, rest, self._seen, self._early or 0, self._rules)
        self._line_ended = rest[-1:].isspace()
        return decision

    def _cut(self, decision: Decision) -> Chunk:
        """Turn a decision into a chunk, and go on behind it."""
        start = self._start
        self._start += decision.used
        self._seen = 0
        self._state = decision.state
        return Chunk(text=decision.text, start=start, end=self._start, reason=decision.reason)

    def _keep(self, rest: str) -> None:
        """Remember the open rest."""
        self._parts = [rest] if rest else []
        self._size = self._measure(rest)
        lead = rest.rfind("\n", 0, len(rest) - len(rest.lstrip())) + 1
        self._enough = self._rules.limit + self._measure(rest[:lead])


def split(
    text: str,
    limit: int = 800,
    *,
    unit: Unit = "cp",
    fits: Callable[[str], bool] | None = None,
    early: int | None = None,
    markup: bool = True,
) -> list[Chunk]:
    """Cut a whole text; the arguments are those of `Chunker`."""
    chunker = Chunker(limit, unit=unit, fits=fits, early=early, markup=markup)
    return chunker.feed(text) + chunker.flush()
