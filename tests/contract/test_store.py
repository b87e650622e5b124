"""What every store must do. Stores are found: whoever adds one says in ``LOCATIONS`` where it keeps its data."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from gateway import stores
from gateway.address import Address
from gateway.error import OwnershipLostError, StoreError, UnreadableError
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
from gateway.stores.sqlite import MemoryDatabase
from tests.contract.manifest import assert_complete, proves

HOUR = 3600.0
LOCATIONS: dict[str, Callable[[Path], dict[str, Any]]] = {"sqlite": lambda folder: {"path": str(folder / "store.db")}}


class Clock:
    """Time that passes a second with each look, so that nothing happens at the same time."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        self.time += 1
        return self.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One store under test. Each ``open`` is on the same data, so the second is a restart."""

    open: Callable[[], AbstractAsyncContextManager[Store]]
    clock: Clock


def found() -> list[str]:
    names = [module.name for module in iter_modules(stores.__path__)]
    return [name for name in names if hasattr(import_module(f"gateway.stores.{name}"), "create")]


def in_memory(clock: Clock, database: MemoryDatabase) -> Bench:
    @asynccontextmanager
    async def reopen() -> AsyncGenerator[Store]:
        yield await Mailbox.open(database)

    return Bench(open=reopen, clock=clock)


def on_disk(name: str, clock: Clock, folder: Path) -> Bench:
    module = import_module(f"gateway.stores.{name}")
    settings = module.Settings(**LOCATIONS[name](folder))
    return Bench(open=lambda: module.create(settings, clock), clock=clock)


@pytest.fixture(
    params=[*((name, "asyncio") for name in found()), ("memory", "asyncio"), ("memory", "trio")], ids="-".join
)
def variant(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def anyio_backend(variant: tuple[str, str]) -> str:
    return variant[1]


@pytest.fixture
def bench(variant: tuple[str, str], tmp_path: Path) -> Generator[Bench]:
    name, clock = variant[0], Clock()
    with MemoryDatabase(clock) as database:
        yield in_memory(clock, database) if name == "memory" else on_disk(name, clock, tmp_path)


@pytest.fixture
async def store(bench: Bench) -> AsyncGenerator[Store]:
    with anyio.fail_after(5):
        async with bench.open() as store:
            yield store


NUMBERS = count()


def address(channel: str = "C1") -> Address:
    return Address(platform="slack", account="T1", channel=channel)


def message(text: str = "hello", *, to: Address | None = None, event: str = "", name: str = "") -> MessageReceived:
    """A message like no other, unless its names are given."""
    number = next(NUMBERS)
    return MessageReceived(
        event_id=event or f"event {number}",
        message_id=name or f"message {number}",
        address=to or address(),
        user="U1",
        text=text,
        direct=False,
    )


def edit(sent: MessageReceived, text: str, *, event: str = "") -> MessageEdited:
    number = next(NUMBERS)
    now = replace(sent, event_id=f"event {number}", text=text)
    return MessageEdited(event_id=event or f"event {number}", message=now)


def deletion(sent: MessageReceived, *, event: str = "") -> MessageDeleted:
    return MessageDeleted(event_id=event or f"event {next(NUMBERS)}", message_id=sent.message_id, address=sent.address)


def command(what: Command, *, to: Address | None = None, event: str = "", name: str = "") -> CommandReceived:
    number = next(NUMBERS)
    return CommandReceived(
        event_id=event or f"event {number}",
        message_id=name or f"message {number}",
        address=to or address(),
        user="U1",
        command=what,
        direct=False,
    )


def press(*, to: Address | None = None, event: str = "", user: str = "U1") -> PressReceived:
    return PressReceived(
        event_id=event or f"event {next(NUMBERS)}",
        press="p",
        message_id="ours",
        address=to or address(),
        user=user,
        data="",
        direct=False,
    )


def approval(name: str = "A", tool: str = "write", *, of: Address | None = None, may_stand: bool = True) -> Approval:
    return Approval(
        id=name,
        conversation=(of or address()).key,
        tool_use_id=f"call {name}",
        tool_name=tool,
        asker="U1",
        may_stand=may_stand,
    )


def yes(name: str = "A", *, standing: bool = False) -> Decision:
    return Decision(approval_id=name, granted=True, standing=standing)


def no(name: str = "A") -> Decision:
    return Decision(approval_id=name, granted=False)


def ticket(lifetime: float = 900, word: str = "swordfish") -> Ticket:
    return Ticket(secret=word, lifetime=lifetime, opening="77", guest=True)


def unreadable() -> MessageReceived:
    """A message of a kind that no version knows: nobody wrote it."""
    return replace(message(), user=cast("str", None))


async def take(store: Store, limit: int = 1) -> list[Work]:
    works = [await store.load(conversation) for conversation in await store.claim(limit)]
    return [work for work in works if work is not None]


async def take_one(store: Store) -> Work:
    (work,) = await take(store)
    return work


async def behind(store: Store, inbound: Inbound) -> bool:
    """What is said of an inbound that must be new."""
    stored = await store.ingest(inbound)
    assert stored is not None
    return stored.behind


async def asking(store: Store, *approvals: Approval, to: Address | None = None, lifetime: float | None = None) -> Work:
    """A run that has just asked for something."""
    await store.ingest(message(to=to))
    work = await take_one(store)
    for each in approvals or (approval(of=to),):
        await store.ask(work, each, lifetime=lifetime)
    return work


async def parked(store: Store, *approvals: Approval, to: Address | None = None, lifetime: float | None = None) -> Work:
    work = await asking(store, *approvals, to=to, lifetime=lifetime)
    await store.park(work)
    return work


async def decided(store: Store, inbound: Inbound, decision: Decision) -> bool | None:
    """Whether it won; none where it was known."""
    stored = await store.ingest(inbound, decision)
    return None if stored is None else stored.decided


async def state(store: Store, name: str = "A") -> ApprovalState | None:
    found = await store.approvals.find(name)
    return None if found is None else found.state


@proves("ingest-new")
async def test_what_is_new_is_kept(store: Store) -> None:
    sent = message("one")
    inbounds = [
        sent,
        message("two"),
        Ignored(event_id="noise", reason="a bot wrote it"),
        command("stop"),
        edit(sent, "1"),
        deletion(sent),
    ]
    stored = [await store.ingest(inbound) for inbound in inbounds]
    sequences = [one.sequence for one in stored if one is not None]
    assert len(sequences) == len(inbounds)
    assert sequences == sorted(set(sequences))
    assert await store.waiting(address().key) == 1
    assert (await take_one(store)).sequence == sequences[1]


@proves("ingest-event-once")
async def test_an_event_is_kept_once(store: Store) -> None:
    assert await store.ingest(message("first", event="E"))
    assert not await store.ingest(message("again", event="E"))
    work = await take_one(store)
    assert work.message.text == "first"
    await store.finish(work, [])
    assert not await store.ingest(message("after it was answered", event="E"))
    assert await store.waiting(address().key) == 0
    assert await store.claim(9) == []


@proves("ingest-message-once")
async def test_a_message_is_kept_once_under_whatever_event_it_comes(store: Store) -> None:
    assert await store.ingest(message("mention", name="M"))
    assert not await store.ingest(message("the same as a message", name="M"))
    assert not await store.ingest(message("the same elsewhere", name="M", to=address("C2")))
    assert await store.claim(9) == [address().key]
    assert await store.waiting(address().key) == 1


@proves("ingest-concurrent-once")
async def test_of_deliveries_at_the_same_time_one_is_new(store: Store) -> None:
    answers: list[Stored | None] = []

    async def deliver(number: int) -> None:
        answers.append(await store.ingest(message(event=f"E{number % 3}", name="M")))

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(deliver, number)
    assert sum(answer is not None for answer in answers) == 1
    assert await store.waiting(address().key) == 1


@proves("ignored-starts-nothing")
async def test_what_is_ignored_is_known_and_starts_nothing(store: Store) -> None:
    assert await store.claim(1) == []
    assert await store.ingest(Ignored(event_id="E", reason="an edit"))
    assert not await store.ingest(Ignored(event_id="E", reason="an edit"))
    assert not await store.ingest(message(event="E"))
    assert await store.claim(9) == []
    assert await store.waiting(address().key) == 0


@proves("behind")
async def test_who_waits_behind_another_is_told_so_and_so_is_who_answers(store: Store) -> None:
    assert not await behind(store, message("A"))
    assert await behind(store, message("B"))
    assert not await behind(store, message("elsewhere", to=address("C2")))
    first = await take_one(store)
    assert await behind(store, message("C"))
    await store.finish(first, [])
    (other, second) = await take(store, 2)
    await store.finish(second, [])
    third = await take_one(store)
    await store.finish(third, [])
    assert not await behind(store, message("D"))
    works = [first, other, second, third, await take_one(store)]
    assert [(work.message.text, work.waited) for work in works] == [
        ("A", False),
        ("elsewhere", False),
        ("B", True),
        ("C", True),
        ("D", False),
    ]


@proves("behind")
async def test_who_waited_is_known_over_a_restart(bench: Bench) -> None:
    async with bench.open() as store:
        first = message("A")
        await store.ingest(first)
        await store.ingest(message("B"))
        assert await behind(store, deletion(first))
        assert (await take_one(store)).waited
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.message.text, work.attempt, work.waited) == ("B", 2, True)


@proves("edit-waiting")
async def test_what_waits_is_answered_as_it_reads_now(store: Store) -> None:
    sent = message("A")
    for one in (message("first"), sent, message("B")):
        await store.ingest(one)
    once, twice = edit(sent, "A, once"), edit(sent, "A, twice")
    assert await behind(store, once)
    assert await behind(store, twice)
    assert await store.ingest(once) is None
    assert await store.ingest(sent) is None
    assert await store.waiting(address().key) == 3
    await store.finish(await take_one(store), [])
    work = await take_one(store)
    assert (work.message, work.attempt) == (twice.message, 1)


@proves("edit-waiting")
async def test_what_is_claimed_and_not_loaded_yet_may_be_edited(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    (conversation,) = await store.claim(1)
    assert await behind(store, edit(sent, "B"))
    work = await store.load(conversation)
    assert work is not None
    assert work.message.text == "B"


@proves("edit-waiting")
async def test_what_was_postponed_with_nothing_written_may_be_edited(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    await store.postpone(await take_one(store))
    assert await behind(store, edit(sent, "B"))
    assert (await take_one(store)).message.text == "B"


@proves("edit-too-late")
async def test_what_was_begun_is_not_changed_by_an_edit(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    work = await take_one(store)
    late = edit(sent, "B")
    assert not await behind(store, late)
    assert await store.ingest(late) is None
    await store.release(work.conversation)
    assert not await behind(store, edit(sent, "C"))
    again = await take_one(store)
    assert (again.message, again.attempt) == (sent, 2)
    await store.finish(again, ["A"])
    assert not await behind(store, edit(sent, "D"))
    assert await store.ingest(sent) is None
    assert await store.waiting(address().key) == 0
    assert await store.claim(9) == []


@proves("edit-too-late")
@pytest.mark.parametrize("written", ["journal", "history"])
async def test_what_was_postponed_half_shown_is_changed_by_no_edit_and_no_deletion(store: Store, written: str) -> None:
    sent = message("A")
    await store.ingest(sent)
    work = await take_one(store)
    if written == "journal":
        await store.record(work, {0: "shown"})
    else:
        await store.append(work, ["said"])
    await store.postpone(work)
    assert not await behind(store, edit(sent, "B"))
    assert not await behind(store, deletion(sent))
    assert (await take_one(store)).message == sent


@proves("edit-too-late")
async def test_an_edit_of_what_nobody_knows_or_of_a_command_starts_nothing(store: Store) -> None:
    unknown = edit(message(), "B", event="E")
    asked = command("status", name="M")
    await store.ingest(asked)
    await store.ingest(message("elsewhere", to=address("C2"), name="N"))
    assert not await behind(store, unknown)
    assert await store.ingest(unknown) is None
    assert not await behind(store, edit(message(name="M"), "B"))
    assert not await behind(store, edit(message(name="N"), "in another conversation"))
    work = await take_one(store)
    assert (work.message.text, await store.waiting(address("C2").key)) == ("elsewhere", 1)
    assert [given for _, given in await store.open_commands()] == [asked]
    assert not await behind(store, unknown.message)


@proves("delete-waiting")
async def test_what_was_taken_back_is_not_answered(bench: Bench) -> None:
    first, second, third = message("A"), message("B"), message("C")
    async with bench.open() as store:
        for sent in (first, second, third):
            await store.ingest(sent)
        taken = deletion(second)
        assert await behind(store, taken)
        assert await store.ingest(taken) is None
        assert await store.waiting(address().key) == 2
        work = await take_one(store)
        assert work.message.text == "A"
        await store.finish(work, [])
    async with bench.open() as store:
        assert await store.ingest(second) is None
        assert not await behind(store, deletion(second))
        assert (await take_one(store)).message.text == "C"


@proves("delete-waiting")
async def test_where_all_was_taken_back_nothing_is_due(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    assert await behind(store, deletion(sent))
    assert await store.claim(9) == []
    assert await store.waiting(address().key) == 0


@proves("delete-waiting")
async def test_who_claimed_what_was_taken_back_finds_nothing_and_gives_it_back(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    (conversation,) = await store.claim(1)
    assert await behind(store, deletion(sent))
    assert await store.load(conversation) is None
    assert not await behind(store, message("B"))
    await store.release(conversation)
    assert (await take_one(store)).message.text == "B"


@proves("delete-too-late")
async def test_what_was_begun_is_not_taken_back(store: Store) -> None:
    sent = message("A")
    await store.ingest(sent)
    work = await take_one(store)
    assert not await behind(store, deletion(sent, event="E"))
    assert await store.ingest(deletion(sent, event="E")) is None
    await store.release(work.conversation)
    assert not await behind(store, deletion(sent))
    work = await take_one(store)
    assert work.message == sent
    await store.finish(work, ["A"])
    assert not await behind(store, deletion(sent))
    await store.ingest(message())
    assert (await take_one(store)).history == ("A",)


@proves("delete-too-late")
async def test_a_deletion_of_what_nobody_knows_or_of_a_command_starts_nothing(store: Store) -> None:
    asked = command("status", name="M")
    await store.ingest(asked)
    await store.ingest(message("elsewhere", to=address("C2"), name="N"))
    assert not await behind(store, deletion(message()))
    assert not await behind(store, deletion(message(name="M")))
    assert not await behind(store, deletion(message(name="N")))
    assert [given for _, given in await store.open_commands()] == [asked]
    assert (await take_one(store)).message.text == "elsewhere"


@proves("command-open")
async def test_a_command_is_open_until_it_was_answered(bench: Bench) -> None:
    first, second = command("help"), command("new", to=address("C2"))
    async with bench.open() as store:
        stored = [await store.ingest(first), await store.ingest(second)]
        assert await store.ingest(first) is None
    sequences = [one.sequence for one in stored if one is not None]
    async with bench.open() as store:
        assert await store.open_commands() == list(zip(sequences, [first, second], strict=True))
        for _ in range(2):
            await store.close(sequences[0])
            assert await store.open_commands() == [(sequences[1], second)]
        assert await store.ingest(first) is None
    async with bench.open() as store:
        assert await store.open_commands() == [(sequences[1], second)]


@proves("command-open")
async def test_only_a_command_is_closed_as_one(store: Store) -> None:
    stored = await store.ingest(message("A"))
    assert stored is not None
    await store.close(stored.sequence)
    await store.close(stored.sequence + 1)
    assert (await take_one(store)).sequence == stored.sequence


@proves("command-open")
async def test_one_message_is_a_command_or_a_question_not_both(store: Store) -> None:
    await store.ingest(message("A", name="M"))
    assert await store.ingest(command("stop", name="M")) is None
    assert not (await take_one(store)).stopped
    assert await store.ingest(command("help", name="N")) is not None
    assert await store.ingest(message("B", name="N")) is None


@proves("command-no-message")
async def test_a_command_is_nobodys_work(store: Store) -> None:
    for what in ("status", "help", "stop", "new"):
        assert not await behind(store, command(what))
    assert await store.claim(9) == []
    assert await store.waiting(address().key) == 0
    assert not await behind(store, message("A"))
    for what in ("status", "help"):
        assert await behind(store, command(what))
    assert await behind(store, message("B"))
    work = await take_one(store)
    assert (work.message.text, work.stopped) == ("A", False)
    with pytest.raises(OwnershipLostError):
        await store.reject(work.conversation, (await store.open_commands())[0][0])
    await store.finish(work, [])
    await store.finish(await take_one(store), [])
    assert (await store.claim(9), len(await store.open_commands())) == ([], 6)


@proves("stop")
async def test_a_stop_reaches_what_is_being_answered(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message("A"))
        await store.ingest(message("B"))
        await take_one(store)
        assert await behind(store, command("stop"))
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.message.text, work.stopped) == ("A", True)
        await store.postpone(work)
        work = await take_one(store)
        assert work.stopped
        await store.finish(work, ["A"])
        work = await take_one(store)
        assert (work.message.text, work.stopped, work.history) == ("B", False, ("A",))


@proves("stop")
async def test_a_stop_reaches_what_nobody_has_begun_and_no_other_conversation(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("elsewhere", to=address("C2")))
    assert await behind(store, command("stop"))
    assert [work.stopped for work in await take(store, 2)] == [True, False]


@proves("stop")
async def test_a_stop_that_is_delivered_again_or_came_before_stops_nothing(store: Store) -> None:
    early, late = command("stop"), command("stop")
    assert not await behind(store, early)
    await store.ingest(message("A"))
    first = await take_one(store)
    assert await behind(store, late)
    await store.finish(first, [])
    await store.ingest(message("B"))
    assert await store.ingest(late) is None
    assert await store.ingest(early) is None
    work = await take_one(store)
    assert (first.stopped, work.stopped) == (False, False)


@proves("new")
async def test_what_was_said_before_new_is_no_history(bench: Bench) -> None:
    async with bench.open() as store:
        for place in (address(), address("C2")):
            await store.ingest(message("A", to=place))
            await store.finish(await take_one(store), ["A"])
        assert not await behind(store, command("new"))
        await store.ingest(message("B"))
        work = await take_one(store)
        assert (work.history, work.stopped) == ((), False)
        await store.finish(work, ["B"])
    async with bench.open() as store:
        await store.ingest(message("C"))
        await store.ingest(message("C", to=address("C2")))
        assert [work.history for work in await take(store, 2)] == [("B",), ("A",)]


@proves("new")
async def test_new_stops_what_is_open_and_leaves_it_out_of_the_history(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message("before"))
        await store.finish(await take_one(store), ["before"])
        await store.ingest(message("A"))
        await store.ingest(message("B"))
        await store.append(await take_one(store), ["half of A"])
        asked = command("new")
        assert await behind(store, asked)
        await store.ingest(message("C"))
    async with bench.open() as store:
        first = await take_one(store)
        assert (first.message.text, first.stopped, first.history, first.said) == ("A", True, (), ("half of A",))
        await store.finish(first, ["A"])
        second = await take_one(store)
        assert (second.message.text, second.stopped, second.history) == ("B", False, ())
        await store.finish(second, ["B"])
        third = await take_one(store)
        assert (third.message.text, third.stopped, third.history) == ("C", False, ())
        await store.finish(third, ["C"])
        assert await store.ingest(asked) is None
        await store.ingest(message("D"))
        assert (await take_one(store)).history == ("C",)


@proves("ingest-survives")
async def test_what_was_acknowledged_survives_a_restart(bench: Bench) -> None:
    async with bench.open() as store:
        assert await store.ingest(message("kept", event="E"))
        assert await store.ingest(Ignored(event_id="I", reason="noise"))
    async with bench.open() as store:
        assert not await store.ingest(message(event="E"))
        assert not await store.ingest(Ignored(event_id="I", reason="noise"))
        assert (await take_one(store)).message.text == "kept"


@proves("order")
async def test_messages_come_in_the_order_in_which_they_arrived(store: Store) -> None:
    for number in range(20):
        await store.ingest(message(str(number)))
    heard: list[int] = []
    sequences: list[int] = []
    while works := await take(store):
        heard += [int(work.message.text) for work in works]
        sequences += [work.sequence for work in works]
        await store.finish(works[0], [])
    assert heard == list(range(20))
    assert sequences == sorted(sequences)


@proves("one-at-a-time")
async def test_a_conversation_is_worked_on_by_one_while_others_are_too(store: Store) -> None:
    await store.ingest(message("A"))
    assert await store.claim(9) == [address().key]
    await store.ingest(message("B"))
    assert await store.claim(9) == []
    await store.ingest(message("elsewhere", to=address("C2")))
    assert await store.claim(9) == [address("C2").key]


@proves("nothing-dropped")
async def test_what_arrives_during_the_work_is_handed_out_after_it(store: Store) -> None:
    await store.ingest(message("A"))
    first = await take_one(store)
    await store.ingest(message("B"))
    await store.ingest(message("C"))
    await store.finish(first, [])
    second = await take_one(store)
    await store.release(second.conversation)
    second = await take_one(store)
    await store.finish(second, [])
    third = await take_one(store)
    assert [second.message.text, third.message.text] == ["B", "C"]


@proves("claim-longest-due")
async def test_the_longest_due_are_claimed_first(store: Store) -> None:
    channels = [address(name) for name in ("C9", "C2", "C7", "C1")]
    for channel in channels:
        await store.ingest(message(to=channel))
    await store.finish(await take_one(store), [])
    await store.ingest(message(to=channels[1]))
    await store.ingest(message(to=channels[0]))
    assert await store.claim(0) == []
    assert await store.claim(-1) == []
    assert await store.claim(1) == [channels[1].key]
    assert await store.claim(9) == [channels[2].key, channels[3].key, channels[0].key]


@proves("claim-fair")
async def test_a_busy_conversation_does_not_starve_the_others(store: Store) -> None:
    for text in ("A1", "A2", "A3"):
        await store.ingest(message(text))
    await store.ingest(message("B1", to=address("C2")))
    heard: list[str] = []
    while works := await take(store):
        heard.append(works[0].message.text)
        await store.finish(works[0], [])
    assert heard == ["A1", "B1", "A2", "A3"]


@proves("load-attempt")
async def test_each_load_is_an_attempt(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message())
        assert (await take_one(store)).attempt == 1
    async with bench.open() as store:
        work = await take_one(store)
        assert work.attempt == 2
        await store.release(work.conversation)
        assert (await take_one(store)).attempt == 3


@proves("waiting")
async def test_how_many_are_open_can_be_asked_by_anybody(store: Store) -> None:
    key = address().key
    assert await store.waiting(key) == 0
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    await store.ingest(message("elsewhere", to=address("C2")))
    assert await store.waiting(key) == 2
    work = await take_one(store)
    assert await store.waiting(key) == 2
    await store.finish(work, [])
    assert await store.waiting(key) == 1


@proves("load-as-given")
@pytest.mark.parametrize(
    "text", ["", "a\nb\r\n\t", "\0", "'; drop table gw_event; --", "{now} $1 %s", "漢字 👩‍👩‍👧 \u202e", "x" * 300_000]
)
async def test_what_went_in_comes_out(store: Store, text: str) -> None:
    sent = message(text, to=Address(platform=text, account=text, channel=text, thread=text), event=f"e{text}")
    await store.ingest(sent)
    work = await take_one(store)
    assert work.message == sent
    await store.record(work, {1: text, 0: ""})
    await store.append(work, [text])
    await store.release(work.conversation)
    work = await take_one(store)
    assert (work.said, work.journal) == ((text,), ("", text))
    await store.finish(work, ["", text])
    await store.ingest(message(to=sent.address))
    assert (await take_one(store)).history == (text, "", text)


@proves("load-age")
async def test_work_says_how_old_it_is_also_over_a_restart(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message())
        work = await take_one(store)
        assert 0 < work.age < 60
        bench.clock.time += HOUR
        await store.postpone(work)
    async with bench.open() as store:
        assert HOUR < (await take_one(store)).age < HOUR + 60


@proves("load-age")
async def test_nothing_is_younger_than_new_where_the_clock_was_set_back(bench: Bench, store: Store) -> None:
    await store.ingest(message())
    bench.clock.time -= HOUR
    assert (await take_one(store)).age == 0


@proves("ticket-lives")
@pytest.mark.parametrize("word", ["", "swordfish", "a\nb\0'; --{now} $1", "漢字"])
async def test_a_ticket_comes_with_its_message_while_it_lives_over_restarts(bench: Bench, word: str) -> None:
    sent = replace(message("A"), ticket=ticket(word=word))
    asked = replace(command("help"), ticket=ticket(word=word))
    async with bench.open() as store:
        await store.ingest(sent)
        await store.ingest(asked)
        assert (await take_one(store)).message == sent
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.message, work.attempt) == (sent, 2)
        assert [given for _, given in await store.open_commands()] == [asked]
        bench.clock.time += 1000
        assert [given for _, given in await store.open_commands()] == [replace(asked, ticket=None)]
        await store.postpone(work)
        assert (await take_one(store)).message == replace(sent, ticket=None)


@proves("ticket-lives")
async def test_an_edited_message_keeps_the_ticket_that_it_came_with(store: Store) -> None:
    sent = replace(message("A"), ticket=ticket())
    await store.ingest(sent)
    await store.ingest(edit(replace(sent, ticket=None), "B"))
    await store.ingest(edit(replace(sent, ticket=ticket(word="another")), "C"))
    edited = (await take_one(store)).message
    assert (edited.text, edited.ticket) == ("C", ticket())


@proves("ticket-forgotten")
async def test_tickets_that_expired_are_forgotten_and_the_next_is_said(bench: Bench, store: Store) -> None:
    assert await store.forget_tickets() is None
    await store.ingest(message())
    assert await store.forget_tickets() is None
    short, long = replace(message(), ticket=ticket(100)), replace(command("help"), ticket=ticket(1000))
    await store.ingest(short)
    await store.ingest(long)
    left = await store.forget_tickets()
    assert left is not None
    assert 90 < left < 100
    bench.clock.time += left
    left = await store.forget_tickets()
    assert left is not None
    assert 890 < left <= 900
    bench.clock.time -= HOUR  # forgotten is forgotten, whatever the clock says
    await store.finish(await take_one(store), [])
    assert (await take_one(store)).message == replace(short, ticket=None)
    bench.clock.time += HOUR + left
    assert await store.forget_tickets() is None


@proves("ticket-forgotten")
@pytest.mark.parametrize("end", ["finish", "reject", "close", "delete"])
async def test_the_ticket_of_what_is_done_is_forgotten_at_once(store: Store, end: str) -> None:
    sent: MessageReceived | CommandReceived = message() if end != "close" else command("help")
    stored = await store.ingest(replace(sent, ticket=ticket()))
    assert stored is not None
    assert await store.forget_tickets() is not None
    match end:
        case "finish":
            await store.finish(await take_one(store), [])
        case "reject":
            work = await take_one(store)
            await store.reject(work.conversation, work.sequence)
        case "close":
            await store.close(stored.sequence)
        case _:
            await store.ingest(deletion(cast("MessageReceived", sent)))
    assert await store.forget_tickets() is None


@proves("record")
async def test_lines_are_written_over_those_of_their_numbers(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message("A"))
        await store.ingest(message("B"))
        work = await take_one(store)
        assert work.journal == ()
        await store.record(work, {10: "ten", 2: "two"})
        await store.record(work, {})
        await store.record(work, {2: "two, settled", 0: "zero"})
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.journal, work.said, work.history) == (("zero", "two, settled", "ten"), (), ())
        await store.record(work, {10: "ten, settled"})
        await store.postpone(work)
        work = await take_one(store)
        assert work.journal == ("zero", "two, settled", "ten, settled")
        await store.finish(work, [])
        assert (await take_one(store)).journal == ()


@proves("append")
async def test_what_is_appended_is_said_and_later_history(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message("before"))
        await store.finish(await take_one(store), ["before"])
        await store.ingest(message("A"))
        await store.ingest(message("B"))
        work = await take_one(store)
        assert work.said == ()
        await store.append(work, ["A", "first turn"])
        await store.append(work, [])
        await store.append(work, ["result"])
        assert await store.waiting(work.conversation) == 2
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.history, work.said) == (("before",), ("A", "first turn", "result"))
        await store.finish(work, ["second turn"])
        work = await take_one(store)
        assert (work.history, work.said) == (("before", "A", "first turn", "result", "second turn"), ())


@proves("write-open")
async def test_nothing_is_written_of_what_is_given_back_or_closed(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.release(first.conversation)
    for write in (store.record(first, {0: "late"}), store.append(first, ["late"])):
        with pytest.raises(OwnershipLostError):
            await write
    again = await take_one(store)
    await store.finish(again, ["A"])
    second = await take_one(store)
    for write in (store.record(first, {0: "late"}), store.append(first, ["late"])):
        with pytest.raises(OwnershipLostError):
            await write
    await store.append(second, ["B"])  # it is still ours
    await store.release(second.conversation)
    work = await take_one(store)
    assert (work.history, work.said, work.journal) == (("A",), ("B",), ())


@proves("finish-whole")
async def test_finishing_appends_closes_and_gives_back(store: Store) -> None:
    await store.ingest(message("A"))
    await store.finish(await take_one(store), ["A", "answer to A"])
    assert await store.waiting(address().key) == 0
    assert await store.claim(1) == []
    await store.ingest(message("B"))
    work = await take_one(store)
    assert (work.message.text, work.history) == ("B", ("A", "answer to A"))
    await store.finish(work, ["B", "answer to B"])
    await store.ingest(message("C"))
    assert (await take_one(store)).history == ("A", "answer to A", "B", "answer to B")


@proves("finish-once")
async def test_a_message_is_finished_once(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.finish(first, ["once"])
    with pytest.raises(OwnershipLostError):
        await store.finish(first, ["while nobody has it"])
    second = await take_one(store)
    with pytest.raises(OwnershipLostError):
        await store.finish(first, ["while it is at the next message"])
    await store.finish(second, [])
    await store.ingest(message("C"))
    assert (await take_one(store)).history == ("once",)


@proves("fence")
async def test_who_does_not_own_a_conversation_changes_nothing_in_it(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message())
        work = await take_one(store)
    async with bench.open() as store:
        with pytest.raises(OwnershipLostError):
            await store.load(work.conversation)
        with pytest.raises(OwnershipLostError):
            await store.finish(work, ["late"])
        with pytest.raises(OwnershipLostError):
            await store.postpone(work)
        with pytest.raises(OwnershipLostError):
            await store.release(work.conversation)
        with pytest.raises(OwnershipLostError):
            await store.release("never/heard/of")
        with pytest.raises(OwnershipLostError):
            await store.reject(work.conversation, work.sequence)
        with pytest.raises(OwnershipLostError):
            await store.record(work, {0: "late"})
        with pytest.raises(OwnershipLostError):
            await store.append(work, ["late"])
        for write in (
            store.ask(work, approval(), lifetime=None),
            store.withdraw(work, "A"),
            store.park(work),
        ):
            with pytest.raises(OwnershipLostError):
                await write
        assert await store.approvals.find("A") is None
        again = await take_one(store)
        assert (again.sequence, again.attempt, again.said, again.journal) == (work.sequence, 2, (), ())


@proves("release")
async def test_what_is_released_is_due_again_as_it_was(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.release(first.conversation)
    again = await take_one(store)
    assert (again.sequence, again.message) == (first.sequence, first.message)


@proves("postpone")
async def test_what_is_postponed_is_due_again_as_if_nobody_had_tried(bench: Bench) -> None:
    for restart in range(5):
        async with bench.open() as store:
            await store.ingest(message("A", event="A", name="A"))
            await store.ingest(message("B", event="B", name="B"))
            work = await take_one(store)
            assert (work.message.text, work.attempt, work.history) == ("A", 1, ()), restart
            await store.postpone(work)
            assert await store.waiting(address().key) == 2


@proves("postpone")
async def test_only_the_attempt_that_is_postponed_does_not_count(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("elsewhere", to=address("C2")))
    first, other = await take(store, 2)
    await store.release(first.conversation)
    again = await take_one(store)
    await store.postpone(again)
    assert ((await take_one(store)).attempt, again.attempt) == (2, 2)
    await store.release(other.conversation)
    assert (await take_one(store)).attempt == 2


@proves("postpone")
async def test_a_message_is_postponed_once_and_never_when_it_is_closed(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.postpone(first)
    with pytest.raises(OwnershipLostError):
        await store.postpone(first)
    await store.finish(await take_one(store), ["A"])
    second = await take_one(store)
    with pytest.raises(OwnershipLostError):
        await store.postpone(first)
    await store.finish(second, ["B"])  # it is still ours
    assert await store.waiting(address().key) == 0


@proves("load-unreadable")
async def test_what_cannot_be_read_is_named_and_stays_open(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(unreadable())
    first = await take_one(store)
    await store.finish(first, [])
    for _ in range(2):
        (conversation,) = await store.claim(1)
        with pytest.raises(UnreadableError) as caught:
            await store.load(conversation)
        assert caught.value.sequence > first.sequence
        await store.release(conversation)
    assert await store.waiting(address().key) == 1


@proves("load-unreadable")
async def test_what_cannot_be_read_holds_up_no_other_conversation(store: Store) -> None:
    await store.ingest(unreadable())
    await store.ingest(message("elsewhere", to=address("C2")))
    broken, other = await store.claim(2)
    with pytest.raises(UnreadableError):
        await store.load(broken)
    work = await store.load(other)
    assert work is not None
    assert work.message.text == "elsewhere"


@proves("reject")
async def test_what_is_rejected_is_closed_and_the_next_message_handed_out(bench: Bench) -> None:
    spoilt = unreadable()
    async with bench.open() as store:
        await store.ingest(message("A"))
        await store.ingest(spoilt)
        await store.ingest(message("C"))
        await store.finish(await take_one(store), ["A", "answer to A"])
        (conversation,) = await store.claim(1)
        with pytest.raises(UnreadableError) as caught:
            await store.load(conversation)
        await store.reject(conversation, caught.value.sequence)
        assert await store.waiting(address().key) == 1
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.message.text, work.attempt) == ("C", 1)
        assert work.history == ("A", "answer to A")
        assert not await store.ingest(spoilt)


@proves("reject")
async def test_a_message_is_rejected_once_and_only_in_its_own_conversation(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("elsewhere", to=address("C2")))
    first, other = await take(store, 2)
    with pytest.raises(OwnershipLostError):
        await store.reject(first.conversation, other.sequence)
    await store.reject(first.conversation, first.sequence)
    with pytest.raises(OwnershipLostError):
        await store.reject(first.conversation, first.sequence)
    with pytest.raises(OwnershipLostError):
        await store.finish(first, ["late"])
    await store.finish(other, [])
    assert await store.waiting(address().key) == 0
    assert await store.claim(9) == []


@proves("restart-frees")
async def test_what_the_dead_owned_is_due_at_its_old_place(bench: Bench) -> None:
    async with bench.open() as store:
        for channel in ("C3", "C1", "C2"):
            await store.ingest(message(to=address(channel)))
        assert await store.claim(2) == [address("C3").key, address("C1").key]
    async with bench.open() as store:
        assert await store.claim(9) == [address(channel).key for channel in ("C3", "C1", "C2")]


@proves("separate")
async def test_conversations_with_similar_addresses_share_nothing(store: Store) -> None:
    parts: list[tuple[str, str, str, str | None]] = [
        ("slack", "T1", "C1", "17.1"),
        ("slack", "T1", "C2", "17.1"),
        ("slack", "T2", "C1", "17.1"),
        ("tg", "acct", "5", "7"),
        ("tg", "acct", "6", "7"),
        ("x", "a:b", "c", ""),
        ("x", "a", "b:c", ""),
        ("x", "a", "b:c", None),
        ("x", "a/b", "c", None),
        ("x", "a", "b/c", None),
    ]
    places = [Address(platform=p, account=a, channel=c, thread=t) for p, a, c, t in parts]
    for place in places:
        await store.ingest(message(repr(place), to=place))
    assert await behind(store, command("stop", to=places[-1]))
    works = await take(store, 99)
    assert [work.message.address for work in works] == places
    assert [work.stopped for work in works] == [False] * (len(places) - 1) + [True]
    for work in works:
        await store.record(work, {0: work.message.text})
        await store.release(work.conversation)
    works = await take(store, 99)
    for work in works:
        assert work.journal == (work.message.text,)
        await store.finish(work, [work.message.text])
    for place in places:
        await store.ingest(message(to=place))
    assert [work.history for work in await take(store, 99)] == [(repr(place),) for place in places]


@proves("wait-wakes")
async def test_everything_that_makes_due_wakes_whoever_waits(store: Store) -> None:
    async def until_due(act: Callable[[], Awaitable[object]]) -> Work:
        assert await store.claim(9) == []
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(store.wait_due)
            await anyio.wait_all_tasks_blocked()
            await act()
        return await take_one(store)

    work = await until_due(lambda: store.ingest(message()))
    work = await until_due(lambda: store.release(work.conversation))
    work = await until_due(lambda: store.postpone(work))
    await store.ingest(message())
    work = await until_due(lambda: store.finish(work, []))
    await store.ingest(message())
    work = await until_due(lambda: store.reject(work.conversation, work.sequence))
    for name, lifetime, decide in (
        ("A", None, lambda: store.ingest(press(), yes("A"))),
        ("B", 1, store.approvals.expire),
        ("C", None, lambda: store.ingest(command("stop"))),
    ):
        await store.finish(work, [])
        work = await parked(store, approval(name), lifetime=lifetime)
        work = await until_due(decide)
    await store.finish(work, [])
    await parked(store, approval("D"))
    work = await until_due(lambda: store.ingest(command("new")))
    work = await until_due(lambda: store.park(work))
    await store.wait_due()  # a claim that got all it asked for may have left some
    assert await store.waiting(work.conversation) == 1


@proves("wait-wakes")
async def test_whoever_opens_a_store_finds_what_was_due(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message())
    async with bench.open() as store:
        with anyio.fail_after(5):
            await store.wait_due()


@proves("wait-blocks")
async def test_nobody_is_woken_for_nothing(store: Store) -> None:
    await store.ingest(message(event="E"))
    (work,) = await take(store, 2)
    woken = anyio.Event()

    async def wait() -> None:
        await store.wait_due()
        woken.set()

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await store.ingest(message(event="E"))
        await store.ingest(Ignored(event_id="I", reason="noise"))
        for inbound in (command("stop"), command("new"), edit(work.message, "B"), deletion(work.message)):
            await store.ingest(inbound)
        await store.record(work, {0: "line"})
        await store.append(work, ["entry"])
        await store.ingest(press(), no("unknown"))
        await store.finish(work, [])
        await anyio.wait_all_tasks_blocked()
        assert not woken.is_set()
        group.cancel_scope.cancel()


@proves("wait-blocks")
async def test_nobody_is_woken_while_all_wait_for_approval(store: Store) -> None:
    await store.ingest(message())
    (work,) = await take(store, 2)
    woken = anyio.Event()

    async def wait() -> None:
        await store.wait_due()
        woken.set()

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await store.ask(work, approval(), lifetime=None)
        await store.park(work)
        for inbound in (message("behind it"), edit(work.message, "B"), deletion(work.message), command("status")):
            await store.ingest(inbound)
        await store.ingest(press(to=address("C2")), yes())
        await store.approvals.expire()
        await store.memory(address().key).keep("name", "text")
        await anyio.wait_all_tasks_blocked()
        assert not woken.is_set()
        group.cancel_scope.cancel()


@proves("prune-old")
async def test_old_finished_events_are_forgotten(bench: Bench, store: Store) -> None:
    await store.ingest(message("answered", event="E", name="M"))
    await store.ingest(Ignored(event_id="I", reason="noise"))
    await store.finish(await take_one(store), ["kept"])
    await store.ingest(message("open"))
    bench.clock.time += 25 * HOUR - 60
    assert await store.prune(25 * HOUR) == 0
    assert not await store.ingest(message(event="E"))
    bench.clock.time += 60
    assert await store.prune(25 * HOUR) == 2
    assert await store.prune(25 * HOUR) == 0
    work = await take_one(store)
    assert (work.message.text, work.history) == ("open", ("kept",))
    assert await store.ingest(message(event="E", name="M"))
    assert await store.ingest(Ignored(event_id="I", reason="noise"))


@proves("prune-old")
async def test_commands_edits_and_deletions_are_forgotten_too_but_not_what_is_open(bench: Bench, store: Store) -> None:
    closed, still_open, sent = command("help"), command("help"), message()
    stored = await store.ingest(closed)
    assert stored is not None
    await store.ingest(still_open)
    await store.ingest(sent)
    await store.ingest(edit(sent, "B"))
    await store.ingest(deletion(sent))
    await store.close(stored.sequence)
    bench.clock.time += 26 * HOUR
    await store.close(stored.sequence)  # again, which is not when it was answered
    assert await store.prune(25 * HOUR) == 4  # the message was closed by its deletion
    assert [given for _, given in await store.open_commands()] == [still_open]
    assert await store.ingest(closed) is not None
    assert await store.ingest(still_open) is None


@proves("prune-old")
async def test_the_journal_of_what_is_open_is_never_forgotten(bench: Bench, store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.record(first, {0: "A"})
    await store.finish(first, [])
    second = await take_one(store)
    await store.record(second, {0: "B"})
    bench.clock.time += 26 * HOUR
    assert await store.prune(25 * HOUR) == 1
    await store.release(second.conversation)
    assert (await take_one(store)).journal == ("B",)


@proves("prune-old")
async def test_more_is_forgotten_than_fits_one_step(bench: Bench, store: Store) -> None:
    async with anyio.create_task_group() as group:
        for number in range(2_500):
            group.start_soon(store.ingest, Ignored(event_id=str(number), reason="noise"))
    bench.clock.time += 30 * HOUR
    assert await store.prune(26 * HOUR) == 2_500


@proves("prune-floor")
@pytest.mark.parametrize("seconds", [0, -1, 25 * HOUR - 1, float("nan")])
async def test_nothing_is_forgotten_within_25_hours(store: Store, seconds: float) -> None:
    with pytest.raises(ValueError, match="90000"):
        await store.prune(seconds)


@proves("ask")
async def test_what_was_asked_for_is_open_over_restarts(bench: Bench) -> None:
    first, second = approval("A"), approval("B", "shell", may_stand=False)
    async with bench.open() as store:
        await asking(store, first, second)
    async with bench.open() as store:
        assert await store.approvals.find("B") == second
        assert await store.approvals.find("C") is None
        assert await store.approvals.open(address().key) == [first, second]
        assert await store.approvals.open(address("C2").key) == []
        work = await take_one(store)
        assert (work.approvals, work.grants) == ((first, second), ())


@proves("ask")
async def test_what_is_asked_for_again_stays_as_it_is(store: Store) -> None:
    work = await asking(store)
    await store.ask(work, approval(tool="another"), lifetime=1)
    assert await store.approvals.expire() is None
    assert await decided(store, press(), no())
    await store.ask(work, approval(), lifetime=None)
    found = await store.approvals.find("A")
    assert found is not None
    assert (found.state, found.tool_name) == ("denied", "write")


@proves("ask")
@pytest.mark.parametrize("text", ["", "'; drop table gw_event; --{now}", "\0", "漢字 👩‍👩‍👧"])
async def test_an_approval_comes_back_as_it_was_given(store: Store, text: str) -> None:
    given = replace(approval(text), tool_use_id=text, tool_name=text, asker=text)
    await asking(store, given)
    assert await store.approvals.find(text) == given


@proves("ask-stopped")
@pytest.mark.parametrize("what", ["stop", "new"])
async def test_whoever_asks_just_after_a_stop_does_not_wait_for_ever(store: Store, what: Command) -> None:
    await store.ingest(message())
    work = await take_one(store)
    await store.ingest(command(what))
    await store.ask(work, approval(), lifetime=None)
    await store.park(work)
    again = await take_one(store)
    assert (again.stopped, await state(store)) == (True, "withdrawn")


@proves("park")
async def test_what_is_parked_is_nobodys_work_until_it_is_decided(bench: Bench) -> None:
    async with bench.open() as store:
        work = await parked(store)
        await store.ingest(message("behind it"))
        assert await store.claim(9) == []
    async with bench.open() as store:
        assert await store.claim(9) == []
        assert await store.waiting(address().key) == 2
        await store.ingest(press(), yes())
    async with bench.open() as store:
        again = await take_one(store)
        assert (again.sequence, again.attempt) == (work.sequence, 1)
        await store.finish(again, [])
        assert (await take_one(store)).message.text == "behind it"


@proves("park")
async def test_what_is_parked_waits_for_all_that_it_asked_for(store: Store) -> None:
    work = await asking(store, approval("A"), approval("B"))
    assert await decided(store, press(), yes("A"))
    await store.park(work)
    assert await store.claim(9) == []
    assert await decided(store, press(), no("B"))
    again = await take_one(store)
    assert [each.state for each in again.approvals] == ["approved", "denied"]


@proves("park")
@pytest.mark.parametrize("asks", [False, True])
async def test_what_is_parked_with_nothing_open_is_due_at_once(store: Store, *, asks: bool) -> None:
    await store.ingest(message())
    work = await take_one(store)
    if asks:
        await store.ask(work, approval(), lifetime=None)
        assert await decided(store, press(), yes())
    await store.park(work)
    assert (await take_one(store)).attempt == 1


@proves("park-alone")
async def test_whoever_died_between_asking_and_parking_comes_up_again(bench: Bench) -> None:
    async with bench.open() as store:
        await asking(store)
        await store.ingest(message("behind it"))
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.attempt, work.approvals) == (2, (approval(),))
        await store.park(work)
        assert await store.claim(9) == []


@proves("park-alone")
@pytest.mark.parametrize("way", ["release", "postpone"])
async def test_what_is_given_back_otherwise_is_due_though_it_has_asked(store: Store, way: str) -> None:
    work = await asking(store)
    await (store.release(work.conversation) if way == "release" else store.postpone(work))
    await store.ingest(message("behind it"))
    assert (await take_one(store)).sequence == work.sequence


@proves("begun-asked")
async def test_whoever_has_asked_has_begun(store: Store) -> None:
    work = await parked(store)
    assert not await behind(store, edit(work.message, "B"))
    assert not await behind(store, deletion(work.message))
    assert (await store.claim(9), await store.waiting(address().key)) == ([], 1)
    await store.ingest(press(), yes())
    assert (await take_one(store)).message == work.message


@proves("decide")
@pytest.mark.parametrize("what", ["press", "approve"])
async def test_a_decision_makes_due_and_says_who_decided(store: Store, what: str) -> None:
    await parked(store)
    given = press(user="U2") if what == "press" else replace(command("approve"), user="U2")
    assert await decided(store, given, yes())
    work = await take_one(store)
    assert work.approvals == (replace(approval(), state="approved", by="U2"),)
    assert (work.grants, await store.approvals.open(address().key)) == ((), [])


@proves("decide")
async def test_what_is_decided_while_the_run_goes_on_holds_up_nothing(store: Store) -> None:
    work = await asking(store)
    assert await decided(store, press(), no())
    assert await store.claim(9) == []
    await store.park(work)
    assert [each.state for each in (await take_one(store)).approvals] == ["denied"]


@proves("decide-once")
async def test_the_first_decision_counts(store: Store) -> None:
    await parked(store)
    first = press(event="E")
    assert await decided(store, first, yes())
    assert await decided(store, first, no()) is None
    assert not await decided(store, press(user="U2"), no())
    assert not await decided(store, command("deny"), no())
    found = await store.approvals.find("A")
    assert found == replace(approval(), state="approved", by="U1")


@proves("decide-once")
async def test_of_decisions_at_the_same_time_one_counts(store: Store) -> None:
    await parked(store)
    won: list[bool | None] = []

    async def decide(number: int) -> None:
        won.append(await decided(store, press(event=f"E{number % 10}"), yes() if number % 2 else no()))

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(decide, number)
    assert (won.count(True), won.count(False), won.count(None)) == (1, 9, 10)


@proves("decide-here")
async def test_nothing_is_decided_from_elsewhere_and_nothing_else_is(store: Store) -> None:
    there = address("C2")
    await parked(store, approval("A"), approval("B"))
    await parked(store, approval("C", of=there), to=there)
    assert not await decided(store, press(to=there), yes("A"))
    assert not await decided(store, command("approve", to=there), yes("A", standing=True))
    assert not await decided(store, press(), yes("D"))
    assert not await decided(store, message(), yes("A"))
    assert await decided(store, press(to=there), yes("C"))
    assert [await state(store, name) for name in "ABC"] == ["open", "open", "approved"]
    assert await store.claim(9) == [there.key]


@proves("press-done")
async def test_a_press_is_done_with_its_storing_and_a_command_is_not(store: Store) -> None:
    await parked(store)
    pressed, typed = replace(press(), ticket=ticket()), command("approve")
    assert await decided(store, pressed, yes())
    assert await store.forget_tickets() is None
    assert not await decided(store, typed, yes())
    assert [given for _, given in await store.open_commands()] == [typed]
    assert await store.ingest(pressed) is None
    assert await store.ingest(typed, yes()) is None


@proves("grant")
async def test_a_standing_decision_holds_until_it_is_revoked(bench: Bench) -> None:
    there = address("C2")
    async with bench.open() as store:
        work = await asking(store, approval("A"), approval("B", "shell", may_stand=False))
        assert await decided(store, press(user="U2"), yes("A", standing=True))
        assert await decided(store, press(), yes("B", standing=True))
        await store.finish(work, [])
        await parked(store, approval("C", of=there), to=there)
        await store.ingest(press(to=there), replace(no("C"), standing=True))
    async with bench.open() as store:
        await store.finish(await take_one(store), [])
        assert await store.approvals.grants(there.key) == []
        assert await store.approvals.grants(address().key) == [
            Grant(conversation=address().key, tool_name="write", by="U2")
        ]
        await store.ingest(message())
        work = await take_one(store)
        assert (work.grants, work.approvals) == (("write",), ())
        assert [(await store.approvals.find(name) or approval()).standing for name in "AB"] == [True, False]
        assert not await store.approvals.revoke(there.key, "write")
        assert await store.approvals.revoke(address().key, "write")
        assert not await store.approvals.revoke(address().key, "write")
        await store.release(work.conversation)
        assert (await take_one(store)).grants == ()


@proves("grant-revoked")
async def test_a_late_press_does_not_give_what_was_revoked(store: Store) -> None:
    await parked(store)
    pressed = press(event="E")
    assert await decided(store, pressed, yes(standing=True))
    assert await store.approvals.revoke(address().key, "write")
    assert await decided(store, pressed, yes(standing=True)) is None
    assert not await decided(store, press(), yes(standing=True))
    assert await store.approvals.grants(address().key) == []


@proves("withdraw")
async def test_what_is_withdrawn_is_open_no_more(store: Store) -> None:
    there = address("C2")
    await asking(store, approval("C", of=there), to=there)
    work = await asking(store, approval("A"), approval("B"))
    assert await decided(store, press(), yes("B"))
    for name in "ABC":
        await store.withdraw(work, name)
    assert [await state(store, name) for name in "ABC"] == ["withdrawn", "approved", "open"]
    assert not await decided(store, press(), yes("A"))
    await store.park(work)
    assert (await take_one(store)).sequence == work.sequence


@proves("stop-asked")
async def test_a_stop_ends_what_waits_for_approval(store: Store) -> None:
    there = address("C2")
    await parked(store, approval("B", of=there), to=there)
    await parked(store)
    stop = command("stop")
    assert await behind(store, stop)
    assert await store.ingest(stop) is None
    work = await take_one(store)
    assert (work.stopped, work.approvals) == (True, (replace(approval(), state="withdrawn"),))
    assert await state(store, "B") == "open"
    assert not await decided(store, press(), yes())


@proves("new-asked")
async def test_new_denies_what_waits_and_forgets_what_was_allowed(store: Store) -> None:
    there = address("C2")
    for place, name in ((address(), "A"), (there, "B")):
        work = await asking(store, approval(name, of=place), to=place)
        assert await decided(store, press(to=place), yes(name, standing=True))
        await store.finish(work, [])
    await parked(store, approval("C", "shell"))
    assert await behind(store, replace(command("new"), user="U2"))
    work = await take_one(store)
    assert (work.stopped, work.grants) == (True, ())
    assert work.approvals == (replace(approval("C", "shell"), state="denied", by="U2"),)
    assert len(await store.approvals.grants(there.key)) == 1


@proves("asked-told")
async def test_who_queues_behind_an_approval_is_told_once(bench: Bench) -> None:
    async def told(store: Store, *, to: Address | None = None) -> str | None:
        stored = await store.ingest(message("behind it", to=to))
        assert stored is not None
        return stored.asked and stored.asked.id

    async with bench.open() as store:
        await asking(store)
        assert await told(store, to=address("C2")) is None
        assert await told(store) == "A"
    async with bench.open() as store:
        assert await told(store) is None
        work = next(work for work in await take(store, 9) if work.conversation == address().key)
        await store.park(work)
        assert await told(store) is None
        await store.ingest(press(), yes())
        assert await told(store) is None
        work = await take_one(store)
        await store.ask(work, approval("B"), lifetime=None)
        assert [await told(store), await told(store)] == ["B", None]


@proves("expire")
async def test_what_nobody_decides_in_time_expires(bench: Bench, store: Store) -> None:
    there = address("C2")
    assert await store.approvals.expire() is None
    await parked(store, lifetime=100)
    await parked(store, approval("B", of=there), to=there, lifetime=1000)
    await parked(store, approval("C", of=address("C3")), to=address("C3"))
    left = await store.approvals.expire()
    assert left is not None
    assert 50 < left < 100
    assert await store.claim(9) == []
    bench.clock.time += left
    left = await store.approvals.expire()
    assert left is not None
    assert 800 < left < 1000
    work = await take_one(store)
    assert (work.conversation, work.approvals) == (address().key, (replace(approval(), state="expired"),))
    assert not await decided(store, press(), yes())
    assert await decided(store, press(to=there), yes("B"))
    bench.clock.time += HOUR
    assert await store.approvals.expire() is None
    assert [await state(store, name) for name in "ABC"] == ["expired", "approved", "open"]


@proves("expire")
async def test_what_is_over_can_be_decided_until_it_has_expired(bench: Bench, store: Store) -> None:
    await parked(store, lifetime=100)
    bench.clock.time += HOUR
    assert await state(store) == "open"
    assert await decided(store, press(), yes())
    assert await store.approvals.expire() is None
    assert await state(store) == "approved"


@proves("closed-asked")
@pytest.mark.parametrize("way", ["finish", "reject"])
async def test_an_approval_is_closed_with_its_message(store: Store, way: str) -> None:
    work = await asking(store, approval("A"), approval("B"), lifetime=100)
    assert await decided(store, press(), yes("B"))
    await (store.finish(work, []) if way == "finish" else store.reject(work.conversation, work.sequence))
    assert [await state(store, name) for name in "AB"] == ["withdrawn", "approved"]
    assert not await decided(store, press(), yes())
    assert (await store.claim(9), await store.approvals.expire()) == ([], None)


@proves("prune-asked")
async def test_approvals_go_with_their_messages_and_permissions_stay(bench: Bench, store: Store) -> None:
    there = address("C2")
    work = await asking(store)
    await store.ingest(press(), yes(standing=True))
    await store.finish(work, [])
    await store.memory(address().key).keep("name", "text")
    await parked(store, approval("B", of=there), to=there)
    bench.clock.time += 26 * HOUR
    assert await store.prune(25 * HOUR) == 2
    assert [await state(store, name) for name in "AB"] == [None, "open"]
    assert len(await store.approvals.grants(address().key)) == 1
    assert await store.memory(address().key).texts() == {"name": "text"}


@proves("memory")
@pytest.mark.parametrize("text", ["", "a\nb\0", "'; drop table gw_memory; --{now} $1", "漢字 👩‍👩‍👧", "x" * 300_000])
async def test_what_a_tool_keeps_comes_back(bench: Bench, text: str) -> None:
    async with bench.open() as store:
        here, there = store.memory(address().key), store.memory(address("C2").key)
        assert await here.texts() == {}
        await here.keep("b", "old")
        await here.keep("b", text)
        await here.keep(text, "a")
        await there.keep("b", "there")
        await here.keep("never kept", None)
    async with bench.open() as store:
        await store.ingest(command("new"))
        here, there = store.memory(address().key), store.memory(address("C2").key)
        assert await here.texts() == {"b": text, text: "a"}
        await here.keep("b", None)
        assert (await here.texts(), await there.texts()) == ({text: "a"}, {"b": "there"})


@proves("refused")
async def test_what_cannot_be_stored_is_refused_and_harms_nothing(store: Store) -> None:
    lone = "\ud83d"
    with pytest.raises(StoreError):
        await store.ingest(message(lone))
    with pytest.raises(StoreError):
        await store.ingest(Ignored(event_id=lone, reason="noise"))
    await store.ingest(message("A"))
    work = await take_one(store)
    with pytest.raises(StoreError):
        await store.finish(work, ["whole", lone])
    with pytest.raises(StoreError):
        await store.append(work, ["whole", lone])
    with pytest.raises(StoreError):
        await store.record(work, {0: "whole", 1: lone})
    with pytest.raises(StoreError):
        await store.ingest(edit(work.message, lone, event="E"))
    with pytest.raises(StoreError):
        await store.ask(work, approval(tool=lone), lifetime=None)
    with pytest.raises(StoreError):
        await store.memory(address().key).keep("name", lone)
    assert (await store.approvals.find("A"), await store.memory(address().key).texts()) == (None, {})
    assert await store.ingest(edit(work.message, "whole", event="E"))
    await store.release(work.conversation)
    work = await take_one(store)
    assert (work.said, work.journal) == ((), ())
    await store.finish(work, ["second try"])
    await store.ingest(message("B"))
    assert (await take_one(store)).history == ("second try",)


@proves("cancelled")
async def test_a_cancelled_claim_leaves_no_conversation_to_nobody(store: Store) -> None:
    places = [address(str(number)) for number in range(30)]
    for place in places:
        await store.ingest(message(to=place))
    claimed: list[str] = []

    async def claim() -> None:
        claimed.extend(await store.claim(1))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(claim)
        await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    with anyio.fail_after(5):
        await store.wait_due()
    claimed += await store.claim(99)
    assert sorted(claimed) == sorted(place.key for place in places)


@proves("cancelled")
async def test_a_cancelled_finish_is_whole_or_was_not(store: Store) -> None:
    await store.ingest(message("A"))
    work = await take_one(store)
    async with anyio.create_task_group() as group:
        group.start_soon(store.finish, work, ["question", "answer"])
        await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    await store.ingest(message("B"))
    finished = await store.waiting(address().key) == 1
    if not finished:
        await store.release(work.conversation)
    work = await take_one(store)
    assert (work.message.text, work.history) == (("B", ("question", "answer")) if finished else ("A", ()))


@proves("cancelled")
async def test_who_is_cancelled_before_asking_asks_nothing(store: Store) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.ingest(message())
    assert scope.cancelled_caught
    assert await store.waiting(address().key) == 0


def test_every_requirement_has_a_test_and_every_test_a_requirement() -> None:
    assert_complete(__name__, "store.toml")


def test_every_store_that_is_found_is_tested() -> None:
    assert set(found()) == set(LOCATIONS)
