"""Whom a message notifies, and which of its links gets a preview. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from adapters.loopback.telegram import autolink, utf16
from adapters.loopback.telegram.formatting import Shown

PingKind = Literal["mention", "text_mention"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Somebody who is notified.

    Attributes:
        kind: by name or by id.
        target: the name without its @, or the id.
        raw: as it stands in the text.
    """

    kind: PingKind
    target: str
    raw: str


def find_pings(shown: Shown) -> tuple[Ping, ...]:
    """All whom a text notifies, whether there are such users or not."""
    return tuple(_pings(shown))


def _pings(shown: Shown) -> Iterator[Ping]:
    named = [each for each in shown.entities if each.type == "mention"]
    for each in [*named, *(each for each in autolink.find(shown.text, shown.entities) if each.type == "mention")]:
        raw = utf16.cut(shown.text, each.offset, each.end)
        yield Ping(kind="mention", target=raw.removeprefix("@"), raw=raw)
    for each in shown.entities:
        if (user := each.linked_user) is not None:
            raw = utf16.cut(shown.text, each.offset, each.end)
            yield Ping(kind="text_mention", target=str(user), raw=raw)
