"""A platform's rate limit. Pure arithmetic: the caller brings the time.

Rule 1: a refused call costs nothing.
Rule 2: a call that needs several buckets takes from all of them or from none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# A token that is due to the last binary digit counts as there: time is a float.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A rate limit as data: ``rate`` calls a second in the long run, ``capacity`` at once."""

    name: str
    rate: float
    capacity: float

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.capacity < 1:
            msg = f"budget {self.name} needs a positive rate and room for one call"
            raise ValueError(msg)


class TokenBucket:
    """Holds one budget's tokens; full at first."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._tokens = budget.capacity
        self._at = 0.0

    def wait(self, now: float) -> float:
        """Say how long until a token is there, without taking it; 0.0 if one is."""
        missing = 1.0 - self._level(now)
        return 0.0 if missing <= _TOLERANCE else missing / self.budget.rate

    def take(self, now: float) -> None:
        """Take one token. Only after ``wait(now)`` said 0.0."""
        self._tokens = max(0.0, self._level(now) - 1.0)
        self._at = now

    def _level(self, now: float) -> float:
        return min(self.budget.capacity, self._tokens + max(0.0, now - self._at) * self.budget.rate)


def take_all(buckets: Sequence[TokenBucket], now: float) -> float:
    """Take a token from each bucket and return 0.0, or take none and return the longest wait."""
    wait = max((bucket.wait(now) for bucket in buckets), default=0.0)
    if wait == 0.0:
        for bucket in buckets:
            bucket.take(now)
    return wait
