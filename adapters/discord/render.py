"""What an operation is as a call of Discord's API. Pure: same operation, same call.

Rule 1: nothing that is sent pings: ``allowed_mentions`` is empty on every route, edits included, for an edit without it
    is read with the defaults again. Previews are off likewise.
Rule 2: a message whose id begins with ``@`` is the first answer to an interaction, and is reached by its token; so is
    whatever a guest shows. All else goes with the bot's own token.
Rule 3: an edit always says which buttons there are, for what it does not name stays. It need not know what was there.
Rule 4: a button has no life of its own: its ``custom_id`` is all that comes back, whoever runs by then.

Sources: https://docs.discord.com/developers/resources/message , .../components/reference and
.../interactions/receiving-and-responding
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from adapters.discord.escape import plain
from adapters.discord.interaction import OPENING
from adapters.discord.markup import LIMIT, content
from gateway.address import Address
from gateway.inbound import Ticket
from gateway.operation import (
    Button,
    DeleteMessage,
    EditMessage,
    MarkWaiting,
    PostMessage,
    ShowTyping,
    TellPrivately,
    UnmarkWaiting,
)
from gateway.payload import mapping

Rendered = PostMessage | EditMessage | DeleteMessage | MarkWaiting | UnmarkWaiting | ShowTyping | TellPrivately
"""The operations that are one call each."""

SUPPRESS_EMBEDS = 1 << 2
EPHEMERAL = 1 << 6

STYLES = {"go": 3, "stop": 4, "plain": 2}

WAITING = "\N{HOURGLASS WITH FLOWING SAND}"
"""The reaction that says: your turn will come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the API.

    Attributes:
        method: of HTTP.
        path: behind the base address; a token in it is why it is never shown.
        body: sent as JSON; none where there is nothing to send.
        by_token: it is let in by the interaction's token in its path, and not by the bot's.
    """

    method: str
    path: str = field(repr=False)
    body: object = None
    by_token: bool = False

    @property
    def text(self) -> str | None:
        """What the message is to say; none of a call that says nothing."""
        text = mapping(self.body).get("content")
        return text if isinstance(text, str) else None

    @property
    def fits(self) -> bool:
        """Whether Discord takes the text whole, as it is after rendering."""
        return len(self.text or "") <= LIMIT


def render(operation: Rendered) -> Call | None:
    """The call that does the operation; none where it can only be done by a ticket, and there is none."""
    match operation:
        case PostMessage():
            return _post(operation)
        case EditMessage(message_id=message_id, ticket=ticket):
            path = _message(operation.address, message_id, ticket)
            body = said(operation.text, markup=operation.markup) | {"components": row(operation.buttons)}
            return None if path is None else _call("PATCH", path, body)
        case DeleteMessage(message_id=message_id, ticket=ticket):
            path = _message(operation.address, message_id, ticket)
            return None if path is None else _call("DELETE", path)
        case MarkWaiting(message_id=message_id) | UnmarkWaiting(message_id=message_id):
            method = "PUT" if isinstance(operation, MarkWaiting) else "DELETE"
            return _reaction(method, operation.address, message_id)
        case ShowTyping(address=address):
            return Call(method="POST", path=f"/channels/{channel(address)}/typing")
        case TellPrivately():
            return _aside(operation)


def in_channel(address: Address, message_id: str) -> Call:
    """The call that deletes a message by the channel's own route."""
    return Call(method="DELETE", path=f"/channels/{channel(address)}/messages/{quote(message_id, safe='')}")


def callback(interaction: str, secret: str, answer: Mapping[str, object]) -> Call:
    """The first answer to an interaction."""
    path = f"/interactions/{quote(interaction, safe='')}/{quote(secret, safe='')}/callback?with_response=true"
    return Call(method="POST", path=path, body=answer, by_token=True)


def said(text: str, *, markup: bool = True) -> dict[str, object]:
    """The fields of a message that says a text, and wakes nobody."""
    shown = content(text) if markup else plain(text).strip()
    return {"content": shown, "allowed_mentions": {"parse": []}, "flags": SUPPRESS_EMBEDS}


def row(buttons: Sequence[Button]) -> list[dict[str, object]]:
    """The components that show buttons in one row; none where there are none."""
    inside = [
        {"type": 2, "style": STYLES[button.style], "label": button.label, "custom_id": button.data}
        for button in buttons
    ]
    return [{"type": 1, "components": inside}] if inside else []


def channel(address: Address) -> str:
    """The channel where something is shown: on Discord a thread is one."""
    return quote(address.thread or address.channel, safe="")


def _post(operation: PostMessage) -> Call:
    body, ticket = said(operation.text, markup=operation.markup), operation.ticket
    body |= {"components": row(operation.buttons)} if operation.buttons else {}
    if ticket is not None and ticket.guest:
        return _call("POST", (f"{_webhook(operation.address, ticket)}?wait=true", True), body)
    if operation.nonce:
        body |= {"nonce": operation.nonce, "enforce_nonce": True}
    if operation.answers and operation.answers.isdigit():
        body["message_reference"] = {"message_id": operation.answers, "fail_if_not_exists": False}
    return Call(method="POST", path=f"/channels/{channel(operation.address)}/messages", body=body)


def _aside(operation: TellPrivately) -> Call | None:
    """What only one person sees; it follows the answer to what they did."""
    if operation.ticket is None:
        return None
    body = said(operation.text) | {"flags": SUPPRESS_EMBEDS | EPHEMERAL}
    return _call("POST", (f"{_webhook(operation.address, operation.ticket)}?wait=true", True), body)


def _message(address: Address, message_id: str, ticket: Ticket | None) -> tuple[str, bool] | None:
    """The path of a message, and whether it goes by the ticket."""
    first = message_id.startswith(OPENING)
    if first and ticket is None:
        return None
    if ticket is not None and (first or ticket.guest):
        name = "@original" if first else quote(message_id, safe="")
        return f"{_webhook(address, ticket)}/messages/{name}", True
    return f"/channels/{channel(address)}/messages/{quote(message_id, safe='')}", False


def _call(method: str, path: tuple[str, bool], body: object = None) -> Call:
    return Call(method=method, path=path[0], body=body, by_token=path[1])


def _reaction(method: str, address: Address, message_id: str) -> Call | None:
    if message_id.startswith(OPENING):
        return None
    path = f"/channels/{channel(address)}/messages/{quote(message_id, safe='')}/reactions/{quote(WAITING)}/@me"
    return Call(method=method, path=path)


def _webhook(address: Address, ticket: Ticket) -> str:
    return f"/webhooks/{quote(address.account, safe='')}/{quote(ticket.secret, safe='')}"
