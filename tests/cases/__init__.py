"""Inputs that broke other gateways, by their ids."""

import json
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def load(name: str) -> list[dict[str, Any]]:
    """The cases of one file."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def case(identifier: str) -> dict[str, Any]:
    """The case of that id; what is in ``input`` depends on it.

    Raises:
        KeyError: there is none.
    """
    for path in sorted(FOLDER.glob("*.jsonl")):
        for recorded in load(path.stem):
            if recorded["id"] == identifier:
                return recorded
    raise KeyError(identifier)


def waiting() -> dict[str, str]:
    """The cases that no test plays yet, with what each waits for."""
    listed: list[dict[str, Any]] = tomllib.loads((FOLDER / "waiting.toml").read_text(encoding="utf-8"))["waiting"]
    return {identifier: each["reason"] for each in listed for identifier in each["cases"]}
