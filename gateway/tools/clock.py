"""The tool ``clock``: what time it is, somewhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import ConfigDict, Field

from gateway.error import DragomanError
from gateway.event import JsonObject
from gateway.tool import Context, Tool, User
from gateway.tools.form import Form

# Not by strftime: its names are those of the machine's language.
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

HOW = "Write it as in the IANA database, such as Europe/Berlin, America/New_York, Asia/Tokyo or UTC."


class ZoneError(DragomanError):
    """There is no such time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the time is asked for."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    time_zone: Annotated[str, Field(description=f"The time zone. {HOW}")] = "UTC"


FORM = Form(Place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """See ``gateway.tool.Tool``. ``now`` is the time anywhere, with its zone."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    name: str = "clock"
    description: str = "Tells the date, the day of the week and the time, now, in a time zone."
    cascades: bool = False
    time_limit: float | None = None

    @property
    def input_schema(self) -> JsonObject:
        """See ``gateway.tool.Tool``."""
        return FORM.schema

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the contract's name
        """See ``gateway.tool.Tool``."""
        return FORM.problem(input)

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Everybody."""
        del user, input
        return True

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Always: it changes nothing."""
        del input
        return True

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Never."""
        del user, input
        return False

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - the contract's name
        """The time there.

        Raises:
            ZoneError: there is no such zone; says how one is written.
        """
        del context
        name = FORM.read(input).time_zone
        there = self.now().astimezone(_zone(name))
        offset = (there.utcoffset() or timedelta()) // timedelta(minutes=1)
        hours, minutes = divmod(abs(offset), 60)
        sign = "-" if offset < 0 else "+"
        return f"{DAYS[there.weekday()]}, {there:%Y-%m-%d %H:%M:%S} in {name} (UTC{sign}{hours:02}:{minutes:02})"


def create() -> Sequence[Tool]:
    """The tool."""
    return (Clock(),)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC  # also on a machine without the database
    known = _zones()
    if name in known:
        return ZoneInfo(name)
    if not known:
        msg = f"This machine has no database of time zones, so that {name!r} is not known; ask for UTC."
        raise ZoneError(msg)
    meant = _meant(name, known)
    msg = f"There is no time zone {name!r}{f'; did you mean {meant}?' if meant else '.'} {HOW}"
    raise ZoneError(msg)


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _meant(name: str, known: frozenset[str]) -> str | None:
    """The zone that was probably meant: another case, a city alone, a letter wrong."""
    wanted = name[:64].strip().replace(" ", "_").casefold()
    folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    cities = {each.rpartition("/")[2]: each for each in folded}
    if wanted in folded or wanted in cities:
        return folded[wanted if wanted in folded else cities[wanted]]
    near = get_close_matches(wanted, folded, n=1, cutoff=0.75)
    return folded[near[0]] if near else None
