"""What an adapter can be asked to do on its platform, and what may come of it."""

from dataclasses import dataclass

from gateway.address import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class PostMessage:
    """Show a new message. With ``markup`` the text is Markdown, without it is shown as it stands."""

    address: Address
    text: str
    markup: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMessage:
    """Replace the text of a message that was posted before. Doing it twice is doing it once."""

    address: Address
    message_id: str
    text: str
    markup: bool = True


Operation = PostMessage | EditMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """It is on the screen. ``message_id`` is the platform's name for the message."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimited:
    """Not done; nothing of its kind may go for ``retry_after`` platform seconds. There is no upper limit to them."""

    retry_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModified:
    """The message already shows this text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageGone:
    """The message to edit was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkupRejected:
    """The platform will not render this Markdown; as plain text it may go."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooLong:
    """The text, once rendered, exceeds the platform's limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreachable:
    """The request certainly did nothing (no connection, or the platform said it failed), and may do so again."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The request was sent and no answer came: it may have been done."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """It will never be done: no permission, no such channel, a revoked token."""

    reason: str


Outcome = (
    Performed | RateLimited | NotModified | MessageGone | MarkupRejected | TooLong | Unreachable | Unknown | Forbidden
)
