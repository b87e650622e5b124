"""The agent loop: asks the model, and tells what happens as it happens.

One call of ``answer`` is one run. It is straight-line code in the task that owns the run, and puts every event into the
run's stream; it never yields from inside a task group.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from gateway.event import (
    AgentEnd,
    AgentStart,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
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
    "context_window": "cut",
    "unknown": "complete",
}
"""How a run ends when the model stopped for a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who answers: a model, and how it is to behave."""

    id: str
    provider: Provider
    model: str
    max_tokens: int
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a run came to. ``native`` is none unless the model finished its message."""

    reason: EndReason
    text: str
    native: Native | None


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

    def closing(self) -> Iterator[Event]:
        """What ends the blocks that are open, for a message that is given up."""
        for block_id, block in self.open.items():
            if block_id in self.calls:
                yield ToolUseEnd(tool_use_id=self.calls[block_id], input=None, problem="invalid_json")
            yield ContentBlockEnd(block_id=block_id, block_type=block.block_type)


async def answer(agent: Agent, messages: tuple[Message, ...], stream: EventStream) -> Answer:
    """Run the agent on a conversation, and close its stream.

    Whatever the model does ends in an ``AgentEnd`` with its reason. Cancellation passes through, and so does an
    exception of the provider, which is a fault of ours: the stream then just closes.
    """
    message = _Message()
    failure: tuple[Event, ...] = ()
    try:
        await stream.put(AgentStart(agent_id=agent.id, model=agent.model, input_length=_input_length(messages)))
        await stream.put(TurnStart(turn_number=1))
        await _listen(agent, messages, stream, message)
        reason = _reason(message)
    except ConsumerStalledError as error:
        log.error("run %s: %s", stream.run_id, error)  # noqa: TRY400 - the message says it whole
        failure = (*message.closing(), Error(error_type="timeout", error_message=str(error), retryable=False))
        reason = "consumer_stalled"
    except BaseException:
        stream.close()
        raise
    text = "".join(message.text)
    usage = message.end.usage if isinstance(message.end, MessageEnd) else Usage()
    end = AgentEnd(reason=reason, final_response=text, turn_count=1, message_count=1, usage=usage)
    stream.close(*failure, TurnEnd(turn_number=1, has_tool_calls=False), end)
    return Answer(reason=reason, text=text, native=message.native if isinstance(message.end, MessageEnd) else None)


async def _listen(agent: Agent, messages: tuple[Message, ...], stream: EventStream, message: _Message) -> None:
    request = Request(model=agent.model, max_tokens=agent.max_tokens, system=agent.system, messages=messages)
    async with agent.provider.stream(request) as items:
        async for item in items:
            if not isinstance(item, Native):
                await stream.put(item)
            message.take(item)
    if isinstance(message.end, Error):
        log.error("run %s: %s: %s", stream.run_id, message.end.error_type, message.end.error_message)


def _reason(message: _Message) -> EndReason:
    return ENDS[message.end.stop_reason] if isinstance(message.end, MessageEnd) else "error"


def _input_length(messages: tuple[Message, ...]) -> int:
    last = messages[-1] if messages else None
    return len(last.text) if isinstance(last, UserMessage) else 0
