"""SQLite's own: the file, its lock, the thread, and what a person reads when something is wrong."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

import anyio
import pydantic
import pytest

from gateway.address import Address
from gateway.error import StoreError
from gateway.inbound import Ignored, MessageReceived, Ticket
from gateway.store import Stored
from gateway.stores.database import Statement
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase, Settings, SqliteDatabase, create, create_in_memory, pairings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def message(number: int, channel: str = "c") -> MessageReceived:
    address = Address(platform="p", account="a", channel=channel)
    return MessageReceived(
        event_id=f"e{number}", message_id=f"m{number}", address=address, user="u", text=str(number), direct=False
    )


async def refusal(path: Path) -> str:
    with pytest.raises(StoreError) as refused:
        async with create(Settings(path=str(path))):
            pytest.fail("it was opened")
    assert str(path) in str(refused.value)
    return str(refused.value)


class Gate:
    """A clock that holds the store's thread until it is opened, so that a queue forms behind it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.opened.set()

    def __call__(self) -> float:
        self.reached.set()
        assert self.opened.wait(5)
        return 1.0

    def shut(self) -> None:
        self.reached.clear()
        self.opened.clear()


async def run_behind(gate: Gate, calls: list[Callable[[], Any]]) -> list[Any]:
    """What the calls give that wait while the first one holds the thread."""
    gate.shut()
    with anyio.fail_after(5):
        first = asyncio.ensure_future(calls[0]())
        await asyncio.to_thread(gate.reached.wait, 5)
        others = [asyncio.ensure_future(call()) for call in calls[1:]]
        await anyio.wait_all_tasks_blocked()
        gate.opened.set()
        return await asyncio.gather(first, *others, return_exceptions=True)


def connection_of(database: SqliteDatabase) -> sqlite3.Connection:
    """For what no statement in a transaction can do; its thread must be idle."""
    return database._connection  # pyright: ignore[reportPrivateUsage]  # looks inside


def write(path: Path, content: bytes, offset: int = 0) -> None:
    path.touch()
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


async def test_a_commit_is_on_the_disk_when_it_returns(path: Path) -> None:
    async with SqliteDatabase(path) as database:
        rows = await database.transaction([Statement(sql="pragma synchronous"), Statement(sql="pragma journal_mode")])
        assert rows == [[(2,)], [("wal",)]]


async def test_whatever_waits_shares_one_commit(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        statements: list[str] = []
        connection_of(database).set_trace_callback(statements.append)
        calls = [lambda number=number: store.ingest(message(number)) for number in range(51)]
        assert None not in await run_behind(gate, calls)
        assert [text.lower() for text in statements].count("commit") == 2


async def test_the_order_of_the_calls_is_the_order_of_the_commits(path: Path) -> None:
    async with create(Settings(path=str(path))) as store:
        await asyncio.gather(*(store.ingest(message(number)) for number in range(300)))
        heard: list[str] = []
        while await store.claim(1):
            work = await store.load("p/a/c")
            assert work is not None
            heard.append(work.message.text)
            await store.finish(work, [])
        assert heard == [str(number) for number in range(300)]


async def test_a_transaction_that_fails_takes_no_other_of_its_commit_with_it(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        insert = Statement(sql="insert into gw_meta values('half', 'x')")
        broken = [insert, Statement(sql="insert into gw_meta values('schema', 'twice')")]
        undone = [insert, Statement(sql="select 1 where 1 = 2", guard=True)]
        results = await run_behind(
            gate,
            [
                lambda: store.ingest(message(1)),
                lambda: store.ingest(message(2)),
                lambda: database.transaction(broken),
                lambda: database.transaction(undone),
                lambda: store.ingest(message(3)),
            ],
        )
        assert isinstance(results[2], StoreError)
        assert [type(result) for result in results[:2] + results[3:]] == [Stored, Stored, NoneType, Stored]
        assert await database.transaction([Statement(sql="select key from gw_meta")]) == [[("schema",)]]


async def test_a_commit_that_fails_fails_for_all_and_the_store_goes_on(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        # A reference that is checked only at the commit, and is broken then.
        await database.transaction(
            [
                Statement(sql="create table parent(id integer primary key)"),
                Statement(sql="create table child(id integer references parent deferrable initially deferred)"),
            ]
        )
        connection_of(database).execute("pragma foreign_keys = on")
        breaking = [Statement(sql="insert into child values(7)")]
        results = await run_behind(
            gate,
            [
                lambda: database.transaction([]),
                lambda: store.ingest(message(1)),
                lambda: database.transaction(breaking),
            ],
        )
        assert results[0] == []
        assert [type(result) for result in results[1:]] == [StoreError, StoreError]
        assert await store.waiting("p/a/c") == 0
        assert await store.ingest(message(1))


async def test_an_error_that_undoes_the_whole_commit_fails_for_all_and_says_which_it_was(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        # SQLite does the same by itself where a disk fails in the middle.
        undoing = [Statement(sql="insert or rollback into gw_meta values('schema', 'twice')")]
        results = await run_behind(
            gate,
            [lambda: database.transaction([]), lambda: store.ingest(message(1)), lambda: database.transaction(undoing)],
        )
        assert results[0] == []
        for result in results[1:]:
            assert isinstance(result, StoreError)
            assert "UNIQUE" in str(result)
        assert await store.ingest(message(1))


async def test_a_full_disk_is_told_and_loses_nothing_that_was_acknowledged() -> None:
    with MemoryDatabase() as database:
        store = await Mailbox.open(database)
        kept = 0

        async def fill() -> None:
            nonlocal kept
            while kept < 10_000:
                assert await store.ingest(message(kept))
                kept += 1

        await database.transaction([Statement(sql="pragma max_page_count = 40")])
        with pytest.raises(StoreError, match="disk is full; make room"):
            await fill()
        assert await store.waiting("p/a/c") == kept
        await database.transaction([Statement(sql="pragma max_page_count = 10000")])
        assert not await store.ingest(message(kept - 1))
        assert await store.ingest(message(kept))


async def test_a_call_that_asyncio_cancels_is_whole_or_was_not(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        gate.shut()
        running = asyncio.ensure_future(store.ingest(message(1)))
        await asyncio.to_thread(gate.reached.wait, 5)
        waiting = asyncio.ensure_future(store.ingest(message(2)))
        await anyio.wait_all_tasks_blocked()
        running.cancel()
        waiting.cancel()
        gate.opened.set()
        results = await asyncio.gather(running, waiting, return_exceptions=True)
        assert [type(result) for result in results] == [asyncio.CancelledError] * 2
        with anyio.fail_after(5):
            await store.wait_due()
        assert await store.claim(1) == ["p/a/c"]
        assert not await store.ingest(message(1))


async def test_a_call_in_a_cancelled_scope_still_gets_its_answer(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        await store.ingest(message(1))
        gate.shut()
        claimed: list[str] = []

        async def claim() -> None:
            claimed.extend(await store.claim(1))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(claim)
                await asyncio.to_thread(gate.reached.wait, 5)
                group.cancel_scope.cancel()
                gate.opened.set()
        assert claimed == ["p/a/c"]


async def test_closing_finishes_what_waits(path: Path) -> None:
    gate = Gate()
    async with SqliteDatabase(path, gate) as database:
        store = await Mailbox.open(database)
        gate.shut()
        waiting = [asyncio.ensure_future(store.ingest(message(0)))]
        await asyncio.to_thread(gate.reached.wait, 5)
        waiting += [asyncio.ensure_future(store.ingest(message(number))) for number in range(1, 10)]
        await anyio.wait_all_tasks_blocked()
        # Runs when leaving awaits, so the end was asked for behind all that waits.
        asyncio.get_running_loop().call_soon(gate.opened.set)
    assert None not in await asyncio.gather(*waiting)
    with pytest.raises(StoreError, match="is closed"):
        await store.ingest(message(11))


async def test_a_closed_store_is_one_file_and_its_lock(path: Path) -> None:
    async with create(Settings(path=str(path))) as store:
        await store.ingest(message(1))
    assert sorted(file.name for file in path.parent.iterdir()) == ["store.db", "store.db.lock"]
    assert [file.stat().st_mode & 0o777 for file in path.parent.iterdir()] == [0o600, 0o600]


def files_with(folder: Path, word: bytes) -> list[str]:
    return [file.name for file in folder.iterdir() if word in file.read_bytes()]


@pytest.mark.parametrize("end", ["expired", "answered"])
async def test_the_bytes_of_a_ticket_that_was_erased_are_in_no_file(path: Path, end: str) -> None:
    """Among many of all sizes, so that rows are moved from page to page."""
    clock = [1_000_000.0]
    async with SqliteDatabase(path, lambda: clock[0]) as database:
        store = await Mailbox.open(database)
        for number in range(300):
            secret = f"swordfish {number} ".ljust(20 + number * 37 % 1500, "x")
            ticket = Ticket(secret=secret, lifetime=900.0, opening="77", guest=True)
            said = replace(message(number), text="hello " * (number * 53 % 200), ticket=ticket)
            assert await store.ingest(said)
        connection_of(database).execute("pragma wal_checkpoint(truncate)")
        assert files_with(path.parent, b"swordfish") == ["store.db"]
        if end == "expired":
            clock[0] += 900
            assert await store.forget_tickets() is None
        else:
            while await store.claim(1):
                work = await store.load("p/a/c")
                assert work is not None
                await store.finish(work, [])
        connection_of(database).execute("pragma wal_checkpoint(truncate)")
        assert files_with(path.parent, b"swordfish") == []


async def test_a_ticket_that_was_erased_leaves_the_log_while_messages_come_and_nobody_tends_it(path: Path) -> None:
    clock = [1_000_000.0]
    async with SqliteDatabase(path, lambda: clock[0]) as database:
        store = await Mailbox.open(database)
        for number in range(30):
            ticket = Ticket(secret=f"swordfish {number}", lifetime=900.0, opening="77", guest=True)
            assert await store.ingest(replace(message(number), ticket=ticket))
        clock[0] += 900
        assert await store.forget_tickets() is None
        assert files_with(path.parent, b"swordfish") == ["store.db-wal"]
        for number in range(1_000, 1_600):
            assert await store.ingest(message(number))
        assert files_with(path.parent, b"swordfish") == []


async def test_a_ticket_that_was_erased_is_in_no_file_of_a_store_that_is_closed(path: Path) -> None:
    clock = [1_000_000.0]
    async with SqliteDatabase(path, lambda: clock[0]) as database:
        store = await Mailbox.open(database)
        ticket = Ticket(secret="swordfish", lifetime=900.0, opening="77", guest=True)
        assert await store.ingest(replace(message(1), ticket=ticket))
        clock[0] += 900
        assert await store.forget_tickets() is None
        assert files_with(path.parent, b"swordfish") == ["store.db-wal"]
    assert files_with(path.parent, b"swordfish") == []


async def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    async with create(Settings(path=str(tmp_path / "a" / "b" / "store.db"))) as store:
        assert await store.ingest(message(1))


async def test_a_second_opening_is_refused_until_the_first_is_closed(path: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias.db"
    async with create(Settings(path=str(path))) as store:
        alias.symlink_to(path)
        for name in (path, alias):
            with pytest.raises(StoreError, match=f"{path} is in use by process {os.getpid()}.*stop that process"):
                async with create(Settings(path=str(name))):
                    pytest.fail("it was opened")
        assert await store.ingest(message(1))
    async with create(Settings(path=str(alias))) as store:
        assert await store.waiting("p/a/c") == 1


async def test_a_guest_may_not_write_to_what_is_anothers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with create(Settings(path=str(path))):
        pass

    def access(_: object, mode: int) -> bool:  # who runs this may be root, and may write everywhere
        return mode == os.F_OK

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(StoreError, match=f"{path}: the store may not be written to by this user; ask as"):
        async with pairings(Settings(path=str(path))):
            pytest.fail("it was opened")


async def test_a_guest_of_a_newer_store_is_refused_with_the_mend(path: Path) -> None:
    async with SqliteDatabase(path) as database:
        await Mailbox.open(database)
        await database.transaction([Statement(sql="update gw_meta set value = '99'")])
        with pytest.raises(StoreError, match=r"has schema 99.*update Dragoman"):
            async with pairings(Settings(path=str(path))):
                pytest.fail("it was opened")


async def test_a_guest_of_an_older_store_changes_nothing_in_it(path: Path) -> None:
    async with SqliteDatabase(path) as database:
        await Mailbox.open(database)
        await database.transaction([Statement(sql="update gw_meta set value = '2'")])
        with pytest.raises(StoreError, match=r"start `dragoman run`"):
            async with pairings(Settings(path=str(path))):
                pytest.fail("it was opened")
        assert await database.transaction([Statement(sql="select value from gw_meta")]) == [[("2",)]]


async def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    write(path, b"my only copy of something else\n" * 100)
    assert "no SQLite database" in await refusal(path)
    with path.open("rb") as file:
        assert file.read() == b"my only copy of something else\n" * 100


async def test_a_damaged_file_is_told(path: Path) -> None:
    async with create(Settings(path=str(path))) as store:
        await store.ingest(message(1))
    write(path, os.urandom(40_000), offset=100)
    assert "restore a backup" in await refusal(path)


async def test_a_path_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "check its folder" in await refusal(tmp_path / "file" / "store.db")
    (tmp_path / "folder").mkdir()
    assert "Is a directory" in await refusal(tmp_path / "folder")
    assert "check its folder" in await refusal(Path("/proc/none/store.db"))


async def test_another_programs_lock_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.stores.sqlite.PRAGMAS", ("journal_mode = wal", "busy_timeout = 1"))
    async with create(Settings(path=str(path))) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin immediate")
        with pytest.raises(StoreError, match="another program holds the file's lock"):
            await store.ingest(message(1))
        other.execute("rollback")
        other.close()
        assert await store.ingest(message(1))


async def test_a_file_without_permission_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)
    assert "check its folder's permissions" in await refusal(path)


async def test_failing_to_open_gives_the_lock_back(path: Path) -> None:
    write(path, b"no database at all" * 100)
    await refusal(path)
    os.truncate(path, 0)
    async with create(Settings(path=str(path))) as store:
        assert await store.ingest(message(1))


async def test_a_newer_schema_is_refused_with_the_file(path: Path) -> None:
    async with create(Settings(path=str(path))):
        pass
    connection = sqlite3.connect(path)
    connection.execute("update gw_meta set value = '99'")
    connection.commit()
    connection.close()
    assert "has schema 99" in await refusal(path)


async def test_a_strange_error_is_its_callers_and_the_thread_lives_on(path: Path) -> None:
    async with SqliteDatabase(path) as database:
        wrong: Any = Statement(sql="select $1", parameters=(object(),))  # pyright: ignore[reportArgumentType]  # wrong on purpose
        with pytest.raises(StoreError):
            await database.transaction([wrong])
        assert await database.transaction([Statement(sql="select 1")]) == [[(1,)]]


@pytest.mark.virtual_time
async def test_in_memory_it_runs_on_virtual_time() -> None:
    async with create_in_memory(anyio.current_time) as store:
        await store.ingest(Ignored(event_id="I", reason="noise"))
        await anyio.sleep(25 * 3600 + 1)
        assert await store.prune(25 * 3600) == 1


def test_settings_know_their_keys() -> None:
    adapter = pydantic.TypeAdapter(Settings)
    assert adapter.validate_python({"kind": "sqlite", "path": "x.db"}) == Settings(path="x.db")
    for wrong in ({}, {"path": 1}, {"path": "x", "pfad": "y"}, {"path": "x", "kind": "postgres"}):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(wrong)
