"""The command as a user runs it: a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def play(cwd: Path, *arguments: str | Path) -> dict[str, Any]:
    """What ``dragoman play --headless --json`` printed of a run that went well."""
    done = dragoman("play", "--headless", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)
