"""Approvals and what is allowed for good, in SQL: one text for every database. The tables are in ``schema``.

Rule 1: an approval changes only while it is open, and its state alone says so: time that is over counts once
        ``expire`` has seen it.
Rule 2: a permission is given by the transaction that decides, not by what it leaves: a later press cannot give again
        what was revoked since.
Rule 3: a message that was closed or stopped has nothing to decide any more.
"""

from collections.abc import Callable

from gateway.store import Approval, Grant
from gateway.stores.database import Database, Row
from gateway.stores.ownership import LOCK_KNOWN, SETTLE

# A stop may have come while it was about to ask (rule 3).
ASK = """
insert into gw_approval(id, conv, event, call, tool, asker, may_stand, asked, expires, state)
select $1, $2, seq, $4, $5, $6, $7, {now}, {now} + $8, case when stopped = 1 then 'withdrawn' else 'open' end
from gw_event where seq = $3
on conflict do nothing"""

WITHDRAW = "update gw_approval set state = 'withdrawn' where id = $1 and event = $2 and state = 'open'"

WITHDRAW_ALL = "update gw_approval set state = 'withdrawn' where event = $1 and state = 'open'"

# The first decision counts (rule 1). `decided` is the number of the event that brought it.
DECIDE = """
update gw_approval set state = $3, person = $4, standing = case when may_stand = 1 then $5 else 0 end,
    decided = (select seq from gw_event where id = $6)
where id = $1 and conv = $2 and state = 'open' returning id"""

# Behind the decision of the same event, and only for it (rule 2).
GIVE = """
insert into gw_grant(conv, tool, person, given)
select conv, tool, person, {now} from gw_approval
where id = $1 and standing = 1 and decided = (select seq from gw_event where id = $2)
on conflict do nothing"""

# What a stop and a `new` do to what waits.
END = """
update gw_approval set state = $2, person = $3, decided = (select seq from gw_event where id = $4)
where seq in (select seq from gw_waiting where conv = $1)"""

REVOKE_ALL = "delete from gw_grant where conv = $1"

# Whoever is the first to queue behind it learns of it, nobody else.
TELL = """
update gw_approval set told = 1
where told = 0 and seq = (select min(seq) from gw_waiting where conv = $1)
returning id, conv, call, tool, asker, state, person, may_stand, standing"""

READ_OF_OLDEST = """
select id, conv, call, tool, asker, state, person, may_stand, standing
from gw_approval where event = (select min(seq) from gw_open where conv = $1) order by seq"""

READ_ALLOWED = "select tool from gw_grant where conv = $1 order by tool"

FIND = "select id, conv, call, tool, asker, state, person, may_stand, standing from gw_approval where id = $1"

READ_WAITING = """
select id, conv, call, tool, asker, state, person, may_stand, standing
from gw_approval where seq in (select seq from gw_waiting where conv = $1) order by seq"""

READ_GRANTS = "select conv, tool, person from gw_grant where conv = $1 order by tool"

REVOKE = "delete from gw_grant where conv = $1 and tool = $2 returning tool"

READ_OVER = "select distinct conv from gw_approval where state = 'open' and expires <= {now} order by conv"

EXPIRE = "update gw_approval set state = 'expired' where conv = $1 and state = 'open' and expires <= {now}"

NEXT = "select min(expires) - {now} from gw_approval where state = 'open'"


class SqlApprovals:
    """``Approvals`` on any SQL database that has the mailbox's tables.

    Args:
        database: holds them.
        wake: called where a conversation may have become due.
    """

    def __init__(self, database: Database, wake: Callable[[], None]) -> None:
        self._database = database
        self._wake = wake

    async def find(self, approval_id: str) -> Approval | None:
        """The approval of that id; see ``Approvals``."""
        (rows,) = await self._transaction((FIND, approval_id))
        return approval(rows[0]) if rows else None

    async def open(self, conversation: str) -> list[Approval]:
        """Those on which a conversation waits; see ``Approvals``."""
        (rows,) = await self._transaction((READ_WAITING, conversation))
        return [approval(row) for row in rows]

    async def grants(self, conversation: str) -> list[Grant]:
        """What is allowed there for good; see ``Approvals``."""
        (rows,) = await self._transaction((READ_GRANTS, conversation))
        return [Grant(conversation=place, tool_name=tool, by=person) for place, tool, person in rows]

    async def revoke(self, conversation: str, tool_name: str) -> bool:
        """Allow it no more; see ``Approvals``."""
        (rows,) = await self._transaction((REVOKE, conversation, tool_name))
        return bool(rows)

    async def expire(self) -> float | None:
        """Let those expire whose time is over; see ``Approvals``.

        A transaction a conversation, so that each takes its one row first; what a cancelled caller has left is done by
        the next one.
        """
        (over,) = await self._transaction((READ_OVER,))
        try:
            for (place,) in over:
                await self._transaction((LOCK_KNOWN, place), (EXPIRE, place), (SETTLE, place))
        finally:
            if over:
                self._wake()
        (((left,),),) = await self._transaction((NEXT,))
        return None if left is None else max(0.0, left)

    async def _transaction(self, *statements: tuple[str, *tuple[str, ...]]) -> list[list[Row]]:
        dialect = self._database.dialect
        return await self._database.transaction([dialect.statement(*statement) for statement in statements]) or []


def approval(row: Row) -> Approval:
    """The approval that a row says."""
    name, place, call, tool, asker, state, person, may_stand, standing = row
    return Approval(
        id=name,
        conversation=place,
        tool_use_id=call,
        tool_name=tool,
        asker=asker,
        state=state,
        by=person,
        may_stand=bool(may_stand),
        standing=bool(standing),
    )
