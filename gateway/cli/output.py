"""Standard output and standard error, as every command finds them.

Rule 1: standard output is UTF-8, whatever the locale says. What is no text, such as half a surrogate pair, is written
        as an escape, which JSON understands.
Rule 2: output that fails is an error of ours, wherever it is written and by whom: a sentence, and no traceback.
Rule 3: output that nobody reads any more ends us by SIGPIPE, but not before everything is put away.
Rule 4: what we say on standard error holds no secret, and neither does the traceback of what nobody foresaw.
"""

import io
import os
import signal
import sys
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from gateway.error import DragomanError
from gateway.redaction import redact

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(DragomanError):
    """Standard output takes nothing."""


class PipeClosedError(DragomanError):
    """Nobody reads standard output any more."""


class _Descriptor(io.FileIO):
    """The file behind standard output: rules 2 and 3."""

    def write(self, data: "ReadableBuffer", /) -> int:
        """See ``io.RawIOBase``."""
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise PipeClosedError from error
        except OSError as error:
            msg = f"standard output cannot be written: {error.strerror}"
            raise OutputError(msg) from error


def begin() -> None:
    """Make standard output and tracebacks follow the rules above."""
    sys.excepthook = _show
    # Where it is closed its number is given to a file that cannot be written, so that no other file of ours gets it.
    number = os.open(os.devnull, os.O_RDONLY) if sys.stdout is None else sys.stdout.fileno()  # pyright: ignore[reportUnnecessaryComparison]  # None where it is closed
    raw = _Descriptor(number, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=raw.isatty()
    )


def abandon() -> None:
    """Forget what could not be written, so that the interpreter does not try again when it ends."""
    with suppress(DragomanError):
        sys.stdout.close()


def end_by_pipe() -> None:
    """End silently, as whoever writes into a pipe that nobody reads."""
    abandon()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)


def tell(message: str) -> None:
    """Say something on standard error, without secrets. Where that is closed or full, the exit status has to do."""
    with suppress(OSError):
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is, where it was closed
            sys.stderr.write(redact(message) + "\n")
            sys.stderr.flush()


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    from traceback import format_exception  # noqa: PLC0415 - for what never happens

    tell("".join(format_exception(kind, error, trace)).rstrip())
