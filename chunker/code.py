"""The place for a cut inside a line of code, where no other is left.

Rule 1: both parts of the line are code: neither is blank, and neither closes the fence.
Rule 2: the columns that make a line code are not cut.
"""

from chunker.cluster import boundary
from chunker.line import content, read
from chunker.state import Fence, Leaf, State
from chunker.survey import INK, Boundary, Survey


def code_start(survey: Survey, leaf: Leaf) -> int:
    """Find where the code begins that runs over the room, behind the columns that make it code."""
    if survey.leaf != "indented" or not survey.tail:
        return survey.code
    ink = INK.search(survey.view, prefix_end(survey, survey.tail.start, leaf))
    return ink.start() if ink else survey.size


def code_place(survey: Survey, leaf: Leaf) -> Boundary:
    """Cut inside a line of code, which is in a fence or indented."""
    view = survey.view
    suffix = survey.suffix if leaf == "fence" and survey.body else ""
    low = survey.ink
    if survey.leaf == "indented" and survey.tail:
        low = max(low, survey.tail.start)
    elif survey.body:
        low = max(low, survey.code)
    cap = survey.cap_inside(suffix)
    if cap <= low:
        suffix, cap = "", survey.cap_inside("")
    at = boundary(view, cap, low) if cap > low else low + 1
    line = view.rfind("\n", low, at + 1)
    while line > low + 1 and prefix_end(survey, line + 1, leaf) >= at:
        # Before its content, a line may yet turn out to close the fence.
        at = min(len(view[:line].rstrip()) - 1, survey.cap_inside(suffix, line + 1))
        at = boundary(view, at, low) if at > low else low + 1
        line = view.rfind("\n", low, at + 1)
    white = " \t" + (survey.fence.marker[0] if leaf == "fence" and survey.fence else "")
    if not view[at : survey.end_of_line(at)].strip(white):
        # What is left of the line would be no code, or close the fence.
        end = len(view[:at].rstrip(white))
        at = boundary(view, max(end - 1, low + 1), low) if end > low else at
    at = min(at, survey.size)
    containers = survey.fence_containers if leaf == "fence" else survey.containers
    state = State(leaf, containers, survey.markers, fence_at(survey, at), mid=view[at - 1] != "\n")
    return Boundary(at, at, state, suffix)


def fence_at(survey: Survey, at: int) -> Fence | None:
    """Say which fence is open at a cut; behind one in its opening line, the rest of the info string is code."""
    fence = survey.fence
    return fence._replace(info="") if fence and not survey.body and at < survey.end_of_line(survey.opener) else fence


def prefix_end(survey: Survey, line: int, leaf: Leaf) -> int:
    """Find where the content of a code line begins; where it may be a closer, its end."""
    view = survey.view
    eol = survey.end_of_line(line)
    start = content(view, read(view, line, eol, survey.containers))[0]
    marker = survey.fence.marker[0] if leaf == "fence" and survey.fence else " "
    return start if view[start:eol].strip(" \t" + marker) else eol
