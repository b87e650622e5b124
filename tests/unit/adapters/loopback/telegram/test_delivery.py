import pytest

from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.delivery import patience
from adapters.loopback.telegram.webhook import chat_of, following


@pytest.mark.parametrize(("timeout", "seconds"), [(None, 0), (-1, 0), (30, 30), (50, 50), (51, 50), (3600, 50)])
def test_a_poll_waits_at_most_50_seconds(timeout: int | None, seconds: int) -> None:
    assert patience(Arguments({"timeout": timeout})) == seconds


def test_a_webhook_is_tried_again_after_delays_that_double_to_a_minute() -> None:
    delays = [1.0]
    for _ in range(7):
        delays.append(following(delays[-1]))
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize(
    ("update", "chat"),
    [
        ({"update_id": 1, "message": {"chat": {"id": -200}}}, "-200"),
        ({"update_id": 1, "callback_query": {"id": "7", "message": {"chat": {"id": 101}}}}, "101"),
        ({"update_id": 1, "message": {"chat": None}}, ""),
        ({"update_id": 1}, ""),
    ],
)
def test_updates_of_one_chat_stand_in_one_row(update: dict[str, object], chat: str) -> None:
    assert chat_of(update) == chat
