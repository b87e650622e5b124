"""The control surface: what play and tests do to a Telegram that runs on this machine."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

from adapters.loopback.chance import Chance
from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, Fate, FaultPlan
from adapters.loopback.feed import Feed
from adapters.loopback.log import CallLog
from adapters.loopback.mischief import Mischief
from adapters.loopback.telegram.action import Actions
from adapters.loopback.telegram.api import BotApi
from adapters.loopback.telegram.button import Buttons
from adapters.loopback.telegram.change import Change, ChatAction, StandingChanged, ThreadsChanged
from adapters.loopback.telegram.command import CommandMenu, Commands
from adapters.loopback.telegram.delivery import Delivery
from adapters.loopback.telegram.desk import POLL, Desk
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.gate import Gate
from adapters.loopback.telegram.history import History
from adapters.loopback.telegram.limit import Limits
from adapters.loopback.telegram.message import Author, Draft, Message
from adapters.loopback.telegram.mischief import ERRORS, SPARED
from adapters.loopback.telegram.roster import Roster
from adapters.loopback.telegram.server import Server
from adapters.loopback.telegram.typed import from_pasted, from_typed
from adapters.loopback.telegram.update import Newsroom
from adapters.loopback.telegram.webhook import Webhook
from adapters.loopback.telegram.wire import Wire
from adapters.loopback.telegram.world import GENERAL, Chat, Standing, Topic, User, World

ValueT = TypeVar("ValueT")


class LoopbackTelegram:
    """A Telegram on 127.0.0.1 for the real SDK, which enforces what Telegram enforces and keeps all that happened.

    Everything but ``start`` and ``stop`` is immediate: it takes effect before it returns. Use it in one event loop::

        async with LoopbackTelegram(time_scale=20) as telegram:
            bot = Bot(telegram.world.bot.token, base_url=telegram.base_url)
            ...
            telegram.say(101, 101, "what is a dragoman?")
            await telegram.until(lambda: telegram.messages(101, author="bot"))

    Args:
        world: who and what there is.
        time_scale: platform seconds in a real second: budgets, ``retry_after``, dates and the life of a chat action
            are scaled.
        clock: instead of ``time_scale``, for tests that bring their own time.
        limits: how often what may be called.
        port: 0 takes a free one.
    """

    def __init__(
        self,
        *,
        world: World | None = None,
        time_scale: float = 1.0,
        clock: PlatformClock | None = None,
        limits: Limits | None = None,
        port: int = 0,
    ) -> None:
        self.world = world or World()
        self.clock = clock or PlatformClock(time_scale)
        self._port = port
        self._feed: Feed[Change] = Feed()
        self._faults = FaultPlan()
        self._mischief: Mischief[Message] | None = None
        self._numbers = itertools.count(1)
        self._actions = Actions()
        self._roster = Roster(self.world)
        self._history = History(self.clock, self._happened, self.world.bot.id)
        self._commands = CommandMenu()
        self._buttons = Buttons(self.clock, self._happened)
        self._delivery = Delivery(self.clock, self._feed.publish)
        wire = Wire(world=self.world, roster=self._roster, history=self._history)
        self._newsroom = Newsroom(world=self.world, roster=self._roster, history=self._history, wire=wire)
        self._gate = Gate(self.world, limits or Limits())
        self._desk = Desk(
            clock=self.clock,
            tell=self._feed.publish,
            gate=self._gate,
            methods={**self._api(wire).methods, **self._delivery.methods},
            delivery=self._delivery,
            fate_of=self._fate_of,
        )
        self._server = Server(self._desk, self._feed.publish)
        self._webhook = Webhook(self.clock, self._delivery)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen on 127.0.0.1."""
        await self._server.start(self._port)
        self._webhook.start()

    async def stop(self) -> None:
        """Cut what waits, forget what was to be delivered, and stop listening."""
        self._desk.close()
        await self._webhook.stop()
        await self._server.stop()

    @property
    def base_url(self) -> str:
        """For the SDK's ``base_url``."""
        return f"http://{self._server.address}/bot"

    @property
    def file_url(self) -> str:
        """For the SDK's ``base_file_url``; there is no file behind it."""
        return f"http://{self._server.address}/file/bot"

    # What was seen.

    @property
    def calls(self) -> CallLog:
        """Every call but getUpdates, and how it was answered."""
        return self._desk.calls

    @property
    def polls(self) -> CallLog:
        """Every answered getUpdates."""
        return self._desk.polls

    @property
    def open_polls(self) -> int:
        """How many calls of getUpdates wait: none, or one."""
        return self._delivery.open_polls

    @property
    def listeners(self) -> int:
        """On how many connections somebody polls, also between two polls."""
        return self._server.listeners

    @property
    def offset(self) -> int:
        """The id below which the bot has confirmed all updates."""
        return self._delivery.mailbox.offset

    @property
    def pending(self) -> list[Mapping[str, object]]:
        """The updates that nobody confirmed yet."""
        return list(self._delivery.mailbox.pending(self.clock.now()))

    @property
    def updates(self) -> list[Mapping[str, object]]:
        """Every update that there ever was."""
        return list(self._delivery.mailbox.sent.values())

    @property
    def commands(self) -> Commands:
        """Names and descriptions of the commands that clients show by default."""
        return self._commands.default

    @property
    def commands_set(self) -> int:
        """How often setMyCommands succeeded."""
        return self._commands.times_set

    @property
    def presses(self) -> Buttons:
        """What was pressed, and what became of that."""
        return self._buttons

    @property
    def actions(self) -> list[ChatAction]:
        """Every chat action that was let in."""
        return self._actions.sent

    @property
    def taken(self) -> list[Message]:
        """The bot's messages that its readers took away when they felt like it, see ``misbehave``, as they stood."""
        return [] if self._mischief is None else self._mischief.taken

    def chat(self, chat: int) -> Chat:
        """A chat as it is now.

        Raises:
            KeyError: there is none, or it was upgraded.
        """
        return self._roster.find(chat)

    def messages(
        self, chat: int | None = None, *, author: Author | None = None, topic: int | None = None, deleted: bool = False
    ) -> list[Message]:
        """The messages that stand, oldest first; no service messages.

        Args:
            chat: only this chat's.
            author: only "user" or only "bot".
            topic: only this topic's.
            deleted: those, too, that are gone.
        """
        return [
            message
            for message in self._history.messages(chat, deleted=deleted)
            if author in (None, message.author) and topic in (None, message.thread) and not message.service
        ]

    def message(self, chat: int, message_id: int) -> Message:
        """One message with its whole history, also if it was deleted.

        Raises:
            KeyError: there never was one.
        """
        message = self._history.find(chat, message_id)
        if message is None:
            raise KeyError(chat, message_id)
        return message

    def typing(self, chat: int, topic: int | None = None) -> bool:
        """Whether readers see that the bot is typing."""
        return self._actions.is_typing(chat, topic, self.clock.now())

    def subscribe(self, observer: Callable[[Change], None]) -> Callable[[], None]:
        """Tell the observer every change from now on; the returned function ends that."""
        return self._feed.subscribe(observer)

    async def until(self, condition: Callable[[], ValueT]) -> ValueT:
        """Wait until the condition holds, asking it after every change; put a time limit round it."""
        return await self._feed.until(condition)

    # What users do.

    def say(  # noqa: PLR0913 - all but three are keywords, and read as well as a record's fields
        self,
        user: int,
        chat: int,
        text: str,
        *,
        mention: bool = False,
        reply_to: int | None = None,
        topic: int | None = None,
        entities: Sequence[Entity] = (),
    ) -> Message:
        """Let a user write, as in Telegram's own client; its update follows, if the bot gets to hear it.

        Args:
            user: the user's id; a bot's, where the user is one.
            chat: the chat's id; the user's own for a private one.
            text: as typed; mentions, commands and links are found by themselves.
            mention: begin with the bot's name, unless the text has it or the chat is private.
            reply_to: a message of the chat.
            topic: where in a forum; General by default. With 1 the message carries that as its thread, as some do.
            entities: what the user formatted or picked; offsets in the text as it is given.
        """
        place = self._place(user, chat)
        if mention and place.type != "private" and f"@{self.world.bot.username}" not in text:
            name = f"@{self.world.bot.username} "
            text = f"{name}{text}".rstrip()
            entities = [replace(entity, offset=entity.offset + len(name)) for entity in entities]
        return self._write(user, place, Draft(content=from_typed(text, entities), reply_to=reply_to, thread=topic))

    def command(self, user: int, chat: int, name: str, text: str = "", *, topic: int | None = None) -> Message:
        """Let a user pick a command from the bot's list: in a group it comes with the bot's name."""
        suffix = "" if self._place(user, chat).type == "private" else f"@{self.world.bot.username}"
        return self.say(user, chat, f"/{name}{suffix} {text}".rstrip(), topic=topic)

    def forward(
        self, user: int, chat: int, text: str, *, origin: str = "somebody", topic: int | None = None
    ) -> Message:
        """Let a user forward what a person wrote elsewhere, who hides behind their name."""
        source = {"type": "hidden_user", "date": int(self.clock.unix()), "sender_user_name": origin}
        draft = Draft(content=from_typed(text), thread=topic, forward_origin=source)
        return self._write(user, self._place(user, chat), draft)

    def album(
        self,
        user: int,
        chat: int,
        captions: Sequence[str],
        *,
        reply_to: int | None = None,
        topic: int | None = None,
    ) -> list[Message]:
        """Let a user send pictures together, each a message of its own; an empty caption is none."""
        place = self._place(user, chat)
        group = f"album-{next(self._numbers)}" if len(captions) > 1 else None
        contents = [from_typed(caption, photo=f"photo-{next(self._numbers)}") for caption in captions]
        return [
            self._write(user, place, Draft(content=content, reply_to=reply_to, thread=topic, media_group=group))
            for content in contents
        ]

    def paste(self, user: int, chat: int, text: str, *, topic: int | None = None) -> list[Message]:
        """Let a user paste a long text, which their client cuts into several messages at once."""
        place = self._place(user, chat)
        return [self._write(user, place, Draft(content=content, thread=topic)) for content in from_pasted(text)]

    def edit(self, chat: int, message_id: int, text: str | None = None) -> Message:
        """Let a user edit a message of their own; without a text only what is not shown changes.

        Raises:
            ValueError: it is the bot's.
        """
        before = self.message(chat, message_id)
        if before.author == "bot":
            msg = f"{message_id} is the bot's message; users edit their own"
            raise ValueError(msg)
        content = before.content if text is None else from_typed(text, photo=before.content.photo)
        return self._history.edit(before, content)

    def delete(self, chat: int, message_id: int) -> Message:
        """Let a user delete a message: their own, in a private chat the bot's, an administrator anybody's."""
        return self._history.delete(self.message(chat, message_id))

    def press(self, user: int, chat: int, message_id: int, data: str) -> str:
        """Let a user press a button that the message has or had; returns the id of the callback query.

        Raises:
            KeyError: the user cannot see the chat, or there is no such message.
            ValueError: the message never had such a button, or is gone.
        """
        place = self._place(user, chat)
        return self._buttons.press(self._user(user).id, self.message(place.id, message_id), data)

    def stand(self, chat: int, standing: Standing, *, by: int | None = None) -> None:
        """Block the bot or let it back, take it into a group or throw it out, make it an administrator or restrict it.

        Args:
            chat: where.
            standing: how the bot stands from now on.
            by: who did it; the first of the users by default.
        """
        before = self._roster.stand(chat, standing)
        who = self.world.users[0].id if by is None else by
        self._happened(StandingChanged(by=who, before=before, after=self._roster.find(chat)))

    def migrate(self, chat: int) -> Chat:
        """Make a supergroup of a group; its id is another. Service messages say so, in the old chat and in the new."""
        before, who = self._roster.find(chat), self._user(self.world.users[0].id)
        after = self._roster.migrate(chat)
        self._history.serve(before, who, {"migrate_to_chat_id": after.id})
        self._history.serve(after, who, {"migrate_from_chat_id": chat})
        return after

    def open_topic(self, chat: int, name: str) -> Topic:
        """Open a topic in a forum; the service message that tells of it has the topic's id."""
        message = self._history.serve(
            self._roster.find(chat),
            self.world.users[0],
            {"forum_topic_created": {"name": name, "icon_color": 7_322_096}},
        )
        topic = Topic(id=message.id, name=name)
        self._roster.open_topic(chat, topic)
        self._feed.publish(ThreadsChanged(chat=chat))
        return topic

    def delete_topic(self, chat: int, topic: int) -> None:
        """Delete a topic with all that is in it; the bot is told nothing."""
        self._roster.delete_topic(chat, topic)
        for message in self.messages(chat, topic=topic):
            self._history.delete(message)
        self._feed.publish(ThreadsChanged(chat=chat))

    # What the platform does.

    def push(self, update: Mapping[str, object]) -> int:
        """Send any update as it is, malformed too; it gets an ``update_id`` if it has none. Returns the id."""
        return self._delivery.put(update)

    def redeliver(self, update_id: int) -> None:
        """Send an update once more, confirmed or not, with the same ``update_id``."""
        self._delivery.repeat(update_id)

    # What goes wrong.

    def fail_next(
        self,
        method: str,
        description: str | None = None,
        *,
        error_code: int | None = None,
        retry_after: int | None = None,
        times: int = 1,
    ) -> None:
        """Let the next calls of a method fail without effect.

        Args:
            method: such as "editMessageText".
            description: what stands in the answer; by default what fits the code.
            error_code: by default 429 with ``retry_after``, else 400; 0 cuts the connection.
            retry_after: platform seconds; nothing of the kind is let in before they are over.
            times: how many calls.
        """
        code = (400 if retry_after is None else 429) if error_code is None else error_code
        error = description or ("Bad Request: loopback" if code == 400 else "Internal Server Error")
        self._faults.fail(method, Failure(error=error, status=code, retry_after=retry_after), times)

    def lose_answer_next(self, method: str, *, error_code: int = 500, times: int = 1) -> None:
        """Let the next calls take effect and answer as if they had not; error_code 0 cuts the connection."""
        failure = Failure(error="Internal Server Error", status=error_code, performed=True)
        self._faults.fail(method, failure, times)

    def delay_next(self, method: str, seconds: float, *, taken: bool = False, times: int = 1) -> None:
        """Let the next calls of a method be answered that many real seconds late; ``math.inf`` is never.

        Args:
            method: such as "sendMessage".
            seconds: how late.
            taken: what was asked is done at once, and only the answer is late; otherwise the call lies about untouched.
            times: how many calls.
        """
        (self._faults.hold if taken else self._faults.delay)(method, seconds, times)

    def drop_connections(self) -> int:
        """Cut polls and idle connections without a word; says how many."""
        return self._server.drop_connections()

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut those on which no call but a poll is under way."""
        self._server.close_doors(seconds)

    def revoke(self) -> None:
        """Take the bot's token back: nobody is let in any more, and polls are cut."""
        self._gate.revoke()
        self._server.drop_connections()

    def misbehave(self, seed: int) -> None:
        """From now on do all of the above at random, the same for the same seed; users delete the bot's messages, too.

        Who asks again often enough comes through. To connect goes well.
        """
        self._mischief = Mischief(
            chance=Chance(seed, ERRORS),
            faults=self._faults,
            spared=SPARED,
            poll=POLL,
            messages=lambda: self.messages(author="bot"),
            delete=self._history.delete,
            drop=self.drop_connections,
            close_doors=self.close_doors,
        )

    def behave(self) -> None:
        """From now on let nothing go wrong, of what was planned either; who was told to wait need not."""
        self._faults.clear()
        self._gate.release()
        if self._mischief is not None:
            self._mischief.over = True

    def _api(self, wire: Wire) -> BotApi:
        return BotApi(
            world=self.world,
            roster=self._roster,
            history=self._history,
            wire=wire,
            commands=self._commands,
            buttons=self._buttons,
            clock=self.clock,
            tell=self._happened,
        )

    def _fate_of(self, method: str) -> Fate:
        if self._mischief is not None:
            self._mischief.arrived(method)
        return self._faults.take(method)

    def _happened(self, change: Change) -> None:
        """Tell observers what happened, then the bot."""
        self._actions.hear(change)
        self._feed.publish(change)
        update = self._newsroom.update_of(change, int(self.clock.unix()))
        if update is not None and self._delivery.mailbox.is_allowed(update[0]):
            self._delivery.put({update[0]: update[1]})

    def _write(self, user: int, place: Chat, draft: Draft) -> Message:
        if draft.thread not in (None, GENERAL) and not place.has_topic(draft.thread):
            raise KeyError(place.id, draft.thread)
        return self._history.post(place, self._user(user), draft)

    def _place(self, user: int, chat: int) -> Chat:
        """The chat in which a user writes; their first message begins a private chat."""
        place = self._roster.find(chat)
        if place.type == "private" and user != chat:
            msg = f"user {user} cannot write into the private chat of {chat}"
            raise KeyError(msg)
        if place.standing == "unstarted":
            self._roster.stand(chat, "member")
            place = self._roster.find(chat)
        return place

    def _user(self, user_id: int) -> User:
        user = self.world.user(user_id)
        if user is None:
            msg = f"no user {user_id} in this world"
            raise KeyError(msg)
        return user
