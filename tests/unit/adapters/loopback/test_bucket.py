import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.bucket import Budget, TokenBucket, take_all

BUDGETS = st.builds(
    Budget,
    name=st.just("any"),
    rate=st.floats(0.1, 100),
    capacity=st.integers(1, 30),
)
PAUSES = st.lists(st.floats(0, 10), max_size=60)


@given(BUDGETS, PAUSES)
def test_no_window_of_time_holds_more_calls_than_capacity_and_rate_allow(budget: Budget, pauses: list[float]) -> None:
    bucket, now, granted = TokenBucket(budget), 0.0, list[float]()
    for pause in pauses:
        now += pause
        if take_all([bucket], now) == 0.0:
            granted.append(now)
    for first, start in enumerate(granted):
        for last, end in enumerate(granted[first:], first):
            assert last - first + 1 <= budget.capacity + budget.rate * (end - start) + 1e-6


@given(BUDGETS, PAUSES)
def test_who_waits_as_told_is_let_in(budget: Budget, pauses: list[float]) -> None:
    bucket, now = TokenBucket(budget), 0.0
    for pause in pauses:
        now += pause
        if wait := take_all([bucket], now):
            now += wait
            assert take_all([bucket], now) == 0.0


@given(BUDGETS)
def test_a_refused_call_costs_nothing(budget: Budget) -> None:
    bucket = TokenBucket(budget)
    for _ in range(int(budget.capacity)):
        assert take_all([bucket], 0.0) == 0.0
    first = take_all([bucket], 0.0)
    assert [take_all([bucket], 0.0) for _ in range(5)] == [first] * 5
    assert first == pytest.approx(1 / budget.rate)


def test_a_call_takes_from_all_its_buckets_or_from_none() -> None:
    wide = TokenBucket(Budget(name="wide", rate=1, capacity=2))
    narrow = TokenBucket(Budget(name="narrow", rate=0.5, capacity=1))
    assert take_all([wide, narrow], 0.0) == 0.0
    assert take_all([wide, narrow], 0.0) == 2.0
    assert take_all([wide], 0.0) == 0.0
    assert take_all([wide], 0.0) == 1.0


@pytest.mark.parametrize(("rate", "capacity"), [(0, 1), (-1, 1), (1, 0)])
def test_a_budget_nobody_could_meet_is_refused(rate: float, capacity: float) -> None:
    with pytest.raises(ValueError, match="budget odd"):
        Budget(name="odd", rate=rate, capacity=capacity)
