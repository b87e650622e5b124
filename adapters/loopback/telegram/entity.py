"""A piece of text that is formatted or means something, and how a call's entities are read. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError

SPLITTABLE = frozenset({"bold", "italic", "underline", "strikethrough", "spoiler"})
"""Types that stand within, around and across each other and anything else but code."""
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
CODE = frozenset({"pre", "code"})
_REFERRING = {"text_link": "url", "text_mention": "user", "custom_emoji": "custom_emoji_id"}
_FOUND = frozenset({"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "date_time"})
TYPES = SPLITTABLE | QUOTES | CODE | _FOUND | _REFERRING.keys()

_OWN_LINK = re.compile(r"(?:tg|ton|tonsite):", re.IGNORECASE)
# Perhaps a name and a password; a host with a dot in it, or IPv6; perhaps a port.
_HOST = re.compile(r"(?:[^/?#@]*@)?(?:[^/?#:@\s]+\.[^/?#:@\s]+|\[[0-9a-fA-F:.]+\])(?::[0-9]+)?(?:[/?#]|$)")
_USER_LINK = re.compile(r"tg://user\?id=([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One entity; ``offset`` and ``length`` in UTF-16 units.

    Attributes:
        type: what it is.
        offset: where it begins.
        length: how long it is.
        url: of a text_link.
        user: id of a text_mention's user.
        language: of a pre.
        custom_emoji_id: of a custom_emoji.
    """

    type: str
    offset: int
    length: int
    url: str | None = None
    user: int | None = None
    language: str | None = None
    custom_emoji_id: str | None = None

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + self.length

    def contains(self, other: "Entity") -> bool:
        """Whether the other lies inside it."""
        return self.offset <= other.offset and other.end <= self.end

    def crosses(self, other: "Entity") -> bool:
        """Whether the two have something in common and neither lies inside the other."""
        meet = self.offset < other.end and other.offset < self.end
        return meet and not (self.contains(other) or other.contains(self))

    @property
    def linked_user(self) -> int | None:
        """The user it mentions by id, as a text_mention or by a tg://user link."""
        found = _USER_LINK.fullmatch(self.url or "")
        return int(found[1]) if found else self.user


def read_entities(values: Sequence[object] | None, users: frozenset[int]) -> list[Entity]:
    """Read the entities of a call.

    Args:
        values: the call's JSON list; none where it is something else.
        users: whom the bot knows.

    Raises:
        RefusedError: one of them is malformed.
    """
    if values is None:
        raise RefusedError(outbound.ENTITIES_FORMAT)
    return [_read(value, users) for value in values]


def _read(value: object, users: frozenset[int]) -> Entity:
    if not isinstance(value, dict):
        raise RefusedError(outbound.ENTITIES_FORMAT)
    fields = cast("dict[str, object]", value)
    kind, offset, length = fields.get("type"), fields.get("offset"), fields.get("length")
    if not (isinstance(kind, str) and isinstance(offset, int) and isinstance(length, int)):
        raise RefusedError(outbound.ENTITIES_FORMAT)
    if kind not in TYPES:
        raise RefusedError(outbound.ENTITY_TYPE)
    if (needed := _REFERRING.get(kind)) and needed not in fields:
        raise RefusedError(outbound.ENTITY_FIELD, needed)
    for name, number in (("offset", offset), ("length", length)):
        if not 0 <= number <= outbound.ENTITY_OFFSET.limit:
            raise RefusedError(outbound.ENTITY_OFFSET, name, number)
    url = checked_url(str(fields["url"])) if kind == "text_link" else None
    user = _checked_user(fields["user"], users) if kind == "text_mention" else None
    return Entity(
        type=kind,
        offset=offset,
        length=length,
        url=url,
        user=user,
        language=str(fields["language"]) if kind == "pre" and fields.get("language") else None,
        custom_emoji_id=str(fields["custom_emoji_id"]) if kind == "custom_emoji" else None,
    )


def checked_url(url: str) -> str:
    """The address of a link, if clients open such.

    Raises:
        RefusedError: they do not.
    """
    if not url:
        raise RefusedError(outbound.ENTITY_URL, url, "URL host is empty")
    if _OWN_LINK.match(url):
        return url
    scheme, separator, rest = url.partition("://")
    if separator and scheme.lower() not in {"http", "https"}:
        raise RefusedError(outbound.ENTITY_URL, url, "Unsupported URL protocol")
    if not _HOST.match(rest if separator else url):
        raise RefusedError(outbound.ENTITY_URL, url, "Wrong HTTP URL")
    return url


def _checked_user(value: object, users: frozenset[int]) -> int:
    user = cast("Mapping[str, object]", value).get("id") if isinstance(value, dict) else None
    if not isinstance(user, int) or user not in users:
        raise RefusedError(outbound.ENTITY_USER)
    return user
