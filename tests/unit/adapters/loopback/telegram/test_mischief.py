from dataclasses import dataclass, field

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, Fate, FaultPlan
from adapters.loopback.mischief import Mischief
from adapters.loopback.telegram.desk import POLL
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Draft, Message
from adapters.loopback.telegram.mischief import SPARED
from adapters.loopback.telegram.typed import from_typed
from adapters.loopback.telegram.world import ADA, Chat

BUSY, WAIT = Fate(failure=Failure(error="busy")), Fate(failure=Failure(error="wait", status=429, retry_after=600))


class Fixed(Chance):
    """What is in store is said beforehand."""

    def __init__(self, *happenings: Happening, fate: Fate = BUSY) -> None:
        super().__init__(0, ("error",))
        self._happenings = happenings
        self._planned = fate

    def fate(self, method: str, number: int) -> Fate:
        return self._planned if number == 1 else Fate()

    def happening(self, number: int) -> Happening | None:
        return self._happenings[number] if number < len(self._happenings) else None


@dataclass
class Telegram:
    """What a mischief has its way with."""

    faults: FaultPlan = field(default_factory=FaultPlan)
    dropped: int = 0
    closed: list[float] = field(default_factory=list[float])
    history: History = field(default_factory=lambda: History(PlatformClock(), lambda _: None, ADA.id))

    def messages(self) -> list[Message]:
        return list(self.history.messages())

    def drop(self) -> None:
        self.dropped += 1

    def mischief(self, chance: Chance) -> Mischief[Message]:
        return Mischief(
            chance=chance,
            faults=self.faults,
            spared=SPARED,
            poll=POLL,
            messages=self.messages,
            delete=self.history.delete,
            drop=self.drop,
            close_doors=self.closed.append,
        )


def happening(mishap: Mishap, which: float = 0.0) -> Happening:
    return Happening(mishap=mishap, which=which, seconds=0.1)


def test_a_call_has_the_fate_of_its_number_and_telegram_says_no_with_500() -> None:
    telegram = Telegram()
    mischief = telegram.mischief(Fixed())
    found = list[Fate]()
    for method in ("edit", "send", "edit", "send"):
        mischief.arrived(method)
        found.append(telegram.faults.take(method))
    refused = Fate(failure=Failure(error="busy", status=500))
    assert found == [Fate(), Fate(), refused, refused]


def test_polls_fail_but_are_never_told_to_wait_and_bring_no_mishap() -> None:
    for fate, status in ((BUSY, 500), (WAIT, None)):
        telegram = Telegram()
        mischief = telegram.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED), fate=fate))
        for _ in range(2):
            mischief.arrived("getUpdates")
        failure = telegram.faults.take("getUpdates").failure
        assert (failure.status if failure else None) == status
        assert telegram.dropped == 0
        mischief.arrived("sendMessage")
        assert telegram.dropped == 1


def test_the_newest_and_others_are_deleted_and_kept_as_they_stood() -> None:
    telegram = Telegram()
    mischief = telegram.mischief(Fixed(happening(Mishap.OLDER_DELETED, 0.6), happening(Mishap.NEWEST_DELETED)))
    for text in ("one", "two", "three", "four"):
        telegram.history.post(Chat(id=101), ADA, Draft(content=from_typed(text)))
    for _ in range(3):
        mischief.arrived("send")
    assert [message.text for message in mischief.taken] == ["two", "four"]
    assert [message.text for message in telegram.messages()] == ["one", "three"]


def test_connections_are_dropped_and_doors_closed() -> None:
    telegram = Telegram()
    mischief = telegram.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED), happening(Mishap.OUTAGE)))
    for _ in range(2):
        mischief.arrived("edit")
    assert (telegram.dropped, telegram.closed) == (1, [0.1])


def test_who_connects_is_spared_and_so_is_everybody_when_it_is_over() -> None:
    telegram = Telegram()
    mischief = telegram.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED)))
    for method in SPARED:
        mischief.arrived(method)
    mischief.over = True
    mischief.arrived("send")
    assert telegram.dropped == 0
