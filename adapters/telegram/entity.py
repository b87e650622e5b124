"""Entities of what people write, and the words without our mention. Offsets are UTF-16 units.

Nothing here raises; an entity outside of the text stands for nothing.

Source: https://core.telegram.org/bots/api#messageentity
"""

import re
from collections.abc import Iterator

from adapters.telegram.identity import Identity
from adapters.telegram.update import number, spoken
from gateway.payload import Json, mapping

_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,64})(?:@([A-Za-z0-9_]{1,64}))?")


def piece(text: str, entity: Json) -> tuple[int, int] | None:
    """Where an entity begins and ends in the text, as indices of its characters."""
    offset, length = number(entity.get("offset")), number(entity.get("length"))
    units = text.encode("utf-16-le", "surrogatepass")
    if offset is None or length is None or offset < 0 or length <= 0 or 2 * (offset + length) > len(units):
        return None
    start = len(units[: 2 * offset].decode("utf-16-le", "replace"))
    return start, start + len(units[2 * offset : 2 * (offset + length)].decode("utf-16-le", "replace"))


def mentions(message: Json, me: Identity) -> list[tuple[int, int]]:
    """Where we are mentioned, by name or by id."""
    text, entities = spoken(message)
    return sorted(place for entity in entities if (place := _mention(text, entity, me)) is not None)


def _mention(text: str, entity: Json, me: Identity) -> tuple[int, int] | None:
    place = piece(text, entity)
    match entity.get("type"):
        case "mention" if place and text[slice(*place)].casefold() == f"@{me.username}".casefold():
            return place
        case "text_mention" if number(mapping(entity.get("user")).get("id")) == me.id:
            return place
        case _:
            return None


def commands(message: Json) -> Iterator[tuple[int, str, str | None]]:
    """The commands that Telegram's client marked: where each begins, its name, and the bot that it names."""
    text, entities = spoken(message)
    for entity in entities:
        place = piece(text, entity) if entity.get("type") == "bot_command" else None
        if place and (found := _COMMAND.fullmatch(text[slice(*place)])):
            yield place[0], found[1], found[2]


def is_ours(name: str | None, me: Identity) -> bool:
    """Whether a command that names this bot, or none, is for us."""
    return name is None or name.casefold() == me.username.casefold()


def heard(message: Json, me: Identity) -> str:
    """What was written, without our mention; where that stands as a word of its own, without the blanks behind it."""
    text, _ = spoken(message)
    for start, end in reversed(mentions(message, me)):
        before, after = text[:start], text[end:]
        text = before + (after.lstrip(" \t") if not before or before[-1].isspace() else after)
    return text.strip()
