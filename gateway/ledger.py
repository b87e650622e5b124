"""A reply's row of messages as lines of its journal, and back. Pure."""

from collections.abc import Iterator, Sequence

from gateway.board import Boards
from gateway.draft import Piece
from gateway.journal import Line
from gateway.message import Message, Standing
from gateway.place import Place
from gateway.row import Row


def lines(row: Row, boards: Boards, *, in_flight: Message | None, draft: int) -> Iterator[Line]:
    """All that must survive of a row now.

    Args:
        row: the messages.
        boards: what the boards among them show.
        in_flight: the message about which an operation is under way.
        draft: the one that is being written.
    """
    row.fill(len(row.due))
    for message, piece in row.sealed:
        yield _sealed(message, piece, boards, in_flight=in_flight)
    for message, piece in row.untold.values():
        yield message.line(piece, "open" if message.standing is Standing.UNHEARD else "due")
    for message, piece in zip(row.work, [*row.due, *[None] * len(row.work)], strict=False):
        posted = message.standing is not Standing.ABSENT or message is in_flight
        if piece is None:
            if posted:
                yield message.line(Piece(kind="text", draft=draft), "open")
        elif not piece.changes:
            yield message.line(piece, "sealing" if posted else "due")
        elif posted or piece.kind == "approval":
            yield message.line(boards.written(piece, rests=False), "open" if posted else "due")


def restore(row: Row, written: Sequence[Line], place: Place, *, overwritable: bool) -> None:
    """Make a row what it was when its lines were written."""
    for line in sorted(written, key=lambda line: line.number):
        message, piece = Message.restored(line, place), Piece.of(line)
        # Another attempt ended like this; this one is still to end.
        past = line.kind == "ending" and (overwritable or line.state == "due")
        if piece.changes and piece.board:
            if line.state == "deleted" or line.message_id is not None:
                row.sealed.append((message, piece))
            else:
                row.untold[piece.board] = message, piece
        elif line.state == "sealed" and not past:
            row.sealed.append((message, piece))
        elif line.fixed and not past:
            row.work.append(message)
            row.due.append(piece)
        elif message.standing is not Standing.ABSENT:
            message.void = True
            row.work.append(message)


def _sealed(message: Message, piece: Piece, boards: Boards, *, in_flight: Message | None) -> Line:
    if not piece.changes:
        return message.line(piece, "sealed")
    if message.standing is Standing.ABSENT:
        return message.line(piece, "deleted")
    rests = message is not in_flight and boards.rests(piece) and message.shows(boards.text(piece))
    return message.line(boards.written(piece, rests=rests), "sealed" if rests else "open")
