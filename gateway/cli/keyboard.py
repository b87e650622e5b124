"""Lines from standard input, read without a thread: whoever stops waiting for one leaves it to the next.

Rule 1: a line goes to who waits for it first; none is lost, and none is read before somebody wants it.
Rule 2: what was typed before a question was seen is no answer to it.
"""

import errno
import os
import sys
from typing import Self

import anyio

from gateway.error import DragomanError, UsageError

PIECE = 65_536


class Keyboard:
    """What is typed, or piped in.

    Args:
        descriptor: the file to read.
    """

    def __init__(self, descriptor: int) -> None:
        self.typed = os.isatty(descriptor)
        """Whether a person types it."""
        self._descriptor = descriptor
        self._waits = True
        self._read = b""

    @classmethod
    def open(cls) -> Self:
        """Standard input.

        Raises:
            UsageError: it is closed.
        """
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it is, where it was closed
            msg = "standard input: is closed; type a question, or pipe one in"
            raise UsageError(msg)
        return cls(sys.stdin.fileno())

    async def line(self) -> str | None:
        """The next line, without its end; none where there is no further one.

        Raises:
            DragomanError: it cannot be read.
        """
        while b"\n" not in self._read:
            piece = await self._piece()
            if not piece:
                last, self._read = self._read, b""
                return last.decode(errors="replace") if last else None
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line.removesuffix(b"\r").decode(errors="replace")

    def forget(self) -> None:
        """Throw away what a person has typed so far: rule 2."""
        if self.typed:
            import termios  # noqa: PLC0415 - where there are terminals, there is this

            self._read = b""
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def _piece(self) -> bytes:
        """What can be read at once, when there is something; nothing at the end."""
        if self._waits:
            try:
                await anyio.wait_readable(self._descriptor)
            except PermissionError:
                self._waits = False  # a file on a disk never makes anybody wait, and cannot be waited for
        try:
            return os.read(self._descriptor, PIECE)
        except OSError as error:
            if error.errno == errno.EIO:
                return b""  # the terminal is gone
            msg = f"standard input: cannot be read: {error.strerror}"
            raise DragomanError(msg) from error
