"""What a platform tells us, once an adapter has decoded it.

Everything that arrives is one of these, so that all of it can be stored and known again: a message for the bot, what
became of such a message, a command, or something that is none of its business, with the reason.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gateway import codec
from gateway.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What lets us answer for a while, where a platform gives such a thing (a Discord interaction).

    Attributes:
        secret: the platform's token; never shown, and forgotten when it has expired.
        lifetime: platform seconds from its arrival until it expires.
        opening: the id of the message that stands there already and waits for the first words.
        guest: only by this ticket can anything be shown there: the bot is not a member.
    """

    secret: str = field(repr=False)
    lifetime: float
    opening: str
    guest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """What a message answers or quotes, and who said that; empty text where we may not read it."""

    user: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A person addressed the bot.

    ``event_id`` names the delivery, ``message_id`` the message: platforms deliver one message as several events, and
    one event several times. Both are unique over all platforms and accounts. ``text`` is what the person wrote,
    without the mention and with the platform's escapes undone; it may be empty. ``first``: it began its thread, so
    nothing was said at its address before it. ``space`` is the wider place of its channel: a Discord guild.
    """

    type: Literal["message_received"] = "message_received"
    event_id: str
    message_id: str
    address: Address
    user: str
    text: str
    direct: bool
    first: bool = False
    space: str | None = None
    quotation: Quotation | None = None
    ticket: Ticket | None = None

    @property
    def own_id(self) -> str:
        """The platform's own id of the message, as operations name it: what stands behind the last colon."""
        return self.message_id.rpartition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """A person changed what they had said to the bot. ``message`` is as it reads now, under the id that it had."""

    type: Literal["message_edited"] = "message_edited"
    event_id: str
    message: MessageReceived


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """A person took back what they had said."""

    type: Literal["message_deleted"] = "message_deleted"
    event_id: str
    message_id: str
    address: Address

    @property
    def own_id(self) -> str:
        """As of a message that was received."""
        return self.message_id.rpartition(":")[2]


Command = Literal["new", "stop", "status", "help", "approve", "deny", "approvals", "revoke"]
"""``new``: what was said so far is forgotten. ``stop``: the answer being given ends. ``status``: what is going on here.
``help``: what one may ask for. ``approve``, ``deny``: a tool may do what it asked for, or not. ``approvals``: what
waits for that, and what is allowed here for good. ``revoke``: it is no more. All of them pass the conversation's
queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReceived:
    """A person gave the bot a command; ids and places are as for a message. ``argument``: what stood behind it."""

    type: Literal["command_received"] = "command_received"
    event_id: str
    message_id: str
    address: Address
    user: str
    command: Command
    argument: str = ""
    direct: bool
    space: str | None = None
    ticket: Ticket | None = None

    @property
    def own_id(self) -> str:
        """As of a message that was received."""
        return self.message_id.rpartition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class PressReceived:
    """A person pressed a button of ours.

    ``press`` is the platform's name for this press, by which it is answered; ``message_id`` that of the message below
    which the button stands, unique as a message's; ``data`` the button's. ``address`` is the conversation that the
    message is shown in.
    """

    type: Literal["press_received"] = "press_received"
    event_id: str
    press: str
    message_id: str
    address: Address
    user: str
    data: str
    direct: bool
    space: str | None = None
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Something arrived that starts nothing. Only the reason is kept, not what people said to each other."""

    type: Literal["ignored"] = "ignored"
    event_id: str
    reason: str


Inbound = MessageReceived | MessageEdited | MessageDeleted | CommandReceived | PressReceived | Ignored


@cache
def _adapter() -> TypeAdapter[Inbound]:
    return TypeAdapter(Annotated[Inbound, Field(discriminator="type")])


def to_json(inbound: Inbound) -> str:
    """One line of JSON."""
    return _adapter().dump_json(inbound).decode()


def from_json(line: str | bytes) -> Inbound:
    """The inbound that ``to_json`` wrote.

    Raises:
        ValueError: where the line is something else.
    """
    return codec.read(_adapter(), line)
