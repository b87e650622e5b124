"""Brings replies onto the screen: asks the pacer who may go, the reply what, and the adapter to do it.

Rule 1: one task decides; operations are performed beside it, at most one for each reply.
Rule 2: an operation is computed when its slot is granted, not before.
Rule 3: an operation that has begun is let end, so that its outcome is known; whoever showed the reply waits for it.
Rule 4: what a reply wants written down is written before its operation goes, and again behind it.
Rule 5: a reply that fails harms no other.
Rule 6: where edits are counted apart from posts, a bubble is begun before it is whole only as often as edits can close
        such bubbles. Where more would begin, they wait until they are whole, and need no edit.
Rule 7: who has nothing on the screen yet begins before those of whom less than all is shown.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup

from gateway.adapter import Adapter, Budget, Capabilities
from gateway.address import Address
from gateway.event import Event
from gateway.journal import Line
from gateway.need import Need, Priority
from gateway.operation import Operation, Outcome, Performed, RateLimited, Unknown, Unreachable
from gateway.pacer import Candidate, Key, Pacer
from gateway.reply import Reply

T = TypeVar("T")

log = logging.getLogger(__name__)

BACK_OFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0)
"""Platform seconds to wait after the first, second, ... failure in a row to reach the platform."""

RECORD_PATIENCE = 5.0
"""Real seconds that a record of what was done may take when the gateway ends; else the next start finds it out."""

CLOSING = 0.9
"""How much of a budget of edits may go to bubbles that were begun before they were whole, each of which needs one to be
closed. The rest shows more of them in between; with none to spare, those that close would queue up."""

FIRST = 2
"""How many of those edits are left to who has nothing on the screen yet, where all of an account share them."""


class Deliverable(Protocol):
    """What can be brought onto a screen: a ``Reply``, an ``Errand``."""

    @property
    def address(self) -> Address:
        """Where."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Of the platform there."""
        ...

    @property
    def done(self) -> bool:
        """Nothing will be asked of it any more."""
        ...

    def need(self) -> Need | None:
        """What it would do with a slot now; none where nothing, or while an operation is in flight.

        Where ``next_operation`` has nothing to do with a slot, this says something else afterwards.
        """
        ...

    def next_operation(self) -> Operation | None:
        """The operation for a granted slot, in flight from now on; none where nothing is to be done after all."""
        ...

    def settle(self, outcome: Outcome) -> None:
        """What came of the operation in flight."""
        ...

    def lines(self) -> dict[int, Line]:
        """What has to be written down before anything else happens."""
        ...


Record = Callable[[Mapping[int, Line]], Awaitable[None]]
"""Writes lines of a journal down; raises where that is not to be had any more, and then nothing more is shown."""


async def no_record(lines: Mapping[int, Line]) -> None:
    """For what nobody will take up after a crash."""


@dataclass(slots=True)
class _Showing:
    """A reply on its way to the screen. ``asks``: for whom and what the pacer is asked, as of the last ``look``."""

    name: str
    reply: Deliverable
    adapter: Adapter
    record: Record
    failures: int = 0
    error: Exception | None = None
    performing: bool = False
    begun: bool = False
    settled_at: float = float("-inf")
    need: Need | None = None
    asks: Candidate | None = None
    changed: anyio.Event = field(default_factory=anyio.Event)

    @property
    def over(self) -> bool:
        """Nothing will be asked of it any more."""
        return self.error is not None or bool(_step(self, lambda: self.reply.done)) or self.error is not None

    def wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()

    def look(self) -> bool:
        """See what it needs now, whenever something has happened to it; whether that is something else than before."""
        need = None if self.error is not None else _step(self, self.reply.need)
        if need == self.need:
            return False
        self.need, self.asks = need, need and self._candidate(need)
        return True

    def _candidate(self, need: Need) -> Candidate:
        """To begin a bubble that is not whole it draws on the edit, too, that will close it (rules 6 and 7)."""
        capabilities = self.reply.capabilities
        early = need.priority is Priority.LIVE and need.draws == "post"
        closes = self._keys(_closing(capabilities), need)
        closing = closes if early else {}
        return Candidate(
            name=self.name,
            urgency=need.priority if self.begun else min(need.priority, Priority.STATUS),
            budgets=self._keys(getattr(capabilities, need.draws), need) | closing,
            leaves=_left_to_first(closing) if self.begun else {},
            twins=closes if need.draws == "edit" else {},
        )

    def _keys(self, budgets: Iterable[Budget], need: Need) -> dict[Key, Budget]:
        """Each budget that is for this place, at what its scope names."""
        at = self.reply.address
        scopes = {
            "account": "",
            "channel": at.channel,
            "thread": f"{at.channel}/{at.thread or ''}",
            "message": f"{at.channel}/{need.message_id or 'new'}",
        }
        return {
            Key(at.platform, at.account, budget.name, scopes[budget.scope]): budget
            for budget in budgets
            if budget.channels is None or re.fullmatch(budget.channels, at.channel)
        }


class Delivery:
    """Shows replies on all adapters, within every budget.

    Args:
        time_scale: how many platform seconds pass in a real one; above 1 only with platforms on loopback.
    """

    def __init__(self, *, time_scale: float = 1.0) -> None:
        self.time_scale = time_scale
        self._pacer = Pacer()
        self._shown: dict[str, _Showing] = {}
        self._replies: dict[Deliverable, _Showing] = {}
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Deliver until cancelled; return when the operations that had begun are over."""
        async with anyio.create_task_group() as tasks:
            while True:
                changed = self._changed
                pause = self._grant(tasks)
                with anyio.move_on_after(pause):
                    await changed.wait()

    async def show(
        self, reply: Deliverable, adapter: Adapter, *, record: Record = no_record, name: str | None = None
    ) -> None:
        """Bring a reply onto the screen; return when it is done.

        Args:
            reply: what is to be shown.
            adapter: of the platform where.
            record: writes its journal.
            name: of its place in the line; that of its conversation, which it then has for itself, if none is given.

        Raises:
            Exception: what the reply or ``record`` raised; it is not shown any further.
        """
        name = name or reply.address.key
        showing = _Showing(name=name, reply=reply, adapter=adapter, record=record)
        self._shown[name] = self._replies[reply] = showing
        self._look(showing)
        self._wake()
        try:
            while not showing.over:
                await showing.changed.wait()
        finally:
            del self._shown[name], self._replies[reply]  # before the wait, so that nothing more is asked of it
            with anyio.CancelScope(shield=True):
                while showing.performing:
                    await showing.changed.wait()
            self._pacer.forget(name, self._now())
        if showing.error is not None:
            raise showing.error

    def feed(self, reply: Reply, event: Event) -> None:
        """Tell a reply what its run did, and deliver what follows."""
        reply.feed(event)
        self._notice(reply)

    def rest(self, reply: Reply) -> None:
        """Tell a reply that its run waits, if it has not ended: it is done when all of it is on the screen."""
        reply.rest()
        self._notice(reply)

    def stop(self, reply: Reply) -> bool:
        """Show nothing more of a reply than closes what is on the screen; whether there was more."""
        left_out = reply.stop()
        self._notice(reply)
        return left_out

    def expire(self, reply: Reply) -> None:
        """Close a reply that can soon be shown no longer; its run may go on."""
        reply.expire()
        self._notice(reply)

    def _notice(self, reply: Reply) -> None:
        """Something has happened to a reply."""
        if (showing := self._replies.get(reply)) is None:
            return
        if showing.over:
            showing.wake()
        if self._look(showing):
            self._wake()

    def delay(self, conversation: str) -> float:
        """Platform seconds until what a conversation shows may go on; 0 where nothing holds it up."""
        showing = self._shown.get(conversation)
        candidate = showing and showing.asks
        return self._pacer.choose([candidate], self._now())[1] if candidate else 0.0

    def _look(self, showing: _Showing) -> bool:
        """See what a reply needs now. Where it wants to rest first, its place in the line is held for so long."""
        changed = showing.look()
        if changed and showing.need is not None and showing.need.rest:
            self._pacer.hold(showing.name, max(showing.settled_at, self._now() - showing.need.rest), showing.need.rest)
        return changed

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _grant(self, tasks: TaskGroup) -> float:
        """Start what may go now; how many real seconds until more may."""
        while True:
            candidate, pause = self._pacer.choose(self._candidates(), self._now())
            if candidate is None:
                return pause / self.time_scale
            showing = self._shown[candidate.name]
            operation = _step(showing, showing.reply.next_operation)
            if operation is not None:
                self._pacer.take(candidate, self._now())
                showing.performing = True
                tasks.start_soon(self._perform, showing, candidate, operation)
            if not self._look(showing) and operation is None and showing.error is None:
                showing.error = RuntimeError(f"{showing.name}: it needs a slot, and has nothing to do with it")
                showing.look()
            if operation is None:
                showing.wake()

    def _candidates(self) -> list[Candidate]:
        return [showing.asks for showing in self._shown.values() if showing.asks is not None]

    async def _perform(self, showing: _Showing, candidate: Candidate, operation: Operation) -> None:
        try:
            await _record(showing, _step(showing, showing.reply.lines))
            if showing.error is None:
                with anyio.CancelScope(shield=True):
                    self._settle(showing, candidate, await _outcome(showing, candidate, operation))
            if showing.error is None:
                await _record_to_the_last(showing, _step(showing, showing.reply.lines))
        finally:
            showing.performing = False
            showing.settled_at = self._now()
            self._look(showing)
            showing.wake()
            self._wake()

    def _settle(self, showing: _Showing, candidate: Candidate, outcome: Outcome) -> None:
        showing.failures = showing.failures + 1 if isinstance(outcome, Unreachable | Unknown) else 0
        if isinstance(outcome, RateLimited):
            budgets = " and ".join({key.budget: None for key in candidate.budgets}) or "this"
            log.warning("%s: refused, nothing more of %s for %g s", candidate.name, budgets, outcome.retry_after)
            self._pacer.park(candidate, self._now(), outcome.retry_after, everything=outcome.everything)
        elif isinstance(outcome, Unreachable | Unknown):
            log.warning("%s: tried again soon: %s", candidate.name, outcome.reason)
            self._pacer.hold(candidate.name, self._now(), BACK_OFF[min(showing.failures, len(BACK_OFF)) - 1])
        quota = outcome.quota if isinstance(outcome, Performed) else None
        self._pacer.landed(candidate, self._now(), quota)
        showing.begun = showing.begun or isinstance(outcome, Performed)
        _step(showing, lambda: showing.reply.settle(outcome))

    def _now(self) -> float:
        return anyio.current_time() * self.time_scale


async def _outcome(showing: _Showing, candidate: Candidate, operation: Operation) -> Outcome:
    try:
        return await showing.adapter.perform(operation)
    except Exception as error:
        log.exception("%s: the adapter failed; whether it was done is not known", candidate.name)
        return Unknown(reason=repr(error))


async def _record(showing: _Showing, lines: Mapping[int, Line] | None) -> None:
    """Write down what the reply wants written. Where that fails, nothing more is asked of it."""
    try:
        if lines:
            await showing.record(lines)
    except Exception as error:  # noqa: BLE001 - raised again, in the run that it belongs to
        showing.error = error


async def _record_to_the_last(showing: _Showing, lines: Mapping[int, Line] | None) -> None:
    """The same for what was done already: the end of the gateway is no reason to forget it."""
    try:
        await _record(showing, lines)
    except anyio.get_cancelled_exc_class():
        with anyio.move_on_after(RECORD_PATIENCE, shield=True):
            await _record(showing, lines)
        raise


def _step(showing: _Showing, step: Callable[[], T]) -> T | None:
    """Let a reply take a step. Where it fails, nothing more is asked of it, and ``show`` raises the error."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - raised again, in the run that it belongs to
        showing.error = error
        showing.wake()
        return None


@cache
def _closing(capabilities: Capabilities) -> tuple[Budget, ...]:
    """What limits how many bubbles are begun before they are whole: a copy of each budget of edits that they share.

    But not of what posts draw on, too: an operation of those is as good as any other, so that no edits can queue up.
    """
    return tuple(
        replace(budget, name=f"{budget.name} to close", rate=budget.rate * CLOSING)
        for budget in capabilities.edit
        if budget.scope != "message" and budget not in capabilities.post
    )


def _left_to_first(closing: Mapping[Key, Budget]) -> dict[Key, int]:
    """A budget that never holds more than these would let nobody else through."""
    return {key: min(FIRST, int(budget.burst) - 1) for key, budget in closing.items() if not key.scope}
