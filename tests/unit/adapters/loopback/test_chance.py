from collections import Counter

from adapters.loopback.chance import LONG, MOST_TROUBLED, SHORT, Chance, Mishap
from adapters.loopback.fault import Fate

ERRORS = ("fatal", "internal")
SEEDS = range(200)
CALLS = range(200)


def test_a_seed_always_has_the_same_in_store_whatever_else_was_asked_before() -> None:
    one, other = Chance(7, ERRORS), Chance(7, ERRORS)
    for number in reversed(CALLS):
        other.fate("edit", number)
    assert [one.fate("post", n) for n in CALLS] == [other.fate("post", n) for n in CALLS]
    assert [one.happening(n) for n in CALLS] == [other.happening(n) for n in CALLS]
    assert [one.fate("post", n) for n in CALLS] != [Chance(8, ERRORS).fate("post", n) for n in CALLS]
    assert [one.fate("post", n) for n in CALLS] != [one.fate("edit", n) for n in CALLS]


def test_with_every_seed_about_half_of_the_calls_go_well_at_least() -> None:
    for seed in SEEDS:
        chance = Chance(seed, ERRORS)
        assert sum(chance.fate("post", number) == Fate() for number in CALLS) > len(CALLS) * (MOST_TROUBLED - 0.15)


def test_every_kind_comes_with_some_seed_and_is_left_out_by_another() -> None:
    fates = {seed: [Chance(seed, ERRORS).fate("post", number) for number in CALLS] for seed in SEEDS}
    waits = [{fate.failure.retry_after for fate in row if fate.failure} - {None} for row in fates.values()]
    assert {SHORT[0], SHORT[1]} <= set().union(*waits)
    assert max(wait for row in waits for wait in row if wait) > LONG[1] - 5
    assert any(not row for row in waits)
    kinds = [
        {
            (fate.failure.status, fate.failure.performed, bool(fate.delay or fate.hold)) if fate.failure else "slow"
            for fate in row
        }
        for row in fates.values()
    ]
    cut = {(0, False, True), (0, True, True)}
    errors = {(status, performed, False) for status in (200, 500, 502, 503) for performed in (False, True)}
    assert set().union(*kinds) >= cut | errors | {"slow", (429, False, False)}
    assert all(any(kind not in row for row in kinds) for kind in cut | errors)


def test_mishaps_come_at_a_few_calls_in_a_hundred() -> None:
    happened = Counter(
        happening.mishap
        for seed in SEEDS
        for number in CALLS
        if (happening := Chance(seed, ERRORS).happening(number)) is not None
    )
    assert set(happened) == set(Mishap)
    assert 0.02 < happened.total() / (len(SEEDS) * len(CALLS)) < 0.11
