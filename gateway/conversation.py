"""Works through the mailboxes: one run at a time in each conversation, many conversations beside each other.

Rule 1: a message is closed in the store only when its answer is on the screen; until then a restart finds it again.
Rule 2: a run that fails harms no other conversation.
Rule 3: what the store refuses is tried again until it is taken: an answer that was shown must not be given twice.
Rule 4: what waits to be shown holds up nobody who waits for the model.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TypeVar

import anyio

from gateway import access, history
from gateway.access import Allow
from gateway.adapter import Adapter
from gateway.address import Address
from gateway.agent import Agent, Answer, answer
from gateway.delivery import Delivery
from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.event import AgentEnd, EndReason, Envelope, Usage
from gateway.history import Answered, Asked, Entry
from gateway.provider import Message
from gateway.reply import Bubble, Reply
from gateway.store import Store, Work
from gateway.stream import EventStream

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a message is tried whose run ended in a crash."""

STORE_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Real seconds until the store is asked again that refused, once, twice, ... To give up would be to answer twice."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run is over: its events are out, and its last operation is settled.

    ``failure`` says why the platform would not show the reply; none where it is on the screen.
    """

    run_id: str
    conversation: str
    reason: EndReason
    failure: str | None
    bubbles: tuple[Bubble, ...]


Watch = Callable[[Envelope | RunEnded], None]
"""Sees every event of every run, and each run's end. Must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A configured platform: its adapter, and who may use it. That is asked again when a message's turn has come."""

    name: str
    adapter: Adapter
    allow: Allow


class Conversations:
    """Answers what is in the mailboxes.

    Args:
        store: holds the mailboxes.
        agent: answers.
        delivery: shows the answers.
        platforms: where messages come from, by name.
        watch: told of everything.
        limit: how many answers the model may write at once. Answers that only wait to be shown do not count.
    """

    def __init__(
        self,
        *,
        store: Store,
        agent: Agent,
        delivery: Delivery,
        platforms: Mapping[str, Platform],
        watch: Watch,
        limit: int,
    ) -> None:
        self._store = store
        self._agent = agent
        self._delivery = delivery
        self._platforms = platforms
        self._watch = watch
        self._slots = anyio.Semaphore(limit)
        self._starting = anyio.CancelScope()

    async def run(self) -> None:
        """Answer until told to stop; return when the runs that had begun are over."""
        async with anyio.create_task_group() as tasks:
            with self._starting:
                while True:
                    await self._slots.acquire()
                    tasks.start_soon(self._work, await self._next())

    def stop(self) -> None:
        """Begin no further run. What waits stays in the store."""
        self._starting.cancel()

    async def _next(self) -> str:
        """A conversation that is due, and ours from now on."""
        while True:
            if claimed := await _patiently("claim", lambda: self._store.claim(1)):
                return claimed[0]
            await self._store.wait_due()

    async def _work(self, conversation: str) -> None:
        with ExitStack() as slot:
            slot.callback(self._slots.release)
            try:
                if (platform := self._platform(conversation)) is not None:
                    await self._answer_next(conversation, platform, slot)
            except OwnershipLostError:
                log.warning("%s: taken over by another process", conversation)

    def _platform(self, conversation: str) -> Platform | None:
        """Where a conversation is. What cannot be answered is not even loaded: that would count as an attempt."""
        try:
            platform = self._platforms.get(Address.from_key(conversation).platform)
        except ValueError as error:
            log.error("%s: its messages wait: %s", conversation, error)  # noqa: TRY400 - the message says it whole
            return None
        if platform is None:
            log.error("%s: its platform is not configured; its messages wait", conversation)
        return platform

    async def _answer_next(self, conversation: str, platform: Platform, slot: ExitStack) -> None:
        try:
            work = await _patiently(conversation, lambda: self._store.load(conversation))
        except UnreadableError as error:
            sequence = error.sequence
            log.error("run r%d: set aside unanswered: %s", sequence, error)  # noqa: TRY400 - the message says it whole
            await _patiently(conversation, lambda: self._store.reject(conversation, sequence))
            return
        if work is None:
            await _patiently(conversation, lambda: self._store.release(conversation))
            return
        try:
            entries = [history.to_json(entry) for entry in await self._answer(work, platform, slot)]
        except anyio.get_cancelled_exc_class():
            await self._postpone(work)
            raise
        except Exception:
            log.exception("run %s: failed in %s; its message is tried again", _run_id(work), conversation)
            await _patiently(conversation, lambda: self._store.release(conversation))
        else:
            await _patiently(conversation, lambda: self._store.finish(work, entries))

    async def _postpone(self, work: Work) -> None:
        """Leave a message to the next start, as if it had not been tried."""
        with anyio.CancelScope(shield=True):
            try:
                await self._store.postpone(work)
            except StoreError as error:
                log.warning("run %s: open as before, but counted as an attempt: %s", _run_id(work), error)

    async def _answer(self, work: Work, platform: Platform, slot: ExitStack) -> list[Entry]:
        """Answer a message, and say what of it goes into the history."""
        asked = Asked(speaker=work.message.user, text=work.message.text)
        if not access.admits(platform.allow, work.message):
            log.warning("run %s: not answered, %s is no longer allowed", _run_id(work), work.message.user)
            return []
        if work.attempt > ATTEMPTS:
            slot.close()
            await self._set_aside(work, platform.adapter)
            return [asked]
        stream = EventStream(_run_id(work))
        capabilities = platform.adapter.capabilities
        reply = Reply(address=work.message.address, capabilities=capabilities, run_id=stream.run_id)
        said = [history.from_json(entry) for entry in work.history]
        messages = history.messages([*said, asked], room=self._agent.history_characters)
        answered = await self._converse(messages, stream, reply, platform.adapter, slot)
        self._tell_end(work, reply, answered.reason)
        if reply.failure is not None:
            return [asked]  # nobody read the answer
        return [asked, Answered(text=answered.text, native=answered.native)]

    async def _converse(
        self, messages: tuple[Message, ...], stream: EventStream, reply: Reply, adapter: Adapter, slot: ExitStack
    ) -> Answer:
        """One run, from its first event to its last operation."""
        unseen = anyio.CancelScope()

        async def show() -> None:
            await self._delivery.show(reply, adapter)
            unseen.cancel()  # where the reply ended before its run, nobody can see the rest

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._consume, stream, reply)
            tasks.start_soon(show)
            answered = await answer(self._agent, messages, stream, stop=unseen)
            slot.close()
        return answered  # pyright: ignore[reportPossiblyUnboundVariable]  # a task group swallows no error

    async def _consume(self, stream: EventStream, reply: Reply) -> None:
        async for envelope in stream:
            self._watch(envelope)
            self._delivery.feed(reply, envelope.event)

    async def _set_aside(self, work: Work, adapter: Adapter) -> None:
        """Tell the user that their message broke the bot too often to be tried again."""
        reply = Reply(address=work.message.address, capabilities=adapter.capabilities, run_id=_run_id(work))
        reply.feed(AgentEnd(reason="error", final_response="", turn_count=0, message_count=0, usage=Usage()))
        log.error("run %s: set aside after %d attempts; each one's failure is above", _run_id(work), ATTEMPTS)
        await self._delivery.show(reply, adapter)
        self._tell_end(work, reply, "error")

    def _tell_end(self, work: Work, reply: Reply, reason: EndReason) -> None:
        if reply.failure is not None:
            log.error("run %s: not shown in %s: %s", _run_id(work), work.conversation, reply.failure)
        self._watch(
            RunEnded(
                run_id=_run_id(work),
                conversation=work.conversation,
                reason=reason,
                failure=reply.failure,
                bubbles=tuple(reply.bubbles),
            )
        )


async def _patiently(what: str, write: Callable[[], Awaitable[T]]) -> T:
    """What the store says to a write that it may refuse for a while: a full disk, another program's lock."""
    for pause in chain(STORE_PAUSES, repeat(STORE_PAUSES[-1])):
        try:
            return await write()
        except (OwnershipLostError, UnreadableError):
            raise
        except StoreError as error:
            log.error("%s: the store refuses, tried again in %g s: %s", what, pause, error)  # noqa: TRY400 - says it whole
        await anyio.sleep(pause)
    raise AssertionError


def _run_id(work: Work) -> str:
    return f"r{work.sequence}"
