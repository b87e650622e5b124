"""Platforms on loopback, as ``play`` needs them: where the gateway connects to, what users do, what is on the screen.

What ``play`` shows and prints comes from here, from what the platform was told, and not from our own events.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from gateway.cli.table import table
from gateway.event import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a reader's client shows it."""

    id: str
    author: str
    text: str
    edited: bool
    thread: str | None


class Stage(Protocol):
    """A platform with one user who asks and one bot who answers."""

    def configuration(self, folder: Path, bubble: int) -> str:
        """The platform's table for ``dragoman.toml``; secrets go into files of the folder."""
        ...

    def ask(self, text: str) -> str:
        """Let the user address the bot; the id of the message."""
        ...

    def messages(self) -> list[Shown]:
        """The conversation, oldest first."""
        ...

    def taken(self) -> list[Shown]:
        """What its readers deleted of what the bot wrote, as it stood."""
        ...

    def calls(self) -> list[JsonObject]:
        """Every call that the gateway made, and how it was answered."""
        ...

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Call the observer after every change, until the returned function is called."""
        ...


def open_stage(platform: str, time_scale: float, faults: int | None = None) -> AbstractAsyncContextManager[Stage]:
    """The platform of that name, listening on this machine while the context lasts.

    With ``faults``, a seed, it misbehaves.
    """
    return STAGES[platform](time_scale, faults)


class SlackStage:
    """A workspace in whose channel #general somebody mentions the bot."""

    USER = "U1"
    CHANNEL = "C1"

    def __init__(self, slack: Any) -> None:
        self._slack = slack
        self._undo: Callable[[str], str] = import_module("adapters.slack.render").undo

    @classmethod
    @asynccontextmanager
    async def open(cls, time_scale: float, faults: int | None) -> AsyncGenerator[Stage]:
        """Listen while the context lasts."""
        async with import_module("adapters.loopback.slack").LoopbackSlack(time_scale=time_scale) as slack:
            if faults is not None:
                slack.misbehave(faults)
            yield cls(slack)

    def configuration(self, folder: Path, bubble: int) -> str:
        """See ``Stage``."""
        workspace = self._slack.workspace
        for name in ("bot_token", "app_token"):
            (folder / name).write_text(getattr(workspace, name), encoding="utf-8")
        return table(
            "slack",
            {
                "bot_token": f"file:{folder / 'bot_token'}",
                "app_token": f"file:{folder / 'app_token'}",
                "base_url": self._slack.base_url,
                "allow_users": [self.USER],
                "allow_channels": [self.CHANNEL],
                "bubble": bubble,
            },
        )

    def ask(self, text: str) -> str:
        """See ``Stage``."""
        return self._slack.say(self.USER, self.CHANNEL, text).ts

    def messages(self) -> list[Shown]:
        """See ``Stage``."""
        return [self._shown(message) for message in self._slack.messages()]

    def taken(self) -> list[Shown]:
        """See ``Stage``."""
        return [self._shown(message) for message in self._slack.taken]

    def calls(self) -> list[JsonObject]:
        """See ``Stage``."""
        return self._slack.calls.to_json()

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """See ``Stage``."""

        def tell(_: object) -> None:
            observer()

        return self._slack.subscribe(tell)

    def _shown(self, message: Any) -> Shown:
        """As Slack's client shows it: our own escapes are invisible there, and the mention is a name."""
        markdown, workspace = message.content.markup == "markdown", self._slack.workspace
        text = self._undo(message.text) if markdown else message.display
        return Shown(
            id=message.id,
            author=message.author,
            text=text.replace(f"<@{workspace.bot_user}>", f"@{workspace.bot_name}")
            if message.author == "user"
            else text,
            edited=message.edited,
            thread=message.thread_ts,
        )


STAGES = {"slack": SlackStage.open}
