"""Who is let in beside the configuration, in SQL: one text for every database. The table is in ``schema``.

A row is a person: with a code, or let in. What is decided on is read by the statement that acts on it, so that a
gateway and an operator's command beside it need no other lock. Time is the database's, as in ``mailbox``.
"""

from gateway.store import Pairing, Person
from gateway.stores.database import Database, Row

FORGET_CODES = "delete from gw_pairing where expires <= {now}"

# Nothing where the account's places are taken, another has this code, or the person is known.
OFFER = """
insert into gw_pairing(platform, account, person, code, expires) select $1, $2, $3, $4, {now} + $5
where (select count(*) from gw_pairing where platform = $1 and account = $2 and code is not null) < $6
on conflict do nothing"""

READ_CODE = "select code from gw_pairing where platform = $1 and account = $2 and person = $3 and code is not null"

FIND_PAIRED = "select 1 from gw_pairing where platform = $1 and account = $2 and person = $3 and paired is not null"

CONFIRM = """
update gw_pairing set code = null, expires = null, paired = {now} where code = $1 and expires > {now}
returning platform, account, person"""

READ_ALL = """
select platform, account, person, code, case when code is null then {now} - paired else expires - {now} end
from gw_pairing where code is null or expires > {now} order by code is null, platform, account, person"""

REVOKE = "delete from gw_pairing where platform = $1 and person = $2 returning platform, account, person"


class SqlPairings:
    """``Pairings`` on any SQL database that has the mailbox's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def offer(self, person: Person, code: str, *, lifetime: float, most: int) -> str | None:
        """The code of a person; see ``Pairings``."""
        who = (person.platform, person.account, person.user)
        *_, found = await self._transaction((FORGET_CODES,), (OFFER, *who, code, lifetime, most), (READ_CODE, *who))
        return found[0][0] if found else None

    async def has(self, person: Person) -> bool:
        """Whether a person is let in; see ``Pairings``."""
        (found,) = await self._transaction((FIND_PAIRED, person.platform, person.account, person.user))
        return bool(found)

    async def confirm(self, code: str) -> Person | None:
        """Let in whose code this is; see ``Pairings``."""
        (found,) = await self._transaction((CONFIRM, code))
        return _person(found[0]) if found else None

    async def everyone(self) -> list[Pairing]:
        """All that is known; see ``Pairings``."""
        (rows,) = await self._transaction((READ_ALL,))
        return [Pairing(person=_person(row), code=row[3], seconds=max(0.0, row[4])) for row in rows]

    async def revoke(self, platform: str, user: str) -> list[Person]:
        """Let a user in no more; see ``Pairings``."""
        (rows,) = await self._transaction((REVOKE, platform, user))
        return sorted(map(_person, rows), key=lambda person: person.account)

    async def _transaction(self, *statements: tuple[str, *tuple[str | float, ...]]) -> list[list[Row]]:
        dialect = self._database.dialect
        return await self._database.transaction([dialect.statement(*statement) for statement in statements]) or []


def _person(row: Row) -> Person:
    platform, account, user, *_ = row
    return Person(platform=platform, account=account, user=user)
