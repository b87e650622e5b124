"""Platforms on loopback, as the command needs them.

What ``play`` shows and prints comes from here, from what the platform was told, and not from our own events.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from gateway.cli.table import Value
from gateway.event import JsonObject


class Shown(Protocol):
    """A message as a reader's client is given it. ``entities`` mark its text up, where that does not do so itself."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def author(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def edited(self) -> bool: ...  # noqa: D102
    @property
    def thread(self) -> str | None: ...  # noqa: D102
    @property
    def entities(self) -> object: ...  # noqa: D102


class Stage(Protocol):
    """What the command uses of an ``adapters.loopback.venue.Venue``, where each of these is explained."""

    name: str
    longest: int

    def settings(self, folder: Path) -> Mapping[str, Value]: ...  # noqa: D102
    def ask(self, text: str) -> str: ...  # noqa: D102
    def messages(self) -> list[Any]: ...  # noqa: D102
    def taken(self) -> list[Any]: ...  # noqa: D102
    def calls(self) -> list[JsonObject]: ...  # noqa: D102
    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]: ...  # noqa: D102


def open_stage(platform: str, time_scale: float, faults: int | None = None) -> AbstractAsyncContextManager[Stage]:
    """The platform of that name, listening on this machine while the context lasts.

    With ``faults``, a seed, it misbehaves.
    """
    return import_module(f"adapters.loopback.{platform}").open_venue(time_scale, faults)


def seen(stage: Stage, message: Shown) -> str:
    """A message's text as people see it: what an adapter put in so that nothing pings takes no room on a screen."""
    undo = getattr(import_module(f"adapters.{stage.name}"), "undo", None)
    return undo(message.text) if undo is not None and message.author == "bot" else message.text


def printed(stage: Stage, message: Shown) -> JsonObject:
    """A message as ``--json`` prints it."""
    report: JsonObject = {
        "id": message.id,
        "author": message.author,
        "text": seen(stage, message),
        "edited": message.edited,
        "thread": message.thread,
    }
    return report if message.entities is None else report | {"entities": message.entities}
