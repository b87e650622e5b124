"""Brings replies onto the screen: asks the pacer who may go, the reply what, and the adapter to do it.

Rule 1: one task decides; operations are performed beside it, at most one for each reply.
Rule 2: an operation is computed when its slot is granted, not before.
Rule 3: an operation that has begun is let end, so that its outcome is known; whoever showed the reply waits for it.
Rule 4: a reply that fails harms no other.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

from gateway.adapter import Adapter, Budget
from gateway.event import Event
from gateway.operation import Operation, Outcome, RateLimited, Unknown, Unreachable
from gateway.pacer import Candidate, Key, Pacer
from gateway.reply import Need, Reply

T = TypeVar("T")

log = logging.getLogger(__name__)

BACK_OFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0)
"""Platform seconds to wait after the first, second, ... failure in a row to reach the platform."""


@dataclass(slots=True)
class _Showing:
    """A reply on its way to the screen."""

    reply: Reply
    adapter: Adapter
    failures: int = 0
    error: Exception | None = None
    performing: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def over(self) -> bool:
        """Nothing will be asked of it any more."""
        return self.reply.done or self.error is not None

    def need(self) -> Need | None:
        return None if self.error is not None else self.reply.need()

    def wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


class Delivery:
    """Shows replies on all adapters, within every budget.

    Args:
        time_scale: how many platform seconds pass in a real one; above 1 only with platforms on loopback.
    """

    def __init__(self, *, time_scale: float = 1.0) -> None:
        self._pacer = Pacer()
        self._time_scale = time_scale
        self._shown: dict[str, _Showing] = {}
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Deliver until cancelled; return when the operations that had begun are over."""
        async with anyio.create_task_group() as tasks:
            while True:
                changed = self._changed
                pause = self._grant(tasks)
                with anyio.move_on_after(pause):
                    await changed.wait()

    async def show(self, reply: Reply, adapter: Adapter) -> None:
        """Bring a reply onto the screen; return when it is done. One reply a conversation at a time.

        Raises:
            Exception: what the reply raised; it is not shown any further.
        """
        name = reply.address.key
        showing = self._shown[name] = _Showing(reply=reply, adapter=adapter)
        self._wake()
        try:
            while not showing.over:
                await showing.changed.wait()
        finally:
            del self._shown[name]  # before the wait, so that nothing more is asked of it
            with anyio.CancelScope(shield=True):
                while showing.performing:
                    await showing.changed.wait()
            self._pacer.forget(name, self._now())
        if showing.error is not None:
            raise showing.error

    def feed(self, reply: Reply, event: Event) -> None:
        """Tell a reply what its run did, and deliver what follows."""
        before = reply.need(), reply.done
        reply.feed(event)
        if before != (reply.need(), reply.done):
            self._wake()
            if (showing := self._shown.get(reply.address.key)) is not None:
                showing.wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _grant(self, tasks: TaskGroup) -> float:
        """Start what may go now; how many real seconds until more may."""
        while True:
            candidate, pause = self._pacer.choose(self._candidates(), self._now())
            if candidate is None:
                return pause / self._time_scale
            showing = self._shown[candidate.name]
            if (operation := _step(showing, showing.reply.next_operation)) is not None:
                self._pacer.take(candidate, self._now())
                showing.performing = True
                tasks.start_soon(self._perform, showing, candidate, operation)

    def _candidates(self) -> list[Candidate]:
        return [
            Candidate(name=name, urgency=need.priority, budgets=_budgets(showing, need))
            for name, showing in self._shown.items()
            if (need := showing.need()) is not None
        ]

    async def _perform(self, showing: _Showing, candidate: Candidate, operation: Operation) -> None:
        with anyio.CancelScope(shield=True):
            try:
                outcome = await showing.adapter.perform(operation)
            except Exception as error:
                log.exception("%s: the adapter failed; whether it was done is not known", candidate.name)
                outcome = Unknown(reason=repr(error))
            self._settle(showing, candidate, outcome)

    def _settle(self, showing: _Showing, candidate: Candidate, outcome: Outcome) -> None:
        showing.failures = showing.failures + 1 if isinstance(outcome, Unreachable | Unknown) else 0
        if isinstance(outcome, RateLimited):
            self._pacer.park(candidate, self._now(), outcome.retry_after)
        elif isinstance(outcome, Unreachable | Unknown):
            log.warning("%s: tried again soon: %s", candidate.name, outcome.reason)
            self._pacer.hold(candidate.name, self._now(), BACK_OFF[min(showing.failures, len(BACK_OFF)) - 1])
        _step(showing, lambda: showing.reply.settle(outcome))
        showing.performing = False
        showing.wake()
        self._wake()

    def _now(self) -> float:
        return anyio.current_time() * self._time_scale


def _step(showing: _Showing, step: Callable[[], T]) -> T | None:
    """Let a reply take a step. Where it fails, nothing more is asked of it, and ``show`` raises the error."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - raised again, in the run that it belongs to
        showing.error = error
        showing.wake()
        return None


def _budgets(showing: _Showing, need: Need) -> Mapping[Key, Budget]:
    """What an operation draws on: the budgets of its kind, each in the place that its scope names."""
    address, capabilities = showing.reply.address, showing.reply.capabilities
    scopes: dict[str, Callable[[], str]] = {
        "account": lambda: "",
        "channel": lambda: address.channel,
        "message": lambda: f"{address.channel}/{need.message_id}",
    }
    budgets = capabilities.post if need.message_id is None else capabilities.edit
    return {Key(address.platform, address.account, budget.name, scopes[budget.scope]()): budget for budget in budgets}
