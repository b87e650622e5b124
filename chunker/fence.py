"""The lines of a fence, one by one or all that are plain at once.

Rule 1: code is cut only before a line that has content and is no closer, so no cut leaves a fence empty.
Rule 2: a last line that may yet become the closer is taken for neither.
"""

import re
from collections import deque
from functools import lru_cache

from chunker.container import rewrite
from chunker.line import INDENT, Reading
from chunker.state import Fence
from chunker.survey import INK, Survey

GAP = re.compile(r"\n(?:[ \t]*+\n)++(?=[ \t]*+\S)")
"""Blank lines of code."""


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


def closing_line(view: str, start: int, stop: int, marker: str, indent: int) -> tuple[int, int]:
    """Find the line that closes a fence whose content stands ``indent`` columns in: its start, and its end.

    Returns:
        Twice the length of the view where there is none before ``stop``.
    """
    at = view.find(marker, start, stop)
    while at >= 0:
        line = view.rfind("\n", start, at) + 1 or start
        eol = view.find("\n", at, stop)
        eol = stop if eol < 0 else eol
        if indent <= at - line < indent + INDENT and view.startswith(" " * (at - line), line):
            rest = view[at:eol].rstrip(" \t")
            if not rest.strip(marker[0]):
                return line, eol
        at = view.find(marker, eol, stop)
    return len(view), len(view)


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
    stop, end = closing_line(view, start, survey.size, fence.marker, indent)
    closer = stop < survey.size
    outside = exit_of(indent).search(view, start, stop) if indent else None
    if outside:
        closer, stop = False, outside.start()
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
        survey.advance(stop, end, "fence")
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
            gap_boundary(survey, start, ink.end())
            survey.boundary(line_break, view.rfind("\n", low, ink.start()) + 1, "fence")
            return
        # Only blank lines stand between here and the closer: go before the last line that has content.
        line_break = view.rfind("\n", low, len(view[:line_break].rstrip()))


def gap_boundary(survey: Survey, start: int, stop: int) -> None:
    """Find the last blank lines before ``stop`` at which these lines may be cut, if the chunk is then half full."""
    gaps = deque(GAP.finditer(survey.view, max(start, survey.half), stop), maxlen=1)
    if gaps and (survey.body or survey.view[start : gaps[0].start()].strip()):
        survey.boundary(gaps[0].start(), gaps[0].end(), "fence")
