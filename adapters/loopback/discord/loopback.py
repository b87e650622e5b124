"""The control surface: what play and tests do to a Discord that runs on this machine."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from adapters.loopback.chance import Chance
from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord import route
from adapters.loopback.discord.account import AccountApi
from adapters.loopback.discord.answer import Scope
from adapters.loopback.discord.api import ChannelApi
from adapters.loopback.discord.change import Change, ThreadCreated, ThreadUpdated, TypingStarted
from adapters.loopback.discord.desk import Desk
from adapters.loopback.discord.gate import Gate
from adapters.loopback.discord.interaction import Interaction
from adapters.loopback.discord.limit import Limits
from adapters.loopback.discord.message import Message
from adapters.loopback.discord.mischief import ERRORS, SPARED
from adapters.loopback.discord.server import API, GATEWAY, Server
from adapters.loopback.discord.session import Session
from adapters.loopback.discord.shard import RECONNECT, Close, Shard
from adapters.loopback.discord.stage import Stage
from adapters.loopback.discord.visitor import Visitor
from adapters.loopback.discord.webhook import WebhookApi
from adapters.loopback.discord.world import Channel, World
from adapters.loopback.fault import Failure, FaultPlan
from adapters.loopback.feed import Feed
from adapters.loopback.log import CallLog
from adapters.loopback.mischief import Mischief

ValueT = TypeVar("ValueT")


class LoopbackDiscord:
    """A Discord on 127.0.0.1 for the real SDK, which enforces what Discord enforces and keeps all that happened.

    Everything but ``start`` and ``stop`` is immediate: it takes effect before it returns. Use it in one event loop::

        async with LoopbackDiscord(time_scale=20) as platform:
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = platform.api_url, URL(platform.gateway_url)
            ...
            platform.say(ADA, GENERAL, "what is a dragoman?")
            await platform.until(lambda: platform.messages(GENERAL, author="bot"))

    Args:
        world: who and what there is.
        time_scale: platform seconds in a real second: budgets, ``Retry-After``, token lives and the log's times are
            scaled; the three seconds for a first response and heartbeats are not.
        clock: instead of ``time_scale``, for tests that bring their own time.
        limits: what tests cannot wait for.
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
        self.typing: defaultdict[str, list[float]] = defaultdict(list)
        self._port = port
        self._feed: Feed[Change] = Feed()
        self._faults = FaultPlan()
        self._mischief: Mischief[Message] | None = None
        limits = limits or Limits()
        stage = Stage(world=self.world, clock=self.clock, limits=limits, tell=self._happened)
        self.commands = stage.commands
        self._stage = stage
        self._visitor = Visitor(stage)
        self._gate = Gate(self.world, limits.invalid_requests)
        self._shard = Shard(stage, self._gate, self._feed.publish, lambda: self.gateway_url)
        account, channels, webhooks = AccountApi(stage, self._gateway), ChannelApi(stage), WebhookApi(stage)
        self._desk = Desk(
            stage=stage,
            gate=self._gate,
            routes=account.routes | channels.routes | webhooks.routes,
            target=webhooks.target,
            faults=self._faults,
            arrived=self._arrived,
        )
        self._server = Server(self._desk, self._shard)

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

    async def stop(self) -> None:
        """Close all sockets, forget what was to come, cut what waits, and stop listening."""
        self._desk.close()
        await self._server.stop()
        self._stage.docket.stop()

    @property
    def api_url(self) -> str:
        """For ``discord.http.Route.BASE``."""
        return f"http://{self._server.address}{API}"

    @property
    def gateway_url(self) -> str:
        """For ``discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY``."""
        return f"ws://{self._server.address}{GATEWAY}"

    # What was seen.

    @property
    def calls(self) -> CallLog:
        """Every call and how it was answered."""
        return self._desk.calls

    @property
    def interactions(self) -> list[Interaction]:
        """Every interaction and what became of it."""
        return list(self._stage.docket)

    @property
    def channels(self) -> list[Channel]:
        """Every channel as it is now, begun threads too."""
        return list(self._stage.places)

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open or can be resumed."""
        return self._shard.sessions

    @property
    def open_sockets(self) -> int:
        """How many sockets are open."""
        return len(self._shard.connections)

    @property
    def listeners(self) -> int:
        """On how many sockets a client has identified or resumed, so that it is told what happens."""
        return sum(connection.session is not None for connection in self._shard.connections)

    @property
    def invalid_requests(self) -> int:
        """How many answers counted against the bot: 401, 403, and 429 that was not shared."""
        return self._gate.invalid_requests

    @property
    def taken(self) -> list[Message]:
        """The bot's messages that its readers took away when they felt like it, see ``misbehave``, as they stood."""
        return [] if self._mischief is None else self._mischief.taken

    def messages(
        self, channel: str | None = None, *, author: str | None = None, deleted: bool = False
    ) -> list[Message]:
        """The messages that stand, oldest first.

        Args:
            channel: only this channel's.
            author: only "user" or only "bot".
            deleted: those, too, that are gone.
        """
        messages = self._stage.history.messages(channel, deleted=deleted)
        return [message for message in messages if author is None or message.author == author]

    def message(self, message: str) -> Message:
        """One message with its whole history, also if it was deleted.

        Raises:
            KeyError: there never was one.
        """
        return self._visitor.message(message)

    def interaction(self, interaction: str) -> Interaction:
        """One interaction as it is now.

        Raises:
            KeyError: there never was one.
        """
        found = self._stage.docket.find(interaction)
        if found is None:
            raise KeyError(interaction)
        return found

    def subscribe(self, observer: Callable[[Change], None]) -> Callable[[], None]:
        """Tell the observer every change from now on; the returned function ends that."""
        return self._feed.subscribe(observer)

    async def until(self, condition: Callable[[], ValueT]) -> ValueT:
        """Wait until the condition holds, asking it after every change; put a time limit round it."""
        return await self._feed.until(condition)

    # What users do.

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        *,
        mention: bool = True,
        reply_to: str | None = None,
        ping: bool = True,
    ) -> Message:
        """Let a user write, as in Discord's own client; its dispatch follows.

        Args:
            user: the user's id.
            channel: the channel's id.
            text: as typed.
            mention: begin with the bot's name, unless the text has it or this is a direct message.
            reply_to: the id of the message that it replies to.
            ping: whether a reply mentions its author, as Discord's client has it unless one turns that off.
        """
        message = self._visitor.say(user, channel, text, mention=mention, reply_to=reply_to, ping=ping)
        if (place := self._stage.places.find(channel)) is not None and place.archived:
            self._happened(ThreadUpdated(channel=self._stage.places.archive(place, archived=False)))
        return message

    def edit(self, message: str, text: str) -> Message:
        """Let a user edit a message of their own.

        Raises:
            ValueError: it is the bot's.
        """
        return self._visitor.edit(message, text)

    def delete(self, message: str) -> Message:
        """Let a user delete a message of their own, or a moderator anybody's."""
        return self._stage.history.delete(self.message(message))

    def command(self, user: str, channel: str, name: str, options: Mapping[str, object] | None = None) -> Interaction:
        """Let a user run a slash command; its interaction follows.

        Args:
            user: the user's id.
            channel: the channel's id.
            name: the command's name, without the slash.
            options: what the user fills in.

        Raises:
            LookupError: the app has no such command there, so that no user is offered it.
            ValueError: it has other options.
        """
        return self._visitor.command(user, channel, name, options or {})

    def press(self, user: str, message: str, custom_id: str, *, stale: bool = False) -> Interaction:
        """Let a user press a button of the bot's; with ``stale`` also one that a client shows still.

        Raises:
            LookupError: the message has no such button, and with ``stale`` it never had.
        """
        return self._visitor.press(user, message, custom_id, stale=stale)

    def start_thread(self, channel: str, name: str = "thread", *, message: str | None = None) -> Channel:
        """Let a user begin a thread; one that begins at a message has the message's id."""
        thread = self._visitor.start_thread(channel, name, message or self._stage.next_id())
        self._happened(ThreadCreated(channel=thread))
        return thread

    def archive(self, channel: str, *, locked: bool = False) -> Channel:
        """Archive a thread, as Discord does with one that nobody writes into."""
        thread = self._visitor.archive(channel, locked=locked)
        self._happened(ThreadUpdated(channel=thread))
        return thread

    # What the platform does.

    def push(self, event: str, data: object) -> None:
        """Dispatch anything to every session as it is."""
        for session in tuple(self.sessions):
            self._shard.dispatch(session, event, data)

    def garble(self, text: str) -> None:
        """Send a text where a dispatch should be, into every session; it has a number, and a RESUME brings it again."""
        for session in tuple(self.sessions):
            self._shard.dispatch(session, "", {}, text)

    def redeliver(self, event: str | None = None, identifier: str | None = None) -> None:
        """Send the newest dispatch (of an event, of what has that id) once more, with its old number, as a RESUME may.

        Raises:
            LookupError: there is none.
        """
        for session in tuple(self.sessions):
            self._shard.send(session, session.last(event, identifier))

    def disconnect(self, code: int = 4000) -> None:
        """Close every socket with a code; what can be resumed still can."""
        self._shard.broadcast(Close(code=code))

    def ask_to_reconnect(self) -> None:
        """Ask every client to come back: op 7."""
        self._shard.broadcast({"op": RECONNECT, "d": None})

    def invalidate(self, resumable: bool = False) -> None:
        """Tell every client that its session is invalid: op 9."""
        self._shard.invalidate(resumable=resumable)

    def zombify(self) -> None:
        """Let nothing reach the clients that are connected now, not even the answers to their heartbeats."""
        self._shard.zombify()

    def expire(self, interaction: str) -> Interaction:
        """End an interaction's token now."""
        return self._stage.docket.expire(interaction)

    def outdate(self, interaction: str) -> None:
        """Let it be too late to answer an interaction in any way."""
        self._stage.docket.outdate(interaction)

    # What goes wrong.

    def fail_next(
        self,
        route: str,
        code: int = 0,
        *,
        status: int | None = None,
        retry_after: int | None = None,
        scope: Scope = "user",
        times: int = 1,
    ) -> None:
        """Let the next calls of a route fail without effect.

        Args:
            route: such as "POST /channels/{channel}/messages".
            code: the code in the body; its text follows.
            status: by default 429 with ``retry_after``, else 400 with a code and 500 without; 0 cuts the connection.
            retry_after: platform seconds.
            scope: of a 429: "user", "global", "shared", or "cloudflare", which is not Discord that answers.
            times: how many calls.
        """
        otherwise = 429 if retry_after is not None else 400 if code else 500
        error = str(code) if scope == "user" or code else scope
        failure = Failure(error=error, status=otherwise if status is None else status, retry_after=retry_after)
        self._faults.fail(_known(route), failure, times)

    def lose_answer_next(self, route: str, *, status: int = 500, times: int = 1) -> None:
        """Let the next calls take effect and answer as if they had not; status 0 cuts the connection."""
        self._faults.fail(_known(route), Failure(error="0", status=status, performed=True), times)

    def delay_next(self, route: str, seconds: float, *, taken: bool = False, times: int = 1) -> None:
        """Let the next calls of a route be answered that many real seconds late; ``math.inf`` is never.

        Args:
            route: such as "POST /channels/{channel}/messages".
            seconds: how late.
            taken: what was asked is done at once, and only the answer is late; otherwise the call lies about untouched.
            times: how many calls.
        """
        (self._faults.hold if taken else self._faults.delay)(_known(route), seconds, times)

    def drop_sockets(self) -> int:
        """Cut every socket without a word; says how many."""
        return self._server.drop_links()

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut those on which nothing is under way."""
        self._server.close_doors(seconds)

    def misbehave(self, seed: int) -> None:
        """From now on do all of the above at random, the same for the same seed; users delete the bot's messages, too.

        Who asks again often enough comes through. To connect goes well.
        """
        self._mischief = Mischief(
            chance=Chance(seed, ERRORS),
            faults=self._faults,
            spared=SPARED,
            messages=lambda: self.messages(author="bot"),
            delete=self._stage.history.delete,
            drop=self.drop_sockets,
            close_doors=self.close_doors,
        )

    def behave(self) -> None:
        """From now on let nothing go wrong, of what was planned either."""
        self._faults.clear()
        if self._mischief is not None:
            self._mischief.over = True

    def _gateway(self) -> Mapping[str, object]:
        budget = {
            "total": self._stage.limits.identifies,
            "remaining": self._shard.identifies_left,
            "reset_after": 86_400_000,
        }
        return {"url": self.gateway_url, "shards": 1, "session_start_limit": budget | {"max_concurrency": 1}}

    def _arrived(self, name: str) -> None:
        if self._mischief is not None:
            self._mischief.arrived(name)

    def _happened(self, change: Change) -> None:
        """Tell observers what happened, then the bot."""
        if isinstance(change, TypingStarted):
            self.typing[change.channel].append(change.t)
        self._feed.publish(change)
        self._shard.happened(change)


def _known(name: str) -> str:
    if name not in route.ROUTES:
        msg = f"no route {name}; there are {', '.join(route.ROUTES)}"
        raise KeyError(msg)
    return name
