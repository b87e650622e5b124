"""Reading a window of Markdown line by line, for the places where it may be cut.

Rule 1: a line is looked at once; what it needs of those before it stands in the `Survey`.
Rule 2: most lines are plain, and are read by one pattern; the rest go through `line`, `container` and `block`.
"""

import re

from chunker.block import (
    bare_line,
    blank_line,
    closer_of,
    exit_of,
    fence_lines,
    inner_fence_lines,
    inner_line,
    lazy_line,
    table_row,
)
from chunker.container import is_lazy, new_block
from chunker.header import outer_table
from chunker.length import Measure
from chunker.line import DEFINITION, INDENT, MARKER, read, skip
from chunker.resumption import first_line, resolved
from chunker.state import DEEPEST, QUOTE, State
from chunker.survey import INK, Boundary, Survey

TEXT = r"(?:[^\s`~#>*_+=|:\-\[0-9]|\*{1,2}+[^\s*]|`{1,2}+[^`\n]|_{1,2}+[^\s_]|[0-9]{1,9}+[^\s0-9.)])"
"""How a line begins that can be nothing but text."""
END = r"(?:\n|\Z)"
SIMPLE = re.compile(
    rf"(\n+)|({TEXT}[^\n]*+{END})"
    rf"|(\ *+)(?:((?:[-+*]|[0-9]{{1,9}}[.)])\ )(?={TEXT})[^\n|]*+{END}|(`{{3}}[^`\n]*\n)|((?<=\ ){TEXT}[^\n|]*+{END}))"
    rf"|(\|(?:\ ?:?-+:?\ ?\|)+\n)|(\|[^\n]*\n)|(\#{{1,6}}\ [^\n|]*\n)|(>\ {TEXT}[^\n|]*+{END})"
)
"""Whole lines that make up most answers, each kind a group; the third group is the indentation of the next three."""
BLANK, PLAIN, _, BULLET, FENCED, INDENTED, DELIMITED, ROW, TITLE, QUOTED = range(1, 11)
CONTINUING = (PLAIN, INDENTED)
TEXTUAL = frozenset((PLAIN, BULLET, INDENTED, QUOTED))
QUOTES = (QUOTE,)


def scan(view: str, state: State, limit: int, measure: Measure, *, final: bool, markup: bool = True) -> Survey:
    """Read a window until it is over, or the block is that runs over the room."""
    state = resolved(state, view, final=final) if markup else state
    survey = Survey(view, state, limit, measure, final=final, markup=markup)
    if not markup:
        plain_text(survey)
        return survey
    if survey.pos < survey.size and (state.mid or state.leaf in ("paragraph", "heading")):
        first_line(survey)
    while survey.pos < survey.size:
        if survey.tail and not (survey.leaf == "paragraph" and survey.para == survey.tail.start):
            break
        if survey.leaf == "fence":
            read_fence = inner_fence_lines if survey.base else fence_lines
            if QUOTE in survey.containers or not read_fence(survey):
                any_line(survey)
        elif not is_simple(survey) or not simple_lines(survey):
            any_line(survey)
    return survey


def is_simple(survey: Survey) -> bool:
    """Say whether the short cut of `simple_lines` may be taken: nothing is open that it does not know."""
    if survey.tail or survey.hollow or survey.loose or survey.dangling:
        return False
    if survey.leaf == "paragraph" and survey.para == survey.resumed:
        return False
    return QUOTE not in survey.containers or (survey.containers == QUOTES and not survey.base)


def simple_lines(survey: Survey) -> bool:  # noqa: C901, PLR0912, PLR0915  # one loop, for its speed
    """Read as many plain lines as there are; say whether there were any.

    Longer than other functions, and all in local names, because most of a text passes here.
    """
    view, cap, ink, base = survey.view, survey.cap, survey.ink, survey.base
    leaf, containers, text_end, heading = survey.leaf, survey.containers, survey.text_end, survey.heading
    para, row, markers = survey.para, survey.row, survey.markers
    shift = sum(containers[:base])  # the indentation that is taken away
    block = lone = line = None
    over = False
    begin = pos = survey.pos
    match = SIMPLE.match
    while found := match(view, pos):
        kind, stop = found.lastindex or 0, found.end()
        if kind == BLANK:
            leaf, pos = "none", stop
            if containers == QUOTES:
                containers = ()
            continue
        whole = stop <= cap and view[stop - 1] == "\n"
        if not whole and (kind not in TEXTUAL or MARKER.match(view, pos)):
            break
        depth = inner = 0
        first = pos
        if containers and containers != QUOTES:
            first = found.end(3) if BULLET <= kind <= INDENTED else pos
            for width in containers:
                if first - pos - inner < width:
                    break
                inner += width
                depth += 1
        elif BULLET <= kind <= INDENTED:
            first = found.end(3)
        if leaf == "paragraph" and kind in CONTINUING:
            row = first if depth == len(containers) else -1
        elif leaf == "paragraph" and kind == QUOTED and containers == QUOTES:
            row = pos + 2
        elif leaf == "table":
            if kind != ROW or containers:
                break
            if survey.body:
                line = text_end, pos
            survey.body = True
        elif kind == DELIMITED:
            if leaf != "paragraph" or containers or row != para or not is_head(view[row:text_end], found[0]):
                break
            leaf = "table"
            survey.header = view[row : stop - 1]
            survey.body = False
        elif first - pos - inner >= INDENT or depth == DEEPEST:
            break
        elif leaf == "paragraph" and (
            kind == ROW
            or containers == QUOTES
            or (kind == BULLET and (depth == len(containers) or depth < base) and view[first].isdigit())
        ):
            break  # it might go on with the paragraph
        else:
            if kind == FENCED:
                end = 0 if min(base, depth) else fence_end(view, stop, inner, cap)
                if not end:
                    break
                stop = end
            elif kind == ROW and containers:
                break
            if text_end > ink:
                if heading >= 0 and not (heading <= ink and text_end >= survey.half):
                    lone = text_end, pos, containers, markers
                else:
                    block = text_end, pos, containers, markers
            if depth < len(containers):
                containers = containers[:depth]
                if depth < base:
                    base, shift = depth, inner
            leaf, heading = "paragraph", -1
            para = row = first
            if kind == BULLET:
                para = row = found.end(4)
                if markers[depth:] != view[row - 2]:
                    markers = markers[:depth].ljust(depth) + view[row - 2]
                containers += (row - pos - inner,)
            elif kind == TITLE:
                leaf, heading = "none", pos
            elif kind == QUOTED:
                containers += QUOTES
                para = row = pos + 2
            elif kind == FENCED:
                leaf = "none"
        if base and depth >= base:
            survey.edit(pos, pos + shift, "")
            cap = survey.cap
        if not whole:
            over = True
            break
        text_end, pos = stop - 1, stop
        if view.startswith("\n", stop):
            leaf, pos = "none", stop + 1
            if containers == QUOTES:
                containers = ()
    survey.leaf, survey.containers, survey.text_end, survey.heading = leaf, containers, text_end, heading
    survey.para, survey.row, survey.base, survey.pos, survey.markers = para, row, base, pos, markers
    if block:
        survey.block = Boundary(block[0], block[1], State("none", block[2], block[3]), "")
    if lone:
        survey.lone = Boundary(lone[0], lone[1], State("none", lone[2], lone[3]), "")
    if line:
        survey.line = Boundary(*line, State("table", (), markers, None, survey.header), "")
    if over:
        survey.advance(pos, survey.end_of_line(pos))
    return survey.pos > begin


def is_head(header: str, delimiter: str) -> bool:
    """Say of two lines with outer pipes whether they are the head of a table; not, where that is hard to say."""
    return header[0] == header[-1] == "|" and "\\" not in header and header.count("|") == delimiter.count("|")


def fence_end(view: str, start: int, indent: int, cap: int) -> int:
    """Find where a fence of three backticks ends if all of it fits and it is not blank, or else say 0."""
    closer = closer_of("```", indent).search(view, start, cap + 1)
    if not closer or closer.end() > cap or view[closer.end() : closer.end() + 1] != "\n":
        return 0
    if indent and exit_of(indent).search(view, start, closer.start()):
        return 0
    return closer.end() + 1 if view[start : closer.start()].strip() else 0


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
