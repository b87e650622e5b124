"""What should go wrong next, by method."""

from collections import defaultdict, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How one call is made to fail.

    Attributes:
        error: the error code in the body.
        status: HTTP status; 0 cuts the connection instead of answering.
        retry_after: platform seconds, sent as the platform sends them.
        performed: the call takes effect and only its answer is bad: the caller can't know.
    """

    error: str
    status: int = 200
    retry_after: int | None = None
    performed: bool = False


class FaultPlan:
    """Failures and delays that wait for their calls; each is used once."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)
        self._delays: defaultdict[str, deque[float]] = defaultdict(deque)

    def fail(self, method: str, failure: Failure, times: int = 1) -> None:
        """Let the next ``times`` calls of the method fail."""
        self._failures[method].extend([failure] * times)

    def delay(self, method: str, seconds: float, times: int = 1) -> None:
        """Let the next ``times`` calls of the method take ``seconds`` longer (real ones)."""
        self._delays[method].extend([seconds] * times)

    def next_failure(self, method: str) -> Failure | None:
        """Take the method's next failure."""
        waiting = self._failures[method]
        return waiting.popleft() if waiting else None

    def next_delay(self, method: str) -> float:
        """Take the method's next delay; 0.0 if there is none."""
        waiting = self._delays[method]
        return waiting.popleft() if waiting else 0.0
