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
    lists = [(allow.users, users), (allow.channels, channels), *([(allow.spaces, spaces)] if spaces else [])]
    kinds = [ids for _, ids in lists]
    strange = [line for allowed, ids in lists for line in _strange(allowed, ids, kinds)]
    return (*_gaps(lists[0], lists[1:], pairing=pairing), *strange)


def _names(allowed: frozenset[str], identifier: str) -> bool:
    return bool(identifier) and (ANY in allowed or identifier in allowed)


def _gaps(
    users: tuple[frozenset[str], Ids], places: Sequence[tuple[frozenset[str], Ids]], *, pairing: bool
) -> Iterator[str]:
    allowed, ids = users
    if not _usable(allowed, ids):
        lack = "holds no id" if allowed else "is empty"
        yield f'{PAIRED_ONLY if pairing else NOBODY}: {ids.name} {lack}. {ids.find} "{ANY}" means everybody.'
    elif not any(_usable(*place) for place in places):
        names, find = " and ".join(ids.name for _, ids in places), " ".join(ids.find for _, ids in places)
        one, empty = len(places) == 1, not any(allowed for allowed, _ in places)
        lack = ("is empty" if one else "are empty") if empty else ("holds no id" if one else "hold no id")
        yield f'Only direct messages are answered: {names} {lack}. {find} "{ANY}" means everywhere.'


def _usable(allowed: frozenset[str], ids: Ids) -> bool:
    """Whether anything in a list allows anything."""
    return any(identifier == ANY or _is(ids, identifier) for identifier in allowed)


def _is(ids: Ids, identifier: str) -> bool:
    return re.fullmatch(ids.pattern, identifier) is not None


def _strange(allowed: frozenset[str], ids: Ids, kinds: Sequence[Ids]) -> Iterator[str]:
    for identifier in sorted(allowed - {ANY}):
        if not _is(ids, identifier):
            written = redact(identifier)  # a token that was pasted into the wrong line
            why = _why(identifier, ids, kinds)
            yield f'"{written}" in {ids.name} is not an id and allows nothing: {why}. {ids.find}'


def _why(identifier: str, ids: Ids, kinds: Sequence[Ids]) -> str:
    """What is wrong with what is no id."""
    if _is(ids, f"-{identifier}"):
        return f'the minus in front is missing, write "-{identifier}"'
    if other := next((kind.name for kind in kinds if _is(kind, identifier)), None):
        return f"it belongs into {other}"
    if _is(ids, identifier.strip()):
        return f'write "{identifier.strip()}"'
    if identifier.strip().removeprefix("-").isdecimal():
        return "an id has another number of digits, or other characters"
    return "names do not count"
