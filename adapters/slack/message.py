"""A message as Slack writes it, in an event or in a listing: who said it, and what.

Nothing here raises, whatever stands in it.
"""

import re
from typing import cast

from adapters.slack.identity import Identity
from adapters.slack.markup import plain
from gateway.payload import Json, mapping, words

ID = re.compile(r"[!-~]{1,255}")
TS = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")

SPOKEN = frozenset({None, "file_share", "thread_broadcast", "me_message"})
"""The subtypes of a message that somebody wrote."""


def is_ours(message: Json, me: Identity, app: object = None) -> bool:
    """Whether we wrote it. ``app`` is our app's id, where it is known."""
    by_app = bool(app) and app == message.get("app_id")
    return me.user == message.get("user") or me.bot == message.get("bot_id") or by_app


def mentions(message: Json, me: Identity) -> bool:
    """Whether it names us."""
    return _mention(me).search(text(message)) is not None


def text(message: Json) -> str:
    """The text as sent, without what no database takes: lone surrogates and NUL."""
    return words(message.get("text"))


def files(message: Json) -> list[str]:
    """A note for each file."""
    attached = message.get("files")
    return [_file(mapping(file)) for file in cast("list[object]", attached)] if isinstance(attached, list) else []


def heard(message: Json, me: Identity) -> str:
    """What was said, without our mention and with the escapes undone, and a note for each file."""
    words = plain(_mention(me).sub("", text(message))).strip()
    return "\n".join(part for part in (words, *files(message)) if part)


def _file(file: Json) -> str:
    name = " ".join(text({"text": file.get("name")}).split()) or "without a name"
    return f"[a file was attached: {name}; it cannot be read yet]"


def _mention(me: Identity) -> re.Pattern[str]:
    """Our mention; where it stands as a word of its own, with the blanks behind it."""
    mention = rf"<@{re.escape(me.user)}(?:\|[^<>]*)?>"
    return re.compile(rf"(?<!\S){mention}[ \t]*|{mention}")
