"""A message as Discord writes it: who said it, and what. Nothing here raises, whatever stands in it."""

import re
from collections.abc import Iterable

from adapters.discord.identity import Identity
from gateway.inbound import Quotation
from gateway.payload import Json, items, mapping, words

ID = re.compile(r"[0-9]{1,20}")

SPOKEN = frozenset({0, 19})
"""The types of a message that somebody wrote: by itself, or as a reply."""

_FORWARD = 1


def author(message: Json) -> str:
    """Who wrote it; empty where it does not say."""
    name = mapping(message.get("author")).get("id")
    return name if isinstance(name, str) else ""


def mentions(message: Json, me: Identity) -> bool:
    """Whether it names us. Everybody is not us."""
    return any(mapping(user).get("id") == me.user for user in items(message.get("mentions")))


def heard(message: Json, me: Identity, roles: Iterable[str] = ()) -> str:
    """What was said, without our mention, and a note for each thing that was sent along.

    Args:
        message: as it came.
        me: whose mention it is.
        roles: that are ours alone, and so our names, too.
    """
    said = _mention(me, roles).sub("", words(message.get("content"))).strip()
    return "\n".join(part for part in (said, *_things(message)) if part)


def quotation(message: Json) -> Quotation | None:
    """What it replies to. Without the message-content intent the text is often empty."""
    answered = mapping(message.get("referenced_message"))
    if not (user := author(answered)) or not ID.fullmatch(user):
        return None
    said = words(answered.get("content")).strip()
    return Quotation(user=user, text="\n".join(part for part in (said, *_things(answered)) if part))


def _things(message: Json) -> list[str]:
    files = [f"[a file was attached: {_name(each, 'filename')}]" for each in items(message.get("attachments"))]
    stickers = [f"[a sticker was sent: {_name(each, 'name')}]" for each in items(message.get("sticker_items"))]
    forward = mapping(message.get("message_reference")).get("type") == _FORWARD
    notes = [note.replace("]", "; it cannot be read yet]") for note in files]
    return [*notes, *stickers, *(["[a message was forwarded; it cannot be read yet]"] if forward else [])]


def _name(thing: object, field: str) -> str:
    return " ".join(words(mapping(thing).get(field)).replace("]", ")").split()) or "without a name"


def _mention(me: Identity, roles: Iterable[str]) -> re.Pattern[str]:
    """Our mention; where it stands as a word of its own, with the blanks behind it."""
    names = [rf"@!?{re.escape(me.user)}", *(rf"@&{re.escape(role)}" for role in roles)]
    mention = f"<(?:{'|'.join(names)})>"
    return re.compile(rf"(?<!\S){mention}[ \t]*|{mention}")
