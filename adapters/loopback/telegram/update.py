"""The updates that a change makes: what of it the bot is told. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from adapters.loopback.telegram import utf16
from adapters.loopback.telegram.change import ButtonPressed, Change, MessageEdited, MessagePosted, StandingChanged
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.message import Message
from adapters.loopback.telegram.roster import Roster
from adapters.loopback.telegram.wire import Payload, Wire
from adapters.loopback.telegram.world import World

UpdateType = Literal["message", "edited_message", "callback_query", "my_chat_member"]

_DEAF = frozenset({"left", "kicked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Newsroom:
    """Says which changes the bot hears of, and how they are put."""

    world: World
    roster: Roster
    history: History
    wire: Wire

    def update_of(self, change: Change, date: int) -> tuple[UpdateType, Payload] | None:
        """The update of a change; none where the bot is told nothing, as of every deletion.

        Args:
            change: what happened.
            date: Unix time, for what carries none.
        """
        match change:
            case MessagePosted(message=message) if self.is_heard(message):
                return "message", self.wire.message(message)
            case MessageEdited(message=message) if self.is_heard(message):
                return "edited_message", self.wire.message(message)
            case ButtonPressed():
                return "callback_query", self._pressed(change)
            case StandingChanged():
                return "my_chat_member", self._stood(change, date)
            case _:
                return None

    def is_heard(self, message: Message) -> bool:
        """Whether the bot gets a message: privacy mode, and where it is not it hears nothing."""
        if message.author == "bot":
            return False
        moved = self.roster.moved_to(message.chat)
        chat = self.roster.find(message.chat if moved is None else moved)
        if chat.standing in _DEAF:
            return False
        everything = chat.type == "private" or chat.standing == "administrator" or bool(message.service)
        return everything or self.world.bot.can_read_all_group_messages or self._is_meant(message)

    def _is_meant(self, message: Message) -> bool:
        replied = self.history.find(message.chat, message.reply_to) if message.reply_to else None
        if replied is not None and replied.author == "bot":
            return True
        name = f"@{self.world.bot.username}".lower()
        text = message.content.shown.text
        for each in self.wire.entities_of(message):
            said = utf16.cut(text, each.offset, each.end).lower()
            match each.type:
                case "mention" if said == name:
                    return True
                case "text_mention" if each.user == self.world.bot.id:
                    return True
                case "bot_command" if each.offset == 0 and (said.endswith(name) or self._is_for_us(said, message)):
                    return True
                case _:
                    pass
        return False

    def _is_for_us(self, command: str, message: Message) -> bool:
        """A command without a name is for the bot that wrote last; so it is for us if we are the only one."""
        if "@" in command:
            return False
        bots = {user.id for user in self.world.users if user.is_bot} | {self.world.bot.id}
        earlier = [each.user for each in self.history.messages(message.chat, deleted=True) if each.id < message.id]
        last = next((user for user in reversed(earlier) if user in bots), self.world.bot.id)
        return last == self.world.bot.id

    def _pressed(self, change: ButtonPressed) -> Payload:
        return {
            "id": change.id,
            "from": self.wire.user(change.user),
            "message": self.wire.message(change.message),
            "chat_instance": str(abs(change.message.chat) * 1_000_003),
            "data": change.data,
        }

    def _stood(self, change: StandingChanged, date: int) -> Payload:
        return {
            "chat": self.wire.chat(change.after.id),
            "from": self.wire.user(change.by),
            "date": date,
            "old_chat_member": self.wire.member(change.before),
            "new_chat_member": self.wire.member(change.after),
        }


def type_of(update: Mapping[str, object]) -> str:
    """The type of an update; empty where it has none."""
    return next((name for name in update if name != "update_id"), "")
