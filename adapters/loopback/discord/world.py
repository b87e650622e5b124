"""Who and what there is on a Discord, as data. Ids are snowflakes, as on the wire."""

import re
from dataclasses import dataclass
from typing import Literal

from adapters.loopback.discord.permission import EVERYTHING, MEMBERS, Permission

ChannelType = Literal[0, 1, 11]
"""A guild's text channel, direct messages, a public thread."""

TEXT, DM, THREAD = 0, 1, 11

APPLICATION = BOT = "1190000000000000001"
ADA = "690000000000000001"
BOB = "690000000000000002"
GUILD = "1190000000000000100"
GENERAL = "1190000000000000101"
PROJECTS = "1190000000000000102"
PROJECT_THREAD = "1190000000000000103"
BOT_ROLE = "1190000000000000110"
TEAM_ROLE = "1190000000000000111"
FOREIGN_GUILD = "1190000000000000200"
FOREIGN_CHANNEL = "1190000000000000201"
ADA_DM = "1190000000000000301"
BOB_DM = "1190000000000000302"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who can write. ``accepts_dms`` is false for one who takes no direct messages."""

    id: str
    name: str
    bot: bool = False
    accepts_dms: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role of a guild; the one with the guild's id is everybody's."""

    id: str
    name: str
    permissions: Permission = Permission.NONE
    mentionable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user in a guild, with the roles they have beside everybody's."""

    user: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guild:
    """A guild; the bot is in it if it is among the members.

    ``installed_by`` are users who carry the app with them: they can run its commands where the bot is no member.
    """

    id: str
    name: str
    roles: tuple[Role, ...] = ()
    members: tuple[Member, ...] = ()
    installed_by: tuple[str, ...] = ()

    def member(self, user: str) -> Member | None:
        """The user's membership, if there is one."""
        return next((member for member in self.members if member.user == user), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A place to write into.

    Attributes:
        id: its snowflake.
        name: empty for direct messages.
        type: text channel, direct messages or thread.
        guild: where it is; none for direct messages.
        user: with whom, in direct messages.
        parent: the channel that a thread hangs on.
        denied: what nobody may there, whatever the roles say; a thread asks its parent.
        archived: a thread that nobody wrote into for long.
        locked: an archived thread that stays so.
    """

    id: str
    name: str = ""
    type: ChannelType = TEXT
    guild: str | None = None
    user: str | None = None
    parent: str | None = None
    denied: Permission = Permission.NONE
    archived: bool = False
    locked: bool = False


_GUILDS = (
    Guild(
        id=GUILD,
        name="loopback",
        roles=(
            Role(id=GUILD, name="@everyone", permissions=MEMBERS),
            Role(id=BOT_ROLE, name="dragoman", permissions=EVERYTHING),
            Role(id=TEAM_ROLE, name="team", mentionable=True),
        ),
        members=(Member(user=ADA, roles=(TEAM_ROLE,)), Member(user=BOB), Member(user=BOT, roles=(BOT_ROLE,))),
    ),
    Guild(
        id=FOREIGN_GUILD,
        name="elsewhere",
        roles=(Role(id=FOREIGN_GUILD, name="@everyone", permissions=MEMBERS),),
        members=(Member(user=ADA),),
        installed_by=(ADA,),
    ),
)

_CHANNELS = (
    Channel(id=GENERAL, name="general", guild=GUILD),
    Channel(id=PROJECTS, name="projects", guild=GUILD),
    Channel(id=PROJECT_THREAD, name="dragoman", type=THREAD, guild=GUILD, parent=PROJECTS),
    Channel(id=FOREIGN_CHANNEL, name="lounge", guild=FOREIGN_GUILD),
    Channel(id=ADA_DM, type=DM, user=ADA),
    Channel(id=BOB_DM, type=DM, user=BOB),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One app with its bot, and whom it can meet.

    ``privileged`` are the privileged intents that the app has: none by default.
    """

    application: str = APPLICATION
    bot: str = BOT
    bot_name: str = "dragoman"
    bot_token: str = "MTE5MDAwMDAwMDAwMDAwMDAwMQ.loopback.loopback"  # noqa: S105 - opens nothing but this server
    privileged: int = 0
    users: tuple[User, ...] = (User(id=ADA, name="ada"), User(id=BOB, name="bob"))
    guilds: tuple[Guild, ...] = _GUILDS
    channels: tuple[Channel, ...] = _CHANNELS

    def user(self, user: str) -> User | None:
        """The user of that id; the bot is one, too."""
        if user == self.bot:
            return User(id=self.bot, name=self.bot_name, bot=True)
        return next((each for each in self.users if each.id == user), None)

    def guild(self, guild: str | None) -> Guild | None:
        """The guild of that id."""
        return next((each for each in self.guilds if each.id == guild), None)

    def joined(self) -> tuple[Guild, ...]:
        """The guilds that the bot is in."""
        return tuple(guild for guild in self.guilds if guild.member(self.bot))

    def is_named(self, text: str) -> bool:
        """Whether the text mentions the bot."""
        return re.search(rf"<@!?{self.bot}>", text) is not None
