"""What a run shows in its conversation: a row of bubbles, each one message of the platform.

Events only change what *should* be on the screen. When a slot is free, the reply is asked for its next operation, which
is computed then, from all the text so far. So text coalesces by itself, and nothing is ever sent that is out of date.

Rule 1: one operation is in flight; its outcome comes back before the next is given out.
Rule 2: bubbles are filled and sealed in order. A sealed bubble is touched again only if its message is discarded.
Rule 3: an operation that would change nothing is not given out; neither is one without text.
Rule 4: where the row breaks is decided by the sequence of events, never by the clock.
Rule 5: however the run ends, all of its text is shown, and then a sentence that says how, unless it is complete. Only
        where somebody stopped it, what no message has begun to show is left out. What was shown of an attempt that
        was cut short is overwritten, or taken away.
Rule 6: what must survive is given out in ``lines`` before the operation that it is about, so that a reply made from its
        journal goes on where the last one was cut off.
Rule 7: an edit that nobody heard of may arrive late, over what was sent behind it. So at the end its message is sent
        once more.

Three parts share the work. A ``Draft`` cuts the words into pieces. A ``Message`` knows how to get a text onto the
screen, and what each outcome means for that. The row here brings the pieces to the messages: the pieces that are whole
are ``_due``, the first of them to the first message of ``_row``, the second to the second, and so on. The first
message, ``_open``, shows what is not whole yet where nothing is due; the others are left over from what was discarded,
or wait for their pieces. What is behind is ``_sealed``.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from gateway import journal, ledger, notice
from gateway.activity import Activity
from gateway.draft import Draft, Piece, smaller
from gateway.event import (
    AgentEnd,
    Error,
    ErrorType,
    Event,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ToolStart,
    ToolUseStart,
    TurnStart,
)
from gateway.journal import Kind, Line
from gateway.message import Message, Standing
from gateway.need import Need, Priority
from gateway.operation import EditRefused, Expired, MessageGone, Operation, Outcome, Unknown
from gateway.place import Place
from gateway.remark import last, remark, said_already
from gateway.room import Room
from gateway.verdict import Verdict

DOUBTS = 10
"""How many posts of a reply may go again in doubt: each of them may be one more message on the screen."""

LATE = 10.0
"""Platform seconds after which a post or an edit that nobody heard of is not on its way any more."""

_CUT_OFF = Unknown(reason="the last answer was cut off")


class Live(Enum):
    """How the words stand of which no piece is whole yet."""

    SHOWN = "there is nothing new to show of them"
    STALE = "there are newer ones"
    TOO_LONG = "the platform refuses them as too long, so they are not shown before a piece is whole"
    LEFT_OUT = "they may be there already, and will be left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """A sealed bubble: the message that shows it, and its stretch ``[start, end)`` of its draft of the run's text."""

    message_id: str
    text: str
    start: int
    end: int
    draft: int = 0


class Reply:
    """The row of bubbles of one run.

    Args:
        place: where it is shown, and on which terms.
        run_id: named in the sentence that tells of a failure, so that the operator finds it in the log.
        draft: how often the model has begun anew behind a crash.
        lines: the journal that an earlier reply of this run left.
        age: platform seconds that it is old at most.
    """

    def __init__(
        self,
        *,
        place: Place,
        run_id: str,
        draft: int = 0,
        lines: Sequence[Line] = (),
        age: float = 0.0,
    ) -> None:
        self.address = place.address
        self.capabilities = place.capabilities
        self.failure: str | None = None
        self._run_id = run_id
        self._place = place
        self._edits = self.overwritable
        self._draft = Draft(draft, place.capabilities, lines)
        self._live = Live.SHOWN
        self._activity = Activity()
        self._activity_room = place.capabilities.bubble
        self._flight: tuple[Operation, Message, bool] | None = None
        self._doubts = 0
        self._error: ErrorType | None = None
        self._ended = False
        self._written = {line.number: line for line in lines}
        self._number = max(self._written, default=-1) + 1
        self._restore(lines, age)

    @property
    def bubbles(self) -> list[Bubble]:
        """What is sealed, in order."""
        return [
            Bubble(message_id=message.id or "", text=piece.text, start=piece.start, end=piece.end, draft=piece.draft)
            for message, piece in self._sealed
        ]

    @property
    def done(self) -> bool:
        """The run ended and all of it is on the screen, or it can never get there (see ``failure``)."""
        return self.failure is not None or (self._ended and self._flight is None and self._subject() is None)

    @property
    def visible(self) -> bool:
        """Whether a message of it is on the screen."""
        return bool(self._sealed) or any(each.standing is not Standing.ABSENT for each in self._row)

    @property
    def overwritable(self) -> bool:
        """Whether a message that is discarded can be taken off the screen."""
        return self.capabilities.surface != "post"

    def feed(self, event: Event) -> None:
        """Take in what the run did."""
        self._activity.feed(event)
        match event:
            case TextDelta():
                self._enqueue(self._draft.feed(event.text))
                self._refresh()
            case ToolUseStart() | MessageEnd():
                self._enqueue(self._draft.flush())
            case ToolStart() if self._edits:
                self._announce_activity()
            case TurnStart():
                self._draft.keep()
            case MessageDiscarded() if self.overwritable:
                self._discard()
            case Error():
                self._enqueue(self._draft.flush())
                self._error = event.error_type
            case AgentEnd(reason="stopped"):
                self.stop()
            case AgentEnd():
                self._enqueue(self._draft.flush())
                self.tell(self._ending(event))
            case _:
                pass
        self._seal_shown()

    def stop(self) -> bool:
        """Somebody asked for the end: of what no message has begun to show, nothing is shown; whether there was any."""
        self._enqueue(self._draft.flush())
        begun = self._flight is not None or (self._open.standing is not Standing.ABSENT and not self._open.void)
        if self._ended and len(self._due) <= begun:
            return False
        self._due = deque(list(self._due)[:begun])
        self.tell(notice.ending("stopped", None, self._run_id))
        return True

    def tell(self, sentence: str) -> None:
        """Say something of our own, if anything, and end."""
        self._enqueue(self._draft.flush())
        self._activity.end()
        ending = self._notices(sentence, self._draft.length, "ending")
        row = [*(piece for _, piece in self._sealed), *self._due]
        self._due.extend(self._room.admit(ending[said_already(row, ending) :]))
        pieces, untold = self._room.close()
        self._due.extend(pieces)
        if untold:
            self._say_left_out()
        self._ended = True
        self._seal_shown()

    def expire(self) -> None:
        """Soon nothing can be shown any more: show what there is, and say that the rest is left out. A run goes on."""
        if not self._ended:
            self.tell(notice.LEFT_OUT)

    def need(self) -> Need | None:
        """What the reply would do with a slot now; none where there is nothing to do, or something is in flight."""
        if self._flight is not None or self.failure is not None or (subject := self._subject()) is None:
            return None
        draws = "delete" if self._unwanted(subject) and subject.standing is not Standing.UNHEARD else subject.draws()
        looked_for = subject.standing is Standing.UNHEARD and draws == "read"
        rest = LATE if looked_for or self._sends_again(subject) else 0.0
        return Need(priority=self._priority(subject), draws=draws, message_id=subject.id, rest=rest)

    def next_operation(self) -> Operation | None:
        """The operation for a granted slot, in flight from now on; none where the screen turns out to be right."""
        if self._flight is not None or self.failure is not None or (subject := self._subject()) is None:
            return None
        if subject is self._open and self._live is Live.STALE and subject.standing is not Standing.UNHEARD:
            self._live = Live.SHOWN
        again = self._sends_again(subject)
        if self._unwanted(subject):
            operation = subject.remove()
        elif again:
            operation = subject.repeat()
        else:
            operation = subject.show(self._wanted(subject), whole=bool(self._due))
        if operation is not None:
            self._flight = operation, subject, again
        return operation

    def settle(self, outcome: Outcome) -> None:
        """Take in what came of the operation in flight."""
        if self._flight is None:
            msg = f"no operation is in flight, yet one ended: {outcome}"
            raise RuntimeError(msg)
        (operation, message, again), self._flight = self._flight, None
        if again:
            if message.repeated(operation, outcome) is Verdict.END:
                self._fail(outcome)
            return
        blank = message.shown == ""
        found = message.settle(operation, outcome)
        if found is not Verdict.SHOWN and message is not self._activity_line:
            self._refresh()
        match found:
            case Verdict.DOUBT:
                self._doubt(message, outcome)
            case Verdict.STAYS if not (blank or message is self._activity_line) and (self._due or not self._ended):
                self._announce_repeat()
            case Verdict.SMALLER:
                self._cut_again(message)
            case Verdict.REPLACE:
                self._edits = self._edits and not isinstance(outcome, EditRefused)
                self._name_asker(message, outcome)
            case Verdict.END:
                self._fail(outcome)
            case _:
                pass
        self._close_up()
        self._seal_shown()

    def lines(self) -> dict[int, Line]:
        """What has to be written down before anything else happens, by the lines' numbers. Asking takes it."""
        changed = journal.changes(self._written, self._lines())
        self._written |= changed
        return changed

    # What is to be done next.

    @property
    def _open(self) -> Message:
        return self._row[0]

    def _subject(self) -> Message | None:
        """The message about which something is to be done, the most urgent first."""
        if self._due or self._open.standing in (Standing.UNHEARD, Standing.STUCK):
            return self._open
        line = self._activity_line
        if line is not None and (text := self._activity_text()) and not line.shows(text):
            return line
        if self._ended:
            left = (*self._row, *self._standing())
            return next((each for each in left if self._unwanted(each) or self._sends_again(each)), None)
        return self._open if self._live is Live.STALE and self._edits and not self._room.full else None

    def _unwanted(self, message: Message) -> bool:
        """Whether a message is left over: all is said, and it shows what is not part of it."""
        if not self._ended or self._due or message.standing is Standing.ABSENT:
            return False
        if message is self._activity_line:
            return not self._activity_text()  # it tells of an attempt that was cut short
        return message in self._row

    def _sends_again(self, message: Message) -> bool:
        """Whether a message shows what it should, and is sent again because an edit may still be on its way to it."""
        if not self._ended or self._due or not message.late or message not in self._standing():
            return False
        text = self._activity_text() if message is self._activity_line else message.shown
        return bool(text) and message.shows(text)

    def _standing(self) -> list[Message]:
        """What stays on the screen."""
        return [*(message for message, _ in self._sealed), *([self._activity_line] if self._activity_line else [])]

    def _priority(self, subject: Message) -> Priority:
        if self._ended or self._due:
            return Priority.FINAL
        return Priority.STATUS if subject is self._activity_line else Priority.LIVE

    def _wanted(self, message: Message) -> str:
        """What a message is to show."""
        if message is self._activity_line:
            return self._activity_text()
        if self._due:
            return self._text(self._due[0])
        appended = message.standing is Standing.STREAMING or message.draws() == "append"
        return self._draft.growth() if appended else self._draft.preview()

    def _text(self, piece: Piece) -> str:
        return self._activity_text() if piece.kind == "activity" else piece.text

    def _activity_text(self) -> str:
        return self._activity.text(self._activity_room)

    # What becomes of the row.

    def _refresh(self) -> None:
        """What is not whole yet is shown anew."""
        if self._live is Live.SHOWN:
            self._live = Live.STALE

    def _enqueue(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self._due.extend(self._room.admit(self._omission(piece) if self._live is Live.LEFT_OUT else [piece]))
            self._live = Live.STALE

    def _seal_shown(self) -> None:
        """Close the open bubble where its message shows all of its text."""
        while self._due and self._flight is None:
            piece, text = self._due[0], self._text(self._due[0])
            if text and not self._open.shows(text):
                return
            self._due.popleft()
            if text:
                self._seal(self._row.popleft(), piece)

    def _seal(self, message: Message, piece: Piece) -> None:
        if piece.kind == "activity":
            self._activity_line = message
        else:
            self._sealed.append((message, piece))
        if not self._row:
            self._row.append(self._message())
        if self._live is not Live.LEFT_OUT:
            self._live = Live.STALE if self._draft.waits else Live.SHOWN

    def _close_up(self) -> None:
        """Forget messages that are off the screen: what is posted anew stands behind all that is there."""
        if there := [message for message in self._row if message.standing is not Standing.ABSENT]:
            self._row = deque([*there, *list(self._row)[self._row.index(there[-1]) + 1 :]])
        if self._activity_line is not None and self._activity_line.standing is Standing.ABSENT:
            self._activity_line, self._activity_room = None, 0  # they did not want to see it

    def _message(self) -> Message:
        number, self._number = self._number, self._number + 1
        return Message(place=self._place, number=number)

    def _first(self) -> Message:
        """The message that the platform has put there for us, or else one that is to come."""
        first = self._message()
        return Message.opening(self._place, first.number, self._place.ticket) if self._place.ticket else first

    def _announce_activity(self) -> None:
        if self._activity_line is None and not any(piece.kind == "activity" for piece in self._due):
            if not self._due:
                self._open.void = True  # the words that it shows go into the next
            place = self._draft.length
            self._due.append(Piece(kind="activity", draft=self._draft.number, start=place, end=place))

    def _discard(self) -> None:
        """Take the message of this turn back: what shows it is written over by what comes, or taken away at the end."""
        pieces = [*(piece for _, piece in self._sealed), *self._due]
        doubted = self._live is Live.LEFT_OUT or any(
            self._taken_back(each) and each.kind == "notice" for each in pieces
        )
        self._row.extendleft(message for message, piece in reversed(self._sealed) if self._taken_back(piece))
        self._room.give_back(sum(map(self._taken_back, pieces)), self._taken_back)
        self._sealed = [each for each in self._sealed if not self._taken_back(each[1])]
        self._due = deque(piece for piece in self._due if not self._taken_back(piece))
        self._draft.rewind()
        self._live = Live.SHOWN
        for message in list(self._row)[len(self._due) :]:
            message.void = True
        if doubted:
            self._due.extend(self._notices(notice.MAY_BE_A_REPEAT, self._draft.kept))

    def _taken_back(self, piece: Piece) -> bool:
        """Whether a piece is of the message of this turn."""
        mine = piece.draft == self._draft.number and piece.start >= self._draft.kept
        return mine and piece.kind in ("text", "notice")

    def _notices(self, sentence: str, place: int, kind: Kind = "notice") -> list[Piece]:
        """Bubbles that say something of our own."""
        piece = Piece(kind=kind, draft=self._draft.number, start=place, end=place)
        return remark(piece, sentence, self.capabilities)

    def _omission(self, piece: Piece) -> list[Piece]:
        """The notice that stands for a piece which is left out."""
        return remark(replace(piece, kind="notice"), notice.MAY_BE_MISSING, self.capabilities)

    def _ending(self, event: AgentEnd) -> str:
        answered = any(piece.source for piece in (*self._due, *(piece for _, piece in self._sealed)))
        if event.reason == "complete" and not answered:
            return notice.NO_ANSWER
        return notice.ending(event.reason, self._error, self._run_id)

    # What an outcome means for the row.

    def _doubt(self, message: Message, outcome: Outcome) -> None:
        """A post may have arrived, nobody can say. It goes again, the words behind a notice, or they are left out."""
        message.give_up_looking()
        self._crowd(1)
        words = not self._due or self._due[0].kind == "text"
        if words and not message.void and self.capabilities.unknown_outcome == "skip":
            self._leave_out()
            return
        self._doubts += 1
        if self._doubts == DOUBTS:
            reason = getattr(outcome, "reason", "no answer")
            self.failure = f"posted {DOUBTS} times without an answer, so it may be there already: {reason}"
        elif words or message.void:
            self._announce_repeat()

    def _crowd(self, messages: int) -> None:
        """There is room for so many messages less: the last pieces go, and what stays says so."""
        over = min(self._room.spend(messages), len(self._due))
        for _ in range(over):
            self._due.pop()
        if over > 0:
            self._say_left_out()

    def _say_left_out(self) -> None:
        if self._due:
            self._due.append(last(self._due.pop(), notice.LEFT_OUT, self.capabilities))

    def _announce_repeat(self) -> None:
        if self._room.limited:
            return  # the sentence would take the room of an answer
        if not (self._due and self._due[0].kind == "notice"):
            sealed = (piece.end for _, piece in reversed(self._sealed) if piece.draft == self._draft.number)
            self._due.extendleft(reversed(self._notices(notice.MAY_BE_A_REPEAT, next(sealed, 0))))

    def _name_asker(self, message: Message, outcome: Outcome) -> None:
        """Where the message under the question is lost, the answer has to say whose it is."""
        lost = message.opens and isinstance(outcome, Expired) and not self._room.limited
        if lost and self._place.asker is not None:
            self._due.extendleft(reversed(self._notices(notice.FOR.format(self._place.asker), 0)))

    def _leave_out(self) -> None:
        if self._due:
            self._due.extendleft(reversed(self._omission(self._due.popleft())))
        else:
            self._live = Live.LEFT_OUT

    def _cut_again(self, message: Message) -> None:
        """Give the text that did not fit to smaller bubbles; what is not whole yet is not shown before it is."""
        if message is self._activity_line or (self._due and self._due[0].kind == "activity"):
            self._activity_room = len(self._activity_text().encode()) * 3 // 4
        elif not self._due:
            self._live = Live.TOO_LONG
        elif parts := smaller(self._due[0], self.capabilities):
            self._due.popleft()
            self._due.extendleft(reversed(parts))
            self._crowd(len(parts) - 1)
        else:
            self.failure = f"the platform refuses even {len(self._due[0].text)} characters as too long"

    def _fail(self, outcome: Outcome) -> None:
        gone = isinstance(outcome, MessageGone)
        silent = "what it was to be posted to is gone" if gone else "the platform will not show it"
        self.failure = getattr(outcome, "reason", silent)

    # What is written down, and read again.

    def _lines(self) -> Iterator[Line]:
        """All that must survive now."""
        while len(self._row) < len(self._due):
            self._row.append(self._message())
        work = zip(self._row, [*self._due, *[None] * len(self._row)], strict=False)
        in_flight = self._flight[1] if self._flight else None
        return ledger.lines(self._sealed, self._activity_line, work, in_flight=in_flight, draft=self._draft.number)

    def _restore(self, written: Sequence[Line], age: float) -> None:
        """Take up the row where an earlier reply was cut off."""
        row = ledger.row(written, self._place, overwritable=self._edits)
        self._sealed, self._activity_line = row.sealed, row.activity
        self._row, self._due = deque(row.messages), deque(row.due)
        self._room = Room(self.capabilities, len(row.sealed) + len(row.due))
        self._row.append(self._message() if written else self._first())
        nonces = self.capabilities.reconciliation == "nonce"
        if self.capabilities.reconciliation == "none" or (nonces and age >= self.capabilities.nonce_life):
            for message in [each for each in self._row if each.standing is Standing.UNHEARD]:
                self._doubt(message, _CUT_OFF)
        self._close_up()
        self._seal_shown()
