"""What the bot says itself, as pieces that fill bubbles. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from chunker import split
from gateway.adapter import Capabilities
from gateway.draft import Piece, shared


def remark(piece: Piece, sentence: str, capabilities: Capabilities) -> list[Piece]:
    """A sentence of ours in the place of a piece: in as many bubbles as it takes, perhaps none."""
    chunks = split(sentence, capabilities.bubble, unit=capabilities.unit, fits=capabilities.fits)
    return shared(piece, [chunk.text for chunk in chunks]) if chunks else []


def last(piece: Piece, sentence: str, capabilities: Capabilities) -> Piece:
    """A piece that ends in a sentence of ours, in one bubble; of its own words goes what has no room beside that."""
    for room in range(capabilities.bubble, 0, -max(1, capabilities.bubble // 16)):
        words = split(piece.text, room, unit=capabilities.unit, fits=capabilities.fits)[0].text
        text = split(f"{words}\n\n{sentence}", capabilities.bubble, unit=capabilities.unit, fits=capabilities.fits)
        if len(text) == 1:
            return replace(piece, text=text[0].text)
    return piece


def said_already(row: Sequence[Piece], ending: Sequence[Piece]) -> int:
    """How many bubbles of an ending a row ends in."""
    shown = [(piece.kind, piece.text) for piece in row]
    said = [(piece.kind, piece.text) for piece in ending]
    return next(count for count in range(len(said), -1, -1) if shown[len(shown) - count :] == said[:count])
