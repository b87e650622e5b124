"""``dragoman run``: the gateway, until a signal ends it."""

import logging
import signal
from pathlib import Path

import anyio

from gateway import app
from gateway.app import Parts
from gateway.cli import ending
from gateway.cli.log import begin
from gateway.conversation import RunEnded
from gateway.event import Envelope

log = logging.getLogger("dragoman")


def main(config: Path | None) -> int:
    """Run, and say how it ended: 0 after SIGTERM or SIGHUP, 130 after an interrupt."""
    begin(logging.INFO, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    parts = app.assemble(app.configure(config))
    return anyio.run(_run, parts)


async def _run(parts: Parts) -> int:
    stop = anyio.Event()
    status = 0
    async with anyio.create_task_group() as tasks:

        async def heed() -> None:
            nonlocal status
            with anyio.open_signal_receiver(signal.SIGINT, *ending.signals()) as signals:
                async for number in signals:
                    status = 130 if number == signal.SIGINT else 0
                    if stop.is_set():
                        tasks.cancel_scope.cancel()
                    log.info("stopping; answers in progress may end (once more to stop at once)")
                    stop.set()

        tasks.start_soon(heed)
        await app.serve(parts, watch=_report, ready=lambda: log.info("ready"), stop=stop)
        tasks.cancel_scope.cancel()
    return status


def _report(what: Envelope | RunEnded) -> None:
    if isinstance(what, RunEnded):
        log.info("run %s in %s: %s, messages: %d", what.run_id, what.conversation, what.reason, len(what.bubbles))
