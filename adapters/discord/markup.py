"""Markdown as Discord writes it. Pure.

Rule 1: what Discord knows is passed through; what it lacks is shown by what it has: tables and indented code as code
    blocks, headings below the third as third ones, rules as lines, boxes for tasks.
Rule 2: nothing that Markdown shows is lost, and code is the same to the byte. The one exception: in three backticks
    inside of code there is a word joiner, for they would end the block.
Rule 3: Discord has one level of quotes, so deeper ones are flattened; every line of one begins with ``> ``.
Rule 4: any text of one message's length takes a few milliseconds; what a parser would ponder on is shown as it stands.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from adapters.discord.escape import escape, pairing, plain
from adapters.discord.inline import inline, visible
from gateway.grid import BOX, columns
from gateway.markdown import PonderedError, counting, parse

LIMIT = 2_000
"""Code points of ``content``: https://docs.discord.com/developers/resources/message#create-message"""

RULE = "─" * 12

STEPS = 1_500
"""How often a parser may look for the next thing; 4,000 characters as models write them take some 250."""

SKIPS = 2_000
"""How often the end of a link's words may be looked for one token further; such texts take a few."""

CELLS = 1_500
"""How many cells a table may come to: a short line of one with many columns is filled up with empty ones."""

MARKS = 700
"""How many marks of emphasis may stand in a message: each is compared with those before it."""

_LONGEST = 12_000
_DEEPEST = 20
_DEEP = re.compile(rf"^(?:[ \t]*(?:>|[-+*](?=\s)|\d{{1,9}}[.)](?=\s))){{{_DEEPEST},}}", re.MULTILINE)
_DELIMITER_ROW = re.compile(r"^[ \t>|]*:?-[-:| \t]*$", re.MULTILINE)
_PIPE = re.compile(r"(?<!\\)\|")
_ENDS = re.compile("\r\n?")
_LANGUAGE = re.compile(r"[\w+\-.#]{1,40}", re.ASCII)
_FENCE_INSIDE = re.compile("`(?=``)")
_TASK = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_MARKUP = re.compile(r"[^\w\s.,;:!?'\"()/%$€@-]|^[ \t]|^[ \t]*(?:-|\d+[.)])|__|_\b|\b_|-{3}|\(", re.MULTILINE)


class Line(NamedTuple):
    """A line of what is shown. ``code``: it is of a block of code, so nothing is put in front of it by a list."""

    text: str
    code: bool = False


def content(markdown: str) -> str:
    """What Discord is sent for a Markdown text."""
    markdown = _ENDS.sub("\n", markdown)
    try:
        tokens = _parse(markdown)
    except PonderedError:
        return plain(markdown).strip()
    lines = _Blocks(tokens, markdown).all()
    return "\n".join(line.text for line in lines).strip() or plain(markdown).strip()


def fits(markdown: str, limit: int = LIMIT) -> bool:
    """Whether a message of that length holds the text, once it is rendered."""
    if len(markdown) <= limit and not _MARKUP.search(markdown):
        return True
    return len(content(markdown)) <= limit


def _parse(markdown: str) -> list[Token]:
    """The tokens of a text that somebody could have written.

    Raises:
        PonderedError: nobody would, and a parser takes long over it or gives up at some depth.
    """
    columns = max((found[0].count("|") for found in _DELIMITER_ROW.finditer(markdown)), default=0)
    cells = columns * markdown.count("\n")
    marks = sum(markdown.count(mark) for mark in "*_~")
    if cells > CELLS or marks > MARKS or len(markdown) > _LONGEST or _DEEP.search(markdown):
        raise PonderedError
    return parse(_parser(), markdown, steps=STEPS, skips=SKIPS)


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; definitions of links stay visible, for their links may be elsewhere."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 200}).enable(["table", "strikethrough"])
    parser.disable("text_join")
    parser.block.ruler.at("reference", _definition)
    parser.normalizeLink = lambda url: url
    parser.normalizeLinkText = _as_written
    return counting(parser)


def _as_written(link: str) -> str:
    return link


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's rule for definitions, which shows none of them, and a token that does."""
    found = reference(state, start, end, silent)
    if found and not silent:
        token = state.push("definition", "", 0)
        token.map = [start, state.line]
        token.content = state.getLines(start, state.line, state.blkIndent, False).strip()
    return found


class _Blocks:
    """Walks the tokens of a text, block by block."""

    def __init__(self, tokens: Sequence[Token], markdown: str) -> None:
        self._tokens = tokens
        self._at = 0
        self._source = markdown.split("\n")
        self._pairs = pairing(markdown)

    def all(self) -> list[Line]:
        """All lines of the text."""
        return self._until("", quoted=False, listed=False)

    def _until(self, closing: str, *, quoted: bool, listed: bool) -> list[Line]:
        lines: list[Line] = []
        while self._at < len(self._tokens) and self._tokens[self._at].type != closing:
            gap = bool(lines) and self._blank_before(self._tokens[self._at])
            block = self._block(quoted=quoted, listed=listed)
            lines += [Line("")] if gap and block else []
            lines += block
        self._at += 1
        return lines

    def _blank_before(self, token: Token) -> bool:
        start = token.map[0] if token.map else 0
        return start > 0 and not self._source[start - 1].strip(" \t\r>")

    def _block(self, *, quoted: bool, listed: bool) -> list[Line]:
        token = self._tokens[self._at]
        self._at += 1
        match token.type:
            case "fence" | "code_block":
                lines = _fence(token.content, token.info)
            case "hr":
                lines = [Line(RULE)]
            case "heading_open":
                lines = self._heading(int(token.tag[1:]), listed=listed)
            case "blockquote_open":
                inner = self._until("blockquote_close", quoted=True, listed=listed)
                lines = inner if quoted else [line._replace(text=f"> {line.text}") for line in inner]
            case "bullet_list_open" | "ordered_list_open":
                lines = self._list(token.type.replace("open", "close"), quoted=quoted)
            case "table_open":
                lines = self._table()
            case "definition":
                lines = [Line(escape(text.strip(), self._pairs)) for text in token.content.split("\n")]
            case _:  # a paragraph
                words = self._inline("paragraph_close")
                lines = [Line(text) for text in words.split("\n")] if words else []
        return lines

    def _inline(self, closing: str) -> str:
        words = ""
        while (token := self._tokens[self._at]).type != closing:
            words += inline(token.children or [], self._pairs)
            self._at += 1
        self._at += 1
        return words

    def _heading(self, level: int, *, listed: bool) -> list[Line]:
        words = " ".join(self._inline("heading_close").split("\n"))
        if not words:
            return []
        if listed:  # Discord knows none in lists
            return [Line(words if "**" in words else f"**{words}**")]
        return [Line(f"{'#' * min(level, 3)} {words}")]

    def _list(self, closing: str, *, quoted: bool) -> list[Line]:
        lines: list[Line] = []
        while (item := self._tokens[self._at]).type != closing:
            gap = bool(lines) and self._blank_before(item)
            self._at += 1
            mark = f"{item.info}." if item.info else item.markup.replace("+", "-")
            block = _item(mark, self._until("list_item_close", quoted=quoted, listed=True))
            lines += [Line("")] if gap else []
            lines += block
        self._at += 1
        return lines

    def _table(self) -> list[Line]:
        rows: list[list[str]] = []
        excess: list[str] = []
        while (token := self._tokens[self._at]).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
                excess = self._cells(token) if len(rows) > 1 else []  # a header has as many as there are columns
            elif token.type == "tr_close":
                rows[-1] += excess[len(rows[-1]) :]
            elif token.type == "inline":
                rows[-1].append(" ".join(visible(token.children or []).split()))
            self._at += 1
        self._at += 1
        return _fence(columns(rows, lines=BOX), "")

    def _cells(self, row: Token) -> list[str]:
        """A row's cells as they were written: Markdown leaves out those for which there is no column."""
        line = self._source[row.map[0]] if row.map else ""
        return [cell.strip() for cell in _PIPE.split(line.strip(" \t>").removeprefix("|").removesuffix("|"))]


def _item(mark: str, inner: Sequence[Line]) -> list[Line]:
    first, *rest = inner or [Line("")]
    indent = " " * (len(mark) + 1)
    if first.code:
        first, rest = Line(""), [first, *rest]
    text = next((box + first.text[4:] for task, box in _TASK.items() if first.text.startswith(task)), first.text)
    head = Line(f"{mark} {text}".rstrip())
    return [head, *(line if line.code or not line.text else Line(indent + line.text) for line in rest)]


def _fence(content: str, info: str) -> list[Line]:
    words = info.split()
    language = words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""
    shown = _FENCE_INSIDE.sub("`\N{WORD JOINER}", content.removesuffix("\n"))
    inner = shown if shown.strip("\n") else " "  # a block of nothing is none on Discord
    return [Line(text, code=True) for text in (f"```{language}", *inner.split("\n"), "```")]
