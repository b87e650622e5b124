"""What the gateway tells about places: the guilds that we are in, whose channel a thread hangs on, our own roles.

Rule 1: nothing that stands in a dispatch raises.
Rule 2: a thread that is gone is remembered, for messages of it may still be on their way.

Sources: https://docs.discord.com/developers/events/gateway-events#guilds and .../topics/threads
"""

from collections import OrderedDict

from adapters.discord.message import ID
from gateway.payload import Json, items, mapping

THREADS = frozenset({10, 11, 12})
"""The types of channels that are threads."""

REMEMBERED = 100_000
"""Channels and threads that are known at most; the one that was heard of longest ago goes first."""


class Directory:
    """Learns from dispatches.

    Args:
        bot: our user's id: whose managed roles are ours.
    """

    def __init__(self, bot: str) -> None:
        self._bot = bot
        self._guilds: set[str] = set()
        self._roles: dict[str, set[str]] = {}
        self._parents: OrderedDict[str, str | None] = OrderedDict()

    def feed(self, event: str, data: object) -> None:
        """Take in a dispatch; those that say nothing about places are none of its business."""
        fields = mapping(data)
        match event:
            case "READY":
                self._guilds = {str(mapping(guild).get("id")) for guild in items(fields.get("guilds"))}
            case "GUILD_CREATE":
                self._guild(fields)
            case "GUILD_DELETE" if not fields.get("unavailable"):
                self._guilds.discard(str(fields.get("id")))
            case "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE":
                self._role(str(fields.get("guild_id")), mapping(fields.get("role")))
            case "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE":
                self.learn(fields)
            case "THREAD_LIST_SYNC":
                for thread in items(fields.get("threads")):
                    self.learn(mapping(thread))
            case _:
                pass

    def learn(self, channel: Json) -> None:
        """Remember a channel, or a thread with what it hangs on."""
        name, parent, is_thread = channel.get("id"), channel.get("parent_id"), channel.get("type") in THREADS
        if not (isinstance(name, str) and ID.fullmatch(name)):
            return
        if is_thread and not (isinstance(parent, str) and ID.fullmatch(parent)):
            return
        self._parents[name] = str(parent) if is_thread else None
        self._parents.move_to_end(name)
        while len(self._parents) > REMEMBERED:
            self._parents.popitem(last=False)

    def knows(self, channel: str) -> bool:
        """Whether it was heard of."""
        return channel in self._parents

    def parent(self, channel: str) -> str | None:
        """The channel that a thread hangs on; none of what is no thread."""
        return self._parents.get(channel)

    def is_in(self, guild: str) -> bool:
        """Whether the bot is a member there."""
        return guild in self._guilds

    def is_ours(self, guild: str, role: object) -> bool:
        """Whether a role is the one that the guild has for us alone."""
        return role in self._roles.get(guild, ())

    def _guild(self, guild: Json) -> None:
        name = str(guild.get("id"))
        self._guilds.add(name)
        for role in items(guild.get("roles")):
            self._role(name, mapping(role))
        for channel in (*items(guild.get("channels")), *items(guild.get("threads"))):
            self.learn(mapping(channel))

    def _role(self, guild: str, role: Json) -> None:
        if mapping(role.get("tags")).get("bot_id") == self._bot:
            self._roles.setdefault(guild, set()).add(str(role.get("id")))
