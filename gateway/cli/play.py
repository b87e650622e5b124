"""``dragoman play``: a question to the bot on a platform that runs on this machine.

The gateway that answers is the real one, from its configuration file to the platform's SDK; only the other end of the
wire is ours. It ends when the run has ended and its last operation is settled.
"""

import json
import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from gateway import app
from gateway.cli import ending
from gateway.cli.log import begin
from gateway.cli.screen import Screen, refuse_unwritable, summary
from gateway.cli.stage import Stage, open_stage
from gateway.cli.table import Value, table
from gateway.conversation import RunEnded
from gateway.error import DragomanError, UsageError
from gateway.event import Envelope, JsonObject, to_json

SCRIPTED: dict[str, Value] = {"provider": "scripted", "name": "scripted", "max_tokens": 8192}
"""A script has no limit; the key is every model's."""

MODELS = {"anthropic": "anthropic_messages", "scripted": "scripted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for on the command line."""

    platform: str
    say: str
    script: Path | None
    model: str
    limit: int
    pace: float
    faults: int | None
    time_scale: float
    headless: bool
    json: bool
    save_svg: Path | None


@dataclass(slots=True)
class Record:
    """What the gateway told while it ran."""

    events: list[Envelope]
    ended: RunEnded | None = None


def main(options: Options) -> int:
    """Play; 0 where the run ended and all of it is on the screen, 143 where SIGTERM ended it, 129 for SIGHUP."""
    begin(logging.WARNING, "%(levelname)s %(name)s: %(message)s")
    _refuse_nonsense(options)
    return anyio.run(_play, options)


def _refuse_nonsense(options: Options) -> None:
    if options.json and not options.headless:
        msg = "--json goes with --headless: the terminal cannot show both"
        raise UsageError(msg)
    if options.script is not None and options.model != "scripted":
        msg = f"--script does not go with --model {options.model}: it is what the scripted model answers"
        raise UsageError(msg)
    if options.save_svg is not None and options.headless:
        msg = "--save-svg does not go with --headless: it keeps what the terminal shows"
        raise UsageError(msg)
    if options.save_svg is not None:
        refuse_unwritable(options.save_svg)


async def _play(options: Options) -> int:
    """Play until it is over, or until a signal ends it; either way nothing is left behind."""
    status = 1
    with anyio.open_signal_receiver(*ending.signals()) as signals:
        async with anyio.create_task_group() as tasks:

            async def heed() -> None:
                nonlocal status
                async for number in signals:
                    status = 128 + number
                    tasks.cancel_scope.cancel()

            tasks.start_soon(heed)
            with _folder() as folder:
                status = await _played(options, folder)
            tasks.cancel_scope.cancel()
    return status


@contextmanager
def _folder() -> Generator[Path]:
    """A folder for what a gateway keeps, gone when the context is left."""
    try:
        folder = TemporaryDirectory(prefix="dragoman-play-")
    except OSError as error:
        msg = f"there is no place for temporary files: {error.strerror}; name a folder in TMPDIR"
        raise DragomanError(msg) from error
    with folder as name:
        yield Path(name)


async def _played(options: Options, folder: Path) -> int:
    async with open_stage(options.platform, options.time_scale, options.faults) as stage:
        configuration = folder / "dragoman.toml"
        configuration.write_text(_configuration(options, stage, folder), encoding="utf-8")
        record = await _answer(options, stage, configuration)
        if options.json:
            sys.stdout.write(json.dumps(_report(options, stage, record), ensure_ascii=False, indent=2) + "\n")
        elif options.headless:
            sys.stdout.write(summary(stage) + "\n")
    return 0 if record.ended and record.ended.failure is None else 1


async def _answer(options: Options, stage: Stage, configuration: Path) -> Record:
    """Start the gateway, ask, and stop it when the answer is there."""
    record = Record(events=[])
    connected, stop = anyio.Event(), anyio.Event()

    def watch(what: Envelope | RunEnded) -> None:
        if isinstance(what, RunEnded):
            record.ended = what
            stop.set()
        else:
            record.events.append(what)

    parts = app.assemble(app.configure(configuration))
    question = os.fsencode(options.say).decode("utf-8", errors="replace")  # as typed, whatever the locale makes of it
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: app.serve(parts, watch=watch, ready=connected.set, stop=stop))
        await connected.wait()
        if options.headless:
            stage.ask(question)
        else:
            await Screen(stage, options.save_svg).show(question, until=stop)
    return record


def _configuration(options: Options, stage: Stage, folder: Path) -> str:
    """The configuration that a user would write for this."""
    try:
        return "\n".join(
            [
                table("model", _model(options)),
                table("store", {"kind": "sqlite", "path": str(folder / "dragoman.db")}),
                table("pacing", {"time_scale": options.time_scale}),
                stage.configuration(folder, options.limit),
            ]
        )
    except UnicodeEncodeError as error:
        msg = f"{os.fsencode(error.object)!r}: a configuration cannot name this file, for its name is not UTF-8"
        raise UsageError(msg) from error


def _model(options: Options) -> dict[str, Value]:
    """The model's table: the user's own where that is for this protocol, else the built-in one."""
    if options.model == "scripted":
        script = options.script or app.data_folder() / "play" / "answer.md"
        return SCRIPTED | {"script": str(script.absolute()), "pace": options.pace}
    written = app.configure(None).table("model")
    if written.get("provider") == MODELS[options.model]:
        return written
    return app.configure(app.data_folder() / "defaults.toml").table("model")


def _report(options: Options, stage: Stage, record: Record) -> JsonObject:
    bubbles = record.ended.bubbles if record.ended else ()
    taken = {} if options.faults is None else {"deleted": [asdict(message) for message in stage.taken()]}
    return {
        "platform": options.platform,
        "messages": [asdict(message) for message in stage.messages()],
        **taken,
        "chunks": [
            {"message": bubble.message_id, "text": bubble.text, "start": bubble.start, "end": bubble.end}
            for bubble in bubbles
        ],
        "calls": stage.calls(),
        "events": [json.loads(to_json(envelope)) for envelope in record.events],
        "end": record.ended.reason if record.ended else None,
    }
