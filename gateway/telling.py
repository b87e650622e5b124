"""What has been told of a run, and what is still to be told so that it ends by the grammar. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    Event,
    MessageDiscarded,
    MessageEnd,
    ToolResult,
    ToolStart,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
)
from gateway.history import Returned
from gateway.retelling import result

BROKEN_OFF = Error(error_type="unknown", error_message="stopped before its end", retryable=False)


@dataclass(slots=True)
class Telling:
    """The open ends of a run's events.

    ``in_turn``: a turn has begun and not ended. ``spoken``: its message has.
    """

    in_turn: bool = False
    spoken: bool = False
    _number: int = 0
    _called: bool = False
    _end: MessageEnd | None = None
    _failed: bool = False
    _blocks: dict[str, ContentBlockStart] = field(default_factory=dict[str, ContentBlockStart])
    _nameless: set[str] = field(default_factory=set[str])  # blocks of calls that have no name yet
    _writing: dict[str, str] = field(default_factory=dict[str, str])  # call by block
    _calls: list[str] = field(default_factory=list[str])  # without a result, in call order
    _undecided: dict[str, str] = field(default_factory=dict[str, str])  # approval by call
    _known: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _results: list[Returned] = field(default_factory=list[Returned])

    @property
    def undecided(self) -> list[str]:
        """The approvals that people were asked for, and that nobody has decided."""
        return list(self._undecided.values())

    def knows(self, event: Event) -> bool:
        """Whether just this was told of a call of this turn; not asked of what may be said more than once."""
        return (event.type, getattr(event, "tool_use_id", "")) in self._known

    def told(self, event: Event) -> None:  # noqa: C901, PLR0912 - a table of events
        """An event was told."""
        if isinstance(event, ApprovalRequested | ApprovalResolved | ToolStart | ToolResult):
            self._known.add((event.type, event.tool_use_id))
        match event:
            case TurnStart(turn_number=number):
                self.in_turn, self.spoken, self._failed, self._number = True, False, False, number
                self._forget()
            case ContentBlockStart(block_id=block_id):
                self._blocks[block_id] = event
                if event.block_type == "tool_use":
                    self._nameless.add(block_id)
            case ToolUseStart(block_id=block_id, tool_use_id=call):
                self._nameless.discard(block_id)
                self._writing[block_id] = call
                self._calls.append(call)
                self._called = True
            case ToolUseEnd(tool_use_id=call):
                self._writing = {block: each for block, each in self._writing.items() if each != call}
            case ContentBlockEnd(block_id=block_id):
                del self._blocks[block_id]
            case MessageEnd(stop_reason=stop_reason):
                self.spoken, self._failed = True, stop_reason == "refusal"
            case Error():
                self.spoken, self._failed = True, True
            case MessageDiscarded():
                self._forget()
            case ApprovalRequested(tool_use_id=call, approval_id=approval):
                self._undecided[call] = approval
            case ApprovalResolved(tool_use_id=call):
                self._undecided.pop(call, None)
            case ToolResult(tool_use_id=call):
                self._calls.remove(call)
            case TurnEnd():
                self.in_turn = False
            case _:
                pass

    def settle(self, end: MessageEnd | None, returned: Iterable[Returned]) -> None:
        """How the message ended, if it did, and the results of its calls."""
        self._end, self._results = end, list(returned)

    def closing(self) -> list[Event]:
        """What is still to be told before the run may end; nothing, where no turn is open."""
        return list(self._closing()) if self.in_turn else []

    def open_blocks(self) -> list[ToolUseStart | ToolUseEnd | ContentBlockEnd]:
        """What ends the blocks that are being written; a call that has no name yet gets one that no call has."""
        ends = list[ToolUseStart | ToolUseEnd | ContentBlockEnd]()
        for block_id, block in self._blocks.items():
            call = self._writing.get(block_id)
            if block_id in self._nameless:
                call = f"nameless {self._number} {block_id}"
                ends.append(ToolUseStart(block_id=block_id, tool_use_id=call, tool_name=""))
            if call is not None:
                ends.append(ToolUseEnd(tool_use_id=call, input=None, problem="invalid_json"))
            ends.append(ContentBlockEnd(block_id=block_id, block_type=block.block_type))
        return ends

    def _closing(self) -> Iterator[Event]:
        if not self.spoken:
            yield from self.open_blocks()
            yield BROKEN_OFF if self._end is None else self._end
            self._failed = self._failed or self._end is None
        if not self._failed:
            results = {each.tool_use_id: each for each in self._results}
            for call in self._calls:
                if call in self._undecided:
                    yield ApprovalResolved(
                        approval_id=self._undecided[call], tool_use_id=call, decision="withdrawn", by=None
                    )
                if call in results:
                    yield result(results[call])
        yield TurnEnd(turn_number=self._number, has_tool_calls=self._called)

    def _forget(self) -> None:
        self._blocks.clear()
        self._nameless.clear()
        self._writing.clear()
        self._calls.clear()
        self._called = False
        self._undecided.clear()
        self._known.clear()
