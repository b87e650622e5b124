"""A chat platform in miniature: strict about what it is asked, and honest about what it did."""

from dataclasses import dataclass, field
from typing import Literal

from chunker import Chunker
from gateway.adapter import Capabilities
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
    RateLimited,
    TooLong,
    Unknown,
    Unreachable,
)

Fate = Literal["done", "rate limited", "unreachable", "markup rejected", "lost", "done unheard", "forbidden"]
"""What may befall an operation; "lost" and "done unheard" both look unknown from the outside."""

NO_ANSWER = Unknown(reason="no answer")
UNDONE: dict[Fate, Outcome] = {
    "rate limited": RateLimited(retry_after=1.0),
    "unreachable": Unreachable(reason="no connection"),
    "lost": NO_ANSWER,
    "forbidden": Forbidden(reason="channel_not_found"),
    "markup rejected": MarkupRejected(reason="invalid_blocks"),
}
"""How it is told of what was not done."""


@dataclass(slots=True)
class Shown:
    """A message as people see it. ``unheard``: the platform's answer to its post was lost."""

    text: str
    markup: bool
    deleted: bool = False
    unheard: bool = False


def length(text: str, unit: str) -> int:
    """How long a text is in the platform's own count."""
    match unit:
        case "utf16":
            return len(text.encode("utf-16-le")) // 2
        case "utf8":
            return len(text.encode())
        case _:
            return len(text)


def chunks_of(text: str, capabilities: Capabilities) -> list[str]:
    """What a row of bubbles shows of a text that came in one piece."""
    chunker = Chunker(capabilities.bubble, unit=capabilities.unit)
    return [chunk.text for chunk in [*chunker.feed(text), *chunker.flush()]]


@dataclass
class Screen:
    """Messages in the order in which they were posted, by their ids.

    Args:
        capabilities: what the platform claims.
        patience: the longest text that it really takes, in its unit.
    """

    capabilities: Capabilities
    patience: int
    messages: dict[str, Shown] = field(default_factory=dict[str, Shown])
    in_flight: Operation | None = None

    def begin(self, operation: Operation, *, doubt: bool) -> None:
        """An operation is on its way. ``doubt``: it is not known what the message to edit shows."""
        assert self.in_flight is None, "two operations in flight"
        assert operation.text.strip(), "an operation without text"
        assert length(operation.text, self.capabilities.unit) <= self.capabilities.bubble, "longer than a bubble"
        if isinstance(operation, EditMessage):
            shown = self.messages[operation.message_id]
            assert doubt or shown.deleted or shown.text != operation.text, "an edit that changes nothing"
        self.in_flight = operation

    def end(self, fate: Fate) -> Outcome:
        """The operation meets its fate, as far as an honest platform can deal it out."""
        operation, self.in_flight = self.in_flight, None
        assert operation is not None
        if fate in UNDONE and (fate != "markup rejected" or operation.markup):
            return UNDONE[fate]
        outcome = self._perform(operation)
        if fate != "done unheard":
            return outcome
        if isinstance(operation, PostMessage) and isinstance(outcome, Performed):
            self.messages[outcome.message_id].unheard = True
        return NO_ANSWER

    def _perform(self, operation: Operation) -> Outcome:
        if length(operation.text, self.capabilities.unit) > self.patience:
            return TooLong()
        if isinstance(operation, PostMessage):
            message_id = f"m{len(self.messages)}"
            self.messages[message_id] = Shown(operation.text, operation.markup)
            return Performed(message_id=message_id)
        shown = self.messages[operation.message_id]
        if shown.deleted:
            return MessageGone()
        if (shown.text, shown.markup) == (operation.text, operation.markup):
            return NotModified()
        shown.text, shown.markup = operation.text, operation.markup
        return Performed(message_id=operation.message_id)
