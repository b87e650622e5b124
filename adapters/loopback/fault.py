"""What should go wrong next, by method."""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TypeVar

ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """All that is in store for one call; nothing, if it is not told otherwise.

    Attributes:
        failure: how it fails.
        delay: real seconds before anything is done.
        hold: real seconds between what was done and the answer.
    """

    failure: Failure | None = None
    delay: float = 0.0
    hold: float = 0.0


class FaultPlan:
    """Failures and delays that wait for their calls; each is used once."""

    def __init__(self) -> None:
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)
        self._delays: defaultdict[str, deque[float]] = defaultdict(deque)
        self._holds: defaultdict[str, deque[float]] = defaultdict(deque)

    def fail(self, method: str, failure: Failure, times: int = 1) -> None:
        """Let the next ``times`` calls of the method fail."""
        self._failures[method].extend([failure] * times)

    def delay(self, method: str, seconds: float, times: int = 1) -> None:
        """Let the next ``times`` calls of the method wait ``seconds`` (real ones) before anything is done."""
        self._delays[method].extend([seconds] * times)

    def hold(self, method: str, seconds: float, times: int = 1) -> None:
        """Let the answers of the next ``times`` calls come ``seconds`` (real ones) after all was done."""
        self._holds[method].extend([seconds] * times)

    def add(self, method: str, fate: Fate) -> None:
        """Let the next call of the method for which nothing else is planned have this fate."""
        if fate.failure is not None:
            self.fail(method, fate.failure)
        if fate.delay:
            self.delay(method, fate.delay)
        if fate.hold:
            self.hold(method, fate.hold)

    def clear(self) -> None:
        """Forget what is planned."""
        for planned in (self._failures, self._delays, self._holds):
            planned.clear()

    def take(self, method: str) -> Fate:
        """What is planned for a call of the method that has just arrived. It is over with that."""
        return Fate(
            failure=_next(self._failures[method], None),
            delay=_next(self._delays[method], 0.0),
            hold=_next(self._holds[method], 0.0),
        )


def _next(waiting: deque[ValueT], otherwise: OtherT) -> ValueT | OtherT:
    return waiting.popleft() if waiting else otherwise
