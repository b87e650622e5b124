"""How wide a text is where all characters are equally wide. Pure."""

import unicodedata
from functools import lru_cache

from chunker.cluster import REGIONAL, ZERO_WIDTH_JOINER, extends

_EMOJI = "\N{VARIATION SELECTOR-16}"


def width(text: str) -> int:
    """How many columns a text takes: two for a wide character or an emoji, none for what joins the one before."""
    if text.isascii():
        return len(text)
    total, joined, single = 0, False, False
    for char in text:
        if char == _EMOJI:
            total += single
            single = False
        elif extends(char):
            joined = joined or char == ZERO_WIDTH_JOINER
        elif joined:
            joined = False  # drawn into the one before
        else:
            each = _width(char)
            total += each
            single = each == 1
        if char != ZERO_WIDTH_JOINER:
            joined = False
    return total


@lru_cache(maxsize=1024)
def _width(char: str) -> int:
    if REGIONAL[0] <= char <= REGIONAL[1]:
        return 1  # two of them are a flag
    if unicodedata.category(char) in ("Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
