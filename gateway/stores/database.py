"""What a mailbox asks of a database: transactions, and the few pieces of SQL in which databases differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Row = Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What stands in SQL text as ``{serial}``, ``{now}`` and ``{skip_locked}``.

    ``serial`` is the type of a primary key that counts up and is never given twice; ``now`` the time in Unix seconds,
    where the statement runs; ``skip_locked`` what makes a ``select`` pass over rows that others have locked.
    """

    serial: str
    now: str
    skip_locked: str

    def statement(self, sql: str, *parameters: str | float | None, guard: bool = False) -> "Statement":
        """A statement of ours as this kind of database reads it."""
        text = sql.format(serial=self.serial, now=self.now, skip_locked=self.skip_locked)
        return Statement(sql=text, parameters=parameters, guard=guard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a transaction. A ``guard`` that returns no row undoes the whole transaction."""

    sql: str
    parameters: tuple[str | float | None, ...] = ()
    guard: bool = False


class Database(Protocol):
    """Tables, and transactions on them."""

    @property
    def name(self) -> str:
        """What a person calls it: a file, a server."""
        ...

    @property
    def dialect(self) -> Dialect:
        """Its kind of SQL."""
        ...

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        """The rows of each statement, committed for good; none where a guard found nothing, and nothing was changed.

        It is cancelled before it begins or not at all, so that no result is lost.

        Raises:
            StoreError: the database refused; nothing was changed.
        """
        ...
