"""What can change on a loopback Discord, as observers are told it."""

from dataclasses import dataclass, field

from adapters.loopback.discord.interaction import Interaction
from adapters.loopback.discord.message import Message
from adapters.loopback.discord.world import Channel
from adapters.loopback.log import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePosted:
    """A user or the bot wrote a message; a deferral is one that is loading."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """A message was edited; ``before`` is what it was."""

    message: Message
    before: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """A message was deleted."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionAdded:
    """The bot added an emoji; ``message`` has it."""

    message: Message
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRemoved:
    """The bot took its emoji away; ``message`` is without it."""

    message: Message
    emoji: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypingStarted:
    """The bot is shown as typing."""

    channel: str
    t: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCreated:
    """A thread was begun."""

    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadUpdated:
    """A thread was archived or opened."""

    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionCreated:
    """A user ran a command or pressed a button."""

    interaction: Interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionChanged:
    """An interaction was deferred or answered, is lost, or its token ended."""

    interaction: Interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandsRegistered:
    """The commands everywhere (``guild`` is empty) or in a guild were overwritten."""

    guild: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswered:
    """A call was answered, refused ones included."""

    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """A dispatch went to a session, or waits there for its RESUME."""

    session: str
    seq: int
    event: str
    data: object = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """A client has identified."""

    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumed:
    """A client is back; ``replayed`` dispatches went again."""

    session: str
    replayed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketOpened:
    """A socket is open; ``count`` of them are now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketClosed:
    """A socket is closed, with which code; ``count`` of them are left."""

    count: int
    code: int


Change = (
    MessagePosted
    | MessageEdited
    | MessageDeleted
    | ReactionAdded
    | ReactionRemoved
    | TypingStarted
    | ThreadCreated
    | ThreadUpdated
    | InteractionCreated
    | InteractionChanged
    | CommandsRegistered
    | CallAnswered
    | Dispatched
    | SessionStarted
    | SessionResumed
    | SocketOpened
    | SocketClosed
)
