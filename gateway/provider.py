"""What the gateway asks of a language model."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from gateway.event import InputProblem, JsonObject, ModelEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """A model's answer in its protocol's own form, kept to be replayed unchanged to the same protocol."""

    protocol: str
    blocks: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it. ``input_schema`` is JSON Schema of an object."""

    name: str
    description: str
    input_schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that the model made. ``input`` is empty where what it wrote was no JSON object: ``problem``."""

    tool_use_id: str
    name: str
    input: JsonObject
    problem: InputProblem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a call."""

    tool_use_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What people said since the model last spoke, behind the results of the calls that it made there."""

    text: str
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """What the model said. ``native`` is none where it was not finished or was said by no model.

    ``calls`` are those in ``native``, too; the next message has a result for each, in their order.
    """

    text: str
    native: Native | None = None
    calls: tuple[Call, ...] = ()


Message = UserMessage | AssistantMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model call. ``messages`` begins with the user's, and alternates.

    It ends with the user's, or with the model's own where that paused and is to go on.
    """

    model: str
    max_tokens: int
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()


Item = ModelEvent | Native
"""What a stream yields: events, and right before ``MessageEnd`` the answer's native form."""


class Provider(Protocol):
    """A model behind one protocol."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncIterator[Item]]:
        """Ask the model, and read its answer as block-level events while it comes.

        The events follow the grammar's ``message`` and always end with ``MessageEnd`` or ``Error``: whatever goes
        wrong, before the first byte or after, is an ``Error`` event and not an exception. Leaving the context closes
        the connection.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model behind its provider, and the tokens that an answer of it may have."""

    provider: Provider
    name: str
    max_tokens: int
