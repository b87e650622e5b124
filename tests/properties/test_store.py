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
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

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
    PressReceived,
    Ticket,
)
from gateway.store import Approval, ApprovalState, Decision, Grant, Store, Stored, Work
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase, Settings, create

T = TypeVar("T")
Given = TypeVar("Given", MessageReceived, CommandReceived)
HOUR = 3600.0

# Few names, so that they meet again.
NAMES = st.integers(0, 60).map(str)
ALL_PLACES = [Address(platform="p", account="a", channel="c", thread=t) for t in (None, "", "1", "2")]
PLACES = st.sampled_from(ALL_PLACES)
TICKETS = st.builds(Ticket, secret=st.text(), lifetime=st.floats(1, 40), opening=NAMES, guest=st.booleans())


COMMANDS: tuple[Command, ...] = get_args(Command)
TOOLS = st.sampled_from(["write", "shell"])
PEOPLE = st.sampled_from(["u", "v"])
IDS = st.integers(0, 12).map(str)
LIFETIMES = st.none() | st.floats(1, 40)


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
def presses(draw: st.DrawFn, address: Address) -> PressReceived:
    return PressReceived(
        event_id=draw(NAMES),
        press="p",
        message_id="ours",
        address=address,
        user=draw(PEOPLE),
        data="",
        direct=False,
        ticket=draw(st.none() | TICKETS),
    )


@st.composite
def decisions(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Decision:
    return Decision(approval_id=draw(names), granted=draw(st.booleans()), standing=draw(st.booleans()))


@st.composite
def inbounds(draw: st.DrawFn) -> Inbound:
    event, message = draw(NAMES), draw(messages())
    match draw(st.integers(0, 10)):
        case 10:
            return draw(presses(message.address))
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
class Ask:
    """An approval, and until when it is open if nobody decides."""

    approval: Approval
    expires: float | None
    told: bool = False


Said = tuple[bool, bool, Approval | None]
"""What ``Stored`` says beside its number: behind, decided, asked."""


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
    asks: list[Ask] = field(default_factory=list[Ask])

    @property
    def fresh(self) -> bool:
        return not (self.attempts or self.said or self.journal or self.asks)

    @property
    def waiting(self) -> list[Ask]:
        return [ask for ask in self.asks if ask.approval.state == "open"]

    def end(self, state: ApprovalState, by: str | None = None) -> None:
        for ask in self.waiting:
            ask.approval = replace(ask.approval, state=state, by=by)


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
        self.asks: dict[str, tuple[str, Ask]] = {}  # by id, with the event id of the message
        self.grants: dict[str, dict[str, str]] = {place.key: {} for place in ALL_PLACES}  # who, by tool
        self.memory: dict[str, dict[str, str]] = {place.key: {} for place in ALL_PLACES}
        self.line: list[str] = []  # conversations that are due or owned, longest due first
        self.owned: list[str] = []

    def ingest(self, inbound: Inbound, now: float, decision: Decision | None = None) -> Said | None:
        """What is said of it; none where it is known."""
        if inbound.event_id in self.finished_at:
            return None
        if isinstance(inbound, MessageReceived | CommandReceived):
            if inbound.message_id in self.message_of.values():
                return None
            self.finished_at[inbound.event_id] = None
            self.message_of[inbound.event_id] = inbound.message_id
            return self.keep(inbound, now, decision)
        self.finished_at[inbound.event_id] = now
        return self.apply(inbound, now, decision)

    def apply(
        self, inbound: MessageEdited | MessageDeleted | PressReceived | Ignored, now: float, decision: Decision | None
    ) -> Said:
        """What has its effect at once."""
        match inbound:
            case Ignored():
                return False, False, None
            case MessageEdited(message=message):
                fresh = self.fresh(message.address.key, message.message_id)
                for mail in fresh:
                    mail.message = replace(message, ticket=mail.message.ticket)
                return bool(fresh), False, None
            case MessageDeleted():
                fresh = self.fresh(inbound.address.key, inbound.message_id)
                for mail in fresh:
                    self.close(inbound.address.key, mail, now)
                return bool(fresh), False, None
            case PressReceived():
                behind = bool(self.open[inbound.address.key])
                return behind, decision is not None and self.decide(inbound, decision), None

    def keep(self, inbound: MessageReceived | CommandReceived, now: float, decision: Decision | None) -> Said:
        key = inbound.address.key
        mails = self.open[key]
        behind = bool(mails)
        if isinstance(inbound, MessageReceived):
            asked = next(iter(mails[0].waiting), None) if mails else None
            mails.append(Mail(event=inbound.event_id, message=inbound, waited=behind, stored=now))
            self.settle(key)
            if asked is None or asked.told:
                return behind, False, None
            asked.told = True
            return behind, False, asked.approval
        self.commands.append((inbound, now))
        if inbound.command not in {"stop", "new"}:
            return behind, decision is not None and self.decide(inbound, decision), None
        if mails:
            mails[0].stopped = True
            if inbound.command == "new":
                mails[0].end("denied", inbound.user)
            mails[0].end("withdrawn")
        if inbound.command == "new":
            self.history[key].clear()
            self.grants[key].clear()
            for mail in mails:
                mail.left_behind = True
        self.settle(key)
        return behind, False, None

    def decide(self, inbound: PressReceived | CommandReceived, decision: Decision) -> bool:
        key = inbound.address.key
        _, ask = self.asks.get(decision.approval_id, (None, None))
        if ask is None or ask.approval.conversation != key or ask.approval.state != "open":
            return False
        standing = decision.granted and decision.standing and ask.approval.may_stand
        state = "approved" if decision.granted else "denied"
        ask.approval = replace(ask.approval, state=state, by=inbound.user, standing=standing)
        if standing:
            self.grants[key].setdefault(ask.approval.tool_name, inbound.user)
        self.settle(key)
        return True

    def settle(self, key: str) -> None:
        """Due where something is open that waits for nobody; what was in line stays there."""
        if self.open[key] and key not in self.line and not self.open[key][0].waiting:
            self.line.append(key)

    def ask(self, key: str, approval: Approval, expires: float | None) -> None:
        if approval.id not in self.asks:
            mail = self.open[key][0]
            state = "withdrawn" if mail.stopped else "open"
            ask = Ask(approval=replace(approval, state=state), expires=expires)
            mail.asks.append(ask)
            self.asks[approval.id] = mail.event, ask

    def park(self, key: str) -> None:
        self.open[key][0].attempts -= 1
        self.owned.remove(key)
        self.line.remove(key)
        self.settle(key)

    def expire(self, now: float) -> float | None:
        over: set[str] = set()
        left: list[float] = []
        for _, ask in self.asks.values():
            if ask.approval.state == "open" and ask.expires is not None:
                if ask.expires <= now:
                    ask.approval = replace(ask.approval, state="expired")
                    over.add(ask.approval.conversation)
                else:
                    left.append(ask.expires - now)
        for key in sorted(over):
            self.settle(key)
        return min(left) if left else None

    def fresh(self, key: str, name: str) -> list[Mail]:
        return [mail for mail in self.open[key] if mail.fresh and mail.message.message_id == name]

    def waiting(self) -> list[Ask]:
        return [ask for _, ask in self.asks.values() if ask.approval.state == "open"]

    def due(self) -> list[str]:
        return [key for key in self.line if key not in self.owned]

    def close(self, key: str, mail: Mail, now: float) -> None:
        self.open[key].remove(mail)
        mail.end("withdrawn")
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
        self.asks = {name: (event, ask) for name, (event, ask) in self.asks.items() if event in self.finished_at}
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
        self.time += 1
        return self.look(step)

    def look(self, step: Awaitable[T]) -> T:
        """At what is, while no time passes."""

        async def bounded() -> T:
            with anyio.fail_after(5):
                return await step

        return self.runner.run(bounded())

    def enter(self) -> None:
        self.context = self.open()
        self.store = self.run(self.context.__aenter__())

    def leave(self) -> None:
        self.run(self.context.__aexit__(None, None, None))

    def told(self, stored: Stored | None) -> Said | None:
        """What the store says of an inbound, as the model says it."""
        if stored is None:
            return None
        assert stored.sequence > self.sequence
        self.sequence = stored.sequence
        return stored.behind, stored.decided, stored.asked

    def deliver(self, inbound: Inbound, decision: Decision | None = None) -> None:
        told = self.told(self.run(self.store.ingest(inbound, decision)))
        assert told == self.model.ingest(inbound, self.time, decision)

    @initialize(data=st.data(), asks=st.integers(0, 3))
    def wait_for_approval(self, data: st.DataObject, asks: int) -> None:
        """What takes many steps to come by: some conversations have asked for something, and most are parked."""
        for number, place in enumerate(ALL_PLACES[:asks]):
            sent = replace(data.draw(messages()), address=place, event_id=f"first {number}", message_id=f"a{number}")
            self.deliver(sent)
            self.begin(data)
            self.ask(data, str(number), data.draw(TOOLS), data.draw(LIFETIMES), may_stand=data.draw(st.booleans()))

    @rule(inbound=inbounds())
    def ingest(self, inbound: Inbound) -> None:
        self.deliver(inbound)

    @rule(batch=st.lists(inbounds(), min_size=2, max_size=6, unique_by=lambda inbound: inbound.event_id))
    def ingest_at_once(self, batch: list[Inbound]) -> None:
        """In the order of the calls, though they share a commit."""

        async def deliver() -> list[Stored | None]:
            return list(await asyncio.gather(*(self.store.ingest(inbound) for inbound in batch)))

        # At one time the line's order is the order of the keys, so only one conversation may become due.
        places = {inbound.address.key for inbound in batch if isinstance(inbound, MessageReceived | CommandReceived)}
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

    @precondition(lambda self: self.model.asks)
    @rule(data=st.data(), press=PLACES.flatmap(presses))
    def press(self, data: st.DataObject, press: PressReceived) -> None:
        """By a button or by a command, about whatever was asked, wherever, decided or not."""
        decision = data.draw(decisions(st.sampled_from([*self.model.asks, "unknown"])))
        if data.draw(st.booleans()):
            asked = self.model.asks.get(decision.approval_id)
            press = replace(press, address=Address.from_key(asked[1].approval.conversation)) if asked else press
        if data.draw(st.booleans()):
            self.deliver(press, decision)
        else:
            command = data.draw(st.sampled_from(COMMANDS))
            typed = CommandReceived(
                event_id=press.event_id,
                message_id=data.draw(NAMES),
                address=press.address,
                user=press.user,
                command=command,
                direct=False,
            )
            self.deliver(typed, decision)

    @precondition(lambda self: self.model.waiting())
    @rule(data=st.data(), event=NAMES, user=PEOPLE, granted=st.booleans(), standing=st.booleans())
    def decide_what_waits(self, data: st.DataObject, event: str, user: str, *, granted: bool, standing: bool) -> None:
        ask = data.draw(st.sampled_from(self.model.waiting()))
        press = data.draw(presses(Address.from_key(ask.approval.conversation)))
        decision = Decision(approval_id=ask.approval.id, granted=granted, standing=standing)
        self.deliver(replace(press, event_id=event, user=user), decision)

    def decide_at_last(self, ask: Ask) -> None:
        """By a press that nobody made before."""
        press = PressReceived(
            event_id=f"last {ask.approval.id}",
            press="p",
            message_id="ours",
            address=Address.from_key(ask.approval.conversation),
            user="u",
            data="",
            direct=False,
        )
        self.deliver(press, Decision(approval_id=ask.approval.id, granted=False))

    @precondition(lambda self: self.model.waiting())
    @rule(data=st.data(), message=messages())
    def write_to_what_waits(self, data: st.DataObject, message: MessageReceived) -> None:
        ask = data.draw(st.sampled_from(self.model.waiting()))
        self.deliver(replace(message, address=Address.from_key(ask.approval.conversation)))

    @precondition(lambda self: self.works or self.model.due())
    @rule(data=st.data(), name=IDS, tool=TOOLS, lifetime=LIFETIMES, may_stand=st.booleans())
    def ask(self, data: st.DataObject, name: str, tool: str, lifetime: float | None, *, may_stand: bool) -> None:
        if not self.works:
            self.begin(data)
        if not self.works:
            return  # what is claimed and not loaded was not chosen
        key = data.draw(st.sampled_from(sorted(self.works)))
        approval = Approval(id=name, conversation=key, tool_use_id="t", tool_name=tool, asker="u", may_stand=may_stand)
        self.run(self.store.ask(self.works[key], approval, lifetime=lifetime))
        self.model.ask(key, approval, None if lifetime is None else self.time + lifetime)
        if data.draw(st.booleans()):
            self.park(data)

    @precondition(lambda self: self.works)
    @rule(data=st.data(), name=IDS)
    def withdraw(self, data: st.DataObject, name: str) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        waiting = self.model.open[key][0].waiting
        name = data.draw(st.sampled_from([name, *(ask.approval.id for ask in waiting)]))
        self.run(self.store.withdraw(self.works[key], name))
        for ask in waiting:
            if ask.approval.id == name:
                ask.approval = replace(ask.approval, state="withdrawn")

    @precondition(lambda self: self.works)
    @rule(data=st.data())
    def park(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.works)))
        work = self.works.pop(key)
        self.run(self.store.park(work))
        self.model.park(key)
        self.stale.append(work)

    @rule(seconds=st.floats(0, 20))
    def expire(self, seconds: float) -> None:
        self.time += seconds
        left = self.run(self.store.approvals.expire())
        assert left == self.model.expire(self.time)

    @rule(place=PLACES, tool=TOOLS)
    def revoke(self, place: Address, tool: str) -> None:
        was = self.model.grants[place.key].pop(tool, None) is not None
        assert self.run(self.store.approvals.revoke(place.key, tool)) == was

    @rule(place=PLACES, name=NAMES, text=st.none() | st.text())
    def remember(self, place: Address, name: str, text: str | None) -> None:
        self.run(self.store.memory(place.key).keep(name, text))
        kept = self.model.memory[place.key]
        kept.pop(name, None)
        if text is not None:
            kept[name] = text
        assert self.run(self.store.memory(place.key).texts()) == kept

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
        assert work.approvals == tuple(ask.approval for ask in mail.asks)
        assert work.grants == tuple(sorted(self.model.grants[key]))
        self.works[key] = work

    @precondition(lambda self: self.model.due())
    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        self.claim(1)
        self.load(data)

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
        with pytest.raises(OwnershipLostError):
            self.run(self.store.park(work))
        with pytest.raises(OwnershipLostError):
            self.run(self.store.withdraw(work, "0"))
        asked = Approval(id="99", conversation=work.conversation, tool_use_id="t", tool_name="shell", asker="u")
        with pytest.raises(OwnershipLostError):
            self.run(self.store.ask(work, asked, lifetime=None))

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

    @precondition(lambda self: self.model.finished_at)
    @rule(hours=st.floats(0, 60))
    def prune(self, hours: float) -> None:
        self.time += hours * HOUR
        before = self.model.asks.keys()
        assert self.run(self.store.prune(25 * HOUR)) == self.model.prune(self.time - 25 * HOUR)
        for name in before - self.model.asks.keys():
            assert self.look(self.store.approvals.find(name)) is None

    @precondition(lambda self: self.model.due())
    @rule()
    def wait_for_what_is_due(self) -> None:
        self.run(self.store.wait_due())

    @invariant()
    def what_is_asked_and_allowed_is_known(self) -> None:
        for place in ALL_PLACES:
            mails = self.model.open[place.key]
            waiting = [ask.approval for ask in mails[0].waiting] if mails else []
            assert self.look(self.store.approvals.open(place.key)) == waiting
            allowed = sorted(self.model.grants[place.key].items())
            assert self.look(self.store.approvals.grants(place.key)) == [
                Grant(conversation=place.key, tool_name=tool, by=by) for tool, by in allowed
            ]
        for name, (_, ask) in self.model.asks.items():
            assert self.look(self.store.approvals.find(name)) == ask.approval

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
            for ask in self.model.waiting():
                self.decide_at_last(ask)
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
TestInMemory.settings = settings(stateful_step_count=80)
# Each step waits for a disk, and the machine is the same.
TestOnDisk.settings = settings(stateful_step_count=20)
