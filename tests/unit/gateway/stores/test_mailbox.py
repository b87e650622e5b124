"""What the contract's suite cannot reach: what stands in the tables, and processes that are not alone."""

from collections.abc import Generator, Sequence

import anyio
import pytest

from gateway.address import Address
from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.inbound import Ignored, MessageReceived, from_json
from gateway.stores.database import Row, Statement
from gateway.stores.mailbox import MIGRATIONS, Mailbox
from gateway.stores.sqlite import MemoryDatabase

pytestmark = pytest.mark.virtual_time

KEY = "p/a/c"


@pytest.fixture
def database() -> Generator[MemoryDatabase]:
    with MemoryDatabase() as database:
        yield database


def message(number: int) -> MessageReceived:
    address = Address(platform="p", account="a", channel="c")
    return MessageReceived(
        event_id=f"e{number}", message_id=f"m{number}", address=address, user="u", text=str(number), direct=False
    )


async def query(database: MemoryDatabase, sql: str, *parameters: str) -> list[Row]:
    rows = await database.transaction([Statement(sql=sql, parameters=parameters)])
    assert rows is not None
    return rows[0]


async def test_a_process_that_was_declared_dead_cannot_write_any_more(database: MemoryDatabase) -> None:
    zombie = await Mailbox.open(database)
    await zombie.ingest(message(1))
    await zombie.claim(1)
    old = await zombie.load(KEY)
    assert old is not None
    heir = await Mailbox.open(database)
    assert await heir.claim(1) == [KEY]
    with pytest.raises(OwnershipLostError, match=KEY):
        await zombie.finish(old, ["late"])
    with pytest.raises(OwnershipLostError):
        await zombie.postpone(old)
    with pytest.raises(OwnershipLostError):
        await zombie.release(KEY)
    with pytest.raises(OwnershipLostError):
        await zombie.load(KEY)
    work = await heir.load(KEY)
    assert work is not None
    assert (work.attempt, work.history) == (2, ())
    await heir.finish(work, ["mine"])


async def test_a_node_is_never_the_one_before(database: MemoryDatabase) -> None:
    await Mailbox.open(database)
    (first,) = await query(database, "select id from gw_node")
    await Mailbox.open(database)
    (second,) = await query(database, "select id from gw_node")
    assert first != second


async def test_a_conversation_that_is_due_with_nothing_open_has_no_work_and_becomes_idle(
    database: MemoryDatabase,
) -> None:
    store = await Mailbox.open(database)
    await store.ingest(message(1))
    await store.claim(1)
    await query(database, "update gw_event set done = 1")
    assert await store.load(KEY) is None
    await store.release(KEY)
    assert await query(database, "select due, owner from gw_conv") == [(None, None)]


async def test_a_delivery_that_was_known_does_not_make_due(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    await store.ingest(message(1))
    await store.claim(1)
    work = await store.load(KEY)
    assert work is not None
    await store.finish(work, [])
    await store.ingest(message(1))
    assert await query(database, "select due from gw_conv") == [(None,)]


async def test_only_the_reason_is_kept_of_what_is_ignored(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    ignored = Ignored(event_id="E", reason="a bot wrote it")
    await store.ingest(ignored)
    ((kind, conversation, body),) = await query(database, "select kind, conv, body from gw_event")
    assert (kind, conversation, from_json(body)) == ("ignored", None, ignored)


async def test_a_number_is_never_given_twice(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    await store.ingest(message(1))
    (first,) = await query(database, "select max(seq) from gw_event")
    await query(database, "delete from gw_event")
    await store.ingest(message(2))
    (second,) = await query(database, "select max(seq) from gw_event")
    assert second[0] > first[0]


async def test_a_newer_schema_is_refused_with_the_mend_and_left_alone(database: MemoryDatabase) -> None:
    await Mailbox.open(database)
    await query(database, "update gw_meta set value = $1", str(len(MIGRATIONS) + 1))
    nodes = await query(database, "select id from gw_node")
    with pytest.raises(StoreError, match=r"in memory has schema \d+.*update Dragoman"):
        await Mailbox.open(database)
    assert await query(database, "select id from gw_node") == nodes


async def test_a_migration_that_fails_is_undone_whole(
    database: MemoryDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Mailbox.open(database)
    monkeypatch.setattr("gateway.stores.mailbox.MIGRATIONS", (*MIGRATIONS, ("create table gw_new(id int)", "nonsense")))
    with pytest.raises(StoreError):
        await Mailbox.open(database)
    assert await query(database, "select value from gw_meta where key = 'schema'") == [(str(len(MIGRATIONS)),)]
    monkeypatch.setattr("gateway.stores.mailbox.MIGRATIONS", (*MIGRATIONS, ("create table gw_new(id int)",)))
    await Mailbox.open(database)
    assert await query(database, "select value from gw_meta where key = 'schema'") == [(str(len(MIGRATIONS) + 1),)]


@pytest.mark.parametrize("body", ["{}", "nonsense", '{"type":"ignored","event_id":"e1","reason":"r"}'])
async def test_an_event_that_cannot_be_read_is_named(database: MemoryDatabase, body: str) -> None:
    store = await Mailbox.open(database)
    await store.ingest(message(1))
    await query(database, "update gw_event set body = $1", body)
    await store.claim(1)
    with pytest.raises(UnreadableError, match="event 1 ") as caught:
        await store.load(KEY)
    assert caught.value.sequence == 1


class Flaky:
    """A database that commits, and then does not say so: what asyncio's cancellation can leave behind."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.database = database
        self.name = database.name
        self.dialect = database.dialect
        self.silent = False

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        rows = await self.database.transaction(statements)
        if self.silent:
            msg = "the answer was lost"
            raise StoreError(msg)
        return rows


async def test_whoever_waits_is_woken_though_the_answer_was_lost(database: MemoryDatabase) -> None:
    flaky = Flaky(database)
    store = await Mailbox.open(flaky)
    assert await store.claim(1) == []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(store.wait_due)
            await anyio.wait_all_tasks_blocked()
            flaky.silent = True
            with pytest.raises(StoreError):
                await store.ingest(message(1))
            flaky.silent = False
    assert await store.claim(1) == [KEY]


async def test_a_claim_that_failed_does_not_let_anybody_sleep(database: MemoryDatabase) -> None:
    flaky = Flaky(database)
    store = await Mailbox.open(flaky)
    flaky.silent = True
    with pytest.raises(StoreError):
        await store.claim(1)
    with anyio.fail_after(5):
        await store.wait_due()
