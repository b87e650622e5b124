"""Reads HTML as the Bot API does: a few tags, all of them closed. Pure."""

import html
import re
from collections.abc import Mapping

from adapters.loopback.telegram import outbound, utf16
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import Entity

_TYPES: Mapping[str, str] = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}
_TOKEN = re.compile(
    r"<(?P<slash>/?)(?P<name>[^\s/>]*)(?P<rest>[^>]*)>|(?P<entity>&(?:lt|gt|amp|quot|#x?[0-9a-fA-F]+);)|<"
)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")


def parse(text: str) -> tuple[str, list[Entity]]:
    """Split text from its tags.

    Raises:
        RefusedError: a tag is unknown, open, or closed by another.
    """
    result, entities = list[str](), list[Entity]()
    stack = list[tuple[str, Mapping[str, str], int]]()
    end = size = 0
    for match in _TOKEN.finditer(text):
        plain = text[end : match.start()] + html.unescape(match["entity"] or "")
        result.append(plain)
        size += utf16.length(plain)
        end = match.end()
        if match["entity"]:
            continue
        at, name = len(text[: match.start()].encode()), (match["name"] or "").lower()
        if match["slash"]:
            entities += _close(stack, name, at, size)
        else:
            attributes = _attributes(match["rest"] or "")
            if name not in _TYPES or (name == "span" and attributes.get("class") != "tg-spoiler"):
                raise RefusedError(outbound.MARKUP, f'Unsupported start tag "{name}" at byte offset {at}')
            stack.append((name, attributes, size))
    if stack:
        raise RefusedError(outbound.MARKUP, f'Can\'t find end tag corresponding to start tag "{stack[-1][0]}"')
    return "".join([*result, text[end:]]), entities


def _close(stack: list[tuple[str, Mapping[str, str], int]], name: str, at: int, size: int) -> list[Entity]:
    if not stack:
        raise RefusedError(outbound.MARKUP, f"Unexpected end tag at byte offset {at}")
    opened, attributes, start = stack.pop()
    if name not in (opened, ""):
        raise RefusedError(
            outbound.MARKUP, f'Unmatched end tag at byte offset {at}, expected "</{opened}>", found "</{name}>"'
        )
    kind, url = _TYPES[opened], attributes.get("href")
    if kind == "text_link" and not url:
        return []
    if kind == "blockquote" and "expandable" in attributes:
        kind = "expandable_blockquote"
    return [Entity(type=kind, offset=start, length=size - start, url=url if kind == "text_link" else None)]


def _attributes(text: str) -> Mapping[str, str]:
    return {
        match[1].lower(): html.unescape(match[2] or match[3] or match[4] or "") for match in _ATTRIBUTE.finditer(text)
    }
