"""A Telegram on this machine: the Bot API for the real SDK, with Telegram's rules enforced."""

from adapters.loopback.telegram.change import Change as Change
from adapters.loopback.telegram.change import ChatAction as ChatAction
from adapters.loopback.telegram.entity import Entity as Entity
from adapters.loopback.telegram.limit import Limits as Limits
from adapters.loopback.telegram.loopback import LoopbackTelegram as LoopbackTelegram
from adapters.loopback.telegram.message import Message as Message
from adapters.loopback.telegram.ping import Ping as Ping
from adapters.loopback.telegram.venue import open_venue as open_venue
from adapters.loopback.telegram.world import Bot as Bot
from adapters.loopback.telegram.world import Chat as Chat
from adapters.loopback.telegram.world import Topic as Topic
from adapters.loopback.telegram.world import User as User
from adapters.loopback.telegram.world import World as World
