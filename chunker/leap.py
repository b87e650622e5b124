"""The cut behind the last whole block, found by a few patterns: most chunks end there, and take no scan.

Rule 1: what is matched begins a block for certain and has ended for certain, whatever it turns out to be; what runs
over the window has no block end in it. So the last block end is known, although no line was looked at by itself.
Rule 2: whoever is not certain says None, and a scan decides. Where both can tell they agree: this is a short cut, not
another reading.
Rule 3: of a line that is not over only what can no longer change counts.
"""

import re
from typing import NamedTuple

from chunker.container import is_outside
from chunker.excerpt import opening
from chunker.fence import closing_line, exit_of
from chunker.length import Measure, reach
from chunker.line import INDENT, ITEM
from chunker.pattern import kept
from chunker.state import DEEPEST, QUOTE, Fence, State
from chunker.survey import Survey

LEAST = 100
"""The least limit at which the opening line of a fence in a list item, as `PART` has it, leaves room for code."""

TEXT = r"(?:[^\s`~\#>*_+=|:\-0-9.)]|[*_`]{1,2}[^\W\d_]|[0-9]++\ ?[^\W\d_])"
"""How a line begins that can be nothing but text, however little of it has come, or a link or its definition."""
NUMBER = r"[0-9]{1,9}[.)]\ "
"""A marker that ends an item, but, unless it is of 1, no paragraph; so none that stands no deeper than the item."""
MARK = rf"(?:[-+*]\ |{NUMBER})"
TITLES = r"(?:\#{1,6}\ [^\n|]*\n++)*+"
"""Headings go with the block behind them, since they are not left alone."""
CODE = r"[^`]*+(?:(?:`{1,2}+(?!`)|`{3,}+(?=[\ \t]*+[^\s`]))[^`]*+)*+"
"""Code without a line that may close it."""
INFO = r"[\ -_a-}]{0,40}"
"""An info string for which there is room in any unit."""
AHEAD = rf"(?:```|~~~)[^`\n]*\n|\#{{1,6}}\ [^\W\d_]|[-+*]\ {TEXT}"
"""What ends a paragraph without a blank line."""


def inner_code(columns: int) -> str:
    """Write the pattern of a fence in a list item."""
    indent = r"\ " * columns
    return rf"{indent}```{INFO}\n(?!\s*```)(?:{indent}[^\n`]*\n|\n)*+{indent}```\n"


WHOLE = re.compile(
    rf"""\n*+(?>(?:{TITLES}(?:
        (?:(?:(?:{TEXT}|\|)[^\n]*\n)++|>\ {TEXT}[^\n]*\n)(?:(?:>\ )?{TEXT}[^\n]*\n)*+
          (?:\n++(?=\S)|(?={AHEAD}|1[.)]\ {TEXT}))
        | {MARK}{TEXT}[^\n|]*\n(?:\ ++(?:{MARK})?{TEXT}[^\n|]*\n)*+(?:(?={NUMBER}{TEXT})|
          (?:\n*+(?:\ ++(?:{MARK})?{TEXT}[^\n|]*\n|{inner_code(2)}|{inner_code(3)}))*+
          (?:\n++(?=\S)|(?={AHEAD}|1[.)]\ {TEXT})|(?:(?<=\n\ \ ```\n)|(?<=\n\ \ \ ```\n))(?={NUMBER}{TEXT})))
        | ```{INFO}\n{CODE}(?<=\n)```\n++(?=\S)
        | ~~~{INFO}\n(?!\s*~~~)[^~]*+(?<=\n)~~~\n++(?=\S)
        | (?:-{{3,}}|\*{{3,}})\n++(?=\S)
        )
        | (?:[-+*]|[0-9]{{1,9}}[.)])\ *\n(?=\S)
    )+)""",
    re.VERBOSE,
)
"""Blocks at the top level: paragraphs, quotes and tables as far as the blank line, list items, fences, rules."""

OVER = re.compile(
    rf"""{TITLES}(?:
        [^\n]*+\Z
        | (?!\[)(?:{TEXT}[^\n]*\n)++{TEXT}[^\n]*\Z
        | (?!>\ \[)(?:>\ {TEXT}[^\n]*\n)++>\ {TEXT}[^\n]*\Z
        | \|[^\n]*\n\|[-:|\ ]+\n(?:\|\ *[^-:=|\s][^\n]*\n)*\|\ *[^-:=|\s][^\n]*\Z
        | ```[^`\n]*\n(?!\s*```){CODE}\Z
    )""",
    re.VERBOSE,
)
"""One block at the top level that runs over the window: a line, a paragraph, a quote, a table, a fence."""

PROSE = rf"(?!\[[^\n]*\]:){TEXT}"
"""The same but for a definition, which no line goes on with."""
BULLET = re.compile(rf"({MARK}){PROSE}[^\n|]*\n", re.VERBOSE)
PART = re.compile(
    rf"""\n*+(\ {{1,12}})(?:
        ({MARK})?{PROSE}[^\n|]*+(?:\n|\Z)
        | (```){INFO}\n(?!\s*```)(?:\1(?!\ *[\t\n])[^\n`]*\n|\n)*+\1(?:```\n|[^\n`]*\Z)
    )""",
    re.VERBOSE,
)
"""A line of text in a list item, or a fence; the groups are its indentation, its marker, and a fence's."""
BEHIND = re.compile(rf"\n++(?=\S)|(?={AHEAD}|{NUMBER}{TEXT})", re.VERBOSE)
"""What ends a list item, or a list, at the top level."""


class Cut(NamedTuple):
    """A place between two blocks."""

    pos: int
    """Where the next chunk begins."""
    containers: tuple[int, ...]
    """The list items that are open there."""
    markers: str
    """The characters that tell their lists from others."""
    text: str = ""
    """The front of the chunk's text, without the indentation of the items in which the chunk begins."""
    stop: int = 0
    """What it stands for; behind it the source is sent as it is."""


FRONT = Cut(0, (), "")


def leap(view: str, state: State, limit: int, measure: Measure) -> tuple[str, Cut] | None:
    """Find the last block end of a window that is not the end of the source, and write the text that ends there.

    Returns:
        None also where the chunk would be less than half full.
    """
    if state.mid or limit < LEAST or view[0] == "\n":
        return None
    cut, prefix = front(view, state), ""
    if cut and view[cut.pos] != " ":
        cut = at_top(view, cut)
    if not cut:
        return None
    if state.leaf == "fence":
        prefix = opening(state, limit, measure).prefix
    end = text_end(view, cut.pos)
    if end < reach(view, 0, (limit + 1) // 2 - measure(prefix), measure):
        return None
    text = (prefix + cut.text + view[cut.stop : end]).rstrip()
    return (text, cut) if state.leaf == "none" or (prefix and measure(text) <= limit) else None


def front(view: str, state: State) -> Cut | None:
    """Go to the first block at the top level, or, if the window has none, to the last that begins in it."""
    if state.leaf == "none" and QUOTE not in state.containers:
        return (
            inside(view, FRONT._replace(containers=state.containers, markers=state.markers))
            if view[0] == " "
            else FRONT
        )
    if state.leaf == "fence" and state.fence and not state.containers:
        return behind_code(view, state.fence)
    return None


def behind_code(view: str, fence: Fence) -> Cut | None:
    """Go to the block behind the fence in which the window begins."""
    _, end = closing_line(view, 0, len(view), fence.marker, 0)
    found = BEHIND.match(view, end)
    # White space behind the marker would count, although it is not sent.
    exact = found and view[end - 1] + view[end] == fence.marker[0] + "\n"
    return Cut(found.end(), (), "") if found and exact else None


def at_top(view: str, cut: Cut) -> Cut | None:
    """Go on from a cut at the top level to the last one in the window."""
    found = WHOLE.match(view, cut.pos)
    pos = found.end() if found else cut.pos
    if OVER.match(view, pos):
        item = open_item(view, pos) if found else cut[1:3]
        return Cut(pos, *item, cut.text, cut.stop) if item else None
    bullet = BULLET.match(view, pos)
    last = inside(view, Cut(bullet.end(), (bullet.end(1) - pos,), bullet[1][-2])) if bullet else None
    return last._replace(text=cut.text, stop=cut.stop) if last and view[last.pos] == " " else None


def inside(view: str, begin: Cut) -> Cut | None:
    """Go to the last block that begins in list items, or to the one behind them.

    Args:
        view: The window.
        begin: Where to begin, and what is open there. At the front of the window, the indentation of the open items is
            not written.
    """
    pos, containers, markers, text, _ = begin
    cut, closed, base = None, pos == 0, 0 if pos else len(containers)
    while part := PART.match(view, pos):
        start, stop = part.end(1) - len(part[1]), part.end()
        depth, column = kept(containers, len(part[1]))
        columns = len(part[1]) - column
        if not 0 < depth < DEEPEST or columns >= INDENT or is_outside(containers, base, depth, columns):
            return None
        if closed or start > pos or part[3] or begins(part[2], depth, base, containers):
            cut = Cut(start, containers, markers, text, pos) if start else None
            containers = containers[:depth]
            base = min(base, depth)
        elif part[2] or depth < len(containers):
            return None
        if stop == len(view):
            return cut
        if part[2]:
            containers += (columns + len(part[2]),)
            markers = markers[:depth] + part[2][-2]
        shift = sum(containers[:base])
        text += view[pos:start] + view[start + shift : stop].replace("\n" + " " * shift, "\n") if shift else ""
        pos, closed = stop, part[3] is not None
    behind = BEHIND.match(view, pos)
    if not behind or (behind.end() == pos and view[pos].isdigit() and base == len(containers)):
        return None
    return Cut(behind.end(), containers, markers, text, pos if text else 0)


def begins(mark: str | None, depth: int, base: int, containers: tuple[int, ...]) -> bool:
    """Say whether a list marker begins an item right behind text: a number does only where it ends one."""
    return mark is not None and (not mark[0].isdigit() or base <= depth < len(containers))


def text_end(view: str, pos: int) -> int:
    """Go back over the blank lines before a line."""
    while view[pos - 1] == "\n":
        pos -= 1
    return pos


def open_item(view: str, pos: int) -> tuple[tuple[int, ...], str] | None:
    """Find the list item that is open behind whole blocks: its width, and its list's marker.

    Returns:
        Nothing of either where none is open, and None where a line behind it may have ended it.
    """
    end = text_end(view, pos)
    line = view.rfind("\n", 0, end) + 1
    while view[line] in " \n":
        line = view.rfind("\n", 0, line - 1) + 1
    item = ITEM.match(view, line)
    if not item:
        return (), ""
    width = item.end() + 1 - line
    behind = view.find("\n", line) + 1
    return None if exit_of(width).search(view, behind, end) else ((width,), item[0][-1])


def whole_blocks(survey: Survey) -> None:
    """Read in one go the blocks that stand at the top level and fit."""
    view = survey.view
    found = WHOLE.match(view, survey.pos, survey.cap + 1) if survey.limit >= LEAST else None
    item = open_item(view, found.end()) if found else None
    if not found or not item:
        return
    survey.pos = found.end()
    survey.text_end = text_end(view, survey.pos)
    survey.heading, survey.base = -1, 0
    survey.containers, survey.markers = item


def is_top(survey: Survey) -> bool:
    """Say whether the next line begins a block at the top level."""
    return (
        survey.leaf == "none"
        and survey.limit >= LEAST
        and survey.heading < 0
        and survey.view[survey.pos] != " "
        and not (survey.tail or survey.hollow or survey.loose or survey.dangling)
        and QUOTE not in survey.containers
    )
