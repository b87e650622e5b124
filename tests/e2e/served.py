"""A whole gateway in the test's own process, with a model that says what it is told to."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from gateway import app
from gateway.conversation import RunEnded
from gateway.event import Envelope

PATIENCE = 200
"""Real seconds until a run counts as one that never ends: the longest waits are 10 s each, and come in rows."""


class Ends:
    """Waits for the ends of runs."""

    def __init__(self) -> None:
        self.ended: list[RunEnded] = []
        self._told = anyio.Event()

    def watch(self, what: Envelope | RunEnded) -> None:
        if isinstance(what, RunEnded):
            self.ended.append(what)
            self._told.set()
            self._told = anyio.Event()

    async def until(self, count: int) -> None:
        with anyio.fail_after(PATIENCE):
            while len(self.ended) < count:
                await self._told.wait()


@asynccontextmanager
async def gateway(folder: Path) -> AsyncGenerator[Ends]:
    """A gateway in this process, as ``dragoman run`` has it."""
    ends, ready, stop = Ends(), anyio.Event(), anyio.Event()
    parts = app.assemble(app.configure(folder / "dragoman.toml"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: app.serve(parts, watch=ends.watch, ready=ready.set, stop=stop))
        with anyio.fail_after(PATIENCE):
            await ready.wait()
        yield ends
        stop.set()


def script(answers: Sequence[str]) -> str:
    return "".join(f"[[turn]]\ntext = '''\n{each}'''\n" for each in answers)
