"""What goes wrong at random, and is the same each time: a seed in, a fate for each call out. Pure.

Rule 1: what is in store for the n-th call of a method depends on the seed, the method and n, and on nothing else; the
        mishap at the n-th call of all on the seed and n. So one caller's haste changes no other's luck.
Rule 2: seeds differ in temper: each leaves some kinds of trouble out and has plenty of others. Dice that were alike
        would show the rare meeting of two troubles once in a thousand seeds.
Rule 3: whatever the seed, a call goes well at least every other time in the long run: who tries again comes through.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from adapters.loopback.fault import Failure, Fate


class Trouble(Enum):
    """What can become of a call."""

    WAIT = "it is told to wait for some seconds"
    LONG_WAIT = "it is told to wait for minutes"
    REFUSED = "it is answered by a server's error, and nothing was done"
    DENIED = "it was done, and is answered by a server's error"
    LOST = "nothing was done, and no answer comes"
    UNHEARD = "it was done, and no answer comes"
    SLOW = "it lies about for a while before it is done"
    LATE = "it is done, and the answer takes a while"


class Mishap(Enum):
    """What can happen to everybody."""

    NEWEST_DELETED = "a user takes the newest message away"
    OLDER_DELETED = "a user takes another message away"
    SOCKETS_DROPPED = "every socket is cut"
    OUTAGE = "nobody is let in for a moment"


SHARES: Mapping[Trouble, float] = {
    Trouble.WAIT: 3.0,
    Trouble.LONG_WAIT: 0.5,
    Trouble.REFUSED: 2.0,
    Trouble.DENIED: 2.0,
    Trouble.LOST: 2.0,
    Trouble.UNHEARD: 2.0,
    Trouble.SLOW: 1.5,
    Trouble.LATE: 1.5,
}
"""How often each kind of trouble comes, beside the others, where a seed has it."""

MOST_TROUBLED = 0.5
"""The share of calls that go wrong with the worst of seeds."""

LEFT_OUT = 0.3
"""How many seeds in one know nothing of a kind."""

MISHAPS: Mapping[Mishap, float] = {
    Mishap.NEWEST_DELETED: 0.04,
    Mishap.OLDER_DELETED: 0.03,
    Mishap.SOCKETS_DROPPED: 0.02,
    Mishap.OUTAGE: 0.02,
}
"""At how many calls in one each of them happens, where a seed has it."""

SHORT, LONG = (1, 10), (60, 600)
"""Platform seconds that a caller is told to wait."""

MOMENT = (0.01, 0.25)
"""Real seconds that something lies about. No client takes that for a time-out of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A mishap; ``which`` in [0, 1) picks among those whom it may hit, ``seconds`` (real ones) is how long it lasts."""

    mishap: Mishap
    which: float
    seconds: float


class Chance:
    """What a seed has in store.

    Args:
        seed: the same one always brings the same.
        errors: codes by which the platform says that something may have been done or not.
    """

    def __init__(self, seed: int, errors: Sequence[str]) -> None:
        self._seed = seed
        self._errors = errors
        temper = random.Random(f"{seed} temper")  # noqa: S311 - a dice that can be thrown again is what is wanted
        self._rate = temper.uniform(0.1, MOST_TROUBLED)
        self._shares = {trouble: _some(share, temper) for trouble, share in SHARES.items()}
        self._mishaps = {mishap: _some(share, temper) for mishap, share in MISHAPS.items()}

    def fate(self, method: str, number: int) -> Fate:
        """What becomes of the call of a method, the first of which is number 0."""
        dice = self._dice(f"{method} {number}")
        if dice.random() >= self._rate or not any(self._shares.values()):
            return Fate()
        (trouble,) = dice.choices(list(self._shares), list(self._shares.values()))
        return self._fate(trouble, dice)

    def happening(self, number: int) -> Happening | None:
        """What happens to everybody when the call of that number arrives; the first of all is number 0."""
        dice = self._dice(f"at {number}")
        at, so_far = dice.random(), 0.0
        for mishap, share in self._mishaps.items():
            so_far += share
            if at < so_far:
                return Happening(mishap=mishap, which=dice.random(), seconds=dice.uniform(*MOMENT))
        return None

    def _fate(self, trouble: Trouble, dice: random.Random) -> Fate:
        moment = dice.uniform(*MOMENT)
        match trouble:
            case Trouble.WAIT | Trouble.LONG_WAIT:
                wait = dice.randint(*(SHORT if trouble is Trouble.WAIT else LONG))
                return Fate(failure=Failure(error="ratelimited", status=429, retry_after=wait))
            case Trouble.REFUSED | Trouble.DENIED:
                failure = Failure(
                    error=dice.choice(self._errors),
                    status=dice.choice((200, 500, 502, 503)),
                    performed=trouble is Trouble.DENIED,
                )
                return Fate(failure=failure)
            case Trouble.LOST:
                return Fate(failure=Failure(error="no_answer", status=0), delay=moment)
            case Trouble.UNHEARD:
                return Fate(failure=Failure(error="no_answer", status=0, performed=True), hold=moment)
            case Trouble.SLOW:
                return Fate(delay=moment)
            case Trouble.LATE:
                return Fate(hold=moment)

    def _dice(self, subject: str) -> random.Random:
        return random.Random(f"{self._seed} {subject}")  # noqa: S311 - as above


def _some(share: float, temper: random.Random) -> float:
    """A share as a seed has it: none at all, or from a little to all of it."""
    return 0.0 if temper.random() < LEFT_OUT else share * temper.uniform(0.2, 1.0)
