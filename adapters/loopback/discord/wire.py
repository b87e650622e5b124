"""How Discord writes what there is, as JSON. Pure but for looking things up."""

from collections.abc import Callable
from datetime import UTC, datetime

from adapters.loopback.discord.interaction import Interaction
from adapters.loopback.discord.message import Message
from adapters.loopback.discord.place import Places
from adapters.loopback.discord.snowflake import unix_of
from adapters.loopback.discord.world import DM, THREAD, Channel, Guild, Member, Role, User, World

Payload = dict[str, object]

_JOINED = "2026-01-01T00:00:00.000000+00:00"
_NOBODY = User(id="1", name="Deleted User")


class Wire:
    """Writes objects as they stand.

    Args:
        world: who there is.
        places: where.
        find: a message by its id, for replies.
    """

    def __init__(self, world: World, places: Places, find: Callable[[str], Message | None]) -> None:
        self._world = world
        self._places = places
        self._find = find

    def user(self, user_id: str) -> Payload:
        """A user; one who is not there is written like one who has left."""
        user = self._world.user(user_id) or _NOBODY
        return {
            "id": user.id,
            "username": user.name,
            "global_name": None if user.bot else user.name.title(),
            "discriminator": "0",
            "avatar": None,
            "bot": user.bot,
            "public_flags": 0,
        }

    def member(self, member: Member, *, user: bool = True) -> Payload:
        """A member, with its ``flags``, without which discord.py's connection ends."""
        written: Payload = {
            "roles": list(member.roles),
            "joined_at": _JOINED,
            "nick": None,
            "avatar": None,
            "premium_since": None,
            "pending": False,
            "communication_disabled_until": None,
            "deaf": False,
            "mute": False,
            "flags": 0,
        }
        return written | ({"user": self.user(member.user)} if user else {})

    def channel(self, channel: Channel) -> Payload:
        """A channel of any kind."""
        if channel.type == DM:
            recipient = self.user(channel.user or "")
            return {"id": channel.id, "type": DM, "recipients": [recipient], "last_message_id": None, "flags": 0}
        written: Payload = {
            "id": channel.id,
            "type": channel.type,
            "guild_id": channel.guild,
            "name": channel.name,
            "parent_id": channel.parent,
            "last_message_id": None,
            "rate_limit_per_user": 0,
            "flags": 0,
        }
        return written | (_thread(channel, self._world.bot) if channel.type == THREAD else self._text(channel))

    def guild(self, guild: Guild) -> Payload:
        """A guild as GUILD_CREATE brings it."""
        channels = [channel for channel in self._places if channel.guild == guild.id]
        lists = ("emojis", "features", "presences", "voice_states", "stage_instances", "stickers", "soundboard_sounds")
        empty: Payload = {name: [] for name in (*lists, "guild_scheduled_events")}
        numbers = ("verification_level", "default_message_notifications", "explicit_content_filter", "mfa_level")
        zero: Payload = dict.fromkeys((*numbers, "premium_tier", "nsfw_level", "system_channel_flags"), 0)
        return (
            empty
            | zero
            | {
                "id": guild.id,
                "name": guild.name,
                "icon": None,
                "owner_id": guild.members[0].user,
                "afk_timeout": 300,
                "preferred_locale": "en-US",
                "joined_at": _JOINED,
                "large": False,
                "unavailable": False,
                "member_count": len(guild.members),
                "roles": [_role(role, position) for position, role in enumerate(guild.roles)],
                "members": [self.member(member) for member in guild.members],
                "channels": [self.channel(channel) for channel in channels if channel.type != THREAD],
                "threads": [self.channel(each) for each in channels if each.type == THREAD and not each.archived],
            }
        )

    def message(self, message: Message, *, hidden: bool = False) -> Payload:
        """A message; ``hidden`` leaves out what needs the message-content intent."""
        content = message.content
        files = [_file(message.id, number) for number in range(content.files)]
        certain = [ping for ping in content.pings if ping.certain]
        named = dict.fromkeys(ping.target for ping in certain if ping.kind in {"user", "reply"})
        written: Payload = {
            "id": message.id,
            "channel_id": message.channel,
            "type": self._type(message),
            "author": self.user(message.user),
            "content": "" if hidden else content.text,
            "embeds": [] if hidden else list(content.embeds),
            "attachments": [] if hidden else files,
            "components": [] if hidden else list(content.components),
            "timestamp": iso(message.unix),
            "edited_timestamp": None if message.edited_unix is None else iso(message.edited_unix),
            "tts": False,
            "mention_everyone": any(ping.kind in {"everyone", "here"} for ping in certain),
            "mentions": [self.user(user) for user in named if self._world.user(user)],
            "mention_roles": list(dict.fromkeys(ping.target for ping in certain if ping.kind == "role")),
            "pinned": False,
            "flags": int(content.flags),
        }
        written |= {} if message.nonce is None else {"nonce": message.nonce}
        return written | self._relations(message)

    def gateway_message(self, message: Message, *, hidden: bool) -> Payload:
        """A message as a dispatch brings it: with the guild, and the author's membership."""
        written, guild = self.message(message, hidden=hidden), self.guild_of(message)
        if guild is not None:
            member = guild.member(message.user)
            written |= {"guild_id": guild.id}
            written |= {} if member is None else {"member": self.member(member, user=False)}
        return written

    def guild_of(self, message: Message) -> Guild | None:
        """The guild that the message stands in."""
        channel = self._places.find(message.channel)
        return None if channel is None else self._places.guild_of(channel)

    def interaction(self, interaction: Interaction) -> Payload:
        """An interaction as INTERACTION_CREATE brings it."""
        channel = self._places.find(interaction.channel)
        assert channel is not None  # noqa: S101 - told to the type checker: an interaction has a channel that is there
        guild = self._places.guild_of(channel)
        permissions = self._places.permissions(channel, interaction.user)
        app_permissions = self._places.permissions(channel, self._world.bot)
        written: Payload = {
            "id": interaction.id,
            "application_id": self._world.application,
            "type": interaction.type,
            "token": interaction.token,
            "version": 1,
            "channel_id": channel.id,
            "channel": self.channel(channel) | {"permissions": str(int(permissions))},
            "data": dict(interaction.data),
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": owners_of(interaction),
            "context": 1 if guild is None else 0,
            "app_permissions": str(int(app_permissions)),
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        if guild is None:
            written |= {"user": self.user(interaction.user)}
        else:
            member = guild.member(interaction.user) or Member(user=interaction.user)
            written |= {
                "guild_id": guild.id,
                "guild": {"id": guild.id, "locale": "en-US", "features": []},
                "guild_locale": "en-US",
                "member": self.member(member) | {"permissions": str(int(permissions))},
            }
        source = self._find(interaction.source or "")
        return written | ({} if source is None else {"message": self.message(source)})

    def _text(self, channel: Channel) -> Payload:
        overwrites = [{"id": channel.guild, "type": 0, "allow": "0", "deny": str(int(channel.denied))}]
        return {
            "position": [each.id for each in self._places if each.guild == channel.guild].index(channel.id),
            "topic": None,
            "nsfw": False,
            "permission_overwrites": overwrites if channel.denied else [],
        }

    def _type(self, message: Message) -> int:
        """A plain message, a reply, or the answer to a command."""
        if message.interaction is not None:
            return 20
        return 0 if message.reference is None else 19

    def _relations(self, message: Message) -> Payload:
        written: Payload = {}
        if message.author == "bot" and message.interaction is not None:
            written |= {"application_id": self._world.application, "webhook_id": self._world.application}
        if message.reference is not None:
            guild = self.guild_of(message)
            before = self._find(message.reference.message)
            reference = {"type": 0, "channel_id": message.channel, "message_id": message.reference.message}
            written["message_reference"] = reference | ({} if guild is None else {"guild_id": guild.id})
            written["referenced_message"] = None if before is None or before.deleted else self.message(before)
        if message.reactions:
            written["reactions"] = [
                {"emoji": {"id": None, "name": emoji}, "count": 1, "count_details": {"burst": 0, "normal": 1}}
                | {"me": True, "me_burst": False, "burst_colors": []}
                for emoji in message.reactions
            ]
        return written


def owners_of(interaction: Interaction) -> Payload:
    """Who brought the app there: a guild ("0"), or the user ("1")."""
    return {"1": interaction.user} if interaction.user_installed else {"0": interaction.guild or "0"}


def iso(unix: float) -> str:
    """A time as Discord writes it."""
    return datetime.fromtimestamp(unix, UTC).isoformat(timespec="microseconds")


def _thread(channel: Channel, owner: str) -> Payload:
    begun = iso(unix_of(channel.id))
    metadata: Payload = {
        "archived": channel.archived,
        "locked": channel.locked,
        "auto_archive_duration": 1440,
        "archive_timestamp": begun,
        "create_timestamp": begun,
    }
    counts: Payload = {"message_count": 0, "member_count": 1, "total_message_sent": 0}
    return counts | {"owner_id": owner, "thread_metadata": metadata}


def _role(role: Role, position: int) -> Payload:
    return {
        "id": role.id,
        "name": role.name,
        "permissions": str(int(role.permissions)),
        "mentionable": role.mentionable,
        "position": position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    }


def _file(message: str, number: int) -> Payload:
    url = f"https://cdn.invalid/{message}/{number}"
    return {"id": f"{int(message) + number}", "filename": f"file{number}", "size": 1, "url": url, "proxy_url": url}
