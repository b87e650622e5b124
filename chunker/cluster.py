"""Grapheme clusters, as far as a cut needs them: where a hard cut may fall without taking a character apart.

Rule 1: no tables are shipped; what `unicodedata` knows decides, plus the ranges below.
Rule 2: only a hard cut asks, so this need not be fast for text, only bounded for hostile text.

The rules are those of UAX #29. Prepend and the Indic conjuncts are covered by short tables, see the README.
"""

import re
import unicodedata
from functools import lru_cache

CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp"})
EXTEND_CATEGORIES = frozenset({"Mn", "Me", "Mc"})
ZERO_WIDTH_JOINER = "\u200d"
ZERO_WIDTH_NON_JOINER = "\u200c"
FIRST_SPECIAL = "\u0300"
"""Below this only CR and LF belong together."""

# Cf in category, but extending (Grapheme_Extend, emoji tags), and skin tones, which are Sk.
EXTENDING = re.compile("[\u200c\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
# Spacing marks that begin a cluster of their own (GCB is Other although the category is Mc).
STANDALONE = re.compile(
    "[\u102b\u102c\u1038\u1062-\u1064\u1067-\u106d\u1083\u1087-\u108c\u108f\u109a-\u109c"
    "\u1a61\u1a63\u1a64\uaa7b\uaa7d\U00011720\U00011721]"
)
# Letters that a spacing mark's rule covers (Thai and Lao AM).
SPACING_LETTERS = frozenset("\u0e33\u0eb3")
PREPEND = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941"
    "\U00011a84-\U00011a89\U00011d46\U00011f02]"
)
PICTOGRAPHIC = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    "\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767"
    "\u2795-\u2797\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a"
    "\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff"
    "\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f\U0001f85a-\U0001f85f"
    "\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001faff"
    "\U0001fc00-\U0001fffd]"
)
REGIONAL = ("\U0001f1e6", "\U0001f1ff")


@lru_cache(maxsize=1024)
def extends(char: str) -> bool:
    """Say whether a character never begins a cluster (Extend, SpacingMark, ZWJ)."""
    if char < FIRST_SPECIAL:
        return False
    if char == ZERO_WIDTH_JOINER or char in SPACING_LETTERS or EXTENDING.match(char):
        return True
    return unicodedata.category(char) in EXTEND_CATEGORIES and not STANDALONE.match(char)


def hangul(char: str) -> str:
    """Classify a Hangul jamo or syllable: L, V, T, LV, LVT, or nothing."""
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb":
        return "T"
    if "\uac00" <= char <= "\ud7a3":
        return "LVT" if (ord(char) - 0xAC00) % 28 else "LV"
    return ""


JOINED_HANGUL = {"L": ("L", "V", "LV", "LVT"), "V": ("V", "T"), "LV": ("V", "T"), "T": ("T",), "LVT": ("T",)}


def is_boundary(text: str, at: int, start: int = 0) -> bool:
    """Say whether a cluster ends before ``text[at]``; nothing before ``start`` is looked at."""
    if at <= start or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < FIRST_SPECIAL and before < FIRST_SPECIAL:
        return not (before == "\r" and after == "\n") and not joins(text, at, start)
    if is_control(before) or is_control(after):
        return True
    if extends(after) or (PREPEND.match(before) is not None):
        return False
    return not joins(text, at, start)


@lru_cache(maxsize=1024)
def is_control(char: str) -> bool:
    """Say whether a character always stands alone."""
    return (
        unicodedata.category(char) in CONTROL_CATEGORIES
        and char not in (ZERO_WIDTH_JOINER, ZERO_WIDTH_NON_JOINER)
        and not EXTENDING.match(char)
        and not PREPEND.match(char)
    )


def joins(text: str, at: int, start: int) -> bool:
    """Say whether two characters belong together that each may begin a cluster: Hangul, emoji, flags."""
    before, after = text[at - 1], text[at]
    kind = hangul(before)
    if kind and hangul(after) in JOINED_HANGUL[kind]:
        return True
    if before == ZERO_WIDTH_JOINER and PICTOGRAPHIC.match(after):
        index = at - 2
        while index > start and extends(text[index]) and text[index] != ZERO_WIDTH_JOINER:
            index -= 1
        return index >= start and PICTOGRAPHIC.match(text[index]) is not None
    if REGIONAL[0] <= before <= REGIONAL[1] and REGIONAL[0] <= after <= REGIONAL[1]:
        index = at - 1
        while index >= start and REGIONAL[0] <= text[index] <= REGIONAL[1]:
            index -= 1
        return (at - 1 - index) % 2 == 1
    return False


def boundary(text: str, at: int, start: int) -> int:
    """Walk back from ``at`` to a place where no cluster is cut.

    Returns:
        That place; ``at`` itself where a single cluster fills everything from ``start``.
    """
    index = at
    while index > start and not is_boundary(text, index, start):
        index -= 1
    return index if index > start else at
