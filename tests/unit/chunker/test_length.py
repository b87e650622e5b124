"""Lengths in all units, lone surrogates included."""

import pytest

from chunker.length import MEASURES, Unit, reach

TEXT = "aé界😀\ud800z"


@pytest.mark.parametrize(("unit", "length"), [("cp", 6), ("utf16", 7), ("utf8", 14)])
def test_a_text_is_measured_in_each_unit(unit: Unit, length: int) -> None:
    assert MEASURES[unit](TEXT) == length


@pytest.mark.parametrize("unit", ["cp", "utf16", "utf8"])
@pytest.mark.parametrize("budget", range(-1, 17))
@pytest.mark.parametrize("start", range(7))
def test_reach_is_the_furthest_place_within_a_budget(unit: Unit, budget: int, start: int) -> None:
    measure = MEASURES[unit]
    fitting = [at for at in range(start, len(TEXT) + 1) if measure(TEXT[start:at]) <= budget]
    assert reach(TEXT, start, budget, measure) == max(fitting, default=start)
