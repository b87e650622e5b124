"""What a dispatch of Discord's gateway means.

Rule 1: everything that arrives is an inbound, malformed or not; nothing raises.
Rule 2: a message is for us where it is a direct one, or where it names us or the role that is ours alone. Everybody
    is not us. A reply to us names us, unless its author took care that it does not.
Rule 3: no bot and no webhook is answered, least of all ourselves.
Rule 4: an edit is one where somebody edited: Discord says ``MESSAGE_UPDATE`` for link previews, too. An edit never
    becomes a command.
Rule 5: a command that is typed has nothing beside it but our mention and what it is about; in a direct message it has
    ``!`` in front, or names us.
Rule 6: a thread belongs to the channel that it hangs on.

Source: https://docs.discord.com/developers/events/gateway-events#messages
"""

import hashlib
import json
import re

from adapters.discord import interaction
from adapters.discord.directory import Directory
from adapters.discord.identity import Identity
from adapters.discord.message import ID, SPOKEN, author, heard, mentions, quotation
from gateway import command
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageDeleted, MessageEdited, MessageReceived
from gateway.payload import Json, items, mapping, words

OURS = "our own message"
ELSEWHERE = "not addressed to the bot"

_EVENT = re.compile(r"[A-Z_]{1,60}")


def decode(event: str, data: object, me: Identity, places: Directory) -> Inbound:
    """The inbound of one dispatch.

    Args:
        event: its name, such as "MESSAGE_CREATE".
        data: its payload.
        me: us.
        places: what is known of channels and guilds.
    """
    fields = mapping(data)
    name = fields.get("id")
    known = isinstance(name, str) and ID.fullmatch(name) is not None
    event_id = f"discord:{me.application}:{name if known else _digest(event, data)}"
    match event:
        case "INTERACTION_CREATE":
            return interaction.decode(fields, me, places, event_id)
        case "MESSAGE_CREATE":
            return _said(fields, me, places, event_id)
        case "MESSAGE_UPDATE":
            return _edited(fields, me, places, f"{event_id}:edited:{_instant(fields.get('edited_timestamp'))}")
        case "MESSAGE_DELETE":
            return _deleted(fields, me, places, f"{event_id}:deleted")
        case _:
            what = event if _EVENT.fullmatch(event) else "unknown"
            return Ignored(event_id=event_id, reason=f"not a message: {what}")


def _digest(event: str, data: object) -> str:
    """What was delivered is its name where it has none, and again if it comes again."""
    return hashlib.sha256(json.dumps([event, data], sort_keys=True, default=str).encode()).hexdigest()[:32]


def _instant(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[-+:.0-9TZ]{1,40}", value) else "unknown"


def _said(fields: Json, me: Identity, places: Directory, event_id: str) -> Inbound:
    if reason := _foreign(fields, me) or _elsewhere(fields, me, places):
        return Ignored(event_id=event_id, reason=reason)
    message = _message(fields, me, places, event_id)
    return _command(fields, message, me) or message


def _edited(fields: Json, me: Identity, places: Directory, event_id: str) -> Inbound:
    reason = _foreign(fields, me) or (None if fields.get("edited_timestamp") else "changed, but nobody edited it")
    if reason := reason or _elsewhere(fields, me, places):
        return Ignored(event_id=event_id, reason=reason)
    return MessageEdited(event_id=event_id, message=_message(fields, me, places, event_id))


def _deleted(fields: Json, me: Identity, places: Directory, event_id: str) -> Inbound:
    """Discord tells neither whose it was nor what it said; whether it was for us, the store knows."""
    if reason := _placeless(fields):
        return Ignored(event_id=event_id, reason=reason)
    channel, name = str(fields["channel_id"]), str(fields["id"])
    return MessageDeleted(
        event_id=event_id,
        message_id=f"discord:{me.application}:{channel}:{name}",
        address=address(channel, me, places),
    )


def _foreign(fields: Json, me: Identity) -> str | None:
    """Why it is not what a person says."""
    return _bot(fields, me) or _placeless(fields) or _unspoken(fields)


def _bot(fields: Json, me: Identity) -> str | None:
    """Why its author is not a person."""
    if author(fields) == me.user or fields.get("application_id") == me.application:
        return OURS
    wrote = mapping(fields.get("author"))
    marks = (fields.get("webhook_id"), fields.get("application_id"), wrote.get("bot"), wrote.get("system"))
    return "another bot's message" if any(marks) else None


def _placeless(fields: Json) -> str | None:
    """Why nobody can say which message it is, or where."""
    for name in ("id", "channel_id"):
        if not (isinstance(value := fields.get(name), str) and ID.fullmatch(value)):
            return f"malformed: no usable {name}"
    guild = fields.get("guild_id")
    usable = guild is None or (isinstance(guild, str) and ID.fullmatch(guild))
    return None if usable else "malformed: no usable guild_id"


def _unspoken(fields: Json) -> str | None:
    """Why it is not something that was said."""
    kind = fields.get("type", 0)
    if not (isinstance(kind, int) and kind in SPOKEN):
        return f"not a new message: {kind}" if isinstance(kind, int) else "malformed: no usable type"
    if not ID.fullmatch(author(fields)):
        return "malformed: no usable author"
    return None if isinstance(fields.get("content"), str) else "malformed: no content"


def _elsewhere(fields: Json, me: Identity, places: Directory) -> str | None:
    """Why it is not meant for us."""
    named = fields.get("guild_id") is None or mentions(fields, me) or bool(_roles(fields, places))
    return None if named else ELSEWHERE


def _roles(fields: Json, places: Directory) -> list[str]:
    """The roles among those it names that are ours alone."""
    guild = str(fields.get("guild_id"))
    return [str(role) for role in items(fields.get("mention_roles")) if places.is_ours(guild, words(role))]


def address(channel: str, me: Identity, places: Directory) -> Address:
    """Where a channel's conversation lives."""
    parent = places.parent(channel)
    return Address(
        platform="discord",
        account=me.application,
        channel=parent or channel,
        thread=channel if parent else None,
    )


def _message(fields: Json, me: Identity, places: Directory, event_id: str) -> MessageReceived:
    channel, guild = str(fields["channel_id"]), fields.get("guild_id")
    return MessageReceived(
        event_id=event_id,
        message_id=f"discord:{me.application}:{channel}:{fields['id']}",
        address=address(channel, me, places),
        user=author(fields),
        text=heard(fields, me, _roles(fields, places)),
        direct=guild is None,
        space=None if guild is None else str(guild),
        quotation=quotation(fields),
    )


def _command(fields: Json, message: MessageReceived, me: Identity) -> CommandReceived | None:
    """The command that the message is, if it is nothing else."""
    word = message.text
    if message.direct:
        if not (word.startswith("!") or mentions(fields, me)):
            return None
        word = word.removeprefix("!")
        if word[:1].isspace():
            return None
    if (given := command.parse(word)) is None:
        return None
    return CommandReceived(
        event_id=message.event_id,
        message_id=message.message_id,
        address=message.address,
        user=message.user,
        command=given[0],
        argument=given[1],
        direct=message.direct,
        space=message.space,
    )
