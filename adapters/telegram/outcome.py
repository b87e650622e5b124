"""What Telegram's answer to an operation means, as data.

Telegram has no error codes but HTTP's: what is wrong stands in ``description``, in words that its server's source has
and its documents do not. So they are looked for as parts of it, whatever their case.

Sources: https://core.telegram.org/bots/api#making-requests and #responseparameters;
https://github.com/tdlib/telegram-bot-api/blob/master/telegram-bot-api/Client.cpp
"""

import math
from dataclasses import dataclass

from adapters.telegram.update import number
from gateway.operation import (
    EditRefused,
    Expired,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ShowTyping,
    TooLong,
    Unknown,
    Unreachable,
)
from gateway.payload import Json, mapping

RETRY_AFTER = 30.0
"""Seconds to wait where Telegram limits us and does not say for how long."""

_RENEW = "get the bot's token from @BotFather (/mybots, the bot, API Token) and put it where the configuration looks"
_INVITE = "add the bot to the group again"
_RIGHTS = "an administrator of the group has to let the bot write"
_START = "the person has to write to the bot first"

_MENDS = (
    ("bot was blocked", "the person has blocked the bot"),
    ("user is deactivated", "the person's account is gone"),
    ("can't initiate conversation", _START),
    ("bot was kicked", _INVITE),
    ("bot is not a member", _INVITE),
    ("chat not found", _START + ", or: " + _INVITE),
    ("peer_id_invalid", _START + ", or: " + _INVITE),
    ("group chat was deactivated", "the group is gone"),
    ("not enough rights", _RIGHTS),
    ("have no rights", _RIGHTS),
    ("need administrator rights", _RIGHTS),
    ("chat_write_forbidden", _RIGHTS),
    ("chat_restricted", _RIGHTS),
    ("topic_closed", "the topic is closed; an administrator of the group has to open it"),
)
"""What will never be done, and what a person can do about that."""

_TABLE: tuple[tuple[str, Outcome], ...] = (
    ("message is not modified", NotModified()),
    ("message to edit not found", MessageGone()),
    ("message to delete not found", MessageGone()),
    ("message_id_invalid", MessageGone()),
    ("message identifier is not specified", MessageGone()),
    ("message can't be edited", EditRefused(reason="Telegram says that the message can't be edited")),
    ("message can't be deleted", EditRefused(reason="Telegram says that the message can't be deleted")),
    ("query is too old", Expired()),
    ("query_id_invalid", Expired()),
    ("message is too long", TooLong()),
    ("message_too_long", TooLong()),
    ("can't parse", MarkupRejected(reason="Telegram can't parse the entities")),
    ("entity url", MarkupRejected(reason="Telegram does not take the address of a link")),
    ("entity begin", MarkupRejected(reason="an entity lies outside of the text")),
    ("entity end", MarkupRejected(reason="an entity lies outside of the text")),
    ("utf-16 symbol", MarkupRejected(reason="an entity parts a character")),
    ("receive an entity", MarkupRejected(reason="an entity lies outside of the text")),
    ("entity_bounds_invalid", MarkupRejected(reason="an entity lies outside of the text")),
    ("message text is empty", MarkupRejected(reason="nothing is left of the text")),
    ("text must be non-empty", MarkupRejected(reason="nothing is left of the text")),
)
"""An outcome for each part of a description with 400; the first that is there counts."""

THREAD_GONE = "message thread not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: an HTTP status, and the body where it was JSON of Telegram's."""

    status: int
    body: Json

    @property
    def ok(self) -> bool:
        """Whether Telegram did what it was asked."""
        return self.status == 200 and self.body.get("ok") is True

    @property
    def result(self) -> object:
        """What it gave."""
        return self.body.get("result")

    @property
    def description(self) -> str:
        """What it says is wrong; empty where it is not Telegram who answers."""
        said = self.body.get("description")
        return said if isinstance(said, str) else ""

    @property
    def parameters(self) -> Json:
        """What else it says about that."""
        return mapping(self.body.get("parameters"))

    @property
    def moved_to(self) -> int | None:
        """Where a group is now that became a supergroup."""
        return number(self.parameters.get("migrate_to_chat_id"))

    def says(self, part: str) -> bool:
        """Whether it refuses with these words."""
        return self.status == 400 and part in self.description.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing came back. ``sent`` says whether the request may have arrived."""

    sent: bool
    reason: str


def outcome(answer: Answer | NoAnswer, operation: Operation, moved: str | None = None) -> Outcome:
    """What came of an operation.

    Args:
        answer: Telegram's.
        operation: what was asked for.
        moved: the chat where it was done, where that is another than the operation names.
    """
    if isinstance(answer, NoAnswer):
        return Unknown(reason=answer.reason) if answer.sent else Unreachable(reason=answer.reason)
    if answer.ok:
        return _performed(answer, operation, moved)
    if answer.status == 429:
        return RateLimited(retry_after=wait(answer))
    return _refusal(answer)


def wait(answer: Answer) -> float:
    """The seconds that Telegram asks us to wait, however many."""
    seconds = answer.parameters.get("retry_after")
    if isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0:
        return float(seconds)
    return RETRY_AFTER


def _performed(answer: Answer, operation: Operation, moved: str | None) -> Outcome:
    if not isinstance(operation, PostMessage):
        identifier = "" if isinstance(operation, ShowTyping) else getattr(operation, "message_id", "")
        return Performed(message_id=str(identifier))
    identifier = number(mapping(answer.result).get("message_id"))
    if identifier is None:
        return Unknown(reason="an answer that is not Telegram's")
    return Performed(message_id=str(identifier) if moved is None else f"{moved}/{identifier}")


def _refusal(answer: Answer) -> Outcome:
    said = answer.description
    if answer.status == 413:
        return TooLong()
    if answer.status >= 500 or answer.status == 408:
        return Unknown(reason=f"HTTP {answer.status}")
    if not said:
        reason = f"HTTP {answer.status} from something that is not Telegram: check base_url and the network"
        return Unknown(reason=reason) if answer.status == 200 else Forbidden(reason=reason)
    if answer.status in (401, 404):  # nothing is wrong with the message: it waits until the operator has mended that
        return Unreachable(reason=f"Telegram says {said}: {_RENEW}")
    lower = said.lower()
    if answer.status == 400:
        for part, meaning in _TABLE:
            if part in lower:
                return meaning
    mend = next((mend for part, mend in _MENDS if part in lower), None)
    return Forbidden(reason=f"Telegram says {said}" + (f": {mend}" if mend else ""))
