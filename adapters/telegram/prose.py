"""Markdown as a text with entities. Pure.

Rule 1: whatever is no markup is shown, HTML and half-written markup too; code is shown byte for byte.
Rule 2: what Telegram has no entity for is told by characters: bullets, numbers, boxes, rules. A table is code.
Rule 3: blocks stand as far apart as in the source: with a blank line or without.
Rule 4: the work is bounded, whatever the text: what nests deeper than ``DEEPEST`` is shown as it stands, for the parser
    would drop it; there are no tables of more than ``CELLS``, no links among ``BRACKETS``, and no text
    longer than ``LONGEST`` fits. What the parser ponders on for more than ``STEPS`` is shown as it stands, too.

The parser's reference definitions are off: a definition would vanish, and what refers to it may stand in another
message.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.telegram.markup import Marked, Page, is_blank, plain
from adapters.telegram.update import units
from gateway.grid import Side, columns
from gateway.markdown import PonderedError, counting, parse
from gateway.payload import words

LIMIT = 4_000
"""UTF-16 units of a rendered message that we send; Telegram takes 4,096 characters."""

LONGEST = 12_000
"""Characters of Markdown from which nothing is rendered: that much markup is not written in good faith."""

CELLS = 3_000
"""Cells of tables, roughly, from which no table is drawn: a short row has as many as the head."""

DEEPEST = 14
"""Quotes and lists within each other, a list counting as two."""

BRACKETS = 100
"""Brackets open at once from which no links are looked for: that takes the square of their number."""

NESTED_LINES = 6_000
"""Lines times quotes and lists in front of one of them, from which nothing is rendered: each line is tried in each."""

STEPS = 6_000
"""How often the parser may look for the next thing; 4,000 characters as models write them take some 250."""

SKIPS = 3_000
"""How often the end of a link's words may be looked for one token further; such texts take a few."""

GROWTH = 5
"""By how much rendering makes a text longer at most that has no table."""

BULLET, EMPTY_BOX, TICKED_BOX = "•", "☐", "☑"
RULE = "──────────"

# Possessive, as a line of a thousand blanks must not be tried in all its parts.
_DELIMITERS = re.compile(r"^(?=[^\n-]*+-)[-+*0-9.) \t>]*+[-:| \t]*+$", re.MULTILINE)
_MARKERS = re.compile(r"^[ \t]*(?:>[ \t]*|(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)+", re.MULTILINE)
_MARKER = re.compile(r">|[-+*]|[0-9]+[.)]")
_BRACKET = re.compile(r"[\[\]]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_CELL_END = re.compile(r"(?<!\\)\|")
_LAST_CELL_END = re.compile(r"(?<!\\)\|[ \t]*\Z")
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
# What Telegram's clients open: a name with a dot in it.
_LINKED = re.compile(r"https?://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+\.?(?::[0-9]+)?(?:[/?#][!-~]*)?", re.IGNORECASE)
_OWN = re.compile(r"(?:tg|ton|tonsite):", re.IGNORECASE)
_STYLES = {"strong": "bold", "em": "italic", "s": "strikethrough"}


@lru_cache(maxsize=64)
def rendered(markdown: str) -> Marked:
    """The Markdown as Telegram shows it; as it stands where nothing would be left of it."""
    markdown = words(markdown)
    depth = _depth(markdown)
    if depth > DEEPEST or depth * _lines(markdown) > NESTED_LINES:
        return plain(markdown)
    parser = _parser(tables=_cells(markdown) <= CELLS, links=_brackets(markdown) <= BRACKETS)
    try:
        tokens = parse(parser, markdown, steps=STEPS, skips=SKIPS)
    except PonderedError:
        return plain(markdown)
    if any(token.level >= DEEPEST for token in tokens):
        return plain(markdown)
    result = _Writer(markdown).render(tokens)
    return plain(markdown) if result.blank else result


def fits(text: str, limit: int = LIMIT) -> bool:
    """Whether a text is one message of so many units, once it is rendered."""
    size = units(text)
    if size * GROWTH <= limit and "|" not in text:
        return not is_blank(words(text))
    if len(text) > LONGEST:
        return False
    result = rendered(text)
    return result.length <= limit and not result.blank


@cache
def _parser(*, tables: bool, links: bool) -> MarkdownIt:
    options = {"html": False, "linkify": False, "maxNesting": DEEPEST + 1}
    off = ["reference", *([] if tables else ["table"]), *([] if links else ["link", "image"])]
    parser = MarkdownIt("gfm-like", options).disable(off)
    return counting(parser)


def _lines(markdown: str) -> int:
    return markdown.count("\n") + markdown.count("\r") + 1


def _depth(markdown: str) -> int:
    """The most quotes and lists that begin in one line."""
    return max((len(_MARKER.findall(found)) for found in _MARKERS.findall(markdown)), default=0)


def _brackets(markdown: str) -> int:
    """The most brackets that are open at once."""
    if markdown.count("[") <= BRACKETS:
        return 0
    steps = accumulate(1 if bracket == "[" else -1 for bracket in _BRACKET.findall(markdown))
    return max(steps)


def _cells(markdown: str) -> int:
    """How many cells its tables have at most."""
    if "|" not in markdown:
        return 0
    rows = _DELIMITERS.findall(_LINE_END.sub("\n", markdown))
    widest = max((row.count("|") + 1 for row in rows), default=0)
    return widest * _lines(markdown)


class _Writer:
    """Writes tokens onto a page."""

    def __init__(self, source: str) -> None:
        self._source = _LINE_END.split(source)
        self._page = Page()
        self._indents: list[str] = []
        self._quotes = 0
        self._line = 0
        self._fresh = True
        self._box: str | None = None

    def render(self, tokens: Sequence[Token]) -> Marked:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(index for index in range(at, len(tokens)) if tokens[index].type == "table_close")
                self._table(token, tokens[at:end])
                at = end
            else:
                self._block(token, tokens[at + 1 : at + 3])
            at += 1
        return self._page.marked()

    def _block(self, token: Token, following: Sequence[Token]) -> None:
        match token.type:
            case "blockquote_open" | "blockquote_close":
                self._quote(token.nesting)
            case "list_item_open":
                self._item(token, following)
            case "list_item_close":
                self._indents.pop()
                self._fresh = False
            case "heading_close":
                self._page.finish("bold")
            case _:
                self._leaf(token)

    def _leaf(self, token: Token) -> None:
        match token.type:
            case "heading_open":
                self._start(token)
                self._page.begin("bold")
            case "paragraph_open":
                self._start(token)
            case "inline":
                self._inline(token)
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._start(token)
                self._page.write(RULE)
            case _:
                pass

    def _quote(self, step: int) -> None:
        """One in another says nothing: Telegram has no such."""
        if step > 0 and self._quotes == 0:
            self._page.begin("blockquote")
        elif step < 0 and self._quotes == 1:
            self._page.finish("blockquote")
        self._quotes += step

    def _start(self, token: Token, *, alone: bool = False) -> None:
        """Go to where a block begins: behind its item's marker, unless it needs a line of its own."""
        first, last = token.map or (self._line, self._line)
        if not self._fresh:
            self._page.space("\n\n" if first > self._line else "\n")
            self._page.space("" if alone else "".join(self._indents))
        elif alone and self._indents:
            self._page.space("\n")
        self._fresh = False
        self._line = last

    def _item(self, token: Token, following: Sequence[Token]) -> None:
        first, last = token.map or (self._line, self._line)
        if not self._fresh:
            self._page.space("\n\n" if first > self._line else "\n")
            self._page.space("".join(self._indents))
        marker = f"{token.info}{token.markup} " if token.info else f"{BULLET} "
        text = next((each.content for each in following if each.type == "inline"), "")
        if found := _BOX.match(text):
            marker = (EMPTY_BOX if found[1] == " " else TICKED_BOX) + " "
            self._box = found[0]
        self._page.write(marker if following and following[0].type != "list_item_close" else marker.rstrip())
        self._indents.append(" " * len(marker))
        self._fresh, self._line = True, min(last, first + 1)

    def _code(self, token: Token) -> None:
        self._start(token, alone=True)
        language = _LANGUAGE.match(token.info.strip()) if token.type == "fence" else None
        text = token.content.removesuffix("\n")
        if text:
            self._page.code("pre", text, language[0] if language else None)

    def _table(self, opening: Token, tokens: Sequence[Token]) -> None:
        self._start(opening, alone=True)
        rows, sides, first = list[list[str]](), list[Side](), 0
        for at, token in enumerate(tokens):
            first = token.map[0] if token.type == "tr_open" and token.map else first
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "tr_close" and len(rows) > 1:
                rows[-1] += self._surplus(first, len(sides))
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(_cell(tokens[at + 1]))
                if token.type == "th_open":
                    sides.append(_side(token))
        self._page.code("pre", columns(rows, sides))

    def _surplus(self, line: int, count: int) -> list[str]:
        """The cells of a row that has more than the head: the parser drops them."""
        row = self._source[line].lstrip(" \t>").removeprefix("|") if line < len(self._source) else ""
        cells = _CELL_END.split(_LAST_CELL_END.sub("", row))[count:]
        return [cell.strip().replace("\\|", "|") for cell in cells]

    def _inline(self, token: Token) -> None:
        links = list[tuple[str, int]]()
        for at, child in enumerate(token.children or ()):
            kind, _, end = child.type.rpartition("_")
            if kind in _STYLES:
                self._style(kind, end)
            elif child.type == "link_open":
                links.append((self._link(str(child.attrs.get("href", ""))), self._page.length))
            elif child.type == "link_close":
                self._unlink(*links.pop())
            else:
                self._piece(child, first=at == 0)
        self._box = None

    def _style(self, kind: str, end: str) -> None:
        match kind, end:
            case "strong", "open":
                self._page.begin("bold")
            case "strong", _:
                self._page.finish("bold")
            case "em", "open":
                self._page.begin("italic")
            case "em", _:
                self._page.finish("italic")
            case _, "open":
                self._page.begin("strikethrough")
            case _:
                self._page.finish("strikethrough")

    def _piece(self, child: Token, *, first: bool) -> None:
        match child.type:
            case "softbreak" | "hardbreak":
                self._page.space("\n" + "".join(self._indents))
            case "code_inline":
                self._page.code("code", child.content)
            case "image":
                alt, source = _plain(child.children or ()), str(child.attrs.get("src", ""))
                begun = self._link(source), self._page.length
                self._page.write(alt or source)
                self._unlink(*begun)
            case _:
                text = child.content
                if first and self._box:
                    text = text.removeprefix(self._box)
                self._page.write(text)

    def _link(self, target: str) -> str:
        """Begin a link; what is to be written behind it, as it is none that Telegram's clients open."""
        if _LINKED.fullmatch(target):
            self._page.begin("text_link", url=target)
            return ""
        return target

    def _unlink(self, target: str, start: int) -> None:
        if not target:
            self._page.finish("text_link")
        elif not _OWN.match(target) and target.removeprefix("mailto:") not in "".join(self._page.parts)[start:]:
            self._page.write(f" ({target})")


def _cell(token: Token) -> str:
    return " ".join(_plain(token.children or ()).split("\n"))


def _plain(tokens: Sequence[Token]) -> str:
    """Words without their looks; an address behind its words."""
    text, links = "", list[tuple[str, int]]()
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                text += "\n"
            case "link_open":
                links.append((str(token.attrs.get("href", "")), len(text)))
            case "link_close":
                target, start = links.pop()
                text += f" ({target})" if target.removeprefix("mailto:") not in text[start:] else ""
            case "image":
                text += _plain(token.children or ()) or str(token.attrs.get("src", ""))
            case _:
                text += token.content
    return text


def _side(token: Token) -> Side:
    match str(token.attrs.get("style", "")).rpartition(":")[2].strip():
        case "right":
            return "right"
        case "center":
            return "center"
        case _:
            return "left"
