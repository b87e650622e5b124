"""A row of messages: what each shows, and what those at its end are to show. Pure.

Rule 1: pieces that are due go to the messages in work in order, the first to the first. Behind that, messages are
        left over from what was taken back, or wait for their pieces.
Rule 2: what is sealed keeps its place. Only a board that could not be changed goes to the end, in a new message.
Rule 3: a board is there once. One that an earlier reply may have shown keeps its place, and its message if that may be
        there, once it is told of again; before, it is not known whether it is still to be there.
Rule 4: messages are numbered in the order in which they stand, so that the row can be read again.
Rule 5: a call is told of in the last line about tools, unless something was said behind that.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from gateway.board import Boards
from gateway.draft import Piece
from gateway.message import Message, Standing
from gateway.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """A sealed bubble: the message that shows it, and its stretch ``[start, end)`` of its draft of the run's text."""

    message_id: str
    text: str
    start: int
    end: int
    draft: int = 0


class Row:
    """The row of one reply.

    Args:
        place: where it is shown.
        boards: what its boards show.
        number: of its next message.

    ``sealed`` are the messages that show a piece for good, boards among them. ``untold`` are boards of an earlier
    reply of which it is not known whether they are there, by what they are about. ``work`` are the messages in work,
    always at least one, ``due`` the pieces for them.
    """

    def __init__(self, place: Place, boards: Boards, number: int) -> None:
        self.sealed: list[tuple[Message, Piece]] = []
        self.untold: dict[tuple[str, ...], tuple[Message, Piece]] = {}
        self.work: deque[Message] = deque()
        self.due: deque[Piece] = deque()
        self._place = place
        self._boards = boards
        self._number = number

    @property
    def open(self) -> Message:
        """The first message in work."""
        return self.work[0]

    @property
    def pieces(self) -> list[Piece]:
        """What is shown or due, in order."""
        return [*(piece for _, piece in self.sealed), *self.due]

    @property
    def bubbles(self) -> list[Bubble]:
        """What is sealed, in order; but for the boards."""
        return [
            Bubble(message_id=message.id or "", text=piece.text, start=piece.start, end=piece.end, draft=piece.draft)
            for message, piece in self.sealed
            if not piece.changes
        ]

    @property
    def unheard(self) -> list[Message]:
        """The messages of which nobody knows whether they are there."""
        perhaps = [*self.work, *(message for message, _ in self.untold.values())]
        return [message for message in perhaps if message.standing is Standing.UNHEARD]

    @property
    def messages(self) -> Iterator[Message]:
        """All messages, those first that may be left over."""
        yield from self.work
        yield from (message for message, _ in self.untold.values())
        yield from (message for message, _ in self.sealed)

    def sealed_as(self, message: Message) -> Piece | None:
        """What a message shows for good."""
        return next((piece for each, piece in self.sealed if each is message), None)

    def board(self, message: Message) -> Piece | None:
        """The board that a message shows; none where it shows something else, or is still to show it."""
        piece = self.sealed_as(message)
        return piece if piece is not None and piece.changes else None

    def is_untold(self, message: Message) -> bool:
        """Whether it may show a board that was not told of."""
        return any(message is each for each, _ in self.untold.values())

    def stale(self) -> Message | None:
        """The first board that does not show what it should, and can."""
        return next(
            (message for message, piece in self.sealed if piece.changes and self._is_stale(message, piece)), None
        )

    def shows(self, message: Message, piece: Piece) -> bool:
        """Whether a message shows a piece, as it is now."""
        return message.shows(self._boards.text(piece), self._boards.buttons(piece))

    def begin(self, *, opening: bool) -> None:
        """Have a message to go on with: the one that the platform has put there for us, if it has."""
        first = self._message()
        ticket = self._place.ticket if opening else None
        self.work.append(Message.opening(self._place, first.number, ticket) if ticket else first)

    def fill(self, messages: int) -> None:
        """Have so many messages in work."""
        while len(self.work) < messages:
            self.work.append(self._message())

    def seal(self) -> bool:
        """Close the first message where it shows all of its piece; what turns out to be nothing is let go.

        Returns:
            Whether there was such a message.
        """
        sealed = False
        while self.due and (not (text := self._boards.text(self.due[0])) or self.shows(self.open, self.due[0])):
            piece = self.due.popleft()
            if text:
                self.sealed.append((self.work.popleft(), piece))
                self.fill(1)
                sealed = True
        if self.due and self.due[0].changes and self.open.standing is Standing.ABSENT:
            self.open.streams = False  # what is edited for long is an ordinary message
        return sealed

    def close_up(self) -> None:
        """Forget messages that are off the screen: what is posted anew stands behind all that is there."""
        if there := [message for message in self.work if message.standing is not Standing.ABSENT]:
            self.work = deque([*there, *list(self.work)[self.work.index(there[-1]) + 1 :]])

    def put_first(self, pieces: Sequence[Piece]) -> None:
        """These go before all that is due."""
        self.due.extendleft(reversed(pieces))

    def take_back(self, void: Callable[[Piece], bool]) -> int:
        """Some pieces are void; their messages show what is due next, or are left over. How many pieces those were."""
        count = sum(map(void, self.pieces))
        self.work.extendleft(message for message, piece in reversed(self.sealed) if void(piece))
        self.sealed = [each for each in self.sealed if not void(each[1])]
        self.due = deque(piece for piece in self.due if not void(piece))
        for message in list(self.work)[len(self.due) :]:
            message.void = True
        return count

    def has(self, board: Piece) -> bool:
        """Whether a board is there, or due."""
        return any((each.kind, each.board) == (board.kind, board.board) for each in self.pieces)

    def show_call(self, line: Piece) -> None:
        """Tell of the call that a line about tools would begin with: in that line, or in another (rule 5)."""
        call = line.board[0]
        if any(call in piece.board for piece in self.pieces if piece.kind == "activity"):
            return
        if (known := next((board for board in self.untold if call in board), None)) is not None:
            self.take_up(known, [])
            return
        last = next((piece for piece in reversed(self.pieces) if piece.said), None)
        if last is None or last.kind != "activity":
            self.announce(line)
            return
        longer = replace(last, board=(*last.board, call))
        self.sealed = [(message, longer if piece is last else piece) for message, piece in self.sealed]
        self.due = deque(longer if piece is last else piece for piece in self.due)

    def announce(self, board: Piece, before: Sequence[Piece] = ()) -> None:
        """A new board comes to the end, behind what has to stand in front of it."""
        self.open.void = self.open.void or not self.due  # the words that it shows go into the next
        self.due.extend((*before, board))

    def take_up(self, about: tuple[str, ...], doubt: Sequence[Piece]) -> None:
        """An untold board is told of: it goes to its place; in ``doubt`` behind those, if it may be there twice."""
        message, board = self.untold.pop(about)
        if message.standing is Standing.UNHEARD:  # all that stood in front of it is there
            self.due.appendleft(board)
            self.work.appendleft(message)
            return
        at = next((at for at, piece in enumerate(self.due) if _behind(piece, message)), len(self.due))
        for piece in reversed((*(doubt if message.void else ()), board)):
            self.due.insert(at, piece)

    def move(self, board: Piece) -> None:
        """A board that could not be changed is shown once more, at the end."""
        self.sealed = [each for each in self.sealed if each[1] is not board]
        self.due.append(board)

    def _is_stale(self, message: Message, board: Piece) -> bool:
        if message.standing is Standing.ABSENT or self._place.capabilities.surface == "post":
            return False
        return bool(self._boards.text(board)) and not self.shows(message, board)

    def _message(self) -> Message:
        number, self._number = self._number, self._number + 1
        return Message(place=self._place, number=number)


def _behind(piece: Piece, message: Message) -> bool:
    """Whether a piece stood behind a message when both were written down; what is new is told of before."""
    return piece.order is not None and piece.order > message.number
