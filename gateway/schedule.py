"""Which call of a message may start now. Pure: it is told what happened, and gives out what to do, each act once.

Rule 1: a safe call starts when its input is whole, while the model still talks. It passes no earlier call that is
        exclusive (not safe) and not over, nor one whose input is not whole, which may prove to be so.
Rule 2: an exclusive call starts when it is confirmed and all earlier calls are over; nothing runs beside it.
Rule 3: approvals are asked for behind the end of the message, one at a time, in call order. One that is not decided
        holds later exclusive and cascading calls and no others; once granted, its call follows rule 1 or 2.
Rule 4: of a cut message nothing starts any more, and what runs is cancelled; what had ended keeps its result, for that
        is true. Where the message ended for a reason that vouches for nothing, exclusive calls that were not confirmed
        count as cut. Of a failed message nothing starts, what runs is cancelled, and no call has a result.
Rule 5: the failure of a cascading call (a denial, a time-out or an interruption is one; a refusal of what was never
        allowed to be is none) ends its later cascading kin that are not over, also those not yet written; no others.
Rule 6: results are told in call order. Those of calls that never ran wait for the end of the message, which can be
        discarded until something has begun.
Rule 7: nothing starts twice, in whichever process: what had started and has no result is interrupted for good.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from gateway.event import StopReason, ToolErrorType
from gateway.history import MAY_HAVE_RUN
from gateway.store import ApprovalState
from gateway.toolset import Refusal, Traits

CUT: dict[StopReason, Refusal] = {
    "max_tokens": Refusal(
        error_type="cut", content="Your message was cut at its token limit (max_tokens); its calls are not made."
    ),
    "context_window": Refusal(
        error_type="cut", content="Your message was cut where the context window is full; its calls are not made."
    ),
}
"""What the calls of a message are given that was cut."""

UNCONFIRMED = Refusal(error_type="cut", content="Your message may have been cut, so this call was not made.")
STOPPED = Refusal(error_type="cancelled", content="Cancelled: the run was stopped.")
KIN_FAILED = Refusal(error_type="cancelled", content="Cancelled: an earlier call, on which it may depend, failed.")
INTERRUPTED = Refusal(error_type="interrupted", content=MAY_HAVE_RUN)
DECIDED: dict[ApprovalState, Refusal] = {
    "denied": Refusal(error_type="denied", content="denied: the user did not allow this call"),
    "expired": Refusal(error_type="expired", content="denied: not answered in time"),
    "withdrawn": Refusal(
        error_type="withdrawn",
        content="Withdrawn: it was not decided, for an earlier call failed or the run was stopped.",
    ),
}
"""What a call is given that was not approved."""

FAILURES: frozenset[ToolErrorType | None] = frozenset(
    {"failed", "timeout", "denied", "expired", "withdrawn", "interrupted"}
)
"""Errors by which a call has failed; the others say that it was not let do anything, or was made to end."""

_WHOLE: frozenset[StopReason] = frozenset({"end", "tool_use"})
"""Reasons to stop that vouch for every call of the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Let it run; say ``finish`` when it has ended."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask a person to allow it; say ``decide`` when they did."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """End it; say ``finish`` when it has. ``result`` is its result, if it did not end by itself; none: it has none."""

    call: str
    result: Refusal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Its approval needs no decision any more."""

    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """It does not run (any more): this is its result."""

    call: str
    result: Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """Its result may be told."""

    call: str


Act = Start | Ask | Cancel | Withdraw | Settle | Tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """How far a call was that is taken up again: ``returned``, with which error if any; ``approval``, if it asked."""

    started: bool = False
    returned: bool = False
    error_type: ToolErrorType | None = None
    approval: ApprovalState | None = None


class _State(Enum):
    WRITING = auto()
    """The model writes its input."""
    READY = auto()
    ASKED = auto()
    RUNNING = auto()
    CANCELLED = auto()
    """It was told to end, and has not yet."""
    REFUSED = auto()
    """It will not run, and has not been given its result."""
    DONE = auto()
    TOLD = auto()


_OVER = frozenset({_State.REFUSED, _State.DONE, _State.TOLD})
_BUSY = frozenset({_State.RUNNING, _State.CANCELLED})
_AFTER: dict[type[Act], _State] = {
    Start: _State.RUNNING,
    Ask: _State.ASKED,
    Cancel: _State.CANCELLED,
    Withdraw: _State.REFUSED,
    Settle: _State.DONE,
    Tell: _State.TOLD,
}


@dataclass(slots=True)
class _Call:
    name: str
    state: _State = _State.WRITING
    traits: Traits = field(default_factory=Traits)
    confirmed: bool = False
    granted: bool = False
    failed: bool = False
    refusal: Refusal | None = None
    """What it is to be given for a result, whatever it is doing."""

    @property
    def undecided(self) -> bool:
        return (self.traits.asks or self.state is _State.ASKED) and not self.granted

    def refuse(self, refusal: Refusal) -> None:
        if self.state not in _OVER and self.refusal is None:
            self.refusal = refusal
            if self.state in {_State.WRITING, _State.READY}:
                self.state = _State.REFUSED

    def refuse_as_kin(self) -> None:
        self.refuse(DECIDED["withdrawn"] if self.state is _State.ASKED else KIN_FAILED)


class Schedule:
    """The calls of one message of the model.

    Args:
        limit: how many calls may run at once.
    """

    def __init__(self, *, limit: int = 5) -> None:
        self._limit = limit
        self._calls: dict[str, _Call] = {}  # in call order
        self._ended = self._failed = False
        self._halt: Refusal | None = None

    def open(self, call: str) -> None:
        """The model begins to write a call, behind all others."""
        self._calls[call] = _Call(name=call)

    def judge(self, call: str, verdict: Traits | Refusal) -> None:
        """A call's input is whole: what holds for it, or why it will not be."""
        judged = self._calls[call]
        if isinstance(verdict, Refusal):
            judged.refuse(verdict)
            return
        judged.traits = verdict
        if judged.state is _State.WRITING:
            judged.state = _State.READY
        if verdict.cascades and any(each.failed for each in self._before(call)):
            judged.refuse_as_kin()

    def confirm(self, call: str) -> None:
        """The model moved on behind the call."""
        self._calls[call].confirmed = True

    def resume(self, call: str, verdict: Traits | Refusal, past: Past) -> None:
        """A call of a message that had ended is taken up again; in call order, and ``end`` is said behind the last."""
        resumed = self._calls[call] = _Call(name=call, confirmed=past.approval is not None)
        if past.approval == "open":
            resumed.state = _State.ASKED
        self.judge(call, verdict)
        if past.returned:
            resumed.state = _State.DONE
            resumed.failed = past.error_type in FAILURES and resumed.traits.cascades
        elif past.started:
            self._lose(resumed, INTERRUPTED)
        elif past.approval in DECIDED:
            self._lose(resumed, DECIDED[past.approval])
        resumed.granted = past.approval == "approved"

    def end(self, stop_reason: StopReason) -> None:
        """The message is at its end."""
        if stop_reason == "refusal":
            self.fail()
            return
        self._ended = True
        if (cut := CUT.get(stop_reason)) is not None:
            self._halt = self._halt or cut
        for call in self._calls.values():
            call.confirmed = call.confirmed or stop_reason in _WHOLE
            if not call.confirmed and not call.traits.safe:
                call.refuse(UNCONFIRMED)
            if self._halt is not None:
                call.refuse(self._halt)
                if cut is not None and call.state is _State.REFUSED and call.refusal is not INTERRUPTED:
                    call.refusal = self._halt

    def fail(self) -> None:
        """The message has failed, before its end: it counts for nothing."""
        self._failed = True

    def decide(self, call: str, decision: ApprovalState) -> None:
        """An approval is decided; nothing happens where there is nothing left to decide, or it is still open."""
        decided = self._calls[call]
        if decided.state is not _State.ASKED or decided.refusal is not None or decision == "open":
            return
        if decision == "approved":
            decided.granted, decided.state = True, _State.READY
        else:
            self._lose(decided, DECIDED[decision])

    def finish(self, call: str, *, failed: bool) -> None:
        """A call that was started has ended, and has its result where it may have one."""
        finished = self._calls[call]
        if finished.refusal is None and failed:
            self._fail(finished)
        finished.state = _State.DONE

    def stop(self) -> None:
        """Nothing starts any more, and what runs is cancelled. Before the message's end, say how that ends, too."""
        self._halt = self._halt or STOPPED
        for call in self._calls.values():
            call.refuse(self._halt)

    def next(self) -> Act | None:
        """What to do now; none until something else is known."""
        act = self._act()
        if act is not None:
            self._calls[act.call].state = _AFTER[type(act)]
        return act

    def next_cancel(self) -> Cancel | None:
        """What must not wait behind other acts; ``next`` has it first, too."""
        act = next((act for act in self._ends() if isinstance(act, Cancel)), None)
        if act is not None:
            self._calls[act.call].state = _AFTER[Cancel]
        return act

    @property
    def waiting(self) -> bool:
        """Whether nothing is left to be done before a person decides."""
        states = {call.state for call in self._calls.values()}
        return _State.ASKED in states and not states & _BUSY and self._act() is None

    @property
    def done(self) -> bool:
        """Whether nothing is left to be done: the message is at its end, and all results are told that may be."""
        if self._failed:
            return not any(call.state in _BUSY for call in self._calls.values())
        return self._ended and all(call.state is _State.TOLD for call in self._calls.values())

    def _before(self, call: str) -> Iterator[_Call]:
        for name, each in self._calls.items():
            if name == call:
                return
            yield each

    def _lose(self, call: _Call, refusal: Refusal) -> None:
        """A call has failed that does not run."""
        call.refusal, call.state = refusal, _State.REFUSED
        self._fail(call)

    def _fail(self, call: _Call) -> None:
        if not call.traits.cascades:
            return
        call.failed = True
        later = list(self._calls.values())[list(self._calls).index(call.name) + 1 :]
        for kin in later:
            if kin.traits.cascades:
                kin.refuse_as_kin()

    def _act(self) -> Act | None:
        for act in self._ends():
            return act
        if self._failed:
            return None
        for act in (*self._starts(), *self._results(), *self._questions()):
            return act
        return None

    def _ends(self) -> Iterator[Act]:
        for call in self._calls.values():
            if call.state is _State.RUNNING and (self._failed or call.refusal is not None):
                yield Cancel(call=call.name, result=None if self._failed else call.refusal)
            elif call.state is _State.ASKED and call.refusal is not None:
                yield Withdraw(call=call.name)

    def _starts(self) -> Iterator[Act]:
        """Rules 1 to 3. What is in the way of a call is found by going through those before it."""
        busy = sum(call.state in _BUSY for call in self._calls.values())
        open_before = exclusive_before = undecided_before = False
        for call in self._calls.values():
            if call.state is _State.READY and not call.undecided and self._halt is None:
                held = exclusive_before or (call.traits.cascades and undecided_before)
                if call.traits.safe:
                    may = busy < self._limit and not held
                else:
                    may = call.confirmed and busy == 0 and not open_before
                if may:
                    yield Start(call=call.name)
            if call.state not in _OVER:
                open_before = True
                undecided_before = undecided_before or call.undecided
                exclusive_before = exclusive_before or not (call.traits.safe or call.undecided)

    def _results(self) -> Iterator[Act]:
        if self._ended:
            for call in self._calls.values():
                if call.state is _State.REFUSED and call.refusal is not None:
                    yield Settle(call=call.name, result=call.refusal)
        for call in self._calls.values():
            if call.state is _State.DONE:
                yield Tell(call=call.name)
            if call.state is not _State.TOLD:
                return

    def _questions(self) -> Iterator[Act]:
        if not self._ended or any(call.state is _State.ASKED for call in self._calls.values()):
            return
        for call in self._calls.values():
            if call.state is _State.READY and call.undecided:
                yield Ask(call=call.name)
