"""What time it is, somewhere."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.tool import Tool
from gateway.tools.clock import Clock, ZoneError, create
from tests.unit.gateway.tools.conversation import ANN, context

NOW = datetime(2026, 11, 30, 23, 5, 9, tzinfo=UTC)
CLOCK = Clock(now=lambda: NOW)


async def told(tool: Tool, **given: Any) -> str:
    assert tool.problem(given) is None
    return await tool.call(given, context())


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("UTC", "Monday, 2026-11-30 23:05:09 in UTC (UTC+00:00)"),
        ("Europe/Berlin", "Tuesday, 2026-12-01 00:05:09 in Europe/Berlin (UTC+01:00)"),
        ("America/St_Johns", "Monday, 2026-11-30 19:35:09 in America/St_Johns (UTC-03:30)"),
        ("Asia/Kathmandu", "Tuesday, 2026-12-01 04:50:09 in Asia/Kathmandu (UTC+05:45)"),
    ],
)
async def test_the_day_and_the_time_are_those_of_the_zone(zone: str, said: str) -> None:
    assert await told(CLOCK, time_zone=zone) == said


async def test_without_a_zone_it_is_utc_and_now() -> None:
    (clock,) = create()
    before = datetime.now(UTC).replace(microsecond=0)
    _, day, time, *_ = (await told(clock)).split()
    assert before <= datetime.fromisoformat(f"{day}T{time}+00:00") <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("zone", "meant"),
    [
        ("europe/berlin", "did you mean Europe/Berlin?"),
        ("Berlin", "did you mean Europe/Berlin?"),
        ("new york", "did you mean America/New_York?"),
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("+02:00", "'+02:00'. Write it as in the IANA database, such as Europe/Berlin"),
        ("Europe", "Write it as"),
        ("../../etc/passwd", "Write it as"),
        ("/etc/passwd", "Write it as"),
        ("", "There is no time zone ''. Write it as"),
        ("x" * 100_000, "Write it as"),
        ("a\0b", "Write it as"),
    ],
)
async def test_of_a_zone_that_is_none_it_is_said_how_one_is_written(zone: str, meant: str) -> None:
    with pytest.raises(ZoneError) as caught:
        await told(CLOCK, time_zone=zone)
    assert meant in str(caught.value)


@pytest.mark.parametrize(
    ("given", "why"),
    [({"time_zone": 1}, "time_zone: "), ({"zone": "UTC"}, "zone: "), ({"time_zone": None}, "time_zone")],
)
def test_an_input_of_another_form_is_refused_with_the_key(given: dict[str, Any], why: str) -> None:
    assert (CLOCK.problem(given) or "").startswith(why)


def test_it_is_safe_and_asks_nobody() -> None:
    assert CLOCK.permits(ANN, {})
    assert CLOCK.concurrency_safe({})
    assert not CLOCK.needs_approval(ANN, {})
    assert CLOCK.input_schema["properties"].keys() == {"time_zone"}
    assert CLOCK.input_schema["additionalProperties"] is False
