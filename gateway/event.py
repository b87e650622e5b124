"""The unified event stream: what a run tells everybody who watches it.

Decoders and the agent yield the bare payloads below. The run's stream wraps each of them once, in an
``Envelope``, before anybody sees it. Which payload may follow which is the business of ``grammar``.

Rule 1: an event says what happened, never what to do about it.
Rule 2: an event is data that survives JSON: ``from_json(to_json(envelope)) == envelope``.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, TypeAdapter

JsonObject = dict[str, Any]

BlockType = Literal["text", "thinking", "tool_use", "other"]

StopReason = Literal["end", "tool_use", "max_tokens", "refusal", "pause", "context_window", "unknown"]
"""Why the model stopped talking. ``unknown``: for a reason this version has no name for."""

ErrorType = Literal[
    "incomplete_stream",
    "overloaded",
    "rate_limited",
    "authentication",
    "invalid_request",
    "server",
    "timeout",
    "unknown",
]
"""What went wrong with a model call. ``incomplete_stream``: the bytes ended before the message did."""

InputProblem = Literal["invalid_json", "not_an_object"]
"""Why the input of a tool call could not be used. It is never repaired."""

EndReason = Literal[
    "complete",
    "stopped",
    "refusal",
    "cut",
    "context_window",
    "turn_limit",
    "token_budget",
    "deadline",
    "loop",
    "error",
    "consumer_stalled",
]
"""How a run ended. ``stopped``: somebody asked for it; ``cut``: at the model's token limit; ``turn_limit``,
``token_budget``, ``deadline``: it used up what a run may; ``loop``: the same call had the same result three times;
``consumer_stalled``: nobody read the stream."""

ToolErrorType = Literal[
    "unknown_tool",
    "invalid_input",
    "not_permitted",
    "failed",
    "timeout",
    "denied",
    "expired",
    "withdrawn",
    "cancelled",
    "cut",
    "interrupted",
]
"""Why a call has an error for its result. ``withdrawn``: its approval was, behind the failure of a kindred call;
``cancelled``: it was ended, or never begun, for such a failure or for a stop; ``cut``: its message was;
``interrupted``: the process ended while it ran, so it may have done what it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that a model call, or a whole run, was billed for.

    ``input_tokens`` are those beside the cache: what was read from it or written to it is counted apart. Reasoning is
    part of ``output_tokens``.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The tokens of both."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart:
    """A run began."""

    type: Literal["agent_start"] = "agent_start"
    agent_id: str
    model: str
    input_length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A model call is about to be made. ``context_tokens`` is none where nobody counted them."""

    type: Literal["turn_start"] = "turn_start"
    turn_number: int
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentBlockStart:
    """A block of the message opened. Blocks may interleave; ``block_id`` tells them apart."""

    type: Literal["content_block_start"] = "content_block_start"
    block_id: str
    block_type: BlockType


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentBlockEnd:
    """A block of the message closed."""

    type: Literal["content_block_end"] = "content_block_end"
    block_id: str
    block_type: BlockType


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text for the user."""

    type: Literal["text_delta"] = "text_delta"
    block_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More of the model's thinking; not for the chat."""

    type: Literal["thinking_delta"] = "thinking_delta"
    block_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseStart:
    """The model began to write a tool call."""

    type: Literal["tool_use_start"] = "tool_use_start"
    block_id: str
    tool_use_id: str
    tool_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInputDelta:
    """A raw fragment of a call's JSON input."""

    type: Literal["tool_input_delta"] = "tool_input_delta"
    tool_use_id: str
    json_delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseEnd:
    """A call's input is whole. ``input`` is none exactly where ``problem`` says why."""

    type: Literal["tool_use_end"] = "tool_use_end"
    tool_use_id: str
    input: JsonObject | None
    problem: InputProblem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUseConfirmed:
    """The model moved on behind the call: it is certain that nothing cut it."""

    type: Literal["tool_use_confirmed"] = "tool_use_confirmed"
    tool_use_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnd:
    """The model finished its message."""

    type: Literal["message_end"] = "message_end"
    message_id: str
    stop_reason: StopReason
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDiscarded:
    """What was streamed of this message is void: the turn starts again."""

    type: Literal["message_discarded"] = "message_discarded"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    """A tool began to work."""

    type: Literal["tool_start"] = "tool_start"
    tool_use_id: str
    input: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress:
    """A tool said how far it is."""

    type: Literal["tool_progress"] = "tool_progress"
    tool_use_id: str
    message: str
    done: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested:
    """A call waits for a person's decision. ``may_stand``: they may allow the tool for the whole conversation."""

    type: Literal["approval_requested"] = "approval_requested"
    approval_id: str
    tool_use_id: str
    tool_name: str
    input: JsonObject
    may_stand: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalResolved:
    """A person, or the time-out, decided; or nothing is left to decide: ``withdrawn``."""

    type: Literal["approval_resolved"] = "approval_resolved"
    approval_id: str
    tool_use_id: str
    decision: Literal["approved", "denied", "expired", "withdrawn"]
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is given for a call. ``content_length`` is that of the whole, also where ``content`` was cut."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str
    content_length: int
    is_error: bool = False
    error_type: ToolErrorType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A model call and its tools are done."""

    type: Literal["turn_end"] = "turn_end"
    turn_number: int
    has_tool_calls: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd:
    """A run ended: always its last event. ``final_response`` is the text of its last message."""

    type: Literal["agent_end"] = "agent_end"
    reason: EndReason
    final_response: str
    turn_count: int
    message_count: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """A model call failed. ``error_message`` is for the operator; the chat gets a plain sentence."""

    type: Literal["error"] = "error"
    error_type: ErrorType
    error_message: str
    retryable: bool


ModelEvent = (
    ContentBlockStart
    | ContentBlockEnd
    | TextDelta
    | ThinkingDelta
    | ToolUseStart
    | ToolInputDelta
    | ToolUseEnd
    | ToolUseConfirmed
    | MessageEnd
    | Error
)
"""What a provider's decoder may say; the rest is said by the agent."""

Event = (
    AgentStart
    | TurnStart
    | ModelEvent
    | MessageDiscarded
    | ToolStart
    | ToolProgress
    | ApprovalRequested
    | ApprovalResolved
    | ToolResult
    | TurnEnd
    | AgentEnd
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An event in its place: the ``seq``-th, gapless from 0, of one run."""

    run_id: str
    seq: int
    timestamp: AwareDatetime
    event: Annotated[Event, Field(discriminator="type")]


@cache
def _envelope() -> TypeAdapter[Envelope]:
    return TypeAdapter(Envelope)


@cache
def _event() -> TypeAdapter[Event]:
    return TypeAdapter(Annotated[Event, Field(discriminator="type")])


def to_json(envelope: Envelope) -> str:
    """One line of JSON; absent values are null."""
    return _envelope().dump_json(envelope).decode()


def from_json(line: str | bytes) -> Envelope:
    """The envelope that ``to_json`` wrote.

    Raises:
        ValueError: where the line is no JSON, an event of unknown type, or has a field of the wrong type.
    """
    return _envelope().validate_json(line, strict=True)


def to_object(event: Event) -> JsonObject:
    """The bare payload as a JSON object: its type first, then its fields."""
    return _event().dump_python(event, mode="json")
