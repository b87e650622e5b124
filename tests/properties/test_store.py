"""The store against a model of lists and dictionaries, over any sequence of deliveries, work, restarts and time."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, get_args

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gateway.address import Address
from gateway.error import OwnershipLostError
from gateway.inbound import (
    Command,
    CommandReceived,
    Ignored,
    Inbound,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Ticket,
)
from gateway.store import Store, Stored, Work
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase, Settings, create

T = TypeVar("T")
Given = TypeVar("Given", MessageReceived, CommandReceived)
HOUR = 3600.0

# Few names, so that they meet again.
NAMES = st.integers(0, 30).map(str)
ALL_PLACES = [Address(platform="p", account="a", channel="c", thread=t) for t in (None, "", "1", "2")]
PLACES = st.sampled_from(ALL_PLACES)
TICKETS = st.builds(Ticket, secret=st.text(), lifetime=st.floats(1, 40), opening=NAMES, guest=st.booleans())


COMMANDS: tuple[Command, ...] = get_args(Command)


@st.composite
def messages(draw: st.DrawFn) -> MessageReceived:
    return MessageReceived(
        event_id=draw(NAMES),
        message_id=draw(NAMES),
        address=draw(PLACES),
        user="u",
        text=draw(st.text()),
        direct=False,
        ticket=draw(st.none() | TICKETS),
    )


@st.composite
def inbounds(draw: st.DrawFn) -> Inbound:
    event, message = draw(NAMES), draw(messages())
    match draw(st.integers(0, 9)):
        case 0:
            return Ignored(event_id=event, reason="noise")
        case 1:
            return MessageEdited(event_id=event, message=message)
        case 2:
            return MessageDeleted(event_id=event, message_id=message.message_id, address=message.address)
        case 3 | 4:
            command = draw(st.sampled_from(COMMANDS))
            return CommandReceived(
                event_id=event,
                message_id=message.message_id,
                address=message.address,
                user="u",
                command=command,
                direct=False,
                ticket=message.ticket,
            )
        case _:
            return message


@dataclass(slots=True)
class Mail:
    """A message that is open, and all that was done about it."""

    event: str
    message: MessageReceived
    waited: bool
    stored: float
    attempts: int = 0
    stopped: bool = False
    left_behind: bool = False  # `new` came after it
    said: list[str] = field(default_factory=list[str])
    journal: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def fresh(self) -> bool:
        return not (self.attempts or self.said or self.journal)


def at(now: float, given: Given, stored: float) -> Given:
    """A message or a command as it is handed out: with its ticket only while that lives."""
    return given if given.ticket is None or now < stored + given.ticket.lifetime else replace(given, ticket=None)


class Model:
    """What a store must know, in the plainest form."""

    def __init__(self) -> None:
        self.finished_at: dict[str, float | None] = {}  # by event id; none where it is open
        self.message_of: dict[str, str] = {}  # by event id
        self.open: dict[str, list[Mail]] = {place.key: [] for place in ALL_PLACES}
        self.commands: list[tuple[CommandReceived, float]] = []
        self.history: dict[str, list[str]] = {place.key: [] for place in ALL_PLACES}
        self.line: list[str] = []  # conversations that are due or owned, longest due first
        self.owned: list[str] = []

    def ingest(self, inbound: Inbound, now: float) -> bool | None:
        """What is said of it; none where it is known."""
        if inbound.event_id in self.finished_at:
            return None
        match inbound:
            case Ignored():
                self.finished_at[inbound.event_id] = now
                return False
            case MessageEdited(message=message):
                self.finished_at[inbound.event_id] = now
                fresh = self.fresh(message.address.key, message.message_id)
                for mail in fresh:
                    mail.message = replace(message, ticket=mail.message.ticket)
                return bool(fresh)
            case MessageDeleted():
                self.finished_at[inbound.event_id] = now
                fresh = self.fresh(inbound.address.key, inbound.message_id)
                for mail in fresh:
                    self.close(inbound.address.key, mail, now)
                return bool(fresh)
            case MessageReceived() | CommandReceived():
                if inbound.message_id in self.message_of.values():
                    return None
                self.finished_at[inbound.event_id] = None
                self.message_of[inbound.event_id] = inbound.message_id
                return self.keep(inbound, now)

    def keep(self, inbound: MessageReceived | CommandReceived, now: float) -> bool:
        key = inbound.address.key
        mails = self.open[key]
        behind = bool(mails)
        if isinstance(inbound, MessageReceived):
            mails.append(Mail(event=inbound.event_id, message=inbound, waited=behind, stored=now))
            if key not in self.line:
                self.line.append(key)
            return behind
        self.commands.append((inbound, now))
        if mails and inbound.command in {"stop", "new"}:
            mails[0].stopped = True
        if inbound.command == "new":
            self.history[key].clear()
            for mail in mails:
                mail.left_behind = True
        return behind

    def fresh(self, key: str, name: str) -> list[Mail]:
        return [mail for mail in self.open[key] if mail.fresh and mail.message.message_id == name]

    def due(self) -> list[str]:
        return [key for key in self.line if key not in self.owned]

    def close(self, key: str, mail: Mail, now: float) -> None:
        self.open[key].remove(mail)
        self.finished_at[mail.event] = now
        if not self.open[key] and key in self.line:
            self.line.remove(key)

    def give_back(self, key: str) -> None:
        self.owned.remove(key)
        if key in self.line:
            self.line.remove(key)
        if self.open[key]:
            self.line.append(key)

    def finish(self, key: str, entries: list[str], now: float) -> None:
        mail = self.open[key][0]
        self.close(key, mail, now)
        if not mail.left_behind:
            self.history[key] += [*mail.said, *entries]
        self.give_back(key)

    def forget_tickets(self, now: float) -> float | None:
        """Take away what has expired; in how many seconds the next one will."""
        for mail in self.mails():
            mail.message = at(now, mail.message, mail.stored)
        self.commands = [(at(now, command, stored), stored) for command, stored in self.commands]
        given = [*((mail.message, mail.stored) for mail in self.mails()), *self.commands]
        ends = [stored + one.ticket.lifetime for one, stored in given if one.ticket is not None]
        return min(ends) - now if ends else None

    def mails(self) -> list[Mail]:
        return [mail for mails in self.open.values() for mail in mails]

    def prune(self, before: float) -> int:
        old = [event for event, finished in self.finished_at.items() if finished is not None and finished < before]
        for event in old:
            del self.finished_at[event]
            self.message_of.pop(event, None)
        return len(old)


class StoreMachine(RuleBasedStateMachine):
    """Every rule asks the store and the model the same."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.time = 1_000_000.0
        self.sequence = 0
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

    def told(self, stored: Stored | None) -> bool | None:
        """What the store says of an inbound, as the model says it."""
        if stored is None:
            return None
        assert stored.sequence > self.sequence
        self.sequence = stored.sequence
        return stored.behind

    def deliver(self, inbound: Inbound) -> None:
        assert self.told(self.run(self.store.ingest(inbound))) == self.model.ingest(inbound, self.time)

    @rule(inbound=inbounds())
    def ingest(self, inbound: Inbound) -> None:
        self.deliver(inbound)

    @rule(batch=st.lists(inbounds(), min_size=2, max_size=6, unique_by=lambda inbound: inbound.event_id))
    def ingest_at_once(self, batch: list[Inbound]) -> None:
        """In the order of the calls, though they share a commit."""

        async def deliver() -> list[Stored | None]:
            return list(await asyncio.gather(*(self.store.ingest(inbound) for inbound in batch)))

        # At one time the line's order is the order of the keys, so only one conversation may become due.
        places = {inbound.address.key for inbound in batch if isinstance(inbound, MessageReceived)}
        leaves = any(isinstance(inbound, MessageDeleted) for inbound in batch)
        if len(places if leaves else places - set(self.model.line)) > 1:
            return
        told = [self.told(stored) for stored in self.run(deliver())]
        assert told == [self.model.ingest(inbound, self.time) for inbound in batch]

    @precondition(lambda self: self.model.line)
    @rule(data=st.data(), event=NAMES, text=st.text())
    def edit_what_is_open(self, data: st.DataObject, event: str, text: str) -> None:
        mail = data.draw(st.sampled_from(self.model.open[data.draw(st.sampled_from(self.model.line))]))
        self.deliver(MessageEdited(event_id=event, message=replace(mail.message, event_id=event, text=text)))

    @precondition(lambda self: self.model.line)
    @rule(data=st.data(), event=NAMES)
    def delete_what_is_open(self, data: st.DataObject, event: str) -> None:
        message = data.draw(st.sampled_from(self.model.open[data.draw(st.sampled_from(self.model.line))])).message
        self.deliver(MessageDeleted(event_id=event, message_id=message.message_id, address=message.address))

    @precondition(lambda self: self.model.commands)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        position = data.draw(st.integers(0, len(self.model.commands) - 1))
        sequence, _ = self.run(self.store.open_commands())[position]
        self.run(self.store.close(sequence))
        command, _ = self.model.commands.pop(position)
        self.model.finished_at[command.event_id] = self.time

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
        if not self.model.open[key]:  # it was taken back
            assert work is None
            return
        mail = self.model.open[key][0]
        mail.attempts += 1
        assert work is not None
        message = at(self.time, mail.message, mail.stored)
        assert (work.conversation, work.message, work.attempt) == (key, message, mail.attempts)
        assert (work.age, work.waited, work.stopped) == (self.time - mail.stored, mail.waited, mail.stopped)
        assert (work.history, work.said) == (tuple(self.model.history[key]), tuple(mail.said))
        assert work.journal == tuple(mail.journal[number] for number in sorted(mail.journal))
        self.works[key] = work

    @precondition(lambda self: self.works)
    @rule(data=st.data(), lines=st.dictionaries(st.integers(0, 4), st.text(), max_size=3))
    def record(self, data: st.DataObject, lines: dict[int, str]) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        self.run(self.store.record(self.works[key], lines))
        self.model.open[key][0].journal.update(lines)

    @precondition(lambda self: self.works)
    @rule(data=st.data(), entries=st.lists(st.text(), max_size=3))
    def append(self, data: st.DataObject, entries: list[str]) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        self.run(self.store.append(self.works[key], entries))
        self.model.open[key][0].said += entries

    @precondition(lambda self: self.works)
    @rule(data=st.data(), entries=st.lists(st.text(), max_size=3))
    def finish(self, data: st.DataObject, entries: list[str]) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        work = self.works.pop(key)
        self.run(self.store.finish(work, entries))
        self.model.finish(key, entries, self.time)
        self.stale.append(work)

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        """Closed without an answer; what was appended before stays said."""
        key = data.draw(st.sampled_from(sorted(self.works)))
        work = self.works.pop(key)
        self.run(self.store.reject(key, work.sequence))
        self.model.finish(key, [], self.time)
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
        self.model.open[key][0].attempts -= 1
        self.model.give_back(key)
        self.stale.append(work)

    @precondition(lambda self: self.stale)
    @rule(data=st.data())
    def finish_too_late(self, data: st.DataObject) -> None:
        """Refused where the conversation is not ours, or the message is not open any more."""
        work = data.draw(st.sampled_from(self.stale))
        open_here = [mail.message.message_id for mail in self.model.open[work.conversation]]
        still_open = work.message.message_id in open_here
        if work.conversation in self.model.owned and still_open:
            return  # handed out again to this very process: it is not late
        with pytest.raises(OwnershipLostError):
            self.run(self.store.finish(work, ["late"]))
        with pytest.raises(OwnershipLostError):
            self.run(self.store.postpone(work))
        with pytest.raises(OwnershipLostError):
            self.run(self.store.record(work, {0: "late"}))
        with pytest.raises(OwnershipLostError):
            self.run(self.store.append(work, ["late"]))

    @rule()
    def crash(self) -> None:
        """Owners die, their work is due at its old place, and what they still say is refused."""
        self.leave()
        self.model.owned.clear()
        self.stale += self.works.values()
        self.works.clear()
        self.enter()

    @rule(seconds=st.floats(0, 20))
    def forget_tickets(self, seconds: float) -> None:
        self.time += seconds
        left = self.run(self.store.forget_tickets())
        assert left == self.model.forget_tickets(self.time)

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
        asked = [command for _, command in self.run(self.store.open_commands())]
        assert asked == [at(self.time, command, stored) for command, stored in self.model.commands]

    @rule(place=PLACES)
    def ask_how_many_are_open(self, place: Address) -> None:
        assert self.run(self.store.waiting(place.key)) == len(self.model.open[place.key])

    def teardown(self) -> None:
        try:
            self.crash()
            while self.model.due():
                self.claim(1)
                (key,) = self.model.owned
                work = self.run(self.store.load(key))
                assert work is not None
                mail = self.model.open[key][0]
                assert work.message == at(self.time, mail.message, mail.stored)
                self.run(self.store.finish(work, []))
                self.model.finish(key, [], self.time)
            assert self.run(self.store.claim(9)) == []
            assert not any(self.run(self.store.waiting(place.key)) for place in ALL_PLACES)
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
