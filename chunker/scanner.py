"""Reading a window of Markdown line by line, for the places where it may be cut.

Rule 1: a line is looked at once; what it needs of those before it stands in the `Survey`.
Rule 2: most lines are plain, and are read by one pattern; the rest go through `line`, `container` and `block`.
"""

import re

from chunker.block import bare_line, blank_line, fence_lines, inner_line, lazy_line, table_row
from chunker.container import is_lazy, new_block
from chunker.length import Measure
from chunker.line import DEFINITION, INDENT, read, skip
from chunker.state import QUOTE, Leaf, State
from chunker.survey import INK, Boundary, Survey

TEXT = r"(?:[^\s`~#>*_+=|:\-\[0-9]|\*{1,2}+[^\s*]|`{1,2}+[^`\n]|_{1,2}+[^\s_]|[0-9]{1,9}+[^\s0-9.)])"
"""How a line begins that can be nothing but text."""
SIMPLE = re.compile(
    rf"(\n)|({TEXT}[^\n]*\n)|((?:[-+*]|[0-9]{{1,9}}[.)])\ )(?={TEXT})[^\n|]*\n|(\|[^\n]*\n)"
    rf"|(\#{{1,6}}\ [^\n|]*\n)|(>\ {TEXT}[^\n|]*\n)"
)
"""Whole lines that make up most answers: blank, text, list item, table row, heading, quoted text."""
QUOTES = (QUOTE,)
BLANK, PLAIN, BULLET, ROW, TITLE, QUOTED = range(1, 7)


def scan(view: str, state: State, limit: int, measure: Measure, *, final: bool, markup: bool = True) -> Survey:
    """Read a window until it is over, or the block is that runs over the room."""
    survey = Survey(view, state, limit, measure, final=final, markup=markup)
    if not markup:
        plain_text(survey)
        return survey
    if survey.pos < survey.size and (state.leaf is not Leaf.NONE or state.containers):
        first_line(survey)
    while survey.pos < survey.size:
        if survey.tail and not (survey.leaf is Leaf.PARAGRAPH and survey.para == survey.tail.start):
            break
        if survey.leaf is Leaf.FENCE:
            if (survey.containers and (survey.base or min(survey.containers) == QUOTE)) or not fence_lines(survey):
                any_line(survey)
        elif not is_simple(survey) or not simple_lines(survey):
            any_line(survey)
    return survey


def is_simple(survey: Survey) -> bool:
    """Say whether the short cut of `simple_lines` may be taken: nothing is open that it does not know."""
    containers = survey.containers
    if survey.base or survey.tail or survey.hollow or survey.loose or survey.dangling or survey.para == survey.resumed:
        return False
    return len(containers) <= 1


def simple_lines(survey: Survey) -> bool:  # noqa: C901, PLR0912  # one loop, for the speed that the docstring speaks of
    """Read as many plain lines as there are; say whether there were any.

    Longer than other functions, and all in local names, because most of a text passes here.
    """
    view, cap, ink = survey.view, survey.cap, survey.ink
    leaf, containers, text_end, heading = survey.leaf, survey.containers, survey.text_end, survey.heading
    begin = pos = survey.pos
    match = SIMPLE.match
    while found := match(view, pos):
        kind, stop = found.lastindex, found.end()
        if kind == BLANK:
            leaf, pos = Leaf.NONE, stop
            if containers == QUOTES:
                containers = ()
            continue
        if stop > cap:
            break
        if kind == PLAIN and leaf is Leaf.PARAGRAPH:
            survey.row = -1 if containers else pos
        elif kind == QUOTED and leaf is Leaf.PARAGRAPH and containers == QUOTES:
            survey.row = pos + 2
        elif kind == ROW and (leaf is not Leaf.NONE or containers):
            if leaf is not Leaf.TABLE or containers:
                break
            if survey.body:
                survey.line = Boundary(text_end, pos, State(leaf, containers, None, survey.header), "")
            survey.body = True
        elif leaf is Leaf.TABLE or (
            kind == BULLET and leaf is Leaf.PARAGRAPH and (not containers or containers == QUOTES)
        ):
            break  # it might be a row, or go on with the paragraph
        else:
            if text_end > ink:
                mark = Boundary(text_end, pos, State(Leaf.NONE, containers), "")
                if heading >= 0 and not (heading <= ink and text_end >= survey.half):
                    survey.lone = mark
                else:
                    survey.block = mark
            leaf, heading, containers = Leaf.PARAGRAPH, -1, ()
            survey.para = survey.row = pos
            if kind == TITLE:
                leaf, heading = Leaf.NONE, pos
            elif kind == BULLET:
                width = found.end(3) - pos
                containers = (width,)
                survey.markers[0] = view[pos + width - 2]
                survey.para = survey.row = pos + width
            elif kind == QUOTED:
                containers = QUOTES
                survey.para = survey.row = pos + 2
        text_end, pos = stop - 1, stop
    survey.leaf, survey.containers, survey.text_end, survey.heading, survey.pos = (
        leaf,
        containers,
        text_end,
        heading,
        pos,
    )
    return pos > begin


def plain_text(survey: Survey) -> None:
    """Read lines as text without markup."""
    if survey.state.mid or survey.leaf is Leaf.PARAGRAPH:
        survey.leaf = Leaf.PARAGRAPH
    while survey.pos < survey.size and not (survey.tail and survey.leaf is not Leaf.PARAGRAPH):
        if INK.match(survey.view, skip(survey.view, survey.pos, 0)[0]):
            plain_line(survey)
        else:
            survey.pos = survey.end_of_line(survey.pos) + 1
            survey.leaf = Leaf.NONE


def plain_line(survey: Survey) -> None:
    """Read a line that can be nothing but text, outside all containers."""
    pos = survey.pos
    eol = survey.end_of_line(pos)
    if survey.leaf is Leaf.TABLE:
        table_row(survey, pos, pos, eol)
        return
    if survey.leaf is not Leaf.PARAGRAPH:
        survey.boundary(survey.text_end, pos)
        survey.leaf = Leaf.PARAGRAPH
        survey.heading = -1
        survey.para = pos
    survey.row = pos
    survey.advance(pos, eol)
    if survey.view[pos] == "[" and survey.para == pos and not survey.tail and DEFINITION.match(survey.view, pos):
        survey.leaf = Leaf.NONE


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
    if reading.matched == len(survey.containers):
        inner_line(survey, reading, pos, eol)
    elif survey.leaf is Leaf.PARAGRAPH and is_lazy(survey, reading, eol):
        lazy_line(survey, reading, pos, eol)
    else:
        new_block(survey, reading, pos, eol)


def first_line(survey: Survey) -> None:
    """Read the line in which the chunk begins, and write what was open before it."""
    state, pos = survey.state, survey.pos
    if not state.mid and state.leaf not in (Leaf.PARAGRAPH, Leaf.HEADING):
        any_line(survey)
        return
    eol = survey.end_of_line(pos)
    marks = "".join(state.marks)
    roomless = QUOTE in state.containers and not survey.opening.quotes
    if state.mid or roomless:
        survey.edit(pos, pos, survey.opening.quotes + (" " * INDENT if survey.leaf is Leaf.INDENTED else marks))
        first = pos
    else:
        first = read(survey.view, pos, eol, state.containers).first
        survey.edit(pos, first, survey.opening.quotes + marks)
    survey.para = survey.row = survey.resumed = first
    survey.body = True
    survey.code = pos
    if survey.leaf is Leaf.HEADING:
        survey.leaf = Leaf.PARAGRAPH
        survey.advance(first, eol)
        survey.leaf = Leaf.NONE
    else:
        survey.advance(first, eol)
