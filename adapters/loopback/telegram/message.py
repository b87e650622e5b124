"""A message, and all that was ever shown under its id."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adapters.loopback.telegram import autolink, outbound, utf16
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.formatting import Flaw, Shown
from adapters.loopback.telegram.ping import Ping, find_pings

Author = Literal["user", "bot"]
Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one call put into a message, or one user.

    Attributes:
        text: as sent; a caption where there is a photo.
        entities: as sent, in the coordinates of ``text``.
        shown: what readers see.
        parse_mode: as sent.
        link_preview_options: as sent; none where the call was silent.
        reply_markup: as sent; none where there is none.
        photo: the id of a picture; none where there is none.
    """

    text: str
    shown: Shown
    entities: tuple[Entity, ...] = ()
    parse_mode: str | None = None
    link_preview_options: Json | None = None
    reply_markup: Json | None = None
    photo: str | None = None

    @property
    def pings(self) -> tuple[Ping, ...]:
        """Whom it notifies."""
        return find_pings(self.shown)

    @property
    def previews(self) -> tuple[str, ...]:
        """The links that may get a preview."""
        options = self.link_preview_options or {}
        if options.get("is_disabled") is True:
            return ()
        asked = options.get("url")
        return (str(asked),) if asked else tuple(autolink.links(self.shown.text, self.shown.entities))

    @property
    def over_utf16(self) -> bool:
        """It has more than 4,096 UTF-16 units: whether Telegram takes that is disputed."""
        return utf16.length(self.shown.text) > outbound.TEXT_LENGTH.limit

    @property
    def look(self) -> tuple[object, ...]:
        """All that a reader sees of it."""
        entities = sorted(self.shown.entities, key=repr)
        return self.shown.text, entities, self.previews, self.reply_markup, self.photo


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit: when, in platform seconds, and to what."""

    t: float
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody is about to write; the fields are those of the ``Message``."""

    content: Content
    thread: int | None = None
    reply_to: int | None = None
    reply_parameters: Json | None = None
    media_group: str | None = None
    forward_origin: Json | None = None
    service: Json = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it stands now, with its history.

    Attributes:
        chat: the chat's id.
        id: its id, unique in the chat, increasing.
        t: platform seconds since the server's start.
        date: Unix time in platform seconds.
        author: "bot" for ours only; other bots are users.
        user: the author's id.
        content: what is shown now.
        original: what was written first.
        edits: all edits, oldest first.
        thread: the topic's id; in a supergroup without topics the first message of a row of replies.
        is_topic_message: the thread is a topic.
        reply_to: the message it replies to.
        reply_parameters: as sent; none where the call was silent.
        media_group: the album it is a part of.
        forward_origin: where it was forwarded from.
        service: what a service message says, by its field; empty for what people write.
        deleted: it is gone.
    """

    chat: int
    id: int
    t: float
    date: int
    author: Author
    user: int
    content: Content
    original: Content
    edits: tuple[Edit, ...] = ()
    thread: int | None = None
    is_topic_message: bool = False
    reply_to: int | None = None
    reply_parameters: Json | None = None
    media_group: str | None = None
    forward_origin: Json | None = None
    service: Json = field(default_factory=dict[str, object])
    deleted: bool = False

    @property
    def text(self) -> str:
        """The text as it was last sent."""
        return self.content.text

    @property
    def display(self) -> str:
        """The text as readers see it."""
        return self.content.shown.text

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities as they were last sent."""
        return self.content.entities

    @property
    def message_thread_id(self) -> int | None:
        """The thread, in Telegram's word."""
        return self.thread

    @property
    def link_preview_options(self) -> Json | None:
        """As last sent."""
        return self.content.link_preview_options

    @property
    def reply_markup(self) -> Json | None:
        """As last sent."""
        return self.content.reply_markup

    @property
    def edited(self) -> bool:
        """Whether it was ever edited."""
        return bool(self.edits)

    @property
    def versions(self) -> tuple[Content, ...]:
        """All that was ever shown, oldest first."""
        return (self.original, *(edit.content for edit in self.edits))

    @property
    def pings(self) -> tuple[Ping, ...]:
        """Whom any of its versions would have notified."""
        return tuple(ping for version in self.versions for ping in version.pings)

    @property
    def previews(self) -> tuple[str, ...]:
        """The links of any of its versions that might have got a preview."""
        return tuple(link for version in self.versions for link in version.previews)

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """What the server had to mend in any of its versions."""
        return tuple(flaw for version in self.versions for flaw in version.shown.flaws)

    @property
    def ignored(self) -> tuple[Entity, ...]:
        """The entities of any of its versions that were left out for their number."""
        return tuple(entity for version in self.versions for entity in version.shown.ignored)

    @property
    def over_utf16(self) -> bool:
        """Any of its versions had more than 4,096 UTF-16 units."""
        return any(version.over_utf16 for version in self.versions)
