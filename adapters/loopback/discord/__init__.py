"""A Discord on this machine: REST API and gateway for the real SDK, with Discord's rules enforced."""

from adapters.loopback.discord.change import Change as Change
from adapters.loopback.discord.interaction import Interaction as Interaction
from adapters.loopback.discord.limit import Limits as Limits
from adapters.loopback.discord.loopback import LoopbackDiscord as LoopbackDiscord
from adapters.loopback.discord.message import Flag as Flag
from adapters.loopback.discord.message import Message as Message
from adapters.loopback.discord.permission import Permission as Permission
from adapters.loopback.discord.ping import Ping as Ping
from adapters.loopback.discord.venue import open_venue as open_venue
from adapters.loopback.discord.world import Channel as Channel
from adapters.loopback.discord.world import Guild as Guild
from adapters.loopback.discord.world import Member as Member
from adapters.loopback.discord.world import Role as Role
from adapters.loopback.discord.world import User as User
from adapters.loopback.discord.world import World as World
