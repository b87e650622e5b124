"""The mailbox in SQL: one text for every database, and the ``Store`` that speaks it.

Rule 1: a transaction is a list of statements without Python in between; a database runs it in one hop.
Rule 2: a transaction that opens or closes messages takes the conversation's row first. So within a conversation the
        order of ``seq`` is the order of commits, and a later statement of that transaction overlooks no message.
Rule 3: a write to an owned conversation stands behind a guard that names this node as the owner.
Rule 4: time is the database's; it stands in the SQL as ``{now}``.
"""

from collections.abc import Sequence
from typing import Self
from uuid import uuid4

import anyio.lowlevel

from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.inbound import Ignored, Inbound, MessageReceived, from_json, to_json
from gateway.store import Work
from gateway.stores.database import Database, Row, Statement

DEDUPE_SECONDS = 25 * 3600.0
"""How long a finished event is known at least: platforms deliver again for a day, and clocks differ."""

BATCH = 1000
"""How many events one transaction of ``prune`` forgets, so that nobody's acknowledgement waits for it."""

# Each entry takes the schema one version further; what was released is never edited. README.md explains the tables.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """create table gw_event(
            seq {serial}, id text not null unique, message text unique, conv text, kind text not null,
            body text not null, attempts int not null default 0, stored double precision not null,
            done double precision)""",
        "create index gw_event_open on gw_event(conv, seq) where done is null",
        "create index gw_event_done on gw_event(done) where done is not null",
        "create table gw_conv(id text primary key, due double precision, owner text)",
        "create index gw_conv_due on gw_conv(due, id) where due is not null and owner is null",
        "create index gw_conv_owner on gw_conv(owner) where owner is not null",
        "create table gw_node(id text primary key, until double precision)",
        "create table gw_history(seq {serial}, conv text not null, event bigint not null, body text not null)",
        "create index gw_history_conv on gw_history(conv, seq)",
    ),
)

# The one table that every version has.
CREATE_META = "create table if not exists gw_meta(key text primary key, value text not null)"

READ_SCHEMA = "select value from gw_meta where key = 'schema'"

WRITE_SCHEMA = """
insert into gw_meta(key, value) values('schema', $1) on conflict(key) do update set value = excluded.value"""

# One process, so every node of the past is dead. Several will delete only those whose `until` has passed.
BURY_NODES = "delete from gw_node"

# `until` stays null: that this node lives is shown by the lock that it holds, not by a heartbeat.
JOIN = "insert into gw_node(id) values($1)"

# After the dead are buried, not together with them: whatever else dies in between is freed by the next one.
FREE_ORPHANS = """
update gw_conv set owner = null
where owner is not null and not exists(select 1 from gw_node where gw_node.id = gw_conv.owner)"""

# The update changes nothing. It takes the row's lock before the message gets its number (rule 2).
LOCK = "insert into gw_conv(id) values($1) on conflict(id) do update set id = excluded.id"

# Known by either of its names: not stored, no row returned.
KEEP_MESSAGE = """
insert into gw_event(id, message, conv, kind, body, stored) values($1, $2, $3, $4, $5, {now})
on conflict do nothing returning seq"""

# Nobody's work: done as soon as it is stored, and in no conversation.
KEEP_IGNORED = """
insert into gw_event(id, kind, body, stored, done) values($1, $2, $3, {now}, {now})
on conflict do nothing returning seq"""

# A conversation is due since its first wish to be; idle where nothing is open. Needs the row's lock (rule 2).
SETTLE = """
update gw_conv set due =
    case when exists(select 1 from gw_event where conv = $1 and done is null) then coalesce(due, {now}) end
where id = $1 returning due"""

# `due` stays, so that a conversation whose owner dies goes back to its old place in the line.
CLAIM = """
update gw_conv set owner = $1 where id in (
    select id from gw_conv where due is not null and owner is null order by due, id limit $2 {skip_locked})
returning id, due"""

# Guard: ours, and locked until the commit.
HOLD = "update gw_conv set owner = owner where id = $1 and owner = $2 returning id"

# Guard: ours until now. It goes to the end of the line.
FREE = "update gw_conv set owner = null, due = null where id = $1 and owner = $2 returning id"

# Counted before the work, so that a message which kills its process is known by its attempts.
ATTEMPT = """
update gw_event set attempts = attempts + 1
where seq = (select min(seq) from gw_event where conv = $1 and done is null) returning seq, body, attempts"""

# Guard: still open.
UNCOUNT = "update gw_event set attempts = attempts - 1 where seq = $1 and conv = $2 and done is null returning seq"

COUNT_OPEN_HERE = "select count(*) from gw_event where conv = $1 and done is null"

READ_HISTORY = "select body from gw_history where conv = $1 order by seq"

# Guard: still open. A message is finished once.
CLOSE = "update gw_event set done = {now} where seq = $1 and conv = $2 and done is null returning seq"

APPEND = "insert into gw_history(conv, event, body) values($1, $2, $3)"

COUNT_OPEN = "select count(*) from gw_event where done is null"

PRUNE = """
delete from gw_event where seq in (select seq from gw_event where done < {now} - $1 limit $2) returning seq"""


class Mailbox:
    """A ``Store`` on any SQL database. The node's id is made anew at each opening and fences off the ones before."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._node = uuid4().hex
        self._may_be_due = True
        self._woken = anyio.Event()

    @classmethod
    async def open(cls, database: Database) -> Self:
        """Bring the schema up to date, and free what the dead left behind.

        Raises:
            StoreError: the database refuses, or its schema is newer than this program.
        """
        mailbox = cls(database)
        await mailbox._migrate()
        await mailbox._transaction(
            mailbox._statement(BURY_NODES), mailbox._statement(JOIN, mailbox._node), mailbox._statement(FREE_ORPHANS)
        )
        return mailbox

    async def ingest(self, inbound: Inbound) -> bool:
        """Keep what arrived; see ``Store``."""
        body = _body(inbound)
        match inbound:
            case MessageReceived(event_id=event_id, message_id=message_id, address=address):
                _, stored, _ = await self._transaction(
                    self._statement(LOCK, address.key),
                    self._statement(KEEP_MESSAGE, event_id, message_id, address.key, inbound.type, body),
                    self._statement(SETTLE, address.key),
                )
                if stored:
                    self._wake()
            case Ignored(event_id=event_id):
                (stored,) = await self._transaction(self._statement(KEEP_IGNORED, event_id, inbound.type, body))
        return bool(stored)

    async def claim(self, limit: int) -> list[str]:
        """Become the owner of what is due; see ``Store``."""
        if limit < 1:
            return []
        self._may_be_due = False
        (rows,) = await self._transaction(self._statement(CLAIM, self._node, limit))
        if len(rows) == limit:
            self._wake()
        return [conversation for conversation, _ in sorted(rows, key=lambda row: (row[1], row[0]))]

    async def load(self, conversation: str) -> Work | None:
        """What to do in a conversation of ours; see ``Store``."""
        _, oldest, (open_here,), history = await self._guarded(
            conversation,
            self._guard(HOLD, conversation, self._node),
            self._statement(ATTEMPT, conversation),
            self._statement(COUNT_OPEN_HERE, conversation),
            self._statement(READ_HISTORY, conversation),
        )
        if not oldest:
            return None
        sequence, body, attempt = oldest[0]
        return Work(
            conversation=conversation,
            sequence=sequence,
            message=_message(sequence, body),
            attempt=attempt,
            waiting=open_here[0] - 1,
            history=tuple(entry for (entry,) in history),
        )

    async def finish(self, work: Work, entries: Sequence[str]) -> None:
        """Append, close and give back; see ``Store``."""
        await self._give_back(
            work.conversation,
            self._guard(CLOSE, work.sequence, work.conversation),
            *(self._statement(APPEND, work.conversation, work.sequence, entry) for entry in entries),
        )

    async def reject(self, conversation: str, sequence: int) -> None:
        """Close what cannot be read; see ``Store``."""
        await self._give_back(conversation, self._guard(CLOSE, sequence, conversation))

    async def postpone(self, work: Work) -> None:
        """Give back, and take the attempt back; see ``Store``."""
        await self._give_back(work.conversation, self._guard(UNCOUNT, work.sequence, work.conversation))

    async def release(self, conversation: str) -> None:
        """Give a conversation back as it is; see ``Store``."""
        await self._give_back(conversation)

    async def open_messages(self) -> int:
        """How many messages are not finished; see ``Store``."""
        ((row,),) = await self._transaction(self._statement(COUNT_OPEN))
        return row[0]

    async def wait_due(self) -> None:
        """Wait for something to claim; see ``Store``."""
        await anyio.lowlevel.checkpoint()
        while not self._may_be_due:
            await self._woken.wait()

    async def prune(self, older_than: float) -> int:
        """Forget old finished events; see ``Store``. The age counts from when they were finished.

        Raises:
            ValueError: less than 25 hours, in which a platform may deliver the event again.
        """
        if not older_than >= DEDUPE_SECONDS:  # "not", so that a NaN is refused too
            msg = f"events must be known for {DEDUPE_SECONDS:.0f} seconds at least, not {older_than}"
            raise ValueError(msg)
        pruned = 0
        while True:
            (rows,) = await self._transaction(self._statement(PRUNE, float(older_than), BATCH))
            pruned += len(rows)
            if len(rows) < BATCH:
                return pruned

    async def _migrate(self) -> None:
        _, found = await self._transaction(self._statement(CREATE_META), self._statement(READ_SCHEMA))
        version, newest = int(found[0][0]) if found else 0, len(MIGRATIONS)
        if version > newest:
            msg = (
                f"{self._database.name} has schema {version}, and this version of Dragoman knows {newest} at most:"
                " update Dragoman, or configure another store"
            )
            raise StoreError(msg)
        if version < newest:
            steps = [self._statement(sql) for step in MIGRATIONS[version:] for sql in step]
            await self._transaction(*steps, self._statement(WRITE_SCHEMA, str(newest)))

    def _wake(self) -> None:
        self._may_be_due = True
        self._woken.set()
        self._woken = anyio.Event()

    def _statement(self, sql: str, *parameters: str | float | None, guard: bool = False) -> Statement:
        dialect = self._database.dialect
        text = sql.format(serial=dialect.serial, now=dialect.now, skip_locked=dialect.skip_locked)
        return Statement(sql=text, parameters=parameters, guard=guard)

    def _guard(self, sql: str, *parameters: str | float | None) -> Statement:
        return self._statement(sql, *parameters, guard=True)

    async def _give_back(self, conversation: str, *statements: Statement) -> None:
        *_, ((due,),) = await self._guarded(
            conversation,
            self._guard(FREE, conversation, self._node),
            *statements,
            self._statement(SETTLE, conversation),
        )
        if due is not None:
            self._wake()

    async def _guarded(self, conversation: str, *statements: Statement) -> list[list[Row]]:
        rows = await self._run(statements)
        if rows is None:
            msg = f"{conversation} is not this process's any more: stop working on it, its owner goes on"
            raise OwnershipLostError(msg)
        return rows

    async def _transaction(self, *statements: Statement) -> list[list[Row]]:
        return await self._run(statements) or []

    async def _run(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        try:
            return await self._database.transaction(statements)
        except BaseException:
            # Whatever this was to do is still to be done; or it was cancelled, and is done all the same.
            self._wake()
            raise


def _body(inbound: Inbound) -> str:
    try:
        return to_json(inbound)
    except ValueError as error:
        msg = f"{inbound.event_id!r} was not stored, it is not valid Unicode: {error}"
        raise StoreError(msg) from error


def _message(sequence: int, body: str) -> MessageReceived:
    try:
        inbound = from_json(body)
    except ValueError as error:
        msg = f"event {sequence} cannot be read, another version of Dragoman wrote it: {error}"
        raise UnreadableError(msg, sequence) from error
    if not isinstance(inbound, MessageReceived):
        msg = f"event {sequence} is no message but {inbound.type}"
        raise UnreadableError(msg, sequence)
    return inbound
