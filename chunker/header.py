"""The header of a table that a cut tears, or parts from its delimiter row.

Rule 1: what a line was in the source counts, not what is left of it in a chunk; so a cut keeps the number of its cells.
Rule 2: markdown-it looks for tables first, from the outside in: what begins like an item or a quote is a header too.
Rule 3: a torn table is written as paragraphs, and nothing behind it joins them.
"""

from chunker.container import rewrite
from chunker.line import INDENT, Reading, cells, columns, is_table, read
from chunker.state import QUOTE, Row, lead
from chunker.survey import Survey

NO_ROW = Row(-1)


def row_of(reading: Reading, containers: tuple[int, ...]) -> Row:
    """Say what a line that goes on with a paragraph has of a header before its text."""
    if reading.fcol - reading.col >= INDENT:
        return NO_ROW
    left = containers[reading.matched :]
    if left:
        return NO_ROW if QUOTE in left else Row(-1, 0, reading.matched)
    return Row()


def row_at(survey: Survey, end: int, para: int, *, mid: bool = False) -> Row:
    """Say what a cut has to keep of the line that it falls into or behind.

    Args:
        survey: What was read so far.
        end: Where the text before the cut ends.
        para: Where its paragraph begins.
        mid: The cut falls inside the line.
    """
    view, state = survey.view, survey.state
    start = view.rfind("\n", 0, end) + 1
    if start > para:
        reading = read(view, start, survey.end_of_line(start), survey.containers)
        start, before = reading.first, row_of(reading, survey.containers)
    elif para == survey.resumed:
        start, before = para, survey.before
    else:
        start, before = para, Row(0, int(view.startswith("|", para)), survey.began)
    if before == NO_ROW or (before.cells <= 0 and view.find("|", start, end) < 0):
        return NO_ROW if before.cells < 0 else Row()
    text = ("x" if start == survey.resumed and state.mid else "") + view[start:end]
    count = cells(f"{text}x") - 1 if mid else cells(text)
    return Row(before.cells if before.cells < 0 else before.cells + count, before.outer + count, before.depth)


def is_head(survey: Survey, header: str, delimiter: str) -> bool:
    """Say whether two lines are the head of a table in the source, of which the chunk may have only a part."""
    if survey.row != survey.resumed:
        return is_table(header, delimiter)
    before = survey.before.cells
    rest = cells(("x" if survey.state.mid else "") + header)
    return before >= 0 and (before > 0 or "|" in header) and columns(delimiter) == before + rest


def outer_depth(row: Row, containers: tuple[int, ...], view: str, pos: int, eol: int) -> int:
    """Say how many containers hold the table whose header began with a marker, or -1 if the line makes none.

    Args:
        row: The line before it.
        containers: What that stands in.
        view: The window.
        pos: Where the line begins that may be the delimiter row.
        eol: Where it ends.
    """
    if row.cells < 0 and read(view, pos, eol, containers).matched < len(containers):
        return -1  # a lazy line is a header only if its delimiter row is not lazy, too
    for depth in range(row.depth, len(containers)):
        reading = read(view, pos, eol, containers[:depth])
        if reading.matched == depth and reading.fcol - reading.col < INDENT:
            count = columns(view[reading.first : eol].rstrip(" \t"))
            if count and count == row.outer:
                return depth
    return -1


def outer_table(survey: Survey, pos: int, eol: int) -> bool:
    """Read the delimiter row of a table whose header began with a marker, and was cut; say whether it is one."""
    view, row = survey.view, survey.before
    if row.depth >= len(survey.containers) or survey.is_partial(eol):
        return False
    rest = cells(("x" if survey.state.mid else "") + view[survey.row : survey.text_end])
    depth = outer_depth(row._replace(outer=row.outer + rest), survey.containers, view, pos, eol)
    if depth < 0:
        return False
    survey.containers = survey.containers[:depth]
    survey.base = min(survey.base, depth)
    survey.leaf, survey.header, survey.loose, survey.body = "table", "", True, True
    survey.boundary(survey.text_end, pos, "table")
    survey.edit(pos, pos, lead(survey.containers, survey.base).rstrip(" ") + "\n")
    reading = read(view, pos, eol, survey.containers)
    rewrite(survey, reading, pos, eol)
    survey.advance(reading.first, eol)
    return True
