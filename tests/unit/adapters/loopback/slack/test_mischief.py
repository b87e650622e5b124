from dataclasses import dataclass, field

from adapters.loopback.chance import Chance, Happening, Mishap
from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, Fate, FaultPlan
from adapters.loopback.mischief import Mischief
from adapters.loopback.slack.history import History
from adapters.loopback.slack.message import Content, Message
from adapters.loopback.slack.mischief import SPARED
from adapters.loopback.slack.workspace import User

BUSY = Fate(failure=Failure(error="busy"))


class Fixed(Chance):
    """What is in store is said beforehand."""

    def __init__(self, *happenings: Happening | None) -> None:
        super().__init__(0, ("error",))
        self._happenings = happenings

    def fate(self, method: str, number: int) -> Fate:
        return BUSY if (method, number) == ("post", 1) else Fate()

    def happening(self, number: int) -> Happening | None:
        return self._happenings[number] if number < len(self._happenings) else None


@dataclass
class Slack:
    """What a mischief has its way with."""

    faults: FaultPlan = field(default_factory=FaultPlan)
    dropped: int = 0
    closed: list[float] = field(default_factory=list[float])
    history: History = field(default_factory=lambda: History(PlatformClock(), lambda _: None, "UBOT"))

    def messages(self) -> list[Message]:
        return [message for message in self.history.messages() if message.author == "bot"]

    def drop(self) -> None:
        self.dropped += 1

    def mischief(self, chance: Chance) -> Mischief[Message]:
        return Mischief(
            chance=chance,
            faults=self.faults,
            spared=SPARED,
            fate_as=lambda fate: fate,
            messages=self.messages,
            delete=self.history.delete,
            drop=self.drop,
            close_doors=self.closed.append,
        )


def happening(mishap: Mishap, which: float = 0.0) -> Happening:
    return Happening(mishap=mishap, which=which, seconds=0.1)


def posted(slack: Slack, *texts: str) -> list[Message]:
    bot = User(id="UBOT", name="bot", bot_id="B1")
    return [slack.history.post(channel="C1", user=bot, content=Content(text=text)) for text in texts]


def test_a_call_has_the_fate_of_its_number_among_those_of_its_method() -> None:
    slack = Slack()
    mischief = slack.mischief(Fixed())
    found: list[Fate] = []
    for method in ("edit", "post", "edit", "post", "post"):
        mischief.arrived(method)
        found.append(slack.faults.take(method))
    assert found == [Fate(), Fate(), Fate(), BUSY, Fate()]


def test_the_newest_and_others_are_deleted_and_kept_as_they_stood() -> None:
    slack = Slack()
    mischief = slack.mischief(Fixed(happening(Mishap.OLDER_DELETED, 0.6), happening(Mishap.NEWEST_DELETED), None))
    posted(slack, "one", "two", "three", "four")
    for _ in range(3):
        mischief.arrived("post")
    assert [message.text for message in mischief.taken] == ["two", "four"]
    assert [message.text for message in slack.messages()] == ["one", "three"]


def test_where_nothing_stands_nothing_is_deleted() -> None:
    slack = Slack()
    mischief = slack.mischief(Fixed(happening(Mishap.NEWEST_DELETED), happening(Mishap.OLDER_DELETED)))
    for _ in range(2):
        mischief.arrived("post")
    assert mischief.taken == []


def test_sockets_are_dropped_and_doors_closed() -> None:
    slack = Slack()
    mischief = slack.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED), happening(Mishap.OUTAGE)))
    for _ in range(2):
        mischief.arrived("edit")
    assert (slack.dropped, slack.closed) == (1, [0.1])


def test_who_connects_is_spared_and_so_is_everybody_when_it_is_over() -> None:
    slack = Slack()
    mischief = slack.mischief(Fixed(happening(Mishap.SOCKETS_DROPPED)))
    for method in SPARED:
        mischief.arrived(method)
    mischief.over = True
    mischief.arrived("post")
    assert slack.dropped == 0
