"""Lengths, in the unit in which a platform counts.

Rule 1: a length is exact in its unit, lone surrogates included, because a platform refuses what is one too long.
Rule 2: text that is ASCII, or counted in code points, is measured by arithmetic; only the rest is encoded.
"""

from collections.abc import Callable
from typing import Literal

Unit = Literal["cp", "utf16", "utf8"]
"""Code points (Telegram's message text, Discord), UTF-16 code units (Telegram's entities), UTF-8 bytes."""

Measure = Callable[[str], int]

WIDEST = 4
"""The most units that one code point takes in any unit."""


def utf16(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) >> 1


def utf8(text: str) -> int:
    """Count UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


MEASURES: dict[Unit, Measure] = {"cp": len, "utf16": utf16, "utf8": utf8}


def reach(text: str, start: int, budget: int, measure: Measure) -> int:
    """Say how far from ``start`` the text goes on before it is longer than ``budget`` units.

    Returns:
        The largest index ``i`` for which ``measure(text[start:i]) <= budget``, at least ``start``.
    """
    if measure is len:
        return min(start + budget, len(text)) if budget > 0 else start
    stop = min(start + max(budget, 0), len(text))
    excess = measure(text[start:stop]) - budget
    while excess > 0 and stop > start:
        # A character dropped frees at most WIDEST units, so a step of this size never goes back too far.
        last, stop = stop, max(stop - -(-excess // WIDEST), start)
        excess -= measure(text[stop:last])
    return max(stop, start)
