"""Lines that one pattern can read: most of those that `leap` leaves to a scan.

Rule 1: a line is read here as `line`, `container` and `block` would read it, or not at all.
Rule 2: what a line may yet become decides nothing: one that is not over is read only if it can be nothing but text.
Rule 3: lines of a paragraph or table that are all alike are read in one go.
"""

import re
from typing import NamedTuple

from chunker.block import text_lines
from chunker.container import is_outside
from chunker.fence import closing_line, exit_of
from chunker.line import INDENT, MARKER, TEXT
from chunker.state import DEEPEST, QUOTE
from chunker.survey import Survey

END = r"(?:\n|\Z)"
SIMPLE = re.compile(
    rf"(\n+)|({TEXT}[^\n]*+{END})"
    rf"|(\ *+)(?:((?:[-+*]|[0-9]{{1,9}}[.)])\ )(?={TEXT})[^\n|]*+{END}|(`{{3}}[^`\n]*\n)|((?<=\ ){TEXT}[^\n|]*+{END}))"
    rf"|(\|(?:\ ?:?-+:?\ ?\|)+\n)|(\|[^\n]*\n)|(\#{{1,6}}\ [^\n|]*\n)|(>\ {TEXT}[^\n|]*+{END})"
)
"""Whole lines that make up most answers, each kind a group; the third group is the indentation of the next three."""
BLANK, PLAIN, SPACE, BULLET, FENCED, INDENTED, DELIMITED, ROW, TITLE, QUOTED = range(1, 11)
TEXTUAL = frozenset((PLAIN, BULLET, INDENTED, QUOTED))
QUOTES = (QUOTE,)
ROWS = re.compile(r"(?:\|[^\n]*\n)*+")


class Line(NamedTuple):
    """A simple line, and how far the open list items go on in it."""

    kind: int
    pos: int
    first: int
    """Its first character that is not a space."""
    text: int
    """Where its text begins, behind a list or quote marker."""
    stop: int
    """Where the next line begins; of a fence, the line behind all of it."""
    depth: int
    """So many of the items go on."""
    column: int
    """What they take of the line."""


def simple_line(survey: Survey) -> bool:
    """Read a line, or more of its kind, if it is a simple one."""
    found = SIMPLE.match(survey.view, survey.pos) if is_simple(survey) else None
    if not found:
        return False
    stop = found.end()
    if found.lastindex == BLANK:
        survey.leaf, survey.pos = "none", stop
        survey.containers = () if survey.containers == QUOTES else survey.containers
        return True
    whole = stop <= survey.cap and survey.view[stop - 1] == "\n"
    if not whole and (found.lastindex not in TEXTUAL or MARKER.match(survey.view, survey.pos)):
        return False
    line = line_of(survey, found)
    if not line or not (goes_on(survey, line) or begins(survey, line)):
        return False
    if survey.base and line.depth >= survey.base:
        survey.edit(line.pos, line.pos + sum(survey.containers[: survey.base]), "")
    if whole:
        survey.pos, survey.text_end = line.stop, line.stop - 1
        same_lines(survey, line.kind)
    else:
        survey.advance(line.pos, survey.end_of_line(line.pos))
    return True


def is_simple(survey: Survey) -> bool:
    """Say whether nothing is open for which a simple line might be something else."""
    if survey.tail or survey.hollow or survey.loose or survey.dangling:
        return False
    if survey.leaf == "paragraph" and survey.para == survey.resumed:
        return False
    return QUOTE not in survey.containers or (survey.containers == QUOTES and not survey.base)


def line_of(survey: Survey, found: re.Match[str]) -> Line | None:
    """Say what a match has found; nothing where a fence does not fit."""
    kind, pos, stop = found.lastindex or 0, survey.pos, found.end()
    first = max(found.end(SPACE), pos)
    depth, column = kept(survey.containers, first - pos)
    text = found.end(4) if kind == BULLET else pos + 2 if kind == QUOTED else first
    if kind == FENCED:
        stop = 0 if min(survey.base, depth) else fence_end(survey.view, stop, column, survey.cap)
    return Line(kind, pos, first, text, stop, depth, column) if stop else None


def kept(containers: tuple[int, ...], columns: int) -> tuple[int, int]:
    """Count the open list items that a line so far in goes on with, and the columns that they take of it."""
    column = 0
    for depth, width in enumerate(containers):
        if columns - column < width or width == QUOTE:
            return depth, column
        column += width
    return len(containers), column


def goes_on(survey: Survey, line: Line) -> bool:
    """Read a line that goes on with a paragraph or table, and say whether it did."""
    if survey.leaf == "table" and line.kind == ROW and not survey.containers:
        if survey.body:
            survey.boundary(survey.text_end, line.pos, "table")
        survey.body = True
        return True
    if survey.leaf != "paragraph":
        return False
    if line.kind in (PLAIN, INDENTED):
        survey.row = line.first if line.depth == len(survey.containers) else -1
    elif line.kind == QUOTED and survey.containers == QUOTES:
        survey.row = line.text
    elif line.kind == DELIMITED and is_head(survey, line):
        survey.leaf, survey.header, survey.body = "table", survey.view[survey.row : line.stop - 1], False
    else:
        return False
    return True


def begins(survey: Survey, line: Line) -> bool:
    """Read a line that begins a block, and say whether it did; not, where it might go on with one."""
    if survey.leaf == "table" or line.kind == DELIMITED or (line.kind == ROW and survey.containers):
        return False
    columns = line.first - line.pos - line.column
    if columns >= INDENT or line.depth == DEEPEST or is_outside(survey.containers, survey.base, line.depth, columns):
        return False
    if survey.leaf == "paragraph" and may_go_on(survey, line):
        return False
    survey.boundary(survey.text_end, line.pos)
    survey.containers = survey.containers[: line.depth]
    survey.base = min(survey.base, line.depth)
    survey.leaf, survey.heading = "paragraph", -1
    survey.para = survey.row = line.text
    if line.kind == BULLET:
        survey.mark(line.depth, survey.view[line.text - 2])
        survey.containers += (line.text - line.pos - line.column,)
    elif line.kind == QUOTED:
        survey.containers += QUOTES
    elif line.kind == TITLE:
        survey.leaf, survey.heading = "none", line.pos
    elif line.kind == FENCED:
        survey.leaf = "none"
    return True


def may_go_on(survey: Survey, line: Line) -> bool:
    """Say whether a line that looks like a block's first may go on with the open paragraph."""
    if line.kind == ROW or survey.containers == QUOTES:
        return True
    at_its_level = line.depth == len(survey.containers) or line.depth < survey.base
    return line.kind == BULLET and at_its_level and survey.view[line.first].isdigit()


def same_lines(survey: Survey, kind: int) -> None:
    """Read the lines behind a line of text, or a row, that are nothing else."""
    if kind == PLAIN:
        text_lines(survey)
    elif kind == ROW and survey.leaf == "table":
        found = ROWS.match(survey.view, survey.pos, survey.cap)
        if found and found.end() > survey.pos:
            last = survey.view.rfind("\n", 0, found.end() - 1) + 1
            survey.boundary(last - 1, last, "table")
            survey.pos, survey.text_end = found.end(), found.end() - 1


def is_head(survey: Survey, line: Line) -> bool:
    """Say whether a delimiter row makes a table's head of a paragraph; not, where that is hard to say."""
    if survey.containers or survey.row != survey.para:
        return False
    header = survey.view[survey.row : survey.text_end]
    outer = header[0] == header[-1] == "|"
    return outer and "\\" not in header and header.count("|") == survey.view.count("|", line.pos, line.stop)


def fence_end(view: str, start: int, indent: int, cap: int) -> int:
    """Find where a fence of three backticks ends if all of it fits and it is not blank, or else say 0."""
    line, end = closing_line(view, start, cap + 1, "```", indent)
    if end > cap or view[end : end + 1] != "\n":
        return 0
    if indent and exit_of(indent).search(view, start, line):
        return 0
    return end + 1 if view[start:line].strip() else 0
