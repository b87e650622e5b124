"""What a Slack event means.

Rule 1: everything that arrives is an inbound, malformed or not; nothing raises.
Rule 2: a message is for us where it is a direct one, or where it mentions us. ``app_mention`` and ``message`` of one
    ``ts`` have one message id, so that whichever an app is subscribed to, or both, a message is answered once.
Rule 3: no bot is answered, least of all ourselves.
Rule 4: an edit is one only where the words changed: Slack says ``message_changed`` for link previews and language
    detection, too. It counts where either version is for us. An edit never becomes a command.
Rule 5: a command is what ``gateway.command`` knows as one, with nothing beside it but our mention; in a direct message
    it has ``!`` in front, or names us.

Sources: https://docs.slack.dev/reference/events/app_mention , .../events/message and its pages ``message_changed`` and
``message_deleted``.
"""

import hashlib
import json
import re

from adapters.slack.identity import Identity
from adapters.slack.message import ID, SPOKEN, TS, files, heard, is_ours, mentions, text
from adapters.slack.press import decode_press
from gateway.address import Address
from gateway.command import parse
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageDeleted, MessageEdited, MessageReceived
from gateway.payload import Json, mapping

_SLACKBOT = "USLACKBOT"  # has no bot id
_WORD = re.compile(r"[a-z_.]{1,60}")
_FULL_STOP = re.compile(r"(?<=\w)[.!]\Z")


def decode(body: object, me: Identity) -> Inbound:
    """The inbound of one payload, as it came through the socket."""
    body = mapping(body)
    event_id = f"slack:{me.team}:{_delivery(body)}"
    if body.get("type") == "block_actions":
        return decode_press(body, me, event_id)
    event, app = mapping(body.get("event")), body.get("api_app_id")
    subtype = event.get("subtype") if event.get("type") == "message" else None
    if subtype == "message_deleted":
        return _deleted(_version(event, "previous_message", event.get("deleted_ts")), me, app, event_id)
    if subtype == "message_changed":
        after, before = _version(event, "message"), _version(event, "previous_message")
        if after.get("subtype") == "tombstone":  # what Slack leaves of a deleted message that has replies
            return _deleted(before, me, app, event_id)
        return _edited(after, before, me, app, event_id)
    return _said(event, me, app, event_id)


def _delivery(body: Json) -> str:
    """Slack's name for the delivery; where it has none, what was delivered is its name, again if it comes again."""
    event_id = body.get("event_id")
    if isinstance(event_id, str) and ID.fullmatch(event_id):
        return event_id
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]


def _version(event: Json, name: str, ts: object = None) -> Json:
    """A message inside of an event, with the place that only the event tells."""
    message = dict(mapping(event.get(name)))
    if ts is not None:
        message["ts"] = ts
    return message | {"channel": event.get("channel"), "channel_type": event.get("channel_type")}


def _said(event: Json, me: Identity, app: object, event_id: str) -> Inbound:
    if reason := _foreign(event, me, app) or _elsewhere(event, me):
        return Ignored(event_id=event_id, reason=reason)
    message = _message(event, me, event_id)
    return _command(event, message, me) or message


def _edited(after: Json, before: Json, me: Identity, app: object, event_id: str) -> Inbound:
    reason = _foreign(after, me, app) or _unchanged(after, before)
    reason = reason or (_elsewhere(after, me) and _elsewhere(before, me))
    if reason:
        return Ignored(event_id=event_id, reason=reason)
    return MessageEdited(event_id=event_id, message=_message(after, me, event_id))


def _deleted(before: Json, me: Identity, app: object, event_id: str) -> Inbound:
    if reason := _foreign(before, me, app) or _elsewhere(before, me):
        return Ignored(event_id=event_id, reason=reason)
    message = _message(before, me, event_id)
    return MessageDeleted(event_id=event_id, message_id=message.message_id, address=message.address)


def _foreign(message: Json, me: Identity, app: object) -> str | None:
    """Why it is not what a person says."""
    return _bot(message, me, app) or _unspoken(message) or _malformed(message)


def _bot(message: Json, me: Identity, app: object) -> str | None:
    """Why its author is not a person."""
    if is_ours(message, me, app):
        return "our own message"
    marks = (message.get("bot_id"), message.get("bot_profile"), message.get("app_id"))
    return "another bot's message" if any(marks) or message.get("user") == _SLACKBOT else None


def _unspoken(message: Json) -> str | None:
    """Why it is not something that was said."""
    kind, subtype = message.get("type"), message.get("subtype")
    if kind not in ("message", "app_mention"):
        return f"not a message: {_word(kind)}"
    if not (subtype is None or (isinstance(subtype, str) and subtype in SPOKEN)):
        return f"not a new message: {_word(subtype)}"
    return "a hidden message" if message.get("hidden") else None


def _malformed(message: Json) -> str | None:
    """Why it cannot be read."""
    needed = {"user": ID, "channel": ID, "ts": TS}
    if message.get("thread_ts") is not None:
        needed["thread_ts"] = TS
    for name, pattern in needed.items():
        value = message.get(name)
        if not (isinstance(value, str) and pattern.fullmatch(value)):
            return f"malformed: no usable {name}"
    if not (isinstance(message.get("text"), str) or files(message)):
        return "malformed: neither text nor files"
    return None


def _unchanged(after: Json, before: Json) -> str | None:
    """Why it is no edit. Where Slack does not say what there was before, its note that somebody edited has to do."""
    edited = mapping(after.get("edited"))
    if "text" not in before and "files" not in before:
        return None if edited else "changed, but nobody edited it"
    same = text(after) == text(before) and files(after) == files(before)
    return "changed, but not in its words" if same else None


def _elsewhere(message: Json, me: Identity) -> str | None:
    """Why it is not meant for us."""
    if message.get("type") == "app_mention" or _direct(message) or mentions(message, me):
        return None
    return "not addressed to the bot"


def _message(message: Json, me: Identity, event_id: str) -> MessageReceived:
    channel, ts, thread = str(message["channel"]), str(message["ts"]), message.get("thread_ts")
    direct = _direct(message)
    if direct and thread == ts:  # the root of a thread stands in the conversation itself
        thread = None
    elif not direct:
        thread = thread or ts
    return MessageReceived(
        event_id=event_id,
        message_id=f"slack:{me.team}:{channel}:{ts}",
        address=Address(
            platform="slack", account=me.team, channel=channel, thread=None if thread is None else str(thread)
        ),
        user=str(message["user"]),
        text=heard(message, me),
        direct=direct,
        first=thread in (None, ts),
    )


def _command(event: Json, message: MessageReceived, me: Identity) -> CommandReceived | None:
    """The command that the message is, if it is nothing else."""
    word = message.text
    if message.direct:
        if not (word.startswith("!") or mentions(event, me)):
            return None
        word = word.removeprefix("!")
    given = None if word[:1].isspace() else parse(_FULL_STOP.sub("", word))
    if given is None:
        return None
    command, argument = given
    return CommandReceived(
        event_id=message.event_id,
        message_id=message.message_id,
        address=message.address,
        user=message.user,
        command=command,
        argument=argument,
        direct=message.direct,
    )


def _direct(message: Json) -> bool:
    """Whether two talk alone. Where an event has no channel type, the channel's id tells."""
    return message.get("channel_type") == "im" or str(message.get("channel")).startswith("D")


def _word(value: object) -> str:
    """A name of Slack's, for a reason; never what people wrote."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "unknown"
