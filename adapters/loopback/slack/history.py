"""What is written in the channels. No rules here but the platform's own: ids, threads, tombstones."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack.change import (
    Change,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
)
from adapters.loopback.slack.message import Content, Edit, Message, Reaction
from adapters.loopback.slack.workspace import User

_MICRO = 1_000_000


class History:
    """Keeps every message of a workspace, deleted ones too, and tells of every change."""

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None], bot_user: str) -> None:
        self._clock = clock
        self._tell = tell
        self._bot_user = bot_user
        self._messages: dict[tuple[str, str], Message] = {}
        self._last = 0

    def next_ts(self) -> str:
        """A new id: platform time with six decimals, larger than any before."""
        self._last = max(self._last + 1, int(self._clock.unix() * _MICRO))
        return f"{self._last // _MICRO}.{self._last % _MICRO:06d}"

    def find(self, channel: str, ts: str) -> Message | None:
        """The message of that id, also if it was deleted."""
        return self._messages.get((channel, ts))

    def messages(
        self, channel: str | None = None, thread: str | None = None, *, deleted: bool = False
    ) -> Iterator[Message]:
        """The messages that stand, oldest first; with ``deleted`` all there ever were. A thread has its root."""
        for message in self._messages.values():
            in_channel = channel is None or message.channel == channel
            seen = deleted or not message.deleted
            if in_channel and seen and (thread is None or thread in {message.ts, message.thread_ts}):
                yield message

    def post(self, *, channel: str, user: User, content: Content, thread: str | None = None) -> Message:
        """Write a message; a thread whose first message is gone leaves it at top level."""
        ours = user.id == self._bot_user
        message = self.draft(channel=channel, user=user, content=content)
        root = self._root(channel, thread)
        message = replace(
            message,
            thread_ts=root.ts if root else None,
            asked_thread=thread,
            client_msg_id=None if ours or user.bot_id else str(uuid.uuid4()),
        )
        if root is not None and root.thread_ts is None:
            self._messages[channel, root.ts] = replace(root, thread_ts=root.ts)
        self._messages[channel, message.ts] = message
        self._tell(MessagePosted(message=message))
        return message

    def draft(self, *, channel: str, user: User, content: Content) -> Message:
        """A message with an id that is not kept: what only one user sees."""
        return Message(
            channel=channel,
            ts=self.next_ts(),
            t=self._clock.now(),
            author="bot" if user.id == self._bot_user else "user",
            user=user.id,
            bot_id=user.bot_id,
            content=content,
            original=content,
        )

    def edit(self, before: Message, content: Content) -> Message:
        """Write a message anew."""
        changed = _shown(before.content) != _shown(content)
        edit = Edit(t=self._clock.now(), ts=self.next_ts(), content=content, changed=changed)
        return self._replace(before, replace(before, content=content, edits=(*before.edits, edit)))

    def unfurl(self, before: Message, attachments: tuple[object, ...]) -> Message:
        """Add a link's preview: the text stays, and it is no edit."""
        return self._replace(before, replace(before, content=replace(before.content, attachments=attachments)))

    def delete(self, before: Message) -> Message:
        """Take a message away."""
        message = replace(before, deleted=True)
        self._messages[before.channel, before.ts] = message
        self._tell(MessageDeleted(message=message))
        return message

    def react(self, before: Message, reaction: Reaction) -> Message:
        """Add a reaction to a message."""
        message = replace(before, reactions=(*before.reactions, reaction))
        self._messages[before.channel, before.ts] = message
        self._tell(ReactionAdded(message=message, name=reaction.name))
        return message

    def unreact(self, before: Message, reaction: Reaction) -> Message:
        """Take a reaction off a message."""
        message = replace(before, reactions=tuple(each for each in before.reactions if each != reaction))
        self._messages[before.channel, before.ts] = message
        self._tell(ReactionRemoved(message=message, name=reaction.name))
        return message

    def _replace(self, before: Message, message: Message) -> Message:
        self._messages[before.channel, before.ts] = message
        self._tell(MessageEdited(message=message, before=before))
        return message

    def _root(self, channel: str, thread: str | None) -> Message | None:
        """The message a reply may hang on: not a reply itself; if deleted, only a tombstone."""
        root = self.find(channel, thread) if thread else None
        if root is None or root.is_reply:
            return None
        return None if root.deleted and root.thread_ts is None else root


def _shown(content: Content) -> tuple[object, ...]:
    return (content.text, content.markup, list(content.blocks), list(content.attachments))
