"""Lines that go on with a block, or end it.

Rule 1: nothing is concluded from what a last line that is not whole might become.
Rule 2: code is cut only before a line that has content and is no closer, so no cut leaves a fence empty.
"""

import re
from functools import lru_cache

from chunker.container import begins, heads_table, new_block, rewrite
from chunker.header import is_head, row_at
from chunker.line import INDENT, UNDERLINE, Reading, is_table
from chunker.state import QUOTE, Fence, Row, State, lead
from chunker.survey import INK, Boundary, Survey, Tail

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


def code_line(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Read a line of an open fence, its closer included."""
    fence = survey.fence or Fence(0, "```", "")
    run = survey.view[reading.first : eol].rstrip(" \t")
    char = fence.marker[0]
    closes = reading.fcol - reading.col < INDENT and not run.strip(char)
    if closes and len(run) >= len(fence.marker):
        rewrite(survey, reading, pos, eol)
        survey.leaf = "none"
        survey.advance(pos, eol, "fence")
        return
    if survey.body and not (closes and survey.is_partial(eol)):
        survey.boundary(survey.text_end, pos, "fence")
    rewrite(survey, reading, pos, eol)
    survey.code = survey.code if survey.body else reading.first
    survey.body = True
    survey.advance(pos, eol)


@lru_cache(maxsize=64)
def closer_of(marker: str, indent: int) -> re.Pattern[str]:
    """Write the pattern of a line that closes a fence whose content stands ``indent`` columns in."""
    return re.compile(rf"^ {{{indent},{indent + 3}}}{marker}{marker[0]}*+[ \t]*$", re.MULTILINE)


@lru_cache(maxsize=64)
def exit_of(indent: int) -> re.Pattern[str]:
    """Write the pattern of a line that is not so far in, and so ends the items around a fence."""
    return re.compile(rf"^(?! {{{indent}}}|[ \t]*$)", re.MULTILINE)


def fence_lines(survey: Survey) -> bool:
    """Read in one go the lines of a fence that stands in no container, or in list items only.

    Returns:
        False where the first line is none of the fence's, or may be none.
    """
    fence = survey.fence or Fence(0, "```", "")
    start, view, indent = survey.pos, survey.view, sum(survey.containers)
    closer = closer_of(fence.marker, indent).search(view, start)
    stop = closer.start() if closer else survey.size
    outside = exit_of(indent).search(view, start, stop) if indent else None
    if outside:
        closer, stop = None, outside.start()
        if stop == start:
            return False
    elif not closer and not survey.final:
        last = view.rfind("\n", start, stop) + 1 or start
        if not view[last:stop].strip(" \t" + fence.marker[0]):
            stop = last
    fence_boundary(survey, start, stop)
    ink = INK.search(view, start, stop)
    if ink:
        survey.code = survey.code if survey.body else ink.start()
        survey.body = True
        survey.text_end = start + len(view[start:stop].rstrip("\n"))
    if closer:
        survey.leaf = "none"
        survey.advance(closer.start(), closer.end(), "fence")
    else:
        survey.advance(start, survey.text_end if outside or survey.final else survey.size)
        survey.pos = stop if outside else survey.size
    return True


def inner_fence_lines(survey: Survey) -> bool:
    """Read the plain lines of a fence in list items whose indentation is taken away.

    Returns:
        False where the first line is none of the fence's, or may be none.
    """
    fence = survey.fence or Fence(0, "```", "")
    view, begin, indent = survey.view, survey.pos, sum(survey.containers)
    columns, shift = " " * indent, sum(survey.containers[: survey.base])
    while survey.pos < survey.size and not survey.tail:
        pos = survey.pos
        eol = survey.end_of_line(pos)
        line = view[pos:eol]
        code = line.lstrip(" ")
        if eol == survey.size or "\t" in line:
            break
        if not code:
            survey.pos = eol + 1
            continue
        if code[0] == fence.marker[0] or not line.startswith(columns):
            break
        if survey.body:
            survey.boundary(survey.text_end, pos, "fence")
        else:
            survey.code, survey.body = eol - len(code), True
        survey.edit(pos, pos + shift, "")
        survey.advance(pos, eol)
    return survey.pos > begin


def fence_boundary(survey: Survey, start: int, stop: int) -> None:
    """Find the last code line before which these lines may be cut."""
    view = survey.view
    cap = survey.cap_before(survey.suffix)
    low = start - 1 if survey.body else start
    line_break = view.rfind("\n", low, min(cap + 1, stop))
    while line_break >= low:
        has_content = survey.body or view[start:line_break].strip()
        if not has_content:
            return
        ink = INK.search(view, line_break, stop)
        if ink:
            survey.boundary(line_break, view.rfind("\n", low, ink.start()) + 1, "fence")
            return
        # Only blank lines stand between here and the closer: go before the last line that has content.
        line_break = view.rfind("\n", low, len(view[:line_break].rstrip()))


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
