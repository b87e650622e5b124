"""What the group commit is worth: the same messages one by one, and while others wait; and what a journal costs."""

import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path

import anyio
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gateway.address import Address
from gateway.inbound import MessageReceived
from gateway.store import Store
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import Settings, SqliteDatabase, create

MESSAGES = 200
NUMBERS = count()


def messages() -> list[MessageReceived]:
    address = Address(platform="p", account="a", channel="c")
    return [
        MessageReceived(event_id=f"e{n}", message_id=f"m{n}", address=address, user="u", text="hello", direct=False)
        for n, _ in zip(NUMBERS, range(MESSAGES), strict=False)
    ]


async def one_by_one(store: Store, batch: Sequence[MessageReceived]) -> None:
    for message in batch:
        await store.ingest(message)


async def grouped(store: Store, batch: Sequence[MessageReceived]) -> None:
    async with anyio.create_task_group() as group:
        for message in batch:
            group.start_soon(store.ingest, message)


Way = Callable[[Store, Sequence[MessageReceived]], Awaitable[None]]


async def recorded(store: Store, batch: Sequence[MessageReceived]) -> None:
    """As many lines of a journal, one by one, and one message to write them about."""
    await store.ingest(batch[0])
    (conversation,) = await store.claim(1)
    work = await store.load(conversation)
    assert work is not None
    for number in range(len(batch)):
        await store.record(work, {number: '{"state":"sent","bubble":0,"message":"1700000000.000100"}'})
    await store.finish(work, [])


async def seconds(path: Path, way: Way) -> float:
    """How long a way takes in a store of its own, without opening and closing it."""
    async with create(Settings(path=str(path))) as store:
        await way(store, messages())
        start = time.perf_counter()
        await way(store, messages())
        return time.perf_counter() - start


@pytest.mark.parametrize("way", [one_by_one, grouped, recorded])
def test_writes(benchmark: BenchmarkFixture, tmp_path: Path, way: Way) -> None:
    benchmark.group = f"{MESSAGES} messages or lines of a journal, acknowledged"
    numbers = count()

    def run() -> float:
        return anyio.run(seconds, tmp_path / f"{next(numbers)}.db", way)

    benchmark.pedantic(run, rounds=5)  # pyright: ignore[reportUnknownMemberType]  # the plugin is untyped


async def commits(path: Path, way: Way) -> int:
    """How often a way makes the disk write through; unlike seconds, the same on a busy machine."""
    async with SqliteDatabase(path) as database:
        store = await Mailbox.open(database)
        statements: list[str] = []
        connection = database._connection  # pyright: ignore[reportPrivateUsage]  # counts its commits
        connection.set_trace_callback(statements.append)
        await way(store, messages())
        return [statement.lower() for statement in statements].count("commit")


def test_messages_that_wait_share_commits(tmp_path: Path) -> None:
    alone = anyio.run(commits, tmp_path / "alone.db", one_by_one)
    shared = anyio.run(commits, tmp_path / "shared.db", grouped)
    assert alone == MESSAGES
    assert alone / shared > 3
