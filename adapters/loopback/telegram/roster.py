"""Which chats there are now, and how the bot stands in them: what users and administrators changed since the start."""

from dataclasses import replace

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.world import GENERAL, Chat, Standing, Topic, World

_FIRST_SUPERGROUP = -1_000_000_001_000


class Roster:
    """Keeps the chats. A group that was upgraded is remembered by where it went."""

    def __init__(self, world: World) -> None:
        self._chats = {chat.id: chat for chat in world.chats}
        self._users = {user.id for user in world.users}
        self._moved: dict[int, int] = {}

    def find(self, chat_id: int) -> Chat:
        """The chat of that id, whatever its state; of a user without one, a chat that was never started.

        Raises:
            KeyError: there is none.
        """
        if chat_id in self._users and chat_id not in self._chats:
            return Chat(id=chat_id, standing="unstarted")
        return self._chats[chat_id]

    def reachable(self, key: str) -> Chat:
        """The chat that a call names, if the bot can do something there.

        Raises:
            RefusedError: there is none, it went elsewhere, or the bot is not wanted.
        """
        if not key:
            raise RefusedError(outbound.CHAT_EMPTY)
        chat_id = int(key) if key.removeprefix("-").isdecimal() else 0
        if chat_id in self._moved:
            raise RefusedError(outbound.MIGRATED, parameters={"migrate_to_chat_id": self._moved[chat_id]})
        try:
            chat = self.find(chat_id)
        except KeyError:
            raise RefusedError(outbound.CHAT_UNKNOWN) from None
        match chat.standing:
            case "blocked":
                raise RefusedError(outbound.BLOCKED)
            case "unstarted":
                raise RefusedError(outbound.NEVER_STARTED)
            case "kicked":
                raise RefusedError(outbound.KICKED, chat.type)
            case "left":
                raise RefusedError(outbound.NOT_A_MEMBER, chat.type)
            case "member" | "administrator" | "restricted":
                return chat

    def moved_to(self, chat_id: int) -> int | None:
        """Where a group went."""
        return self._moved.get(chat_id)

    def stand(self, chat_id: int, standing: Standing) -> Chat:
        """Let the bot stand so in a chat from now on; gives the chat as it was."""
        before = self.find(chat_id)
        self._chats[chat_id] = replace(before, standing=standing)
        return before

    def migrate(self, chat_id: int) -> Chat:
        """Make a supergroup of a group; gives the supergroup."""
        before = self._chats.pop(chat_id)
        after = replace(before, id=_FIRST_SUPERGROUP - len(self._moved), type="supergroup")
        self._moved[chat_id] = after.id
        self._chats[after.id] = after
        return after

    def open_topic(self, chat_id: int, topic: Topic) -> None:
        """Add a topic to a chat."""
        chat = self.find(chat_id)
        self._chats[chat_id] = replace(chat, topics=(*chat.topics, topic))

    def delete_topic(self, chat_id: int, topic: int) -> None:
        """Take a topic away; General stays.

        Raises:
            ValueError: there is no such topic, or it is General.
        """
        chat = self.find(chat_id)
        if not chat.has_topic(topic):
            msg = f"chat {chat_id} has no topic {topic} that could be deleted"
            raise ValueError(msg)
        self._chats[chat_id] = replace(chat, topics=tuple(each for each in chat.topics if each.id != topic))


def checked_thread(chat: Chat, thread: int | None, *, general: bool = False) -> int | None:
    """The topic that a call is about.

    Args:
        chat: where.
        thread: what the call says.
        general: General may be named, as it may for chat actions.

    Raises:
        RefusedError: there is no such topic, or it must not be named.
    """
    if not thread:
        return None
    if thread == GENERAL and chat.is_forum:
        if general:
            return None
        raise RefusedError(outbound.GENERAL_TOPIC)
    if not chat.has_topic(thread):
        raise RefusedError(outbound.THREAD_UNKNOWN)
    return thread
