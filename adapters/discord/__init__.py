"""Discord: slash commands, mentions and direct messages through the gateway, answers through the API.

Cheap to import: discord.py and aiohttp are loaded where they are first used.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.capability import capabilities
from adapters.discord.login import socket_address
from gateway.access import Allow, Ids
from gateway.adapter import Adapter, UnknownOutcome
from gateway.configuration import WebAddress
from gateway.secret import SecretName

_COPY = "Switch on Developer Mode in Discord's settings under Advanced, then right-click"
_PATTERN = "[0-9]{15,20}"

USERS = Ids(name="allow_users", pattern=_PATTERN, find=f"{_COPY} the person and choose Copy User ID; it is a number.")
CHANNELS = Ids(
    name="allow_channels", pattern=_PATTERN, find=f"{_COPY} the channel and choose Copy Channel ID; it is a number."
)
SPACES = Ids(
    name="allow_guilds", pattern=_PATTERN, find=f"{_COPY} the server's icon and choose Copy Server ID; it is a number."
)

SocketAddress = Annotated[str, AfterValidator(socket_address)]
"""``ws://`` or ``wss://``, a host, perhaps a port and a path, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the configuration says about Discord.

    Attributes:
        bot_token: where the bot's token is kept.
        base_url: of the API.
        gateway_url: of the gateway.
        allow_users: who may talk to the bot, by id; ``*`` is everybody, and none is nobody.
        allow_channels: where, by id; direct messages need no channel, and a thread is allowed with its channel.
        allow_guilds: where, by the id of the whole server.
        surface: ``edit`` shows an answer while it grows, ``post`` shows whole chunks only.
        bubble: how many characters a message of ours gets; Discord takes 2,000, less what rendering adds.
        unknown_outcome: what to do about an answer to a guest of which nobody can tell whether it arrived: ``repeat``
            sends it again, ``skip`` leaves it out; either way a line says so.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    bot_token: SecretName = "env:DISCORD_BOT_TOKEN"  # noqa: S105 - where it is, not what it is
    base_url: WebAddress = "https://discord.com/api/v10"
    gateway_url: SocketAddress = "wss://gateway.discord.gg/"
    allow_users: tuple[str, ...] = ()
    allow_channels: tuple[str, ...] = ()
    allow_guilds: tuple[str, ...] = ()
    surface: Literal["edit", "post"] = "edit"
    bubble: Annotated[int, Field(ge=1, le=1_950)] = 800
    unknown_outcome: UnknownOutcome = "repeat"


def create(settings: Settings) -> Adapter:
    """The adapter of one bot. Touches neither network nor secrets."""
    return DiscordAdapter(
        bot_token=settings.bot_token,
        base_url=settings.base_url,
        gateway_url=settings.gateway_url,
        capabilities=capabilities(
            surface=settings.surface, bubble=settings.bubble, unknown_outcome=settings.unknown_outcome
        ),
    )


def allow(settings: Settings) -> Allow:
    """Who may talk to the bot, and where."""
    return Allow(
        users=frozenset(settings.allow_users),
        channels=frozenset(settings.allow_channels),
        spaces=frozenset(settings.allow_guilds),
    )
