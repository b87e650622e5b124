"""Lets a platform misbehave at random, as a seed has it."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.fault import Fate, FaultPlan

MessageT = TypeVar("MessageT")


def never_200(fate: Fate) -> Fate:
    """As on a platform that says no with a status: where another one's error is a 200, it is a 500 there."""
    if fate.failure is None or fate.failure.status != 200:
        return fate
    return replace(fate, failure=replace(fate.failure, status=500))


@dataclass(slots=True, kw_only=True)
class Mischief(Generic[MessageT]):
    """Does what a ``Chance`` has in store, whenever a call arrives.

    Polls fail, too, but are never told to wait and bring no mishap: how often somebody polls must not change anybody's
    luck.

    Attributes:
        chance: what it has.
        faults: where the call's own fate is put down.
        spared: the calls that go well.
        poll: the call by which events are asked for, where there is one.
        fate_as: how the platform fails.
        messages: the bot's messages that stand, oldest first.
        delete: takes one of them away.
        drop: cuts what the bot listens on.
        close_doors: lets nobody in for so many seconds.
        taken: what users took away, as it stood.
        over: nothing more is to go wrong.
    """

    chance: Chance
    faults: FaultPlan
    spared: frozenset[str]
    poll: str | None = None
    fate_as: Callable[[Fate], Fate] = never_200
    messages: Callable[[], Sequence[MessageT]]
    delete: Callable[[MessageT], object]
    drop: Callable[[], object]
    close_doors: Callable[[float], object]
    taken: list[MessageT] = field(default_factory=list[MessageT])
    over: bool = False
    _numbers: Counter[str] = field(default_factory=Counter[str])
    _calls: "itertools.count[int]" = field(default_factory=itertools.count)

    def arrived(self, call: str) -> None:
        """A call has arrived: settle what becomes of it, and of everybody."""
        if self.over or call in self.spared:
            return
        fate = self.fate_as(self.chance.fate(call, self._numbers[call]))
        self._numbers[call] += 1
        if call != self.poll:
            self.faults.add(call, fate)
            if (happening := self.chance.happening(next(self._calls))) is not None:
                self._let_happen(happening)
        elif fate.failure is None or fate.failure.retry_after is None:
            self.faults.add(call, fate)

    def _let_happen(self, happening: Happening) -> None:
        match happening.mishap:
            case Mishap.NEWEST_DELETED:
                self._take(self.messages()[-1:], happening.which)
            case Mishap.OLDER_DELETED:
                self._take(self.messages()[:-1], happening.which)
            case Mishap.SOCKETS_DROPPED:
                self.drop()
            case Mishap.OUTAGE:
                self.close_doors(happening.seconds)

    def _take(self, messages: Sequence[MessageT], which: float) -> None:
        if messages:
            message = messages[int(which * len(messages))]
            self.taken.append(message)
            self.delete(message)
