"""What can change on a loopback Telegram, as observers are told it."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.loopback.log import Call
from adapters.loopback.telegram.message import Content, Message
from adapters.loopback.telegram.world import Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePosted:
    """A user or the bot wrote a message, or the platform a service message."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """A message was edited; ``before`` is what it said."""

    message: Message
    before: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """A message was deleted."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAction:
    """The bot said what it is doing.

    Attributes:
        t: platform seconds since the server's start.
        chat: where.
        thread: in which topic; none for General and for chats without topics.
        action: such as "typing".
    """

    t: float
    chat: int
    thread: int | None
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingChanged:
    """Somebody blocked the bot, let it back, took it in or threw it out, or gave or took rights."""

    by: int
    before: Chat
    after: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPressed:
    """A user pressed a button of the bot's message; ``at`` is in real seconds."""

    id: str
    user: int
    message: Message
    data: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonAnswered:
    """The bot answered a button press; ``text`` is what the user is shown."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandsSet:
    """The bot's list of commands was set or removed."""

    scope: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsChanged:
    """A topic came or went."""

    chat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateQueued:
    """An update waits for the bot."""

    update: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatesConfirmed:
    """The bot has taken every update below ``offset``, or those it was given by webhook."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PollsChanged:
    """``count`` calls of getUpdates wait now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenersChanged:
    """There are ``count`` connections now on which somebody polls."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswered:
    """A call was answered, refused ones included; getUpdates, too."""

    call: Call


Change = (
    MessagePosted
    | MessageEdited
    | MessageDeleted
    | ChatAction
    | StandingChanged
    | ButtonPressed
    | ButtonAnswered
    | CommandsSet
    | ThreadsChanged
    | UpdateQueued
    | UpdatesConfirmed
    | PollsChanged
    | ListenersChanged
    | CallAnswered
)
