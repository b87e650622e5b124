"""The mailbox in one SQLite file, for one process; the default, and nothing to set up.

Rule 1: one connection, used by one thread. Several would fight for the file's lock.
Rule 2: whatever waits for that thread shares one commit, each transaction in a savepoint of its own, so that one that
        fails takes no other with it.
Rule 3: an answer is given after the commit that makes it true, and that commit is on the disk.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

import anyio
import anyio.lowlevel
import anyio.to_thread
from pydantic import ConfigDict

from gateway.error import StoreError
from gateway.store import Pairings, Store
from gateway.stores import file
from gateway.stores.database import Dialect, Row, Statement
from gateway.stores.mailbox import Mailbox
from gateway.stores.pairing import SqlPairings
from gateway.stores.schema import require

GROUP = 256
"""How many transactions share a commit at most, so that the first of them is answered soon."""

DIALECT = Dialect(serial="integer primary key autoincrement", now="$now", skip_locked="")

# FULL: a commit is on the disk when it returns. fullfsync: the same on macOS, whose fsync stops in the drive's cache.
# secure_delete: what is erased is written over with zeros.
PRAGMAS = ("journal_mode = wal", "synchronous = full", "fullfsync = on", "secure_delete = on", "busy_timeout = 5000")

# What a person can do, by the beginning of SQLite's name for the error.
MENDS = {
    "SQLITE_FULL": "the disk is full; make room",
    "SQLITE_IOERR": "the disk failed to read or write; check its space, its quota and its health",
    "SQLITE_NOTADB": "this is no SQLite database; configure another path, or move that file away",
    "SQLITE_CORRUPT": "the file is damaged; restore a backup",
    "SQLITE_READONLY": "the file cannot be written; check its owner and its permissions",
    "SQLITE_CANTOPEN": "the file cannot be opened; check its folder's owner and permissions",
    "SQLITE_BUSY": "another program holds the file's lock; close it",
}

Outcome = list[list[Row]] | None | Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``[store]`` in the configuration. ``path`` is a file on a local disk; folders on the way to it are made."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    kind: Literal["sqlite"] = "sqlite"
    path: str


def create(settings: Settings, now: Callable[[], float] = time.time) -> AbstractAsyncContextManager[Store]:
    """The store in ``settings.path``, open and this process's alone while the context is entered; asyncio only.

    Args:
        settings: where it is.
        now: Unix seconds; called in a thread.

    Raises:
        StoreError: on entering, where another process has the file, or it cannot be used.
    """
    return _opened(settings, now)


def create_in_memory(now: Callable[[], float] = time.time) -> AbstractAsyncContextManager[Store]:
    """A store that is gone when the context is left. Without a thread, so that it runs on any loop and virtual time."""
    return _opened_in_memory(now)


def pairings(settings: Settings, now: Callable[[], float] = time.time) -> AbstractAsyncContextManager[Pairings]:
    """The pairings of the store in ``settings.path``, also while another process has that open; asyncio only.

    Args:
        settings: where it is.
        now: Unix seconds; called in a thread.

    Raises:
        StoreError: on entering, where there is no such store, or it cannot be used.
    """
    return _opened_pairings(settings, now)


@asynccontextmanager
async def _opened(settings: Settings, now: Callable[[], float]) -> AsyncGenerator[Store]:
    async with SqliteDatabase(Path(settings.path), now) as database:
        yield await Mailbox.open(database)


@asynccontextmanager
async def _opened_pairings(settings: Settings, now: Callable[[], float]) -> AsyncGenerator[Pairings]:
    async with SqliteDatabase(Path(settings.path), now, guest=True) as database:
        await require(database)
        yield SqlPairings(database)


@asynccontextmanager
async def _opened_in_memory(now: Callable[[], float]) -> AsyncGenerator[Store]:
    with MemoryDatabase(now) as database:
        yield await Mailbox.open(database)


class MemoryDatabase:
    """A database in memory. It outlives the mailboxes opened on it: opening the next one is a crash and a restart."""

    name = "the store in memory"
    dialect = DIALECT

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._connection = sqlite3.connect(":memory:", isolation_level=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._connection.close()

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        """See ``Database``."""
        await anyio.lowlevel.checkpoint()
        (outcome,) = _commit(self._connection, [statements], self._now)
        return _result(outcome, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    statements: Sequence[Statement]
    outcome: asyncio.Future[Outcome]


class SqliteDatabase:
    """A database file, locked for this process while the context is entered.

    A ``guest`` neither makes the file nor locks it: for a short transaction beside the process whose file it is.
    """

    dialect = DIALECT

    def __init__(self, path: Path, now: Callable[[], float] = time.time, *, guest: bool = False) -> None:
        # Resolved, so that two ways to one file meet at one lock.
        self._path = path.expanduser().resolve()
        self._now = now
        self._guest = guest
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._resources = ExitStack()
        self._closed = True

    @property
    def name(self) -> str:
        """The file."""
        return str(self._path)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            if self._guest:
                file.expect(self._path)
            else:
                stack.enter_context(file.locked(self._path))
            self._connection = stack.enter_context(_connected(self._path))
            self._resources = stack.pop_all()
        self._thread = threading.Thread(target=self._serve, name="dragoman-store", daemon=True)
        self._thread.start()
        self._closed = False
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._closed = True
        self._jobs.put(None)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._thread.join)
        self._resources.close()

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        """See ``Database``. asyncio's own ``Task.cancel`` knows no shield: it leaves open whether it was done."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        if self._closed:
            msg = f"{self.name} is closed"
            raise StoreError(msg)
        job = _Job(statements=statements, outcome=self._loop.create_future())
        self._jobs.put(job)
        with anyio.CancelScope(shield=True):
            return _result(await job.outcome, self.name)

    def _serve(self) -> None:
        while jobs := self._waiting():
            outcomes = _commit(self._connection, [job.statements for job in jobs], self._now)
            with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                self._loop.call_soon_threadsafe(_deliver, jobs, outcomes)

    def _waiting(self) -> list[_Job]:
        """All that waits, once something does; nothing where the end was asked for."""
        jobs: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == GROUP:
                return jobs
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return jobs
        if jobs:
            self._jobs.put(None)
        return jobs


def _deliver(jobs: Sequence[_Job], outcomes: Sequence[Outcome]) -> None:
    for job, outcome in zip(jobs, outcomes, strict=True):
        if not job.outcome.done():
            job.outcome.set_result(outcome)


def _result(outcome: Outcome, name: str) -> list[list[Row]] | None:
    match outcome:
        case sqlite3.Error():
            raise _store_error(outcome, name) from outcome
        case UnicodeEncodeError():
            msg = f"{name}: not valid Unicode ({outcome})"
            raise StoreError(msg) from outcome
        case Exception():
            raise outcome
        case _:
            return outcome


def _store_error(error: sqlite3.Error, name: str) -> StoreError:
    # Errors of Python's own module have no name.
    code: str = getattr(error, "sqlite_errorname", "")
    mend = next((mend for prefix, mend in MENDS.items() if code.startswith(prefix)), "nothing was changed")
    return StoreError(f"{name}: {mend} ({error})")


def _commit(
    connection: sqlite3.Connection, transactions: Sequence[Sequence[Statement]], now: Callable[[], float]
) -> list[Outcome]:
    """Do the transactions in one commit. Where that fails, all of them failed."""
    try:
        connection.execute("begin immediate")
        outcomes = [_isolated(connection, statements, at=now()) for statements in transactions]
        connection.execute("commit")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the callers'; the thread lives on
        with suppress(sqlite3.Error):  # many an error has rolled back already
            connection.execute("rollback")
        return [error] * len(transactions)
    return outcomes


def _isolated(connection: sqlite3.Connection, statements: Sequence[Statement], at: float) -> Outcome:
    """Do one transaction in a savepoint.

    Raises:
        sqlite3.Error: the error took the savepoint with it, and all others of this commit.
    """
    connection.execute("savepoint job")
    try:
        rows = _execute(connection, statements, at)
    except Exception as error:
        if not connection.in_transaction:
            raise
        rows = error
    if rows is None or isinstance(rows, Exception):
        connection.execute("rollback to job")
    connection.execute("release job")
    return rows


def _execute(connection: sqlite3.Connection, statements: Sequence[Statement], at: float) -> list[list[Row]] | None:
    results: list[list[Row]] = []
    for statement in statements:
        parameters = {str(place): value for place, value in enumerate(statement.parameters, 1)}
        rows: list[Row] = connection.execute(statement.sql, {"now": at, **parameters}).fetchall()
        if statement.guard and not rows:
            return None
        results.append(rows)
    return results


@contextmanager
def _connected(path: Path) -> Generator[sqlite3.Connection]:
    try:
        # Rule 1 says whose thread it is, not the module.
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        with closing(connection):
            for pragma in PRAGMAS:
                connection.execute(f"pragma {pragma}")
            yield connection
    except sqlite3.Error as error:
        raise _store_error(error, str(path)) from error
