"""Takes in what Discord's gateway dispatches.

Rule 1: a message is kept before the next one is, and asked to be kept again and again while the store refuses it, for
    Discord sends nothing twice.
Rule 2: an interaction waits behind no message: it is kept as soon as it arrives, and answered when it was kept, for its
    token dies after three seconds. What was not kept is not answered; who pressed a button is told by their client that
    it failed, and may press again.
Rule 3: our own messages, and those that are not for the bot, leave no trace, nor does their deletion.
Rule 4: nothing that arrives can end it.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import anyio

from adapters.discord.decode import ELSEWHERE, OURS, decode
from adapters.discord.directory import Directory
from adapters.discord.identity import Identity
from adapters.discord.message import author
from adapters.discord.outcome import Answer, NoAnswer, retry_after
from adapters.discord.post import Posts
from adapters.discord.render import EPHEMERAL, Call, callback
from gateway.adapter import Receive
from gateway.error import StoreError
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageReceived, PressReceived, Ticket
from gateway.payload import Json, items, mapping

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

log = logging.getLogger(__name__)

DEADLINE = 2.5
"""Seconds after which an interaction is not answered any more: Discord's three, less what it takes to get there."""

PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Seconds until a message that was not stored is tried again, the first time, the second, ..."""

LOOK_UPS = 4
"""How often a channel is looked up where no answer comes; a thread is taken for a channel then."""

LONGEST_LOOK_UP = 5.0
"""Seconds that a rate limit may hold up a look: messages wait behind it."""

FAREWELL = 2.0
"""Seconds that storing what has arrived may take when it ends."""

REMEMBERED = 10_000
"""How many messages that were not for us are known by their ids, so that nobody is told when they are deleted."""

NOT_ALLOWED = "You may not use this bot here."

ANSWERED_ALREADY = 40060
"""What is said of a first answer that is there, since it was given before and nobody heard."""

DEFERRED, SAID, TAKEN = 5, 4, 6
"""The types of a first answer: one that waits for its words, one that has them, and one that shows nothing."""

_MESSAGES = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"})

Answerable = MessageReceived | CommandReceived | PressReceived
"""What an interaction can be."""

Ask = Callable[[Call], Awaitable[Answer | NoAnswer]]


class Openings:
    """The first answers to interactions: which are on their way, and which messages they became."""

    def __init__(self) -> None:
        self._underway: dict[str, anyio.Event] = {}
        self._messages: OrderedDict[str, str] = OrderedDict()

    async def settled(self, opening: str) -> None:
        """Wait until it is known what came of it, for it cannot be edited sooner."""
        if (underway := self._underway.get(opening)) is not None:
            await underway.wait()

    @contextmanager
    def underway(self, opening: str) -> Generator[None]:
        """While the context lasts it is on its way; of several that come twice, the first to end tells."""
        event = self._underway.setdefault(opening, anyio.Event())
        try:
            yield
        finally:
            event.set()
            if self._underway.get(opening) is event:
                del self._underway[opening]

    def became(self, opening: str, message: str) -> None:
        """It is this message of the channel's, which the bot reaches by itself, too."""
        self._messages[opening] = message
        while len(self._messages) > REMEMBERED:
            self._messages.popitem(last=False)

    def message(self, opening: str) -> str | None:
        """The message that it is; none where nobody remembers."""
        return self._messages.get(opening)


class Ingress:
    """Keeps what arrives.

    Args:
        me: us.
        receive: stores.
        ask: calls Discord's API.
        openings: is told what becomes of first answers.
        posts: is told of our own messages.
    """

    def __init__(self, *, me: Identity, receive: Receive, ask: Ask, openings: Openings, posts: Posts) -> None:
        self._me = me
        self._receive = receive
        self._ask = ask
        self._openings = openings
        self._posts = posts
        self._places = Directory(me.user)
        self._others: OrderedDict[str, None] = OrderedDict()
        self._tasks: TaskGroup | None = None
        self._waiting: deque[tuple[str, object]] = deque()
        self._arrived = anyio.Event()

    async def run(self) -> None:
        """Keep messages in the order of their arrival, and interactions beside them, until cancelled."""
        try:
            async with anyio.create_task_group() as self._tasks:
                while True:
                    await self._arrived.wait()
                    self._arrived = anyio.Event()
                    while self._waiting:
                        await self._keep_message(*self._waiting[0])
                        self._waiting.popleft()
        finally:
            self._tasks = None
            with anyio.move_on_after(FAREWELL, shield=True):  # nobody will send them again
                while self._waiting:
                    await self._keep_message(*self._waiting[0])
                    self._waiting.popleft()

    def told(self, event: str, data: object) -> None:
        """Take a dispatch; those that are neither messages nor interactions say something about places at most."""
        self._places.feed(event, data)
        if event == "MESSAGE_CREATE" and author(fields := mapping(data)) == self._me.user:
            self._posts.heard(fields.get("nonce"), fields.get("id"))
        if event == "INTERACTION_CREATE" and self._tasks is not None:
            self._tasks.start_soon(self._keep_interaction, data, anyio.current_time())
        elif event == "MESSAGE_DELETE_BULK":
            fields = mapping(data)
            for name in items(fields.get("ids")):
                self._queue("MESSAGE_DELETE", {**fields, "id": name})
        elif event in _MESSAGES:
            self._queue(event, data)

    def _queue(self, event: str, data: object) -> None:
        self._waiting.append((event, data))
        self._arrived.set()

    async def _keep_message(self, event: str, data: object) -> None:
        fields = mapping(data)
        inbound = decode(event, data, self._me, self._places)
        if self._passes_over(event, fields, inbound):
            return
        if not isinstance(inbound, Ignored) and fields.get("guild_id") is not None:
            await self._look_up(str(fields["channel_id"]))
            inbound = decode(event, data, self._me, self._places)
        tries = 0
        while not await self._kept(inbound):
            await anyio.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    def _passes_over(self, event: str, fields: Json, inbound: Inbound) -> bool:
        """Rule 3."""
        name = str(fields.get("id"))
        if event == "MESSAGE_DELETE":
            return name in self._others
        over = isinstance(inbound, Ignored) and inbound.reason in (OURS, ELSEWHERE)
        if over and event == "MESSAGE_CREATE":
            self._others[name] = None
            while len(self._others) > REMEMBERED:
                self._others.popitem(last=False)
        return over

    async def _kept(self, inbound: Inbound) -> bool:
        try:
            await self._receive(inbound)
        except StoreError as error:
            log.warning("%s was not stored and is tried again: %s", inbound.event_id, error)
            return isinstance(inbound, Ignored)  # that one is not worth it
        return True

    async def _look_up(self, channel: str) -> None:
        """A channel that no dispatch has told of yet may be a thread."""
        for pause in PAUSES[:LOOK_UPS]:
            if self._places.knows(channel):
                return
            answer = await self._ask(Call(method="GET", path=f"/channels/{channel}"))
            if isinstance(answer, Answer) and answer.status == 429:
                await anyio.sleep(min(retry_after(answer), LONGEST_LOOK_UP))
                continue
            if isinstance(answer, Answer) and answer.status < 500:
                self._places.learn(answer.fields)
                return
            await anyio.sleep(pause)

    async def _keep_interaction(self, data: object, arrived: float) -> None:
        inbound = decode("INTERACTION_CREATE", data, self._me, self._places)
        ticket = inbound.ticket if isinstance(inbound, Answerable) else None
        with nullcontext() if ticket is None else self._openings.underway(ticket.opening):
            try:
                admitted = await self._receive(inbound)
            except StoreError as error:
                log.warning("%s was not stored, so it is not answered: %s", inbound.event_id, error)
                return
            if ticket is not None and isinstance(inbound, Answerable):
                with anyio.CancelScope(shield=True):  # it was stored, so it is answered
                    await self._answer(inbound, ticket, arrived, _first(inbound, admitted=admitted))

    async def _answer(self, inbound: Answerable, ticket: Ticket, arrived: float, first: Mapping[str, object]) -> None:
        """The first answer; again while there is time and none came."""
        call = callback(ticket.opening[1:], ticket.secret, first)
        with anyio.move_on_after(arrived + DEADLINE - anyio.current_time(), shield=True):
            answer = await self._answered(call)
            told = mapping(answer.fields.get("interaction")).get("response_message_id")
            if isinstance(told, str) and isinstance(inbound, MessageReceived) and not ticket.guest:
                self._openings.became(ticket.opening, told)
            elif not answer.ok and answer.code != ANSWERED_ALREADY:
                log.warning("%s was not answered: HTTP %s, code %s", inbound.event_id, answer.status, answer.code)
            return
        log.warning("%s was stored too late to be answered in time", inbound.event_id)

    async def _answered(self, call: Call) -> Answer:
        """Ask until there is an answer that will not be another one soon."""
        while True:
            answer = await self._ask(call)
            if isinstance(answer, Answer) and answer.status < 500 and answer.status != 429:
                return answer
            await anyio.sleep(retry_after(answer) if isinstance(answer, Answer) and answer.status == 429 else 0.1)


def _first(inbound: Answerable, *, admitted: bool) -> Mapping[str, object]:
    """What is shown at once: that an answer is being written, or that there will be none; to who pressed, nothing."""
    if isinstance(inbound, PressReceived):
        return {"type": TAKEN}
    if not admitted:
        return {"type": SAID, "data": {"content": NOT_ALLOWED, "flags": EPHEMERAL, "allowed_mentions": {"parse": []}}}
    private = {"data": {"flags": EPHEMERAL}} if isinstance(inbound, CommandReceived) else {}
    return {"type": DEFERRED, **private}
