"""What a session is told of what happens. Pure: a change in, dispatches out.

Rule 1: a session gets the events of its intents, of the guilds that the bot is in and can see into, and interactions.
Rule 2: what a message says is hidden without the message-content intent, unless the message mentions the bot, is a
        direct one, or the bot's own.
"""

from enum import IntFlag

from adapters.loopback.discord.change import (
    Change,
    InteractionCreated,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    ThreadCreated,
    ThreadUpdated,
)
from adapters.loopback.discord.message import Message
from adapters.loopback.discord.permission import Permission
from adapters.loopback.discord.place import Places
from adapters.loopback.discord.wire import Payload, Wire
from adapters.loopback.discord.world import DM, Channel, World

Event = tuple[str, Payload]


class Intent(IntFlag):
    """What a session can ask for, as far as it is here."""

    NONE = 0
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    DIRECT_MESSAGES = 1 << 12
    MESSAGE_CONTENT = 1 << 15


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT


class Events:
    """Makes the dispatches of a change."""

    def __init__(self, world: World, places: Places, wire: Wire) -> None:
        self._world = world
        self._places = places
        self._wire = wire

    def of(self, change: Change, intents: int) -> list[Event]:
        """What a session with these intents is sent."""
        match change:
            case MessagePosted(message=message) | MessageEdited(message=message) | MessageDeleted(message=message):
                return [self._message(change, message, intents)] if self._hears(message, intents) else []
            case ThreadCreated(channel=channel) | ThreadUpdated(channel=channel):
                heard = intents & Intent.GUILDS and self._sees(channel)
                return [self._thread(change, channel)] if heard else []
            case InteractionCreated(interaction=interaction):
                return [("INTERACTION_CREATE", self._wire.interaction(interaction))]
            case _:
                return []

    def hides(self, message: Message, intents: int) -> bool:
        """Whether such a session cannot read what the message says."""
        channel = self._places.find(message.channel)
        direct = channel is not None and channel.type == DM
        named = any(ping.certain and ping.target == self._world.bot for ping in message.content.pings)
        return not (intents & Intent.MESSAGE_CONTENT or direct or named or message.author == "bot")

    def _message(self, change: Change, message: Message, intents: int) -> Event:
        if isinstance(change, MessageDeleted):
            guild = self._wire.guild_of(message)
            deleted: Payload = {"id": message.id, "channel_id": message.channel}
            return "MESSAGE_DELETE", deleted | ({} if guild is None else {"guild_id": guild.id})
        event = "MESSAGE_CREATE" if isinstance(change, MessagePosted) else "MESSAGE_UPDATE"
        return event, self._wire.gateway_message(message, hidden=self.hides(message, intents))

    def _thread(self, change: Change, channel: Channel) -> Event:
        if isinstance(change, ThreadCreated):
            return "THREAD_CREATE", self._wire.channel(channel) | {"newly_created": True}
        return "THREAD_UPDATE", self._wire.channel(channel)

    def _hears(self, message: Message, intents: int) -> bool:
        channel = self._places.find(message.channel)
        if channel is None or message.ephemeral:
            return False
        needed = Intent.DIRECT_MESSAGES if channel.type == DM else Intent.GUILD_MESSAGES
        return bool(intents & needed) and self._sees(channel)

    def _sees(self, channel: Channel) -> bool:
        return self._places.bot_may(channel, Permission.VIEW_CHANNEL)
