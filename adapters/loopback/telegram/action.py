"""What the bot says it is doing, and how long that shows. Pure: the caller brings the time."""

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.change import Change, ChatAction, MessagePosted
from adapters.loopback.telegram.world import GENERAL


class Actions:
    """Keeps every chat action; one shows for 5 seconds, or until the bot's next message there."""

    def __init__(self) -> None:
        self.sent: list[ChatAction] = []
        self._shown: dict[tuple[int, int | None], ChatAction] = {}

    def hear(self, change: Change) -> None:
        """Take note of what happened."""
        match change:
            case ChatAction():
                self.sent.append(change)
                self._shown[change.chat, change.thread] = change
            case MessagePosted(message=message) if message.author == "bot":
                self._shown.pop((message.chat, message.thread), None)
            case _:
                pass

    def is_typing(self, chat: int, topic: int | None, now: float) -> bool:
        """Whether "typing" shows.

        Args:
            chat: where.
            topic: in which part of it; none, as 1, for General and for chats without topics.
            now: platform seconds.
        """
        shown = self._shown.get((chat, None if topic == GENERAL else topic))
        return shown is not None and shown.action == "typing" and now - shown.t < outbound.ACTION_LIFE.limit
