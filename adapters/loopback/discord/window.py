"""A rate limit as Discord has it: so many calls in a window that begins with its first. Pure.

Rule 1: a refused call costs nothing.
Rule 2: one call more than announced is let in, the room for jitter; ``remaining`` never tells of it.
"""

from collections import deque
from dataclasses import dataclass

_JITTER = 1

# A window that is over to the last binary digit is over: time is a float.
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """A rate limit as data: ``limit`` calls in ``seconds``."""

    name: str
    limit: int
    seconds: float

    def __post_init__(self) -> None:
        if self.limit < 1 or self.seconds <= 0:
            msg = f"allowance {self.name} needs a positive limit and time"
            raise ValueError(msg)


class Window:
    """Counts the calls of one allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._start: float | None = None
        self._used = 0

    def wait(self, now: float) -> float:
        """Say how long until a call is let in; 0.0 if one is."""
        return self.resets_after(now) if self._taken(now) >= self.allowance.limit + _JITTER else 0.0

    def take(self, now: float) -> None:
        """Count a call. Only after ``wait(now)`` said 0.0."""
        self._used = self._taken(now) + 1
        if self._used == 1:
            self._start = now

    def remaining(self, now: float) -> int:
        """How many calls are left, as Discord says."""
        return max(0, self.allowance.limit - self._taken(now))

    def resets_after(self, now: float) -> float:
        """Seconds until the window is over; a whole one before its first call."""
        left = self._left(now)
        return left if left > 0.0 else self.allowance.seconds

    def _taken(self, now: float) -> int:
        return self._used if self._left(now) > 0.0 else 0

    def _left(self, now: float) -> float:
        """Seconds until the window that has begun is over; 0.0 if none has, or it is."""
        left = 0.0 if self._start is None else self._start + self.allowance.seconds - now
        return left if left > _TOLERANCE else 0.0


class Tally:
    """Counts what happened in the last ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: deque[float] = deque()

    def add(self, now: float) -> None:
        """Something happened."""
        self._times.append(now)

    def count(self, now: float) -> int:
        """How often it happened in the time before."""
        while self._times and self._times[0] <= now - self._seconds:
            self._times.popleft()
        return len(self._times)
