"""What a slash command means, or a press of a button, and by what it is answered.

Rule 1: as for messages: everything is an inbound, and nothing raises.
Rule 2: its ticket is a guest's where the bot could not write by itself: the application is not installed in that
    place, the bot is no member of the guild, or may not write in the channel.
Rule 3: commands are answered so that only who gave them sees it; what is asked, is asked before everybody.
Rule 4: a press is one of a button below a message of ours. Its data is taken as it is, and proves nothing; what can be
    said to who pressed goes by its token.

Sources: https://docs.discord.com/developers/interactions/receiving-and-responding and .../components/reference
"""

from typing import cast

from adapters.discord.directory import THREADS, Directory
from adapters.discord.identity import Identity
from adapters.discord.message import ID, author
from gateway import command
from gateway.address import Address
from gateway.inbound import Command, CommandReceived, Ignored, Inbound, MessageReceived, PressReceived, Ticket
from gateway.payload import Json, items, mapping, words

LIFETIME = 900.0
"""Platform seconds that an interaction's token lives."""

OPENING = "@"
"""With what the id of a message begins that is the first answer to an interaction, followed by the interaction's id."""

ASK = "ask"
QUESTION = "text"
COMMANDS: tuple[Command, ...] = ("new", "stop", "status", "help", "approve", "deny", "approvals", "revoke")

DATA_LIMIT = 100
"""Characters in a button's ``custom_id``."""

VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11
SEND_MESSAGES_IN_THREADS = 1 << 38

_APPLICATION_COMMAND = 2
_CHAT_INPUT = 1
_BOT_DM = 1
_PRIVATE_CHANNEL = 2
_COMPONENT = 3
_BUTTON = 2
_KINDS = {1: "a ping", 3: "a button or a menu", 4: "an autocompletion", 5: "a form"}


def decode(fields: Json, me: Identity, places: Directory, event_id: str) -> Inbound:
    """The inbound of an interaction."""
    data = mapping(fields.get("data"))
    if fields.get("type") == _COMPONENT and data.get("component_type") == _BUTTON:
        return _pressed(fields, me, places, event_id)
    if reason := _unasked(fields, data) or _malformed(fields):
        return Ignored(event_id=event_id, reason=reason)
    channel, guild = mapping(fields.get("channel")), fields.get("guild_id")
    where = _address(fields, channel, me, places)
    message_id = f"discord:{me.application}:{fields['channel_id']}:{OPENING}{fields['id']}"
    space, direct = None if guild is None else str(guild), _direct(fields, channel)
    ticket, given = _ticket(fields, where, places), _given(data)
    if data["name"] == ASK:
        return MessageReceived(
            event_id=event_id,
            message_id=message_id,
            address=where,
            user=_user(fields),
            text=given,
            direct=direct,
            space=space,
            ticket=ticket,
        )
    return CommandReceived(
        event_id=event_id,
        message_id=message_id,
        address=where,
        user=_user(fields),
        command=cast("Command", data["name"]),
        argument=_argument(str(data["name"]), given),
        direct=direct,
        space=space,
        ticket=ticket,
    )


def _pressed(fields: Json, me: Identity, places: Directory, event_id: str) -> PressReceived | Ignored:
    message, pressed = mapping(fields.get("message")), words(mapping(fields.get("data")).get("custom_id"))
    if reason := _malformed(fields) or _not_ours(message, me):
        return Ignored(event_id=event_id, reason=reason)
    if not 0 < len(pressed) <= DATA_LIMIT:
        return Ignored(event_id=event_id, reason="a press without data of ours")
    channel, guild = mapping(fields.get("channel")), fields.get("guild_id")
    where = _address(fields, channel, me, places)
    return PressReceived(
        event_id=event_id,
        press=str(fields["id"]),
        message_id=f"discord:{me.application}:{fields['channel_id']}:{message['id']}",
        address=where,
        user=_user(fields),
        data=pressed,
        direct=_direct(fields, channel),
        space=None if guild is None else str(guild),
        ticket=_ticket(fields, where, places),
    )


def _not_ours(message: Json, me: Identity) -> str | None:
    """Why the button is none of a message of ours."""
    name = message.get("id")
    if not (isinstance(name, str) and ID.fullmatch(name)):
        return "malformed: no usable message"
    return None if author(message) == me.user else "a press below another's message"


def _given(data: Json) -> str:
    """What was filled in."""
    return words(next((mapping(each).get("value") for each in items(data.get("options"))), "")).strip()


def _argument(name: str, given: str) -> str:
    """What a command is about: as it is understood where it is typed, else as it was filled in."""
    understood = command.parse(f"{name} {given}")
    return given if understood is None else understood[1]


def _ticket(fields: Json, where: Address, places: Directory) -> Ticket:
    return Ticket(
        secret=str(fields["token"]),
        lifetime=LIFETIME,
        opening=f"{OPENING}{fields['id']}",
        guest=_guest(fields, where, places),
    )


def _unasked(fields: Json, data: Json) -> str | None:
    """Why it is no command of ours."""
    kind = fields.get("type")
    if kind != _APPLICATION_COMMAND:
        return f"not a command: {_KINDS.get(kind, 'unknown') if isinstance(kind, int) else 'unknown'}"
    ours = data.get("type", _CHAT_INPUT) == _CHAT_INPUT and data.get("name") in (ASK, *COMMANDS)
    return None if ours else "not a command of ours"


def _malformed(fields: Json) -> str | None:
    """Why it cannot be read."""
    for name in ("id", "channel_id", "guild_id"):
        value = fields.get(name)
        optional = name == "guild_id" and value is None
        if not (optional or (isinstance(value, str) and ID.fullmatch(value))):
            return f"malformed: no usable {name}"
    token = fields.get("token")
    if not (isinstance(token, str) and token and token.isascii() and token.isprintable()):
        return "malformed: no usable token"
    return None if ID.fullmatch(_user(fields)) else "malformed: no usable user"


def _user(fields: Json) -> str:
    who = mapping(mapping(fields.get("member")).get("user")) or mapping(fields.get("user"))
    name = who.get("id")
    return name if isinstance(name, str) else ""


def _direct(fields: Json, channel: Json) -> bool:
    """Whether the two talk alone; other people's direct messages are a channel of theirs."""
    if fields.get("guild_id") is not None:
        return False
    return fields.get("context", _BOT_DM) == _BOT_DM and channel.get("type", 1) == 1


def _address(fields: Json, channel: Json, me: Identity, places: Directory) -> Address:
    here = str(fields["channel_id"])
    told = channel.get("parent_id") if channel.get("type") in THREADS and channel.get("id", here) == here else None
    parent = told if isinstance(told, str) and ID.fullmatch(told) else places.parent(here)
    return Address(platform="discord", account=me.application, channel=parent or here, thread=here if parent else None)


def _guest(fields: Json, where: Address, places: Directory) -> bool:
    owners = fields.get("authorizing_integration_owners")
    if isinstance(owners, dict) and "0" not in owners:
        return True
    guild = fields.get("guild_id")
    if fields.get("context") == _PRIVATE_CHANNEL or (guild is not None and not places.is_in(str(guild))):
        return True
    needed = VIEW_CHANNEL | (SEND_MESSAGES if where.thread is None else SEND_MESSAGES_IN_THREADS)
    told = fields.get("app_permissions")
    permissions = int(told) if isinstance(told, str) and told.isascii() and told.isdigit() else needed
    return guild is not None and permissions & needed != needed
