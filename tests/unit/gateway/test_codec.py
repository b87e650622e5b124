"""An error about a line never quotes it: it may hold what people said."""

import traceback
from collections.abc import Callable

import pytest

from gateway import history, inbound, journal

SAID = "hunter2 and other words of theirs"


@pytest.mark.parametrize(
    "read", [history.from_json, inbound.from_json, journal.from_json], ids=["history", "inbound", "journal"]
)
@pytest.mark.parametrize(
    "line",
    [
        f'{{"number": 0, "type": "asked", "text": "{SAID}"}}',
        f'{{"type": "{SAID}"}}',
        f'"{SAID}"',
        f'{{"text": "{SAID}',
        f'{{"type": "message_received", "text": ["{SAID}"]}}',
    ],
)
def test_no_error_quotes_the_line(read: Callable[[str], object], line: str) -> None:
    with pytest.raises(ValueError, match=": ") as raised:
        read(line)
    assert SAID not in "".join(traceback.format_exception(raised.value))
    assert "\n" not in str(raised.value)
