"""What a platform tells us, once an adapter has decoded it.

Everything that arrives is one of these, so that all of it can be stored and known again: a message for the bot, or
something that is none of its business, with the reason.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gateway.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A person addressed the bot.

    ``event_id`` names the delivery, ``message_id`` the message: platforms deliver one message as several events, and
    one event several times. Both are unique over all platforms and accounts. ``text`` is what the person wrote,
    without the mention and with the platform's escapes undone; it may be empty.
    """

    type: Literal["message_received"] = "message_received"
    event_id: str
    message_id: str
    address: Address
    user: str
    text: str
    direct: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Something arrived that starts nothing. Only the reason is kept, not what people said to each other."""

    type: Literal["ignored"] = "ignored"
    event_id: str
    reason: str


Inbound = MessageReceived | Ignored


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
    return _adapter().validate_json(line, strict=True)
