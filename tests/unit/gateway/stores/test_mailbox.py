"""What the contract's suite cannot reach: what stands in the tables, and processes that are not alone."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import anyio
import pytest

from gateway.address import Address
from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.inbound import (
    CommandReceived,
    Ignored,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    PressReceived,
    Ticket,
    from_json,
    to_json,
)
from gateway.store import Approval, Decision
from gateway.stores.database import Row, Statement
from gateway.stores.mailbox import Mailbox
from gateway.stores.schema import MIGRATIONS, READ_SCHEMA, WRITE_SCHEMA
from gateway.stores.sqlite import MemoryDatabase

pytestmark = pytest.mark.virtual_time

KEY = "p/a/c"
HERE = Address(platform="p", account="a", channel="c")
HOUR = 3600.0


@pytest.fixture
def database() -> Generator[MemoryDatabase]:
    with MemoryDatabase() as database:
        yield database


def message(number: int) -> MessageReceived:
    return MessageReceived(
        event_id=f"e{number}", message_id=f"m{number}", address=HERE, user="u", text=str(number), direct=False
    )


def new(number: int) -> CommandReceived:
    return CommandReceived(
        event_id=f"e{number}", message_id=f"m{number}", address=HERE, user="u", command="new", direct=False
    )


async def query(database: MemoryDatabase, sql: str, *parameters: str | float | None) -> list[Row]:
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
    with pytest.raises(OwnershipLostError):
        await zombie.record(old, {0: "late"})
    with pytest.raises(OwnershipLostError):
        await zombie.append(old, ["late"])
    work = await heir.load(KEY)
    assert work is not None
    assert (work.attempt, work.said, work.journal) == (2, (), ())
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


async def test_of_an_edit_only_the_message_keeps_the_text_and_of_a_deletion_nothing_does(
    database: MemoryDatabase,
) -> None:
    store = await Mailbox.open(database)
    sent = replace(message(1), text="swordfish")
    edit = MessageEdited(event_id="edit", message=replace(sent, text="codfish"))
    await store.ingest(sent)
    await store.ingest(edit)
    with_text = "select id from gw_event where body like '%fish%'"
    assert await query(database, with_text) == [("e1",)]
    ((body,),) = await query(database, "select body from gw_event where id = 'edit'")
    assert from_json(body) == replace(edit, message=replace(sent, text=""))
    await store.ingest(MessageDeleted(event_id="deletion", message_id="m1", address=HERE))
    assert await query(database, with_text) == []
    ((body,),) = await query(database, "select body from gw_event where id = 'deletion'")
    assert from_json(body) == MessageDeleted(event_id="deletion", message_id="m1", address=HERE)


TICKET = Ticket(secret="swordfish", lifetime=900, opening="77", guest=False)


async def test_a_ticket_stands_in_no_body_and_in_one_place(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    await store.ingest(replace(message(1), ticket=TICKET))
    await store.ingest(replace(new(2), ticket=TICKET))
    edited = replace(message(1), event_id="edit", text="B", ticket=TICKET)
    await store.ingest(MessageEdited(event_id="edit", message=edited))
    assert await query(database, "select id from gw_event where ticket is not null order by id") == [("e1",), ("e2",)]
    assert await query(database, "select id from gw_event where body like '%swordfish%'") == []
    bodies = [from_json(body) for (body,) in await query(database, "select body from gw_event order by seq")]
    assert bodies[0] == replace(edited, ticket=None)


async def test_a_ticket_of_another_version_makes_its_message_unreadable_and_a_command_wait(
    database: MemoryDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Mailbox.open(database)
    await store.ingest(replace(message(1), ticket=TICKET))
    await store.ingest(replace(new(2), ticket=TICKET))
    await query(database, 'update gw_event set ticket = \'{"secret": "swordfish"}\'')
    await store.claim(1)
    with pytest.raises(UnreadableError) as caught:
        await store.load(KEY)
    assert await store.open_commands() == []
    assert "swordfish" not in f"{caught.value} {caplog.text}"


async def test_only_a_message_makes_a_conversation(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    await store.ingest(MessageEdited(event_id="edit", message=message(1)))
    await store.ingest(MessageDeleted(event_id="deletion", message_id="m1", address=HERE))
    await store.ingest(new(2))
    assert await query(database, "select id from gw_conv") == []
    await store.ingest(message(1))
    assert await query(database, "select id from gw_conv") == [(KEY,)]


async def test_a_journal_goes_with_its_message_and_a_history_that_was_left_behind_stays(
    database: MemoryDatabase,
) -> None:
    store = await Mailbox.open(database)
    await store.ingest(message(1))
    await store.claim(1)
    work = await store.load(KEY)
    assert work is not None
    await store.record(work, {0: "zero", 1: "one"})
    await store.finish(work, ["entry"])
    await store.ingest(new(2))
    await query(database, "update gw_event set done = done - $1 where done is not null", 26 * HOUR)
    assert await store.prune(25 * HOUR) == 1
    assert await query(database, "select * from gw_journal") == []
    assert await query(database, "select body from gw_history") == [("entry",)]


async def test_a_command_of_another_version_waits_for_it_and_holds_up_no_other(
    database: MemoryDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Mailbox.open(database)
    await store.ingest(new(1))
    await store.ingest(new(2))
    await query(database, "update gw_event set body = replace(body, 'new', 'dance') where id = 'e1'")
    assert await store.open_commands() == [(2, new(2))]
    assert "command 1 cannot be read" in caplog.text
    await query(database, "update gw_event set body = replace(body, 'dance', 'new') where id = 'e1'")
    assert await store.open_commands() == [(1, new(1)), (2, new(2))]


async def first_schema(database: MemoryDatabase) -> None:
    """A database as the first version left it: a message answered, one tried once, one waiting, and noise."""
    dialect = database.dialect
    for sql in ("create table gw_meta(key text primary key, value text not null)", *MIGRATIONS[0]):
        await query(database, sql.format(serial=dialect.serial))
    await query(database, WRITE_SCHEMA, "1")
    columns = "id, message, conv, kind, body, attempts, stored, done"
    keep = f"insert into gw_event({columns}) values($1, $2, $3, $4, $5, $6, 1, $7)"
    for sent, attempts, done in ((message(1), 1, 2), (message(2), 1, None), (message(3), 0, None)):
        names = (sent.event_id, sent.message_id, KEY, sent.type, to_json(sent))
        await query(database, keep, *names, attempts, done)
    noise = Ignored(event_id="e4", reason="noise")
    await query(database, keep, noise.event_id, None, None, noise.type, to_json(noise), 0, 1)
    await query(database, "insert into gw_conv(id, due, owner) values($1, 1, 'dead')", KEY)
    await query(database, "insert into gw_node(id) values('dead')")
    await query(database, "insert into gw_history(conv, event, body) values($1, 1, 'one')", KEY)


async def test_a_database_of_the_first_schema_is_brought_up_with_all_that_is_in_it(database: MemoryDatabase) -> None:
    await first_schema(database)
    store = await Mailbox.open(database)
    assert await query(database, READ_SCHEMA) == [(str(len(MIGRATIONS)),)]
    for known in (message(1), message(2), message(3), Ignored(event_id="e4", reason="noise")):
        assert await store.ingest(known) is None
    assert (await store.waiting(KEY), await store.open_commands()) == (2, [])
    edit = MessageEdited(event_id="edit", message=replace(message(3), text="now"))
    stored = await store.ingest(edit)
    assert stored is not None
    assert (stored.sequence, stored.behind) == (5, True)
    assert await store.claim(9) == [KEY]
    work = await store.load(KEY)
    assert work is not None
    assert (work.message, work.attempt, work.history) == (message(2), 2, ("one",))
    assert (work.said, work.journal, work.stopped, work.waited) == ((), (), False, False)
    assert work.age > 1_000_000_000  # since 1970
    assert await store.pairings.everyone() == []
    await store.record(work, {0: "line"})
    await store.finish(work, ["two"])
    await store.claim(1)
    work = await store.load(KEY)
    assert work is not None
    assert (work.message, work.history) == (edit.message, ("one", "two"))


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
    monkeypatch.setattr("gateway.stores.schema.MIGRATIONS", (*MIGRATIONS, ("create table gw_new(id int)", "nonsense")))
    with pytest.raises(StoreError):
        await Mailbox.open(database)
    assert await query(database, "select value from gw_meta where key = 'schema'") == [(str(len(MIGRATIONS)),)]
    monkeypatch.setattr("gateway.stores.schema.MIGRATIONS", (*MIGRATIONS, ("create table gw_new(id int)",)))
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


class PowerCutError(Exception):
    """The process ended here."""


@dataclass
class Mortal:
    """A database whose process dies at its ``last`` transaction: before it, or when it is done and nobody knows."""

    database: MemoryDatabase
    last: int
    done: bool

    def __post_init__(self) -> None:
        self.name = self.database.name
        self.dialect = self.database.dialect

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        self.last -= 1
        if self.last < 0:
            raise PowerCutError
        if self.last or self.done:
            rows = await self.database.transaction(statements)
            if self.last:
                return rows
        raise PowerCutError


ASKED = Approval(id="A", conversation=KEY, tool_use_id="call", tool_name="write", asker="u")
PRESS = PressReceived(
    event_id="press", press="p", message_id="ours", address=HERE, user="u", data="", direct=False, ticket=TICKET
)


async def live(store: Mailbox, won: list[bool]) -> None:
    """Deliver what platforms deliver until it is taken, and work until nothing is left to do."""
    await store.ingest(message(1))
    await work_off(store)
    await store.ingest(message(2))
    if (stored := await store.ingest(PRESS, Decision(approval_id="A", granted=True, standing=True))) is not None:
        won.append(stored.decided)
    await work_off(store)


async def work_off(store: Mailbox) -> None:
    while claimed := await store.claim(9):
        for conversation in claimed:
            await work_on(store, conversation)


async def work_on(store: Mailbox, conversation: str) -> None:
    """What a run does, which goes on from what is there."""
    work = await store.load(conversation)
    assert work is not None
    if work.message != message(1):
        await store.finish(work, [f"answer {work.history[-1]} {work.grants}"])
        return
    if not work.said:
        await store.append(work, ["question", "call"])
    if not work.approvals:
        await store.ask(work, ASKED, lifetime=None)
        await store.park(work)
    elif work.approvals[0].state == "open":
        await store.park(work)
    else:
        await store.finish(work, [work.approvals[0].state])


@pytest.mark.parametrize("done", [False, True])
async def test_a_crash_between_any_two_steps_of_asking_and_deciding_loses_and_doubles_nothing(*, done: bool) -> None:
    cuts = 0
    for last in range(1, 99):
        with MemoryDatabase() as database:
            won: list[bool] = []
            try:
                await live(await Mailbox.open(Mortal(database, last, done)), won)
            except PowerCutError:
                cuts += 1
            await live(await Mailbox.open(database), won)
            assert await query(database, "select body from gw_history order by seq") == [
                ("question",),
                ("call",),
                ("approved",),
                ("answer approved ('write',)",),
            ]
            assert await query(database, "select state, standing, told from gw_approval") == [("approved", 1, 1)]
            assert await query(database, "select tool, person from gw_grant") == [("write", "u")]
            assert await query(database, "select count(*) from gw_event") == [(3,)]
            assert False not in won
    assert 15 < cuts < 98


async def test_a_press_keeps_no_ticket(database: MemoryDatabase) -> None:
    store = await Mailbox.open(database)
    await store.ingest(PRESS)
    ((kind, held, expires, body),) = await query(database, "select kind, ticket, expires, body from gw_event")
    assert (kind, held, expires, from_json(body)) == ("press_received", None, None, replace(PRESS, ticket=None))


async def test_what_asks_whether_something_waits_reads_no_table_through(database: MemoryDatabase) -> None:
    await Mailbox.open(database)
    for sql in (
        "select 1 from gw_waiting where conv = $1",
        "select 1 from gw_approval where event = $1 order by seq",
        "select 1 from gw_approval where state = 'open' and expires <= $1",
    ):
        plan = await query(database, f"explain query plan {sql}", KEY)
        assert not [row for row in plan if str(row[3]).startswith("SCAN") and "CONSTANT" not in str(row[3])], plan
