"""Writes a run down while it goes on: its history, and what it asks people to allow.

Rule 1: what was handed in is written, in that order, whoever stops waiting for it: a run that is stopped in the middle
        of a write knows what is in its history.
Rule 2: what stands in front of the first entry, what was asked and what had broken off, is written with it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from gateway import approval, history
from gateway.history import Entry
from gateway.patience import patiently
from gateway.provider import Call
from gateway.store import Approval, Store, Work
from gateway.terms import Terms
from gateway.tool import Context, Report, User


@dataclass(slots=True, kw_only=True)
class _Writing:
    entries: Sequence[Entry]
    done: anyio.Event = field(default_factory=anyio.Event)


class RunRecorder:
    """The ``Recorder`` of one run, for as long as ``run`` does.

    Args:
        store: where to.
        work: the run's message.
        begun: what goes in front of the first entry.
        user: who asked.
        terms: on which tools are used.

    Raises:
        OwnershipLostError: from ``keep``, ``ask`` and ``withdraw``, where the run is another process's.
    """

    def __init__(self, store: Store, work: Work, *, begun: Sequence[Entry], user: User, terms: Terms) -> None:
        self.kept = False
        self._store = store
        self._work = work
        self._begun = begun
        self._user = user
        self._terms = terms
        self._waiting = deque[_Writing]()
        self._woken = anyio.Event()

    async def run(self) -> None:
        """Write, until cancelled."""
        while True:
            while self._waiting:
                writing = self._waiting[0]
                lines = [history.to_json(entry) for entry in writing.entries]
                await patiently(self._work.conversation, lambda lines=lines: self._store.append(self._work, lines))
                self._waiting.popleft()
                writing.done.set()
            await self._woken.wait()

    async def keep(self, entries: Sequence[Entry]) -> None:
        """See ``gateway.agent.Recorder``."""
        writing = _Writing(entries=[*([] if self.kept else self._begun), *entries])
        self.kept = True
        self._waiting.append(writing)
        self._woken.set()
        self._woken = anyio.Event()
        await writing.done.wait()

    async def ask(self, call: Call, *, may_stand: bool) -> str:
        """See ``gateway.agent.Recorder``."""
        asked = Approval(
            id=approval.identifier(self._work.message.message_id, call.tool_use_id),
            conversation=self._work.conversation,
            tool_use_id=call.tool_use_id,
            tool_name=call.name,
            asker=self._work.message.user,
            may_stand=may_stand,
        )
        await patiently(asked.conversation, lambda: self._store.ask(self._work, asked, lifetime=self._terms.patience))
        return asked.id

    async def withdraw(self, approval_id: str) -> None:
        """See ``gateway.agent.Recorder``."""
        await patiently(self._work.conversation, lambda: self._store.withdraw(self._work, approval_id))

    async def grants(self) -> list[str]:
        """See ``gateway.agent.Recorder``."""
        conversation = self._work.conversation
        return [
            each.tool_name for each in await patiently(conversation, lambda: self._store.approvals.grants(conversation))
        ]

    def context(self, call: Call, report: Report) -> Context:
        """See ``gateway.agent.Recorder``."""
        work = self._work
        return Context(
            user=self._user,
            conversation=work.conversation,
            run_id=f"r{work.sequence}",
            tool_use_id=call.tool_use_id,
            memory=self._store.memory(work.conversation),
            folder=self._terms.folder(work.conversation),
            report=report,
        )
