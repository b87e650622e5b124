"""What Slack's answer to an operation means, as data.

Sources: the error lists of https://docs.slack.dev/reference/methods/chat.postMessage and its neighbours chat.update,
chat.delete, chat.postEphemeral, reactions.add, reactions.remove, conversations.history and conversations.replies;
https://docs.slack.dev/apis/web-api/rate-limits
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from adapters.slack.render import Rendered
from gateway.operation import (
    EditMessage,
    EditRefused,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    TellPrivately,
    ThreadRead,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)

RETRY_AFTER = 30.0
"""Seconds to wait where Slack limits us and does not say for how long; what its own SDK takes."""

_REINSTALL = "make or reinstall the app, then put its new bot token where the configuration looks for it"
_INVITE = "invite the bot to the channel (/invite in Slack)"
_SCOPE = "add the scopes of config/slack-manifest.yaml to the app and reinstall it"
_ADMIN = "a workspace administrator has to allow it"

_MENDS = {
    "access_denied": _ADMIN,
    "accesslimited": "this network may not use the workspace; " + _ADMIN,
    "cannot_reply_to_message": "this message takes no replies; write to the bot elsewhere",
    "channel_is_limited_access": _ADMIN,
    "channel_not_found": _INVITE,
    "ekm_access_denied": _ADMIN,
    "enterprise_is_restricted": _ADMIN,
    "is_archived": "the channel is archived",
    "is_inactive": "the channel is archived, frozen or deleted",
    "message_limit_exceeded": "the workspace has reached the limit of its free plan",
    "messages_tab_disabled": "switch on the Messages tab under App Home in the app's settings",
    "missing_scope": _SCOPE,
    "no_permission": _SCOPE,
    "not_in_channel": _INVITE,
    "restricted_action": _ADMIN,
    "restricted_action_non_threadable_channel": "the channel takes no threads; " + _ADMIN,
    "restricted_action_read_only_channel": "the channel is read-only; " + _ADMIN,
    "restricted_action_thread_locked": "the thread is locked; " + _ADMIN,
    "restricted_action_thread_only_channel": "the channel takes threads only; " + _ADMIN,
    "team_access_not_granted": _ADMIN,
    "user_not_in_channel": "only members of a channel are shown what is for them alone",
}

_REFUSALS = {
    "cant_delete_message": "the message is another app's; was the bot token changed for another app's?",
    "cant_update_message": "the message is another app's; was the bot token changed for another app's?",
    "compliance_exports_prevent_deletion": "the workspace keeps every message; " + _ADMIN,
    "edit_window_closed": 'the workspace forbids late edits; set surface = "post", or have the setting changed',
    "not_reactable": "this message takes no reactions",
    "thread_locked": "the thread is locked; " + _ADMIN,
    "too_many_emoji": "the message has as many different reactions as Slack allows",
    "too_many_reactions": "the message has as many reactions of ours as Slack allows",
}
"""What is said of one message and of no other."""

_TOKEN = ("account_inactive", "invalid_auth", "not_allowed_token_type", "not_authed", "token_expired", "token_revoked")


def _table() -> Mapping[str, Outcome]:
    did_nothing = ("external_channel_migrating", "org_login_required", "request_timeout", "team_added_to_org")
    # "It's possible some aspect of the operation succeeded", the documents say of most of these.
    may_be_done = ("fatal_error", "internal_error", "service_unavailable", "update_failed")
    rejected = ("block_mismatch", "invalid_attachments", "invalid_blocks", "invalid_blocks_format", "no_text")
    table: dict[str, Outcome] = {"message_not_found": MessageGone()}
    table |= dict.fromkeys(("attachment_payload_limit_exceeded", "msg_blocks_too_long", "msg_too_long"), TooLong())
    table |= {code: MarkupRejected(reason=code) for code in rejected}
    table |= {code: Unreachable(reason=f"Slack says {code}") for code in did_nothing}
    table |= {code: Unknown(reason=f"Slack says {code}") for code in may_be_done}
    table |= {code: Forbidden(reason=f"Slack says {code}: {mend}") for code, mend in _MENDS.items()}
    table |= {code: EditRefused(reason=f"Slack says {code}: {why}") for code, why in _REFUSALS.items()}
    # Nothing is wrong with the message: it waits until the operator has mended what is.
    table |= {code: Unreachable(reason=f"Slack says {code}: {_REINSTALL}") for code in _TOKEN}
    return MappingProxyType(table)


TABLE = _table()
"""An outcome for each error code; rate limits are told from the status, and by the codes below."""

_MARKED = {"already_reacted": NotModified(), "message_not_found": NotModified()}
_UNMARKED = {"no_reaction": NotModified(), "message_not_found": NotModified()}
_READ = {
    "invalid_cursor": Unreachable(reason="Slack says invalid_cursor: it forgot where we were"),
    "thread_not_found": ThreadRead(messages=()),
}
TABLES: Mapping[type, Mapping[str, Outcome]] = MappingProxyType(
    {MarkWaiting: _MARKED, UnmarkWaiting: _UNMARKED, ReadThread: _READ}
)
"""What means something else for one kind of operation."""

_LIMITS = frozenset({"ratelimited", "rate_limited"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: an HTTP status, the body where it was JSON of Slack's, and the ``Retry-After`` header."""

    status: int
    body: Mapping[str, object]
    retry_after: str | None = None

    @property
    def error(self) -> str | None:
        """Slack's error code; none where it says ok, or where it is not Slack who answers."""
        error = self.body.get("error")
        return error if isinstance(error, str) else None

    @property
    def ok(self) -> bool:
        """Whether Slack did what it was asked."""
        return self.status == 200 and self.body.get("ok") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """Nothing came back. ``sent`` says whether the request may have arrived."""

    sent: bool
    reason: str


def astray(operation: PostMessage | EditMessage, answer: Answer | NoAnswer) -> str | None:
    """The id of a message that was meant for a thread and stands at the channel's top level; none if all is well.

    That is where Slack puts the reply to a message that was deleted, without an error (measured by third parties). What
    somebody asked in a thread, and took back, is not for the whole channel.
    """
    if not isinstance(operation, PostMessage) or operation.address.thread is None or isinstance(answer, NoAnswer):
        return None
    message = answer.body.get("message")
    if not answer.ok or not isinstance(message, Mapping) or "thread_ts" in message:
        return None
    return str(answer.body.get("ts"))


def outcome(answer: Answer | NoAnswer, operation: Rendered) -> Outcome:
    """What became of an operation."""
    if isinstance(answer, NoAnswer) or not answer.ok:
        return refusal(answer, operation)
    if isinstance(operation, MarkWaiting | UnmarkWaiting):  # Slack says ok to these, and no more
        return Performed(message_id=operation.message_id)
    ts = answer.body.get("message_ts" if isinstance(operation, TellPrivately) else "ts")
    return Performed(message_id=ts) if isinstance(ts, str) else Unknown(reason="an answer without a message id")


def refusal(answer: Answer | NoAnswer, operation: Rendered | ReadThread) -> Outcome:
    """What anything but an ok means. Reading does nothing, so that whatever became of it, it may be done again."""
    result = _refusal(answer, operation)
    match operation, result:
        case ReadThread(), Unknown(reason=reason):
            return Unreachable(reason=reason)
        case PostMessage(markup=False) | EditMessage(markup=False), MarkupRejected(reason=reason):
            return Forbidden(reason=f"Slack says {reason}, though this was plain text")
        case TellPrivately(), MarkupRejected(reason=reason):
            return Forbidden(reason=f"Slack says {reason} of what was for one person alone")
        case _:
            return result


def _refusal(answer: Answer | NoAnswer, operation: Rendered | ReadThread) -> Outcome:
    if isinstance(answer, NoAnswer):
        return Unknown(reason=answer.reason) if answer.sent else Unreachable(reason=answer.reason)
    if answer.status == 429 or answer.error in _LIMITS:
        return RateLimited(retry_after=_seconds(answer.retry_after))
    code = answer.error or ""
    return TABLES.get(type(operation), {}).get(code) or TABLE.get(code) or _unlisted(answer)


def _seconds(header: str | None) -> float:
    """The wait that Slack asks for, however long."""
    try:
        seconds = float(header or "")
    except ValueError:
        return RETRY_AFTER
    return seconds if math.isfinite(seconds) and seconds >= 0 else RETRY_AFTER


def _unlisted(answer: Answer) -> Outcome:
    """Without a known code the status has to do."""
    if answer.status == 413:
        return TooLong()
    if answer.status >= 500 or answer.status == 408:
        return Unknown(reason=f"HTTP {answer.status}")
    if answer.error is not None:
        return Forbidden(reason=f"Slack says {answer.error}")
    if answer.status == 200:
        return Unknown(reason="an answer that is not Slack's")
    return Forbidden(reason=f"HTTP {answer.status} from something that is not Slack: check base_url and the network")
