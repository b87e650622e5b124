"""When an operation may go. Pure arithmetic: the caller brings the time, in platform seconds.

Rule 1: nothing here reads a clock or sleeps.
Rule 2: an operation goes when each of its keys has a token beside those that it leaves to others, and takes one from
        each.
Rule 3: what is more urgent goes first, and the tokens that it will need are kept for it, unless they will be back by
        then. Among equals goes first who has waited longest since it was served, or since it first asked.
Rule 4: what the platform says outranks what we believe: a refusal parks the key it was about, however long, and what
        it says to be left of a budget is what is left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, groupby, islice
from typing import NamedTuple

from gateway.adapter import Budget
from gateway.operation import Quota


class Key(NamedTuple):
    """Names one budget of one place: ("slack", "T1", "chat.update", "C1/17.1")."""

    platform: str
    account: str
    budget: str
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody who would do something now. ``urgency``: less is sooner. ``name`` is its conversation.

    ``budgets`` are what it draws on; the first is the one that a refusal of the platform is about. ``leaves`` says of
    which of them it goes without the last few tokens, so that they are there for somebody who has not asked yet.
    ``twins`` are budgets that it does not draw on, and that a refusal is about all the same.
    """

    name: str
    urgency: int
    budgets: Mapping[Key, Budget]
    leaves: Mapping[Key, int] = field(default_factory=dict[Key, int])
    twins: Mapping[Key, Budget] = field(default_factory=dict[Key, Budget])


class TokenBucket:
    """Allows ``burst`` operations at once and ``rate`` a second in the long run.

    It remembers a point in time, not a number of tokens: whoever waits exactly as long as told finds its token there,
    which a sum of small gains would not promise.
    """

    __slots__ = ("_budget", "_left", "_next_at", "_parked_until", "_told_until")

    def __init__(self, budget: Budget, now: float) -> None:
        self._budget = budget
        self._next_at = self._earliest(now)
        self._parked_until = self._told_until = now
        self._left = 0

    def delay(self, now: float, kept: int = 0) -> float:
        """Seconds until a token is there beside those ``kept`` for others."""
        if now < self._told_until:
            return max(0.0, self._parked_until - now, self._told_until - now if self._left <= kept else 0.0)
        lacking = kept + 1 - self._budget.burst  # so many more than it ever holds
        return max(0.0, self._next_at + kept / self._budget.rate - now, lacking / self._budget.rate)

    def take(self, now: float) -> None:
        """Use a token; it must be there."""
        if now < self._told_until:
            self._left -= 1
        else:
            self._next_at = max(self._next_at, self._earliest(now)) + 1 / self._budget.rate

    def park(self, now: float, seconds: float) -> None:
        """Let nothing through for so long, and then begin with one token at most: the platform's count is not ours."""
        self._parked_until = max(self._parked_until, now + seconds)
        self._next_at = max(self._next_at, now + seconds)

    def told(self, now: float, left: int, seconds: float) -> None:
        """The platform says what is left for so many seconds; behind them we count by ourselves again."""
        self._left, self._told_until = left, now + seconds
        self._next_at = max(self._parked_until, self._earliest(self._told_until))

    def idle(self, now: float) -> bool:
        """Whether forgetting this bucket would change nothing."""
        return self._next_at <= self._earliest(now) and self._told_until <= now

    def _earliest(self, now: float) -> float:
        """When the next token came to a bucket that is full now."""
        return now - (self._budget.burst - 1) / self._budget.rate


class Pacer:
    """Hands out slots to those who ask, within every budget."""

    def __init__(self) -> None:
        self._buckets: dict[Key, TokenBucket] = {}
        self._turns: dict[str, int] = {}
        self._turn = count()
        self._held: dict[str, float] = {}
        self._flying: Counter[Key] = Counter()

    def choose(self, candidates: Iterable[Candidate], now: float) -> tuple[Candidate | None, float]:
        """Who may go now, and in how many seconds to ask again where nobody may (infinity: nobody asked)."""
        kept: Counter[Key] = Counter()
        soonest = float("inf")
        for _, equals in groupby(self._in_order(candidates), key=lambda candidate: candidate.urgency):
            waiting: list[tuple[Candidate, float]] = []
            for candidate in equals:
                delay = self._delay(candidate, now, kept)
                if delay <= 0:
                    return candidate, 0.0
                soonest = min(soonest, delay)
                waiting.append((candidate, delay))
            for candidate, delay in waiting:
                kept.update(key for key, budget in candidate.budgets.items() if delay * budget.rate < 1)
        return None, soonest

    def take(self, candidate: Candidate, now: float) -> None:
        """The chosen one goes."""
        for key, budget in candidate.budgets.items():
            self._bucket(key, budget, now).take(now)
        self._flying.update([*_first(candidate)])
        self._turns[candidate.name] = next(self._turn)

    def landed(self, candidate: Candidate, now: float, quota: Quota | None = None) -> None:
        """What was taken is over; ``quota`` is what the platform said to be left of the first key's budget.

        Who is still on the way may be counted in there or not; so we count them, too.
        """
        for key, budget in _first(candidate).items():
            self._flying[key] -= 1
            if quota is not None:
                left = max(0, quota.remaining - self._flying[key])
                self._bucket(key, budget, now).told(now, left, quota.seconds)
            if not self._flying[key]:
                del self._flying[key]

    def park(self, candidate: Candidate, now: float, seconds: float, *, everything: bool = False) -> None:
        """The platform refused it for so many seconds: nothing goes on its first key until then, nor on its twins.

        With ``everything`` neither on those that all of its account share.
        """
        shared = {key: budget for key, budget in candidate.budgets.items() if everything and not key.scope}
        for key, budget in {**_first(candidate), **candidate.twins, **shared}.items():
            self._bucket(key, budget, now).park(now, seconds)
        if not candidate.budgets:
            self.hold(candidate.name, now, seconds)

    def hold(self, name: str, now: float, seconds: float) -> None:
        """Let this conversation wait for so long at least; nobody else is concerned."""
        self._held[name] = max(self._held.get(name, now), now + seconds)

    def forget(self, name: str, now: float) -> None:
        """A conversation has nothing more to show; drop what need not be remembered."""
        self._turns.pop(name, None)
        self._held.pop(name, None)
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if not bucket.idle(now)}

    def _in_order(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The most urgent first, and among equals who has waited longest."""
        asking = list(candidates)
        for candidate in asking:
            if candidate.name not in self._turns:
                self._turns[candidate.name] = next(self._turn)
        return sorted(asking, key=lambda candidate: (candidate.urgency, self._turns[candidate.name]))

    def _delay(self, candidate: Candidate, now: float, kept: Counter[Key]) -> float:
        held = self._held.get(candidate.name, now) - now
        buckets = (
            self._bucket(key, budget, now).delay(now, kept[key] + candidate.leaves.get(key, 0))
            for key, budget in candidate.budgets.items()
        )
        return max([held, *buckets])

    def _bucket(self, key: Key, budget: Budget, now: float) -> TokenBucket:
        if key not in self._buckets:
            self._buckets[key] = TokenBucket(budget, now)
        return self._buckets[key]


def _first(candidate: Candidate) -> dict[Key, Budget]:
    """The key that the platform's answers are about."""
    return dict(islice(candidate.budgets.items(), 1))
