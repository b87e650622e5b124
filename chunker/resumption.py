"""The line in which a chunk begins: what was open before it, and is open again.

Rule 1: what a cut left in doubt is asked again now that the line is there.
Rule 2: what was open is written again in front of the text; where there is no room for that, the text goes raw.
Rule 3: text that would mean more at a chunk's start than it meant in its paragraph is escaped.
"""

import re

from chunker.container import heads_table, is_lazy
from chunker.header import outer_depth, row_of
from chunker.line import INDENT, ITEM, UNDERLINE, Reading, begins_block, columns, read
from chunker.state import QUOTE, State
from chunker.survey import INK, Survey

LABEL = re.compile(r"\[[^\]\n]*\]:")
"""The start of a definition; in the middle of a paragraph it is none."""


def resolved(state: State, view: str, *, final: bool) -> State:
    """Close the paragraph or table with which the first line of the window does not go on."""
    if state.mid or state.leaf not in ("paragraph", "table"):
        return state
    ink = INK.search(view)
    pos = view.rfind("\n", 0, ink.start()) + 1 if ink else 0
    eol = view.find("\n", pos)
    eol = eol if eol >= 0 else len(view)
    reading = read(view, pos, eol, state.containers)
    depth = outer_depth(state.row, state.containers, view, pos, eol)
    if depth >= 0:
        return State("table", state.containers[:depth], state.markers)
    if pos or reading.first >= eol or not goes_on(state, view, reading, eol, final=final):
        return state._replace(leaf="none", header="", marks=())
    return continued(state, view, reading, eol)


def continued(state: State, view: str, reading: Reading, eol: int) -> State:
    """Say what is open in a line that goes on with a block, which it may have made a table or a heading."""
    if reading.matched < len(state.containers) or reading.fcol - reading.col >= INDENT:
        return state
    if state.row.cells > 0 and columns(view[reading.first : eol].rstrip(" \t")) == state.row.cells:
        return State("table", state.containers, state.markers)
    if state.leaf == "paragraph" and UNDERLINE.match(view, reading.first):
        return state._replace(leaf="heading")  # its text is gone; this line is one of its own
    return state


def goes_on(state: State, view: str, reading: Reading, eol: int, *, final: bool) -> bool:
    """Say whether a line goes on with the open paragraph or table."""
    inside = reading.matched == len(state.containers)
    deep = reading.fcol - reading.col >= INDENT
    if state.leaf == "table":
        return inside and not deep and not begins_block(view, reading.first, eol, interrupting=False)
    if inside:
        return deep or not begins_block(view, reading.first, eol, interrupting=True)
    if QUOTE not in state.containers[reading.matched :] and heads_table(
        view, state.containers, reading, eol, final=final
    ):
        return False
    return is_lazy(view, state.containers, reading, eol)


def first_line(survey: Survey) -> None:
    """Read the line in which the chunk begins, a paragraph or a line being open, and write what was open before it."""
    state, view, pos = survey.state, survey.view, survey.pos
    eol = survey.end_of_line(pos)
    reading = read(view, pos, eol, state.containers)
    roomless = QUOTE in state.containers and not survey.opening.quotes
    marks = "".join(state.marks)
    first = pos if state.mid or roomless else reading.first
    survey.edit(pos, first, survey.opening.quotes + (" " * INDENT if survey.leaf == "indented" else marks))
    survey.para = survey.row = survey.resumed = first
    survey.body = True
    survey.code = pos
    survey.before = state.row if state.mid else row_of(reading, state.containers)
    if survey.leaf in ("paragraph", "heading") and not marks and not roomless:
        escape(survey, first, eol)
    if survey.leaf == "heading":
        survey.leaf = "paragraph"
        survey.advance(first, eol)
        survey.leaf = "none"
    else:
        survey.advance(first, eol)


def escape(survey: Survey, first: int, eol: int) -> None:
    """Write a backslash before what would begin a block at the chunk's start, but goes on with a paragraph."""
    view = survey.view
    if LABEL.match(view, first):
        survey.edit(first, first, "\\")
    elif first < eol and begins_block(view, first, eol, interrupting=False):
        item = ITEM.match(view, first)
        at = item.end() - 1 if item else first
        survey.edit(at, at, "\\")
