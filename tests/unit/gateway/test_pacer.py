"""Pacing, by example; its laws are in tests/properties."""

from dataclasses import replace

import pytest

from gateway.adapter import Budget
from gateway.operation import Quota
from gateway.pacer import Candidate, Key, Pacer, TokenBucket

SLOW = Budget(name="slow", scope="channel", rate=0.5, burst=1)
WIDE = Budget(name="wide", scope="account", rate=1.0, burst=2)
C1, C2 = Key("p", "a", "slow", "C1"), Key("p", "a", "slow", "C2")
ALL = Key("p", "a", "wide", "")
FINAL, LIVE = 0, 1


def asks(name: str, *keys: Key, urgency: int = LIVE) -> Candidate:
    return Candidate(name=name, urgency=urgency, budgets={key: WIDE if key == ALL else SLOW for key in keys})


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    delays: list[float] = []
    for _ in range(4):
        delays.append(bucket.delay(0.0))
        bucket.take(0.0)
    assert delays == [0.0, 0.0, 1.0, 2.0]


def test_a_bucket_holds_no_more_than_its_burst_however_long_it_rests() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    for _ in range(2):
        bucket.take(1e6)
    assert bucket.delay(1e6) == 1.0


def test_tokens_that_are_kept_for_others_are_not_there() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    assert [bucket.delay(0.0, kept) for kept in range(4)] == [0.0, 0.0, 1.0, 2.0]
    assert bucket.delay(1e6, 2) > 0


def test_after_parking_a_bucket_begins_with_one_token() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    bucket.park(0.0, 100.0)
    assert bucket.delay(0.0) == 100.0
    assert bucket.delay(100.0) == 0.0
    bucket.take(100.0)
    assert bucket.delay(100.0) == 1.0


def test_a_shorter_refusal_does_not_end_a_longer_one() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    bucket.park(0.0, 100.0)
    bucket.park(1.0, 2.0)
    assert bucket.delay(1.0) == 99.0


def test_a_bucket_that_is_full_and_not_parked_can_be_forgotten() -> None:
    bucket = TokenBucket(WIDE, 0.0)
    assert bucket.idle(0.0)
    bucket.take(0.0)
    assert not bucket.idle(0.5)
    assert bucket.idle(1.0)
    bucket.park(1.0, 10.0)
    assert not bucket.idle(11.0)
    assert bucket.idle(12.0)


def test_the_urgent_goes_first() -> None:
    live, final = asks("live", ALL), asks("final", ALL, urgency=FINAL)
    assert Pacer().choose([live, final], 0.0) == (final, 0.0)


def test_who_needs_two_tokens_waits_for_the_later() -> None:
    pacer, mine = Pacer(), asks("mine", C1, ALL)
    pacer.take(mine, 0.0)
    assert pacer.choose([mine], 0.0) == (None, 2.0)


def test_the_wait_is_that_of_the_first_who_may_go() -> None:
    pacer = Pacer()
    one, two = asks("one", C1), asks("two", C2, ALL)
    pacer.take(one, 0.0)
    pacer.take(two, 1.0)
    assert pacer.choose([two, one], 1.0) == (None, 1.0)


def test_a_token_is_kept_for_the_urgent_that_will_soon_need_it() -> None:
    pacer = Pacer()
    final, live = asks("final", C1, ALL, urgency=FINAL), asks("live", ALL)
    pacer.take(final, 0.0)
    pacer.take(live, 0.0)
    assert pacer.choose([final, live], 1.5) == (None, 0.5)


def test_a_token_that_will_be_back_in_time_is_not_kept() -> None:
    pacer = Pacer()
    final, live = asks("final", C1, ALL, urgency=FINAL), asks("live", ALL)
    pacer.take(final, 0.0)
    pacer.take(live, 0.0)
    assert pacer.choose([final, live], 1.0) == (live, 0.0)


def test_who_leaves_a_token_to_others_goes_when_there_is_one_more() -> None:
    pacer, modest = Pacer(), replace(asks("modest", ALL), leaves={ALL: 1})
    pacer.take(modest, 0.0)
    assert pacer.choose([modest], 0.0) == (None, 1.0)
    assert pacer.choose([modest, other := asks("other", ALL)], 0.0) == (other, 0.0)


def test_only_the_first_key_is_parked_by_a_refusal() -> None:
    pacer = Pacer()
    pacer.park(asks("mine", C1, ALL), 0.0, 60.0)
    assert pacer.choose([asks("mine", C1, ALL)], 0.0) == (None, 60.0)
    assert pacer.choose([other := asks("other", C2, ALL)], 0.0) == (other, 0.0)


def test_a_conversation_that_is_forgotten_is_no_longer_held() -> None:
    pacer, mine = Pacer(), asks("mine", C1)
    pacer.hold("mine", 0.0, 60.0)
    assert pacer.choose([mine], 0.0) == (None, 60.0)
    pacer.forget("mine", 0.0)
    assert pacer.choose([mine], 0.0) == (mine, 0.0)


def test_a_conversation_that_is_forgotten_leaves_its_parked_key_parked() -> None:
    pacer, mine = Pacer(), asks("mine", C1)
    pacer.park(mine, 0.0, 60.0)
    pacer.forget("mine", 0.0)
    assert pacer.choose([mine], 0.0) == (None, 60.0)


def test_nothing_is_remembered_of_those_who_are_gone() -> None:
    pacer = Pacer()
    for number in range(100):
        key = Key("p", "a", "slow", f"C{number}")
        pacer.choose([asks(str(number), key)], float(number))
        pacer.take(asks(str(number), key), float(number))
        pacer.forget(str(number), float(number))
    assert len(pacer._buckets) <= 3  # pyright: ignore[reportPrivateUsage]  # looks inside
    assert not pacer._turns  # pyright: ignore[reportPrivateUsage]  # looks inside


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
def test_who_was_served_longest_ago_is_next(order: list[str]) -> None:
    pacer = Pacer()
    for name in ("a", "b"):
        pacer.take(asks(name, C1), 0.0)
    chosen, _ = pacer.choose([asks(name, ALL) for name in order], 100.0)
    assert chosen == asks("a", ALL)


SEND = Budget(name="send", scope="channel", rate=0.6, burst=2)
SENDS = Candidate(name="a", urgency=LIVE, budgets={Key("p", "a", "send", "C1"): SEND})


def goes(pacer: Pacer, candidate: Candidate, now: float) -> bool:
    if pacer.choose([candidate], now)[0] is None:
        return False
    pacer.take(candidate, now)
    return True


def test_what_the_platform_says_to_be_left_is_what_goes_until_its_window_ends() -> None:
    pacer, candidate = Pacer(), SENDS
    assert goes(pacer, candidate, 0.0)
    pacer.landed(candidate, 0.1, Quota(remaining=4, seconds=4.9))
    assert [goes(pacer, candidate, 0.2) for _ in range(5)] == [True] * 4 + [False]
    assert pacer.choose([candidate], 1.0)[1] == pytest.approx(4.0)  # pyright: ignore[reportUnknownMemberType]  # untyped
    assert [goes(pacer, candidate, 5.01) for _ in range(3)] == [True, True, False]


def test_what_is_on_its_way_is_counted_beside_what_the_platform_says() -> None:
    pacer, candidate = Pacer(), SENDS
    assert goes(pacer, candidate, 0.0)
    assert goes(pacer, candidate, 0.0)
    pacer.landed(candidate, 0.1, Quota(remaining=4, seconds=4.9))
    assert [goes(pacer, candidate, 0.2) for _ in range(4)] == [True] * 3 + [False]


def test_nothing_left_waits_for_the_end_of_the_window() -> None:
    pacer, candidate = Pacer(), SENDS
    assert goes(pacer, candidate, 0.0)
    pacer.landed(candidate, 0.1, Quota(remaining=0, seconds=3.0))
    assert not goes(pacer, candidate, 3.0)
    assert goes(pacer, candidate, 3.2)


def test_a_refusal_outlasts_what_is_said_to_be_left() -> None:
    pacer, candidate = Pacer(), SENDS
    assert goes(pacer, candidate, 0.0)
    assert goes(pacer, candidate, 0.0)
    pacer.park(candidate, 0.1, 60.0)
    pacer.landed(candidate, 0.1)
    pacer.landed(candidate, 0.2, Quota(remaining=3, seconds=90.0))
    assert not goes(pacer, candidate, 59.0)
    assert goes(pacer, candidate, 60.2)


def test_a_refusal_of_everything_parks_the_whole_account() -> None:
    pacer = Pacer()
    here, there = asks("a", C1, ALL), asks("b", C2, ALL)
    pacer.park(here, 0.0, 5.0)
    assert goes(pacer, there, 1.0)
    pacer.park(here, 0.0, 5.0, everything=True)
    assert not goes(pacer, there, 4.9)
    assert goes(pacer, there, 5.1)
