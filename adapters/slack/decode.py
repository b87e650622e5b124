"""What a Slack event means.

Rule 1: everything that arrives is an inbound, malformed or not; nothing raises.
Rule 2: a message is for us where it is a direct one, or where it mentions us. ``app_mention`` and ``message`` of one
    ``ts`` have one message id, so that whichever an app is subscribed to, or both, a message is answered once.
Rule 3: no bot is answered, least of all ourselves.

Sources: https://docs.slack.dev/reference/events/app_mention , .../events/message and
https://docs.slack.dev/messaging/formatting-message-text
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from adapters.slack.entity import unescape
from gateway.address import Address
from gateway.inbound import Ignored, Inbound, MessageReceived

_SPOKEN = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""The subtypes of a message that somebody wrote."""

_SLACKBOT = "USLACKBOT"  # has no bot id
_ID = re.compile(r"[!-~]{1,255}")
_TS = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")
_WORD = re.compile(r"[a-z_.]{1,60}")
_MARKED = re.compile("<([^<>]+)>|&(?:amp|lt|gt);")
_BROADCASTS = frozenset({"here", "channel", "everyone"})

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who we are in a workspace, as ``auth.test`` tells."""

    team: str
    user: str
    bot: str


def decode(body: object, me: Identity) -> Inbound:
    """The inbound of one payload, as it came through the socket."""
    body = _object(body)
    event_id = f"slack:{me.team}:{_delivery(body)}"
    event = _object(body.get("event"))
    reason = _bot(event, me, body.get("api_app_id")) or _unspoken(event) or _malformed(event) or _elsewhere(event, me)
    if reason:
        return Ignored(event_id=event_id, reason=reason)
    return _message(event, me, event_id)


def _delivery(body: Json) -> str:
    """Slack's name for the delivery; where it has none, what was delivered is its name, again if it comes again."""
    event_id = body.get("event_id")
    if isinstance(event_id, str) and _ID.fullmatch(event_id):
        return event_id
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]


def _bot(event: Json, me: Identity, app: object) -> str | None:
    """Why its author is not a person."""
    user, bot = event.get("user"), event.get("bot_id")
    if me.user == user or me.bot == bot or (app and app == event.get("app_id")):
        return "our own message"
    if bot or user == _SLACKBOT or event.get("bot_profile") or event.get("app_id"):
        return "another bot's message"
    return None


def _unspoken(event: Json) -> str | None:
    """Why it is not something that was said just now."""
    kind, subtype = event.get("type"), event.get("subtype")
    if kind not in ("message", "app_mention"):
        return f"not a message: {_word(kind)}"
    if not (subtype is None or (isinstance(subtype, str) and subtype in _SPOKEN)):
        return f"not a new message: {_word(subtype)}"
    return "a hidden message" if event.get("hidden") else None


def _malformed(event: Json) -> str | None:
    """Why it cannot be read."""
    needed = {"user": _ID, "channel": _ID, "ts": _TS}
    if event.get("thread_ts") is not None:
        needed["thread_ts"] = _TS
    for name, pattern in needed.items():
        value = event.get(name)
        if not (isinstance(value, str) and pattern.fullmatch(value)):
            return f"malformed: no usable {name}"
    if not (isinstance(event.get("text"), str) or _files(event)):
        return "malformed: neither text nor files"
    return None


def _elsewhere(event: Json, me: Identity) -> str | None:
    """Why it is not meant for us."""
    if event["type"] == "app_mention" or _direct(event) or _mention(me).search(_text(event)):
        return None
    return "not addressed to the bot"


def _message(event: Json, me: Identity, event_id: str) -> MessageReceived:
    channel, ts, thread = str(event["channel"]), str(event["ts"]), event.get("thread_ts")
    direct = _direct(event)
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
        user=str(event["user"]),
        text="\n".join(part for part in (_spoken(_text(event), me), *_files(event)) if part),
        direct=direct,
    )


def _direct(event: Json) -> bool:
    """Whether two talk alone. Where an event has no channel type, the channel's id tells."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def _text(event: Json) -> str:
    """The text as sent, without what no database takes: lone surrogates and NUL."""
    text = event.get("text")
    if not isinstance(text, str):
        return ""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _files(event: Json) -> list[str]:
    """A note for each file."""
    files = event.get("files")
    return [_file(_object(file)) for file in cast("list[object]", files)] if isinstance(files, list) else []


def _file(file: Json) -> str:
    name = " ".join(_text({"text": file.get("name")}).split()) or "without a name"
    return f"[a file was attached: {name}; it cannot be read yet]"


def _mention(me: Identity) -> re.Pattern[str]:
    """Our mention; where it stands as a word of its own, with the blanks behind it."""
    mention = rf"<@{re.escape(me.user)}(?:\|[^<>]*)?>"
    return re.compile(rf"(?<!\S){mention}[ \t]*|{mention}")


def _spoken(text: str, me: Identity) -> str:
    """What the person wrote to us, in one pass, so that nothing is unescaped twice."""
    return _MARKED.sub(_plain, _mention(me).sub("", text)).strip()


def _plain(marked: re.Match[str]) -> str:
    if marked[1] is None:
        return unescape(marked[0])
    target, _, label = marked[1].partition("|")
    target, label = unescape(target), unescape(label)
    match target[:1]:
        case "@" | "#" as sign:
            return sign + (label or target[1:])
        case "!":
            return _special(target[1:], label)
        case _:
            return _link(target, label)


def _special(command: str, label: str) -> str:
    """``!here``, ``!subteam^S1``, ``!date^...``: what people see of them."""
    name, _, rest = command.partition("^")
    if name in _BROADCASTS:
        return f"@{name}"
    if name == "subteam":
        return "@" + (label.removeprefix("@") or rest)
    return label or name


def _link(url: str, label: str) -> str:
    scheme, _, bare = url.partition(":")
    if label == bare and scheme in ("mailto", "tel"):
        return label
    if label in ("", url) or label == bare.strip("/"):  # Slack made a link of what the person typed
        return url
    return f"{label} ({url})"


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _word(value: object) -> str:
    """A name of Slack's, for a reason; never what people wrote."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "unknown"
