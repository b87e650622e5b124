"""Stops sending before Discord stops listening. Pure: the caller brings the time.

Rule 1: answers of 401, 403 and 429 (but those of a shared limit) are counted. Of 10,000 in ten minutes Cloudflare bars
    the whole address, with everybody's bots behind it; at ``MOST`` we stop for the rest of the time.

Source: https://docs.discord.com/developers/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans
"""

from collections import deque

MOST = 500
WINDOW = 600.0
"""Seconds in which they are counted together."""


class Breaker:
    """Counts invalid requests."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def add(self, now: float) -> bool:
        """One more; whether it was the last that may be."""
        self._forget(now)
        self._times.append(now)
        return len(self._times) == MOST

    def wait(self, now: float) -> float:
        """Seconds until something may be sent; 0 if it may now."""
        self._forget(now)
        if len(self._times) < MOST:
            return 0.0
        return self._times[-1] + WINDOW - now

    def _forget(self, now: float) -> None:
        if self._times and len(self._times) >= MOST:
            if self._times[-1] + WINDOW <= now:
                self._times.clear()
            return
        while self._times and self._times[0] + WINDOW <= now:
            self._times.popleft()
