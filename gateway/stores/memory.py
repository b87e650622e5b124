"""What tools keep for a conversation, in SQL: one text for every database. The table is in ``schema``."""

from gateway.stores.database import Database, Row

READ = "select name, body from gw_memory where conv = $1 order by name"

KEEP = """
insert into gw_memory(conv, name, body) values($1, $2, $3) on conflict(conv, name) do update set body = excluded.body"""

DROP = "delete from gw_memory where conv = $1 and name = $2"


class SqlMemory:
    """A ``Memory`` on any SQL database that has the mailbox's tables."""

    def __init__(self, database: Database, conversation: str) -> None:
        self._database = database
        self._conversation = conversation

    async def texts(self) -> dict[str, str]:
        """All of them; see ``Memory``."""
        (rows,) = await self._transaction(READ) or ([],)
        return dict(map(tuple, rows))

    async def keep(self, name: str, text: str | None) -> None:
        """Keep a text, or none any more; see ``Memory``."""
        await (self._transaction(DROP, name) if text is None else self._transaction(KEEP, name, text))

    async def _transaction(self, sql: str, *parameters: str) -> list[list[Row]] | None:
        statement = self._database.dialect.statement(sql, self._conversation, *parameters)
        return await self._database.transaction([statement])
