"""The platform's time, which may pass faster than ours."""

import time
from collections.abc import Callable


class PlatformClock:
    """Platform seconds: ``scale`` of them pass in one real second.

    Budgets, ``Retry-After`` and lives are counted in platform seconds. Acknowledgement deadlines, redelivery and
    heartbeats belong to the client's world and are counted in real ones; they never ask this clock.

    Args:
        scale: platform seconds per real second; positive.
        source: monotonic real seconds; tests bring their own.
        epoch: Unix time of the start, default the wall clock's.
    """

    def __init__(
        self, scale: float = 1.0, *, source: Callable[[], float] = time.monotonic, epoch: float | None = None
    ) -> None:
        if scale <= 0:
            msg = f"time_scale must be positive, not {scale}"
            raise ValueError(msg)
        self.scale = scale
        self._source = source
        self._start = source()
        self._epoch = time.time() if epoch is None else epoch

    def now(self) -> float:
        """Platform seconds since the start."""
        return (self._source() - self._start) * self.scale

    def unix(self) -> float:
        """Platform time as Unix seconds; runs ahead of the wall clock when the scale is above 1."""
        return self._epoch + self.now()

    def real(self) -> float:
        """Real seconds, for what is never scaled."""
        return self._source()
