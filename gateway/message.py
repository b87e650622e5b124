"""One message of ours on the platform, from nothing to the text that it is to show. Pure.

Rule 1: asked how it comes to show a text, it answers with one operation; told what came of that, it knows how it
        stands.
Rule 2: it is asked again only when the operation before has ended.
Rule 3: a post of which nothing was heard is looked for before there is another.
"""

from dataclasses import dataclass, field
from enum import Enum

from gateway import journal
from gateway.draft import Piece
from gateway.inbound import Ticket
from gateway.journal import Line, State
from gateway.need import Budgets
from gateway.operation import (
    AppendText,
    Button,
    DeleteMessage,
    EditMessage,
    FinishStream,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    ReadThread,
    StartStream,
    ThreadRead,
)
from gateway.place import Place
from gateway.verdict import Verdict, verdict

PLACEHOLDER = "…"
"""What is posted to learn a message's id, where nobody remembers its text."""


WHOLE = 10_000
"""How many messages are read to find one of ours: all, for "not among the newest" would not mean "not there"."""


class Standing(Enum):
    """How a message stands."""

    ABSENT = "it is not on the screen"
    UNHEARD = "it was posted and no answer came, so it may be there"
    PRESENT = "it is there"
    STREAMING = "it is there, and grows by appending"
    STUCK = "it is there and cannot be changed: it has to go before its text can be posted again"


_STANDINGS = {
    Verdict.FIND: Standing.UNHEARD,
    Verdict.REPLACE: Standing.STUCK,
    Verdict.CLOSED: Standing.PRESENT,
}
"""How a message stands after a verdict, where that says it all."""


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """A message.

    ``number`` is its own within the reply, ``tries`` how often it was posted, under a nonce of its own each time.
    ``shown`` is none where it is not known what it shows, ``sent`` likewise what went last. ``streams``: it is to be a
    stream. ``void``: what was posted as this message is to be said no more. ``late``: an edit of it may be on its
    way of which nobody heard. ``buttons`` are below what was ``sent``, ``offers`` those below what it shows.
    """

    place: Place
    number: int
    streams: bool = field(init=False)
    standing: Standing = Standing.ABSENT
    tries: int = 0
    id: str | None = None
    shown: str | None = ""
    markup: bool = True
    void: bool = False
    late: bool = False
    sent: str | None = None
    buttons: tuple[Button, ...] = ()
    offers: tuple[Button, ...] = ()

    def __post_init__(self) -> None:
        self.streams = self.place.capabilities.surface == "append"

    @classmethod
    def opening(cls, place: Place, number: int, ticket: Ticket) -> "Message":
        """One that the platform has put there for us, and that shows nothing of ours yet."""
        message = cls(place=place, number=number, id=ticket.opening, standing=Standing.PRESENT, void=True)
        message.streams = False
        return message

    @classmethod
    def restored(cls, line: Line, place: Place) -> "Message":
        """As it stood when its line was written down; what a live one shows is not known any more."""
        message = cls(place=place, number=line.number, tries=line.tries, id=line.message_id, markup=line.markup)
        message.late, message.streams = line.late, message.streams and not line.ordinary
        if line.state == "sealed":
            message.standing, message.shown = Standing.PRESENT, line.text
        elif line.state in ("open", "sealing"):
            # A stream may be open; if it is not, closing it will tell.
            present = Standing.STREAMING if message.streams else Standing.PRESENT
            message.standing = Standing.UNHEARD if line.message_id is None else present
            # What is never changed was posted with that text and no other.
            message.shown, message.sent = None, line.text if place.capabilities.surface == "post" else None
        return message

    def line(self, piece: Piece, state: State) -> Line:
        """What is to be written down of it: the piece that it is to show, and how far it is."""
        return Line(
            number=self.number,
            draft=piece.draft,
            state=state,
            kind=piece.kind,
            tries=self.tries,
            message_id=self.id,
            markup=self.markup,
            late=self.late,
            ordinary=self._ordinary,
            text=piece.text,
            source=piece.source,
            start=piece.start,
            end=piece.end,
            breaks=piece.breaks,
            board=piece.board,
        )

    @property
    def opens(self) -> bool:
        """Whether the platform had put it there for us."""
        return self.place.ticket is not None and self.id == self.place.ticket.opening

    def shows(self, text: str, buttons: tuple[Button, ...] = ()) -> bool:
        """Whether it shows a text, for good, and those buttons below it."""
        return self.standing is Standing.PRESENT and self.shown == text and self.offers == buttons

    def draws(self) -> Budgets:
        """The budgets of its next operation."""
        match self.standing:
            case Standing.ABSENT:
                return self._creates()
            case Standing.UNHEARD:
                return "read" if self.place.capabilities.reconciliation == "read" else self._creates()
            case Standing.PRESENT:
                return "edit"
            case Standing.STREAMING:
                return "append"
            case Standing.STUCK:
                return "delete"

    def show(self, text: str, *, whole: bool, buttons: tuple[Button, ...] = ()) -> Operation | None:
        """What brings it nearer to showing a text; none where it does so.

        Args:
            text: what it is to show.
            whole: nothing will be added to that.
            buttons: what is to stand below it.
        """
        match self.standing:
            case Standing.ABSENT:
                return self._post(text, buttons)
            case Standing.UNHEARD:
                return self._look()
            case Standing.PRESENT:
                return self._edit(text, buttons)
            case Standing.STREAMING:
                return self._append(text, whole=whole)
            case Standing.STUCK:
                return self.remove()

    def repeat(self) -> Operation | None:
        """What sends once more the text that it shows."""
        if self.id is None or not self.shown:
            return None
        return self._edited(self.id, self.shown, self.offers)

    def remove(self) -> Operation | None:
        """What takes it off the screen, or finds out whether it is there; none where it is not."""
        if self.standing is Standing.UNHEARD:
            return self._look()
        if self.id is None:
            return None
        return DeleteMessage(address=self.place.address, message_id=self.id, ticket=self.place.ticket)

    def settle(self, operation: Operation, outcome: Outcome) -> Verdict:
        """Take in what came of an operation; what that means is for the reply to know, too."""
        found = verdict(operation, outcome)
        self.standing = _STANDINGS.get(found, self.standing)
        match found:
            case Verdict.SHOWN:
                self._now_shows(operation, outcome)
            case Verdict.UNSURE:
                self.shown, self.late = None, self.late or isinstance(operation, EditMessage)
            case Verdict.FIND if self.place.capabilities.reconciliation == "none":
                return Verdict.DOUBT
            case Verdict.READ:
                self._look_in(outcome)
            case Verdict.ANEW | Verdict.GONE | Verdict.STAYS:
                self._reset()
            case Verdict.ORDINARY | Verdict.CLOSE:
                self.streams = False
            case Verdict.PLAIN if not self.markup:
                return Verdict.END
            case Verdict.PLAIN | Verdict.SMALLER:
                self.markup = self.markup and found is not Verdict.PLAIN
                self._refused()
            case _:
                pass
        return found

    def repeated(self, operation: Operation, outcome: Outcome) -> Verdict:
        """Take in what came of a ``repeat``. It changes nothing else: whoever deleted the message meant it."""
        found = verdict(operation, outcome)
        self.late = found in (Verdict.WAIT, Verdict.UNSURE)
        return found

    def give_up_looking(self) -> None:
        """Nobody can say whether it is there. From now on it counts as not being there."""
        self._reset()

    @property
    def _ordinary(self) -> bool:
        """Whether it is certainly no stream, where others are."""
        appends = self.place.capabilities.surface == "append"
        return appends and not self.streams and self.standing is not Standing.STREAMING

    def _creates(self) -> Budgets:
        return "append" if self.streams and self.markup else "post"

    def _post(self, text: str, buttons: tuple[Button, ...]) -> Operation | None:
        if not text:
            return None
        self.buttons = buttons
        self.tries += 1
        self.void = False
        self.sent = text[: self.place.capabilities.update] if self.streams and self.markup else text
        return self._create(self.sent)

    def _create(self, text: str) -> Operation:
        if self.streams and self.markup:
            return StartStream(address=self.place.address, text=text, nonce=self._nonce())
        return PostMessage(
            address=self.place.address,
            text=text,
            markup=self.markup,
            nonce=self._nonce(),
            answers=self.place.question if self.place.refers and self.number == 0 else None,
            ticket=self.place.ticket,
            buttons=self.buttons,
        )

    def _look(self) -> Operation:
        """What finds out whether it is there: reading, or posting once more what the platform shows only once."""
        if self.place.capabilities.reconciliation == "read":
            return ReadThread(address=self.place.address, after=self.place.question, limit=WHOLE)
        return self._create(PLACEHOLDER if self.sent is None else self.sent)

    def _refused(self) -> None:
        """The platform does not take what it was sent; so it did not take it the first time either."""
        if self.standing is Standing.UNHEARD and self.sent is not None:
            self._reset()

    def _nonce(self) -> str:
        return journal.nonce(self.place.seed, self.number, self.tries)

    def _edit(self, text: str, buttons: tuple[Button, ...]) -> Operation | None:
        if self.id is None or not text or (text, buttons) == (self.shown, self.offers):
            return None
        self.sent, self.buttons, self.void = text, buttons, False
        return self._edited(self.id, text, buttons)

    def _edited(self, message_id: str, text: str, buttons: tuple[Button, ...]) -> Operation:
        return EditMessage(
            address=self.place.address,
            message_id=message_id,
            text=text,
            markup=self.markup,
            ticket=self.place.ticket,
            buttons=buttons,
        )

    def _append(self, text: str, *, whole: bool) -> Operation | None:
        """The next addition; where the text does not begin with what it shows, only its end, and it is edited then."""
        if self.id is None:
            return None
        if self._standing() is not Standing.STREAMING or self.shown is None or not text.startswith(self.shown):
            self.sent = self.shown
            return FinishStream(address=self.place.address, message_id=self.id, text="")
        more = text[len(self.shown) :][: self.place.capabilities.update]
        self.sent = self.shown + more
        if whole and self.sent == text:
            return FinishStream(address=self.place.address, message_id=self.id, text=more)
        return AppendText(address=self.place.address, message_id=self.id, text=more) if more else None

    def _now_shows(self, operation: Operation, outcome: Outcome) -> None:
        self.shown, self.offers = self.sent, self.buttons
        match operation, outcome:
            case PostMessage() | StartStream(), Performed(message_id=message_id):
                self.id, self.standing = message_id, self._standing()
            case FinishStream(), _:
                self.standing = Standing.PRESENT
            case _:
                pass

    def _look_in(self, outcome: Outcome) -> None:
        """Whether it is among what was read. A stream that is found may be open: it is closed, and then edited."""
        said = outcome.messages if isinstance(outcome, ThreadRead) else ()
        self.id = next((each.message_id for each in said if each.nonce == self._nonce()), None)
        self.shown, self.offers = self.sent, self.buttons
        if self.id is None:
            self._reset()
        else:
            self.standing = self._standing()

    def _standing(self) -> Standing:
        """How it stands once it is there; a stream may have been closed since, which the next operation will tell."""
        return Standing.STREAMING if self.streams and self.markup else Standing.PRESENT

    def _reset(self) -> None:
        self.id, self.shown, self.standing, self.late = None, "", Standing.ABSENT, False
        self.buttons = self.offers = ()
