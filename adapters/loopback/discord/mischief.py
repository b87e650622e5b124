"""Lets a Discord misbehave at random, as a seed has it."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.discord.message import Message
from adapters.loopback.fault import Fate, FaultPlan

ERRORS = ("0", "130000")
"""The codes of a server's error: none, and "API resource is currently overloaded"."""

SPARED = frozenset(
    {
        "GET /users/@me",
        "GET /oauth2/applications/@me",
        "GET /applications/@me",
        "GET /gateway",
        "GET /gateway/bot",
        "GET /applications/{application}/commands",
        "PUT /applications/{application}/commands",
        "PUT /applications/{application}/guilds/{guild}/commands",
    }
)
"""Calls that go well: without them nobody gets in, or is offered a command, and the SDK waits unscaled seconds."""


@dataclass(slots=True, kw_only=True)
class Mischief:
    """Does what a ``Chance`` has in store, whenever a call arrives.

    Attributes:
        chance: what it has.
        faults: where the call's own fate is put down.
        messages: the bot's messages that stand, oldest first.
        delete: takes one of them away.
        drop_sockets: cuts every socket.
        close_doors: lets nobody in for so many seconds.
        taken: what users took away, as it stood.
        over: nothing more is to go wrong.
    """

    chance: Chance
    faults: FaultPlan
    messages: Callable[[], Sequence[Message]]
    delete: Callable[[Message], object]
    drop_sockets: Callable[[], object]
    close_doors: Callable[[float], object]
    taken: list[Message] = field(default_factory=list[Message])
    over: bool = False
    _numbers: Counter[str] = field(default_factory=Counter[str])
    _calls: "itertools.count[int]" = field(default_factory=itertools.count)

    def arrived(self, route: str) -> None:
        """A call has arrived: settle what becomes of it, and of everybody."""
        if self.over or route in SPARED:
            return
        fate = self.chance.fate(route, self._numbers[route])
        self._numbers[route] += 1
        self.faults.add(route, _as_discord_fails(fate))
        if (happening := self.chance.happening(next(self._calls))) is not None:
            self._let_happen(happening)

    def _let_happen(self, happening: Happening) -> None:
        match happening.mishap:
            case Mishap.NEWEST_DELETED:
                self._take(self.messages()[-1:], happening.which)
            case Mishap.OLDER_DELETED:
                self._take(self.messages()[:-1], happening.which)
            case Mishap.SOCKETS_DROPPED:
                self.drop_sockets()
            case Mishap.OUTAGE:
                self.close_doors(happening.seconds)

    def _take(self, messages: Sequence[Message], which: float) -> None:
        if messages:
            message = messages[int(which * len(messages))]
            self.taken.append(message)
            self.delete(message)


def _as_discord_fails(fate: Fate) -> Fate:
    """Discord says no with a status: where another platform's error is a 200, it is a 500 here."""
    if fate.failure is None or fate.failure.status != 200:
        return fate
    return replace(fate, failure=replace(fate.failure, status=500))
