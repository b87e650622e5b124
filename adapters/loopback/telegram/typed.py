"""What a user types, or pastes, as their client sends it. Pure."""

from collections.abc import Iterator, Sequence

from adapters.loopback.telegram import inbound, utf16
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.formatting import Shown, show
from adapters.loopback.telegram.message import Content


def from_typed(text: str, entities: Sequence[Entity] = (), *, photo: str | None = None) -> Content:
    """A message as a client sends it; mentions, commands and links are found in it by themselves.

    Args:
        text: what was typed; may be empty below a picture.
        entities: what the user formatted, or whom they picked from the list.
        photo: the id of a picture.

    Raises:
        ValueError: it is too long for one message.
    """
    if utf16.length(text) > inbound.CLIENT_SPLITS.limit:
        msg = f"a client cuts {utf16.length(text)} UTF-16 units into several messages: use paste"
        raise ValueError(msg)
    shown = show(text, entities) if text or not photo else Shown(text="")
    return Content(text=text, entities=tuple(entities), shown=shown, photo=photo)


def from_pasted(text: str) -> Iterator[Content]:
    """The messages into which a client cuts a long text."""
    for piece in utf16.split(text, inbound.CLIENT_SPLITS.limit):
        if piece.strip():
            yield from_typed(piece)
