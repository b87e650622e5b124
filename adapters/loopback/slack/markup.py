"""The three characters Slack escapes, and what its clients make of what a user types. Pure."""

import re

_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_LIVE = re.compile(r"(<(?:[@#!][\w^]+(?:\|[^<>]*)?|https?://[^<>\s]+)>)|(https?://[^\s<>|]+)")


def escape(text: str) -> str:
    """Write Slack's three entities."""
    for plain, entity in _ENTITIES:
        text = text.replace(plain, entity)
    return text


def unescape(text: str) -> str:
    """Undo Slack's three entities."""
    for plain, entity in reversed(_ENTITIES):
        text = text.replace(entity, plain)
    return text


def from_typed(text: str) -> str:
    """Turn what a user typed into what Slack passes on: links in angle brackets, all else escaped.

    A mention is typed as it is written in the end, ``<@U1>``; Slack's clients do that behind the user's back.
    """
    parts: list[str] = []
    end = 0
    for match in _LIVE.finditer(text):
        parts += [escape(text[end : match.start()]), match[1] or f"<{escape(match[2])}>"]
        end = match.end()
    return "".join([*parts, escape(text[end:])])
