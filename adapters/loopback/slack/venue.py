"""Slack as a venue: a workspace in whose channel #general somebody mentions the bot."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.loopback.slack.loopback import LoopbackSlack
from adapters.loopback.slack.message import Message
from adapters.loopback.slack.workspace import Channel, User, Workspace
from adapters.loopback.venue import Doing, Happened, Shown, Trouble, Value, Venue, Where, Who

USERS: dict[Who, str] = {"ada": "U1", "bob": "U2", "robot": "U3"}
METHODS: dict[Doing, str] = {
    "post": "chat.postMessage",
    "edit": "chat.update",
    "delete": "chat.delete",
    "tell": "chat.postEphemeral",
    "connect": "auth.test",
}
LINK = re.compile(r"https?://[^\s<>|)]+")
CHANNEL = "C1"
DIRECT: dict[Who, str] = {"ada": "D1", "bob": "D2"}

WORKSPACE = Workspace(
    users=(*Workspace().users, User(id="U3", name="robot", bot_id="B3")),
    channels=(*Workspace().channels, Channel(id="D2", name="bob", type="im", user="U2")),
)


@asynccontextmanager
async def open_venue(time_scale: float, faults: int | None = None) -> AsyncGenerator[Venue]:
    """A Slack that listens while the context lasts; with ``faults``, a seed, it misbehaves."""
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=time_scale) as slack:
        if faults is not None:
            slack.misbehave(faults)
        yield SlackVenue(slack)


class SlackVenue:
    """See ``adapters.loopback.venue.Venue``."""

    name = "slack"
    longest = 11_500

    def __init__(self, slack: LoopbackSlack) -> None:
        self._slack = slack

    def settings(self, folder: Path) -> dict[str, Value]:
        """See ``Venue``."""
        for name in ("bot_token", "app_token"):
            (folder / f"slack_{name}").write_text(getattr(self._slack.workspace, name), encoding="utf-8")
        return {
            "bot_token": f"file:{folder / 'slack_bot_token'}",
            "app_token": f"file:{folder / 'slack_app_token'}",
            "base_url": self._slack.base_url,
            "allow_users": [USERS["ada"]],
            "allow_channels": [CHANNEL],
        }

    def ask(self, text: str, *, who: Who = "ada", shared: bool = False) -> str:
        """See ``Venue``. A channel is always shared."""
        del shared
        return self.say(text, who=who)

    def say(
        self,
        text: str,
        *,
        who: Who = "ada",
        where: Where = "channel",
        addressed: bool = True,
        beside: str | None = None,
    ) -> str:
        """See ``Venue``. A conversation of a channel is a thread."""
        if beside is None:
            channel, thread = CHANNEL if where == "channel" else DIRECT[who], None
        else:
            there = self._find(beside)
            channel, root = there.channel, there.thread_ts or there.ts
            thread = root if channel == CHANNEL or there.is_reply else None
        return self._slack.say(USERS[who], channel, text, thread, mention=addressed).ts

    def command(self, word: str, argument: str = "", *, who: Who = "ada", beside: str | None = None) -> str:
        """See ``Venue``."""
        direct = beside is not None and self._find(beside).channel in DIRECT.values()
        return self.say(f"{'!' if direct else ''}{word} {argument}".rstrip(), who=who, beside=beside)

    def press(self, who: Who, message_id: str, data: str, *, stale: bool = False) -> None:
        """See ``Venue``."""
        self._slack.press(USERS[who], self._find(message_id).channel, message_id, data, stale=stale)

    def edit(self, message_id: str, text: str) -> None:
        """See ``Venue``."""
        message = self._find(message_id)
        named = f"<@{self._slack.workspace.bot_user}> {text}" if message.channel == CHANNEL else text
        self._slack.edit(message.channel, message_id, named)

    def delete(self, message_id: str) -> None:
        """See ``Venue``."""
        self._slack.delete(self._find(message_id).channel, message_id)

    def repeat(self, what: Happened = "message") -> None:
        """See ``Venue``."""
        if what == "press":
            self._slack.repeat_press()
        else:
            self._slack.redeliver(next(each.event_id for each in reversed(self._slack.envelopes) if each.event_id))

    def outdate(self) -> None:
        """See ``Venue``. On Slack it is never too late to say something to somebody."""

    def trouble(self, doing: Doing, trouble: Trouble) -> None:
        """See ``Venue``."""
        method = METHODS[doing]
        match trouble:
            case "limited":
                self._slack.fail_next(method, retry_after=7)
            case "failed":
                self._slack.fail_next(method, status=500)
            case "cut":
                self._slack.fail_next(method, status=0)
            case "lost":
                self._slack.lose_answer_next(method, status=0)

    def refuse(self) -> None:
        """See ``Venue``."""
        for method in ("auth.test", "apps.connections.open"):
            self._slack.fail_next(method, "token_revoked", times=100)

    def drop(self) -> None:
        """See ``Venue``."""
        self._slack.drop_sockets()

    def listeners(self) -> int:
        """See ``Venue``."""
        return self._slack.open_sockets

    def secrets(self) -> Sequence[str]:
        """See ``Venue``."""
        return self._slack.workspace.bot_token, self._slack.workspace.app_token

    def messages(self) -> list[Shown]:
        """See ``Venue``."""
        return [self._shown(message) for message in self._slack.messages()]

    def taken(self) -> list[Shown]:
        """See ``Venue``."""
        return [self._shown(message) for message in self._slack.taken]

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """See ``Venue``."""
        buttons = self._slack.buttons(self._find(message_id).channel, message_id)
        return [(button.label, button.value) for button in buttons]

    def whispers(self, who: Who) -> list[str]:
        """See ``Venue``."""
        return [message.display for message in self._slack.whispers(USERS[who])]

    def waiting(self) -> int:
        """See ``Venue``."""
        return self._slack.unanswered_presses

    def calls(self) -> list[dict[str, object]]:
        """See ``Venue``."""
        return self._slack.calls.to_json()

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """See ``Venue``."""
        return self._slack.subscribe(lambda _: observer())

    def until(self, condition: Callable[[], object]) -> Awaitable[object]:
        """See ``Venue``."""
        return self._slack.until(condition)

    def _find(self, message_id: str) -> Message:
        for message in self._slack.messages(deleted=True):
            if message.ts == message_id:
                return message
        raise LookupError(message_id)

    def _shown(self, message: Message) -> Shown:
        """As Slack's client is given it; the mention is a name there."""
        workspace = self._slack.workspace
        text = message.display
        if message.author == "user":
            text = text.replace(f"<@{workspace.bot_user}>", f"@{workspace.bot_name}")
        return Shown(
            id=message.ts,
            author=message.author,
            text=text,
            edited=message.edited,
            where="direct" if message.channel in DIRECT.values() else "channel",
            thread=message.thread_ts,
            pings=[ping.raw for ping in message.pings],
            previews=[] if message.original.unfurl_links is False else LINK.findall(text),
        )
