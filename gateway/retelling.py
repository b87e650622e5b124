"""What a run has done so far, told once more from its history: to a reply that is made anew. Pure.

Rule 1: a turn is told as it was: its words in front of and between its calls, then what came of them.
Rule 2: what is not known any more (what was thought, when exactly something was) is not told.
Rule 3: of an open turn, a decision is not told whose call has not been done: whoever takes the turn up tells it.
Rule 4: of a message that broke off, what was shown of it stands in the reply's journal and nowhere else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    Event,
    MessageEnd,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
)
from gateway.history import Answered, Entry, Returned, Started
from gateway.provider import Call
from gateway.store import Approval


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the model in a run, and what is known of its calls, in whatever order that came.

    ``early`` are the calls that began while the message was being written.
    """

    number: int
    answered: Answered
    started: frozenset[str]
    early: frozenset[str]
    returned: tuple[Returned, ...]
    approvals: tuple[Approval, ...] = ()

    @property
    def open(self) -> bool:
        """Whether a call has no result yet, so that the run goes on here."""
        given = {each.tool_use_id for each in self.returned}
        whole = self.answered.reason not in ("interrupted", "stopped", "error")
        return whole and any(call.tool_use_id not in given for call in self.answered.calls)


def turns(entries: Sequence[Entry], approvals: Sequence[Approval] = ()) -> list[Turn]:
    """The turns of a run, from what its history holds of it."""
    found, before = list[Turn](), 0
    places = [at for at, entry in enumerate(entries) if isinstance(entry, Answered)]
    for number, at in enumerate(places, start=1):
        behind = places[number] if number < len(places) else len(entries)
        answered = entries[at]
        assert isinstance(answered, Answered)  # noqa: S101 - that is what it was looked for
        ours = {call.tool_use_id for call in answered.calls}
        around = (*entries[before:at], *entries[at + 1 : behind])
        found.append(
            Turn(
                number=number,
                answered=answered,
                started=frozenset(_started(around)) & ours,
                early=frozenset(_started(entries[before:at])) & ours,
                returned=tuple(each for each in around if isinstance(each, Returned) and each.tool_use_id in ours),
                approvals=tuple(each for each in approvals if each.tool_use_id in ours),
            )
        )
        before = at + 1
    return found


def unclaimed(entries: Sequence[Entry]) -> list[Call]:
    """The calls that began of a message which never came to its end."""
    last = max((at for at, entry in enumerate(entries) if isinstance(entry, Answered)), default=-1)
    told = {call.tool_use_id for entry in entries if isinstance(entry, Answered) for call in entry.calls}
    return [e.call for e in entries[last + 1 :] if isinstance(e, Started) and e.call.tool_use_id not in told]


def retold(turn: Turn) -> list[Event]:
    """The events of a turn, as far as it came."""
    return [TurnStart(turn_number=turn.number), *_message(turn), *_work(turn), *_end(turn)]


def _started(entries: Sequence[Entry]) -> Iterator[str]:
    return (each.call.tool_use_id for each in entries if isinstance(each, Started))


def _message(turn: Turn) -> Iterator[Event]:
    answered, at, blocks = turn.answered, 0, 0
    shown = answered.text if answered.reason != "interrupted" else ""  # rule 4
    for call, place in zip(answered.calls, answered.places or [len(shown)] * len(answered.calls), strict=False):
        yield from _words(shown[at:place], f"b{blocks}")
        yield from _call(call, f"b{blocks + 1}")
        if call.tool_use_id in turn.early:
            yield ToolStart(tool_use_id=call.tool_use_id, input=call.input)
        at, blocks = place, blocks + 2
    yield from _words(shown[at:], f"b{blocks}")
    if answered.error is not None:
        yield Error(error_type=answered.error, error_message="", retryable=False)
    else:
        yield MessageEnd(message_id="", stop_reason=answered.stop_reason, usage=answered.usage)


def _words(text: str, block_id: str) -> Iterator[Event]:
    if text:
        yield ContentBlockStart(block_id=block_id, block_type="text")
        yield TextDelta(block_id=block_id, text=text)
        yield ContentBlockEnd(block_id=block_id, block_type="text")


def _call(call: Call, block_id: str) -> Iterator[Event]:
    yield ContentBlockStart(block_id=block_id, block_type="tool_use")
    yield ToolUseStart(block_id=block_id, tool_use_id=call.tool_use_id, tool_name=call.name)
    yield ToolUseEnd(tool_use_id=call.tool_use_id, input=call.input)
    yield ContentBlockEnd(block_id=block_id, block_type="tool_use")


def _work(turn: Turn) -> Iterator[Event]:
    """What was asked and done for the calls; results in call order, as far as there are all before them."""
    returned = {each.tool_use_id: each for each in turn.returned}
    asked = {each.tool_use_id: each for each in turn.approvals}
    told = True
    for call in turn.answered.calls:
        name = call.tool_use_id
        if (approval := asked.get(name)) is not None:
            yield from _approval(call, approval, decided=not turn.open or name in returned or name in turn.started)
        if name in turn.started - turn.early:
            yield ToolStart(tool_use_id=name, input=call.input)
        told = told and name in returned
        if told:
            yield result(returned[name])


def _approval(call: Call, approval: Approval, *, decided: bool) -> Iterator[Event]:
    yield ApprovalRequested(
        approval_id=approval.id,
        tool_use_id=call.tool_use_id,
        tool_name=call.name,
        input=call.input,
        may_stand=approval.may_stand,
    )
    if decided and approval.state != "open":
        yield ApprovalResolved(
            approval_id=approval.id, tool_use_id=call.tool_use_id, decision=approval.state, by=approval.by
        )


def result(returned: Returned) -> ToolResult:
    """The event that tells what came of a call."""
    return ToolResult(
        tool_use_id=returned.tool_use_id,
        content=returned.content,
        content_length=returned.length,
        is_error=returned.error_type is not None,
        error_type=returned.error_type,
    )


def _end(turn: Turn) -> Iterator[Event]:
    if not turn.open:
        yield TurnEnd(turn_number=turn.number, has_tool_calls=bool(turn.answered.calls))
