"""The channels as they are now, and what may be done in each."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.content import Reading
from adapters.loopback.discord.permission import EVERYTHING, Permission
from adapters.loopback.discord.ping import Allowed
from adapters.loopback.discord.world import DM, THREAD, Channel, Guild, World


class Places:
    """Knows every channel; threads are added, archived and opened."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._channels = {channel.id: channel for channel in world.channels}

    def __iter__(self) -> Iterator[Channel]:
        """All channels, in the order in which they came to be."""
        return iter(tuple(self._channels.values()))

    def find(self, channel: str) -> Channel | None:
        """The channel of that id."""
        return self._channels.get(channel)

    def put(self, channel: Channel) -> Channel:
        """Add a channel, or change it."""
        self._channels[channel.id] = channel
        return channel

    def archive(self, channel: Channel, *, archived: bool) -> Channel:
        """Archive a thread, or open it."""
        return self.put(replace(channel, archived=archived))

    def with_user(self, user: str) -> Channel | None:
        """The direct messages with a user."""
        return next((channel for channel in self if channel.type == DM and channel.user == user), None)

    def guild_of(self, channel: Channel) -> Guild | None:
        """The guild that the channel is in."""
        return self._world.guild(channel.guild)

    def permissions(self, channel: Channel, user: str) -> Permission:
        """What a user may in a channel."""
        guild = self.guild_of(channel)
        if guild is None:
            return EVERYTHING & ~Permission.MANAGE_MESSAGES
        member = guild.member(user)
        if member is None:
            return Permission.NONE
        roles = (role for role in guild.roles if role.id in {guild.id, *member.roles})
        granted = Permission.NONE
        for role in roles:
            granted |= role.permissions
        parent = self._channels.get(channel.parent or "", channel)
        return granted & ~parent.denied

    def bot_may(self, channel: Channel, permission: Permission) -> bool:
        """Whether the bot may do something in a channel."""
        return permission in self.permissions(channel, self._world.bot)

    def reading(self, channel: Channel, user: str, default: Allowed) -> Reading:
        """How what a user writes into a channel is read, as far as whom it may ping."""
        guild = self.guild_of(channel)
        return Reading(
            default=default,
            everyone=guild is None or Permission.MENTION_EVERYONE in self.permissions(channel, user),
            mentionable=frozenset(role.id for role in guild.roles if role.mentionable) if guild else frozenset(),
        )

    def readable(self, channel_id: str) -> Channel:
        """The channel of that id.

        Raises:
            RefusedError: there is none, or the bot cannot see it.
        """
        channel = self.find(channel_id)
        if channel is None:
            raise RefusedError(rule.UNKNOWN_CHANNEL)
        if not self.bot_may(channel, Permission.VIEW_CHANNEL):
            raise RefusedError(rule.MISSING_ACCESS)
        return channel

    def writable(self, channel_id: str) -> Channel:
        """The channel of that id, if the bot may write there.

        Raises:
            RefusedError: it may not.
        """
        channel = self.readable(channel_id)
        if channel.type == THREAD:
            if not self.bot_may(channel, Permission.SEND_MESSAGES_IN_THREADS):
                raise RefusedError(rule.THREAD_PERMISSIONS)
        elif not self.bot_may(channel, Permission.SEND_MESSAGES):
            raise RefusedError(rule.MISSING_PERMISSIONS)
        user = self._world.user(channel.user) if channel.user else None
        if user is not None and not user.accepts_dms:
            raise RefusedError(rule.USER_CLOSED)
        if channel.locked:
            raise RefusedError(rule.THREAD_ARCHIVED)
        return channel

    def open_with(self, user_id: str, next_id: Callable[[], str]) -> Channel:
        """The direct messages with a user, begun if there are none.

        Raises:
            RefusedError: there is no such user.
        """
        if user_id == self._world.bot or self._world.user(user_id) is None:
            raise RefusedError(rule.UNKNOWN_RECIPIENT)
        return self.with_user(user_id) or self.put(Channel(id=next_id(), type=DM, user=user_id))
