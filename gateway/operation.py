"""What an adapter can be asked to do on its platform, and what may come of it."""

from dataclasses import dataclass
from typing import Literal

from gateway.address import Address
from gateway.inbound import Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button under a message. ``data`` comes back with the press: ASCII, 64 bytes at most (Telegram's limit)."""

    label: str
    data: str
    style: Literal["go", "stop", "plain"] = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostMessage:
    """Show a new message. With ``markup`` the text is Markdown, without it is shown as it stands.

    ``nonce`` is our name for it, 24 characters at most, by which it is known again where no answer came; two messages
    never share one. Empty where nobody will ask. ``answers`` is the platform's id of the message that it replies to;
    where that is gone, it goes without. With the ``ticket`` of a guest it goes by that ticket. ``buttons`` stand below
    it in one row; only where ``Capabilities.buttons``.
    """

    address: Address
    text: str
    markup: bool = True
    nonce: str = ""
    answers: str | None = None
    ticket: Ticket | None = None
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMessage:
    """Replace the text of a message that was posted before. Doing it twice is doing it once.

    The opening of a ``ticket``, and whatever a guest posted, is reached by that ticket. It has ``buttons`` then, and no
    others.
    """

    address: Address
    message_id: str
    text: str
    markup: bool = True
    ticket: Ticket | None = None
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteMessage:
    """Take a message of ours away. Doing it twice is doing it once. ``ticket`` as for an edit."""

    address: Address
    message_id: str
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartStream:
    """Show a new message that grows by appending; ``nonce`` as for a post."""

    address: Address
    text: str
    nonce: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendText:
    """Add to the end of a stream that was started before. Doing it twice shows the text twice."""

    address: Address
    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishStream:
    """Add the last of the text, perhaps none, and close the stream. It is an ordinary message then."""

    address: Address
    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadThread:
    """Tell the newest ``limit`` messages of a conversation, oldest first.

    Only those behind the message ``after`` and in front of ``before``, where they are given: ids of the platform's.
    """

    address: Address
    after: str | None = None
    before: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkWaiting:
    """Let the person see that their message waits (a reaction). Doing it twice is doing it once."""

    address: Address
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmarkWaiting:
    """Its turn has come: take the mark away. Doing it twice is doing it once."""

    address: Address
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowTyping:
    """Let people see for a few seconds that an answer is being written. It ends by itself, or with the next message."""

    address: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class TellPrivately:
    """Say something of our own to one person alone, where a message of theirs, or a press, came from.

    A ``press`` is answered by it, and once: the person's client stops waiting; with no text, that is all. ``press`` and
    ``ticket`` are those of what is answered. Doing it twice is harmless.
    """

    address: Address
    user: str
    text: str
    press: str | None = None
    ticket: Ticket | None = None


Operation = (
    PostMessage
    | EditMessage
    | DeleteMessage
    | StartStream
    | AppendText
    | FinishStream
    | ReadThread
    | MarkWaiting
    | UnmarkWaiting
    | ShowTyping
    | TellPrivately
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of a conversation, as it was read. ``ours``: by this bot; ``nonce``: the one it was posted with."""

    message_id: str
    user: str
    text: str
    ours: bool
    nonce: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What the platform says is left of a budget: so many operations in the next ``seconds`` of its own."""

    remaining: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """It is on the screen. ``message_id`` is the platform's name for the message.

    ``quota`` is about the first budget that the operation drew on, where the platform tells.
    """

    message_id: str
    quota: Quota | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRead:
    """What a ``ReadThread`` found."""

    messages: tuple[Said, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimited:
    """Not done; nothing of its kind may go for ``retry_after`` platform seconds. There is no upper limit to them.

    ``everything``: nothing of any kind may go on this account.
    """

    retry_after: float
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModified:
    """The message already shows this text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageGone:
    """The message to change was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRefused:
    """The message is there and cannot be changed any more; others may still be posted."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """What the message was changed through is over: its stream was closed, its ticket is void, or it is too old.

    Others may be posted and changed; one that was a stream may be edited as an ordinary message.
    """


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
    Performed
    | ThreadRead
    | RateLimited
    | NotModified
    | MessageGone
    | EditRefused
    | Expired
    | MarkupRejected
    | TooLong
    | Unreachable
    | Unknown
    | Forbidden
)
