from typing import Any, cast

import anyio
import pytest

from adapters.discord.session import IDENTIFY_PAUSE, LASTING, LONGEST_IDENTIFY_PAUSE, Session

pytestmark = pytest.mark.virtual_time


def session() -> Session:
    nowhere = cast("Any", None)

    def told(event: str, data: object) -> None:
        pytest.fail(f"{event}: {data}")

    return Session(nowhere, "token", "wss://gateway.discord.gg/", told, lambda: None)


async def gap(each: Session) -> float:
    """How long a session has to wait until it may begin."""
    before = anyio.current_time()
    await each.pause_to_identify()
    return anyio.current_time() - before


async def test_sessions_that_do_not_last_are_begun_ever_more_seldom() -> None:
    each = session()
    gaps = [await gap(each) for _ in range(30)]
    assert gaps[:5] == [0, IDENTIFY_PAUSE, IDENTIFY_PAUSE, 2 * IDENTIFY_PAUSE, 4 * IDENTIFY_PAUSE]
    assert gaps[-1] == LONGEST_IDENTIFY_PAUSE
    assert sum(gaps) > 24 * 3600 * 30 / 1000  # of 1,000 a day it is well away
    await anyio.sleep(LONGEST_IDENTIFY_PAUSE + LASTING)
    assert await gap(each) == 0


async def test_a_day_of_sessions_that_do_not_last_stays_below_what_resets_the_token() -> None:
    each, begun, count = session(), anyio.current_time(), 0
    while anyio.current_time() - begun < 86_400:
        await each.pause_to_identify()
        count += 1
    assert count <= 200
