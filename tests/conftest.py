"""How the tests run: hypothesis profiles, the loop under async tests, nothing skipped in CI."""

import os
import signal
from typing import Any

import pytest
from hypothesis import settings
from trio.testing import MockClock

# A job in the background is started with these ignored, and its children inherit that; what is tested is a command
# as a terminal starts it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

CI = os.environ.get("CI", "") not in ("", "0", "false")
SOAK = int(os.environ.get("DRAGOMAN_SOAK") or 0)

# A machine may be busy: no deadline, ever. In CI the same commit draws the same examples.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("soak", deadline=None, derandomize=CI, print_blob=True, max_examples=SOAK * 1000 or 1000)
settings.load_profile("soak" if SOAK else "ci" if CI else "default")


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The loop of an async test: asyncio, or trio's jumping clock where it is marked ``virtual_time``."""
    node: pytest.Item = request.node  # pyright: ignore[reportUnknownMemberType]  # pytest leaves it untyped
    if node.get_closest_marker("virtual_time"):
        return "trio", {"clock": MockClock(autojump_threshold=0)}
    return "asyncio", {}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that skipped something in CI: what another machine may leave out is demanded there."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if CI and reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line("\nA test was skipped, and in CI none may be.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
