"""Which event may follow which.

    run     = agent_start turn+ agent_end
    turn    = turn_start (block* message_discarded)* (message, interleaved with calls) turn_end
    message = block* (message_end | error), blocks keyed by id may interleave
    block   = content_block_start delta* content_block_end; in one of type tool_use
              content_block_start tool_use_start tool_input_delta* tool_use_end content_block_end
    call    = tool_use_end [approval_requested approval_resolved] [tool_start tool_progress*] [tool_result]

Rule 1: every event belongs to the run, and moves it by ``RUN``. Those that name a block or a call move that too, by
        ``BLOCK`` and ``CALL``. An event that one of its tables does not list where it stands is an error.
Rule 2: ``tool_use_confirmed`` is the model's word and not the tool's: once a call, between its end and the end of the
        message, also behind its start, since what is safe need not wait for it.
Rule 3: no block is open where the message ends, be it discarded.
Rule 4: results come in call order, which is the order in which the calls opened. None is missing at ``turn_end``, but
        after a refusal or an error none comes.
Rule 5: once a tool has started or a person was asked, the message cannot be discarded: it would happen twice.

What a table cannot say (rules 2 to 5) is in the functions below it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import NoReturn

from gateway.error import DragomanError
from gateway.event import (
    AgentEnd,
    AgentStart,
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    Event,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolProgress,
    ToolResult,
    ToolStart,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
)
from gateway.provider import Item, Native


class RunState(Enum):
    """Where a run stands."""

    NEW = auto()
    STARTED = auto()
    """No turn yet."""
    SPEAKING = auto()
    """The model is writing its message."""
    SPOKEN = auto()
    """The message is whole, or cut; its calls get their results."""
    FAILED = auto()
    """The message was refused or broke; its calls get none."""
    BETWEEN_TURNS = auto()
    OVER = auto()


class BlockState(Enum):
    """Where a block stands."""

    TEXT = auto()
    THINKING = auto()
    OTHER = auto()
    """Its content is nobody's business but the provider's."""
    TOOL_USE = auto()
    """Of a call that has no name yet."""
    INPUT = auto()
    """The call's input is being written."""
    INPUT_DONE = auto()
    CLOSED = auto()


class CallState(Enum):
    """Where a call stands."""

    WRITING = auto()
    READY = auto()
    ASKED = auto()
    DECIDED = auto()
    RUNNING = auto()
    DONE = auto()


RUN: Mapping[RunState, Mapping[type[object], RunState]] = {
    RunState.NEW: {AgentStart: RunState.STARTED},
    RunState.STARTED: {TurnStart: RunState.SPEAKING},
    RunState.SPEAKING: {
        ContentBlockStart: RunState.SPEAKING,
        TextDelta: RunState.SPEAKING,
        ThinkingDelta: RunState.SPEAKING,
        ToolUseStart: RunState.SPEAKING,
        ToolInputDelta: RunState.SPEAKING,
        ToolUseEnd: RunState.SPEAKING,
        ContentBlockEnd: RunState.SPEAKING,
        ToolUseConfirmed: RunState.SPEAKING,
        ToolStart: RunState.SPEAKING,
        ToolProgress: RunState.SPEAKING,
        ToolResult: RunState.SPEAKING,
        MessageDiscarded: RunState.SPEAKING,
        MessageEnd: RunState.SPOKEN,
        Error: RunState.FAILED,
    },
    RunState.SPOKEN: {
        ApprovalRequested: RunState.SPOKEN,
        ApprovalResolved: RunState.SPOKEN,
        ToolStart: RunState.SPOKEN,
        ToolProgress: RunState.SPOKEN,
        ToolResult: RunState.SPOKEN,
        TurnEnd: RunState.BETWEEN_TURNS,
    },
    RunState.FAILED: {TurnEnd: RunState.BETWEEN_TURNS},
    RunState.BETWEEN_TURNS: {TurnStart: RunState.SPEAKING, AgentEnd: RunState.OVER},
    RunState.OVER: {},
}

BLOCK: Mapping[BlockState, Mapping[type[object], BlockState]] = {
    BlockState.TEXT: {TextDelta: BlockState.TEXT, ContentBlockEnd: BlockState.CLOSED},
    BlockState.THINKING: {ThinkingDelta: BlockState.THINKING, ContentBlockEnd: BlockState.CLOSED},
    BlockState.OTHER: {ContentBlockEnd: BlockState.CLOSED},
    BlockState.TOOL_USE: {ToolUseStart: BlockState.INPUT},
    BlockState.INPUT: {ToolInputDelta: BlockState.INPUT, ToolUseEnd: BlockState.INPUT_DONE},
    BlockState.INPUT_DONE: {ContentBlockEnd: BlockState.CLOSED},
    BlockState.CLOSED: {},
}

CALL: Mapping[CallState, Mapping[type[object], CallState]] = {
    CallState.WRITING: {ToolInputDelta: CallState.WRITING, ToolUseEnd: CallState.READY},
    CallState.READY: {
        ApprovalRequested: CallState.ASKED,
        ToolStart: CallState.RUNNING,
        ToolResult: CallState.DONE,
    },
    CallState.ASKED: {ApprovalResolved: CallState.DECIDED},
    CallState.DECIDED: {ToolStart: CallState.RUNNING, ToolResult: CallState.DONE},
    CallState.RUNNING: {ToolProgress: CallState.RUNNING, ToolResult: CallState.DONE},
    CallState.DONE: {},
}

OPENED: Mapping[str, BlockState] = MappingProxyType(
    {
        "text": BlockState.TEXT,
        "thinking": BlockState.THINKING,
        "other": BlockState.OTHER,
        "tool_use": BlockState.TOOL_USE,
    }
)


class GrammarError(DragomanError):
    """An event came where none of its kind may come."""


@dataclass(slots=True, kw_only=True)
class _Block:
    block_type: str
    state: BlockState


@dataclass(slots=True, kw_only=True)
class _Call:
    block_id: str
    state: CallState = CallState.WRITING
    confirmed: bool = False
    approval_id: str | None = None


class Grammar:
    """Holds the events of one run to the grammar.

    Args:
        state: where to begin; ``SPEAKING`` for the events of a message alone.
    """

    def __init__(self, state: RunState = RunState.NEW) -> None:
        self.state = state
        self._blocks: dict[str, _Block] = {}
        self._calls: dict[str, _Call] = {}  # in call order

    def feed(self, event: Event) -> None:
        """Take in the next event.

        Raises:
            GrammarError: where it may not come; names the event and the state. The grammar is then of no more use.
        """
        following = RUN[self.state].get(type(event))
        if following is None:
            self._refuse(event, f"the run is {self.state.name}")
        self._feed_block(event)
        self._feed_turn(event)
        self.state = following
        if isinstance(event, MessageEnd) and event.stop_reason == "refusal":
            self.state = RunState.FAILED

    def close(self) -> None:
        """Say that no more events will come.

        Raises:
            GrammarError: where a run must not end here.
        """
        if self.state is not RunState.OVER:
            msg = f"the events end while the run is {self.state.name}"
            raise GrammarError(msg)

    def _feed_block(self, event: Event) -> None:
        """Move the block, and the call, that the model is writing."""
        match event:
            case ContentBlockStart():
                if event.block_id in self._blocks:
                    self._refuse(event, f"there is a block {event.block_id} already")
                self._blocks[event.block_id] = _Block(block_type=event.block_type, state=OPENED[event.block_type])
            case TextDelta() | ThinkingDelta():
                self._move_block(event, event.block_id)
            case ContentBlockEnd():
                self._move_block(event, event.block_id)
                if event.block_type != self._blocks[event.block_id].block_type:
                    self._refuse(event, f"block {event.block_id} is of another type")
            case ToolUseStart():
                if event.tool_use_id in self._calls:
                    self._refuse(event, f"there is a call {event.tool_use_id} already")
                self._move_block(event, event.block_id)
                self._calls[event.tool_use_id] = _Call(block_id=event.block_id)
            case ToolInputDelta() | ToolUseEnd():
                self._move_block(event, self._move_call(event, event.tool_use_id).block_id)
            case _:
                pass

    def _feed_turn(self, event: Event) -> None:
        """Move the call that is being worked on, and see that nothing is left open where something ends."""
        match event:
            case ToolUseConfirmed():
                self._confirm(event)
            case ToolStart() | ToolProgress():
                self._move_call(event, event.tool_use_id)
            case ApprovalRequested() | ApprovalResolved():
                self._approve(event)
            case ToolResult():
                self._answer(event)
            case MessageEnd() | Error():
                self._end_message(event)
            case MessageDiscarded():
                self._end_message(event)
                self._discard(event)
            case TurnEnd():
                self._end_turn(event)
            case _:
                pass

    def _move_block(self, event: Event, block_id: str) -> None:
        block = self._blocks.get(block_id)
        if block is None:
            self._refuse(event, f"there is no block {block_id}")
        following = BLOCK[block.state].get(type(event))
        if following is None:
            self._refuse(event, f"block {block_id} is {block.state.name}")
        block.state = following

    def _move_call(self, event: Event, tool_use_id: str) -> _Call:
        call = self._call(event, tool_use_id)
        following = CALL[call.state].get(type(event))
        if following is None:
            self._refuse(event, f"call {tool_use_id} is {call.state.name}")
        call.state = following
        return call

    def _call(self, event: Event, tool_use_id: str) -> _Call:
        call = self._calls.get(tool_use_id)
        if call is None:
            self._refuse(event, f"there is no call {tool_use_id}")
        return call

    def _confirm(self, event: ToolUseConfirmed) -> None:
        call = self._call(event, event.tool_use_id)
        if call.confirmed or call.state is CallState.WRITING:
            self._refuse(event, f"call {event.tool_use_id} is {'confirmed' if call.confirmed else call.state.name}")
        call.confirmed = True

    def _approve(self, event: ApprovalRequested | ApprovalResolved) -> None:
        call = self._move_call(event, event.tool_use_id)
        if call.approval_id not in {None, event.approval_id}:
            self._refuse(event, f"call {event.tool_use_id} waits for approval {call.approval_id}")
        call.approval_id = event.approval_id

    def _answer(self, event: ToolResult) -> None:
        self._move_call(event, event.tool_use_id)
        for tool_use_id, call in self._calls.items():
            if tool_use_id == event.tool_use_id:
                return
            if call.state is not CallState.DONE:
                self._refuse(event, f"the result of call {tool_use_id} comes first")

    def _end_message(self, event: MessageEnd | Error | MessageDiscarded) -> None:
        for block_id, block in self._blocks.items():
            if block.state is not BlockState.CLOSED:
                self._refuse(event, f"block {block_id} is {block.state.name}")

    def _discard(self, event: MessageDiscarded) -> None:
        for tool_use_id, call in self._calls.items():
            if call.state not in {CallState.WRITING, CallState.READY}:
                self._refuse(event, f"call {tool_use_id} is {call.state.name}")
        self._forget()

    def _end_turn(self, event: TurnEnd) -> None:
        if self.state is RunState.SPOKEN:
            for tool_use_id, call in self._calls.items():
                if call.state is not CallState.DONE:
                    self._refuse(event, f"call {tool_use_id} is {call.state.name}")
        self._forget()

    def _forget(self) -> None:
        self._blocks.clear()
        self._calls.clear()

    def _refuse(self, event: Event, why: str) -> NoReturn:
        msg = f"{event.type} may not come here: {why}"
        raise GrammarError(msg)


def check_run(events: Iterable[Event]) -> None:
    """Hold the events of a whole run to the grammar.

    Raises:
        GrammarError: at the first that breaks it, or where the run is not whole.
    """
    grammar = Grammar()
    for event in events:
        grammar.feed(event)
    grammar.close()


def check_message(items: Iterable[Item]) -> None:
    """Hold what a provider says of one message to the grammar.

    Raises:
        GrammarError: at the first item that breaks it; where the message is not whole; or where a native form stands
            elsewhere than right before ``message_end``.
    """
    grammar = Grammar(RunState.SPEAKING)
    before: Item | None = None
    for item in items:
        if grammar.state is not RunState.SPEAKING:
            msg = f"{item} came behind the end of the message"
            raise GrammarError(msg)
        if isinstance(before, Native) and not isinstance(item, MessageEnd):
            msg = f"behind the native form comes message_end, not {item}"
            raise GrammarError(msg)
        if not isinstance(item, Native):
            grammar.feed(item)
        before = item
    if grammar.state is RunState.SPEAKING:
        msg = "the message has no end"
        raise GrammarError(msg)
