"""What in a text notifies somebody, and which of its links show a preview. Pure.

Rule 1: whoever is judged must produce none; so where nobody has measured, a ping is reported and marked uncertain.
Rule 2: escapes change nothing: a backslash in front of a mention is shown, and the mention pings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

PingKind = Literal["everyone", "here", "role", "user", "reply"]

_MENTION = re.compile(r"<@&(?P<role>[0-9]+)>|<@!?(?P<user>[0-9]+)>|@(?P<broadcast>everyone|here)\b")
_CODE = re.compile(r"(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)|```.*", re.DOTALL)
_LINK = re.compile(r"(?P<open><?)(?P<url>https?://[^\s<>]+)(?P<close>>?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """One thing that notifies.

    Attributes:
        kind: everybody, a role, a user, or the author of what is replied to.
        target: id of the role or user; empty for everybody.
        raw: as it was written; empty for a reply.
        in_code: it stands in a code span or fence, where nobody has measured what Discord does.
    """

    kind: PingKind
    target: str
    raw: str = ""
    in_code: bool = False

    @property
    def certain(self) -> bool:
        """Discord is known to notify."""
        return not self.in_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Which mentions are to ping: whole kinds, or those of certain ids."""

    everyone: bool = False
    all_roles: bool = False
    all_users: bool = False
    roles: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    replied_user: bool = False

    def allows(self, ping: Ping) -> bool:
        """Whether the ping goes out."""
        match ping.kind:
            case "everyone" | "here":
                return self.everyone
            case "role":
                return self.all_roles or ping.target in self.roles
            case "user":
                return self.all_users or ping.target in self.users
            case "reply":
                return self.replied_user


MESSAGES = Allowed(everyone=True, all_roles=True, all_users=True, replied_user=True)
"""What a channel message pings that says nothing of it."""

WEBHOOKS = Allowed(all_users=True)
"""What an interaction's answer pings that says nothing of it."""


def read_allowed(sent: Mapping[str, object] | None, default: Allowed) -> Allowed:
    """What an ``allowed_mentions`` object allows; one that is well-formed, or none."""
    if sent is None:
        return default
    parse = _strings(sent.get("parse"))
    return Allowed(
        everyone="everyone" in parse,
        all_roles="roles" in parse,
        all_users="users" in parse,
        roles=_strings(sent.get("roles")),
        users=_strings(sent.get("users")),
        replied_user=sent.get("replied_user") is True,
    )


def find_pings(text: str) -> tuple[Ping, ...]:
    """Find all that could ping, in order, allowed or not."""
    code = [match.span() for match in _CODE.finditer(text)]
    return tuple(_ping(match, code) for match in _MENTION.finditer(text))


def find_links(text: str) -> tuple[str, ...]:
    """Find the links that show a preview unless that is suppressed."""
    code = [match.span() for match in _CODE.finditer(text)]
    found = (match for match in _LINK.finditer(text) if not _inside(match.start(), code))
    return tuple(match["url"] for match in found if not (match["open"] and match["close"]))


def texts_of(components: object) -> Iterator[str]:
    """The text that components show as Markdown."""
    if isinstance(components, list | tuple):
        for each in cast("list[object]", components):
            yield from texts_of(each)
    elif isinstance(components, dict):
        component = cast("dict[str, object]", components)
        if component.get("type") == 10 and isinstance(content := component.get("content"), str):
            yield content
        for value in component.values():
            yield from texts_of(value)


def _ping(match: re.Match[str], code: list[tuple[int, int]]) -> Ping:
    kind, target = next((name, value) for name, value in match.groupdict().items() if value is not None)
    if kind == "broadcast":
        kind, target = target, ""
    in_code = _inside(match.start(), code)
    return Ping(kind=cast("PingKind", kind), target=target, raw=match.group(), in_code=in_code)


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= position < end for start, end in spans)


def _strings(value: object) -> frozenset[str]:
    return frozenset(str(each) for each in cast("list[object]", value)) if isinstance(value, list) else frozenset()
