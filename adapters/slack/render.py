"""What an operation is on Slack's Web API.

Rule 1: Markdown goes as ``markdown_text``; ``text`` only where it shall be shown as it stands.
Rule 2: nothing in the text can ping. Slack resolves ``<!channel>``, ``<@U1>`` and ``<#C1>`` in ``markdown_text`` too,
    so a zero-width character goes between the ``<`` and what makes it live.
Rule 3: ``undo`` gives back the text, whatever it held.

Sources: https://docs.slack.dev/reference/methods/chat.postMessage and .../chat.update
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from adapters.slack.entity import escape
from gateway.operation import EditMessage, Operation, PostMessage

MARKDOWN_LIMIT = 12_000
"""Code points of ``markdown_text`` in one call."""

TEXT_LIMIT = 4_000
"""Code points of ``text``, escaped: enforced on an update, recommended for a post, which is cut short silently."""

INERT = "\N{WORD JOINER}"
"""Takes no room, breaks no line, and is rarer in what models write than the zero-width space."""

# Markdown's escape, control and formatting characters: what may be gone when Slack looks. Ours is among them: where it
# stood already, one more is put, so that undoing leaves what was there.
_FAINT = r"[\\\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u2060-\u206f\ufeff]*"
_LIVE = re.compile(rf"<(?={_FAINT}[!@#])")
_MADE_INERT = re.compile(rf"<{INERT}(?={_FAINT}[!@#])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the Web API."""

    method: str
    arguments: Mapping[str, str | bool]

    @property
    def fits(self) -> bool:
        """Whether Slack takes the text whole, as it is after rendering."""
        markdown, text = str(self.arguments.get("markdown_text", "")), str(self.arguments.get("text", ""))
        return len(markdown) <= MARKDOWN_LIMIT and len(text) <= TEXT_LIMIT


def render(operation: Operation) -> Call:
    """The call that does the operation. Link previews are off and names are never turned into pings."""
    match operation:
        case PostMessage(address=address):
            arguments = {"channel": address.channel, "unfurl_links": False, "unfurl_media": False}
            if address.thread is not None:
                arguments["thread_ts"] = address.thread
            if not operation.markup:
                arguments["mrkdwn"] = False  # chat.update knows no such argument
            method = "chat.postMessage"
        case EditMessage(address=address):
            arguments = {"channel": address.channel, "ts": operation.message_id}
            method = "chat.update"
    content = {"markdown_text": inert(operation.text)} if operation.markup else {"text": escape(operation.text)}
    return Call(method=method, arguments=arguments | content | {"parse": "none", "link_names": False})


def inert(markdown: str) -> str:
    """The Markdown without anything that pings; in code too, for Slack may resolve it there."""
    return _LIVE.sub(f"<{INERT}", markdown)


def undo(markdown: str) -> str:
    """The text that ``inert`` was given."""
    return _MADE_INERT.sub("<", markdown)
