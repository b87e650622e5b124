import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.discord.window import Allowance, Tally, Window

FIVE = Allowance(name="five", limit=5, seconds=5.0)


def test_a_window_begins_with_its_first_call_and_ends_on_time() -> None:
    window = Window(FIVE)
    assert (window.remaining(0.0), window.resets_after(0.0)) == (5, 5.0)
    window.take(10.0)
    assert (window.remaining(12.0), window.resets_after(12.0)) == (4, 3.0)
    assert (window.remaining(15.0), window.resets_after(15.0)) == (5, 5.0)


def test_one_call_more_than_announced_is_let_in() -> None:
    window = Window(FIVE)
    for _ in range(6):
        assert window.wait(1.0) == 0.0
        window.take(1.0)
    assert (window.wait(1.0), window.wait(4.0), window.remaining(1.0)) == (5.0, 2.0, 0)
    assert window.wait(6.0) == 0.0


@given(st.lists(st.floats(0.0, 3.0), max_size=60))
def test_whoever_waits_as_told_is_let_in_and_no_window_holds_more(gaps: list[float]) -> None:
    window, now, taken = Window(FIVE), 0.0, list[float]()
    for gap in gaps:
        now += gap
        now += window.wait(now)
        assert window.wait(now) == 0.0
        window.take(now)
        taken.append(now)
    # Two windows at most meet in five seconds.
    assert all(sum(start <= each < start + 4.999 for each in taken) <= 12 for start in taken)


@pytest.mark.parametrize(("limit", "seconds"), [(0, 1.0), (1, 0.0)])
def test_an_allowance_lets_somebody_in(limit: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Allowance(name="none", limit=limit, seconds=seconds)


def test_a_tally_forgets_what_is_long_ago() -> None:
    tally = Tally(10.0)
    for now in (0.0, 5.0, 9.0):
        tally.add(now)
    assert [tally.count(now) for now in (9.0, 10.0, 15.0, 30.0)] == [3, 2, 1, 0]
