"""One face for every platform on loopback: what ``dragoman play`` and the contract suite need of each.

A platform's folder has a function ``open_venue(time_scale, faults)``; so whoever adds a platform adds it there, and
nowhere else. On a venue there are ada, whom the bot may answer, and bob, a stranger.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Value = str | bool | int | float | Sequence[str]

Who = Literal["ada", "bob", "robot"]
"""Somebody allowed, a stranger, and another bot."""

Where = Literal["channel", "direct"]
"""Where several people talk, and where somebody talks to the bot alone."""

Doing = Literal["post", "edit", "delete", "tell", "connect"]
"""What the bot may want to do. ``tell`` is to answer a press, or to say something to one person alone. ``connect`` is
the first thing that it asks before events arrive."""

Trouble = Literal["limited", "failed", "cut", "lost"]
"""``limited``: refused by a rate limit, for 7 platform seconds. ``failed``: not done, and answered with an error of the
server's. ``cut``: not done, the connection is cut. ``lost``: done, and the connection is cut."""

Happened = Literal["message", "press"]
"""What the bot is told of: that something was said, or that a button was pressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as a reader's client is given it.

    ``entities`` mark its text up, where that does not do so itself. ``plain`` is what a reader sees of a text whose
    markup is all escaped, where that differs. ``pings`` are those whom it calls in any of its
    versions, ``previews`` the links that it unfolds.
    """

    id: str
    author: Literal["user", "bot"]
    text: str
    edited: bool
    where: Where = "channel"
    thread: str | None = None
    entities: Sequence[Mapping[str, object]] | None = None
    pings: Sequence[str] = ()
    previews: Sequence[str] = ()
    plain: str | None = None


class Venue(Protocol):
    """A platform that listens on this machine.

    ``name`` is the platform's, and ``longest`` how long a message can be configured to be.
    """

    name: str
    longest: int

    def settings(self, folder: Path) -> dict[str, Value]:
        """The platform's table in a configuration that lets ada talk to the bot; its secrets go into the folder."""
        ...

    def ask(self, text: str, *, who: Who = "ada", shared: bool = False) -> str:
        """Let somebody ask the bot, as one does on this platform; its id, the first if there are several.

        With ``shared`` where others are, too, who see the answer and may press its buttons.

        Raises:
            ValueError: the platform's client does not send that.
        """
        ...

    def say(
        self,
        text: str,
        *,
        who: Who = "ada",
        where: Where = "channel",
        addressed: bool = True,
        beside: str | None = None,
    ) -> str:
        """Let somebody write; the platform's own id of the message.

        With ``beside``, the id of a message, in the conversation that it stands in, wherever that is.
        """
        ...

    def command(self, word: str, argument: str = "", *, who: Who = "ada", beside: str | None = None) -> str:
        """Let somebody give the bot a command, as one does on this platform; the id of the message.

        ``beside`` as for ``say``.
        """
        ...

    def press(self, who: Who, message_id: str, data: str, *, stale: bool = False) -> None:
        """Let somebody press the button of a message of the bot's that has that data.

        With ``stale`` also one that the message had once: a client may show it still.

        Raises:
            LookupError: there is no such button, and with ``stale`` there never was.
        """
        ...

    def edit(self, message_id: str, text: str) -> None:
        """Let its author change a message."""
        ...

    def delete(self, message_id: str) -> None:
        """Let a reader take a message away, anybody's."""
        ...

    def repeat(self, what: Happened = "message") -> None:
        """Deliver the last event of a kind once more, as it was."""
        ...

    def outdate(self) -> None:
        """Let so much time have passed since every press that it is too late to answer, where there is a too late."""
        ...

    def trouble(self, doing: Doing, trouble: Trouble) -> None:
        """Let the next attempt at it go wrong."""
        ...

    def refuse(self) -> None:
        """Do not take the bot's secret any more."""
        ...

    def drop(self) -> None:
        """Cut every connection on which the bot listens."""
        ...

    def listeners(self) -> int:
        """How many connections there are on which the bot listens."""
        ...

    def secrets(self) -> Sequence[str]:
        """What must never be shown."""
        ...

    def messages(self) -> list[Shown]:
        """All messages there are, oldest first."""
        ...

    def taken(self) -> list[Shown]:
        """What its readers deleted of what the bot wrote, as it stood, where they do so by themselves."""
        ...

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """The buttons that a message has now, in their order: what is on each, and its data."""
        ...

    def whispers(self, who: Who) -> list[str]:
        """What the bot said to somebody alone, oldest first, as their client shows it."""
        ...

    def waiting(self) -> int:
        """How many presses there are whose presser's client waits for the bot still."""
        ...

    def calls(self) -> list[dict[str, object]]:
        """Every call that the bot made, and how it was answered."""
        ...

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Call the observer after every change, until the returned function is called."""
        ...

    def until(self, condition: Callable[[], object]) -> Awaitable[object]:
        """Wait until a condition holds, asking it after every change."""
        ...
