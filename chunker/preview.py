"""What of the open rest can be shown already.

Rule 1: a preview is a valid message, closed and within the limit, at every prefix of the text; what is half-written
and would look like something else is held back.
Rule 2: what is settled is never rendered otherwise later, and no later cut falls before it while the text has places
for a cut at all. So in the second half of a chunk it goes only as far as a cut would now.
"""

import re

from chunker.block import HEAD_PART
from chunker.decision import Rules, decide, flat
from chunker.inline import spans
from chunker.line import FENCE, MARKER
from chunker.scanner import scan
from chunker.state import START, State
from chunker.survey import Survey

WHITE = re.compile(r"\s")


def preview(state: State, rest: str, rules: Rules) -> str:
    """Write the open rest as a message, or nothing if there is nothing to show yet."""
    if rules.markup:
        shown, step = len(rest), 1
        while (end := _certain(state, flat(rest[:shown]), rules)) < shown:
            # Steps that double, so that a long run of half-written things is not held back one by one.
            shown, step = min(end, max(shown - step, 0)), 2 * step
        rest = rest[:shown]
    text = decide(state, rest, final=True, rules=rules).text if rest.strip() else ""
    # Where a limit leaves no room for a closing line, there is nothing that can be shown.
    return "" if rules.markup and _read(START, flat(text), rules).leaf == "fence" else text


def growth(state: State, rest: str, end: int, rules: Rules) -> str:
    """Write the first ``end`` characters of the open rest, without the line that would close a fence.

    Nothing of a chunk that begins inside an emphasis or a code span: whether that is opened again depends on its end.
    """
    if not rest[:end].strip() or (rules.markup and state.marks):
        return ""
    text = decide(state, rest[:end], final=True, rules=rules).text
    if not rules.markup or _read(state, flat(rest[:end]), rules).leaf != "fence":
        return text
    return text[: text.rfind("\n")] if _read(START, flat(text), rules).leaf != "fence" else text


def settled(state: State, rest: str, rules: Rules) -> int:
    """Say how much of the open rest is settled."""
    if not rest.strip():
        return 0
    view = flat(rest)
    if rest.endswith("\r"):
        view = view[:-1]  # half of a line end, perhaps
    point = _point(state, view, rules)
    # A little less than half, since a cut is late where the chunk's end is, not where the next begins.
    half = scan(view, state, rules.limit, rules.measure, final=False, markup=rules.markup).half - 1
    if point <= half:
        return point
    cut = decide(state, rest.rstrip(), final=False, rules=rules).used
    if half < cut <= point:
        return cut
    white = WHITE.search(view, half)
    return _point(state, view[: white.start() if white else half], rules)


def _read(state: State, view: str, rules: Rules) -> Survey:
    """Read the whole rest, however long it is."""
    return scan(view, state, len(view) * 2 + rules.limit, len, final=False, markup=rules.markup)


def _certain(state: State, view: str, rules: Rules) -> int:
    """Find the end of what can be shown: before a last line, span or table head that is half-written."""
    line = view.rfind("\n") + 1
    ink = len(view) - len(view[line:].lstrip(" \t>"))
    partial = ink < len(view)
    survey = _read(state, view, rules)
    opens = FENCE.match(view, ink) and survey.leaf == "fence"
    if partial and not (state.mid and line == 0) and (opens or MARKER.match(view, ink)):
        return line
    if survey.leaf == "fence" and not survey.body:
        return survey.opener
    if survey.leaf != "paragraph":
        return len(view)
    end = _before_open(survey, view)
    return min(end, _before_head(survey, view))


def _before_open(survey: Survey, view: str) -> int:
    """Find the first thing in the last paragraph that is half-written."""
    lead = "".join(survey.state.marks) if survey.para == survey.resumed else ""
    for span in spans(lead + view[survey.para :], open_ended=True):
        if span.end > len(lead) + len(view) - survey.para:
            start = survey.para + max(span.start - len(lead), 0)
            if span.start < len(lead):
                continue  # a span that the chunk reopens
            line = view.rfind("\n", 0, start) + 1
            return line if MARKER.fullmatch(view[line:start]) else start
    return len(view)


def _before_head(survey: Survey, view: str) -> int:
    """Find the paragraph's last line if it may become the header of a table."""
    row = survey.row
    if row < 0:
        return len(view)
    line = view.rfind("\n", 0, row) + 1
    if HEAD_PART.fullmatch(view[row:].rstrip()) and row > survey.para:
        line = view.rfind("\n", 0, line - 1) + 1
        row = max(line, survey.para)
    end = view.find("\n", row)
    return line if "|" in view[row : end if end >= 0 else len(view)] else len(view)


def _point(state: State, view: str, rules: Rules) -> int:
    """Find the last place that settles what is before it, were there no cuts."""
    line = view.rfind("\n") + 1
    if not view.strip():
        return 0
    survey = _read(state, view, rules)
    if not rules.markup:
        return max(line, _last_white(view))
    if survey.leaf == "fence" and not survey.body:
        return line if survey.opener < line else survey.opener
    if survey.leaf != "paragraph":
        return line
    point = min(_last_white(view), _before_open(survey, view), _before_head(survey, view))
    start = view.rfind("\n", 0, point) + 1
    return start if MARKER.fullmatch(view[start:point].lstrip(" \t>")) else point


def _last_white(view: str) -> int:
    """Find the end of the last white space."""
    at = len(view)
    while at > 0 and not view[at - 1].isspace():
        at -= 1
    return at
