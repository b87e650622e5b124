"""The command ``dragoman``.

Exit statuses: 0 done; 1 it could not be done, and standard error says why; 2 it was asked wrongly (usage,
configuration, an unreadable file); 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP where that means that it
was not done. Whoever closes our output ends us by SIGPIPE, as any Unix command.

This module loads next to nothing, so that an interrupt finds ``main`` running; ``command`` says what there is to do,
and each command is a module of its own, loaded when it is called, so that ``dragoman --help`` is quick.
"""

import signal
import sys
from typing import cast

from gateway.cli import output
from gateway.error import ConfigurationError, DragomanError, UsageError

INTERRUPTED = 128 + signal.SIGINT


def main() -> None:
    """Run the command and exit with its status; whatever it says on its way out holds no secret."""
    status = _status()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # from here on an interrupt has nothing left to end in good order
    sys.exit(status)


def _status() -> int:
    try:
        output.begin()
        status = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except (DragomanError, BaseExceptionGroup) as error:
        return _told(error)
    return status


def _run() -> int:
    from gateway.cli.command import app  # noqa: PLC0415 - an interrupt while it loads is caught, too

    try:
        app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _told(error: BaseException) -> int:
    """Say what went wrong; the status for it. What nobody foresaw is raised again."""
    leaves = _leaves(error)
    if any(isinstance(leaf, output.PipeClosedError) for leaf in leaves):
        output.end_by_pipe()
    if not all(isinstance(leaf, DragomanError) for leaf in leaves):
        raise error
    for leaf in leaves:
        output.tell(f"dragoman: {leaf}")
    output.abandon()
    return 2 if any(isinstance(leaf, ConfigurationError | UsageError) for leaf in leaves) else 1


def _leaves(error: BaseException) -> list[BaseException]:
    """The error, or those in a group of them, however deep."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions for leaf in _leaves(inner)]
