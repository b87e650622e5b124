"""The recorded cases that the Slack adapter has to get right."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "cases"


def case(identifier: str) -> dict[str, Any]:
    """The case of that id; what is in ``input`` depends on it."""
    for path in FOLDER.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if (found := json.loads(line))["id"] == identifier:
                return found
    raise KeyError(identifier)
