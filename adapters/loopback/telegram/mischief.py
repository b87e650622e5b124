"""Lets a Telegram misbehave at random, as a seed has it."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.fault import Fate, FaultPlan
from adapters.loopback.telegram.message import Message

ERRORS = ("Internal Server Error", "Bad Gateway", "Internal Server Error: restart")
"""What Telegram's servers say when something may have been done or not."""

SPARED = frozenset({"getMe", "setWebhook", "deleteWebhook", "getWebhookInfo", "getMyCommands", "setMyCommands"})
"""Calls that go well: without them nobody gets in."""

POLL = "getUpdates"


@dataclass(slots=True, kw_only=True)
class Mischief:
    """Does what a ``Chance`` has in store, whenever a call arrives.

    Polls fail, too, but are never told to wait and bring no mishap: how often somebody polls must not change anybody's
    luck.

    Attributes:
        chance: what it has.
        faults: where the call's own fate is put down.
        messages: the bot's messages that stand, oldest first.
        delete: takes one of them away.
        drop_connections: cuts every poll and every idle connection.
        close_doors: lets nobody in for so many seconds.
        taken: what users took away, as it stood.
        over: nothing more is to go wrong.
    """

    chance: Chance
    faults: FaultPlan
    messages: Callable[[], Sequence[Message]]
    delete: Callable[[Message], object]
    drop_connections: Callable[[], object]
    close_doors: Callable[[float], object]
    taken: list[Message] = field(default_factory=list[Message])
    over: bool = False
    _numbers: Counter[str] = field(default_factory=Counter[str])
    _calls: "itertools.count[int]" = field(default_factory=itertools.count)

    def arrived(self, method: str) -> None:
        """A call has arrived: settle what becomes of it, and of everybody."""
        if self.over or method in SPARED:
            return
        fate = _as_telegram(self.chance.fate(method, self._numbers[method]))
        self._numbers[method] += 1
        if method == POLL:
            if fate.failure is None or fate.failure.retry_after is None:
                self.faults.add(method, fate)
            return
        self.faults.add(method, fate)
        if (happening := self.chance.happening(next(self._calls))) is not None:
            self._let_happen(happening)

    def _let_happen(self, happening: Happening) -> None:
        match happening.mishap:
            case Mishap.NEWEST_DELETED:
                self._take(self.messages()[-1:], happening.which)
            case Mishap.OLDER_DELETED:
                self._take(self.messages()[:-1], happening.which)
            case Mishap.SOCKETS_DROPPED:
                self.drop_connections()
            case Mishap.OUTAGE:
                self.close_doors(happening.seconds)

    def _take(self, messages: Sequence[Message], which: float) -> None:
        if messages:
            message = messages[int(which * len(messages))]
            self.taken.append(message)
            self.delete(message)


def _as_telegram(fate: Fate) -> Fate:
    """Telegram never says no with status 200."""
    if fate.failure is None or fate.failure.status != 200:
        return fate
    return replace(fate, failure=replace(fate.failure, status=500))
