"""What must not be cut inside a paragraph: code spans, links, emphasis, addresses, entities, escapes.

Rule 1: one pass over the tokens, a stack for each kind of opener; work is linear in the paragraph.
Rule 2: what is still open where the text stops counts as open as long as the paragraph may go on; where it is known
to end, an opener without a partner is plain text.
Rule 3: this is a reading for cuts, not a renderer: where Markdown's own rules are subtler it protects too much.
"""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"\\."  # a backslash escape
    r"|`++"
    r"|(?:!?\[)++"
    r"|\](?:\((?:[^\s()\\]|\\.|\([^\s()]*\))*+(?:[ \t\n]++(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))?[ \t]*+)?\)"
    r"|\[[^\[\]\n]*\]|:[ \t]*\S*+)?"  # with a destination, a label, or as a definition
    r"|\*++|_++|~~++"
    r"|https?://[^\s<>`*]++"
    r"|<[a-zA-Z/!][^\s<>]*+>"
    r"|&(?:[a-zA-Z][a-zA-Z0-9]{1,31}+|#[0-9]{1,7}+|#[xX][0-9a-fA-F]{1,6}+);",
    re.DOTALL,
)
SPECIAL = re.compile(r"[\\`\[*_~<&]|https?:")
HALF = re.compile(r"(?:https?://[^\s<>`*]*+|<[a-zA-Z/!][^\s<>]*+|&#?[a-zA-Z0-9]*+|\\)\Z")
"""A token that the end of the text leaves unfinished."""
HALF_LINK = re.compile(r"\((?:[^\s()\\]|\\.|\([^\s()]*\))*+(?:[ \t\n]++([\"'(])?)?|\[[^\[\]\n]*+|", re.DOTALL)
"""What may stand behind the ``]`` of a link that the end of the text leaves unfinished; the group begins a title."""
BRACKET = re.compile(r"!?\[")
RUN = re.compile(r"`++")
FENCE_LENGTH = 3
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class Span(NamedTuple):
    """A stretch that belongs together. A named tuple for speed."""

    start: int
    end: int
    """Past its last character; past the end of the text where it is still open."""
    marker: str
    """What opens and closes it, if it may be closed at a cut and reopened behind it; else empty."""


def spans(text: str, *, open_ended: bool) -> list[Span]:
    """Find what belongs together, sorted by start; of spans with one start the longer comes first.

    Args:
        text: One paragraph, or what is known of it.
        open_ended: The paragraph may go on behind the text.
    """
    if not SPECIAL.search(text):
        return []
    reading = _Reading(text, open_ended=open_ended)
    reading.run()
    return sorted(reading.found, key=lambda span: (span.start, -span.end))


class _Reading:
    """One pass over the tokens of a paragraph."""

    __slots__ = ("beyond", "found", "half_link", "last_line", "open_ended", "openers", "partners", "text")

    def __init__(self, text: str, *, open_ended: bool) -> None:
        self.text = text
        self.open_ended = open_ended
        self.beyond = len(text) + 1
        self.found: list[Span] = []
        self.openers: dict[str, list[tuple[int, int]]] = {"[": [], "*": [], "_": [], "~": []}
        self.partners = _partners(text)
        self.last_line = text.rfind("\n")
        self.half_link = False

    def run(self) -> None:
        """Fill ``found``."""
        position = 0
        while token := TOKEN.search(self.text, position):
            at, char = token.start(), token.group()[0]
            position = token.end()
            if char == "`":
                position = self.code(at, position)
            elif char in "[!":
                self.openers["["] += [(found.start(), 1) for found in BRACKET.finditer(self.text, at, position)]
            elif char == "]":
                self.close_link(at, position)
            elif char in "*_~":
                self.emphasis(at, position, char)
            else:
                self.found.append(Span(at, position, ""))
        if self.open_ended:
            self.leave_open()

    def code(self, at: int, end: int) -> int:
        """Read a run of backticks; say where reading goes on."""
        partner = self.partners.get(at)
        if partner is not None:
            close = partner + end - at
            self.found.append(Span(at, close, self.mark(at, end)))
            return close
        if not self.open_ended:
            return end
        # Whatever follows may be code.
        self.found.append(Span(at, self.beyond, self.mark(at, end)))
        return self.beyond

    def mark(self, at: int, end: int) -> str:
        """Take a run as a marker, but for one that would open a fence where a line starts with it."""
        return self.text[at:end] if end - at < FENCE_LENGTH else ""

    def close_link(self, at: int, end: int) -> None:
        """Read a closing bracket with what is bound to it."""
        if not self.openers["["]:
            return
        start, _ = self.openers["["].pop()
        if end > at + 1:
            self.drop_above(start)
        elif self.open_ended and not self.half_link and self.is_half_link(end):
            self.half_link = True
            end = self.beyond
        self.found.append(Span(start, end, ""))

    def is_half_link(self, at: int) -> bool:
        """Say whether a link's destination or label is left unfinished by the end of the text."""
        found = HALF_LINK.match(self.text, at)
        return found is not None and (
            found.end() == len(self.text) or (found[1] is not None and found.end() > self.last_line)
        )

    def emphasis(self, at: int, end: int, char: str) -> None:
        """Read a run of emphasis markers: close what it can, open with the rest."""
        before = self.text[at - 1] if at else " "
        after = self.text[end] if end < len(self.text) else "" if self.open_ended else " "
        opens = not after.isspace() and (after not in PUNCTUATION or before.isspace() or before in PUNCTUATION)
        closes = not before.isspace() and (before not in PUNCTUATION or not after.strip() or after in PUNCTUATION)
        if char == "_" and opens and closes:
            opens, closes = before in PUNCTUATION, after in PUNCTUATION
        stack = self.openers[char]
        while closes and at < end and stack:
            start, size = stack.pop()
            used = min(size, end - at)
            if size > used:
                stack.append((start, size - used))
                start += size - used
            at += used
            self.drop_above(start)
            self.found.append(Span(start, at, "" if char == "~" and used >= FENCE_LENGTH else char * used))
        if opens and at < end:
            stack.append((at, end - at))

    def drop_above(self, start: int) -> None:
        """Forget the openers inside a span that closed: they are plain text."""
        for stack in self.openers.values():
            while stack and stack[-1][0] > start:
                stack.pop()

    def leave_open(self) -> None:
        """Count what has no partner yet as open to beyond the end."""
        for char, stack in self.openers.items():
            # Of emphasis openers of one kind only the last: those before it were no openers, or it were none. Of
            # brackets the first, which holds the others.
            for at, size in stack[:1] if char == "[" else stack[-1:]:
                marker = "" if char == "[" or (char == "~" and size >= FENCE_LENGTH) else char * size
                self.found.append(Span(at, self.beyond, marker))
        half = HALF.search(self.text)
        if half:
            self.found.append(Span(half.start(), self.beyond, ""))


def _partners(text: str) -> dict[int, int]:
    """Pair each run of backticks with the next one of its length, by where they start."""
    pairs: dict[int, int] = {}
    waiting: dict[int, int] = {}
    for run in RUN.finditer(text):
        size = run.end() - run.start()
        if size in waiting:
            pairs[waiting[size]] = run.start()
        waiting[size] = run.start()
    return pairs
