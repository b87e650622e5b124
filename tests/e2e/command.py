"""The command as a user runs it: a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from adapters.loopback.slack import LoopbackSlack
from adapters.loopback.slack.venue import SlackVenue
from adapters.loopback.venue import Value, Venue
from gateway.cli.table import table

ROOT = Path(__file__).parents[2]
DRAGOMAN = Path(sys.executable).parent / "dragoman"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours without the keys and tokens that a developer may have set, with warnings as errors, and with this checkout.

    The command's environment may be another checkout's.
    """
    names = ("ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "DISCORD_BOT_TOKEN", "TELEGRAM_BOT_TOKEN")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    own = {"PYTHONWARNINGS": "error", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    return kept | own | dict(extra or {})


def dragoman(
    *arguments: str | Path, cwd: Path, text: str | None = None, extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [DRAGOMAN, *arguments],
        cwd=cwd,
        env=environment(extra),
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_configuration(
    folder: Path, slack: LoopbackSlack, turns: str = "", *, model: str = "", pace: float = 0, surface: str = "edit"
) -> None:
    """Configure a gateway for a Slack.

    Args:
        folder: where ``dragoman.toml`` and all that it names are to be.
        slack: where it connects to.
        turns: what the scripted model says.
        model: the table of another model, instead.
        pace: deltas a second of the scripted one.
        surface: how answers are shown.
    """
    tokens = {"bot": slack.workspace.bot_token, "app": slack.workspace.app_token}
    settings: dict[str, Value] = {"surface": surface}
    for name, token in tokens.items():
        (folder / name).write_text(token, encoding="utf-8")
        settings[f"{name}_token"] = f"file:{folder / name}"
    configure(folder, SlackVenue(slack), slack.clock.scale, turns, model=model, pace=pace, settings=settings)


def configure(
    folder: Path,
    venue: Venue,
    time_scale: float,
    turns: str = "",
    *,
    model: str = "",
    pace: float = 0,
    settings: Mapping[str, Value] | None = None,
    tools: Mapping[str, Value] | None = None,
) -> None:
    """Configure a gateway for any platform; see ``write_configuration``.

    Args:
        folder: as there.
        venue: where it connects to.
        time_scale: platform seconds in a real one.
        turns: as there.
        model: as there.
        pace: as there.
        settings: over those of the venue.
        tools: over those of the built-in table, where there are some.
    """
    (folder / "script.toml").write_text(turns, encoding="utf-8")
    script = {"script": str(folder / "script.toml"), "pace": pace}
    scripted = table("model", {"provider": "scripted", "name": "scripted", "max_tokens": 1000} | script)
    tables = (
        f"[model]\n{model}" if model else scripted,
        table("store", {"kind": "sqlite", "path": str(folder / "dragoman.db")}),
        table("pacing", {"time_scale": time_scale}),
        table(venue.name, venue.settings(folder) | dict(settings or {})),
        *([] if tools is None else [table("tools", {"files": str(folder / "files")} | dict(tools))]),
    )
    (folder / "dragoman.toml").write_text("\n".join(tables), encoding="utf-8")


def running(
    folder: Path, slack: LoopbackSlack, *, listen: bool = False
) -> AbstractAsyncContextManager[anyio.abc.Process]:
    """A gateway that is connected to a Slack; killed at the end if it still runs.

    Args:
        folder: its working folder.
        slack: where it connects to.
        listen: its log goes to its ``stderr``, for ``logged``, instead of to a file.
    """
    return connected(folder, SlackVenue(slack), listen=listen)


@asynccontextmanager
async def connected(folder: Path, venue: Venue, *, listen: bool = False) -> AsyncGenerator[anyio.abc.Process]:
    """The same on any platform."""
    before = venue.listeners()
    with (folder / "log").open("ab") as log:
        async with await anyio.open_process(
            [str(DRAGOMAN), "run"], cwd=folder, env=environment(), stdout=log, stderr=subprocess.PIPE if listen else log
        ) as process:
            try:
                with anyio.fail_after(60):
                    await venue.until(lambda: venue.listeners() > before)
                yield process
            finally:
                if process.returncode is None:
                    process.kill()
    with anyio.fail_after(60):
        await venue.until(lambda: venue.listeners() == before)


def play(cwd: Path, *arguments: str | Path) -> dict[str, Any]:
    """What ``dragoman play --headless --json`` printed of a run that went well, and logged no traceback."""
    done = dragoman("play", "--headless", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout)
