"""A text of ours with its entities, as Telegram takes it. Pure.

Rule 1: no entity crosses another, parts a character, or is blank; none is in code, and code is in none but
    a quote.
Rule 2: nothing in the text calls anybody: a word joiner stands behind the ``@`` of a name, outside of code.
Rule 3: at most ``MOST`` entities; what is beyond them is shown plain. Code blocks come first.

Source: https://core.telegram.org/bots/api#formatting-options and #messageentity
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from adapters.telegram.update import units
from chunker.cluster import is_boundary
from gateway.payload import words

Kind = Literal["bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote"]

MOST = 95
"""Entities in a message. Telegram shows a hundred, and drops the rest."""

INERT = "\N{WORD JOINER}"
"""Takes no room, breaks no line, and is rarer in what models write than the zero-width space."""

_STYLES = frozenset({"bold", "italic", "strikethrough"})
_CODE = frozenset({"code", "pre"})

# What Telegram drops from a text: a name behind it would stand next to its @.
_DROPPED = "\r\u0333\u033f\u030a\u2028-\u202e"
_NAME = re.compile(rf"(?<![A-Za-z0-9_])@(?=[{_DROPPED}]*[A-Za-z0-9_])")
_BLANK = re.compile(rf"[\s\0-\x20{_DROPPED}]*")
_BACK = 64
"""Characters before a place that are looked at to tell whether it parts one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A stretch of text that looks otherwise. ``offset`` and ``length`` are UTF-16 units."""

    type: Kind
    offset: int
    length: int
    url: str | None = None
    language: str | None = None

    def json(self) -> dict[str, object]:
        """As Telegram wants it."""
        fields: dict[str, object] = {"type": self.type, "offset": self.offset, "length": self.length}
        return fields | {k: v for k, v in (("url", self.url), ("language", self.language)) if v is not None}


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A text and its entities, outer ones first."""

    text: str
    entities: tuple[Entity, ...] = ()

    @cached_property
    def length(self) -> int:
        """In UTF-16 units."""
        return units(self.text)

    @property
    def blank(self) -> bool:
        """Whether Telegram takes it for no text."""
        return is_blank(self.text)


@dataclass(slots=True, kw_only=True)
class Span:
    """An entity as it is written: ``start`` and ``end`` are indices of the page's characters."""

    type: Kind
    start: int | None = None
    end: int = 0
    url: str | None = None
    language: str | None = None


@dataclass(slots=True)
class Page:
    """Text as it is written, with what is open in it. Gaps between blocks are written when something follows."""

    parts: list[str] = field(default_factory=list[str])
    length: int = 0
    spans: list[Span] = field(default_factory=list[Span])
    open: list[Span] = field(default_factory=list[Span])

    def space(self, text: str) -> None:
        """Write what belongs to no entity that is still to begin."""
        self.parts.append(text)
        self.length += len(text)

    def write(self, text: str) -> None:
        """Write words."""
        if not text:
            return
        for span in self.open:
            if span.start is None:
                span.start = self.length
        self.space(text)

    def begin(self, kind: Kind, *, url: str | None = None) -> None:
        """Let an entity begin with the next words. One inside of its like says nothing, and is not begun."""
        known = any(span.type == kind for span in self.open)
        self.open.append(Span(type=kind, start=-1 if known else None, url=url))

    def finish(self, kind: Kind) -> None:
        """End the innermost entity of that kind."""
        at = next((at for at in reversed(range(len(self.open))) if self.open[at].type == kind), None)
        if at is not None:
            self._close(self.open.pop(at))

    def code(self, kind: Literal["code", "pre"], text: str, language: str | None = None) -> None:
        """Write code. Bold and its kin stop in front of it and go on behind; in a link it is mere words."""
        if any(span.type == "text_link" for span in self.open):
            self.write(text)
            return
        for at, span in enumerate(self.open):
            if span.type in _STYLES and span.start != -1:
                self._close(span)
                self.open[at] = Span(type=span.type)
        for span in self.open:  # quotes begin here, bold behind it
            if span.start is None and span.type not in _STYLES:
                span.start = self.length
        self.spans.append(Span(type=kind, start=self.length, end=self.length + len(text), language=language))
        self.space(text)

    def _close(self, span: Span) -> None:
        if span.start is not None and span.start >= 0:
            span.end = self.length
            self.spans.append(span)

    def marked(self) -> Marked:
        """What was written."""
        return _finished("".join(self.parts), self.spans)


def plain(text: str) -> Marked:
    """The text as it stands, but that it calls nobody."""
    return _finished(words(text), [])


def is_blank(text: str) -> bool:
    """Whether nothing of a text is shown."""
    return _BLANK.fullmatch(text) is not None


def _finished(text: str, spans: Iterable[Span]) -> Marked:
    """Rules 1 to 3."""
    places = _whole_characters(text, [place for span in spans for place in (span.start or 0, span.end)])
    found = [replace(span, start=places[span.start or 0], end=places[span.end]) for span in spans]
    found = [span for span in found if not is_blank(text[span.start : span.end])]
    kept = sorted(found, key=lambda span: (span.type != "pre", span.start, -span.end))[:MOST]
    kept.sort(key=lambda span: (span.start, -span.end, span.type != "blockquote", span.type in _STYLES))
    code = [(span.start or 0, span.end) for span in kept if span.type in _CODE]
    joiners = [at + 1 for at in _names(text, code)]
    return _counted(text, kept, joiners)


def _whole_characters(text: str, places: Iterable[int]) -> dict[int, int]:
    """For each place the next one that parts no character."""
    result = dict[int, int]()
    for place in sorted(set(places), reverse=True):
        at = place
        while at not in result and not is_boundary(text, at, max(0, at - _BACK)):
            at += 1
        result[place] = result.get(at, at)
    return result


def _names(text: str, code: Sequence[tuple[int, int]]) -> Iterable[int]:
    """Where an ``@`` calls somebody. One that is code with what stands behind it does not."""
    at = 0
    for found in _NAME.finditer(text):
        while at < len(code) and code[at][1] <= found.start() + 1:
            at += 1
        if not (at < len(code) and code[at][0] <= found.start()):
            yield found.start()


def _counted(text: str, spans: Sequence[Span], joiners: Sequence[int]) -> Marked:
    """The text with its joiners, and the entities in UTF-16 units."""
    ends = {place for span in spans for place in (span.start or 0, span.end)}
    offsets, parts = dict[int, int](), list[str]()
    offset = last = 0
    added = set(joiners)
    for place in sorted(ends | added):
        parts.append(text[last:place])
        offset, last = offset + units(text[last:place]), place
        offsets[place] = offset
        if place in added:
            parts.append(INERT)
            offset += 1
    entities = tuple(
        Entity(
            type=span.type,
            offset=offsets[span.start or 0],
            length=offsets[span.end] - offsets[span.start or 0],
            url=span.url,
            language=span.language,
        )
        for span in spans
    )
    return Marked(text="".join([*parts, text[last:]]), entities=entities)
