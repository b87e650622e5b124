"""One operation that stands in no conversation's queue: a mark at a message, a look at what was said before.

Rule 1: it is tried again while the platform does not say that it was done, ``TRIES`` times; then it is let be.
Rule 2: nothing depends on it but what asked for it, so nothing of it is written down.
"""

from gateway.adapter import Capabilities
from gateway.journal import Line
from gateway.need import Budgets, Need, Priority
from gateway.operation import (
    MarkWaiting,
    Operation,
    Outcome,
    RateLimited,
    ReadThread,
    ShowTyping,
    TellPrivately,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)

TRIES = 5

_DRAWS: dict[type[Operation], Budgets] = {
    ReadThread: "read",
    MarkWaiting: "mark",
    UnmarkWaiting: "mark",
    ShowTyping: "typing",
    TellPrivately: "private",
}


def draws(operation: Operation) -> Budgets:
    """The budgets of such an operation."""
    return _DRAWS[type(operation)]


class Errand:
    """Brings one operation to its end.

    Args:
        operation: what is to be done.
        capabilities: of the platform.
        priority: how urgent it is.
        tries: how often it is tried.
    """

    def __init__(
        self, operation: Operation, capabilities: Capabilities, priority: Priority, *, tries: int = TRIES
    ) -> None:
        self.address = operation.address
        self.capabilities = capabilities
        self.outcome: Outcome | None = None
        self._operation = operation
        self._priority = priority
        self._tries = 0
        self._most = tries
        self._in_flight = False

    @property
    def done(self) -> bool:
        """It has its outcome."""
        return self.outcome is not None and not self._in_flight

    def need(self) -> Need | None:
        """What it needs; none while it is in flight, and when it is done."""
        if self._in_flight or self.done:
            return None
        return Need(priority=self._priority, draws=draws(self._operation))

    def next_operation(self) -> Operation | None:
        """The operation, in flight from now on."""
        if self._in_flight or self.done:
            return None
        self._in_flight = True
        return self._operation

    def settle(self, outcome: Outcome) -> None:
        """Take in what came of it."""
        self._in_flight = False
        self._tries += 1
        again = isinstance(outcome, RateLimited | Unreachable | Unknown)
        if not again or self._tries == self._most:
            self.outcome = outcome

    def lines(self) -> dict[int, Line]:
        """Nothing of it is written down."""
        return {}
