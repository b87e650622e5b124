"""The laws of pacing, over whole histories of asking, going and being refused."""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapter import Budget
from gateway.pacer import Candidate, Key, Pacer

FINAL, LIVE = 0, 1
ALMOST = 1e-6
"""Tokens, or seconds, that arithmetic may lose."""

KEYS = {
    Key("p", "a", "account", ""): Budget(name="account", scope="account", rate=0.75, burst=3),
    Key("p", "a", "channel", "c0"): Budget(name="channel", scope="channel", rate=1.0, burst=1),
    Key("p", "a", "channel", "c1"): Budget(name="channel", scope="channel", rate=1.0, burst=1),
    Key("p", "a", "message", "c0/m"): Budget(name="message", scope="message", rate=1 / 1.2, burst=1),
    Key("p", "a", "slow", ""): Budget(name="slow", scope="account", rate=1 / 7, burst=1.5),
}
ACCOUNT, CHANNEL, OTHER_CHANNEL, MESSAGE, SLOW = KEYS

starts = st.sampled_from([0.0, 1.0, 1e3 + 0.1, 1.7e6 / 3, 1.7e9 / 7])
"""What the clock says at first: the larger, the coarser is the time that it can tell."""


@dataclass(frozen=True)
class Wish:
    """One operation that somebody wants to do, when the one before it is done; the platform may refuse it first."""

    urgency: int
    keys: tuple[Key, ...]
    after: float
    refusals: tuple[float, ...]


wishes = st.builds(
    Wish,
    urgency=st.sampled_from([FINAL, LIVE]),
    keys=st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3, unique=True).map(tuple),
    after=st.sampled_from([0.0, 0.0, 0.1, 1.0, 10.0]),
    refusals=st.lists(st.sampled_from([0.0, 0.3, 1.0, 5.0, 3600.0]), max_size=2).map(tuple),
)
plans = st.lists(st.lists(wishes, min_size=1, max_size=6), min_size=1, max_size=5)


def candidate(name: str, urgency: int, *keys: Key, budgets: Mapping[Key, Budget] = KEYS) -> Candidate:
    return Candidate(name=name, urgency=urgency, budgets={key: budgets[key] for key in keys})


@dataclass
class Conversation:
    """Wants its wishes in order, one at a time."""

    name: str
    wishes: deque[Wish]
    since: float
    refused: int = 0

    def asks(self, now: float) -> Candidate | None:
        if not self.wishes or now < self.since:
            return None
        return candidate(self.name, self.wishes[0].urgency, *self.wishes[0].keys)

    def refusal(self) -> float | None:
        """What the platform answers: for how long it refuses, or none."""
        refusals = self.wishes[0].refusals
        if self.refused < len(refusals):
            self.refused += 1
            return refusals[self.refused - 1]
        return None

    def served(self, now: float) -> None:
        self.wishes.popleft()
        self.refused = 0
        if self.wishes:
            self.since = now + self.wishes[0].after


@dataclass
class World:
    """Conversations, a platform that refuses, and a pacer between them, in virtual time."""

    plan: list[list[Wish]]
    now: float
    pacer: Pacer = field(default_factory=Pacer)
    went: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    parked: list[tuple[Key, float, float]] = field(default_factory=list[tuple[Key, float, float]])

    def __post_init__(self) -> None:
        self.conversations = {
            str(number): Conversation(str(number), deque(mine), self.now + mine[0].after)
            for number, mine in enumerate(self.plan)
        }

    def asking(self) -> list[Candidate]:
        return [asks for each in self.conversations.values() if (asks := each.asks(self.now))]

    def run(self) -> None:
        operations = sum(1 + len(wish.refusals) for mine in self.plan for wish in mine)
        for steps in count():
            assert steps <= 20 * operations, "so many steps bring nothing forward"
            asking = self.asking()
            chosen, wait = self.pacer.choose(asking, self.now)
            if chosen is not None:
                assert wait == 0
                self.go(chosen, asking)
            elif not self.wait(wait, asking):
                return

    def go(self, chosen: Candidate, asking: Iterable[Candidate]) -> None:
        urgent = [each for each in asking if each.urgency < chosen.urgency]
        before = {each.name: self.pacer.choose([each], self.now)[1] for each in urgent}
        assert all(delay > 0 for delay in before.values()), "something more urgent could have gone"
        self.pacer.take(chosen, self.now)
        for each in urgent:
            assert self.pacer.choose([each], self.now)[1] <= before[each.name] + ALMOST, "it took a token that was kept"
        for key in chosen.budgets:
            self.went[key].append(self.now)
        mine = self.conversations[chosen.name]
        if (seconds := mine.refusal()) is None:
            mine.served(self.now)
        else:
            self.pacer.park(chosen, self.now, seconds)
            self.parked.append((next(iter(chosen.budgets)), self.now, self.now + seconds))

    def wait(self, seconds: float, asking: list[Candidate]) -> bool:
        """Let the time pass that was asked for, or until somebody else asks; whether there is anything to wait for."""
        assert (seconds == float("inf")) == (not asking)
        until = [each.since for each in self.conversations.values() if each.wishes and each.since > self.now]
        later = min([self.now + seconds, *until])
        if later == float("inf"):
            return False
        assert later > self.now, "waiting as told does not move the clock"
        self.now = later
        return True


@given(plan=plans, start=starts)
def test_no_budget_is_exceeded_in_any_window(plan: list[list[Wish]], start: float) -> None:
    world = World(plan, start)
    world.run()
    for key, times in world.went.items():
        for first, begin in enumerate(times):
            for last, end in enumerate(times[first:], start=1):
                assert last <= KEYS[key].burst + KEYS[key].rate * (end - begin) + ALMOST


@given(plan=plans, start=starts)
def test_everybody_is_served_in_the_end(plan: list[list[Wish]], start: float) -> None:
    world = World(plan, start)
    world.run()
    assert not any(each.wishes for each in world.conversations.values())


@given(plan=plans, start=starts)
def test_nothing_goes_on_a_key_while_it_is_parked(plan: list[list[Wish]], start: float) -> None:
    world = World(plan, start)
    world.run()
    for key, since, until in world.parked:
        assert [at for at in world.went[key] if since < at < until] == []


@given(plan=plans, start=starts)
def test_forgetting_between_runs_makes_nobody_exceed_a_budget(plan: list[list[Wish]], start: float) -> None:
    pacer, now = Pacer(), start
    went: dict[Key, list[float]] = defaultdict(list)
    for number, mine in enumerate(plan):
        world = World([mine], now, pacer=pacer)
        world.run()
        now = world.now
        pacer.forget(str(number), now)
        for key, times in world.went.items():
            went[key] += times
    for key, times in went.items():
        for first, begin in enumerate(times):
            assert len(times) - first <= KEYS[key].burst + KEYS[key].rate * (times[-1] - begin) + ALMOST


@given(seconds=st.floats(min_value=0, max_value=1e7), start=starts)
def test_a_refusal_is_respected_however_long(seconds: float, start: float) -> None:
    pacer, mine = Pacer(), candidate("mine", FINAL, CHANNEL)
    pacer.take(mine, start)
    pacer.park(mine, start, seconds)
    chosen, wait = pacer.choose([mine], start)
    assert chosen is None
    assert start + wait >= start + seconds


def test_a_refusal_without_a_time_gives_no_token_away() -> None:
    pacer, mine = Pacer(), candidate("mine", FINAL, CHANNEL)
    pacer.take(mine, 0.0)
    pacer.park(mine, 0.0, 0.0)
    assert pacer.choose([mine], 0.0) == (None, pytest.approx(1.0))


@given(
    urgency=st.sampled_from([FINAL, LIVE]),
    seconds=st.floats(min_value=10, max_value=1e6),
    waiting=st.integers(min_value=1, max_value=8),
    start=starts,
)
def test_a_parked_channel_parks_nobody_else(urgency: int, seconds: float, waiting: int, start: float) -> None:
    pacer = Pacer()
    parked = [candidate(f"parked {number}", FINAL, CHANNEL, ACCOUNT) for number in range(waiting)]
    pacer.park(parked[0], start, seconds)
    other = candidate("other", urgency, OTHER_CHANNEL, ACCOUNT)
    assert pacer.choose([*parked, other], start) == (other, 0.0)


@given(seconds=st.floats(min_value=10, max_value=1e6), start=starts)
def test_a_conversation_that_is_held_holds_nobody_else(seconds: float, start: float) -> None:
    pacer = Pacer()
    held, other = candidate("held", FINAL, SLOW), candidate("other", LIVE, SLOW)
    pacer.hold("held", start, seconds)
    assert pacer.choose([held, other], start) == (other, 0.0)
    assert pacer.choose([held], start)[1] == pytest.approx(seconds)


@given(names=st.lists(st.text(max_size=3), min_size=2, max_size=6, unique=True), rounds=st.integers(2, 6), start=starts)
def test_equals_take_turns(names: list[str], rounds: int, start: float) -> None:
    pacer, now, served = Pacer(), start, list[str]()
    asking = [candidate(name, LIVE, ACCOUNT) for name in names]
    while len(served) < rounds * len(names):
        chosen, wait = pacer.choose(asking, now)
        now += wait
        if chosen is not None:
            pacer.take(chosen, now)
            served.append(chosen.name)
    turns = [set(served[at : at + len(names)]) for at in range(0, len(served), len(names))]
    assert turns == [set(names)] * rounds


@given(newcomers=st.integers(1, 3), start=starts)
def test_newcomers_do_not_starve_who_is_there_already(newcomers: int, start: float) -> None:
    pacer, now = Pacer(), start
    old = candidate("old", FINAL, CHANNEL)
    pacer.take(old, now)
    waiting: list[Candidate] = []
    for number in range(20):
        now += 1.0
        waiting += [candidate(f"new {number}.{which}", FINAL, CHANNEL) for which in range(newcomers)]
        chosen, _ = pacer.choose([*waiting, old], now)
        assert chosen is not None
        if chosen == old:
            return
        pacer.take(chosen, now)
        pacer.forget(chosen.name, now)
        waiting.remove(chosen)
    pytest.fail("twenty who came later were served before it")


@given(asking=st.integers(1, 6), left=st.integers(0, 2), seconds=st.floats(min_value=0, max_value=100), start=starts)
def test_what_is_left_to_others_is_there_for_them(asking: int, left: int, seconds: float, start: float) -> None:
    pacer, end, now = Pacer(), start + seconds, start
    modest = [replace(candidate(str(number), LIVE, ACCOUNT), leaves={ACCOUNT: left}) for number in range(asking)]
    while now < end:
        chosen, wait = pacer.choose(modest, now)
        now = min(end, now + wait)
        if chosen is not None:
            pacer.take(chosen, now)
    for number in range(left):
        other = candidate(f"other {number}", LIVE, ACCOUNT)
        assert pacer.choose([other], end)[1] <= ALMOST
        pacer.take(other, end)


@given(left=st.integers(0, 2), start=starts)
def test_who_leaves_tokens_to_others_goes_when_there_are_more(left: int, start: float) -> None:
    pacer, modest = Pacer(), replace(candidate("modest", LIVE, ACCOUNT), leaves={ACCOUNT: left})
    for number in range(20):
        pacer.take(candidate(str(number), LIVE, ACCOUNT), start)
    waited = pacer.choose([modest], start)[1]
    assert waited <= (20 + left) / KEYS[ACCOUNT].rate
    assert pacer.choose([modest], start + waited) == (modest, 0.0)


def test_nobody_asking_is_waited_for_without_an_end() -> None:
    assert Pacer().choose([], 12.0) == (None, float("inf"))


def test_who_draws_on_no_budget_goes_at_once() -> None:
    free = candidate("free", LIVE)
    assert Pacer().choose([free], 0.0) == (free, 0.0)


def test_who_draws_on_no_budget_waits_alone_when_it_is_refused() -> None:
    pacer, free, other = Pacer(), candidate("free", LIVE), candidate("other", LIVE)
    pacer.park(free, 0.0, 60.0)
    assert pacer.choose([free], 0.0) == (None, 60.0)
    assert pacer.choose([free, other], 0.0) == (other, 0.0)
