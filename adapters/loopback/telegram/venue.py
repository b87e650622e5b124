"""Telegram as a venue: a private chat with the bot, and a group that the bot is in."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.keyboard import buttons_of
from adapters.loopback.telegram.loopback import LoopbackTelegram
from adapters.loopback.telegram.message import Message
from adapters.loopback.telegram.world import ADA, BOB, User, World
from adapters.loopback.venue import Doing, Happened, Shown, Trouble, Value, Venue, Where, Who

ROBOT = User(id=103, name="Robot", username="robot_bot", is_bot=True)
USERS: dict[Who, int] = {"ada": ADA.id, "bob": BOB.id, "robot": ROBOT.id}
GROUP = -200
KINDS: dict[Happened, str] = {"message": "message", "press": "callback_query"}
METHODS: dict[Doing, str] = {
    "post": "sendMessage",
    "edit": "editMessageText",
    "delete": "deleteMessage",
    "tell": "answerCallbackQuery",
    "connect": "getMe",
}


@asynccontextmanager
async def open_venue(time_scale: float, faults: int | None = None) -> AsyncGenerator[Venue]:
    """A Telegram that listens while the context lasts; with ``faults``, a seed, it misbehaves."""
    world = replace(World(), users=(*World().users, ROBOT))
    async with LoopbackTelegram(world=world, time_scale=time_scale) as telegram:
        if faults is not None:
            telegram.misbehave(faults)
        yield TelegramVenue(telegram)


class TelegramVenue:
    """See ``adapters.loopback.venue.Venue``."""

    name = "telegram"
    longest = 4_000

    def __init__(self, telegram: LoopbackTelegram) -> None:
        self._telegram = telegram

    def settings(self, folder: Path) -> dict[str, Value]:
        """See ``Venue``."""
        (folder / "telegram_token").write_text(self._telegram.world.bot.token, encoding="utf-8")
        return {
            "bot_token": f"file:{folder / 'telegram_token'}",
            "base_url": self._telegram.base_url,
            "allow_users": [str(ADA.id)],
            "allow_groups": [str(GROUP)],
        }

    def ask(self, text: str, *, who: Who = "ada", shared: bool = False) -> str:
        """See ``Venue``. A client cuts what is too long for one message."""
        if shared:
            return self.say(text, who=who)
        user = USERS[who]
        try:
            pasted = self._telegram.paste(user, user, text)
        except RefusedError as error:
            raise ValueError(str(error)) from error
        if not pasted:
            msg = "nothing of it can be seen"
            raise ValueError(msg)
        return str(pasted[0].id)

    def say(
        self,
        text: str,
        *,
        who: Who = "ada",
        where: Where = "channel",
        addressed: bool = True,
        beside: str | None = None,
    ) -> str:
        """See ``Venue``."""
        user = USERS[who]
        chat, topic = (GROUP if where == "channel" else user, None) if beside is None else self._place(beside)
        return str(self._telegram.say(user, chat, text, mention=addressed, topic=topic).id)

    def command(self, word: str, argument: str = "", *, who: Who = "ada", beside: str | None = None) -> str:
        """See ``Venue``."""
        user = USERS[who]
        chat, topic = (user, None) if beside is None else self._place(beside)
        return str(self._telegram.command(user, chat, word, argument, topic=topic).id)

    def press(self, who: Who, message_id: str, data: str, *, stale: bool = False) -> None:
        """See ``Venue``."""
        message = self._find(message_id)
        if not stale and data not in [given for _, given in _buttons(message)]:
            raise LookupError(message_id, data)
        try:
            self._telegram.press(USERS[who], message.chat, message.id, data)
        except ValueError as error:
            raise LookupError(message_id, data) from error

    def edit(self, message_id: str, text: str) -> None:
        """See ``Venue``."""
        message = self._find(message_id)
        named = f"@{self._telegram.world.bot.username} {text}"
        self._telegram.edit(message.chat, message.id, named if message.chat == GROUP else text)

    def delete(self, message_id: str) -> None:
        """See ``Venue``."""
        message = self._find(message_id)
        self._telegram.delete(message.chat, message.id)

    def repeat(self, what: Happened = "message") -> None:
        """See ``Venue``."""
        newest = next(update for update in reversed(self._telegram.updates) if KINDS[what] in update)
        self._telegram.redeliver(int(str(newest["update_id"])))

    def outdate(self) -> None:
        """See ``Venue``."""
        self._telegram.presses.outdate()

    def trouble(self, doing: Doing, trouble: Trouble) -> None:
        """See ``Venue``."""
        method = METHODS[doing]
        match trouble:
            case "limited":
                self._telegram.fail_next(method, retry_after=7)
            case "failed":
                self._telegram.fail_next(method, error_code=500)
            case "cut":
                self._telegram.fail_next(method, error_code=0)
            case "lost":
                self._telegram.lose_answer_next(method, error_code=0)

    def refuse(self) -> None:
        """See ``Venue``."""
        for method in ("getMe", "getUpdates"):
            self._telegram.fail_next(method, "Unauthorized", error_code=401, times=100)

    def drop(self) -> None:
        """See ``Venue``."""
        self._telegram.drop_connections()

    def listeners(self) -> int:
        """See ``Venue``."""
        return self._telegram.listeners

    def secrets(self) -> Sequence[str]:
        """See ``Venue``."""
        return self._telegram.world.bot.token, self._telegram.world.bot.secret

    def messages(self) -> list[Shown]:
        """See ``Venue``."""
        messages = sorted(self._telegram.messages(), key=lambda message: message.t)
        return [_shown(message) for message in messages]

    def taken(self) -> list[Shown]:
        """See ``Venue``."""
        return [_shown(message) for message in self._telegram.taken]

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """See ``Venue``."""
        return _buttons(self._find(message_id))

    def whispers(self, who: Who) -> list[str]:
        """See ``Venue``."""
        return self._telegram.presses.shown_to(USERS[who])

    def waiting(self) -> int:
        """See ``Venue``."""
        return self._telegram.presses.waiting

    def calls(self) -> list[dict[str, object]]:
        """See ``Venue``."""
        return self._telegram.calls.to_json()

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """See ``Venue``."""
        return self._telegram.subscribe(lambda _: observer())

    def until(self, condition: Callable[[], object]) -> Awaitable[object]:
        """See ``Venue``."""
        return self._telegram.until(condition)

    def _place(self, message_id: str) -> tuple[int, int | None]:
        """The chat and the topic that a message stands in."""
        message = self._find(message_id)
        return message.chat, message.thread if message.is_topic_message else None

    def _find(self, message_id: str) -> Message:
        """A message by its id; of two in several chats, that in the group."""
        messages = sorted(self._telegram.messages(deleted=True), key=lambda message: message.chat)
        return next(message for message in messages if message.id == int(message_id))


def _buttons(message: Message) -> list[tuple[str, str]]:
    return [(str(button["text"]), str(button["callback_data"])) for button in buttons_of(message.reply_markup or {})]


def _shown(message: Message) -> Shown:
    return Shown(
        id=str(message.id),
        author=message.author,
        text=message.text,
        edited=message.edited,
        where="channel" if message.chat < 0 else "direct",
        thread=None if message.thread is None else str(message.thread),
        entities=[_entity(entity) for entity in message.entities],
        pings=[ping.raw for ping in message.pings],
        previews=message.previews,
    )


def _entity(entity: Entity) -> Mapping[str, object]:
    """As it was sent."""
    return {name: value for name, value in asdict(entity).items() if value is not None}
