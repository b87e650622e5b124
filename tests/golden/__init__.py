"""Recorded and composed provider streams, and what must be read from them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """One stream: its bytes, the events it means, the blocks it leaves for the replay (none where it failed)."""

    name: str
    data: bytes
    events: list[dict[str, Any]]
    native: list[dict[str, Any]] | None

    def __str__(self) -> str:
        return self.name


def load(protocol: str) -> list[Golden]:
    return [_load(file) for file in sorted(FOLDER.glob(f"{protocol}.*.sse"))]


def _load(file: Path) -> Golden:
    native = file.with_suffix(".native.json")
    lines = file.with_suffix(".jsonl").read_text(encoding="utf-8").split("\n")
    return Golden(
        name=file.name.split(".")[1],
        data=file.read_bytes(),
        events=[json.loads(line) for line in lines if line],
        native=json.loads(native.read_text(encoding="utf-8")) if native.exists() else None,
    )
