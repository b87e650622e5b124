"""``dragoman play``: a question to the bot on a platform that runs on this machine.

The gateway that answers is the real one, from its configuration file to the platform's SDK; only the other end of the
wire is ours. It ends when the run has ended and its last operation is settled.
"""

import json
import logging
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from gateway import app
from gateway.cli.screen import Screen
from gateway.cli.stage import Stage, open_stage
from gateway.conversation import RunEnded
from gateway.error import UsageError
from gateway.event import Envelope, JsonObject, to_json

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
    """Play; 0 where the run ended and all of it is on the screen."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    if options.json and not options.headless:
        msg = "--json goes with --headless: the terminal cannot show both"
        raise UsageError(msg)
    with TemporaryDirectory(prefix="dragoman-play-") as folder:
        return anyio.run(_play, options, Path(folder))


async def _play(options: Options, folder: Path) -> int:
    async with open_stage(options.platform, options.time_scale) as stage:
        configuration = folder / "dragoman.toml"
        configuration.write_text(_configuration(options, stage, folder), encoding="utf-8")
        record = await _answer(options, stage, configuration)
        if options.json:
            sys.stdout.write(json.dumps(_report(options, stage, record), ensure_ascii=False, indent=2) + "\n")
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
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: app.serve(parts, watch=watch, ready=connected.set, stop=stop))
        await connected.wait()
        if options.headless:
            stage.ask(options.say)
        else:
            await Screen(stage, options.save_svg).show(options.say, until=stop)
    return record


def _configuration(options: Options, stage: Stage, folder: Path) -> str:
    """The configuration that a user would write for this."""
    model: JsonObject = {"provider": MODELS[options.model], "name": "scripted", "max_tokens": 8192}
    if options.model == "scripted":
        script = options.script or app.data_folder() / "play" / "answer.md"
        model |= {"script": str(script.absolute()), "pace": options.pace}
    else:
        model |= {"name": app.configure(None).value("model", "name")}
    tables = {
        "model": model,
        "store": {"kind": "sqlite", "path": str(folder / "dragoman.db")},
        "pacing": {"time_scale": options.time_scale},
    }
    written = [
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    ]
    return "\n".join([*written, stage.configuration(folder, options.limit)])


def _report(options: Options, stage: Stage, record: Record) -> JsonObject:
    bubbles = record.ended.bubbles if record.ended else ()
    return {
        "platform": options.platform,
        "messages": [asdict(message) for message in stage.messages()],
        "chunks": [
            {"message": bubble.message_id, "text": bubble.text, "start": bubble.start, "end": bubble.end}
            for bubble in bubbles
        ],
        "calls": stage.calls(),
        "events": [json.loads(to_json(envelope)) for envelope in record.events],
        "end": record.ended.reason if record.ended else None,
    }
