"""Lengths and cuts in UTF-16 units, in which Telegram counts. Pure."""

from collections.abc import Iterator

_ASTRAL = 0x10000


def length(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text) + sum(character >= "\U00010000" for character in text)


def width(character: str) -> int:
    """How many UTF-16 units a character has."""
    return 2 if ord(character) >= _ASTRAL else 1


def cut(text: str, start: int, end: int) -> str:
    """What stands between two offsets."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * start : 2 * end].decode("utf-16-le", "replace")


def split(text: str, limit: int) -> Iterator[str]:
    """Pieces of at most ``limit`` units, as long as they can be without parting a surrogate pair."""
    piece, size = list[str](), 0
    for character in text:
        if size + width(character) > limit:
            yield "".join(piece)
            piece, size = [], 0
        piece.append(character)
        size += width(character)
    if piece:
        yield "".join(piece)
