"""Works through the mailboxes: one run at a time in each conversation, many conversations beside each other.

Rule 1: a message is closed in the store only when its answer is on the screen; until then a restart finds it again.
Rule 2: a run that fails harms no other conversation.
Rule 3: what the store refuses is tried again: an answer that was shown must not be given twice.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import anyio

from gateway import history
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

STORE_TRIES, STORE_PATIENCE = 60, 1.0
"""How often something is written that the store refuses, and the real seconds between two tries."""


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


class Conversations:
    """Answers what is in the mailboxes.

    Args:
        store: holds the mailboxes.
        agent: answers.
        delivery: shows the answers.
        adapters: the adapter of each platform, by its name.
        watch: told of everything.
        limit: how many runs may go on at once.
    """

    def __init__(
        self,
        *,
        store: Store,
        agent: Agent,
        delivery: Delivery,
        adapters: Mapping[str, Adapter],
        watch: Watch,
        limit: int,
    ) -> None:
        self._store = store
        self._agent = agent
        self._delivery = delivery
        self._adapters = adapters
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
            if claimed := await self._store.claim(1):
                return claimed[0]
            await self._store.wait_due()

    async def _work(self, conversation: str) -> None:
        try:
            adapter = self._adapters.get(Address.from_key(conversation).platform)
            if adapter is None:  # not even loaded: that would count as an attempt
                log.error("%s: its platform is not configured; its messages wait", conversation)
                return
            await self._answer_next(conversation, adapter)
        except OwnershipLostError:
            log.warning("%s: taken over by another process", conversation)
        finally:
            self._slots.release()

    async def _answer_next(self, conversation: str, adapter: Adapter) -> None:
        try:
            work = await self._store.load(conversation)
        except UnreadableError as error:
            log.error("run r%d: set aside unanswered: %s", error.sequence, error)  # noqa: TRY400 - the message says it whole
            await self._store.reject(conversation, error.sequence)
            return
        if work is None:
            await self._store.release(conversation)
            return
        try:
            entries = await self._answer(work, adapter)
        except Exception:
            log.exception("run %s: failed in %s; its message is tried again", _run_id(work), conversation)
            await self._store.release(conversation)
        else:
            await self._finish(work, entries)

    async def _answer(self, work: Work, adapter: Adapter) -> list[Entry]:
        """Answer a message, and say what of it goes into the history."""
        asked = Asked(speaker=work.message.user, text=work.message.text)
        if work.attempt > ATTEMPTS:
            await self._set_aside(work, adapter)
            return [asked]
        stream = EventStream(_run_id(work))
        reply = Reply(address=work.message.address, capabilities=adapter.capabilities, run_id=stream.run_id)
        said = [history.from_json(entry) for entry in work.history]
        messages = history.messages([*said, asked], room=self._agent.history_characters)
        answered = await self._converse(messages, stream, reply, adapter)
        self._tell_end(work, reply, answered.reason)
        if reply.failure is not None:
            return [asked]  # nobody read the answer
        return [asked, Answered(text=answered.text, native=answered.native)]

    async def _converse(
        self, messages: tuple[Message, ...], stream: EventStream, reply: Reply, adapter: Adapter
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
        return answered  # noqa: RET504 # pyright: ignore[reportPossiblyUnboundVariable]  # a task group swallows no error

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

    async def _finish(self, work: Work, entries: list[Entry]) -> None:
        """Close the message. A store that refuses for long cannot be worked with: its error ends the gateway."""
        texts = [history.to_json(entry) for entry in entries]
        for _ in range(STORE_TRIES - 1):
            try:
                return await self._store.finish(work, texts)
            except OwnershipLostError:
                raise
            except StoreError as error:
                log.error("run %s: the store refused its end: %s", _run_id(work), error)  # noqa: TRY400 - it is a message
            await anyio.sleep(STORE_PATIENCE)
        return await self._store.finish(work, texts)


def _run_id(work: Work) -> str:
    return f"r{work.sequence}"
