"""What was called, and what the platform answered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call to the platform, refused ones included.

    Attributes:
        t: platform seconds since the server's start, at arrival.
        method: the platform's name of what was called.
        target: what it was about: a channel, or channel/message; empty where there is none.
        status: HTTP status; 0 where the connection was cut instead of answered.
        error: the platform's error code.
        retry_after: platform seconds the caller was told to wait.
        arguments: what was sent, without the token.
    """

    t: float
    method: str
    target: str
    status: int
    error: str | None = None
    retry_after: float | None = None
    arguments: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)

    def to_json(self) -> dict[str, object]:
        """The call as ``play --json`` prints it."""
        return {
            "t": round(self.t, 3),
            "method": self.method,
            "target": self.target,
            "status": self.status,
            "error": self.error,
            "retry_after": self.retry_after,
        }


class CallLog:
    """All calls in the order of their answers."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def __iter__(self) -> Iterator[Call]:
        """The calls, oldest answer first."""
        return iter(self._calls)

    def __len__(self) -> int:
        """How many calls were answered."""
        return len(self._calls)

    def append(self, call: Call) -> None:
        """Record an answered call."""
        self._calls.append(call)

    def of(self, method: str) -> list[Call]:
        """The calls of one method."""
        return [call for call in self._calls if call.method == method]

    def rate_limited(self) -> list[Call]:
        """The calls that were told to wait."""
        return [call for call in self._calls if call.retry_after is not None]

    def to_json(self) -> list[dict[str, object]]:
        """All calls as ``play --json`` prints them."""
        return [call.to_json() for call in self._calls]
