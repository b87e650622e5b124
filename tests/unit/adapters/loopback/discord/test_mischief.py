from dataclasses import dataclass, field

import pytest

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord.history import History
from adapters.loopback.discord.message import Content, Message
from adapters.loopback.discord.mischief import SPARED
from adapters.loopback.discord.route import ROUTES
from adapters.loopback.discord.snowflake import Snowflakes
from adapters.loopback.fault import Failure, Fate, FaultPlan
from adapters.loopback.mischief import Mischief


class Fixed(Chance):
    """What is in store is said beforehand."""

    def __init__(self, *happenings: Happening | None, status: int = 503) -> None:
        super().__init__(0, ("0",))
        self._happenings = happenings
        self._status = status

    def fate(self, method: str, number: int) -> Fate:
        return Fate(failure=Failure(error="0", status=self._status)) if number == 1 else Fate()

    def happening(self, number: int) -> Happening | None:
        return self._happenings[number] if number < len(self._happenings) else None


@dataclass
class Discord:
    """What a mischief has its way with."""

    faults: FaultPlan = field(default_factory=FaultPlan)
    dropped: int = 0
    closed: list[float] = field(default_factory=list[float])
    history: History = field(init=False)

    def __post_init__(self) -> None:
        clock = PlatformClock()
        self.history = History(clock, Snowflakes(clock), lambda _: None, "bot")

    def messages(self) -> list[Message]:
        return list(self.history.messages())

    def drop(self) -> None:
        self.dropped += 1

    def mischief(self, chance: Chance) -> Mischief[Message]:
        return Mischief(
            chance=chance,
            faults=self.faults,
            spared=SPARED,
            messages=self.messages,
            delete=self.history.delete,
            drop=self.drop,
            close_doors=self.closed.append,
        )


def happening(mishap: Mishap, which: float = 0.0) -> Happening:
    return Happening(mishap=mishap, which=which, seconds=0.1)


@pytest.mark.parametrize(("planned", "answered"), [(503, 503), (200, 500), (0, 0), (429, 429)])
def test_a_call_has_the_fate_of_its_number_and_never_fails_with_200(planned: int, answered: int) -> None:
    discord = Discord()
    mischief = discord.mischief(Fixed(status=planned))
    found: list[int | None] = []
    for route in ("edit", "post", "edit", "post", "post"):
        mischief.arrived(route)
        failure = discord.faults.take(route).failure
        found.append(None if failure is None else failure.status)
    assert found == [None, None, answered, answered, None]


def test_messages_are_deleted_sockets_dropped_and_doors_closed() -> None:
    discord = Discord()
    mishaps = [happening(Mishap.OLDER_DELETED, 0.6), happening(Mishap.NEWEST_DELETED)]
    mischief = discord.mischief(
        Fixed(*mishaps, happening(Mishap.SOCKETS_DROPPED), happening(Mishap.OUTAGE), mishaps[1])
    )
    for text in ("one", "two", "three", "four"):
        discord.history.post(channel="1", user="bot", content=Content(text=text))
    for _ in range(4):
        mischief.arrived("post")
    assert [message.text for message in mischief.taken] == ["two", "four"]
    assert [message.text for message in discord.messages()] == ["one", "three"]
    assert (discord.dropped, discord.closed) == (1, [0.1])


def test_where_nothing_stands_nothing_is_deleted() -> None:
    discord = Discord()
    mischief = discord.mischief(Fixed(happening(Mishap.NEWEST_DELETED), happening(Mishap.OLDER_DELETED)))
    for _ in range(2):
        mischief.arrived("post")
    assert mischief.taken == []


def test_who_logs_in_is_spared_and_so_is_everybody_when_it_is_over() -> None:
    discord = Discord()
    mischief = discord.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED)))
    assert ROUTES.keys() >= SPARED
    for route in SPARED:
        mischief.arrived(route)
    mischief.over = True
    mischief.arrived("post")
    assert discord.dropped == 0
