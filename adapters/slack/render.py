"""What an operation is on Slack's Web API.

Rule 1: Markdown goes as ``markdown_text``; ``text`` only where it shall be shown as it stands. With buttons below it,
    either goes in blocks.
Rule 2: nothing in the text can ping. Slack resolves ``<!channel>``, ``<@U1>`` and ``<#C1>`` in ``markdown_text`` too,
    so a zero-width character goes between the ``<`` and what makes it live.
Rule 3: ``undo`` gives back the text, whatever it held.
Rule 4: an edit without buttons leaves none: new ``markdown_text`` is the whole message, but ``text`` leaves the blocks
    that are not named.

Sources: https://docs.slack.dev/reference/methods/chat.postMessage and its neighbours chat.update, chat.delete,
chat.postEphemeral, reactions.add and reactions.remove; for the nonce
https://docs.slack.dev/messaging/message-metadata ; for rule 4 https://github.com/slack-go/slack/issues/1214
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.slack.block import actions, markdown, notification, plain
from adapters.slack.entity import escape
from gateway.address import Address
from gateway.operation import DeleteMessage, EditMessage, MarkWaiting, PostMessage, TellPrivately, UnmarkWaiting

Rendered = PostMessage | EditMessage | DeleteMessage | MarkWaiting | UnmarkWaiting | TellPrivately
"""The operations that are one call each."""

MARKDOWN_LIMIT = 12_000
"""Code points of ``markdown_text`` in one call."""

TEXT_LIMIT = 4_000
"""Code points of ``text``, escaped: enforced on an update, recommended for a post, which is cut short silently."""

INERT = "\N{WORD JOINER}"
"""Takes no room, breaks no line, and is rarer in what models write than the zero-width space."""

METADATA = "dragoman"
"""The type of the metadata that carries a nonce."""

WAITING = "hourglass_flowing_sand"
"""The reaction that says: your turn will come."""

# Markdown's escape, control and formatting characters: what may be gone when Slack looks. Ours is among them: where it
# stood already, one more is put, so that undoing leaves what was there.
_FAINT = r"[\\\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u2060-\u206f\ufeff]*"
_LIVE = re.compile(rf"<(?={_FAINT}[!@#])")
_MADE_INERT = re.compile(rf"<{INERT}(?={_FAINT}[!@#])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the Web API. A ``query`` has its arguments in the address, for methods that take no JSON.

    ``fits``: Slack takes the text whole, as it is after rendering.
    """

    method: str
    arguments: Mapping[str, object]
    query: bool = False
    fits: bool = True


def render(operation: Rendered) -> Call:
    """The call that does the operation. Link previews are off and names are never turned into pings."""
    match operation:
        case PostMessage():
            return _shown("chat.postMessage", _post(operation), operation)
        case EditMessage(address=address, message_id=message_id):
            return _shown("chat.update", {"channel": address.channel, "ts": message_id}, operation)
        case TellPrivately(address=address, user=user):
            return _shown(
                "chat.postEphemeral", {"channel": address.channel, "user": user} | _thread(address), operation
            )
        case DeleteMessage(address=address, message_id=message_id):
            return Call(method="chat.delete", arguments={"channel": address.channel, "ts": message_id})
        case MarkWaiting():
            return Call(method="reactions.add", arguments=_mark(operation))
        case UnmarkWaiting():
            return Call(method="reactions.remove", arguments=_mark(operation))


def _post(operation: PostMessage) -> dict[str, object]:
    """What goes with a new message, beside its content."""
    arguments: dict[str, object] = {"channel": operation.address.channel, "unfurl_links": False, "unfurl_media": False}
    arguments |= _thread(operation.address)
    if not operation.markup:
        arguments["mrkdwn"] = False  # chat.update knows no such argument
    if operation.nonce:  # what chat.update does not name, it leaves
        arguments["metadata"] = {"event_type": METADATA, "event_payload": {"nonce": operation.nonce}}
    return arguments


def _thread(address: Address) -> dict[str, object]:
    return {} if address.thread is None else {"thread_ts": address.thread}


def _shown(method: str, arguments: dict[str, object], operation: PostMessage | EditMessage | TellPrivately) -> Call:
    """The call that shows a text: whether it is Markdown, and has buttons, decides in which argument it goes."""
    markup = isinstance(operation, TellPrivately) or operation.markup
    buttons = () if isinstance(operation, TellPrivately) else operation.buttons
    text = inert(operation.text) if markup else escape(operation.text)
    shown: dict[str, object] = {"markdown_text" if markup else "text": text}
    if buttons:
        above = markdown(text) if markup else plain(operation.text)
        shown = {"blocks": [*above, actions(buttons)], "text": notification(operation.text, TEXT_LIMIT)}
    elif not markup and isinstance(operation, EditMessage):
        shown["blocks"] = []
    return Call(
        method=method,
        arguments=arguments | shown | {"parse": "none", "link_names": False},
        fits=len(text) <= (MARKDOWN_LIMIT if markup else TEXT_LIMIT),
    )


def _mark(operation: MarkWaiting | UnmarkWaiting) -> dict[str, object]:
    return {"channel": operation.address.channel, "timestamp": operation.message_id, "name": WAITING}


def inert(markdown: str) -> str:
    """The Markdown without anything that pings; in code too, for Slack may resolve it there."""
    return _LIVE.sub(f"<{INERT}", markdown)


def undo(markdown: str) -> str:
    """The text that ``inert`` was given."""
    return _MADE_INERT.sub("<", markdown)
