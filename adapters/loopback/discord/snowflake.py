"""Discord's ids, which tell when they were made."""

from adapters.loopback.clock import PlatformClock

EPOCH = 1_420_070_400.0
"""Unix time of the first second of 2015."""

_SHIFT = 22


class Snowflakes:
    """Makes ids: platform time, larger than any before."""

    def __init__(self, clock: PlatformClock) -> None:
        self._clock = clock
        self._last = 0

    def __call__(self) -> str:
        """The next id."""
        at = int((self._clock.unix() - EPOCH) * 1000) << _SHIFT
        self._last = max(self._last + 1, at)
        return str(self._last)


def unix_of(snowflake: str) -> float:
    """When the id was made, in Unix seconds."""
    return (int(snowflake) >> _SHIFT) / 1000 + EPOCH
