"""What is written in the channels. No rules here but ids, times and who remembers a nonce."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord.change import (
    Change,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
)
from adapters.loopback.discord.message import Content, Edit, Flag, Message, Reference

_SHOWN = Flag.SUPPRESS_EMBEDS | Flag.LOADING | Flag.COMPONENTS_V2


class History:
    """Keeps every message, deleted ones too, and tells of every change."""

    def __init__(
        self, clock: PlatformClock, next_id: Callable[[], str], tell: Callable[[Change], None], bot: str
    ) -> None:
        self._clock = clock
        self._next_id = next_id
        self._tell = tell
        self._bot = bot
        self._messages: dict[str, Message] = {}
        self._nonces: dict[tuple[str, str, str], str] = {}

    def find(self, message: str) -> Message | None:
        """The message of that id, also if it was deleted."""
        return self._messages.get(message)

    def messages(self, channel: str | None = None, *, deleted: bool = False) -> Iterator[Message]:
        """The messages that stand, oldest first; with ``deleted`` all there ever were."""
        for message in tuple(self._messages.values()):
            if (channel is None or message.channel == channel) and (deleted or not message.deleted):
                yield message

    def with_nonce(self, channel: str, user: str, nonce: str, seconds: float) -> Message | None:
        """The user's newest message in the channel with the nonce, deleted or not, if it is that young."""
        message = self._messages.get(self._nonces.get((channel, user, nonce), ""))
        return None if message is None or message.t < self._clock.now() - seconds else message

    def post(
        self,
        *,
        channel: str,
        user: str,
        content: Content,
        nonce: str | None = None,
        reference: Reference | None = None,
        interaction: str | None = None,
    ) -> Message:
        """Write a message."""
        message = Message(
            id=self._next_id(),
            channel=channel,
            t=self._clock.now(),
            unix=self._clock.unix(),
            author="bot" if user == self._bot else "user",
            user=user,
            content=content,
            original=content,
            nonce=nonce,
            reference=reference,
            interaction=interaction,
        )
        self._messages[message.id] = message
        if nonce is not None:
            self._nonces[channel, user, nonce] = message.id
        self._tell(MessagePosted(message=message))
        return message

    def edit(self, before: Message, content: Content) -> Message:
        """Write a message anew."""
        changed = _shown(before.content) != _shown(content)
        edit = Edit(t=self._clock.now(), content=content, changed=changed)
        message = replace(before, content=content, edits=(*before.edits, edit), edited_unix=self._clock.unix())
        self._messages[message.id] = message
        self._tell(MessageEdited(message=message, before=before))
        return message

    def delete(self, before: Message) -> Message:
        """Take a message away."""
        message = replace(before, deleted=True)
        self._messages[message.id] = message
        self._tell(MessageDeleted(message=message))
        return message

    def react(self, before: Message, emoji: str) -> Message:
        """Add the bot's emoji to a message; one that is there stays as it is."""
        if emoji in before.reactions:
            return before
        message = replace(before, reactions=(*before.reactions, emoji))
        self._messages[message.id] = message
        self._tell(ReactionAdded(message=message, emoji=emoji))
        return message

    def unreact(self, before: Message, emoji: str) -> Message:
        """Take the bot's emoji off a message, if it is there."""
        if emoji not in before.reactions:
            return before
        message = replace(before, reactions=tuple(each for each in before.reactions if each != emoji))
        self._messages[message.id] = message
        self._tell(ReactionRemoved(message=message, emoji=emoji))
        return message


def _shown(content: Content) -> tuple[object, ...]:
    return (content.text, list(content.embeds), list(content.components), content.files, content.flags & _SHOWN)
