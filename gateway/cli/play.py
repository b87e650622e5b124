"""``dragoman play``: a question to the bot on a platform that runs on this machine.

The gateway that answers is the real one, from its configuration file to the platform's SDK; only the other end of the
wire is ours. It ends when the run has ended and its last operation is settled.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from gateway import app
from gateway.address import Address
from gateway.cli import ending
from gateway.cli.log import begin
from gateway.cli.question import Listening, ask, read, refusal
from gateway.cli.screen import Screen, refuse_unwritable, summary
from gateway.cli.stage import Stage, open_stage, printed
from gateway.cli.table import Value, table
from gateway.conversation import RunEnded
from gateway.error import DragomanError, UsageError
from gateway.event import Envelope, JsonObject, to_json
from gateway.platform import Platform

SCRIPTED: dict[str, Value] = {"provider": "scripted", "name": "scripted", "max_tokens": 8192}
"""A script has no limit; the key is every model's."""

MODELS = {"anthropic": "anthropic_messages", "scripted": "scripted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for on the command line."""

    platforms: tuple[str, ...]
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
    """What the gateway told of one platform while it ran."""

    events: list[Envelope] = field(default_factory=list[Envelope])
    ended: RunEnded | None = None


def main(options: Options) -> int:
    """Play; 0 where the run ended and all of it is on the screen, 143 where SIGTERM ended it, 129 for SIGHUP."""
    begin(logging.WARNING, "%(levelname)s %(name)s: %(message)s")
    _refuse_nonsense(options)
    return anyio.run(_play, options)


def _refuse_nonsense(options: Options) -> None:
    read(options.say)
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
    async with AsyncExitStack() as stack:
        stages = [
            await stack.enter_async_context(open_stage(name, options.time_scale, options.faults))
            for name in options.platforms
        ]
        _refuse_long_messages(options, stages)
        configuration = folder / "dragoman.toml"
        configuration.write_text(_configuration(options, stages, folder), encoding="utf-8")
        records = await _answer(options, stages, configuration)
        if options.json:
            reports = [_report(options, stage, records[stage.name]) for stage in stages]
            printed = reports if len(reports) > 1 else reports[0]
            sys.stdout.write(json.dumps(printed, ensure_ascii=False, indent=2) + "\n")
        elif options.headless:
            sys.stdout.writelines(f"{line}\n" for line in map(summary, stages))
    return 0 if all(record.ended and record.ended.failure is None for record in records.values()) else 1


def _refuse_long_messages(options: Options, stages: Sequence[Stage]) -> None:
    for stage in stages:
        if options.limit > stage.longest:
            msg = f"--limit {options.limit}: a message on {stage.name} has room for {stage.longest} characters at most"
            raise UsageError(msg)


async def _answer(options: Options, stages: Sequence[Stage], configuration: Path) -> dict[str, Record]:
    """Start the gateway, ask on each platform, and stop it when the answers are there."""
    records, runs = {stage.name: Record() for stage in stages}, dict[str, list[Envelope]]()
    connected, stop = anyio.Event(), anyio.Event()

    def watch(what: Envelope | RunEnded) -> None:
        events = runs.setdefault(what.run_id, [])
        if isinstance(what, Envelope):
            events.append(what)
            return
        record = records[Address.from_key(what.conversation).platform]
        record.ended, record.events = what, events
        if all(each.ended for each in records.values()):
            stop.set()

    question, refused = read(options.say), list[str]()
    parts = app.assemble(app.configure(configuration))
    async with anyio.create_task_group() as tasks:

        def refuse(platform: str) -> None:
            refused.append(platform)
            tasks.cancel_scope.cancel()

        parts = replace(parts, platforms=tuple(_listening(each, refuse) for each in parts.platforms))
        tasks.start_soon(lambda: app.serve(parts, watch=watch, ready=connected.set, stop=stop))
        await connected.wait()
        if options.headless:
            for stage in stages:
                ask(stage, question)
        else:
            await Screen(stages, options.save_svg, options.faults).show(question, until=stop)
    if refused:
        raise refusal(refused[0], question)
    return records


def _listening(platform: Platform, refuse: Callable[[str], None]) -> Platform:
    return replace(platform, adapter=Listening(adapter=platform.adapter, commanded=lambda: refuse(platform.name)))


def _configuration(options: Options, stages: Sequence[Stage], folder: Path) -> str:
    """The configuration that a user would write for this."""
    try:
        return "\n".join(
            [
                table("model", _model(options)),
                table("store", {"kind": "sqlite", "path": str(folder / "dragoman.db")}),
                table("pacing", {"time_scale": options.time_scale}),
                *(table(stage.name, {**stage.settings(folder), "bubble": options.limit}) for stage in stages),
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
    taken = {} if options.faults is None else {"deleted": [printed(stage, message) for message in stage.taken()]}
    return {
        "platform": stage.name,
        "messages": [printed(stage, message) for message in stage.messages()],
        **taken,
        "chunks": [
            {"message": bubble.message_id, "text": bubble.text, "start": bubble.start, "end": bubble.end}
            for bubble in bubbles
        ],
        "calls": stage.calls(),
        "events": [json.loads(to_json(envelope)) for envelope in record.events],
        "end": record.ended.reason if record.ended else None,
    }
