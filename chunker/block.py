"""Lines that go on with a block, or end it.

Rule 1: nothing is concluded from what a last line that is not whole might become.
Rule 2: a line end before a line of which one cannot say whether it goes on is used only where nothing better is.
"""

import re

from chunker.container import begins, heads_table, new_block, rewrite
from chunker.fence import code_line
from chunker.header import is_head, row_at
from chunker.line import INDENT, LINES, UNDERLINE, Reading, is_table
from chunker.state import QUOTE, Row, State, lead
from chunker.survey import Boundary, Survey, Tail

HEAD_PART = re.compile(r"[-:|= \t]+$", re.MULTILINE)


def inner_line(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Read a line that goes on in all open containers."""
    leaf, first = survey.leaf, reading.first
    deep = reading.fcol - reading.col >= INDENT
    if leaf == "fence":
        code_line(survey, reading, pos, eol)
    elif leaf == "indented" and deep:
        survey.boundary(survey.text_end, pos, "indented")
        rewrite(survey, reading, pos, eol)
        survey.advance(pos, eol)
    elif leaf == "paragraph":
        paragraph_line(survey, reading, pos, eol)
    elif leaf == "table" and not deep and (survey.is_unsure(first, eol) or not begins(survey, first, eol)):
        rewrite(survey, reading, pos, eol)
        table_row(survey, pos, first, eol)
    else:
        new_block(survey, reading, pos, eol)


def table_row(survey: Survey, pos: int, first: int, eol: int) -> None:
    """Read a body row of a table."""
    # A head without a row is left alone only where nothing else can be done.
    if not survey.body and (survey.block or survey.line):
        pass
    elif survey.view[first] == "|" or not survey.is_unsure(first, eol):
        survey.boundary(survey.text_end, pos, "table")
    else:
        doubtful(survey, pos)
    survey.body = True
    survey.advance(first, eol)


def paragraph_line(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Read a line that may go on with the paragraph, underline it, make a table of it, or end it."""
    view, first = survey.view, reading.first
    if reading.fcol - reading.col < INDENT:
        # One dash is more often the start of an item, and a cut before it does no harm.
        if UNDERLINE.match(view, first) and not (view[first] == "-" and survey.is_partial(eol)):
            rewrite(survey, reading, pos, eol)
            underline(survey, eol)
            return
        if table_head(survey, reading, pos, eol):
            return
        if survey.is_unsure(first, eol):
            unsure_line(survey, pos, eol, known=survey.view[first] not in "|:=")
            return
        if begins(survey, first, eol, interrupting=True):
            new_block(survey, reading, pos, eol)
            return
        survey.row = first
    else:
        survey.row = -1
    rewrite(survey, reading, pos, eol)
    survey.advance(first, eol)
    text_lines(survey)


def text_lines(survey: Survey) -> None:
    """Read in one go the lines behind a line of text that stand in no container, fit, and can be nothing but text."""
    found = None if survey.containers else LINES.match(survey.view, survey.pos, survey.cap)
    if found and found.end() > survey.pos:
        survey.row = survey.view.rfind("\n", 0, found.end() - 1) + 1
        survey.advance(survey.row, found.end() - 1)


def underline(survey: Survey, eol: int) -> None:
    """Make the paragraph a heading."""
    survey.leaf = "heading"
    survey.advance(survey.para, eol)
    if survey.tail:
        survey.tail = Tail("heading", survey.para, survey.containers)
    survey.leaf = "none"
    survey.heading = survey.para


def table_head(survey: Survey, reading: Reading, pos: int, eol: int) -> bool:
    """Make the paragraph's last line the header of a table, if this line is its delimiter row."""
    if survey.row < 0:
        return False
    header = survey.view[survey.row : survey.text_end].strip()
    delimiter = survey.view[reading.first : eol].rstrip(" \t")
    if survey.is_partial(eol):
        torn = survey.row == survey.resumed and survey.before.cells < 0
        if torn or "|" not in header or not HEAD_PART.fullmatch(delimiter) or delimiter[0] not in "|:":
            return False
    elif not is_head(survey, header, delimiter):
        if not is_table(header, delimiter):
            return False
        survey.edit(pos, reading.first, lead(survey.containers, survey.base) + " " * INDENT)
        survey.row = -1
        survey.advance(reading.first, eol)
        return True
    else:
        survey.loose = not is_table(header, delimiter)
    if survey.row <= survey.cap:
        survey.tail = None
    if survey.row > survey.para:
        line = survey.view.rfind("\n", 0, survey.row) + 1
        survey.boundary(line - 1, line, "paragraph" if survey.is_partial(eol) else "none")
    rewrite(survey, reading, pos, eol)
    survey.leaf = "table"
    survey.header = "" if survey.loose else f"{header}\n{delimiter}"
    if survey.para == survey.resumed:
        survey.resumed_end = survey.row
    survey.body = False
    survey.advance(survey.row, eol)
    return True


def lazy_line(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Read a line that goes on with a paragraph although its containers do not."""
    at = reading.first
    left = survey.containers[reading.matched :]
    if QUOTE not in left and heads_table(survey.view, survey.containers, reading, eol, final=survey.final):
        new_block(survey, reading, pos, eol)
        return
    if survey.is_unsure(at, eol):
        unsure_line(survey, pos, eol)
        return
    moved = reading.matched < survey.base or survey.view.find("\n", survey.ink, survey.para) < 0
    if pos == survey.veiled or (moved and HEAD_PART.match(survey.view, at)):
        # Where the paragraph is written now, it would become a heading or a table; so far in, nothing does.
        survey.edit(pos, at, lead(survey.containers, survey.base) + " " * INDENT)
    else:
        rewrite(survey, reading, pos, eol)
    survey.row = -1  # markdown-it makes no table's header of it
    survey.advance(reading.first, eol)


def doubtful(survey: Survey, pos: int) -> None:
    """Note a line end before a line that may or may not go on with the block; used where nothing better is."""
    if survey.ink < survey.text_end <= survey.cap and not survey.tail:
        row = row_at(survey, survey.text_end, survey.para) if survey.leaf == "paragraph" else Row()
        state = State(survey.leaf, survey.containers, survey.markers, None, survey.header, row=row)
        survey.lone = Boundary(survey.text_end, pos, state, "")


def bare_line(survey: Survey, pos: int, eol: int) -> None:
    """Read a last line of which only the marks of its containers are known."""
    if survey.leaf in ("none", "indented"):
        survey.boundary(survey.text_end, pos, survey.leaf)
    if survey.leaf == "fence":
        survey.pos = eol + 1
        survey.tail = survey.tail or Tail(survey.leaf, pos, survey.containers)
    else:
        unsure_line(survey, pos, eol)


def unsure_line(survey: Survey, pos: int, eol: int, *, known: bool = False) -> None:
    """Read a last line that may or may not go on with its block.

    Args:
        survey: What was read so far.
        pos: Where the line begins.
        eol: Where it ends, for now.
        known: Either way a chunk may begin with it.
    """
    doubtful(survey, pos)
    if known and survey.lone and survey.lone.pos == pos:
        survey.line = survey.lone
    survey.pos = eol + 1
    if not survey.tail:
        survey.tail = Tail(survey.leaf, survey.para if survey.leaf == "paragraph" else pos, survey.containers)
        survey.tail_end = survey.text_end


def blank_line(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Read a line without content: it ends every leaf but a fence, and quotes without a marker."""
    survey.pos = eol + 1
    if reading.matched == len(survey.containers) and survey.leaf == "fence":
        rewrite(survey, reading, pos, eol)
        return
    survey.dangling = survey.dangling or survey.leaf == "fence"
    survey.leaf = "none"
    survey.containers = survey.containers[: reading.matched - survey.hollow]
    survey.hollow = False
    survey.base = min(survey.base, len(survey.containers))
