"""Tickets, kept beside the bodies of what they came with, so that each can be erased alone. README.md says when.

An edit brings none: the message that it changes keeps its own. A press's is not kept: it is done when it is stored.
"""

from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from gateway import codec
from gateway.inbound import CommandReceived, Inbound, MessageEdited, MessageReceived, PressReceived, Ticket

FORGET = "update gw_event set ticket = null, expires = null where expires <= {now}"

NEXT = "select min(expires) - {now} from gw_event where expires is not null"


@cache
def _adapter() -> TypeAdapter[Ticket]:
    return TypeAdapter(Ticket)


def without(inbound: Inbound) -> Inbound:
    """What is left of an inbound without its ticket."""
    match inbound:
        case MessageReceived() | CommandReceived() | PressReceived():
            return replace(inbound, ticket=None)
        case MessageEdited(message=message):
            return replace(inbound, message=replace(message, ticket=None))
        case _:
            return inbound


def columns(inbound: Inbound) -> tuple[str | None, float | None]:
    """The ticket in writing, and for how many seconds it is kept; none where there is none."""
    match inbound:
        case MessageReceived(ticket=Ticket() as ticket) | CommandReceived(ticket=Ticket() as ticket):
            return _adapter().dump_json(ticket).decode(), ticket.lifetime
        case _:
            return None, None


def given_back(inbound: Inbound, written: str | None) -> Inbound:
    """The inbound with the ticket that was written, if one was.

    Raises:
        ValueError: it is no ticket.
    """
    if written is None or not isinstance(inbound, MessageReceived | CommandReceived):
        return inbound
    return replace(inbound, ticket=codec.read(_adapter(), written))
