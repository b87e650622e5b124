"""Runs a program for a tool, and leaves nothing of it behind.

Rule 1: a program is its arguments; no shell ever reads them, unless it is the program.
Rule 2: it leads a process group of its own. Whatever ends the call, its own end, a time limit or a stop, ends the whole
        group: asked to (TERM), and after ``GRACE`` made to (KILL).
Rule 3: it is given no environment but what is named, and ``PATH`` and its like: ours holds secrets.

A program that leaves its group (``setsid``) is out of reach.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

GRACE = 0.1
"""Seconds that a group has for its end; a stop is to be felt within 0.2."""

INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")

_LOOK = 0.01
_REAP = 1.0
"""Seconds to wait for one that was killed; only what the kernel holds takes longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a program ended: below 0, ``code`` is the signal. ``omitted`` bytes of what it wrote were not kept."""

    code: int
    output: bytes
    errors: bytes
    omitted: int


@dataclass(slots=True)
class _Written:
    """What came out of a pipe, up to a limit."""

    limit: int
    kept: bytearray
    omitted: int = 0

    async def read(self, pipe: ByteReceiveStream) -> None:
        """Read to the end also what is not kept, for a full pipe would hold the program up."""
        try:
            async for part in pipe:
                room = max(0, self.limit - len(self.kept))
                self.kept += part[:room]
                self.omitted += max(0, len(part) - room)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it was closed where we were reading: that is an end, too


async def run(
    arguments: Sequence[str],
    *,
    folder: Path,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    together: bool = False,
    limit: int = 10_000_000,
) -> Exit:
    """Run a program to its end, and end what it has started.

    Args:
        arguments: the program and what it is given.
        folder: where it runs.
        given: what it can read.
        environment: variables beside ``INHERITED``.
        together: whether its errors go where its output goes.
        limit: bytes of each pipe that are kept.

    Raises:
        OSError: it could not be started.
    """
    process = await _begun(arguments, folder, environment, together=together)
    output, errors = _Written(limit, bytearray()), _Written(limit, bytearray())
    try:
        async with anyio.create_task_group() as pipes:
            if process.stdin is not None:
                pipes.start_soon(_write, process.stdin, given)
            await _followed(process, output, errors)
            pipes.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return Exit(
        code=-signal.SIGKILL if process.returncode is None else process.returncode,
        output=bytes(output.kept),
        errors=bytes(errors.kept),
        omitted=output.omitted + errors.omitted,
    )


async def _begun(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None, *, together: bool
) -> Process:
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return await anyio.open_process(
        list(arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        cwd=folder,
        env={**inherited, **(environment or {})},
        start_new_session=True,
    )


async def _followed(process: Process, output: _Written, errors: _Written) -> None:
    """Wait for its end, and for what it wrote; what it left running may hold the pipes open, and is not waited for."""
    read = anyio.Event()

    async def read_all() -> None:
        async with anyio.create_task_group() as both:
            for pipe, written in ((process.stdout, output), (process.stderr, errors)):
                if pipe is not None:
                    both.start_soon(written.read, pipe)
        read.set()

    async with anyio.create_task_group() as reading:
        reading.start_soon(read_all)
        await process.wait()
        with anyio.move_on_after(GRACE):
            await read.wait()
        reading.cancel_scope.cancel()


async def _write(pipe: ByteSendStream, given: bytes) -> None:
    try:
        await pipe.send(given)
        await pipe.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # who does not read what is given need not


async def _end(process: Process) -> None:
    if _signal(process.pid, signal.SIGTERM):
        with anyio.move_on_after(GRACE):
            while _signal(process.pid, 0):  # noqa: ASYNC110 - nobody tells when a group is empty
                await anyio.sleep(_LOOK)
        _signal(process.pid, signal.SIGKILL)
    with anyio.move_on_after(_REAP):
        await process.aclose()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there was one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
