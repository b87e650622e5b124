"""What users do, as Discord's own client lets them."""

from collections.abc import Mapping
from dataclasses import replace

from adapters.loopback.discord.command import read_options
from adapters.loopback.discord.component import find_component
from adapters.loopback.discord.content import read_edit, read_post
from adapters.loopback.discord.interaction import BUTTON, COMMAND, Interaction
from adapters.loopback.discord.message import Message, Reference
from adapters.loopback.discord.ping import MESSAGES
from adapters.loopback.discord.stage import Stage
from adapters.loopback.discord.world import DM, THREAD, Channel

_GUILD_INSTALL, _USER_INSTALL = 0, 1
_IN_GUILD, _IN_DM = 0, 1


class Visitor:
    """Acts for any user; what no user could do raises."""

    def __init__(self, stage: Stage) -> None:
        self._world = stage.world
        self._places = stage.places
        self._history = stage.history
        self._docket = stage.docket
        self._commands = stage.commands

    def message(self, message_id: str) -> Message:
        """The message of that id, deleted or not."""
        message = self._history.find(message_id)
        if message is None:
            raise KeyError(message_id)
        return message

    def say(self, user: str, channel_id: str, text: str, *, mention: bool, reply_to: str | None, ping: bool) -> Message:
        """Write a message."""
        channel = self._visited(user, channel_id)
        if mention and channel.type != DM and not self._world.is_named(text):
            text = f"<@{self._world.bot}> {text}".rstrip()
        reference = None if reply_to is None else Reference(message=self.message(reply_to).id)
        author = None if reply_to is None or not ping else self.message(reply_to).user
        reading = self._places.reading(channel, user, MESSAGES)
        content = read_post({"content": text}, reading, reply_to=author)
        return self._history.post(channel=channel.id, user=user, content=content, reference=reference)

    def edit(self, message_id: str, text: str) -> Message:
        """Edit what a user wrote."""
        before = self.message(message_id)
        if before.author == "bot":
            msg = f"{message_id} is the bot's message; users edit their own"
            raise ValueError(msg)
        channel = self._visited(before.user, before.channel)
        reading = self._places.reading(channel, before.user, MESSAGES)
        return self._history.edit(before, read_edit(before.content, {"content": text}, reading))

    def command(self, user: str, channel_id: str, name: str, options: Mapping[str, object]) -> Interaction:
        """Run a command."""
        channel = self._visited(user, channel_id)
        user_installed = self._user_installed(user, channel)
        command = self._commands.offered(name, channel.guild)
        context = _IN_GUILD if channel.guild else _IN_DM
        install = _USER_INSTALL if user_installed else _GUILD_INSTALL
        if command is None or not (_has(command["contexts"], context) and _has(command["integration_types"], install)):
            msg = f"nobody is offered /{name} in {channel_id}: registered are {self._commands.registered}"
            raise LookupError(msg)
        filled = read_options(command, options)
        data: dict[str, object] = {"id": command["id"], "name": name, "type": 1, "options": filled}
        place = (channel.id, channel.guild, user_installed)
        return self._docket.add(kind=COMMAND, name=name, data=data, user=user, place=place)

    def press(self, user: str, message_id: str, custom_id: str, *, stale: bool) -> Interaction:
        """Press a button; with ``stale`` also one that the message had once."""
        message = self.message(message_id)
        channel = self._visited(user, message.channel)
        shown = message.versions[::-1] if stale else (message.content,)
        found = (find_component(content, custom_id) for content in shown)
        component = None if message.deleted else next(filter(None, found), None)
        if component is None or component.get("disabled") is True:
            msg = f"message {message_id} has no button {custom_id} that could be pressed"
            raise LookupError(msg)
        data: dict[str, object] = {"custom_id": custom_id, "component_type": component.get("type"), "id": 1}
        place = (channel.id, channel.guild, self._user_installed(user, channel))
        return self._docket.add(kind=BUTTON, name=custom_id, data=data, user=user, place=place, source=message.id)

    def start_thread(self, channel_id: str, name: str, thread_id: str) -> Channel:
        """Begin a thread in a guild's channel."""
        channel = self._channel(channel_id)
        if channel.type in {DM, THREAD}:
            msg = f"{channel_id} takes no threads"
            raise ValueError(msg)
        return self._places.put(Channel(id=thread_id, name=name, type=THREAD, guild=channel.guild, parent=channel.id))

    def archive(self, channel_id: str, *, locked: bool) -> Channel:
        """Archive a thread."""
        channel = self._channel(channel_id)
        if channel.type != THREAD:
            msg = f"{channel_id} is no thread"
            raise ValueError(msg)
        return self._places.put(replace(channel, archived=True, locked=locked))

    def _user_installed(self, user: str, channel: Channel) -> bool:
        """Whether only the user brought the app into the channel's guild."""
        guild = self._places.guild_of(channel)
        if guild is None or guild.member(self._world.bot) is not None:
            return False
        if user not in guild.installed_by:
            msg = f"in guild {guild.id} the bot is no member, and user {user} does not carry the app"
            raise LookupError(msg)
        return True

    def _visited(self, user: str, channel_id: str) -> Channel:
        """The channel, if the user is in there."""
        channel = self._channel(channel_id)
        guild = self._places.guild_of(channel)
        inside = {channel.user} if guild is None else {member.user for member in guild.members}
        if user not in inside:
            msg = f"user {user} is not in channel {channel_id}"
            raise KeyError(msg)
        return channel

    def _channel(self, channel_id: str) -> Channel:
        channel = self._places.find(channel_id)
        if channel is None:
            msg = f"no channel {channel_id} in this world"
            raise KeyError(msg)
        return channel


def _has(listed: object, one: int) -> bool:
    """Whether a list of a command's has it; one that is absent has all."""
    return not isinstance(listed, list) or one in listed
