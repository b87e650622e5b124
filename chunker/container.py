"""Lines that open containers or leave them.

Rule 1: what markdown-it does, this does; it judges the tests.
Rule 2: a chunk that begins inside list items is written without their indentation, alike in all their lines. What only
that indentation told apart, an added blank line or closing fence keeps apart.
"""

import re

from chunker.length import WIDEST
from chunker.line import (
    DEFINITION,
    FENCE,
    HEADING,
    INDENT,
    ITEM,
    RULE,
    UNDERLINE,
    Reading,
    begins_block,
    content,
    expanded,
    is_table,
    is_weak,
    item_width,
    read,
    skip,
)
from chunker.state import DEEPEST, QUOTE, Fence, lead
from chunker.survey import Survey, Tail

PREFIX = re.compile(r"(?:[ \t]{0,4}(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*+[ \t]*+")


def new_block(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Begin a block, and end what its line ends."""
    full = survey.body and not survey.tail and (survey.dangling or survey.leaf == "fence")
    if full and survey.text_end > survey.cap_inside(survey.suffix, survey.text_end):
        survey.tail = Tail("fence", survey.code, survey.containers)
        return
    survey.boundary(survey.text_end, pos)
    if is_swallowed(survey, reading) and survey.block and survey.block.pos == pos:
        survey.tail = Tail("indented", pos, survey.containers)
        return
    sibling = is_sibling(survey, reading)
    orphan = sibling and reading.matched < survey.base
    if survey.loose and survey.text_end == pos - 1:
        # What was a heading or a row is a paragraph here, and would take the line in.
        survey.edit(pos, pos, lead(survey.containers[: reading.matched], survey.base).rstrip(" ") + "\n")
    survey.loose = False
    outside = is_outside(survey.containers, survey.base, reading.matched, reading.fcol - reading.col)
    if reading.matched < len(survey.containers):
        leave(survey, reading, pos, eol)
    survey.leaf = "none"
    if outside:
        survey.edit(pos, reading.first, lead(survey.containers, survey.base))
    else:
        rewrite(survey, reading, pos, eol)
    if orphan and heads_table(survey.view, survey.containers, reading, eol, final=survey.final):
        survey.veiled = eol + 1
    survey.began = len(survey.containers) + sibling
    open_all(survey, reading, pos, eol, sibling=sibling)


def open_all(survey: Survey, reading: Reading, pos: int, eol: int, *, sibling: bool) -> None:
    """Open the containers and the leaf that begin in a line.

    Args:
        survey: What was read so far.
        reading: The line.
        pos: Where it begins.
        eol: Where it ends.
        sibling: It ended a list item, so that its marker goes on with a list.
    """
    view = survey.view
    while reading.first < eol:
        char = view[reading.first]
        if reading.fcol - reading.col >= INDENT:
            survey.leaf = "indented"
            break
        if (
            not sibling
            and char != "|"
            and view.find("|", reading.first, eol) >= 0
            and heads_table(view, survey.containers, reading, eol, final=survey.final)
        ):
            survey.leaf = "paragraph"
            survey.para = survey.row = reading.first
            break
        if char in "-*_" and RULE.match(view, reading.first):
            break
        if char == ">" and len(survey.containers) < DEEPEST:
            sibling = False
            survey.containers += (QUOTE,)
            col = reading.fcol + 1
            first, fcol = skip(view, reading.first + 1, col)
            reading = Reading(0, col + (fcol > col), reading.first + 1, col, first, fcol)
        elif ITEM.match(view, reading.first) and len(survey.containers) < DEEPEST:
            width, after = item_width(view, reading, eol)
            survey.mark(len(survey.containers), view[after.origin - 1])
            reading = after
            sibling = False
            survey.containers += (width,)
            survey.hollow = reading.first >= eol
        else:
            open_leaf(survey, reading, pos, eol)
            return
    if reading.first < eol:
        survey.heading = -1
    survey.advance(pos, eol)


def heads_table(view: str, containers: tuple[int, ...], reading: Reading, eol: int, *, final: bool) -> bool:
    """Say whether the next line makes a table's header of this one, whatever else it looks like.

    markdown-it looks for tables first, so the marker of a list item becomes part of the first cell.
    """
    start = eol + 1
    if start >= len(view):
        return False
    stop = view.find("\n", start)
    if stop < 0:
        stop = len(view)
        if not final:
            return False
    after = read(view, start, stop, containers)
    if after.matched < len(containers) or after.fcol - after.col >= INDENT:
        return False
    return is_table(view[reading.first : eol].strip(), view[after.first : stop].rstrip(" \t"))


def open_leaf(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Open a fence, a heading or a paragraph."""
    first = reading.first
    survey.heading = -1
    fence = FENCE.match(survey.view, first)
    if fence:
        open_fence(survey, fence, reading, eol)
    elif HEADING.match(survey.view, first):
        survey.leaf = "heading"
        survey.advance(first, eol)
        survey.leaf = "none"
        survey.heading = pos
    else:
        survey.leaf = "paragraph"
        survey.para = survey.row = first
        survey.advance(first, eol)
        if survey.view[first] == "[" and not survey.tail and DEFINITION.match(survey.view, first):
            survey.leaf = "none"


def open_fence(survey: Survey, found: re.Match[str], reading: Reading, eol: int) -> None:
    """Open a fence. Where its line leaves no room for content, the info string becomes content."""
    marker = found[1] or found[3]
    info = (found[2] or found[4] or "").rstrip(" \t")
    survey.leaf = "fence"
    survey.body = False
    survey.opener = survey.view.rfind("\n", 0, found.start()) + 1
    indent = reading.fcol - reading.col
    survey.set_fence(Fence(indent, marker, info))
    line = survey.measure(survey.view[survey.opener : found.end()])
    content = max(WIDEST, min(16, survey.limit // 4))
    room = 1 + len(lead(survey.containers, survey.base)) + content + len(survey.suffix)
    if info and survey.suffix and line + room > survey.limit:
        survey.set_fence(Fence(indent, marker, ""))
        at = found.start() + len(marker)
        survey.edit(at, at, "\n" + lead(survey.containers, survey.base))
        survey.body = True
        survey.code = at
        survey.advance(at, eol)
    else:
        survey.advance(min(eol + 1, survey.size), eol)


def leave(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Leave the containers that do not go on, and end what only their indentation ended."""
    kept = survey.containers[: reading.matched]
    if is_bare(survey, reading.matched):
        quotes = lead(kept, survey.base)
        if survey.leaf == "fence" and survey.suffix:
            survey.edit(pos, pos, f"{survey.suffix[1:]}\n")
        elif survey.leaf == "table" or (survey.leaf == "paragraph" and would_join(survey, reading, eol)):
            survey.edit(pos, pos, quotes.rstrip(" ") + "\n")
    elif (
        reading.matched < survey.base and survey.view[reading.first] == ">" and QUOTE in survey.containers[len(kept) :]
    ):
        # The item is gone that told this quote from the one it held.
        survey.edit(pos, pos, lead(kept, survey.base).rstrip(" ") + "\n")
    survey.hollow = False
    survey.containers = kept
    survey.base = min(survey.base, len(kept))


def is_bare(survey: Survey, matched: int) -> bool:
    """Say whether the open leaf is written outside the items that are left, since the chunk began inside them."""
    return matched < survey.base == len(survey.containers) and QUOTE not in survey.containers[matched:]


def is_outside(containers: tuple[int, ...], base: int, matched: int, columns: int) -> bool:
    """Say whether a line leaves an item, but would go on with it now that those around it are gone.

    Args:
        containers: What is open before the line.
        base: So many of them were open before the chunk began.
        matched: So many of them go on in the line.
        columns: So far in it stands behind these.
    """
    if not matched < base < len(containers) or max(containers[matched:base]) == QUOTE:
        return False
    return 0 < containers[base] <= columns < INDENT


def is_swallowed(survey: Survey, reading: Reading) -> bool:
    """Say whether what a line begins would be read as part of what the chunk has opened, unless it begins a chunk."""
    matched, base, columns = reading.matched, survey.base, reading.fcol - reading.col
    deep = (
        columns >= INDENT and matched < base < len(survey.containers) and QUOTE not in survey.containers[matched:base]
    )
    return deep or is_outside(survey.containers, base, matched, columns)


def is_sibling(survey: Survey, reading: Reading) -> bool:
    """Say whether a line goes on with the list whose item it ends."""
    depth = reading.matched
    if depth == len(survey.containers) or survey.containers[depth] == QUOTE:
        return False
    item = ITEM.match(survey.view, reading.first)
    return item is not None and survey.markers[depth] == item[0][-1]


def would_join(survey: Survey, reading: Reading, eol: int) -> bool:
    """Say whether a line would be read as part of a paragraph that stands at its own level."""
    first = reading.first
    if UNDERLINE.match(survey.view, first) or reading.fcol - reading.col >= INDENT:
        return True
    item = ITEM.match(survey.view, first)
    return item is not None and is_weak(survey.view, first, item.end(), eol)


def is_lazy(view: str, containers: tuple[int, ...], reading: Reading, eol: int) -> bool:
    """Say whether a line without all its containers goes on with the open paragraph."""
    left = containers[reading.matched :]
    # Behind two quotes, markdown-it has lost the columns of a line without markers.
    deep = reading.fcol - reading.col >= INDENT and left.count(QUOTE) <= 1
    if deep and left[0] == QUOTE:
        return True
    # Nor does an item begin four columns behind the place where the innermost list's items do.
    place = reading.col + (0 if QUOTE in left else sum(left[:-1]))
    if deep and reading.fcol - place >= INDENT and ITEM.match(view, reading.first):
        return True
    return not begins_block(view, reading.first, eol, interrupting=False)


def rewrite(survey: Survey, reading: Reading, pos: int, eol: int) -> None:
    """Write a line without the indentation of the items in which the chunk began."""
    if pos == survey.veiled:
        survey.edit(pos, reading.first, lead(survey.containers, survey.base) + " " * (INDENT - 1))
        return
    if not survey.base:
        return
    base = survey.containers[: survey.base]
    whole = reading
    if len(survey.containers) > survey.base:
        reading = read(survey.view, pos, eol, base)
    if (max(base) == QUOTE and pos != survey.start) or reading.matched < survey.base:
        return
    if QUOTE in base and not survey.opening.quotes:
        return  # there is no room for markers, so those of the source stay
    at, pad = content(survey.view, reading)
    stop = prefix_end(survey, whole)
    if survey.view.find("\t", at, stop) >= 0:
        # A tab reaches another column once what stands before it is gone.
        pad += expanded(survey.view, at, stop, reading.col + len(pad))
        at = stop
    survey.edit(pos, at, (survey.opening.quotes and lead(base, survey.base) + pad) or pad)


def prefix_end(survey: Survey, reading: Reading) -> int:
    """Find where the content of a line begins, whose tabs are its own."""
    if survey.leaf == "fence" and survey.fence and not survey.fence.indent:
        return content(survey.view, reading)[0]
    if survey.leaf in ("fence", "indented") or reading.fcol - reading.col >= INDENT:
        return reading.first
    found = PREFIX.match(survey.view, reading.first)
    return found.end() if found else reading.first


def begins(survey: Survey, first: int, eol: int, *, interrupting: bool = False) -> bool:
    """Say whether a line ends an open paragraph or table."""
    return begins_block(survey.view, first, eol, interrupting=interrupting)
