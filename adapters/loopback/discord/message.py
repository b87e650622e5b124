"""A message, and all that was ever shown under its id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal

from adapters.loopback.discord.ping import Ping, find_links

Author = Literal["user", "bot"]


class Flag(IntFlag):
    """The flags of a message that are known here."""

    NONE = 0
    SUPPRESS_EMBEDS = 1 << 2
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    COMPONENTS_V2 = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a message holds after one call.

    Attributes:
        text: ``content``.
        embeds: as sent.
        components: as sent.
        files: how many.
        flags: all that are set.
        allowed_mentions: as sent with the call; none where it was silent.
        pings: whom Discord notified.
    """

    text: str = ""
    embeds: Sequence[object] = ()
    components: Sequence[object] = ()
    files: int = 0
    flags: Flag = Flag.NONE
    allowed_mentions: Mapping[str, object] | None = None
    pings: tuple[Ping, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return not (self.text or self.embeds or self.components or self.files)

    @property
    def previews(self) -> tuple[str, ...]:
        """The links that show a preview."""
        hidden = self.flags & (Flag.SUPPRESS_EMBEDS | Flag.COMPONENTS_V2)
        return () if hidden else find_links(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit: when (platform seconds), to what, and whether it changed anything."""

    t: float
    content: Content
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a message replies to; ``fail_if_not_exists`` as sent."""

    message: str
    fail_if_not_exists: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as it stands now, with its history.

    Attributes:
        id: its snowflake.
        channel: the channel's id.
        t: platform seconds since the server's start.
        unix: the same as Unix time.
        author: "bot" for ours only; other bots are users.
        user: the author's user id.
        content: what is shown now.
        original: what was posted.
        edits: all edits, oldest first, also those that changed nothing.
        edited_unix: when it was edited last.
        nonce: as sent.
        reference: what it replies to; none where the call said nothing, or named what is not there.
        interaction: the interaction that it answers.
        reactions: the bot's emoji on it.
        deleted: gone.
    """

    id: str
    channel: str
    t: float
    unix: float
    author: Author
    user: str
    content: Content
    original: Content
    edits: tuple[Edit, ...] = ()
    edited_unix: float | None = None
    nonce: str | None = None
    reference: Reference | None = None
    interaction: str | None = None
    reactions: tuple[str, ...] = ()
    deleted: bool = False

    @property
    def text(self) -> str:
        """The content as it is shown."""
        return self.content.text

    @property
    def flags(self) -> Flag:
        """The flags that are set now."""
        return self.content.flags

    @property
    def components(self) -> Sequence[object]:
        """The components that it has now."""
        return self.content.components

    @property
    def allowed_mentions(self) -> Mapping[str, object] | None:
        """As sent with the last call."""
        return self.content.allowed_mentions

    @property
    def edited(self) -> bool:
        """Whether it was ever edited."""
        return bool(self.edits)

    @property
    def loading(self) -> bool:
        """It is a deferred answer that is still to come."""
        return Flag.LOADING in self.flags

    @property
    def ephemeral(self) -> bool:
        """One user sees it, and nobody keeps it."""
        return Flag.EPHEMERAL in self.flags

    @property
    def versions(self) -> tuple[Content, ...]:
        """All that it ever showed, oldest first."""
        return (self.original, *(edit.content for edit in self.edits))

    @property
    def pings(self) -> tuple[Ping, ...]:
        """Whom Discord notified with any of its versions."""
        return tuple(ping for version in self.versions for ping in version.pings)

    @property
    def previews(self) -> tuple[str, ...]:
        """The links that showed a preview in any of its versions."""
        return tuple(dict.fromkeys(link for version in self.versions for link in version.previews))
