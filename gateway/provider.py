"""What the gateway asks of a language model."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from gateway.event import JsonObject, ModelEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """A model's answer in its protocol's own form, kept to be replayed unchanged to the same protocol."""

    protocol: str
    blocks: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What people said since the model last spoke."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """What the model said. ``native`` is none where it was not finished or was said by no model."""

    text: str
    native: Native | None = None


Message = UserMessage | AssistantMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model call. ``messages`` begins with the user's, alternates, and ends with the user's."""

    model: str
    max_tokens: int
    system: str
    messages: tuple[Message, ...]


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
