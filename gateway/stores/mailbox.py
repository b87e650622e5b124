"""The mailbox in SQL: one text for every database, and the ``Store`` that speaks it; its tables are in ``schema``.

Rule 1: a transaction is a list of statements without Python in between; a database runs it in one hop.
Rule 2: a transaction that opens, changes or closes messages takes the conversation's row first. So within a
        conversation the order of ``seq`` is the order of commits, and a later statement overlooks no message.
Rule 3: a write to an owned conversation stands behind a guard that names this node as the owner (``ownership``).
Rule 4: time is the database's; it stands in the SQL as ``{now}``.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self
from uuid import uuid4

import anyio.lowlevel

from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.inbound import (
    CommandReceived,
    Ignored,
    Inbound,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    PressReceived,
    from_json,
    to_json,
)
from gateway.store import Approval, Decision, Stored, Work
from gateway.stores import approval, ownership, ticket
from gateway.stores.approval import ASK, SqlApprovals
from gateway.stores.database import Database, Row, Statement
from gateway.stores.memory import SqlMemory
from gateway.stores.pairing import SqlPairings
from gateway.stores.schema import migrate

log = logging.getLogger(__name__)

DEDUPE_SECONDS = 25 * 3600.0
"""How long a finished event is known at least: platforms deliver again for a day, and clocks differ."""

BATCH = 1000
"""How many events one transaction of ``prune`` forgets, so that nobody's acknowledgement waits for it."""

# Guard: new. Only messages and commands stay open; whatever else came has had its effect with this transaction.
KEEP = """
insert into gw_event(id, message, conv, kind, body, ticket, expires, stored, done, waited)
values($1, $2, $3, $4, $5, $6, {now} + $7, {now},
    case when $4 in ('message_received', 'command_received') then null else {now} end,
    case when exists(select 1 from gw_open where conv = $3) then 1 else 0 end)
on conflict do nothing returning seq, waited"""

CHANGE = """
update gw_event set body = $3 where seq in (select seq from gw_fresh where conv = $1 and message = $2) returning seq"""

# What a person took back is known by its names alone.
RETRACT = """
update gw_event set body = '', done = {now}, ticket = null, expires = null
where seq in (select seq from gw_fresh where conv = $1 and message = $2) returning seq"""

STOP = "update gw_event set stopped = 1 where seq = (select min(seq) from gw_open where conv = $1)"

# The history begins behind the command. It stays where it is; what was open before finishes into the part left behind.
BEGIN = "update gw_conv set begun = (select seq from gw_event where id = $2) where id = $1"

# Counted before the work, so that a message which kills its process is known by its attempts.
ATTEMPT = """
update gw_event set attempts = attempts + 1 where seq = (select min(seq) from gw_open where conv = $1)
returning seq, body, case when expires > {now} then ticket end, attempts, stopped, waited, {now} - stored"""

# Guard: still open.
UNCOUNT = """
update gw_event set attempts = attempts - 1
where seq in (select seq from gw_open where seq = $1 and conv = $2) returning seq"""

COUNT_OPEN_HERE = "select count(*) from gw_open where conv = $1"

# From `begun` on, and what an earlier attempt has said about the oldest open message, which may be older than that.
READ_HISTORY = """
select event, body from gw_history where conv = $1 and (
    event > (select begun from gw_conv where id = $1) or event = (select min(seq) from gw_open where conv = $1))
order by seq"""

READ_JOURNAL = """
select body from gw_journal where event = (select min(seq) from gw_open where conv = $1) order by number"""

# Guard: still open.
FIND_OPEN = "select seq from gw_open where seq = $1 and conv = $2"

RECORD = """
insert into gw_journal(event, number, body) values($1, $2, $3)
on conflict(event, number) do update set body = excluded.body"""

# Guard: still open. A message is finished once.
CLOSE = """
update gw_event set done = {now}, ticket = null, expires = null
where seq in (select seq from gw_open where seq = $1 and conv = $2) returning seq"""

APPEND = "insert into gw_history(conv, event, body) values($1, $2, $3)"

READ_COMMANDS = """
select seq, body, case when expires > {now} then ticket end from gw_event
where kind = 'command_received' and done is null order by seq"""

CLOSE_COMMAND = """
update gw_event set done = {now}, ticket = null, expires = null
where seq = $1 and kind = 'command_received' and done is null"""

# Ordered, so that all three statements find the same events; one that grew old between them waits for the next batch.
PRUNE_JOURNAL = """
delete from gw_journal where event in (select seq from gw_event where done < {now} - $1 order by done, seq limit $2)"""

PRUNE_APPROVALS = """
delete from gw_approval where event in (select seq from gw_event where done < {now} - $1 order by done, seq limit $2)"""

PRUNE = """
delete from gw_event where seq in (select seq from gw_event where done < {now} - $1 order by done, seq limit $2)
and not exists(select 1 from gw_journal where event = gw_event.seq)
and not exists(select 1 from gw_approval where event = gw_event.seq) returning seq"""


class Mailbox:
    """A ``Store`` on any SQL database. The node's id is made anew at each opening and fences off the ones before."""

    def __init__(self, database: Database) -> None:
        self.pairings = SqlPairings(database)
        self.approvals = SqlApprovals(database, self._wake)
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
        await migrate(database)
        mailbox = cls(database)
        await mailbox._transaction(
            mailbox._statement(ownership.BURY_NODES),
            mailbox._statement(ownership.JOIN, mailbox._node),
            mailbox._statement(ownership.FREE_ORPHANS),
        )
        return mailbox

    def memory(self, conversation: str) -> SqlMemory:
        """What tools keep for a conversation; see ``Store``."""
        return SqlMemory(self._database, conversation)

    async def ingest(self, inbound: Inbound, decision: Decision | None = None) -> Stored | None:
        """Keep what arrived, with its effect; see ``Store``."""
        message, place = _names(inbound)
        lock = ownership.LOCK if isinstance(inbound, MessageReceived) else ownership.LOCK_KNOWN
        rows = await self._run(
            [
                self._statement(lock, place),
                self._guard(KEEP, inbound.event_id, message, place, inbound.type, *_written(_trace(inbound))),
                *self._effects(inbound, decision, place),
                self._statement(ownership.SETTLE, place),
            ]
        )
        if rows is None:
            return None
        _, ((sequence, waited),), *effects, settled = rows
        self._wake_if_due(settled)
        said = effects[0] if effects else []
        match inbound:
            case MessageReceived():
                asked = approval.approval(said[0]) if said else None
                return Stored(sequence=sequence, behind=bool(waited), asked=asked)
            case MessageEdited() | MessageDeleted():
                return Stored(sequence=sequence, behind=bool(said))
            case _:
                return Stored(sequence=sequence, behind=bool(waited), decided=decision is not None and bool(said))

    async def open_commands(self) -> list[tuple[int, CommandReceived]]:
        """The commands that nobody has answered; see ``Store``."""
        (rows,) = await self._transaction(self._statement(READ_COMMANDS))
        commands = [(sequence, _command(sequence, body, held)) for sequence, body, held in rows]
        return [(sequence, command) for sequence, command in commands if command is not None]

    async def close(self, sequence: int) -> None:
        """A command was answered; see ``Store``."""
        await self._transaction(self._statement(CLOSE_COMMAND, sequence))

    async def claim(self, limit: int) -> list[str]:
        """Become the owner of what is due; see ``Store``."""
        if limit < 1:
            return []
        self._may_be_due = False
        (rows,) = await self._transaction(self._statement(ownership.CLAIM, self._node, limit))
        if len(rows) == limit:
            self._wake()
        return [conversation for conversation, _ in sorted(rows, key=lambda row: (row[1], row[0]))]

    async def load(self, conversation: str) -> Work | None:
        """What to do in a conversation of ours; see ``Store``."""
        _, oldest, said, journal, asked, allowed = await self._guarded(
            conversation,
            self._guard(ownership.HOLD, conversation, self._node),
            self._statement(ATTEMPT, conversation),
            self._statement(READ_HISTORY, conversation),
            self._statement(READ_JOURNAL, conversation),
            self._statement(approval.READ_OF_OLDEST, conversation),
            self._statement(approval.READ_ALLOWED, conversation),
        )
        if not oldest:
            return None
        sequence, body, held, attempt, stopped, waited, age = oldest[0]
        return Work(
            conversation=conversation,
            sequence=sequence,
            message=_message(sequence, body, held),
            attempt=attempt,
            history=tuple(entry for event, entry in said if event != sequence),
            said=tuple(entry for event, entry in said if event == sequence),
            journal=tuple(line for (line,) in journal),
            stopped=bool(stopped),
            waited=bool(waited),
            age=max(0.0, age),
            approvals=tuple(map(approval.approval, asked)),
            grants=tuple(tool for (tool,) in allowed),
        )

    async def record(self, work: Work, lines: Mapping[int, str]) -> None:
        """Write lines of the journal; see ``Store``."""
        await self._add(work, (self._statement(RECORD, work.sequence, number, line) for number, line in lines.items()))

    async def append(self, work: Work, entries: Sequence[str]) -> None:
        """Append, and leave open; see ``Store``."""
        await self._add(work, self._appending(work, entries))

    async def ask(self, work: Work, approval: Approval, *, lifetime: float | None) -> None:
        """Keep an open approval; see ``Store``."""
        names = (approval.id, work.conversation, work.sequence, approval.tool_use_id, approval.tool_name)
        asking = self._statement(ASK, *names, approval.asker, int(approval.may_stand), lifetime)
        await self._add(work, [asking])

    async def withdraw(self, work: Work, approval_id: str) -> None:
        """There is nothing left to decide about it; see ``Store``."""
        await self._add(work, [self._statement(approval.WITHDRAW, approval_id, work.sequence)])

    async def park(self, work: Work) -> None:
        """Give back what waits for approval; see ``Store``."""
        await self._give_back(
            work.conversation, self._guard(UNCOUNT, work.sequence, work.conversation), by=ownership.PARK
        )

    async def waiting(self, conversation: str) -> int:
        """How many messages of a conversation are not finished; see ``Store``."""
        ((row,),) = await self._transaction(self._statement(COUNT_OPEN_HERE, conversation))
        return row[0]

    async def finish(self, work: Work, entries: Sequence[str]) -> None:
        """Append, close and give back; see ``Store``."""
        await self._give_back(
            work.conversation,
            *self._closing(work.conversation, work.sequence),
            *self._appending(work, entries),
        )

    async def reject(self, conversation: str, sequence: int) -> None:
        """Close what cannot be read; see ``Store``."""
        await self._give_back(conversation, *self._closing(conversation, sequence))

    async def postpone(self, work: Work) -> None:
        """Give back, and take the attempt back; see ``Store``."""
        await self._give_back(work.conversation, self._guard(UNCOUNT, work.sequence, work.conversation))

    async def release(self, conversation: str) -> None:
        """Give a conversation back as it is; see ``Store``."""
        await self._give_back(conversation)

    async def wait_due(self) -> None:
        """Wait for something to claim; see ``Store``."""
        await anyio.lowlevel.checkpoint()
        while not self._may_be_due:
            await self._woken.wait()

    async def forget_tickets(self) -> float | None:
        """Erase what has expired; see ``Store``."""
        _, ((left,),) = await self._transaction(self._statement(ticket.FORGET), self._statement(ticket.NEXT))
        return left

    async def prune(self, older_than: float) -> int:
        """Forget old finished events and what belongs to them; see ``Store``. The age counts from their end.

        Raises:
            ValueError: less than 25 hours, in which a platform may deliver the event again.
        """
        if not older_than >= DEDUPE_SECONDS:  # "not", so that a NaN is refused too
            msg = f"events must be known for {DEDUPE_SECONDS:.0f} seconds at least, not {older_than}"
            raise ValueError(msg)
        pruned = 0
        while True:
            *_, rows = await self._transaction(
                self._statement(PRUNE_JOURNAL, float(older_than), BATCH),
                self._statement(PRUNE_APPROVALS, float(older_than), BATCH),
                self._statement(PRUNE, float(older_than), BATCH),
            )
            pruned += len(rows)
            if len(rows) < BATCH:
                return pruned

    def _wake_if_due(self, settled: Sequence[Row]) -> None:
        if any(due is not None for (due,) in settled):
            self._wake()

    def _wake(self) -> None:
        self._may_be_due = True
        self._woken.set()
        self._woken = anyio.Event()

    def _statement(self, sql: str, *parameters: str | float | None, guard: bool = False) -> Statement:
        return self._database.dialect.statement(sql, *parameters, guard=guard)

    def _guard(self, sql: str, *parameters: str | float | None) -> Statement:
        return self._statement(sql, *parameters, guard=True)

    def _effects(self, inbound: Inbound, decision: Decision | None, place: str | None) -> list[Statement]:
        """What else a new inbound does, while its conversation is locked; what the first one returns is said of it."""
        match inbound:
            case MessageReceived():
                return [self._statement(approval.TELL, place)]
            case MessageEdited(message=message):
                return [self._statement(CHANGE, place, message.message_id, _written(message)[0])]
            case MessageDeleted(message_id=name):
                return [self._statement(RETRACT, place, name)]
            case CommandReceived(command="stop" | "new"):
                return self._ending(inbound, place)
            case PressReceived() | CommandReceived() if decision is not None:
                return self._deciding(inbound, decision, place)
            case PressReceived() | CommandReceived() | Ignored():
                return []

    def _ending(self, inbound: CommandReceived, place: str | None) -> list[Statement]:
        """What a stop does, and what ``new`` does beside that."""
        name, new = inbound.event_id, inbound.command == "new"
        state, person = ("denied", inbound.user) if new else ("withdrawn", None)
        ends = [self._statement(approval.END, place, state, person, name), self._statement(STOP, place)]
        begins = [self._statement(approval.REVOKE_ALL, place), self._statement(BEGIN, place, name)]
        return [*ends, *begins] if new else ends

    def _deciding(
        self, inbound: PressReceived | CommandReceived, decision: Decision, place: str | None
    ) -> list[Statement]:
        state = "approved" if decision.granted else "denied"
        standing = int(decision.granted and decision.standing)
        name, event = decision.approval_id, inbound.event_id
        return [
            self._statement(approval.DECIDE, name, place, state, inbound.user, standing, event),
            self._statement(approval.GIVE, name, event),
        ]

    def _closing(self, conversation: str, sequence: int) -> list[Statement]:
        return [
            self._guard(CLOSE, sequence, conversation),
            self._statement(approval.WITHDRAW_ALL, sequence),
        ]

    def _appending(self, work: Work, entries: Sequence[str]) -> list[Statement]:
        return [self._statement(APPEND, work.conversation, work.sequence, entry) for entry in entries]

    async def _add(self, work: Work, statements: Iterable[Statement]) -> None:
        await self._guarded(
            work.conversation,
            self._guard(ownership.HOLD, work.conversation, self._node),
            self._guard(FIND_OPEN, work.sequence, work.conversation),
            *statements,
        )

    async def _give_back(self, conversation: str, *statements: Statement, by: str = ownership.FREE) -> None:
        *_, settled = await self._guarded(
            conversation,
            self._guard(by, conversation, self._node),
            *statements,
            self._statement(ownership.SETTLE, conversation),
        )
        self._wake_if_due(settled)

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


def _names(inbound: Inbound) -> tuple[str | None, str | None]:
    """The message that an inbound is, and its conversation's key; none where there is none."""
    match inbound:
        case MessageReceived() | CommandReceived():
            return inbound.message_id, inbound.address.key
        case MessageEdited(message=message):
            return None, message.address.key
        case MessageDeleted() | PressReceived():
            return None, inbound.address.key
        case Ignored():
            return None, None


def _trace(inbound: Inbound) -> Inbound:
    """What is kept of an inbound: of an edit that there was one, since its text stands in the message from now on."""
    if isinstance(inbound, MessageEdited):
        return replace(inbound, message=replace(inbound.message, text=""))
    return inbound


def _written(inbound: Inbound) -> tuple[str, str | None, float | None]:
    """The body, and apart from it the ticket and for how many seconds it is kept."""
    try:
        return to_json(ticket.without(inbound)), *ticket.columns(inbound)
    except ValueError as error:
        msg = f"{inbound.event_id!r} was not stored, it is not valid Unicode: {error}"
        raise StoreError(msg) from error


def _message(sequence: int, body: str, held: str | None) -> MessageReceived:
    try:
        inbound = ticket.given_back(from_json(body), held)
    except ValueError as error:
        msg = f"event {sequence} cannot be read, another version of Dragoman wrote it: {error}"
        raise UnreadableError(msg, sequence) from error
    if not isinstance(inbound, MessageReceived):
        msg = f"event {sequence} is no message but {inbound.type}"
        raise UnreadableError(msg, sequence)
    return inbound


def _command(sequence: int, body: str, held: str | None) -> CommandReceived | None:
    """None where only another version of Dragoman can read it; it waits for that one, and holds up nobody."""
    try:
        inbound = ticket.given_back(from_json(body), held)
    except ValueError as error:
        log.warning("command %d cannot be read, another version of Dragoman wrote it: %s", sequence, error)
        return None
    return inbound if isinstance(inbound, CommandReceived) else None
