"""What can change on a loopback Slack, as observers are told it."""

from dataclasses import dataclass

from adapters.loopback.log import Call
from adapters.loopback.slack.envelope import Acknowledgement, Envelope
from adapters.loopback.slack.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePosted:
    """A user or the bot wrote a message."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """A message was edited, or unfurled; ``before`` is what it was."""

    message: Message
    before: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """A message was deleted."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class EphemeralPosted:
    """The bot wrote something that one user sees, if the place allows it, and nobody keeps."""

    user: str
    message: Message
    seen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionAdded:
    """The bot added an emoji; ``message`` has it."""

    message: Message
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRemoved:
    """The bot took its emoji away; ``message`` is without it."""

    message: Message
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSet:
    """The bot's status line in a thread changed; empty text clears it."""

    channel: str
    thread_ts: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswered:
    """A Web API call was answered, refused ones included."""

    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSent:
    """An envelope went into a socket."""

    envelope: Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeAcknowledged:
    """An acknowledgement came, in time or not."""

    acknowledgement: Acknowledgement


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeTimedOut:
    """Nobody acknowledged an envelope in time; ``abandoned`` says that it was the last attempt."""

    envelope: Envelope
    abandoned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketOpened:
    """A socket is open; ``count`` of them are now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketClosed:
    """A socket is closed; ``count`` of them are left."""

    count: int


Change = (
    MessagePosted
    | MessageEdited
    | MessageDeleted
    | EphemeralPosted
    | ReactionAdded
    | ReactionRemoved
    | StatusSet
    | CallAnswered
    | EnvelopeSent
    | EnvelopeAcknowledged
    | EnvelopeTimedOut
    | SocketOpened
    | SocketClosed
)
