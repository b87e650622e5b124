import signal
from collections.abc import Iterator

import pytest

from gateway.cli import ending


@pytest.fixture(params=[signal.SIG_DFL, signal.SIG_IGN], ids=["default", "ignored"])
def hangup(request: pytest.FixtureRequest) -> Iterator[signal.Handlers]:
    handler: signal.Handlers = request.param
    before = signal.signal(signal.SIGHUP, handler)
    yield handler
    signal.signal(signal.SIGHUP, before)


def test_a_closed_terminal_ends_us_unless_that_was_to_be_ignored(hangup: signal.Handlers) -> None:
    assert signal.SIGTERM in ending.signals()
    assert (signal.SIGHUP in ending.signals()) is (hangup == signal.SIG_DFL)
