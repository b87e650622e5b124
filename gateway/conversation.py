"""Works through the mailboxes: one run at a time in each conversation, many conversations beside each other.

Rule 1: a message is closed in the store only when its answer is on the screen; until then a restart finds it again,
        with what is sealed of its answer in the journal. Once the model has finished, its answer is in the history,
        and the model is not asked again.
Rule 2: a run that fails harms no other conversation.
Rule 3: what the store refuses is tried again until it is taken: an answer that was shown must not be given twice.
Rule 4: what waits to be shown holds up nobody who waits for the model.
Rule 5: commands, and marks at messages that wait, pass the queue; a stop takes effect as soon as it is stored.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import anyio

from gateway import command, history, journal
from gateway.adapter import Adapter
from gateway.agent import Agent, Answer, Case, Stop, answer
from gateway.aside import Aside
from gateway.delivery import Delivery, Record
from gateway.error import OwnershipLostError, StoreError, UnreadableError
from gateway.event import AgentEnd, EndReason, Envelope, Usage
from gateway.history import Asked, Ended, Entry, Unseen
from gateway.inbound import CommandReceived, Inbound, MessageEdited, MessageReceived, PressReceived
from gateway.journal import Line
from gateway.past import Past
from gateway.patience import patiently
from gateway.place import Place
from gateway.platform import Platform, platform_of
from gateway.recorder import RunRecorder
from gateway.reply import Bubble, Reply
from gateway.retelling import retold, turns
from gateway.store import Store, Stored, Work
from gateway.stream import EventStream
from gateway.terms import Terms

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a message is tried whose run ended in a crash."""

LAST_ATTEMPT = 10
"""After so many not even its end, or an answer that was written, is tried to be shown any more."""

LAST_WORDS = 60.0
"""Platform seconds before a guest's ticket expires in which its answer is closed."""

RETRY_PAUSE = 1.0
"""Real seconds until a message is tried again, times the attempts that failed."""


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

Admits = Callable[[Platform, MessageReceived], Awaitable[bool]]
"""Whether a platform's message may be answered."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """A run in progress: what ends it, since when it goes on, by the loop's clock, and what it answers.

    ``written``: the model has finished, and only the rest of ``reply`` can be stopped.
    ``told``: the sender knows that an edit came too late.
    """

    stop: Stop = field(default_factory=Stop)
    since: float = field(default_factory=anyio.current_time)
    message_id: str | None = None
    written: bool = False
    reply: Reply | None = None
    told: bool = False

    def misses(self, edited: MessageReceived) -> bool:
        """Whether an edit is of what is being answered already, and the first such one."""
        if edited.message_id != self.message_id or self.told:
            return False
        self.told = True
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """What a run goes on with."""

    case: Case
    stream: EventStream
    recorder: RunRecorder


class Conversations:
    """Answers what is in the mailboxes.

    Args:
        store: holds the mailboxes.
        agent: answers.
        delivery: shows the answers.
        platforms: where messages come from, by name.
        admits: whether a message may be answered; asked again when its turn has come.
        watch: told of everything.
        terms: on which tools are used.
        limit: how many answers the model may write at once. Answers that only wait to be shown do not count.
    """

    def __init__(  # noqa: PLR0913 - the parts that it joins
        self,
        *,
        store: Store,
        agent: Agent,
        delivery: Delivery,
        platforms: Mapping[str, Platform],
        admits: Admits,
        watch: Watch,
        limit: int,
        terms: Terms,
    ) -> None:
        self._store = store
        self._agent = agent
        self._delivery = delivery
        self._platforms = platforms
        self._admits = admits
        self._watch = watch
        self._slots = anyio.Semaphore(limit)
        self._starting = anyio.CancelScope()
        self._terms = terms
        self._told: dict[int, int] = {}
        self._running: dict[str, _Run] = {}
        self._aside = Aside(
            store=store,
            delivery=delivery,
            platforms=platforms,
            model=agent.model.name,
            running_since=self._running_since,
        )

    async def run(self) -> None:
        """Answer until told to stop; return when the runs that had begun are over."""
        async with anyio.create_task_group() as aside:
            aside.start_soon(self._aside.run)
            async with anyio.create_task_group() as tasks:
                with self._starting:
                    while True:
                        await self._slots.acquire()
                        tasks.start_soon(self._work, await self._next())
            await self._aside.rest()
            aside.cancel_scope.cancel()

    def stop(self) -> None:
        """Begin no further run. What waits stays in the store."""
        self._starting.cancel()

    def take(self, inbound: Inbound, stored: Stored, sentence: str = "") -> None:
        """Let what was just stored have its effect, as far as that does not wait for its turn.

        The ``sentence`` is for who pressed or decided.
        """
        match inbound:
            case CommandReceived(command="stop" | "new") if run := self._running.get(inbound.address.key):
                run.stop("stopped")
                shown = run.written and run.reply is not None and not self._delivery.stop(run.reply)
                stored = replace(stored, behind=stored.behind and not shown)
            case MessageEdited(message=message) if run := self._running.get(message.address.key):
                if run.misses(message):
                    self._aside.tell(message, command.TOO_LATE)
            case _:
                pass
        self._aside.take(inbound, stored, sentence)

    def tell_privately(self, inbound: PressReceived | CommandReceived, sentence: str) -> None:
        """Answer a press, with something for nobody but who pressed."""
        self._aside.tell_privately(inbound, sentence)

    def tell(self, message: MessageReceived | CommandReceived, sentence: str) -> None:
        """Say something of our own about a message or a command, beside the queue."""
        self._aside.tell(message, sentence)

    def _running_since(self, conversation: str) -> float | None:
        run = self._running.get(conversation)
        return None if run is None else run.since

    async def _next(self) -> str:
        """A conversation that is due, and ours from now on."""
        while True:
            if claimed := await patiently("claim", lambda: self._store.claim(1)):
                return claimed[0]
            await self._store.wait_due()

    async def _work(self, conversation: str) -> None:
        run = self._running[conversation] = _Run()
        with ExitStack() as slot, ExitStack() as over:
            slot.callback(self._slots.release)
            over.callback(self._running.pop, conversation)
            try:
                if (platform := platform_of(conversation, self._platforms)) is not None:
                    await self._answer_next(conversation, platform, run, slot)
            except OwnershipLostError:
                log.warning("%s: taken over by another process", conversation)

    async def _answer_next(self, conversation: str, platform: Platform, run: _Run, slot: ExitStack) -> None:
        try:
            work = await patiently(conversation, lambda: self._store.load(conversation))
        except UnreadableError as error:
            sequence = error.sequence
            log.error("run r%d: set aside unanswered: %s", sequence, error)  # noqa: TRY400 - the message says it whole
            await patiently(conversation, lambda: self._store.reject(conversation, sequence))
            return
        if work is None:
            await patiently(conversation, lambda: self._store.release(conversation))
            return
        run.message_id = work.message.message_id
        try:
            entries = await self._answer(work, platform, run, slot)
        except anyio.get_cancelled_exc_class():
            await self._postpone(work)
            raise
        except Exception as error:  # noqa: BLE001 - logged there, and the message is tried again
            slot.close()
            await self._failed(work, error)
        else:
            await self._close(work, entries)

    async def _close(self, work: Work, entries: list[Entry] | None) -> None:
        """The message is answered; or its run waits for approval, and everything else behind it."""
        if entries is None:
            await patiently(work.conversation, lambda: self._store.park(work))
            return
        self._told.pop(work.sequence, None)
        lines = [history.to_json(entry) for entry in entries]
        await patiently(work.conversation, lambda: self._store.finish(work, lines))

    async def _failed(self, work: Work, error: Exception) -> None:
        """Have a message tried again after a while, or not any more where not even its end could be told.

        Raises:
            OwnershipLostError: that is what went wrong.
        """
        conversation = work.conversation
        self._told.pop(work.sequence, None)
        if _is_loss(error):
            raise OwnershipLostError(conversation) from error
        if work.attempt > LAST_ATTEMPT:
            log.error("run %s: given up in %s, its message is closed", _run_id(work), conversation, exc_info=error)
            await patiently(conversation, lambda: self._store.finish(work, []))
            return
        log.error("run %s: failed in %s; its message is tried again", _run_id(work), conversation, exc_info=error)
        await anyio.sleep(RETRY_PAUSE * work.attempt)
        await patiently(conversation, lambda: self._store.release(conversation))

    async def _postpone(self, work: Work) -> None:
        """Leave a message to the next start, as if it had not been tried."""
        with anyio.CancelScope(shield=True):
            try:
                await self._store.postpone(work)
            except StoreError as error:
                log.warning("run %s: open as before, but counted as an attempt: %s", _run_id(work), error)

    async def _answer(self, work: Work, platform: Platform, run: _Run, slot: ExitStack) -> list[Entry] | None:
        """Answer a message, and say what more of it goes into the history; none where it waits for approval."""
        if work.waited:
            self._aside.turn(work.message)
        if not await patiently(work.conversation, lambda: self._admits(platform, work.message)):
            log.warning("run %s: not answered, %s is no longer allowed", _run_id(work), work.message.user)
            return []
        if (past := _past(work)) is None:
            slot.close()
            return await self._set_aside(work, Past(), platform.adapter)
        run.written = past.end is not None or work.attempt > ATTEMPTS
        if run.written:
            slot.close()
        if past.end is not None:
            return await self._show_again(work, past, past.end, platform.adapter, run)
        if work.attempt > ATTEMPTS:
            return await self._set_aside(work, past, platform.adapter)
        if work.stopped:
            run.stop("stopped")
        return await self._converse(work, past, platform, run, slot)

    async def _converse(
        self, work: Work, past: Past, platform: Platform, run: _Run, slot: ExitStack
    ) -> list[Entry] | None:
        """One run, from where it stands to its last operation; none where it waits for approval."""
        told = self._told.pop(work.sequence, 0)
        adapter, stream = platform.adapter, EventStream(_run_id(work), first=told)
        before = _history(work)
        begun: list[Entry] = [*([] if past.said else [await self._asked(work, before, run)]), *past.broken]
        case = Case(
            before=tuple(before),
            said=(*past.said, *begun),
            user=self._terms.user(platform.name, work.message.user),
            approvals=past.approvals,
            overwritable=adapter.capabilities.surface != "post",
            goes_on=told > 0,
        )
        known = turns(case.said, case.approvals)
        run.reply = reply = self._reply(work, adapter, past.lines, len(known))
        for turn in known:
            for event in retold(turn) if case.goes_on or not turn.open else ():
                reply.feed(event)
        recorder = RunRecorder(self._store, work, begun=begun, user=case.user, terms=self._terms)
        answered = await self._run(work, _Running(case=case, stream=stream, recorder=recorder), reply, run, slot)
        if answered.reason is not None:
            self._tell_end(work, reply, answered.reason)
            return [] if reply.failure is None else [Unseen()]
        if reply.failure is None:
            self._told[work.sequence] = stream.taken
            await self._withdraw(work, reply.unasked)
            return None
        waiting = await patiently(work.conversation, lambda: self._store.approvals.open(work.conversation))
        await self._withdraw(work, [each.id for each in waiting])
        self._tell_end(work, reply, "error")
        return [Ended(reason="error")]

    async def _withdraw(self, work: Work, approvals: Iterable[str]) -> None:
        """Nobody can be asked: what waits for that is denied by it."""
        for approval_id in approvals:
            await patiently(work.conversation, lambda name=approval_id: self._store.withdraw(work, name))

    async def _run(self, work: Work, parts: "_Running", reply: Reply, run: _Run, slot: ExitStack) -> Answer:
        """Have the agent answer and the reply shown, until both are done or at rest."""
        told, shown, answered = anyio.Event(), anyio.Event(), Answer(reason=None)
        adapter = self._platforms[work.message.address.platform].adapter

        async def show() -> None:
            await self._delivery.show(reply, adapter, record=self._recorder(work))
            shown.set()
            if reply.failure is not None:
                run.stop("error")  # nobody can see the rest

        async with anyio.create_task_group() as writing:
            writing.start_soon(parts.recorder.run)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._consume, parts.stream, reply, told)
                tasks.start_soon(show)
                tasks.start_soon(self._expire, work, reply, shown)
                tasks.start_soon(self._aside.show_typing, reply, shown)
                answered = await answer(self._agent, parts.case, parts.stream, parts.recorder, stop=run.stop)
                run.written = True
                slot.close()
                if answered.reason is None:
                    await told.wait()
                    self._delivery.rest(reply)
            writing.cancel_scope.cancel()
        return answered

    async def _asked(self, work: Work, before: Sequence[Entry], run: _Run) -> Asked:
        message = work.message
        return Asked(
            speaker=message.user,
            text=message.text,
            context=await self._aside.context(message, before, run.stop.asked),
            message_id=message.message_id,
        )

    async def _expire(self, work: Work, reply: Reply, shown: anyio.Event) -> None:
        """Have a guest's answer closed while it still can be."""
        ticket = work.message.ticket
        if ticket is not None and ticket.guest:
            left = (ticket.lifetime - LAST_WORDS) / self._delivery.time_scale - work.age
            with anyio.move_on_after(max(0.0, left)):
                await shown.wait()
            if not shown.is_set():
                self._delivery.expire(reply)

    async def _show_again(self, work: Work, past: Past, end: AgentEnd, adapter: Adapter, run: _Run) -> list[Entry]:
        """Bring onto the screen what is missing there of an answer that the model had finished."""
        run.reply = reply = self._reply(work, adapter, past.lines, 0)
        for event in past.retold():
            reply.feed(event)
        if work.stopped:
            reply.stop()
        await self._delivery.show(reply, adapter, record=self._recorder(work))
        self._tell_end(work, reply, end.reason)
        return [] if reply.failure is None else [Unseen()]

    async def _set_aside(self, work: Work, past: Past, adapter: Adapter) -> list[Entry]:
        """Tell the user that their message broke the bot too often to be tried again."""
        reply = self._reply(work, adapter, past.lines, journal.next_draft(past.lines))
        reply.feed(AgentEnd(reason="error", final_response="", turn_count=0, message_count=0, usage=Usage()))
        log.error("run %s: set aside at attempt %d; what went wrong is above", _run_id(work), work.attempt)
        await self._delivery.show(reply, adapter, record=self._recorder(work))
        self._tell_end(work, reply, "error")
        asked = Asked(speaker=work.message.user, text=work.message.text, message_id=work.message.message_id)
        return [*([] if past.said else [asked]), *past.broken, Ended(reason="error")]

    async def _consume(self, stream: EventStream, reply: Reply, told: anyio.Event) -> None:
        async for envelope in stream:
            self._watch(envelope)
            self._delivery.feed(reply, envelope.event)
        told.set()

    def _recorder(self, work: Work) -> Record:
        async def record(lines: Mapping[int, Line]) -> None:
            written = {number: journal.to_json(line) for number, line in lines.items()}
            await patiently(work.conversation, lambda: self._store.record(work, written))

        return record

    def _reply(self, work: Work, adapter: Adapter, lines: Sequence[Line], draft: int) -> Reply:
        place = Place.of(work.message, adapter.capabilities)
        age = work.age * self._delivery.time_scale
        return Reply(place=place, run_id=_run_id(work), draft=draft, lines=lines, age=age)

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


def _history(work: Work) -> list[Entry]:
    """What was said before. A line that cannot be read is left out: one is no reason to answer nothing any more."""
    entries: list[Entry] = []
    for line in work.history:
        try:
            entries.append(history.from_json(line))
        except ValueError as error:
            log.error("run %s: something in the history is left out, it cannot be read: %s", _run_id(work), error)  # noqa: TRY400 - the message says it whole
    return entries


def _is_loss(error: BaseException) -> bool:
    """Whether a conversation was lost to another process, which a task group wraps."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(OwnershipLostError) is not None  # pyright: ignore[reportUnknownMemberType]  # a group of what is not said
    return isinstance(error, OwnershipLostError)


def _past(work: Work) -> Past | None:
    """What is known of a run from before; none where that cannot be read: then nobody can go on with it."""
    try:
        return Past.of(work)
    except ValueError as error:
        log.error("run %s: what was kept of it cannot be read, another version wrote it: %s", _run_id(work), error)  # noqa: TRY400 - the message says it whole
        return None


def _run_id(work: Work) -> str:
    return f"r{work.sequence}"
