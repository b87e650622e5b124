"""The control surface: what play and tests do to a Slack that runs on this machine."""

import itertools
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar, cast

from adapters.loopback.chance import Chance
from adapters.loopback.clock import PlatformClock
from adapters.loopback.fault import Failure, FaultPlan
from adapters.loopback.feed import Feed
from adapters.loopback.log import CallLog
from adapters.loopback.mischief import Mischief
from adapters.loopback.slack.api import WebApi
from adapters.loopback.slack.block import Button, buttons_of
from adapters.loopback.slack.change import Change, EphemeralPosted
from adapters.loopback.slack.desk import Desk
from adapters.loopback.slack.envelope import Acknowledgement, Envelope, EnvelopeType, Redelivery
from adapters.loopback.slack.event import event_callback, events_of
from adapters.loopback.slack.gate import Gate
from adapters.loopback.slack.history import History
from adapters.loopback.slack.markup import from_typed
from adapters.loopback.slack.message import Content, Message
from adapters.loopback.slack.mischief import ERRORS, SPARED
from adapters.loopback.slack.press import block_actions, find_button
from adapters.loopback.slack.server import Server
from adapters.loopback.slack.socket_mode import SocketMode
from adapters.loopback.slack.workspace import Channel, User, Workspace

ValueT = TypeVar("ValueT")


class LoopbackSlack:
    """A Slack on 127.0.0.1 for the real SDK, which enforces what Slack enforces and keeps all that happened.

    Everything but ``start`` and ``stop`` is immediate: it takes effect before it returns. Use it in one event loop::

        async with LoopbackSlack(time_scale=20) as slack:
            client = AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.base_url)
            ...
            slack.say("U1", "C1", "what is a dragoman?")
            await slack.until(lambda: slack.messages("C1", author="bot"))

    Args:
        workspace: who and what there is.
        time_scale: platform seconds in a real second: budgets, ``Retry-After`` and the log's times are scaled.
        clock: instead of ``time_scale``, for tests that bring their own time.
        redelivery: deadline and delays of acknowledgements, in real seconds.
        port: 0 takes a free one.
    """

    def __init__(
        self,
        *,
        workspace: Workspace | None = None,
        time_scale: float = 1.0,
        clock: PlatformClock | None = None,
        redelivery: Redelivery | None = None,
        port: int = 0,
    ) -> None:
        self.workspace = workspace or Workspace()
        self.clock = clock or PlatformClock(time_scale)
        self._port = port
        self._feed: Feed[Change] = Feed()
        self._faults = FaultPlan()
        self._mischief: Mischief[Message] | None = None
        self._history = History(self.clock, self._happened, self.workspace.bot_user)
        self._socket_mode = SocketMode(self.clock, self._feed.publish, redelivery or Redelivery())
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._events: dict[str, Mapping[str, object]] = {}
        self._presses: list[Mapping[str, object]] = []
        self._whispers: list[EphemeralPosted] = []
        self._desk = Desk(
            clock=self.clock,
            tell=self._feed.publish,
            gate=Gate(self.workspace),
            api=WebApi(self.workspace, self._history, self._told, self._open_socket),
            faults=self._faults,
            arrived=self._arrived,
        )
        self._server = Server(self._desk, self._socket_mode, self._tickets, self.workspace)

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
        """Close all sockets, forget what was to be sent again, cut what waits, and stop listening."""
        self._desk.close()
        await self._server.stop()
        self._socket_mode.stop()

    @property
    def base_url(self) -> str:
        """For the SDK's ``base_url``."""
        return f"http://{self._server.address}/api/"

    # What was seen.

    @property
    def calls(self) -> CallLog:
        """Every Web API call and how it was answered."""
        return self._desk.calls

    @property
    def envelopes(self) -> list[Envelope]:
        """Every envelope that was sent, repetitions too."""
        return self._socket_mode.envelopes

    @property
    def acknowledgements(self) -> list[Acknowledgement]:
        """Every acknowledgement and how long it took."""
        return self._socket_mode.acknowledgements

    @property
    def taken(self) -> list[Message]:
        """The bot's messages that its readers took away when they felt like it, see ``misbehave``, as they stood."""
        return [] if self._mischief is None else self._mischief.taken

    @property
    def open_sockets(self) -> int:
        """How many sockets are open."""
        return self._socket_mode.open_sockets

    @property
    def unacknowledged(self) -> int:
        """How many envelopes wait for a socket, an acknowledgement or their next attempt."""
        return self._socket_mode.unacknowledged

    def messages(
        self,
        channel: str | None = None,
        thread: str | None = None,
        *,
        author: str | None = None,
        deleted: bool = False,
    ) -> list[Message]:
        """The messages that stand, oldest first.

        Args:
            channel: only this channel's.
            thread: only this thread's, its first message included.
            author: only "user" or only "bot".
            deleted: those, too, that are gone.
        """
        messages = self._history.messages(channel, thread, deleted=deleted)
        return [message for message in messages if author is None or message.author == author]

    def message(self, channel: str, ts: str) -> Message:
        """One message with its whole history, also if it was deleted.

        Raises:
            KeyError: there never was one.
        """
        message = self._history.find(channel, ts)
        if message is None:
            raise KeyError(channel, ts)
        return message

    def buttons(self, channel: str, ts: str) -> list[Button]:
        """The buttons that a message has now.

        Raises:
            KeyError: there never was such a message.
        """
        return list(buttons_of(self.message(channel, ts).content.blocks))

    def whispers(self, user: str) -> list[Message]:
        """What the bot posted for a user alone, and they saw."""
        return [each.message for each in self._whispers if each.user == user and each.seen]

    @property
    def unanswered_presses(self) -> int:
        """How many presses the bot has not acknowledged in time."""
        return self._socket_mode.unanswered("interactive")

    def event_ids(self, ts: str) -> list[str]:
        """The events that were sent about a message of that id."""
        return [event_id for event_id, event in self._events.items() if ts in _subjects(event)]

    def subscribe(self, observer: Callable[[Change], None]) -> Callable[[], None]:
        """Tell the observer every change from now on; the returned function ends that."""
        return self._feed.subscribe(observer)

    async def until(self, condition: Callable[[], ValueT]) -> ValueT:
        """Wait until the condition holds, asking it after every change; put a time limit round it."""
        return await self._feed.until(condition)

    # What users do.

    def say(self, user: str, channel: str, text: str, thread: str | None = None, *, mention: bool = True) -> Message:
        """Let a user write, as in Slack's own client; its events follow.

        Args:
            user: the user's id.
            channel: the channel's id.
            text: as typed; ``<@U1>`` and the like are links, other ``&``, ``<`` and ``>`` are escaped.
            thread: the thread's first message.
            mention: begin with the bot's name, unless the text has it or this is a direct message.
        """
        place = self._channel(channel)
        typed = from_typed(text)
        if mention and place.type != "im" and not self.workspace.is_named(typed):
            typed = f"<@{self.workspace.bot_user}> {typed}".rstrip()
        return self._history.post(channel=place.id, user=self._user(user), content=Content(text=typed), thread=thread)

    def edit(self, channel: str, ts: str, text: str) -> Message:
        """Let a user edit a message of their own.

        Raises:
            ValueError: it is the bot's.
        """
        before = self.message(channel, ts)
        if before.author == "bot":
            msg = f"{ts} is the bot's message; users edit their own"
            raise ValueError(msg)
        return self._history.edit(before, Content(text=from_typed(text)))

    def delete(self, channel: str, ts: str) -> Message:
        """Let a user delete a message of their own, or an administrator anybody's."""
        return self._history.delete(self.message(channel, ts))

    def press(self, user: str, channel: str, ts: str, value: str, *, stale: bool = False) -> Mapping[str, object]:
        """Let a user press a button of the bot's; returns the payload that follows.

        Args:
            user: the user's id.
            channel: the channel's id.
            ts: the message's id.
            value: the button's.
            stale: a button that the message had once will do, for a client may show it still.

        Raises:
            LookupError: the message has no such button, or is not there for this user.
        """
        place, message = self._channel(channel), self.message(channel, ts)
        if message.deleted or not place.holds(user):
            msg = f"{user} does not see message {ts}"
            raise LookupError(msg)
        payload = block_actions(
            button=find_button(message, value, stale=stale),
            message=message,
            channel=place,
            user=self._user(user),
            workspace=self.workspace,
            action_ts=self._history.next_ts(),
        )
        self._presses.append(payload)
        self.push_payload(payload, "interactive")
        return payload

    def unfurl(self, channel: str, ts: str, url: str) -> Message:
        """Add a link preview to a message: ``message_changed`` with unchanged text."""
        return self._history.unfurl(self.message(channel, ts), ({"from_url": url, "title": url, "id": 1},))

    # What the platform does.

    def push(self, event: Mapping[str, object], *, event_id: str | None = None, attempt: int = 0) -> str:
        """Send any inner event as it is.

        Args:
            event: what stands under ``event`` in the payload.
            event_id: a new one if none is given.
            attempt: above 0, the event arrives as a repetition whose first delivery was lost.

        Returns:
            The event's id.
        """
        event_id = event_id or f"Ev{next(self._numbers):08d}"
        self._events[event_id] = event
        self._socket_mode.push(self._callback(event_id), "events_api", event_id, attempt)
        return event_id

    def push_payload(self, payload: Mapping[str, object], type_: EnvelopeType) -> str:
        """Send a payload that is no event: a button press or a slash command; returns the envelope's id."""
        return self._socket_mode.push(payload, type_)

    def redeliver(self, event_id: str) -> None:
        """Send an event once more, acknowledged or not: same ``event_id``, new envelope, next attempt."""
        last = max((sent.attempt for sent in self.envelopes if sent.event_id == event_id), default=-1)
        self._socket_mode.push(self._callback(event_id), "events_api", event_id, last + 1)

    def repeat_press(self) -> None:
        """Send the newest press once more, in an envelope of its own.

        Raises:
            LookupError: nobody has pressed anything.
        """
        self.push_payload(self._presses[-1], "interactive")

    # What goes wrong.

    def fail_next(
        self,
        method: str,
        error: str | None = None,
        *,
        status: int | None = None,
        retry_after: int | None = None,
        times: int = 1,
    ) -> None:
        """Let the next calls of a method fail without effect.

        Args:
            method: such as "chat.update".
            error: the code; by default what fits the status.
            status: by default 429 with ``retry_after``, else 200, which is how Slack says no; 0 cuts the connection.
            retry_after: platform seconds.
            times: how many calls.
        """
        status = (200 if retry_after is None else 429) if status is None else status
        error = error or ("ratelimited" if status == 429 else "internal_error")
        self._faults.fail(method, Failure(error=error, status=status, retry_after=retry_after), times)

    def lose_answer_next(self, method: str, *, status: int = 500, times: int = 1) -> None:
        """Let the next calls take effect and answer as if they had not; status 0 cuts the connection."""
        self._faults.fail(method, Failure(error="internal_error", status=status, performed=True), times)

    def delay_next(self, method: str, seconds: float, *, taken: bool = False, times: int = 1) -> None:
        """Let the next calls of a method be answered that many real seconds late; ``math.inf`` is never.

        Args:
            method: such as "chat.postMessage".
            seconds: how late.
            taken: what was asked is done at once, and only the answer is late; otherwise the call lies about untouched.
            times: how many calls.
        """
        (self._faults.hold if taken else self._faults.delay)(method, seconds, times)

    def drop_sockets(self) -> int:
        """Cut every socket without a word; says how many."""
        return self._server.drop_links()

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every client to open a new socket: "warning" or "refresh_requested"."""
        self._socket_mode.ask_to_leave(reason)

    def lose_acknowledgements(self, count: int = 1) -> None:
        """Let the next acknowledgements be lost on their way: what they answer is sent again."""
        self._socket_mode.lose_acknowledgements(count)

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
            fate_as=lambda fate: fate,
            messages=lambda: self.messages(author="bot"),
            delete=self._history.delete,
            drop=self.drop_sockets,
            close_doors=self.close_doors,
        )

    def behave(self) -> None:
        """From now on let nothing go wrong, of what was planned either."""
        self._faults.clear()
        if self._mischief is not None:
            self._mischief.over = True

    def _arrived(self, method: str) -> None:
        if self._mischief is not None:
            self._mischief.arrived(method)

    def _told(self, change: Change) -> None:
        """Keep what one user sees alone, and tell observers."""
        if isinstance(change, EphemeralPosted):
            self._whispers.append(change)
        self._feed.publish(change)

    def _happened(self, change: Change) -> None:
        """Tell observers what happened in a channel, then the app."""
        self._feed.publish(change)
        for event in events_of(change, self.workspace, self._history.next_ts):
            self.push(event)

    def _callback(self, event_id: str) -> Mapping[str, object]:
        event = dict(self._events[event_id])
        return event_callback(event, event_id, int(self.clock.unix()), self.workspace)

    def _open_socket(self) -> str:
        ticket = f"{next(self._numbers)}"
        self._tickets.add(ticket)
        return f"ws://{self._server.address}/link/?ticket={ticket}&app_id={self.workspace.app}"

    def _channel(self, channel_id: str) -> Channel:
        channel = self.workspace.channel(channel_id)
        if channel is None:
            msg = f"no channel {channel_id} in this workspace"
            raise KeyError(msg)
        return channel

    def _user(self, user_id: str) -> User:
        user = self.workspace.user(user_id)
        if user is None:
            msg = f"no user {user_id} in this workspace"
            raise KeyError(msg)
        return user


def _subjects(event: Mapping[str, object]) -> set[object]:
    """The ids of the messages an event is about."""
    message = event.get("message")
    edited = cast("Mapping[str, object]", message).get("ts") if isinstance(message, dict) else None
    return {event.get("ts"), event.get("deleted_ts"), edited}
