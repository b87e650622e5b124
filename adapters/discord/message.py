"""A message as Discord writes it: who said it, and what. Nothing here raises, whatever stands in it."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from adapters.discord.identity import Identity
from gateway.inbound import Quotation

Json = Mapping[str, object]

ID = re.compile(r"[0-9]{1,20}")

SPOKEN = frozenset({0, 19})
"""The types of a message that somebody wrote: by itself, or as a reply."""

_FORWARD = 1


def mapping(value: object) -> Json:
    """The JSON object; empty where it is something else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def listed(fields: Json, name: str) -> list[object]:
    """The list of that name; empty where it is something else."""
    value = fields.get(name)
    return cast("list[object]", value) if isinstance(value, list) else []


def clean(value: object) -> str:
    """Text without what no database takes: lone surrogates and NUL; empty where it is no text."""
    if not isinstance(value, str):
        return ""
    sound = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sound.replace("\0", "\N{REPLACEMENT CHARACTER}")


def author(message: Json) -> str:
    """Who wrote it; empty where it does not say."""
    name = mapping(message.get("author")).get("id")
    return name if isinstance(name, str) else ""


def mentions(message: Json, me: Identity) -> bool:
    """Whether it names us. Everybody is not us."""
    return any(mapping(user).get("id") == me.user for user in listed(message, "mentions"))


def heard(message: Json, me: Identity, roles: Iterable[str] = ()) -> str:
    """What was said, without our mention, and a note for each thing that was sent along.

    Args:
        message: as it came.
        me: whose mention it is.
        roles: that are ours alone, and so our names, too.
    """
    words = _mention(me, roles).sub("", clean(message.get("content"))).strip()
    return "\n".join(part for part in (words, *_things(message)) if part)


def quotation(message: Json) -> Quotation | None:
    """What it replies to. Without the message-content intent the text is often empty."""
    answered = mapping(message.get("referenced_message"))
    if not (user := author(answered)) or not ID.fullmatch(user):
        return None
    words = "\n".join(part for part in (clean(answered.get("content")).strip(), *_things(answered)) if part)
    return Quotation(user=user, text=words)


def _things(message: Json) -> list[str]:
    files = [f"[a file was attached: {_name(each, 'filename')}]" for each in listed(message, "attachments")]
    stickers = [f"[a sticker was sent: {_name(each, 'name')}]" for each in listed(message, "sticker_items")]
    forward = mapping(message.get("message_reference")).get("type") == _FORWARD
    notes = [note.replace("]", "; it cannot be read yet]") for note in files]
    return [*notes, *stickers, *(["[a message was forwarded; it cannot be read yet]"] if forward else [])]


def _name(thing: object, field: str) -> str:
    return " ".join(clean(mapping(thing).get(field)).replace("]", ")").split()) or "without a name"


def _mention(me: Identity, roles: Iterable[str]) -> re.Pattern[str]:
    """Our mention; where it stands as a word of its own, with the blanks behind it."""
    names = [rf"@!?{re.escape(me.user)}", *(rf"@&{re.escape(role)}" for role in roles)]
    mention = f"<(?:{'|'.join(names)})>"
    return re.compile(rf"(?<!\S){mention}[ \t]*|{mention}")
