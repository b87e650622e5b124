"""Embeds: how long they may be. Pure."""

from collections.abc import Sequence
from typing import cast

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import invalid_form

_MOST = 10
_MOST_FIELDS = 25
_LENGTHS = (
    ("title", "", 256),
    ("description", "", 4_096),
    ("footer", "text", 2_048),
    ("author", "name", 256),
)
_FIELD_LENGTHS = (("name", "", 256), ("value", "", 1_024))


def check_embeds(embeds: Sequence[object]) -> None:
    """Refuse embeds that are too many or too long; white space round a text does not count.

    Raises:
        RefusedError: it names the first fault.
    """
    if len(embeds) > _MOST:
        raise invalid_form(rule.EMBED_LIMITS, "embeds")
    total = 0
    for number, embed in enumerate(embeds):
        total += _checked(embed, _LENGTHS, "embeds", str(number))
        fields = _child(embed, "fields")
        listed = cast("list[object]", fields) if isinstance(fields, list) else []
        if len(listed) > _MOST_FIELDS:
            raise invalid_form(rule.EMBED_LIMITS, "embeds", str(number), "fields")
        for index, each in enumerate(listed):
            total += _checked(each, _FIELD_LENGTHS, "embeds", str(number), "fields", str(index))
    if total > rule.EMBED_LIMITS.limit:
        raise invalid_form(rule.EMBED_LIMITS, "embeds", code="MAX_EMBED_SIZE_EXCEEDED")


def _checked(value: object, lengths: Sequence[tuple[str, str, int]], *path: str) -> int:
    """The length of all texts of an embed, or of one of its fields."""
    total = 0
    for name, below, most in lengths:
        text = _child(_child(value, name), below) if below else _child(value, name)
        length = len(str(text).strip()) if text is not None else 0
        if length > most:
            raise invalid_form(rule.EMBED_LIMITS, *path, *((name, below) if below else (name,)))
        total += length
    return total


def _child(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None
