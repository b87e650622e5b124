"""Which messages a page of a listing shows. Pure.

Where Slack's documents leave room, a page is what is hardest on the reader: a thread's root stands on each of its
pages, and a channel that is asked for with ``oldest`` alone begins there.
"""

import base64
import binascii
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.loopback.slack import rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.message import Message

_NEXT = "next_ts:"
_MOMENT = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What a call asks for: the time between two moments, and how much of it from where.

    Attributes:
        oldest: Unix seconds; none where the call is silent.
        latest: likewise.
        inclusive: whether the two moments belong to it.
        limit: messages on a page.
        start: the message that the page begins with; none for the first page.
    """

    oldest: float | None
    latest: float | None
    inclusive: bool
    limit: int
    start: float | None

    def holds(self, message: Message) -> bool:
        """Whether the message is of this time."""
        at = float(message.ts)
        inside = (self.oldest or 0.0) < at < (math.inf if self.latest is None else self.latest)
        return inside or (self.inclusive and at in (self.oldest, self.latest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Messages, and the cursor of the next page; empty where there is none."""

    messages: list[Message]
    cursor: str


def read_span(arguments: Arguments, *, default: int, most: int) -> Span:
    """Read what a call asks for.

    Args:
        arguments: the call's.
        default: messages on a page where the call does not say.
        most: messages on a page, whatever the call says.
    """
    return Span(
        oldest=_moment(arguments, "oldest", rule.RANGE_OLDEST),
        latest=_moment(arguments, "latest", rule.RANGE_LATEST),
        inclusive=bool(arguments.flag("inclusive")),
        limit=min(most, max(1, arguments.number("limit", default))),
        start=_start(arguments.text("cursor")),
    )


def channel_page(messages: Sequence[Message], span: Span) -> Page:
    """A page of a channel, newest first, of the messages that it ever might show (oldest first)."""
    inside = [message for message in messages if span.holds(message)]
    if span.oldest is not None and span.latest is None:
        page = _cut([each for each in inside if span.start is None or float(each.ts) >= span.start], span.limit)
        return Page(messages=page.messages[::-1], cursor=page.cursor)
    return _cut([each for each in inside[::-1] if span.start is None or float(each.ts) <= span.start], span.limit)


def thread_page(messages: Sequence[Message], span: Span) -> Page:
    """A page of a thread, oldest first, behind its root, which is on every page, whatever its time."""
    root, replies = messages[:1], messages[1:]
    inside = [each for each in replies if span.holds(each) and (span.start is None or float(each.ts) >= span.start)]
    page = _cut(inside, span.limit)
    return Page(messages=[*root, *page.messages], cursor=page.cursor)


def _cut(messages: Sequence[Message], limit: int) -> Page:
    rest = messages[limit:]
    return Page(messages=list(messages[:limit]), cursor=_cursor(rest[0]) if rest else "")


def _cursor(first: Message) -> str:
    """As Slack writes it: base64 of the next message's id without its dot."""
    return base64.b64encode(f"{_NEXT}{first.ts.replace('.', '')}".encode()).decode()


def _start(cursor: str) -> float | None:
    if not cursor:
        return None
    try:
        name, _, digits = base64.b64decode(cursor, validate=True).decode().rpartition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise RefusedError(rule.CURSOR) from None
    if f"{name}:" != _NEXT or not digits.isdecimal():
        raise RefusedError(rule.CURSOR)
    return float(f"{digits[:-6]}.{digits[-6:]}")


def _moment(arguments: Arguments, name: str, broken: rule.Rule) -> float | None:
    text = arguments.text(name)
    if not text:
        return None
    if not _MOMENT.fullmatch(text):
        raise RefusedError(broken)
    return float(text)
