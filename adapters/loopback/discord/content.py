"""Reads what a call wants to write, and refuses what Discord refuses. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import RefusedError, invalid_form
from adapters.loopback.discord.component import check_components
from adapters.loopback.discord.embed import check_embeds
from adapters.loopback.discord.message import Content, Flag
from adapters.loopback.discord.ping import Allowed, Ping, find_pings, read_allowed, texts_of

Payload = Mapping[str, object]

POSTED_FLAGS = Flag.SUPPRESS_EMBEDS | Flag.SUPPRESS_NOTIFICATIONS | Flag.COMPONENTS_V2
"""The flags that a new message may be given."""

EDITED_FLAGS = Flag.SUPPRESS_EMBEDS | Flag.COMPONENTS_V2
"""The flags that an edit may change."""

_KINDS = ("users", "roles")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a call is read.

    Attributes:
        default: what is pinged where the call is silent.
        everyone: whether the author may ping everybody, and roles that nobody may mention.
        mentionable: roles that all may mention.
        settable: the flags that the call can set.
    """

    default: Allowed
    everyone: bool = True
    mentionable: frozenset[str] = frozenset()
    settable: Flag = POSTED_FLAGS


def mapping_of(value: object) -> dict[str, object]:
    """A JSON object as it is; empty for anything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """A JSON list as it is; empty for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def read_post(body: Payload, reading: Reading, *, files: int = 0, reply_to: str | None = None) -> Content:
    """Read the content of a new message.

    Args:
        body: what was sent.
        reading: how it is read.
        files: how many came along.
        reply_to: the author of what it replies to.
    """
    flags = Flag(number_of(body.get("flags"))) & reading.settable
    content = Content(
        text=_read_text(body),
        embeds=tuple(list_of(body.get("embeds"))),
        components=tuple(list_of(body.get("components"))),
        files=files,
        flags=flags,
    )
    return _checked(content, body, reading, reply_to)


def read_edit(before: Content, body: Payload, reading: Reading, *, files: int = 0) -> Content:
    """Read what an edit leaves: what the call does not name stays, but for the loading flag and whom it pings."""
    flags = before.flags & ~Flag.LOADING
    if "flags" in body and body["flags"] is not None:
        flags = (flags & ~EDITED_FLAGS) | (Flag(number_of(body["flags"])) & EDITED_FLAGS)
        flags |= before.flags & Flag.COMPONENTS_V2
    content = Content(
        text=_read_text(body) if "content" in body else before.text,
        embeds=tuple(list_of(body["embeds"])) if "embeds" in body else before.embeds,
        components=tuple(list_of(body["components"])) if "components" in body else before.components,
        files=len(list_of(body["attachments"])) if "attachments" in body else before.files + files,
        flags=flags,
    )
    return _checked(content, body, reading, None)


def read_nonce(body: Payload) -> str | None:
    """Read the nonce of a new message."""
    nonce = body.get("nonce")
    if nonce is None:
        return None
    if len(str(nonce)) > rule.NONCE_LENGTH.limit:
        raise invalid_form(rule.NONCE_LENGTH, "nonce")
    return str(nonce)


def _checked(content: Content, body: Payload, reading: Reading, reply_to: str | None) -> Content:
    check_embeds(content.embeds)
    check_components(content)
    if content.is_empty:
        raise RefusedError(rule.EMPTY)
    allowed = _read_allowed(body)
    pings = _pings(content, reading, read_allowed(allowed, reading.default), reply_to)
    return replace(content, allowed_mentions=allowed, pings=pings)


def _read_text(body: Payload) -> str:
    text = body.get("content")
    if text is None:
        return ""
    if not isinstance(text, str | int | float):
        raise invalid_form(rule.CONTENT_LENGTH, "content", code="STRING_TYPE_CONVERT")
    if len(str(text)) > rule.CONTENT_LENGTH.limit:
        raise invalid_form(rule.CONTENT_LENGTH, "content")
    return str(text).strip()


def _read_allowed(body: Payload) -> Payload | None:
    sent = body.get("allowed_mentions")
    if sent is None:
        return None
    allowed, parse = mapping_of(sent), list_of(mapping_of(sent).get("parse"))
    if not isinstance(sent, dict) or not set(parse) <= {"users", "roles", "everyone"}:
        raise invalid_form(rule.ALLOWED_MENTIONS, "allowed_mentions", "parse", code="BASE_TYPE_CHOICES")
    for kind in _KINDS:
        ids = list_of(allowed.get(kind))
        if ids and kind in parse:
            raise invalid_form(
                rule.ALLOWED_MENTIONS, "allowed_mentions", code="MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"
            )
        if len(ids) > rule.ALLOWED_MENTIONS.limit:
            raise invalid_form(rule.ALLOWED_MENTIONS, "allowed_mentions", kind)
    return allowed


def _pings(content: Content, reading: Reading, allowed: Allowed, reply_to: str | None) -> tuple[Ping, ...]:
    texts = (content.text, *texts_of(content.components))
    found = [ping for text in texts for ping in find_pings(text)]
    if reply_to is not None:
        found.insert(0, Ping(kind="reply", target=reply_to))
    return tuple(ping for ping in found if allowed.allows(ping) and _may(ping, reading))


def _may(ping: Ping, reading: Reading) -> bool:
    """Whether the author has the right to this kind of ping."""
    match ping.kind:
        case "everyone" | "here":
            return reading.everyone
        case "role":
            return reading.everyone or ping.target in reading.mentionable
        case _:
            return True


def number_of(value: object) -> int:
    """A JSON number as it is; 0 for anything else, and below."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
