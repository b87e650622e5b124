"""What a run shows in its conversation: a row of bubbles, each one message of the platform.

Events only change what *should* be on the screen. When a slot is free, the reply is asked for its next operation, which
is computed then, from all the text so far. So text coalesces by itself, and nothing is ever sent that is out of date.

Rule 1: one operation is in flight; its outcome comes back before the next is given out.
Rule 2: bubbles are filled and sealed in order. The text of a sealed bubble is on the screen, and is not touched again.
Rule 3: an operation that would change nothing is not given out; neither is one without text.
Rule 4: where the row breaks is decided by the sequence of events, never by the clock.
Rule 5: however the run ends, all of its text is shown, and then a sentence that says how, unless it is complete.
"""

from collections import deque
from dataclasses import dataclass, replace
from enum import IntEnum

from chunker import Chunk, Chunker, split
from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import AgentEnd, EndReason, Error, ErrorType, Event, MessageEnd, TextDelta, ToolUseStart
from gateway.operation import (
    EditMessage,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    TooLong,
    Unknown,
)

NO_ANSWER = "(The model gave no answer.)"
MAY_BE_A_REPEAT = "(The next message may be a repeat.)"

DOUBTS = 10
"""How many posts of a reply may stay without an answer: each of them may be one more message on the screen."""

ENDINGS: dict[EndReason, str] = {
    "complete": "",
    "refusal": "(The model declined to answer this.)",
    "cut": "(The answer ends here because it reached the model's length limit. Ask for the rest to go on.)",
    "context_window": "(This conversation has become too long for the model. Please begin a new one.)",
    "error": "(Something went wrong and the answer is not complete.",
    "consumer_stalled": "(The answer was stopped because the chat could not keep up.",
}
"""What the user is told when a run ends; where the parenthesis stays open, a reference is added."""

FAILURES: dict[ErrorType, str] = {
    "incomplete_stream": "(The connection to the model broke off, so the answer is not complete. Please ask again.",
    "overloaded": "(The model is overloaded at the moment. Please ask again in a minute.",
    "rate_limited": "(Too many requests went to the model. Please ask again in a minute.",
    "authentication": "(The model refused the bot's key. The bot's operator has to mend that.",
    "invalid_request": "(The model did not accept the request. The bot's operator can find out why.",
    "server": "(The model's service had a failure. Please ask again.",
    "timeout": "(The model took too long to answer. Please ask again.",
    "unknown": ENDINGS["error"],
}
"""As above, by what went wrong."""


class Priority(IntEnum):
    """What goes first when slots are scarce."""

    FINAL = 0
    LIVE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a reply would do if it got a slot: edit the message of that id, or, where there is none, post one."""

    priority: Priority
    message_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bubble:
    """A sealed bubble: the message that shows it, and its stretch ``[start, end)`` of the run's text."""

    message_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Text that fills a bubble, and the stretch of the run's text it stands for."""

    text: str
    start: int
    end: int
    notice: bool = False


@dataclass(slots=True)
class _Open:
    """The bubble at the end of the row: what its message shows, and how it may be shown."""

    message_id: str | None = None
    shown: str = ""
    markup: bool = True
    live: bool = True


class Reply:
    """The row of bubbles of one run.

    Args:
        address: where it is shown.
        capabilities: what the platform can do.
        run_id: named in the sentence that tells of a failure, so that the operator finds it in the log.
    """

    def __init__(self, *, address: Address, capabilities: Capabilities, run_id: str) -> None:
        self.address = address
        self.capabilities = capabilities
        self.bubbles: list[Bubble] = []
        self.failure: str | None = None
        self._run_id = run_id
        self._chunker = Chunker(capabilities.bubble, unit=capabilities.unit)
        self._length = 0
        self._due: deque[_Piece] = deque()
        self._open = _Open()
        self._stale = False
        self._doubts = 0
        self._error: ErrorType | None = None
        self._ended = False
        self._in_flight: Operation | None = None

    @property
    def done(self) -> bool:
        """The run ended and all of it is on the screen, or it can never get there (see ``failure``)."""
        return self.failure is not None or (self._ended and not self._due and self._in_flight is None)

    def feed(self, event: Event) -> None:
        """Take in what the run did."""
        match event:
            case TextDelta():
                self._length += len(event.text)
                self._enqueue(self._chunker.feed(event.text))
                self._stale = True
            case ToolUseStart() | MessageEnd():
                self._enqueue(self._chunker.flush())
            case Error():
                self._enqueue(self._chunker.flush())
                self._error = event.error_type
            case AgentEnd():
                self._enqueue(self._chunker.flush())
                self._tell(self._ending(event.reason))
                self._ended = True
            case _:
                pass
        self._seal_shown()

    def need(self) -> Need | None:
        """What the reply would do with a slot now; none where there is nothing to do, or something is in flight."""
        if self._in_flight is not None or self.failure is not None:
            return None
        if self._due:
            return self._need(Priority.FINAL)
        if self._stale and self._open.live and self.capabilities.surface == "edit":
            return self._need(Priority.LIVE)
        return None

    def next_operation(self) -> Operation | None:
        """The operation for a granted slot, in flight from now on; none where the screen turns out to be right."""
        if self.need() is None:
            return None
        self._stale = False
        text = self._text()
        if text and text != self._open.shown:
            self._in_flight = self._operation(text)
        return self._in_flight

    def settle(self, outcome: Outcome) -> None:
        """Take in what came of the operation in flight."""
        operation, self._in_flight = self._in_flight, None
        if operation is None:
            msg = f"no operation is in flight, yet one ended: {outcome}"
            raise RuntimeError(msg)
        match outcome:
            case Performed(message_id=message_id):
                self._open.message_id, self._open.shown = message_id, operation.text
            case NotModified() if isinstance(operation, EditMessage):
                self._open.shown = operation.text
            case _:
                self._stale = True
                self._recover(operation, outcome)
        self._seal_shown()

    def _recover(self, operation: Operation, outcome: Outcome) -> None:
        """What an outcome means that leaves the screen as it was, or in doubt. The newest state goes next."""
        match outcome:
            case MessageGone() if isinstance(operation, PostMessage):
                self.failure = "what it was to be posted to is gone"
            case NotModified():
                self.failure = "the platform will not post it"
            case MessageGone():
                self._open.message_id, self._open.shown = None, ""
            case MarkupRejected() if self._open.markup:
                self._open.markup = False
            case TooLong() if not self._due:
                self._open.live = False
            case TooLong():
                self._cut_again()
            case Unknown(reason=reason) if isinstance(operation, PostMessage):
                self._doubt(reason)
            case Unknown():
                self._open.shown = ""
            case Forbidden(reason=reason) | MarkupRejected(reason=reason):
                self.failure = reason
            case _:
                pass  # rate limited or unreachable: nothing changed, and the pacer says when it may go again

    def _doubt(self, reason: str) -> None:
        """A post may have arrived or not. It goes again, behind a notice that says so."""
        self._doubts += 1
        if self._doubts == DOUBTS:
            self.failure = f"posted {DOUBTS} times without an answer, so it may be there already: {reason}"
        elif not (self._due and self._due[0].notice):
            place = self.bubbles[-1].end if self.bubbles else 0
            self._due.extendleft(reversed(self._notice(MAY_BE_A_REPEAT, place)))

    def _need(self, priority: Priority) -> Need:
        return Need(priority=priority, message_id=self._open.message_id)

    def _text(self) -> str:
        return self._due[0].text if self._due else self._chunker.preview()

    def _operation(self, text: str) -> Operation:
        markup, message_id = self._open.markup, self._open.message_id
        if message_id is None:
            return PostMessage(address=self.address, text=text, markup=markup)
        return EditMessage(address=self.address, message_id=message_id, text=text, markup=markup)

    def _seal_shown(self) -> None:
        """Close the open bubble where its message shows all of its text."""
        while self._due and self._in_flight is None and self._open.shown == self._text():
            piece = self._due.popleft()
            self.bubbles.append(
                Bubble(message_id=self._open.message_id or "", text=self._open.shown, start=piece.start, end=piece.end)
            )
            self._open = _Open()
            self._stale = bool(self._chunker.preview())  # of what is behind it, nothing was shown yet

    def _enqueue(self, chunks: list[Chunk]) -> None:
        self._due.extend(_Piece(text=chunk.text, start=chunk.start, end=chunk.end) for chunk in chunks)

    def _tell(self, sentence: str) -> None:
        self._due.extend(self._notice(sentence, self._length))

    def _notice(self, sentence: str, place: int) -> list[_Piece]:
        chunks = split(sentence, self.capabilities.bubble, unit=self.capabilities.unit)
        return [_Piece(text=chunk.text, start=place, end=place, notice=True) for chunk in chunks]

    def _ending(self, reason: EndReason) -> str:
        if reason == "complete" and not (self._due or self.bubbles):
            return NO_ANSWER
        sentence = FAILURES[self._error] if reason == "error" and self._error else ENDINGS[reason]
        return sentence if not sentence or sentence.endswith(")") else f"{sentence} Reference: {self._run_id})"

    def _cut_again(self) -> None:
        """Give the text that did not fit to smaller bubbles; the last of them stands for its whole stretch."""
        piece = self._due.popleft()
        smaller = split(piece.text, max(1, len(piece.text) * 3 // 4), unit=self.capabilities.unit)
        if len(smaller) < 2:
            self.failure = f"the platform refuses even {len(piece.text)} characters as too long"
        ends = [piece.start] * (len(smaller) - 1) + [piece.end]
        parts = [replace(piece, text=part.text, end=end) for part, end in zip(smaller, ends, strict=True)]
        self._due.extendleft(reversed(parts))
