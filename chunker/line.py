"""How one line of Markdown is read: its containers, its marker, what it may begin.

Rule 1: nothing here remembers anything; a line is read with the containers that are open before it.
Rule 2: columns count, not characters: a tab goes to the next multiple of four.
Rule 3: where CommonMark leaves room, markdown-it is followed, because it judges the tests.
"""

import re
from typing import NamedTuple

from chunker.state import QUOTE

WHITE = re.compile(r"[ \t]*")
FENCE = re.compile(r"(`{3,}+)([^`\n]*+)$|(~{3,}+)([^\n]*+)$", re.MULTILINE)
HEADING = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
RULE = re.compile(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$", re.MULTILINE)
ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?=[ \t\n]|\Z)")
UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$", re.MULTILINE)
DELIMITER = re.compile(r"(?!-[ \t])[-:|][-:| \t]+")
DEFINITION = re.compile(
    r"\[(?:[^\[\]\\\n]|\\.)+\]:[ \t]*\S+(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$", re.MULTILINE
)
"""A link reference definition in one line. It is not a paragraph: what follows it does not go on with it."""
OPENER = re.compile(r"`{1,2}$|~{1,2}$|`{3}|~{3}", re.MULTILINE)
"""The start of a line that is a fence's, or may become it."""
PIPE = re.compile(r"(?<!\\)\|")
MARKER = re.compile(r"[-+*_=~`#>|:\d.) \t]*$", re.MULTILINE)
"""The start of a line of which one cannot say yet what it begins."""
TEXT = r"(?:[^\s`~#>*_+=|:\-\[0-9]|\*{1,2}+[^\s*]|`{1,2}+[^`\n]|_{1,2}+[^\s_]|[0-9]{1,9}+[^\s0-9.)])"
"""The start of a line that can be nothing but text, a pattern's part."""
LINES = re.compile(rf"(?:{TEXT}[^\n]*\n)*+")

INDENT = 4
"""Columns that make a line indented code."""


class Reading(NamedTuple):
    """A line after its containers. A named tuple for speed: one is made for every line but the plainest."""

    matched: int
    """How many of the open containers go on in this line."""
    col: int
    """The column at which the content of the innermost of them starts."""
    origin: int
    """Where the white space before the content begins."""
    ocol: int
    """Its column."""
    first: int
    """The first character that is not white, or the end of the line."""
    fcol: int
    """Its column."""


def skip(view: str, at: int, col: int) -> tuple[int, int]:
    """Pass over spaces and tabs: the next index, and its column."""
    found = WHITE.match(view, at)
    stop = found.end() if found else at
    if view.find("\t", at, stop) < 0:
        return stop, col + stop - at
    for index in range(at, stop):
        col += 4 - col % 4 if view[index] == "\t" else 1
    return stop, col


def read(view: str, at: int, eol: int, containers: tuple[int, ...]) -> Reading:
    """Match the line against the open containers, outermost first, as far as they go on."""
    col = ocol = 0
    origin = at
    first, fcol = skip(view, at, 0)
    for depth, width in enumerate(containers):
        if width == QUOTE:
            # markdown-it lets the marker of an open quote stand at any column.
            if first >= eol or view[first] != ">":
                return Reading(depth, col, origin, ocol, first, fcol)
            origin, col = first + 1, fcol + 1
            ocol = col
            first, fcol = skip(view, origin, col)
            if fcol > col:
                col += 1
        elif first < eol:
            if fcol - col < width:
                return Reading(depth, col, origin, ocol, first, fcol)
            col += width
    return Reading(len(containers), col, origin, ocol, first, fcol)


def content(view: str, reading: Reading) -> tuple[int, str]:
    """Find where the content of a line begins once its containers are taken away.

    Returns:
        An index, and the spaces that stand for the rest of a tab of which the containers took a part.
    """
    at, col = reading.origin, reading.ocol
    while col < reading.col and at < reading.first:
        col += 4 - col % 4 if view[at] == "\t" else 1
        at += 1
    return at, " " * (col - reading.col)


def expanded(view: str, start: int, stop: int, col: int) -> str:
    """Write a stretch with spaces for its tabs, given the column at which it starts."""
    parts: list[str] = []
    for char in view[start:stop]:
        wide = " " * (4 - col % 4) if char == "\t" else char
        parts.append(wide)
        col += len(wide)
    return "".join(parts)


def item_width(view: str, reading: Reading, eol: int) -> tuple[int, Reading]:
    """Open the list item that starts here: its width in columns, and the line behind its marker."""
    found = ITEM.match(view, reading.first)
    stop = found.end() if found else reading.first
    after = reading.fcol + stop - reading.first
    first, fcol = skip(view, stop, after)
    # Empty, or more than four columns: one belongs to the marker, the rest to the content.
    col = after + 1 if first >= eol or fcol - after > INDENT else fcol
    return col - reading.col, Reading(reading.matched, col, stop, after, first, fcol)


def begins_block(view: str, first: int, eol: int, *, interrupting: bool) -> bool:
    """Say whether a line with this first character ends an open paragraph.

    Args:
        view: The text.
        first: The line's first character that is not white.
        eol: The line's end.
        interrupting: The line stands at the paragraph's own level, where an empty item, or one numbered other than 1,
            does not end it.
    """
    char = view[first]
    if char == ">":
        return True
    if char in "`~":
        return FENCE.match(view, first) is not None
    if char == "#":
        return HEADING.match(view, first) is not None
    if char in "-*_" and RULE.match(view, first):
        return True
    found = ITEM.match(view, first)
    if not found:
        return False
    return not interrupting or not is_weak(view, first, found.end(), eol)


def is_weak(view: str, first: int, stop: int, eol: int) -> bool:
    """Say whether an item marker cannot interrupt a paragraph: it is empty, or numbered other than 1."""
    if view[first].isdigit() and int(view[first : stop - 1]) != 1:
        return True
    return skip(view, stop, 0)[0] >= eol


def cells(row: str) -> int:
    r"""Count the cells of a table row; ``\|`` divides none."""
    row = row.strip(" \t")
    pipes = PIPE.findall(row)
    return len(pipes) + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|") and len(pipes) > 0)


def columns(delimiter: str) -> int:
    """Count the columns of a delimiter row; 0 if it is none."""
    if not DELIMITER.fullmatch(delimiter):
        return 0
    parts = [part.strip(" \t") for part in delimiter.split("|")]
    inner = [part for index, part in enumerate(parts) if part or 0 < index < len(parts) - 1]
    return len(inner) if all(re.fullmatch(r":?-+:?", part) for part in inner) else 0


def is_table(header: str, delimiter: str) -> bool:
    """Say whether two lines are the head of a table."""
    return "|" in header and 0 < columns(delimiter) == cells(header)
