"""What every store must do. Stores are found: whoever adds one says in ``LOCATIONS`` where it keeps its data."""

import inspect
import sys
import tomllib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, TypeVar, cast

import anyio
import anyio.lowlevel
import pytest

from gateway import stores
from gateway.address import Address
from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.inbound import Ignored, MessageReceived
from gateway.store import Store, Work
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase

HOUR = 3600.0
MANIFEST: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "requirements/store.toml").read_text())
LOCATIONS: dict[str, Callable[[Path], dict[str, Any]]] = {"sqlite": lambda folder: {"path": str(folder / "store.db")}}

Test = TypeVar("Test", bound=Callable[..., Awaitable[None]])


def proves(requirement: str) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        vars(test)["requirement"] = requirement
        return test

    return mark


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


def unreadable() -> MessageReceived:
    """A message of a kind that no version knows: nobody wrote it."""
    return replace(message(), user=cast("str", None))


async def take(store: Store, limit: int = 1) -> list[Work]:
    works = [await store.load(conversation) for conversation in await store.claim(limit)]
    return [work for work in works if work is not None]


async def take_one(store: Store) -> Work:
    (work,) = await take(store)
    return work


@proves("ingest-new")
async def test_what_is_new_is_kept(store: Store) -> None:
    assert await store.ingest(message("one"))
    assert await store.ingest(message("two"))
    assert await store.ingest(Ignored(event_id="noise", reason="a bot wrote it"))
    assert await store.open_messages() == 2


@proves("ingest-event-once")
async def test_an_event_is_kept_once(store: Store) -> None:
    assert await store.ingest(message("first", event="E"))
    assert not await store.ingest(message("again", event="E"))
    work = await take_one(store)
    assert (work.message.text, work.waiting) == ("first", 0)
    await store.finish(work, [])
    assert not await store.ingest(message("after it was answered", event="E"))
    assert await store.open_messages() == 0
    assert await store.claim(9) == []


@proves("ingest-message-once")
async def test_a_message_is_kept_once_under_whatever_event_it_comes(store: Store) -> None:
    assert await store.ingest(message("mention", name="M"))
    assert not await store.ingest(message("the same as a message", name="M"))
    assert not await store.ingest(message("the same elsewhere", name="M", to=address("C2")))
    assert await store.claim(9) == [address().key]
    assert await store.open_messages() == 1


@proves("ingest-concurrent-once")
async def test_of_deliveries_at_the_same_time_one_is_new(store: Store) -> None:
    answers: list[bool] = []

    async def deliver(number: int) -> None:
        answers.append(await store.ingest(message(event=f"E{number % 3}", name="M")))

    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(deliver, number)
    assert sorted(answers) == [False] * 29 + [True]
    assert await store.open_messages() == 1


@proves("ignored-starts-nothing")
async def test_what_is_ignored_is_known_and_starts_nothing(store: Store) -> None:
    assert await store.claim(1) == []
    assert await store.ingest(Ignored(event_id="E", reason="an edit"))
    assert not await store.ingest(Ignored(event_id="E", reason="an edit"))
    assert not await store.ingest(message(event="E"))
    assert await store.claim(9) == []
    assert await store.open_messages() == 0


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


@proves("load-waiting")
async def test_work_says_how_many_wait_behind_it(store: Store) -> None:
    for text in ("A", "B", "C"):
        await store.ingest(message(text))
    await store.ingest(message(to=address("C2")))
    first, other = await take(store, 2)
    assert (first.waiting, other.waiting) == (2, 0)
    await store.finish(first, [])
    assert (await take_one(store)).waiting == 1


@proves("load-as-given")
@pytest.mark.parametrize(
    "text", ["", "a\nb\r\n\t", "\0", "'; drop table gw_event; --", "{now} $1 %s", "漢字 👩‍👩‍👧 \u202e", "x" * 300_000]
)
async def test_what_went_in_comes_out(store: Store, text: str) -> None:
    sent = message(text, to=Address(platform=text, account=text, channel=text, thread=text), event=f"e{text}")
    await store.ingest(sent)
    work = await take_one(store)
    assert work.message == sent
    await store.finish(work, [text, "", text])
    await store.ingest(message(to=sent.address))
    assert (await take_one(store)).history == (text, "", text)


@proves("finish-whole")
async def test_finishing_appends_closes_and_gives_back(store: Store) -> None:
    await store.ingest(message("A"))
    await store.finish(await take_one(store), ["A", "answer to A"])
    assert await store.open_messages() == 0
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
        again = await take_one(store)
        assert (again.sequence, again.attempt, again.history) == (work.sequence, 2, ())


@proves("release")
async def test_what_is_released_is_due_again_as_it_was(store: Store) -> None:
    await store.ingest(message("A"))
    await store.ingest(message("B"))
    first = await take_one(store)
    await store.release(first.conversation)
    again = await take_one(store)
    assert (again.sequence, again.message, again.waiting) == (first.sequence, first.message, 1)


@proves("postpone")
async def test_what_is_postponed_is_due_again_as_if_nobody_had_tried(bench: Bench) -> None:
    for restart in range(5):
        async with bench.open() as store:
            await store.ingest(message("A", event="A", name="A"))
            await store.ingest(message("B", event="B", name="B"))
            work = await take_one(store)
            assert (work.message.text, work.attempt, work.waiting, work.history) == ("A", 1, 1, ()), restart
            await store.postpone(work)
            assert await store.open_messages() == 2


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
    assert await store.open_messages() == 0


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
    assert await store.open_messages() == 1


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
        assert await store.open_messages() == 1
    async with bench.open() as store:
        work = await take_one(store)
        assert (work.message.text, work.attempt, work.waiting) == ("C", 1, 0)
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
    assert await store.open_messages() == 0
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
    works = await take(store, 99)
    assert [work.message.address for work in works] == places
    for work in works:
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
    await store.wait_due()  # a claim that got all it asked for may have left some
    assert work.waiting == 0


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
        await store.finish(work, [])
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
    finished = await store.open_messages() == 1
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
    assert await store.open_messages() == 0


def test_every_requirement_has_a_test_and_every_test_a_requirement() -> None:
    tests = dict(inspect.getmembers(sys.modules[__name__], inspect.iscoroutinefunction))
    named = {name: vars(test).get("requirement") for name, test in tests.items() if name.startswith("test_")}
    assert set(named.values()) == set(MANIFEST)
    assert all(set(requirement) == {"sentence", "source"} for requirement in MANIFEST.values())


def test_every_store_that_is_found_is_tested() -> None:
    assert set(found()) == set(LOCATIONS)
