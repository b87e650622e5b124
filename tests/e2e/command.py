"""The command as a user runs it: a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from adapters.loopback.slack import LoopbackSlack

DRAGOMAN = Path(sys.executable).parent / "dragoman"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours without the keys and tokens that a developer may have set, and with warnings as errors."""
    names = ("ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {"PYTHONWARNINGS": "error", "NO_COLOR": "1"} | dict(extra or {})


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
    (folder / "script.toml").write_text(turns, encoding="utf-8")
    (folder / "bot").write_text(slack.workspace.bot_token, encoding="utf-8")
    (folder / "app").write_text(slack.workspace.app_token, encoding="utf-8")
    scripted = f"""
provider = "scripted"
name = "scripted"
max_tokens = 1000
script = "{folder / "script.toml"}"
pace = {pace}
"""
    (folder / "dragoman.toml").write_text(
        f"""
[model]
{model or scripted}

[store]
kind = "sqlite"
path = "{folder / "dragoman.db"}"

[pacing]
time_scale = {slack.clock.scale}

[slack]
base_url = "{slack.base_url}"
bot_token = "file:{folder / "bot"}"
app_token = "file:{folder / "app"}"
allow_users = ["U1"]
allow_channels = ["C1"]
surface = "{surface}"
""",
        encoding="utf-8",
    )


@asynccontextmanager
async def running(folder: Path, slack: LoopbackSlack, *, listen: bool = False) -> AsyncGenerator[anyio.abc.Process]:
    """A gateway that is connected; killed at the end if it still runs.

    Args:
        folder: its working folder.
        slack: where it connects to.
        listen: its log goes to its ``stderr``, for ``logged``, instead of to a file.
    """
    before = slack.open_sockets
    with (folder / "log").open("ab") as log:
        async with await anyio.open_process(
            [str(DRAGOMAN), "run"], cwd=folder, env=environment(), stdout=log, stderr=subprocess.PIPE if listen else log
        ) as process:
            try:
                with anyio.fail_after(60):
                    await slack.until(lambda: slack.open_sockets > before)
                yield process
            finally:
                if process.returncode is None:
                    process.kill()
    with anyio.fail_after(60):
        await slack.until(lambda: slack.open_sockets == before)


def play(cwd: Path, *arguments: str | Path) -> dict[str, Any]:
    """What ``dragoman play --headless --json`` printed of a run that went well, and logged no traceback."""
    done = dragoman("play", "--headless", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout)
