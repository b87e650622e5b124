"""Who and what there is, as data; what becomes of it is ``roster``'s affair."""

from dataclasses import dataclass
from typing import Literal

ChatType = Literal["private", "group", "supergroup"]
Standing = Literal["member", "administrator", "restricted", "left", "kicked", "blocked", "unstarted"]
"""How the bot stands in a chat; "blocked" and "unstarted" are of private chats, "member" of any, the rest of groups."""

GENERAL = 1
"""The id of the topic that every forum has, without it being written anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who can write; another bot where ``is_bot`` is true."""

    id: int
    name: str
    username: str | None = None
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """The bot that is judged.

    Attributes:
        id: its user id, the first half of its token.
        name: as people read it.
        username: as it is mentioned, without the @.
        secret: the second half of its token.
        can_read_all_group_messages: privacy mode is off.
        has_topics_enabled: private chats with it may have topics.
    """

    id: int = 7_000_001
    name: str = "Dragoman"
    username: str = "dragoman_bot"
    secret: str = "AAE-loopback"  # noqa: S105 - opens nothing but this server
    can_read_all_group_messages: bool = False
    has_topics_enabled: bool = False

    @property
    def token(self) -> str:
        """What the SDK wants."""
        return f"{self.id}:{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A part of a forum; its id is that of the service message that made it."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A place to write into.

    Attributes:
        id: the user's for a private chat, negative for groups, below -1,000,000,000,000 for supergroups.
        type: what kind of place it is.
        title: a group's name.
        standing: how the bot stands in it.
        can_delete: as an administrator the bot may delete others' messages.
        is_forum: it is a supergroup with topics; General it always has.
        topics: those beside General; a private chat may have some, too.
    """

    id: int
    type: ChatType = "private"
    title: str = ""
    standing: Standing = "member"
    can_delete: bool = False
    is_forum: bool = False
    topics: tuple[Topic, ...] = ()

    def has_topic(self, topic: int | None) -> bool:
        """Whether it has such a topic, beside General."""
        return any(each.id == topic for each in self.topics)


ADA = User(id=101, name="Ada", username="ada_l")
BOB = User(id=102, name="Bob", username="bob_k")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A bot, those who talk to it, and where. A user of whom there is no private chat never wrote to the bot."""

    bot: Bot = Bot()
    users: tuple[User, ...] = (ADA, BOB)
    chats: tuple[Chat, ...] = (
        Chat(id=ADA.id),
        Chat(id=BOB.id),
        Chat(id=-200, type="group", title="Harbour"),
        Chat(
            id=-1_000_000_000_300,
            type="supergroup",
            title="Bazaar",
            is_forum=True,
            topics=(Topic(id=5, name="Spices"),),
        ),
    )

    @property
    def me(self) -> User:
        """The bot as a user."""
        return User(id=self.bot.id, name=self.bot.name, username=self.bot.username, is_bot=True)

    def user(self, user_id: int) -> User | None:
        """The user of that id; the bot is one, too."""
        return next((user for user in (*self.users, self.me) if user.id == user_id), None)
