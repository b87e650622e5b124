"""What Discord's answer to an operation means, as data.

Sources: https://docs.discord.com/developers/topics/opcodes-and-status-codes and .../topics/rate-limits
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from adapters.discord.render import Rendered
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Outcome,
    Performed,
    PostMessage,
    Quota,
    RateLimited,
    ShowTyping,
    TellPrivately,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)
from gateway.payload import Json, mapping

RETRY_AFTER = 30.0
"""Seconds to wait where Discord limits us and does not say for how long."""

OLD = 30046
"""A message older than an hour takes few edits; it comes as a 429, and waiting is not the way out."""

DEAD_TOKENS = frozenset({10015, 10062, 50027})
"""What is said of an interaction's token that is over, or was never answered."""

_INVITE = "let the bot into the channel: View Channel and Send Messages (in a thread Send Messages in Threads)"
_FORM = 50035

_FORBIDDEN = {
    10003: "the channel is gone",
    10004: "the server is gone",
    20028: "the server limits how often may be written here",
    40001: _INVITE,
    40094: "an interaction takes no more answers than these where the bot is no member",
    50001: _INVITE,
    50003: "this cannot be done in direct messages",
    50007: "the person takes no direct messages from the bot",
    50008: "this channel takes no messages of ours",
    50013: _INVITE,
    50024: "this channel takes no messages of ours",
    50083: "the thread is archived and locked; somebody has to open it",
    50278: "the person shares no server with the bot",
    160002: "give the bot Read Message History in the channel",
    160005: "the thread is locked; somebody has to open it",
}
_REFUSED = {
    50005: "the message is another bot's; was the bot token changed for another application's?",
    50021: "the message is one of Discord's own",
    50083: "the thread is archived",
    160005: "the thread is locked",
}
"""What is said of a change, and of nothing else that is done there."""


def _table() -> Mapping[int, Outcome]:
    table: dict[int, Outcome] = {
        OLD: Expired(),
        10008: MessageGone(),
        50006: MarkupRejected(reason="Discord says 50006: there is nothing to see in it"),
        50109: Forbidden(reason="Discord says 50109: it cannot read what was sent"),
        40005: TooLong(),
    }
    table |= {code: Expired() for code in DEAD_TOKENS}
    table |= {code: Forbidden(reason=f"Discord says {code}: {mend}") for code, mend in _FORBIDDEN.items()}
    return MappingProxyType(table)


TABLE = _table()
"""An outcome for each code; rate limits are told from the status."""

_CHANGED: Mapping[int, Outcome] = {
    code: EditRefused(reason=f"Discord says {code}: {why}") for code, why in _REFUSED.items()
}
_MARKED: Mapping[int, Outcome] = {
    10008: NotModified(),
    10014: EditRefused(reason="Discord says 10014: the message does not have this reaction"),
    30010: EditRefused(reason="Discord says 30010: the message has as many different reactions as Discord allows"),
    50083: EditRefused(reason="Discord says 50083: the thread is archived"),
    90001: EditRefused(reason="Discord says 90001: its author has blocked the bot"),
}
TABLES: Mapping[type, Mapping[int, Outcome]] = MappingProxyType(
    {
        EditMessage: _CHANGED,
        DeleteMessage: {
            **_CHANGED,
            **{code: EditRefused(reason=f"Discord says {code}: its ticket is void") for code in DEAD_TOKENS},
        },
        MarkWaiting: _MARKED,
        UnmarkWaiting: {**_MARKED, 10014: NotModified()},
    }
)
"""What means something else for one kind of operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: an HTTP status, the body where it was JSON, and the headers, their names in small letters."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def ok(self) -> bool:
        """Whether Discord did what it was asked."""
        return 200 <= self.status < 300

    @property
    def fields(self) -> Json:
        """The body where it is a JSON object; else empty."""
        return mapping(self.body)

    @property
    def code(self) -> int:
        """Discord's code; 0 where there is none."""
        code = self.fields.get("code")
        return code if isinstance(code, int) else 0

    @property
    def limits_all(self) -> bool:
        """Whether nothing at all may be sent. Cloudflare says so without a body of Discord's."""
        told = self.fields.get("global") is True or self.headers.get("x-ratelimit-scope") == "global"
        return self.status == 429 and (told or "retry_after" not in self.fields)

    @property
    def is_invalid(self) -> bool:
        """Whether it is one of those of which Discord bears 10,000 in ten minutes."""
        shared = self.headers.get("x-ratelimit-scope") == "shared"
        return self.status in (401, 403) or (self.status == 429 and not shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing came back. ``sent`` says whether the request may have arrived."""

    sent: bool
    reason: str


def outcome(answer: Answer | NoAnswer, operation: Rendered) -> Outcome:
    """What became of an operation."""
    if isinstance(answer, NoAnswer):
        return Unknown(reason=answer.reason) if answer.sent else Unreachable(reason=answer.reason)
    if answer.ok:
        return _done(answer, operation)
    result = _refusal(answer, operation)
    if isinstance(result, MarkupRejected) and not (
        isinstance(operation, PostMessage | EditMessage) and operation.markup
    ):
        return Forbidden(reason=f"{result.reason}, though this was plain text")
    return result


def quota(answer: Answer) -> Quota | None:
    """What is left of the budget that a call drew on, as the headers say."""
    remaining, after = (_number(answer.headers.get(f"x-ratelimit-{name}")) for name in ("remaining", "reset-after"))
    return None if remaining is None or after is None else Quota(remaining=int(remaining), seconds=after)


def _done(answer: Answer, operation: Rendered) -> Outcome:
    match operation:
        case PostMessage():
            name = answer.fields.get("id")
            if not isinstance(name, str):
                return Unknown(reason="an answer without a message id")
            return Performed(message_id=name, quota=quota(answer))
        case ShowTyping():
            return Performed(message_id="", quota=quota(answer))
        case TellPrivately():  # each token has a budget of its own
            return Performed(message_id="")
        case EditMessage() | DeleteMessage() | MarkWaiting() | UnmarkWaiting():
            return Performed(message_id=operation.message_id, quota=quota(answer))


def _refusal(answer: Answer, operation: Rendered) -> Outcome:
    code = answer.code
    known = TABLES.get(type(operation), {}).get(code) or TABLE.get(code)
    if code == OLD and known is not None:
        return known
    if answer.status == 429:
        return RateLimited(retry_after=retry_after(answer), everything=answer.limits_all)
    if code == _FORM:
        return _form(answer)
    return known or _unlisted(answer)


def retry_after(answer: Answer) -> float:
    """The wait that Discord asks for, however long."""
    told = answer.fields.get("retry_after")
    exact = float(told) if isinstance(told, int | float) and not isinstance(told, bool) else None
    seconds = exact if exact is not None else _number(answer.headers.get("retry-after"))
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else RETRY_AFTER


def _form(answer: Answer) -> Outcome:
    """A field that Discord does not take. Which one, the tree of errors tells."""
    errors = mapping(answer.fields.get("errors"))
    codes = {str(mapping(each).get("code")) for each in _leaves(errors.get("content"))}
    if "BASE_TYPE_MAX_LENGTH" in codes:
        return TooLong()
    if "content" in errors:
        return MarkupRejected(reason=f"Discord says 50035 of the content: {', '.join(sorted(codes))}")
    names = ", ".join(sorted(name for name in errors if name.isidentifier())) or "something"
    return Forbidden(reason=f"Discord says 50035: it does not take {names}")


def _leaves(errors: object) -> list[object]:
    listed = mapping(errors).get("_errors")
    return [*listed] if isinstance(listed, list) else []


def _unlisted(answer: Answer) -> Outcome:
    """Without a known code the status has to do."""
    if answer.status == 413:
        return TooLong()
    if answer.status >= 500 or answer.status == 408:
        return Unknown(reason=f"HTTP {answer.status}")
    if answer.status == 401:
        return Unreachable(reason="Discord does not accept the bot token any more")
    if answer.code:
        return Forbidden(reason=f"Discord says {answer.code}")
    mend = f": {_INVITE}" if answer.status == 403 else " from something that is not Discord: check base_url"
    return Forbidden(reason=f"HTTP {answer.status}{mend}")


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
