"""What a run shows in its conversation: a row of bubbles, each one message of the platform.

Events only change what *should* be on the screen. When a slot is free, the reply is asked for its next operation, which
is computed then, from all the text so far. So text coalesces by itself, and nothing is ever sent that is out of date.

Rule 1: one operation is in flight; its outcome comes back before the next is given out.
Rule 2: bubbles are filled and sealed in order. A sealed bubble is touched again only if its message is discarded, or
        if it is a board: that stays where it is, and what it shows changes.
Rule 3: an operation that would change nothing is not given out; neither is one without text.
Rule 4: where the row breaks is decided by the sequence of events, never by the clock.
Rule 5: however the run ends, all of its text is shown, and then a sentence that says how, unless it is complete. Only
        where somebody stopped it, what no message has begun to show is left out. What was shown of an attempt that
        was cut short is overwritten, or taken away.
Rule 6: what must survive is given out in ``lines`` before the operation that it is about, so that a reply made from its
        journal goes on where the last one was cut off.
Rule 7: an edit that nobody heard of may arrive late, over what was sent behind it. So at the end its message is sent
        once more.
Rule 8: each message of the model is a draft of its own. A reply that is made from its journal is told all of the run
        again, and shows only what is new.
Rule 9: a person is asked by an ordinary message, or not at all; then ``unasked`` says so.

The work is shared. A ``Draft`` cuts the words into pieces. ``Boards`` know what the tools do and what people are asked.
A ``Message`` knows how to get a text onto the screen, and what each outcome means for that. The ``Row`` brings the
pieces to the messages. Here is decided what is due, what is done next, and what becomes of it. The first message in
work shows what is not whole yet, where nothing is due.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from gateway import journal, ledger, notice
from gateway.board import Boards
from gateway.draft import Draft, Piece, smaller
from gateway.event import (
    AgentEnd,
    ApprovalRequested,
    ApprovalResolved,
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
from gateway.row import Bubble, Row
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


class Reply:
    """The row of bubbles of one run.

    Args:
        place: where it is shown, and on which terms.
        run_id: named in the sentence that tells of a failure, so that the operator finds it in the log.
        draft: the one to begin with, where no turn says another.
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
        self._journal = lines
        self._draft = Draft(draft, place.capabilities, lines)
        self._live = Live.SHOWN
        self._boards = Boards(place)
        self._flight: tuple[Operation, Message, bool] | None = None
        self._doubts = 0
        self._error: ErrorType | None = None
        self._ended = self._over = False
        self._written = {line.number: line for line in lines}
        self._row = Row(place, self._boards, max(self._written, default=-1) + 1)
        self._restore(lines, age)

    @property
    def bubbles(self) -> list[Bubble]:
        """What is sealed, in order; but for the boards."""
        return self._row.bubbles

    @property
    def done(self) -> bool:
        """The run ended or rests, and all of it is on the screen, or can never get there (see ``failure``)."""
        return self.failure is not None or (self._over and self._flight is None and self._subject() is None)

    @property
    def unasked(self) -> set[str]:
        """The approvals that wait for a decision, and that nobody can be shown."""
        asked = [piece for _, piece in self._row.sealed] if self.failure is not None else self._row.pieces
        return set(self._boards.open) - {piece.board[0] for piece in asked if piece.kind == "approval"}

    @property
    def visible(self) -> bool:
        """Whether a message of it is on the screen."""
        return bool(self._row.sealed) or any(each.standing is not Standing.ABSENT for each in self._row.work)

    @property
    def _goes_on(self) -> bool:
        """Whether more is to be shown, as far as is known."""
        return bool(self._row.due) or not self._over

    @property
    def overwritable(self) -> bool:
        """Whether a message that is discarded can be taken off the screen."""
        return self.capabilities.surface != "post"

    def feed(self, event: Event) -> None:
        """Take in what the run did."""
        self._boards.feed(event)
        match event:
            case TextDelta():
                self._enqueue(self._draft.feed(event.text))
                self._refresh()
            case ToolUseStart() | MessageEnd():
                self._enqueue(self._draft.flush())
            case ToolStart() | ApprovalRequested() | ApprovalResolved():
                self._feed_board(event)
            case TurnStart(turn_number=turn) if turn - 1 != self._draft.number:
                self._enqueue(self._draft.flush())
                self._draft = Draft(turn - 1, self.capabilities, self._journal)
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
        self._seal()

    def _feed_board(self, event: ToolStart | ApprovalRequested | ApprovalResolved) -> None:
        """See whether something new stays on the screen for that."""
        match event:
            case ToolStart(tool_use_id=call):
                if self._edits and not self._room.limited and not self._boards.asked_for(call):
                    self._row.show_call(self._board("activity", call))
            case ApprovalRequested(approval_id=approval_id):
                self._ask(approval_id)
            case ApprovalResolved(approval_id=approval_id):
                if not self.overwritable:
                    self._tell_decision(approval_id)

    def stop(self) -> bool:
        """Somebody asked for the end: of what no message has begun to show, nothing is shown; whether there was any."""
        self._enqueue(self._draft.flush())
        shown = self._row.open
        begun = self._flight is not None or (shown.standing is not Standing.ABSENT and not shown.void)
        if self._ended and len(self._row.due) <= begun:
            return False
        while len(self._row.due) > begun:
            self._row.due.pop()
        self.tell(notice.ending("stopped", None, self._run_id))
        return True

    def tell(self, sentence: str) -> None:
        """Say something of our own, if anything, and end."""
        self._enqueue(self._draft.flush())
        self._boards.end()
        ending = self._notices(sentence, self._draft.length, "ending")
        row = [piece for piece in self._row.pieces if not piece.changes]
        self._row.due.extend(self._room.admit(ending[said_already(row, ending) :]))
        pieces, untold = self._room.close()
        self._row.due.extend(pieces)
        if untold:
            self._say_left_out()
        self._ended = self._over = True
        self._seal()

    def rest(self) -> None:
        """The run waits for a decision: bring all of it onto the screen. It goes on in another reply, if it does."""
        self._enqueue(self._draft.flush())
        self._over = True
        self._seal()

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
        if subject is self._row.open and self._live is Live.STALE and subject.standing is not Standing.UNHEARD:
            self._live = Live.SHOWN
        again = self._sends_again(subject)
        if self._unwanted(subject):
            operation = subject.remove()
        elif again:
            operation = subject.repeat()
        else:
            operation = self._show(subject)
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
            self._repeated(message, operation, outcome)
            return
        blank, board = message.shown == "", self._row.board(message)
        found = message.settle(operation, outcome)
        if found is not Verdict.SHOWN and board is None:
            self._refresh()
        match found:
            case Verdict.DOUBT:
                self._doubt(message, outcome)
            case Verdict.GONE | Verdict.STAYS:
                again = self._show_below(board) if board is not None else not blank and self._goes_on
                if found is Verdict.STAYS and again:
                    self._announce_repeat()
            case Verdict.SMALLER:
                self._cut_again(board)
            case Verdict.REPLACE:
                self._edits = self._edits and not isinstance(outcome, EditRefused)
                self._name_asker(message, outcome)
            case Verdict.END:
                self._fail(outcome)
            case _:
                pass
        self._row.close_up()
        self._seal()

    def _repeated(self, message: Message, operation: Operation, outcome: Outcome) -> None:
        if message.repeated(operation, outcome) is Verdict.END:
            self._fail(outcome)

    def lines(self) -> dict[int, Line]:
        """What has to be written down before anything else happens, by the lines' numbers. Asking takes it."""
        in_flight = self._flight[1] if self._flight else None
        lines = ledger.lines(self._row, self._boards, in_flight=in_flight, draft=self._draft.number)
        changed = journal.changes(self._written, lines)
        self._written |= changed
        return changed

    # What is to be done next.

    def _subject(self) -> Message | None:
        """The message about which something is to be done, the most urgent first."""
        if self._row.due or self._row.open.standing in (Standing.UNHEARD, Standing.STUCK):
            return self._row.open
        if (stale := self._row.stale()) is not None:
            return stale
        if self._over:
            messages = self._row.messages
            return next((each for each in messages if self._unwanted(each) or self._sends_again(each)), None)
        return self._row.open if self._live is Live.STALE and self._edits and not self._room.full else None

    def _unwanted(self, message: Message) -> bool:
        """Whether a message is left over: all is said, and it shows what is not part of it."""
        if not self._over or self._row.due or message.standing is Standing.ABSENT:
            return False
        if (board := self._row.board(message)) is not None:
            return self.overwritable and not self._boards.text(board)  # it tells of an attempt that was cut short
        return self._row.sealed_as(message) is None

    def _sends_again(self, message: Message) -> bool:
        """Whether a message shows what it should, and is sent again because an edit may still be on its way to it."""
        if not self._over or self._row.due or not message.late:
            return False
        piece = self._row.sealed_as(message)
        return piece is not None and bool(self._boards.text(piece)) and self._row.shows(message, piece)

    def _priority(self, subject: Message) -> Priority:
        board = self._row.due[0] if self._row.due else self._row.board(subject)
        if board is not None and board.kind == "approval":
            return Priority.APPROVAL
        if self._over or self._row.due:
            return Priority.FINAL
        return Priority.STATUS if board is not None else Priority.LIVE

    def _show(self, message: Message) -> Operation | None:
        """What brings a message nearer to what it is to show."""
        if (piece := self._row.board(message) or (self._row.due[0] if self._row.due else None)) is not None:
            return message.show(self._boards.text(piece), whole=True, buttons=self._boards.buttons(piece))
        appended = message.standing is Standing.STREAMING or message.draws() == "append"
        return message.show(self._draft.growth() if appended else self._draft.preview(), whole=False)

    # What becomes of the row.

    def _refresh(self) -> None:
        """What is not whole yet is shown anew."""
        if self._live is Live.SHOWN:
            self._live = Live.STALE

    def _enqueue(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self._row.due.extend(self._room.admit(self._omission(piece) if self._live is Live.LEFT_OUT else [piece]))
            self._live = Live.STALE

    def _seal(self) -> None:
        """Close what shows all that it should; what is not whole yet is shown behind that."""
        if self._flight is None and self._row.seal() and self._live is not Live.LEFT_OUT:
            self._live = Live.STALE if self._draft.waits else Live.SHOWN

    def _ask(self, approval_id: str) -> None:
        """A call waits for a person: the question goes to the end of the row, behind what it has no room for."""
        self._enqueue(self._draft.flush())
        board = self._board("approval", approval_id)
        if board.board in self._row.untold:
            doubt = [] if self._room.limited else self._notices(notice.MAY_BE_A_REPEAT, board.start)
            self._row.take_up(board.board, doubt)
        elif not self._row.has(board):
            before = self._notices(self._boards.input(approval_id), board.start)
            if self._room.take(len(before) + 1):
                self._row.announce(board, before)

    def _tell_decision(self, approval_id: str) -> None:
        """What was decided, behind the question that cannot be changed."""
        told = self._board("notice", approval_id)
        if self._row.has(replace(told, kind="approval")) and not self._row.has(told):
            sentence = self._boards.resolution(approval_id)
            self._row.due.extend(self._room.admit(remark(told, sentence, self.capabilities)))

    def _show_below(self, board: Piece) -> bool:
        """A board that could not be changed is away, or left as it was: whether it is shown once more."""
        again = board.kind == "approval" and bool(self._boards.text(board)) and self._room.take(1)
        if again:
            self._row.move(board)
        return again

    def _board(self, kind: Kind, about: str) -> Piece:
        place = self._draft.length
        return Piece(kind=kind, draft=self._draft.number, start=place, end=place, board=(about,))

    def _discard(self) -> None:
        """Take the message of this turn back: what shows it is written over by what comes, or taken away at the end."""
        doubted = self._live is Live.LEFT_OUT or any(
            self._taken_back(each) and each.kind == "notice" for each in self._row.pieces
        )
        self._room.give_back(self._row.take_back(self._taken_back), self._taken_back)
        self._draft.rewind()
        self._live = Live.SHOWN
        if doubted:
            self._row.due.extend(self._notices(notice.MAY_BE_A_REPEAT, 0))

    def _taken_back(self, piece: Piece) -> bool:
        """Whether a piece is of the message of this turn."""
        return piece.draft == self._draft.number and piece.kind in ("text", "notice")

    def _notices(self, sentence: str, place: int, kind: Kind = "notice") -> list[Piece]:
        """Bubbles that say something of our own."""
        piece = Piece(kind=kind, draft=self._draft.number, start=place, end=place)
        return remark(piece, sentence, self.capabilities)

    def _omission(self, piece: Piece) -> list[Piece]:
        """The notice that stands for a piece which is left out."""
        return remark(replace(piece, kind="notice"), notice.MAY_BE_MISSING, self.capabilities)

    def _ending(self, event: AgentEnd) -> str:
        answered = any(piece.source for piece in self._row.pieces)
        if event.reason == "complete" and not answered:
            return notice.NO_ANSWER
        return notice.ending(event.reason, self._error, self._run_id)

    # What an outcome means for the row.

    def _doubt(self, message: Message, outcome: Outcome) -> None:
        """A post may have arrived, nobody can say. It goes again, the words behind a notice, or they are left out."""
        message.give_up_looking()
        words = not self._row.due or self._row.due[0].kind == "text"
        asks = bool(self._row.due) and self._row.due[0].kind == "approval"
        self._crowd(1)
        if self._row.is_untold(message):
            message.void = True
            return
        if words and not message.void and self.capabilities.unknown_outcome == "skip":
            self._leave_out()
            return
        self._doubts += 1
        if self._doubts == DOUBTS:
            reason = getattr(outcome, "reason", "no answer")
            self.failure = f"posted {DOUBTS} times without an answer, so it may be there already: {reason}"
        elif words or message.void or asks:
            self._announce_repeat()

    def _crowd(self, messages: int) -> None:
        """There is room for so many messages less: the last pieces go, and what stays says so."""
        over = min(self._room.spend(messages), len(self._row.due))
        for _ in range(over):
            self._row.due.pop()
        if over > 0:
            self._say_left_out()

    def _say_left_out(self) -> None:
        if self._row.due and not self._row.due[-1].changes:
            self._row.due.append(last(self._row.due.pop(), notice.LEFT_OUT, self.capabilities))

    def _announce_repeat(self) -> None:
        if self._room.limited:
            return  # the sentence would take the room of an answer
        if not (self._row.due and self._row.due[0].kind == "notice"):
            sealed = (piece.end for _, piece in reversed(self._row.sealed) if piece.draft == self._draft.number)
            self._row.put_first(self._notices(notice.MAY_BE_A_REPEAT, next(sealed, 0)))

    def _name_asker(self, message: Message, outcome: Outcome) -> None:
        """Where the message under the question is lost, the answer has to say whose it is."""
        lost = message.opens and isinstance(outcome, Expired) and not self._room.limited
        if lost and self._place.asker is not None:
            self._row.put_first(self._notices(notice.FOR.format(self._place.asker), 0))

    def _leave_out(self) -> None:
        if self._row.due:
            self._row.put_first(self._omission(self._row.due.popleft()))
        else:
            self._live = Live.LEFT_OUT

    def _cut_again(self, board: Piece | None) -> None:
        """Give the text that did not fit to smaller bubbles; what is not whole yet is not shown before it is."""
        if board is not None:
            self._boards.narrow(board)
        elif self._row.due and self._row.due[0].changes:
            before = self._notices(self._boards.narrow(self._row.due[0]), self._row.due[0].start)
            self._row.put_first(before)
            self._crowd(len(before))
        elif not self._row.due:
            self._live = Live.TOO_LONG
        elif parts := smaller(self._row.due[0], self.capabilities):
            self._row.due.popleft()
            self._row.put_first(parts)
            self._crowd(len(parts) - 1)
        else:
            self.failure = f"the platform refuses even {len(self._row.due[0].text)} characters as too long"

    def _fail(self, outcome: Outcome) -> None:
        gone = isinstance(outcome, MessageGone)
        silent = "what it was to be posted to is gone" if gone else "the platform will not show it"
        self.failure = getattr(outcome, "reason", silent)

    # What is written down, and read again.

    def _restore(self, written: Sequence[Line], age: float) -> None:
        """Take up the row where an earlier reply was cut off."""
        row = self._row
        ledger.restore(row, written, self._place, overwritable=self._edits)
        self._room = Room(self.capabilities, len(row.pieces) + len(row.untold))
        row.begin(opening=not written)
        nonces = self.capabilities.reconciliation == "nonce"
        if self.capabilities.reconciliation == "none" or (nonces and age >= self.capabilities.nonce_life):
            for message in row.unheard:
                self._doubt(message, _CUT_OFF)
        self._row.close_up()
        self._seal()
