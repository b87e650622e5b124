"""Reading a window of Markdown line by line, for the places where it may be cut.

Rule 1: a line is looked at once; what it needs of those before it stands in the `Survey`.
Rule 2: most lines are plain, and are read by one pattern; the rest go through `line`, `container` and `block`.
"""

from chunker.block import (
    bare_line,
    blank_line,
    inner_line,
    lazy_line,
    table_row,
)
from chunker.container import is_lazy, new_block
from chunker.fence import fence_lines, inner_fence_lines
from chunker.header import outer_table
from chunker.leap import is_top, whole_blocks
from chunker.length import Measure
from chunker.line import DEFINITION, read, skip
from chunker.pattern import simple_line
from chunker.resumption import first_line, resolved
from chunker.state import QUOTE, State
from chunker.survey import INK, Survey


def scan(view: str, state: State, limit: int, measure: Measure, *, final: bool, markup: bool = True) -> Survey:
    """Read a window until it is over, or the block is that runs over the room."""
    state = resolved(state, view, final=final) if markup else state
    survey = Survey(view, state, limit, measure, final=final, markup=markup)
    if not markup:
        plain_text(survey)
        return survey
    if survey.pos < survey.size and (state.mid or state.leaf in ("paragraph", "heading")):
        first_line(survey)
    while survey.pos < survey.size and not is_over(survey) and not is_top(survey):
        read_on(survey)
    if not is_over(survey):
        whole_blocks(survey)
    while survey.pos < survey.size and not is_over(survey):
        read_on(survey)
    return survey


def is_over(survey: Survey) -> bool:
    """Say whether all was read that may be of use: the block is over that runs over the room."""
    tail = survey.tail
    return tail is not None and not (survey.leaf == "paragraph" and survey.para == tail.start)


def read_on(survey: Survey) -> None:
    """Read a line, or some of one kind."""
    if survey.leaf == "fence":
        read_fence = inner_fence_lines if survey.base else fence_lines
        if QUOTE in survey.containers or not read_fence(survey):
            any_line(survey)
    elif not simple_line(survey):
        any_line(survey)


def plain_text(survey: Survey) -> None:
    """Read lines as text without markup."""
    if survey.state.mid or survey.leaf == "paragraph":
        survey.leaf = "paragraph"
    while survey.pos < survey.size and not (survey.tail and survey.leaf != "paragraph"):
        if INK.match(survey.view, skip(survey.view, survey.pos, 0)[0]):
            plain_line(survey)
        else:
            survey.pos = survey.end_of_line(survey.pos) + 1
            survey.leaf = "none"


def plain_line(survey: Survey) -> None:
    """Read a line that can be nothing but text, outside all containers."""
    pos = survey.pos
    eol = survey.end_of_line(pos)
    if survey.leaf == "table":
        table_row(survey, pos, pos, eol)
        return
    if survey.leaf != "paragraph":
        survey.boundary(survey.text_end, pos)
        survey.leaf = "paragraph"
        survey.heading = -1
        survey.para = pos
    survey.row = pos
    survey.advance(pos, eol)
    if survey.view[pos] == "[" and survey.para == pos and not survey.tail and DEFINITION.match(survey.view, pos):
        survey.leaf = "none"


def any_line(survey: Survey) -> None:
    """Read a line of any kind."""
    pos = survey.pos
    eol = survey.end_of_line(pos)
    reading = read(survey.view, pos, eol, survey.containers)
    if reading.first >= eol and survey.is_partial(eol):
        bare_line(survey, pos, eol)
        return
    if reading.first >= eol:
        blank_line(survey, reading, pos, eol)
        return
    survey.hollow = False
    if survey.row == survey.resumed and survey.leaf == "paragraph" and outer_table(survey, pos, eol):
        return
    if reading.matched == len(survey.containers):
        inner_line(survey, reading, pos, eol)
    elif survey.leaf == "paragraph" and (
        survey.is_unsure(reading.first, eol) or is_lazy(survey.view, survey.containers, reading, eol)
    ):
        lazy_line(survey, reading, pos, eol)
    else:
        new_block(survey, reading, pos, eol)
