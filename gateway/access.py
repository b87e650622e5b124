"""Who may talk to the bot, and where. Pure.

Rule 1: nobody, unless the configuration says so. An empty list is nobody, a mistyped id is nobody.
Rule 2: ids, never names: whoever may rename himself would choose what he may do.
Rule 3: a direct message needs its user, a message in a channel its user *and* its channel, or what that belongs to.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.inbound import CommandReceived, MessageReceived, PressReceived
from gateway.redaction import redact

ANY = "*"
"""Everybody, or everywhere; it has to be written."""

NOBODY = "Nobody may talk to the bot"
PAIRED_ONLY = (
    "Nobody may talk to the bot but strangers whom you pair (who writes to it directly gets a code for dragoman pair)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """What the configuration allows: ids of users, of channels, and of spaces (all channels of a guild), or ``*``."""

    users: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """What a platform's ids look like: the setting they stand in, a pattern, and how a person finds one."""

    name: str
    pattern: str
    find: str


def admits(allow: Allow, message: MessageReceived | CommandReceived | PressReceived) -> bool:
    """Whether a message may be answered, a command obeyed."""
    if not _names(allow.users, message.user):
        return False
    return (
        message.direct or _names(allow.channels, message.address.channel) or _names(allow.spaces, message.space or "")
    )


def warnings(
    allow: Allow, *, users: Ids, channels: Ids, spaces: Ids | None = None, pairing: bool = False
) -> tuple[str, ...]:
    """What a person should be told at start, a sentence or two each; none where all is well.

    Args:
        allow: what the configuration allows.
        users: what a user's id looks like, on this platform.
        channels: a channel's.
        spaces: that of a space, where there are any.
        pairing: whether strangers can be paired.
    """
    strange = [*_strange(allow.users, users), *_strange(allow.channels, channels)]
    if spaces is not None:
        strange += _strange(allow.spaces, spaces)
    return (*_gaps(allow, users, [channels, spaces] if spaces else [channels], pairing=pairing), *strange)


def _names(allowed: frozenset[str], identifier: str) -> bool:
    return bool(identifier) and (ANY in allowed or identifier in allowed)


def _gaps(allow: Allow, users: Ids, places: Sequence[Ids], *, pairing: bool) -> Iterator[str]:
    if not allow.users:
        yield f'{PAIRED_ONLY if pairing else NOBODY}: {users.name} is empty. {users.find} "{ANY}" means everybody.'
    elif not (allow.channels or allow.spaces):
        names, find = " and ".join(place.name for place in places), " ".join(place.find for place in places)
        empty = "is empty" if len(places) == 1 else "are empty"
        yield f'Only direct messages are answered: {names} {empty}. {find} "{ANY}" means everywhere.'


def _strange(allowed: frozenset[str], ids: Ids) -> Iterator[str]:
    for identifier in sorted(allowed - {ANY}):
        if not re.fullmatch(ids.pattern, identifier):
            written = redact(identifier)  # a token that was pasted into the wrong line
            yield f'"{written}" in {ids.name} is not an id and allows nothing: names do not count. {ids.find}'
