import pytest

from adapters.loopback.clock import PlatformClock


def test_platform_time_passes_faster_by_the_scale() -> None:
    real = [100.0]
    clock = PlatformClock(20, source=lambda: real[0], epoch=1_000.0)
    real[0] = 103.0
    assert (clock.now(), clock.unix(), clock.real()) == (60.0, 1_060.0, 103.0)


@pytest.mark.parametrize("scale", [0, -1])
def test_time_that_does_not_pass_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="time_scale must be positive"):
        PlatformClock(scale)
