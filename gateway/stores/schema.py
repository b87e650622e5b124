"""The tables of the mailbox, and the steps from each version of them to the next. README.md explains them."""

from gateway.error import StoreError
from gateway.stores.database import Database

# Each entry takes the schema one version further; what was released is never edited.
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
    (
        "alter table gw_event add column waited int not null default 0",
        "alter table gw_event add column stopped int not null default 0",
        "alter table gw_conv add column begun bigint not null default 0",
        """create table gw_journal(
            event bigint not null, number int not null, body text not null, primary key(event, number))""",
        "create index gw_event_command on gw_event(seq) where kind = 'command_received' and done is null",
        # What a conversation has to do. Commands are open events too, and never among these.
        """create view gw_open as
            select seq, conv from gw_event where kind = 'message_received' and done is null""",
        # And of these, what nobody has begun to do: a postponed attempt does not count, but what it has written does.
        """create view gw_fresh as
            select seq, conv, message from gw_event where kind = 'message_received' and done is null and attempts = 0
            and not exists(select 1 from gw_journal where event = gw_event.seq)
            and not exists(select 1 from gw_history where conv = gw_event.conv and event = gw_event.seq)""",
    ),
    (
        "alter table gw_event add column ticket text",
        "alter table gw_event add column expires double precision",
        "create index gw_event_expires on gw_event(expires) where expires is not null",
        """create table gw_pairing(
            platform text not null, account text not null, person text not null, code text unique,
            expires double precision, paired double precision, primary key(platform, account, person))""",
    ),
    (
        """create table gw_approval(
            seq {serial}, id text not null unique, conv text not null, event bigint not null, call text not null,
            tool text not null, asker text not null, state text not null, person text, may_stand int not null,
            standing int not null default 0, asked double precision not null, expires double precision,
            told int not null default 0, decided bigint)""",
        "create index gw_approval_event on gw_approval(event, seq)",
        "create index gw_approval_open on gw_approval(conv, seq) where state = 'open'",
        "create index gw_approval_expires on gw_approval(expires) where state = 'open'",
        """create table gw_grant(
            conv text not null, tool text not null, person text not null, given double precision not null,
            primary key(conv, tool))""",
        """create table gw_memory(
            conv text not null, name text not null, body text not null, primary key(conv, name))""",
        # On what a conversation waits: the open approvals of its run.
        """create view gw_waiting as
            select seq, conv from gw_approval where state = 'open'
            and event = (select min(seq) from gw_open where gw_open.conv = gw_approval.conv)""",
        # Whoever has asked has begun, though a parked attempt does not count.
        "drop view gw_fresh",
        """create view gw_fresh as
            select seq, conv, message from gw_event where kind = 'message_received' and done is null and attempts = 0
            and not exists(select 1 from gw_journal where event = gw_event.seq)
            and not exists(select 1 from gw_history where conv = gw_event.conv and event = gw_event.seq)
            and not exists(select 1 from gw_approval where event = gw_event.seq)""",
    ),
)

# The one table that every version has.
CREATE_META = "create table if not exists gw_meta(key text primary key, value text not null)"

READ_SCHEMA = "select value from gw_meta where key = 'schema'"

WRITE_SCHEMA = """
insert into gw_meta(key, value) values('schema', $1) on conflict(key) do update set value = excluded.value"""


async def migrate(database: Database) -> None:
    """Bring the tables up to date, making them where there are none, in one transaction.

    Raises:
        StoreError: the database refuses, or its schema is newer than this program.
    """
    version = await _version(database)
    if version < len(MIGRATIONS):
        steps = [database.dialect.statement(sql) for step in MIGRATIONS[version:] for sql in step]
        written = database.dialect.statement(WRITE_SCHEMA, str(len(MIGRATIONS)))
        await database.transaction([*steps, written])


async def require(database: Database) -> None:
    """Make sure that the tables are up to date, for whoever is a guest on them.

    Raises:
        StoreError: they are not, or the database refuses.
    """
    if await _version(database) < len(MIGRATIONS):
        msg = f"{database.name} is not yet as this version of Dragoman needs it: start `dragoman run` with it once"
        raise StoreError(msg)


async def _version(database: Database) -> int:
    """The version of the tables; 0 where there are none.

    Raises:
        StoreError: it is newer than this program, or the database refuses.
    """
    _, found = await database.transaction(list(map(database.dialect.statement, (CREATE_META, READ_SCHEMA)))) or ([], [])
    version = int(found[0][0]) if found else 0
    if version > len(MIGRATIONS):
        msg = (
            f"{database.name} has schema {version}, and this version of Dragoman knows {len(MIGRATIONS)} at most:"
            " update Dragoman, or configure another store"
        )
        raise StoreError(msg)
    return version
