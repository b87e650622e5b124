"""What an operation is on Slack's Web API.

Rule 1: Markdown goes as ``markdown_text``; ``text`` only where it shall be shown as it stands.
Rule 2: nothing in the text can ping. Slack resolves ``<!channel>``, ``<@U1>`` and ``<#C1>`` in ``markdown_text`` too,
    so a zero-width character goes between the ``<`` and what makes it live.
Rule 3: ``undo`` gives back the text, whatever it held.

Sources: https://docs.slack.dev/reference/methods/chat.postMessage and its neighbours chat.update, chat.delete,
reactions.add and reactions.remove; for the nonce https://docs.slack.dev/messaging/message-metadata
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.slack.entity import escape
from gateway.operation import DeleteMessage, EditMessage, MarkWaiting, PostMessage, UnmarkWaiting

Rendered = PostMessage | EditMessage | DeleteMessage | MarkWaiting | UnmarkWaiting
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
    """One call of the Web API. A ``query`` has its arguments in the address, for methods that take no JSON."""

    method: str
    arguments: Mapping[str, object]
    query: bool = False

    @property
    def fits(self) -> bool:
        """Whether Slack takes the text whole, as it is after rendering."""
        markdown, text = str(self.arguments.get("markdown_text", "")), str(self.arguments.get("text", ""))
        return len(markdown) <= MARKDOWN_LIMIT and len(text) <= TEXT_LIMIT


def render(operation: Rendered) -> Call:
    """The call that does the operation. Link previews are off and names are never turned into pings."""
    match operation:
        case PostMessage():
            return _post(operation)
        case EditMessage(address=address, message_id=message_id):
            arguments = {"channel": address.channel, "ts": message_id} | _content(operation)
            return Call(method="chat.update", arguments=arguments)
        case DeleteMessage(address=address, message_id=message_id):
            return Call(method="chat.delete", arguments={"channel": address.channel, "ts": message_id})
        case MarkWaiting():
            return Call(method="reactions.add", arguments=_mark(operation))
        case UnmarkWaiting():
            return Call(method="reactions.remove", arguments=_mark(operation))


def _post(operation: PostMessage) -> Call:
    arguments: dict[str, object] = {"channel": operation.address.channel, "unfurl_links": False, "unfurl_media": False}
    if operation.address.thread is not None:
        arguments["thread_ts"] = operation.address.thread
    if not operation.markup:
        arguments["mrkdwn"] = False  # chat.update knows no such argument
    if operation.nonce:  # what chat.update does not name, it leaves
        arguments["metadata"] = {"event_type": METADATA, "event_payload": {"nonce": operation.nonce}}
    return Call(method="chat.postMessage", arguments=arguments | _content(operation))


def _content(operation: PostMessage | EditMessage) -> dict[str, object]:
    name, text = ("markdown_text", inert(operation.text)) if operation.markup else ("text", escape(operation.text))
    return {name: text, "parse": "none", "link_names": False}


def _mark(operation: MarkWaiting | UnmarkWaiting) -> dict[str, object]:
    return {"channel": operation.address.channel, "timestamp": operation.message_id, "name": WAITING}


def inert(markdown: str) -> str:
    """The Markdown without anything that pings; in code too, for Slack may resolve it there."""
    return _LIVE.sub(f"<{INERT}", markdown)


def undo(markdown: str) -> str:
    """The text that ``inert`` was given."""
    return _MADE_INERT.sub("<", markdown)
