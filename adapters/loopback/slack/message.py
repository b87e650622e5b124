"""A message, all that was ever shown under its id, and how Slack writes it on the wire."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from adapters.loopback.slack.block import text_of
from adapters.loopback.slack.markup import unescape
from adapters.loopback.slack.ping import Ping

Author = Literal["user", "bot"]
Markup = Literal["markdown", "mrkdwn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one call put into a message.

    Attributes:
        text: ``markdown_text`` or ``text``, as sent; what a user wrote, as Slack passes it on.
        markup: how Slack reads it.
        blocks: as sent.
        attachments: as sent.
        metadata: as sent; none where there is none.
        unfurl_links: as sent, none where the call was silent; likewise the next three.
        pings: what Slack would resolve.
    """

    text: str
    markup: Markup = "mrkdwn"
    blocks: Sequence[object] = ()
    attachments: Sequence[object] = ()
    metadata: Mapping[str, object] | None = None
    unfurl_links: bool | None = None
    unfurl_media: bool | None = None
    parse: str | None = None
    link_names: bool | None = None
    pings: tuple[Ping, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit: when (platform seconds, and as Slack's id of the edit), to what, and whether it changed anything."""

    t: float
    ts: str
    content: Content
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """An emoji's name, and who put it there."""

    name: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it stands now, with its history.

    Attributes:
        channel: the channel's id.
        ts: the message's id, unique in the server, increasing.
        t: platform seconds since the server's start.
        author: "bot" for ours only; other bots are users with a ``bot_id``.
        user: the author's user id.
        bot_id: the author's bot id, if it is a bot.
        content: what is shown now.
        original: what was posted.
        edits: all edits, oldest first, also those that changed nothing.
        thread_ts: the thread's first message, if this is a reply or has replies to it.
        asked_thread: the ``thread_ts`` of the call; differs from ``thread_ts`` where Slack posted it at top level.
        client_msg_id: what Slack's clients send along.
        reactions: those it has now, oldest first.
        deleted: gone, or a tombstone.
    """

    channel: str
    ts: str
    t: float
    author: Author
    user: str
    content: Content
    original: Content
    bot_id: str | None = None
    edits: tuple[Edit, ...] = ()
    thread_ts: str | None = None
    asked_thread: str | None = None
    client_msg_id: str | None = None
    reactions: tuple[Reaction, ...] = ()
    deleted: bool = False

    @property
    def id(self) -> str:
        """The message's id, in Slack's words its ``ts``."""
        return self.ts

    @property
    def text(self) -> str:
        """The text as it was last sent."""
        return self.content.text

    @property
    def display(self) -> str:
        """What a reader sees of the text: of its blocks where there are any, else with Slack's entities undone.

        Markdown is as it was sent.
        """
        if self.content.blocks:
            return text_of(self.content.blocks)
        return self.content.text if self.content.markup == "markdown" else unescape(self.content.text)

    @property
    def edited(self) -> bool:
        """Whether it was ever edited."""
        return bool(self.edits)

    @property
    def nonce(self) -> str | None:
        """The nonce in its metadata, if there is one."""
        payload = (self.content.metadata or {}).get("event_payload")
        nonce = cast("Mapping[str, object]", payload).get("nonce") if isinstance(payload, Mapping) else None
        return nonce if isinstance(nonce, str) else None

    @property
    def pings(self) -> tuple[Ping, ...]:
        """What Slack would have resolved in any of its versions."""
        versions = (self.original, *(edit.content for edit in self.edits))
        return tuple(ping for version in versions for ping in version.pings)

    @property
    def unthreaded(self) -> bool:
        """It was meant for a thread, and Slack posted it at the channel's top level."""
        return self.asked_thread is not None and self.asked_thread != self.thread_ts

    @property
    def is_reply(self) -> bool:
        """It stands in another message's thread."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def is_tombstone(self) -> bool:
        """It was deleted and has replies, so that its place is kept."""
        return self.deleted and self.thread_ts == self.ts


def to_wire(message: Message, team: str, app: str) -> dict[str, object]:
    """Write the message as the Web API and the Events API do."""
    if message.is_tombstone:
        return _tombstone(message)
    content = message.content
    wire: dict[str, object] = {
        "type": "message",
        "user": message.user,
        "text": content.text,
        "ts": message.ts,
        "team": team,
    }
    more: dict[str, object] = {
        "bot_id": message.bot_id,
        "app_id": app if message.author == "bot" else None,
        "client_msg_id": message.client_msg_id,
        "thread_ts": message.thread_ts,
        "edited": {"user": message.user, "ts": message.edits[-1].ts} if message.edits else None,
        "metadata": dict(content.metadata) if content.metadata else None,
        "blocks": list(content.blocks),
        "attachments": list(content.attachments),
        "reactions": _reactions(message.reactions),
    }
    return wire | {name: value for name, value in more.items() if value}


def _tombstone(message: Message) -> dict[str, object]:
    return {
        "type": "message",
        "subtype": "tombstone",
        "text": "This message was deleted.",
        "user": "USLACKBOT",
        "hidden": True,
        "ts": message.ts,
        "thread_ts": message.thread_ts,
    }


def _reactions(reactions: tuple[Reaction, ...]) -> list[dict[str, object]]:
    """Grouped by emoji."""
    users = {each.name: [other.user for other in reactions if other.name == each.name] for each in reactions}
    return [{"name": name, "users": who, "count": len(who)} for name, who in users.items()]
