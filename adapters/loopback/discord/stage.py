"""All that the parts of a Discord share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord.change import Change
from adapters.loopback.discord.command import Commands
from adapters.loopback.discord.docket import Docket
from adapters.loopback.discord.event import Events
from adapters.loopback.discord.history import History
from adapters.loopback.discord.limit import Limits
from adapters.loopback.discord.place import Places
from adapters.loopback.discord.snowflake import Snowflakes
from adapters.loopback.discord.wire import Wire
from adapters.loopback.discord.world import World


@dataclass(slots=True, kw_only=True)
class Stage:
    """Who there is, what time it is, and all that was written and asked.

    Attributes:
        world: who and what there is.
        clock: of the platform.
        limits: how long things live.
        tell: hears of every change.
        next_id: makes snowflakes.
        commands: what is registered.
        places: the channels.
        history: the messages.
        docket: the interactions.
        wire: how all that is written.
        events: what sessions are told of it.
    """

    world: World
    clock: PlatformClock
    limits: Limits
    tell: Callable[[Change], None]
    next_id: Snowflakes = field(init=False)
    commands: Commands = field(init=False)
    places: Places = field(init=False)
    history: History = field(init=False)
    docket: Docket = field(init=False)
    wire: Wire = field(init=False)
    events: Events = field(init=False)

    def __post_init__(self) -> None:
        self.next_id = Snowflakes(self.clock)
        self.commands = Commands()
        self.places = Places(self.world)
        self.history = History(self.clock, self.next_id, self.tell, self.world.bot)
        self.docket = Docket(self.clock, self.limits, self.next_id, self.tell)
        self.wire = Wire(self.world, self.places, self.history.find)
        self.events = Events(self.world, self.places, self.wire)
