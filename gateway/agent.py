"""The agent loop: asks the model, and tells what happens as it happens.

One call of ``answer`` is one run. It is straight-line code in the task that owns the run, and puts every event into the
run's stream; it never yields from inside a task group.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

import anyio

from gateway.event import (
    AgentEnd,
    AgentStart,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    ErrorType,
    Event,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.provider import Item, Message, Native, Provider, Request, UserMessage
from gateway.stream import ConsumerStalledError, EventStream

log = logging.getLogger(__name__)

ENDS: dict[StopReason, EndReason] = {
    "end": "complete",
    "tool_use": "complete",
    "max_tokens": "cut",
    "refusal": "refusal",
    "pause": "cut",
    "context_window": "context_window",
    "unknown": "complete",
}
"""How a run ends when the model stopped for a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who answers: a model, how it is to behave, and how much of the history it is given."""

    id: str
    provider: Provider
    model: str
    max_tokens: int
    system: str
    history_characters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a run came to. ``native`` is none unless the model finished its message; ``error`` is what went wrong."""

    reason: EndReason
    text: str
    native: Native | None
    error: ErrorType | None = None


@dataclass(slots=True)
class Stop:
    """Ends a run before its time, once: whoever calls first says why."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    reason: EndReason = "error"
    asked: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, reason: EndReason) -> None:
        """Listen to the model no further."""
        if not self.asked.is_set():
            self.reason = reason
            self.scope.cancel()
            self.asked.set()


@dataclass(slots=True)
class _Message:
    """The message that the model is writing."""

    text: list[str] = field(default_factory=list[str])
    native: Native | None = None
    end: MessageEnd | Error | None = None
    open: dict[str, ContentBlockStart] = field(default_factory=dict[str, ContentBlockStart])
    calls: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, item: Item) -> None:
        match item:
            case TextDelta(text=text):
                self.text.append(text)
            case Native():
                self.native = item
            case MessageEnd() | Error():
                self.end = item
            case ContentBlockStart(block_id=block_id):
                self.open[block_id] = item
            case ContentBlockEnd(block_id=block_id):
                del self.open[block_id]
            case ToolUseStart(block_id=block_id, tool_use_id=tool_use_id):
                self.calls[block_id] = tool_use_id
            case ToolUseEnd(tool_use_id=tool_use_id):
                self.calls = {block: call for block, call in self.calls.items() if call != tool_use_id}
            case _:
                pass

    def given_up(self, error_type: ErrorType, error_message: str) -> tuple[Event, ...]:
        """What has to be said of a message that nobody listens to any more; nothing, where it had ended."""
        if self.end is not None:
            return ()
        self.end = Error(error_type=error_type, error_message=error_message, retryable=False)
        return (*self._closing(), self.end)

    def _closing(self) -> Iterator[Event]:
        """What ends the blocks that are open."""
        for block_id, block in self.open.items():
            if block_id in self.calls:
                yield ToolUseEnd(tool_use_id=self.calls[block_id], input=None, problem="invalid_json")
            yield ContentBlockEnd(block_id=block_id, block_type=block.block_type)


async def answer(agent: Agent, messages: tuple[Message, ...], stream: EventStream, *, stop: Stop) -> Answer:
    """Run the agent on a conversation, and close its stream.

    Whatever the model does ends in an ``AgentEnd`` with its reason; a ``stop`` ends it with the reason given there,
    unless the model has finished. Other cancellation passes through, and so does an exception of the provider, which is
    a fault of ours: the stream then just closes.
    """
    message = _Message()
    reason: EndReason | None = None
    try:
        await stream.put(AgentStart(agent_id=agent.id, model=agent.model, input_length=_input_length(messages)))
        await stream.put(TurnStart(turn_number=1))
        with stop.scope:
            await anyio.lowlevel.checkpoint()  # who was stopped before it began asks nobody
            await _listen(agent, messages, stream, message)
        last = message.given_up("unknown", "stopped before its end")
        reason = stop.reason if last else None
    except ConsumerStalledError as error:
        last = message.given_up("timeout", str(error))
        reason = "consumer_stalled"
    except BaseException:
        stream.close()
        raise
    if isinstance(message.end, Error) and reason != "stopped":
        log.error("run %s: %s: %s", stream.run_id, message.end.error_type, message.end.error_message)
    ended = _ended(message, reason)
    stream.close(*last, TurnEnd(turn_number=1, has_tool_calls=False), ended)
    native = message.native if isinstance(message.end, MessageEnd) else None
    error = message.end.error_type if isinstance(message.end, Error) and ended.reason == "error" else None
    return Answer(reason=ended.reason, text=ended.final_response, native=native, error=error)


async def _listen(agent: Agent, messages: tuple[Message, ...], stream: EventStream, message: _Message) -> None:
    request = Request(model=agent.model, max_tokens=agent.max_tokens, system=agent.system, messages=messages)
    async with agent.provider.stream(request) as items:
        async for item in items:
            if not isinstance(item, Native):
                await stream.put(item)
            message.take(item)


def _ended(message: _Message, reason: EndReason | None) -> AgentEnd:
    match message.end:
        case MessageEnd(stop_reason=stop_reason, usage=usage):
            found = ENDS[stop_reason]
        case _:
            found, usage = "error", Usage()
    text = "".join(message.text)
    return AgentEnd(reason=reason or found, final_response=text, turn_count=1, message_count=1, usage=usage)


def _input_length(messages: tuple[Message, ...]) -> int:
    last = messages[-1] if messages else None
    return len(last.text) if isinstance(last, UserMessage) else 0
