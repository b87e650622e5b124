"""Reads MarkdownV2 and the older Markdown as the Bot API does: unclosed is refused. Pure.

Not read: custom emoji, dates, and the language of a ``pre``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.loopback.telegram import outbound, utf16
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import Entity

_MARKERS = ("```", "__", "||", "*", "_", "~", "`", "[")
_TYPES: Mapping[str, tuple[str, str]] = {
    "```": ("pre", "PreCode"),
    "__": ("underline", "Underline"),
    "||": ("spoiler", "Spoiler"),
    "*": ("bold", "Bold"),
    "_": ("italic", "Italic"),
    "~": ("strikethrough", "Strikethrough"),
    "`": ("code", "Code"),
    "[": ("text_link", "TextUrl"),
}
_RESERVED = frozenset("_*[]()~`>#+-=|{}.!")
_TARGET = re.compile(r"\]\(((?:\\.|[^)\\])*)\)")
_OLD = re.compile(
    r"\\[_*`\[]|```(?P<pre>.*?)```|(?P<marker>[*_`])|\[(?P<label>[^\]]*)\]\((?P<url>[^)]*)\)|\[", re.DOTALL
)


@dataclass(slots=True, kw_only=True)
class _Reader:
    """Text read so far, and what is open in it: marker, UTF-16 offset, byte offset."""

    text: str
    at: int = 0
    size: int = 0
    result: list[str] = field(default_factory=list[str])
    entities: list[Entity] = field(default_factory=list[Entity])
    open: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])

    def byte(self) -> int:
        return len(self.text[: self.at].encode())

    def put(self, character: str) -> None:
        self.result.append(character)
        self.size += utf16.width(character)

    def close(self, url: str | None = None) -> None:
        marker, start, _ = self.open.pop()
        self.entities.append(Entity(type=_TYPES[marker][0], offset=start, length=self.size - start, url=url))


def parse(text: str) -> tuple[str, list[Entity]]:
    """Split text from its MarkdownV2.

    Raises:
        RefusedError: something is left open, or a reserved character is not escaped.
    """
    reader, quote = _Reader(text=text), None
    while reader.at < len(text):
        if quote is not None and text[reader.at] == "\n" and text[reader.at + 1 : reader.at + 2] != ">":
            reader.entities.append(Entity(type="blockquote", offset=quote, length=reader.size - quote))
            quote = None
        if text[reader.at] == ">" and text[reader.at - 1 : reader.at] in ("", "\n"):
            quote = reader.size if quote is None else quote
            reader.at += 1
        else:
            _step(reader)
    if reader.open:
        marker, _, at = reader.open[-1]
        raise RefusedError(outbound.MARKUP, f"Can't find end of {_TYPES[marker][1]} entity at byte offset {at}")
    if quote is not None:
        reader.entities.append(Entity(type="blockquote", offset=quote, length=reader.size - quote))
    return "".join(reader.result), reader.entities


def _step(reader: _Reader) -> None:
    """Read one character, or one marker."""
    text, at = reader.text, reader.at
    character, inside = text[at], reader.open[-1][0] if reader.open else ""
    if character == "\\" and 0 < ord(text[at + 1 : at + 2] or "\x7f") < 127:
        reader.put(text[at + 1])
        reader.at += 2
    elif inside in ("`", "```") and not text.startswith(inside, at):
        reader.put(character)
        reader.at += 1
    elif inside == "[" and character == "]":
        target = _TARGET.match(text, at)
        reader.close(re.sub(r"\\(.)", r"\1", target[1]) if target else "")
        reader.at = target.end() if target else at + 1
    elif marker := next((each for each in _MARKERS if text.startswith(each, at)), ""):
        if marker == inside:
            reader.close()
        else:
            reader.open.append((marker, reader.size, reader.byte()))
        reader.at += len(marker)
    elif character in _RESERVED:
        raise RefusedError(
            outbound.MARKUP, f"Character '{character}' is reserved and must be escaped with the preceding '\\'"
        )
    else:
        reader.put(character)
        reader.at += 1


def parse_old(text: str) -> tuple[str, list[Entity]]:
    """Split text from its Markdown of the first kind, in which nothing nests.

    Raises:
        RefusedError: something is left open.
    """
    result, entities, size, end = list[str](), list[Entity](), 0, 0
    while (match := _OLD.search(text, end)) is not None:
        plain, kind, inner = text[end : match.start()], "", match.group()
        end = match.end()
        if marker := match["marker"]:
            kind, closing = _TYPES[marker][0], text.find(marker, end)
            inner, end = text[end:closing], closing + 1
            if closing < 0:
                raise _open_at(text, match.start())
        elif inner.startswith("\\"):
            plain, inner = plain + inner[1], ""
        elif match["pre"] is not None:
            kind, inner = "pre", match["pre"]
        elif match["label"] is not None:
            kind, inner = "text_link", match["label"]
        else:
            raise _open_at(text, match.start())
        result += [plain, inner]
        size += utf16.length(plain)
        if kind:
            entities.append(Entity(type=kind, offset=size, length=utf16.length(inner), url=match["url"]))
        size += utf16.length(inner)
    return "".join([*result, text[end:]]), entities


def _open_at(text: str, at: int) -> RefusedError:
    where = len(text[:at].encode())
    return RefusedError(outbound.MARKUP, f"Can't find end of the entity starting at byte offset {where}")
