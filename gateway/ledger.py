"""A reply's row of messages as lines of its journal, and back. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gateway.draft import Piece
from gateway.journal import Line
from gateway.message import Message, Standing
from gateway.place import Place


@dataclass(slots=True, kw_only=True)
class Row:
    """What is sealed; the line about the tools; the messages in work, and the pieces that are due for them."""

    sealed: list[tuple[Message, Piece]] = field(default_factory=list[tuple[Message, Piece]])
    activity: Message | None = None
    messages: list[Message] = field(default_factory=list[Message])
    due: list[Piece] = field(default_factory=list[Piece])


def lines(
    sealed: Iterable[tuple[Message, Piece]],
    activity: Message | None,
    work: Iterable[tuple[Message, Piece | None]],
    *,
    in_flight: Message | None,
    draft: int,
) -> Iterator[Line]:
    """All that must survive of a row now.

    Args:
        sealed: messages with what they show.
        activity: the line about the tools.
        work: the messages in work, the first with the pieces that are due.
        in_flight: the message about which an operation is under way.
        draft: the one that is being written.
    """
    for message, piece in sealed:
        yield message.line(piece, "sealed")
    if activity is not None:
        yield activity.line(Piece(kind="activity", draft=draft), "open")
    for message, piece in work:
        posted = message.standing is not Standing.ABSENT or message is in_flight
        if piece is not None and piece.kind != "activity":
            yield message.line(piece, "sealing" if posted else "due")
        elif posted:
            yield message.line(Piece(kind=piece.kind if piece else "text", draft=draft), "open")


def row(written: Sequence[Line], place: Place, *, overwritable: bool) -> Row:
    """The row as it was when its lines were written."""
    found = Row()
    for line in sorted(written, key=lambda line: line.number):
        message, piece = Message.restored(line, place), Piece.of(line)
        # Another attempt ended like this; this one is still to end.
        past = line.kind == "ending" and (overwritable or line.state == "due")
        if line.state == "sealed" and not past:
            found.sealed.append((message, piece))
        elif line.kind == "activity" and line.message_id is not None:
            found.activity = message
        elif line.fixed and not past:
            found.messages.append(message)
            found.due.append(piece)
        elif message.standing is not Standing.ABSENT:
            message.void = True
            found.messages.append(message)
    return found
