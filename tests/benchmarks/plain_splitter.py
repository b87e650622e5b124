"""A splitter as one writes it in an afternoon: the measure for the chunker's speed.

It holds the cap, loses nothing, closes and reopens fences, and prefers a blank line to a line end, that to the end of a
sentence, and that to white space. It knows no lists, quotes, tables, links or emphasis (laws 4 and 5), reads whole
texts only, and counts code points.
"""

import re

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
SENTENCE = re.compile(r"[.!?]\s")


def split_plainly(text: str, limit: int = 800) -> list[str]:  # noqa: C901  # as one writes it in an afternoon
    """Cut a text into pieces of at most ``limit`` code points."""
    pieces: list[str] = []
    lines: list[str] = []
    size = 0
    blank_at = 0
    fence = opener = ""

    def emit(count: int) -> None:
        """Send the first lines, closed and with the fence reopened behind them."""
        nonlocal lines, size, blank_at
        body = "\n".join(lines[:count]).strip("\n")
        rest = lines[count:]
        if fence and count == len(lines):
            body += "\n" + fence
            rest = [opener]
        if body.strip():
            pieces.append(body)
        lines = rest
        size = sum(len(line) + 1 for line in lines)
        blank_at = 0

    for whole in text.split("\n"):
        line = whole
        room = limit - (len(fence) + 1 if fence else 0)
        if size + len(line) > room and lines:
            emit(blank_at if blank_at and not fence else len(lines))
        while size + len(line) > room:
            head, line = cut_line(line, room - size)
            lines.append(head)
            emit(len(lines))
        lines.append(line)
        size += len(line) + 1
        found = FENCE.match(line)
        if not found:
            if not line and not fence:
                blank_at = len(lines)
        elif not fence:
            fence, opener = found[1], line
        elif found[1][0] == fence[0] and len(found[1]) >= len(fence) and not found[2].strip():
            fence = opener = ""
    if lines:
        emit(len(lines))
    return pieces


def cut_line(line: str, room: int) -> tuple[str, str]:
    """Cut a line that is too long behind a sentence, at white space, or anywhere."""
    ends = [found.end() for found in SENTENCE.finditer(line, room // 2, room)]
    if ends:
        at = ends[-1]
    else:
        at = line.rfind(" ", room // 2, room)
        at = at + 1 if at > 0 else max(room, 1)
    return line[:at].rstrip(), line[at:]
