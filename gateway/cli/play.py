"""``dragoman play``: a question to the bot on a platform that runs on this machine.

The gateway that answers is the real one, from its configuration file to the platform's SDK; only the other end of the
wire is ours. It ends when the run has ended and its last operation is settled.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from gateway import app, script
from gateway.address import Address
from gateway.cli import ending
from gateway.cli.log import begin
from gateway.cli.people import People
from gateway.cli.question import Listening, ask, read, refusal
from gateway.cli.screen import Screen, refuse_unwritable, summary
from gateway.cli.stage import Stage, open_stage, printed
from gateway.cli.table import Value, table
from gateway.conversation import RunEnded
from gateway.error import DragomanError, UsageError
from gateway.event import Envelope, JsonObject, to_json
from gateway.platform import Platform
from gateway.script import ScriptedUser

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
    ended: list[RunEnded] = field(default_factory=list[RunEnded])


@dataclass(slots=True)
class Seen:
    """Writes down what the gateway tells, and wakes whoever may have waited for that."""

    records: Mapping[str, Record]
    people: Sequence[People]
    runs: dict[str, list[Envelope]] = field(default_factory=dict[str, list[Envelope]])

    @property
    def begun(self) -> bool:
        """Whether there was a run."""
        return bool(self.runs)

    def watch(self, what: Envelope | RunEnded) -> None:
        """See ``gateway.conversation.Watch``."""
        events = self.runs.setdefault(what.run_id, [])
        if isinstance(what, Envelope):
            events.append(what)
            return
        record = self.records[Address.from_key(what.conversation).platform]
        record.ended.append(what)
        record.events += events
        for each in self.people:
            each.wake()


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
    return (
        0
        if all(record.ended and all(ended.failure is None for ended in record.ended) for record in records.values())
        else 1
    )


def _refuse_long_messages(options: Options, stages: Sequence[Stage]) -> None:
    for stage in stages:
        if options.limit > stage.longest:
            msg = f"--limit {options.limit}: a message on {stage.name} has room for {stage.longest} characters at most"
            raise UsageError(msg)


async def _answer(options: Options, stages: Sequence[Stage], configuration: Path) -> dict[str, Record]:
    """Start the gateway, ask on each platform, and stop it when the answers are there."""
    records = {stage.name: Record() for stage in stages}
    people = [People(stage, _users(options), lambda record=records[stage.name]: len(record.ended)) for stage in stages]
    connected, stop, seen = anyio.Event(), anyio.Event(), Seen(records, people)
    question, refused, lost = read(options.say), list[str](), list[UsageError]()

    def put() -> None:
        for each in people:
            ask(each.stage, question, shared=each.shared)

    parts = app.assemble(app.configure(configuration))
    async with anyio.create_task_group() as tasks:

        def refuses(platform: str) -> bool:
            if seen.begun:
                return False  # somebody of the script gave it
            refused.append(platform)
            tasks.cancel_scope.cancel()
            return True

        parts = replace(parts, platforms=tuple(_listening(each, refuses) for each in parts.platforms))
        tasks.start_soon(lambda: app.serve(parts, watch=seen.watch, ready=connected.set, stop=stop))
        await connected.wait()
        tasks.start_soon(_act, people, stop, lost)
        if options.headless:
            put()
        else:
            await Screen(stages, options.save_svg, options.faults).show(put, until=stop)
    if refused:
        raise refusal(refused[0], question)
    if lost:
        raise lost[0]
    return records


async def _act(people: Sequence[People], stop: anyio.Event, lost: list[UsageError]) -> None:
    """Let everybody do what they do, and end when that is done, and all is answered; or when it never will be."""

    async def act(each: People) -> None:
        try:
            await each.act()
        except UsageError as error:
            lost.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for each in people:
            tasks.start_soon(act, each)
    stop.set()


def _listening(platform: Platform, refuses: Callable[[str], bool]) -> Platform:
    return replace(platform, adapter=Listening(adapter=platform.adapter, refuses=lambda: refuses(platform.name)))


def _users(options: Options) -> tuple[ScriptedUser, ...]:
    return () if options.script is None else script.read(options.script).users


def _configuration(options: Options, stages: Sequence[Stage], folder: Path) -> str:
    """The configuration that a user would write for this."""
    try:
        return "\n".join(
            [
                table("model", _model(options)),
                tool_table(options, folder),
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


def tool_table(options: Options, folder: Path) -> str:
    """The table of the tools: those of the script, and of the built-in ones whose names it leaves free."""
    files: dict[str, Value] = {"files": str(folder / "files")}
    if options.script is None or not (tools := script.read(options.script).tools):
        return table("tools", files)
    enabled = [name for name in _enabled() if name not in {tool.name for tool in tools}]
    return table("tools", files | {"enable": enabled, "script": str(options.script.absolute())})


def _enabled() -> Sequence[str]:
    return app.configure(app.data_folder() / "defaults.toml").table("tools")["enable"]


def _report(options: Options, stage: Stage, record: Record) -> JsonObject:
    bubbles = [bubble for ended in record.ended for bubble in ended.bubbles]
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
        "end": record.ended[-1].reason if record.ended else None,
    }
