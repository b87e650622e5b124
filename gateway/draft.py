"""The words of one draft of an answer, cut into pieces that fill a bubble each. Pure.

Rule 1: pieces depend on the words and on where the row breaks, never on how the words came in.
Rule 2: what an earlier reply fixed of the same draft does not come out again, and the row breaks again where it broke.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chunker import Chunk, Chunker, split
from chunker.length import MEASURES
from gateway.adapter import Capabilities
from gateway.journal import Kind, Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a bubble is to show, and the stretch ``[start, end)`` of its draft that it stands for: the ``source``.

    ``breaks``: where in its stretch the row broke. ``board``: as in its line; a board has no text of its own.
    ``order``: the number of that line; none where it is new.
    """

    kind: Kind
    draft: int
    text: str = ""
    source: str = ""
    start: int = 0
    end: int = 0
    breaks: tuple[int, ...] = ()
    board: tuple[str, ...] = ()
    order: int | None = None

    @property
    def changes(self) -> bool:
        """Whether it is a board: it stays, and its text is worked out anew."""
        return self.kind in ("activity", "approval")

    @property
    def said(self) -> bool:
        """Whether it is part of what the run says, rather than something of ours about that."""
        return self.changes or self.kind == "text" or bool(self.source)

    @classmethod
    def of(cls, line: Line) -> "Piece":
        """The piece that a line was written about."""
        return cls(
            kind=line.kind,
            draft=line.draft,
            text=line.text,
            source=line.source,
            start=line.start,
            end=line.end,
            breaks=line.breaks,
            board=line.board,
            order=line.number,
        )


class Draft:
    """The words of one draft.

    Args:
        number: how many messages of the model's came before.
        capabilities: how long a bubble gets.
        lines: what an earlier reply wrote down.
    """

    def __init__(self, number: int, capabilities: Capabilities, lines: Sequence[Line] = ()) -> None:
        self.number = number
        self.length = 0
        self._capabilities = capabilities
        fixed = [line for line in lines if line.draft == number and line.fixed and line.source]
        self._fixed = max((line.end for line in fixed), default=0)
        self._breaks = sorted(at for line in fixed for at in line.breaks)
        self._begin()

    @property
    def waits(self) -> bool:
        """Whether there are words of which no piece has come out yet."""
        return self.length > self._cut

    def feed(self, words: str) -> list[Piece]:
        """Take in more words; give out the pieces that are whole now."""
        pieces, at = list[Piece](), self.length
        while self._breaks and self._breaks[0] <= at + len(words):
            here = self._breaks.pop(0)
            pieces += [*self._take(words[: here - at]), *self.flush()]
            words, at = words[here - at :], here
        return pieces + self._take(words)

    def flush(self) -> list[Piece]:
        """The row breaks here: give out the rest."""
        chunks, self._broken = self._chunker.flush(), [*self._broken, self.length]
        return self._pieces(chunks)

    def preview(self) -> str:
        """The words of which no piece has come out yet, as a message that may be overwritten."""
        return self._chunker.preview()

    def growth(self) -> str:
        """The same, as far as the piece will certainly begin with it."""
        return self._chunker.growth()

    def rewind(self) -> None:
        """Take back all words."""
        self._fixed, self._breaks = 0, []
        self._begin()

    def _begin(self) -> None:
        capabilities = self._capabilities
        self._chunker = Chunker(capabilities.bubble, unit=capabilities.unit, fits=capabilities.fits)
        self._cut = self.length = 0
        self._rest: list[str] = []
        self._broken: list[int] = []

    def _take(self, words: str) -> list[Piece]:
        self.length += len(words)
        self._rest.append(words)
        return self._pieces(self._chunker.feed(words))

    def _pieces(self, chunks: Sequence[Chunk]) -> list[Piece]:
        if not chunks:
            return []
        rest, begun = "".join(self._rest), self._cut
        pieces = list[Piece]()
        for chunk in chunks:
            start, end = self._cut, chunk.end
            pieces.append(
                Piece(
                    kind="text",
                    draft=self.number,
                    text=chunk.text,
                    source=rest[start - begun : end - begun],
                    start=start,
                    end=end,
                    breaks=tuple(at for at in self._broken if at <= end),
                )
            )
            self._broken = [at for at in self._broken if at > end]
            self._cut = end
        self._rest = [rest[self._cut - begun :]]
        return [piece for piece in pieces if piece.end > self._fixed]


def smaller(piece: Piece, capabilities: Capabilities) -> list[Piece]:
    """A piece cut into smaller ones, or none where it cannot be."""
    window = max(1, MEASURES[capabilities.unit](piece.text) * 3 // 4)
    chunks = split(piece.text, window, unit=capabilities.unit, fits=capabilities.fits)
    return shared(piece, [chunk.text for chunk in chunks]) if len(chunks) > 1 else []


def shared(piece: Piece, texts: Sequence[str]) -> list[Piece]:
    """A piece in several bubbles. The last of them stands for its whole stretch."""
    first = replace(piece, source="", end=piece.start, breaks=())
    return [*(replace(first, text=text) for text in texts[:-1]), replace(piece, text=texts[-1])]


def closed(words: str) -> str:
    """The words as they stand on the screen where they break off: a fence that is open in them is closed."""
    return split(words, len(words) + 1000)[0].text if words.strip() else ""
