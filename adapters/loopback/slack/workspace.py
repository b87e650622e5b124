"""Who and what there is in a workspace, as data."""

from dataclasses import dataclass
from typing import Literal

ChannelType = Literal["channel", "group", "im"]


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who can write; another bot where ``bot_id`` is set."""

    id: str
    name: str
    bot_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place to write into: public channel, private one ("group"), or direct message ("im") with a user.

    The bot gets events from, and can write into, the channels where ``joined`` is true. Everybody is in it but for the
    users in ``absent``, and in a direct message nobody but its user.
    """

    id: str
    name: str
    type: ChannelType = "channel"
    user: str | None = None
    joined: bool = True
    absent: tuple[str, ...] = ()

    def holds(self, user: str) -> bool:
        """Whether the user of that id is in it."""
        return user == self.user if self.type == "im" else user not in self.absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace with one app installed."""

    team: str = "T1"
    name: str = "loopback"
    app: str = "A1"
    bot_user: str = "UBOT"
    bot_id: str = "B1"
    bot_name: str = "dragoman"
    bot_token: str = "xoxb-loopback"  # noqa: S105 - opens nothing but this server
    app_token: str = "xapp-loopback"  # noqa: S105 - opens nothing but this server
    scopes: tuple[str, ...] = (
        "app_mentions:read",
        "channels:history",
        "channels:read",
        "chat:write",
        "groups:history",
        "im:history",
        "mpim:history",
        "reactions:write",
        "users:read",
    )
    users: tuple[User, ...] = (User(id="U1", name="ada"), User(id="U2", name="bob"))
    channels: tuple[Channel, ...] = (
        Channel(id="C1", name="general"),
        Channel(id="D1", name="ada", type="im", user="U1"),
    )

    def is_named(self, text: str) -> bool:
        """Whether the text mentions the bot, with or without a label."""
        return f"<@{self.bot_user}>" in text or f"<@{self.bot_user}|" in text

    def channel(self, key: str) -> Channel | None:
        """The channel of that id or name, or the direct message with that user, as chat.postMessage takes them."""
        for channel in self.channels:
            if key in {channel.id, channel.user} or (channel.type != "im" and key.removeprefix("#") == channel.name):
                return channel
        return None

    def user(self, user_id: str) -> User | None:
        """The user of that id; the bot is one, too."""
        if user_id == self.bot_user:
            return User(id=self.bot_user, name=self.bot_name, bot_id=self.bot_id)
        return next((user for user in self.users if user.id == user_id), None)
