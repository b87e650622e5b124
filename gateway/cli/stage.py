"""Platforms on loopback, as the command needs them.

What ``play`` shows and prints comes from here, from what the platform was told, and not from our own events.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from gateway.cli.table import Value
from gateway.event import JsonObject


class Shown(Protocol):
    """A message as a reader's client is given it. ``entities`` mark its text up, where that does not do so itself."""

    @property
    def id(self) -> str:
        """The platform's name for it."""
        ...

    @property
    def author(self) -> str:
        """Either user or bot."""
        ...

    @property
    def text(self) -> str:
        """What was sent."""
        ...

    @property
    def edited(self) -> bool:
        """Whether it was ever changed."""
        ...

    @property
    def thread(self) -> str | None:
        """Where it stands in its channel."""
        ...

    @property
    def entities(self) -> Sequence[Mapping[str, object]] | None:
        """What marks the text up, or none."""
        ...


class Stage(Protocol):
    """What the command uses of an ``adapters.loopback.venue.Venue``."""

    name: str
    longest: int

    def settings(self, folder: Path) -> Mapping[str, Value]:
        """The platform's table in a configuration; its secrets go into the folder."""
        ...

    def press(self, who: Literal["ada", "bob"], message_id: str, data: str, *, stale: bool = False) -> None:
        """Let somebody press the button of a message; ``stale``: also one that it had once."""
        ...

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """What is on a message's buttons, and their data."""
        ...

    def ask(self, text: str, *, who: Literal["ada", "bob"] = "ada", shared: bool = False) -> str:
        """Let somebody ask the bot; the id of the message.

        Raises:
            ValueError: the platform's client does not send that.
        """
        ...

    def messages(self) -> list[Any]:
        """All there are, oldest first."""
        ...

    def taken(self) -> list[Any]:
        """What readers took away, as it stood."""
        ...

    def calls(self) -> list[JsonObject]:
        """All that the bot asked, and how it was answered."""
        ...

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Call the observer after every change, until the returned function is called."""
        ...


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
    return report if message.entities is None else report | {"entities": list(message.entities)}
