"""A splitter as one writes it in an afternoon, and mends for a week: the measure for the chunker's speed.

It holds laws 1, 2, 3, 6 and 7: the cap, nothing lost, the same pieces for any deltas, no blanks, work that grows with
the text. It closes and reopens fences, and prefers a block's end to a line's, that to a sentence's, and that to white
space, first where they leave a piece half full. It knows no lists, quotes, tables, links or emphasis (laws 4 and 5)
and counts code points.
"""

import re

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
SENTENCE = re.compile(r"[.!?…]+(?=\s)|[。！？]")
INK = re.compile(r"\S")

Cut = tuple[int, int, str]
"""Where a piece ends, where the next begins, and the opening line of the fence that the cut falls into."""


class PlainSplitter:
    """Cuts one streamed text; pieces are pairs of a text and the offset up to which it stands for the source."""

    def __init__(self, limit: int = 800) -> None:
        self.limit = limit
        self.parts: list[str] = []
        self.size = self.offset = 0
        self.opener = ""

    def feed(self, delta: str) -> list[tuple[str, int]]:
        """Take in more text; give out the pieces that are due."""
        self.parts.append(delta)
        self.size += len(delta)
        return self.drain(final=False) if self.size > self.limit and not delta.isspace() else []

    def flush(self) -> list[tuple[str, int]]:
        """Give out what is left."""
        return self.drain(final=True)

    def drain(self, *, final: bool) -> list[tuple[str, int]]:
        """Cut as long as there is more than a piece holds."""
        rest, at = "".join(self.parts), 0
        pieces: list[tuple[str, int]] = []
        while ink := INK.search(rest, at):
            start = max(rest.rfind("\n", 0, ink.start()) + 1, at)
            past = INK.search(rest, max(start + self.limit, ink.end()))
            if not past and not final:
                break
            window = rest[start : past.start() + 1] if past else rest[start:]
            text, used = self.cut(window, whole=past is None)
            at = len(rest) if final and not rest[start + used :].strip() else start + used
            if text.strip():
                pieces.append((text, self.offset + at))
        self.parts, self.size, self.offset = [rest[at:]], len(rest) - at, self.offset + at
        return pieces

    def cut(self, window: str, *, whole: bool) -> tuple[str, int]:
        """Cut one piece from the front of a window: its text, and how much of the window it stands for."""
        prefix = f"{self.opener}\n" if self.opener else ""
        room, half = self.limit - len(prefix), self.limit // 2 - len(prefix)
        block, line, opener, text_end = self.read(window, room)
        if whole and text_end >= len(window.rstrip()):
            end, used, self.opener = len(window.rstrip()), len(window), opener
        else:
            end, used, self.opener = self.choose(window, (block, line), opener, room, half)
        found = FENCE.match(self.opener)
        return prefix + window[:end].rstrip("\n") + (f"\n{found[1]}" if found else ""), used

    def read(self, window: str, room: int) -> tuple[Cut | None, Cut | None, str, int]:
        """Read the lines that fit: the last block end, the last line end, the open fence, and where they end."""
        opener, block, line, body, blank = self.opener, None, None, bool(self.opener), False
        found = FENCE.match(opener)
        fence, pos, end = found[1] if found else "", 0, 0
        while pos < len(window):
            eol = window.find("\n", pos)
            eol = eol if eol >= 0 else len(window)
            found = FENCE.match(window, pos)
            closes = fence and found and found[1].startswith(fence) and not found[2].strip()
            if window[pos:eol].isspace() or eol == pos:
                blank, pos = True, eol + 1
                continue
            if pos and not fence:
                block, line = ((end, pos, ""), line) if blank or found else (block, (end, pos, ""))
            elif pos and body and not closes and window[pos:eol].strip(fence[0]):
                line = (end, pos, opener)
            if eol + (len(fence or (found[1] if found else "")) + 1 if fence or found else 0) > room:
                break
            body = bool(fence)
            if closes:
                fence = opener = ""
            elif found and not fence:
                fence, opener = found[1], window[pos:eol]
            pos, end, blank = eol + 1, eol, False
        return block, line, opener, end

    def choose(self, window: str, places: tuple[Cut | None, ...], opener: str, room: int, half: int) -> Cut:
        """Choose among the places for a cut."""
        room = min(room, len(window) - 1)
        for floor in (half, 1):
            for place in places:
                if place and place[0] >= floor:
                    return place
            if not opener:
                ends = [found.end() for found in SENTENCE.finditer(window, max(floor - 1, 0), room + 1)]
                at = ends[-1] if ends and ends[-1] <= room else window.rfind(" ", floor, room + 1)
                if at > 0 and (ink := INK.search(window, at)):
                    return at, ink.start(), ""
        found = FENCE.match(opener)
        at = max(room - (len(found[1]) + 1 if found else 0), 1)
        return at, at, opener


def split_plainly(text: str, limit: int = 800) -> list[tuple[str, int]]:
    """Cut a whole text."""
    splitter = PlainSplitter(limit)
    return splitter.feed(text) + splitter.flush()
