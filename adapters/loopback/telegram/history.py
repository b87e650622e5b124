"""What is written in the chats. No rules here but the platform's own: ids, threads, times."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram.change import Change, MessageDeleted, MessageEdited, MessagePosted
from adapters.loopback.telegram.formatting import Shown
from adapters.loopback.telegram.message import Content, Draft, Edit, Json, Message
from adapters.loopback.telegram.world import Chat, User

_FIRST = 11

NOTHING = Content(text="", shown=Shown(text=""))
"""What a service message says beside its fields."""


class History:
    """Keeps every message of all chats, deleted ones too, and tells of every change."""

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None], bot: int) -> None:
        self._clock = clock
        self._tell = tell
        self._bot = bot
        self._messages: dict[tuple[int, int], Message] = {}
        # Private chats and groups share one row of ids, each supergroup has its own.
        self._numbers: dict[int, itertools.count[int]] = {}

    def find(self, chat: int, message: int) -> Message | None:
        """The message of that id, also if it was deleted."""
        return self._messages.get((chat, message))

    def standing(self, chat: int, message: int) -> Message | None:
        """The message of that id, if it was not deleted."""
        found = self.find(chat, message)
        return None if found is None or found.deleted else found

    def messages(self, chat: int | None = None, *, deleted: bool = False) -> Iterator[Message]:
        """The messages that stand, oldest first; with ``deleted`` all there ever were."""
        for message in self._messages.values():
            if (chat is None or message.chat == chat) and (deleted or not message.deleted):
                yield message

    def post(self, chat: Chat, user: User, draft: Draft) -> Message:
        """Write a message; a reply lands in the thread of what it replies to, if it names no other."""
        thread, replied = draft.thread, self.find(chat.id, draft.reply_to) if draft.reply_to else None
        if replied is not None and thread is None:
            thread = replied.thread or (replied.id if chat.type == "supergroup" and not chat.is_forum else None)
        message = Message(
            chat=chat.id,
            id=next(self._ids(chat)),
            t=self._clock.now(),
            date=int(self._clock.unix()),
            author="bot" if user.id == self._bot else "user",
            user=user.id,
            content=draft.content,
            original=draft.content,
            thread=thread,
            is_topic_message=chat.has_topic(thread),
            reply_to=draft.reply_to,
            reply_parameters=draft.reply_parameters,
            media_group=draft.media_group,
            forward_origin=draft.forward_origin,
            service=draft.service,
        )
        return self._keep(message, MessagePosted)

    def serve(self, chat: Chat, user: User, service: Json) -> Message:
        """Write a service message."""
        return self.post(chat, user, Draft(content=NOTHING, service=service))

    def edit(self, before: Message, content: Content) -> Message:
        """Write a message anew."""
        edit = Edit(t=self._clock.now(), content=content)
        message = replace(before, content=content, edits=(*before.edits, edit))
        self._messages[message.chat, message.id] = message
        self._tell(MessageEdited(message=message, before=before.content))
        return message

    def delete(self, before: Message) -> Message:
        """Take a message away."""
        return self._keep(replace(before, deleted=True), MessageDeleted)

    def _keep(self, message: Message, change: type[MessagePosted] | type[MessageDeleted]) -> Message:
        self._messages[message.chat, message.id] = message
        self._tell(change(message=message))
        return message

    def _ids(self, chat: Chat) -> "itertools.count[int]":
        key = chat.id if chat.type == "supergroup" else 0
        return self._numbers.setdefault(key, itertools.count(_FIRST))
