"""The store against a model of lists and dictionaries, over any sequence of deliveries, work, restarts and time."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.address import Address
from gateway.error import OwnershipLostError
from gateway.inbound import Ignored, Inbound, MessageReceived
from gateway.store import Store, Work
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase, Settings, create

T = TypeVar("T")
HOUR = 3600.0

# Few names, so that they meet again.
NAMES = st.integers(0, 30).map(str)
PLACES = st.sampled_from([Address(platform="p", account="a", channel="c", thread=t) for t in (None, "", "1", "2")])


@st.composite
def inbounds(draw: st.DrawFn) -> Inbound:
    if draw(st.integers(0, 4)) == 0:
        return Ignored(event_id=draw(NAMES), reason="noise")
    name = draw(NAMES)
    return MessageReceived(
        event_id=draw(NAMES), message_id=name, address=draw(PLACES), user="u", text=draw(st.text()), direct=False
    )


class Model:
    """What a store must know, in the plainest form."""

    def __init__(self) -> None:
        self.finished_at: dict[str, float | None] = {}  # by event id; none where it is open
        self.message_of: dict[str, str] = {}  # by event id
        self.open: dict[str, list[MessageReceived]] = {}
        self.attempts: dict[str, int] = {}  # by message id
        self.history: dict[str, list[str]] = {}
        self.line: list[str] = []  # conversations that are due or owned, longest due first
        self.owned: list[str] = []

    def ingest(self, inbound: Inbound, now: float) -> bool:
        if inbound.event_id in self.finished_at:
            return False
        if isinstance(inbound, Ignored):
            self.finished_at[inbound.event_id] = now
            return True
        if inbound.message_id in self.message_of.values():
            return False
        self.finished_at[inbound.event_id] = None
        self.message_of[inbound.event_id] = inbound.message_id
        key = inbound.address.key
        self.open.setdefault(key, []).append(inbound)
        if key not in self.line:
            self.line.append(key)
        return True

    def due(self) -> list[str]:
        return [key for key in self.line if key not in self.owned]

    def give_back(self, key: str) -> None:
        self.owned.remove(key)
        self.line.remove(key)
        if self.open[key]:
            self.line.append(key)

    def finish(self, key: str, entries: list[str], now: float) -> None:
        message = self.open[key].pop(0)
        self.finished_at[message.event_id] = now
        self.history.setdefault(key, []).extend(entries)
        self.give_back(key)

    def prune(self, before: float) -> int:
        old = [event for event, finished in self.finished_at.items() if finished is not None and finished < before]
        for event in old:
            del self.finished_at[event]
            self.attempts.pop(self.message_of.pop(event, ""), None)
        return len(old)


class StoreMachine(RuleBasedStateMachine):
    """Every rule asks the store and the model the same."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.time = 1_000_000.0
        self.model = Model()
        self.works: dict[str, Work] = {}
        self.stale: list[Work] = []
        self.enter()

    def open(self) -> AbstractAsyncContextManager[Store]:
        raise NotImplementedError

    def now(self) -> float:
        return self.time

    def run(self, step: Awaitable[T]) -> T:
        async def bounded() -> T:
            with anyio.fail_after(5):
                return await step

        self.time += 1
        return self.runner.run(bounded())

    def enter(self) -> None:
        self.context = self.open()
        self.store = self.run(self.context.__aenter__())

    def leave(self) -> None:
        self.run(self.context.__aexit__(None, None, None))

    @rule(inbound=inbounds())
    def ingest(self, inbound: Inbound) -> None:
        assert self.run(self.store.ingest(inbound)) == self.model.ingest(inbound, self.time)

    @rule(batch=st.lists(inbounds(), min_size=2, max_size=6, unique_by=lambda inbound: inbound.event_id))
    def ingest_at_once(self, batch: list[Inbound]) -> None:
        """In the order of the calls, though they share a commit."""

        async def deliver() -> list[bool]:
            return list(await asyncio.gather(*(self.store.ingest(inbound) for inbound in batch)))

        # At one time the line's order is the order of the keys, so only one conversation may become due.
        places = {inbound.address.key for inbound in batch if isinstance(inbound, MessageReceived)}
        if len(places - set(self.model.line)) > 1:
            return
        assert self.run(deliver()) == [self.model.ingest(inbound, self.time) for inbound in batch]

    @rule(limit=st.integers(0, 3))
    def claim(self, limit: int) -> None:
        expected = self.model.due()[:limit]
        assert self.run(self.store.claim(limit)) == expected
        self.model.owned += expected

    @precondition(lambda self: self.model.owned)
    @rule(data=st.data())
    def load(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.owned)))
        work = self.run(self.store.load(key))
        message, *others = self.model.open[key]
        attempt = self.model.attempts[message.message_id] = self.model.attempts.get(message.message_id, 0) + 1
        assert work is not None
        assert (work.conversation, work.message, work.attempt, work.waiting) == (key, message, attempt, len(others))
        assert list(work.history) == self.model.history.get(key, [])
        self.works[key] = work

    @precondition(lambda self: self.works)
    @rule(data=st.data(), entries=st.lists(st.text(), max_size=3))
    def finish(self, data: st.DataObject, entries: list[str]) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        work = self.works.pop(key)
        self.run(self.store.finish(work, entries))
        self.model.finish(key, entries, self.time)
        self.stale.append(work)

    @precondition(lambda self: self.model.owned)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.model.owned)))
        self.run(self.store.release(key))
        self.model.give_back(key)
        if work := self.works.pop(key, None):
            self.stale.append(work)

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def postpone(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        work = self.works.pop(key)
        self.run(self.store.postpone(work))
        self.model.attempts[work.message.message_id] -= 1
        self.model.give_back(key)
        self.stale.append(work)

    @precondition(lambda self: self.stale)
    @rule(data=st.data())
    def finish_too_late(self, data: st.DataObject) -> None:
        """Refused where the conversation is not ours, or the message is not open any more."""
        work = data.draw(st.sampled_from(self.stale))
        still_open = any(message == work.message for message in self.model.open[work.conversation])
        if work.conversation in self.model.owned and still_open:
            return  # handed out again to this very process: it is not late
        with pytest.raises(OwnershipLostError):
            self.run(self.store.finish(work, ["late"]))
        with pytest.raises(OwnershipLostError):
            self.run(self.store.postpone(work))

    @rule()
    def crash(self) -> None:
        """Owners die, their work is due at its old place, and what they still say is refused."""
        self.leave()
        self.model.owned.clear()
        self.stale += self.works.values()
        self.works.clear()
        self.enter()

    @rule(hours=st.floats(0, 60))
    def prune(self, hours: float) -> None:
        self.time += hours * HOUR
        assert self.run(self.store.prune(25 * HOUR)) == self.model.prune(self.time - 25 * HOUR)

    @precondition(lambda self: self.model.due())
    @rule()
    def wait_for_what_is_due(self) -> None:
        self.run(self.store.wait_due())

    @invariant()
    def all_that_is_open_is_known(self) -> None:
        assert self.run(self.store.open_messages()) == sum(map(len, self.model.open.values()))

    def teardown(self) -> None:
        try:
            self.crash()
            while self.model.due():
                self.claim(1)
                (key,) = self.model.owned
                work = self.run(self.store.load(key))
                assert work is not None
                assert work.message == self.model.open[key][0]
                self.run(self.store.finish(work, []))
                self.model.finish(key, [], self.time)
            assert self.run(self.store.claim(9)) == []
            assert self.run(self.store.open_messages()) == 0
        finally:
            self.leave()
            self.runner.close()


class MemoryMachine(StoreMachine):
    def open(self) -> AbstractAsyncContextManager[Store]:
        if not hasattr(self, "database"):
            self.database = MemoryDatabase(self.now)

        @asynccontextmanager
        async def mailbox() -> AsyncGenerator[Store]:
            yield await Mailbox.open(self.database)

        return mailbox()

    def teardown(self) -> None:
        super().teardown()
        self.database.__exit__()


class FileMachine(StoreMachine):
    def open(self) -> AbstractAsyncContextManager[Store]:
        if not hasattr(self, "folder"):
            self.folder = tempfile.TemporaryDirectory()
        return create(Settings(path=str(Path(self.folder.name) / "store.db")), self.now)

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestInMemory = MemoryMachine.TestCase
TestOnDisk = FileMachine.TestCase
# Each step waits for a disk, and the machine is the same.
TestOnDisk.settings = settings(stateful_step_count=20)
