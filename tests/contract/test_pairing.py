"""What the pairings of every store must do, for the gateway and for the operator's command beside it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import anyio
import pytest

from gateway.error import StoreError
from gateway.store import Pairing, Pairings, Person, Store
from tests.contract.manifest import assert_complete, proves
from tests.contract.test_store import HOUR, LOCATIONS, Clock, found, message

ADA = Person(platform="slack", account="T1", user="U1")
BOB = Person(platform="slack", account="T1", user="U2")
CYD = Person(platform="slack", account="T1", user="U3")
DAN = Person(platform="slack", account="T1", user="U4")
ELSEWHERE = Person(platform="slack", account="T2", user="U4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One store, as the gateway opens it and as a guest does."""

    open: Callable[[], AbstractAsyncContextManager[Store]]
    visit: Callable[[], AbstractAsyncContextManager[Pairings]]
    clock: Clock
    path: Path


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=found())
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    module, clock = import_module(f"gateway.stores.{request.param}"), Clock()
    location = LOCATIONS[request.param](tmp_path)
    settings = module.Settings(**location)
    return Bench(
        open=lambda: module.create(settings, clock),
        visit=lambda: module.pairings(settings, clock),
        clock=clock,
        path=Path(location["path"]),
    )


@pytest.fixture
async def pairings(bench: Bench) -> AsyncGenerator[Pairings]:
    with anyio.fail_after(5):
        async with bench.open() as store:
            yield store.pairings


async def offer(pairings: Pairings, person: Person, code: str) -> str | None:
    return await pairings.offer(person, code, lifetime=HOUR, most=3)


@proves("offer-once")
async def test_who_asks_again_is_given_the_same_code_until_it_is_no_good(bench: Bench, pairings: Pairings) -> None:
    assert await offer(pairings, ADA, "first") == "first"
    bench.clock.time += HOUR - 60
    assert await offer(pairings, ADA, "second") == "first"
    assert await pairings.confirm("second") is None
    bench.clock.time += 60
    assert await offer(pairings, ADA, "third") == "third"
    assert await pairings.confirm("first") is None


@proves("offer-once")
async def test_who_is_let_in_is_given_no_code(pairings: Pairings) -> None:
    await offer(pairings, ADA, "first")
    await pairings.confirm("first")
    assert await offer(pairings, ADA, "second") is None
    assert await pairings.has(ADA)


@proves("offer-most")
async def test_a_crowd_is_given_as_many_codes_as_may_be_open(bench: Bench, pairings: Pairings) -> None:
    given = [await offer(pairings, person, person.user) for person in (ADA, BOB, CYD, DAN, ELSEWHERE)]
    assert given == ["U1", "U2", "U3", None, "U4"]
    assert await offer(pairings, ADA, "again") == "U1"
    await pairings.confirm("U2")
    assert await offer(pairings, DAN, "after one was confirmed") == "after one was confirmed"
    assert await offer(pairings, Person(platform="slack", account="T1", user="U5"), "U5") is None
    bench.clock.time += HOUR
    assert await offer(pairings, Person(platform="slack", account="T1", user="U5"), "U5") == "U5"


@proves("offer-unique")
async def test_a_code_that_somebody_has_is_given_to_nobody_else(pairings: Pairings) -> None:
    assert await offer(pairings, ADA, "code") == "code"
    assert await offer(pairings, BOB, "code") is None
    assert await offer(pairings, ELSEWHERE, "code") is None
    assert await pairings.confirm("code") == ADA


@proves("confirm-once")
async def test_a_code_lets_in_once_and_that_lasts(bench: Bench) -> None:
    async with bench.open() as store:
        await offer(store.pairings, ADA, "code")
        assert not await store.pairings.has(ADA)
    async with bench.open() as store:
        assert await store.pairings.confirm("CODE") is None
        assert await store.pairings.confirm("code") == ADA
        assert await store.pairings.confirm("code") is None
        assert await store.pairings.has(ADA)
        bench.clock.time += 10_000 * HOUR
    async with bench.open() as store:
        await store.prune(25 * HOUR)
        assert await store.pairings.has(ADA)


@proves("confirm-once")
async def test_a_code_that_is_too_old_lets_nobody_in(bench: Bench, pairings: Pairings) -> None:
    await offer(pairings, ADA, "code")
    bench.clock.time += HOUR
    assert await pairings.confirm("code") is None
    assert not await pairings.has(ADA)


@proves("separate")
async def test_who_is_let_in_is_so_in_one_account(pairings: Pairings) -> None:
    await offer(pairings, DAN, "code")
    await pairings.confirm("code")
    others = [
        ELSEWHERE,
        Person(platform="discord", account="T1", user="U4"),
        Person(platform="slack", account="T1", user="u4"),
        Person(platform="slack/T1", account="", user="U4"),
        Person(platform="slack", account="T1", user=""),
    ]
    assert [await pairings.has(person) for person in [DAN, *others]] == [True, *[False] * len(others)]


@proves("everyone")
async def test_all_that_is_known_can_be_seen(bench: Bench, pairings: Pairings) -> None:
    assert await pairings.everyone() == []
    await offer(pairings, DAN, "D")
    await offer(pairings, ADA, "A")
    bench.clock.time += HOUR / 2
    await offer(pairings, BOB, "B")
    await pairings.confirm("A")
    bench.clock.time += HOUR / 4
    seen = [
        Pairing(person=each.person, code=each.code, seconds=round(each.seconds, -2))
        for each in await pairings.everyone()
    ]
    assert seen == [
        Pairing(person=BOB, code="B", seconds=2700),
        Pairing(person=DAN, code="D", seconds=900),
        Pairing(person=ADA, code=None, seconds=900),
    ]
    bench.clock.time += HOUR
    assert [each.person for each in await pairings.everyone()] == [ADA]
    bench.clock.time -= 10 * HOUR
    assert [each.seconds for each in await pairings.everyone() if each.code is None] == [0]


@proves("revoke")
async def test_whom_it_is_taken_from_is_a_stranger_again(pairings: Pairings) -> None:
    for person in (ADA, DAN, ELSEWHERE):
        await offer(pairings, person, f"{person.account} {person.user}")
    for person in (ADA, DAN):
        await pairings.confirm(f"{person.account} {person.user}")
    assert await pairings.revoke("discord", "U4") == []
    assert await pairings.revoke("slack", "U4") == [DAN, ELSEWHERE]
    assert await pairings.revoke("slack", "U4") == []
    assert [await pairings.has(person) for person in (ADA, DAN, ELSEWHERE)] == [True, False, False]
    assert await pairings.confirm("T2 U4") is None
    assert await offer(pairings, DAN, "new") == "new"


@proves("beside")
async def test_a_guest_and_the_gateway_see_the_same(bench: Bench, pairings: Pairings) -> None:
    await offer(pairings, ADA, "A")
    async with bench.visit() as guest:
        assert [each.code for each in await guest.everyone()] == ["A"]
        assert await guest.confirm("A") == ADA
        assert await pairings.has(ADA)
        await offer(pairings, BOB, "B")
        assert await guest.revoke("slack", "U1") == [ADA]
        assert not await pairings.has(ADA)
        assert await guest.confirm("B") == BOB
    assert await pairings.has(BOB)


@proves("beside")
async def test_a_code_is_confirmed_once_however_many_try(bench: Bench, pairings: Pairings) -> None:
    await offer(pairings, ADA, "A")
    confirmed: list[Person | None] = []

    async def confirm() -> None:
        async with bench.visit() as guest:
            confirmed.append(await guest.confirm("A"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(confirm)
    assert sorted(map(str, confirmed)) == [*["None"] * 7, str(ADA)]


@proves("beside")
async def test_a_guest_takes_nothing_away_from_the_gateway(bench: Bench) -> None:
    async with bench.open() as store:
        await store.ingest(message("A"))
        (conversation,) = await store.claim(1)
        async with bench.visit() as guest:
            await guest.everyone()
        work = await store.load(conversation)
        assert work is not None
        await store.finish(work, [])
    async with bench.visit() as guest:  # nobody has it open
        assert await guest.everyone() == []


@proves("absent")
async def test_a_guest_makes_no_store(bench: Bench) -> None:
    with pytest.raises(StoreError, match="the store is not there"):
        async with bench.visit():
            pytest.fail("it was opened")
    assert not await anyio.Path(bench.path).exists()


@proves("absent")
async def test_a_guest_is_told_what_makes_an_empty_store_one(bench: Bench) -> None:
    await anyio.Path(bench.path).touch()
    with pytest.raises(StoreError, match="start `dragoman run`"):
        async with bench.visit():
            pytest.fail("it was opened")
    async with bench.open():
        pass
    async with bench.visit() as guest:
        assert await guest.everyone() == []


@proves("refused")
async def test_what_is_no_text_is_refused(pairings: Pairings) -> None:
    lone = "\ud83d"
    with pytest.raises(StoreError):
        await offer(pairings, Person(platform="slack", account="T1", user=lone), "A")
    with pytest.raises(StoreError):
        await offer(pairings, ADA, lone)
    assert await pairings.everyone() == []


def test_every_requirement_has_a_test_and_every_test_a_requirement() -> None:
    assert_complete(__name__, "pairing.toml")
