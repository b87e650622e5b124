import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord.snowflake import Snowflakes, unix_of
from tests.unit.adapters.loopback.discord.caller import HandClock


def test_ids_grow_and_tell_the_platforms_time() -> None:
    hand = HandClock()
    clock = PlatformClock(20, source=hand, epoch=1_800_000_000.0)
    snowflakes = Snowflakes(clock)
    first, second = snowflakes(), snowflakes()
    hand.seconds += 1
    third = snowflakes()
    assert int(first) < int(second) < int(third)
    assert len(first) == 19
    assert unix_of(first) == pytest.approx(1_800_000_000.0)
    assert unix_of(third) == pytest.approx(1_800_000_020.0)
