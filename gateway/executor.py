"""Runs the tools of one message as the schedule allows, while the model still talks.

Rule 1: what must survive is kept before it shows: ``Started`` before a tool begins, ``Returned`` before its result is
        told, an approval before anybody sees it, the answer (by who calls) before its end is given here.
Rule 2: events come in an order that the grammar allows: whatever ends a message, and what tools say, waits for each
        other; behind a failure nothing is said any more.
Rule 3: one task does what the schedule gives out, in that order; a cancellation alone is not queued, so a stop is felt
        however long the stream or the store takes.
Rule 4: what a tool does wrong is its result. What the stream or the store refuses ends the whole, as itself.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import anyio

from gateway.error import DragomanError
from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    Error,
    Event,
    MessageDiscarded,
    MessageEnd,
    ModelEvent,
    ToolErrorType,
    ToolProgress,
    ToolStart,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
)
from gateway.history import Answered, Entry, Returned, Started
from gateway.output import fitted
from gateway.provider import Call
from gateway.redaction import redact
from gateway.retelling import result
from gateway.schedule import FAILURES, STOPPED, Act, Ask, Cancel, Past, Schedule, Settle, Start, Tell, Withdraw
from gateway.store import Approval
from gateway.tool import Context, Report, User
from gateway.toolset import Refusal, Toolset, Traits

log = logging.getLogger(__name__)

PROGRESS = 0.4
"""Seconds between two words of a tool about how far it is."""

MAY_HAVE_RUN = "It had begun, so it may have run, in part or whole; look before repeating it."


@dataclass(slots=True, kw_only=True)
class _Job:
    """A call, and what is done about it."""

    call: Call
    verdict: Traits | Refusal | None = None
    approval_id: str = ""
    resolved: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    began: bool = False
    ended: Refusal | None = None
    """Why it is cancelled."""
    progress: tuple[str, float | None, float | None] | None = None
    returned: Returned | None = None

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Say how far it is; from any thread, for nothing but this is touched."""
        self.progress = (message, done, total)

    def warned(self, words: str) -> str:
        """Why it was ended; where it may have changed something by then, with a warning."""
        safe = isinstance(self.verdict, Traits) and self.verdict.safe
        return f"{words} {MAY_HAVE_RUN}" if self.began and not safe else words


class Executor:
    """The tools of one message: ``async with Executor(...) as executor``; leaving it cancels what still runs.

    Args:
        tools: what may be called.
        user: who asked for the run.
        grants: the tools that are allowed in the conversation for good.
        put: puts an event into the run's stream.
        keep: appends to the history.
        ask: keeps an open approval of a call, which may stand or not; its id.
        withdraw: there is nothing left to decide about an approval.
        context: what a call is given, with what it reports its progress to.
        limit: how many may run at once.

    Raises:
        Exception: on leaving, what ``put``, ``keep``, ``ask`` or ``withdraw`` raised; whoever is inside is cancelled.
    """

    def __init__(  # noqa: PLR0913 - the five ways in which it reaches out
        self,
        *,
        tools: Toolset,
        user: User,
        grants: Collection[str],
        put: Callable[[Event], Awaitable[None]],
        keep: Callable[[Sequence[Entry]], Awaitable[None]],
        ask: Callable[[Call, bool], Awaitable[str]],
        withdraw: Callable[[str], Awaitable[None]],
        context: Callable[[Call, Report], Context],
        limit: int = 5,
    ) -> None:
        self._tools, self._user, self._grants, self._limit = tools, user, grants, limit
        self._put, self._keep, self._ask, self._withdraw = put, keep, ask, withdraw
        self._context = context
        self._schedule = Schedule(limit=limit)
        self._jobs: dict[str, _Job] = {}  # in call order
        self._lock = anyio.Lock()
        self._wake, self._rests = anyio.Event(), anyio.Event()
        self._idle = self._begun = self._ended = self._failed = False
        self._broken: Exception | None = None
        self._group = anyio.create_task_group()

    async def __aenter__(self) -> Self:
        """Be ready for the message."""
        await self._group.__aenter__()
        self._group.start_soon(self._guard, self._work)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """End what still runs; of a call that has started its result then stays unknown."""
        self._group.cancel_scope.cancel()
        try:
            quiet = await self._group.__aexit__(kind, error, traceback)
        except BaseExceptionGroup:
            if self._broken is None:
                if error is None or isinstance(error, anyio.get_cancelled_exc_class()):
                    raise
                return False  # it is the one of the body, in a group
            quiet = None
        if self._broken is not None:
            raise self._broken
        return quiet

    @property
    def calls(self) -> tuple[Call, ...]:
        """What the model called so far, in call order."""
        return tuple(job.call for job in self._jobs.values())

    @property
    def results(self) -> tuple[Returned, ...]:
        """The results that there are, in call order."""
        return tuple(job.returned for job in self._jobs.values() if job.returned is not None)

    @property
    def begun(self) -> bool:
        """Whether a tool has been started, so that the message cannot be discarded any more."""
        return self._begun

    async def take(self, item: ModelEvent) -> None:
        """Put what the model says into the stream, and start what may start by it.

        In front of ``MessageEnd``, the answer with its ``calls`` is to be in the history.
        """
        if not isinstance(item, MessageEnd | Error):
            await self._put(item)
            self._listen(item)
            return
        async with self._lock:
            await self._put(item)
            if isinstance(item, MessageEnd):
                self._failed, self._ended = item.stop_reason == "refusal", True
                self._schedule.end(item.stop_reason)
            else:
                self._failed = True
                self._schedule.fail()
        self._nudge()

    async def discard(self, reason: str) -> bool:
        """Discard the message, so that the turn can start again here; whether that could be: no tool had begun."""
        async with self._lock:
            if self._begun or self._ended or self._failed:
                return False
            self._schedule.fail()
            await self._put(MessageDiscarded(reason=reason))
            self._jobs.clear()
            self._schedule = Schedule(limit=self._limit)
        return True

    async def restore(self, answered: Answered, entries: Iterable[Entry], approvals: Iterable[Approval]) -> None:
        """Take up the calls of a message that was given its end in another process, and tell again what came of them.

        Its own events are in the stream already. What had started and has no result does not start again.

        Args:
            answered: the message.
            entries: where its ``Started`` and ``Returned`` stand, among others.
            approvals: those of its calls, among others.
        """
        kept = list(entries)
        started = {entry.call.tool_use_id for entry in kept if isinstance(entry, Started)}
        returned = {entry.tool_use_id: entry for entry in kept if isinstance(entry, Returned)}
        asked = {approval.tool_use_id: approval for approval in approvals}
        resumed = Schedule(limit=self._limit)
        for call in answered.calls:
            name = call.tool_use_id
            verdict = self._verdict(call)
            job = self._jobs[name] = _Job(call=call, verdict=verdict, returned=returned.get(name))
            approval, result = asked.get(name), job.returned
            past = Past(
                started=name in started,
                returned=result is not None,
                error_type=None if result is None else result.error_type,
                approval=None if approval is None else approval.state,
            )
            resumed.resume(name, verdict, past)
            if approval is not None:
                await self._recall(job, approval)
            if name in started:
                self._begun = True
                await self._put(ToolStart(tool_use_id=name, input=call.input))
        resumed.end(answered.stop_reason)
        self._ended, self._failed, self._schedule = True, answered.stop_reason == "refusal", resumed
        self._nudge()

    async def decide(self, approval: Approval) -> None:
        """An approval of this message is decided while other tools run; nothing happens where it was resolved."""
        job = self._jobs.get(approval.tool_use_id)
        if job is None or job.resolved or approval.state == "open" or approval.id != job.approval_id:
            return
        job.resolved = True
        await self._say(_resolved(approval))
        self._schedule.decide(approval.tool_use_id, approval.state)
        self._nudge()

    async def settle(self) -> bool:
        """Wait until every call has its result and it was told: false; or only an approval is open: true."""
        while not (self._idle and (self._schedule.done or self._schedule.waiting)):
            await self._rests.wait()
        return self._schedule.waiting

    def stop(self) -> None:
        """Cancel what runs and let nothing start. Behind the message's end, each open call gets a result that says so.

        Before it, say how the message ends, too; ``settle`` waits for that.
        """
        self._schedule.stop()
        self._nudge()

    def _listen(self, item: ModelEvent) -> None:
        match item:
            case ToolUseStart(tool_use_id=name):
                self._jobs[name] = _Job(call=Call(tool_use_id=name, name=item.tool_name, input={}))
                self._schedule.open(name)
            case ToolUseEnd(tool_use_id=name):
                job = self._jobs[name]
                problem = item.problem or ("invalid_json" if item.input is None else None)
                job.call = Call(tool_use_id=name, name=job.call.name, input=item.input or {}, problem=problem)
                job.verdict = self._verdict(job.call)
                self._schedule.judge(name, job.verdict)
                self._nudge()
            case ToolUseConfirmed(tool_use_id=name):
                self._schedule.confirm(name)
                self._nudge()
            case _:
                pass

    def _verdict(self, call: Call) -> Traits | Refusal:
        given = None if call.problem else call.input
        return self._tools.judge(call.name, given, call.problem, self._user, self._grants)

    async def _recall(self, job: _Job, approval: Approval) -> None:
        """Say again what was asked, and what was decided."""
        job.approval_id = approval.id
        await self._put(_requested(job.call, approval.id, may_stand=approval.may_stand))
        if approval.state != "open":
            job.resolved = True
            await self._put(_resolved(approval))

    def _nudge(self) -> None:
        """Something is to be done, perhaps."""
        while (act := self._schedule.next_cancel()) is not None:
            self._cancel(act)
        self._idle = False
        self._wake.set()

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Rule 4: an error of ours ends the whole, and is raised where that is left."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - it is raised on leaving
            self._broken = self._broken or error
            self._group.cancel_scope.cancel()

    async def _work(self) -> None:
        while True:
            self._wake = anyio.Event()
            while (act := self._schedule.next()) is not None:
                await self._do(act)
            if not self._wake.is_set():
                self._idle = True
                self._rests.set()
                self._rests = anyio.Event()
            await self._wake.wait()

    async def _do(self, act: Act) -> None:
        job = self._jobs[act.call]
        match act:
            case Start():
                await self._start(job)
            case Ask():
                traits = job.verdict if isinstance(job.verdict, Traits) else Traits()
                job.approval_id = await self._ask(job.call, traits.may_stand)
                await self._say(_requested(job.call, job.approval_id, may_stand=traits.may_stand))
            case Cancel():
                self._cancel(act)
            case Withdraw():
                await self._withdraw(job.approval_id)
                if not job.resolved:
                    job.resolved = True
                    await self._say(
                        ApprovalResolved(approval_id=job.approval_id, tool_use_id=act.call, decision="withdrawn")
                    )
            case Settle(result=result):
                await self._return(job, result.content, len(result.content), result.error_type)
            case Tell():
                await self._tell(job)

    async def _start(self, job: _Job) -> None:
        self._begun = True
        await self._keep([Started(call=job.call)])
        if await self._say(ToolStart(tool_use_id=job.call.tool_use_id, input=job.call.input)):
            self._group.start_soon(self._guard, partial(self._run, job))
        else:
            self._schedule.finish(job.call.tool_use_id, failed=False)

    def _cancel(self, act: Cancel) -> None:
        job = self._jobs[act.call]
        job.ended = act.result
        job.scope.cancel()

    async def _run(self, job: _Job) -> None:
        """Let a tool run, to whatever end, and give the call its result."""
        reporting = anyio.CancelScope()
        self._group.start_soon(self._guard, partial(self._report, job, reporting))
        content, error_type, folder = await self._outcome(job)
        reporting.cancel()
        name = job.call.tool_use_id
        if not self._failed:
            await self._return(job, await fitted(content, folder, name), len(content), error_type)
        self._schedule.finish(name, failed=error_type in FAILURES)
        self._nudge()

    async def _outcome(self, job: _Job) -> tuple[str, ToolErrorType | None, Path | None]:
        """What a tool says, or why it says nothing; and the folder that it was given."""
        tool = self._tools.tools[job.call.name]
        limit = self._tools.time_limit if tool.time_limit is None else tool.time_limit
        clock = anyio.CancelScope()
        context: Context | None = None
        said, wrong = None, "It ended without a word."
        try:
            with job.scope, clock:
                await anyio.lowlevel.checkpoint()  # who was cancelled before it began does not begin
                job.began = True
                context = self._context(job.call, job.report)
                clock.deadline = anyio.current_time() + limit
                said = str(await tool.call(job.call.input, context))
        except anyio.get_cancelled_exc_class():
            if anyio.current_effective_deadline() == -math.inf:
                raise
            wrong = "It cancelled itself."
        except BaseExceptionGroup as group:
            if (stray := group.split(_is_tools_own)[1]) is not None:
                raise stray from None
            wrong = self._failure(job.call, group)
        except BaseException as error:
            if not _is_tools_own(error):
                raise
            wrong = self._failure(job.call, error)
        folder = None if context is None else context.folder
        if said is not None:
            return said, None, folder
        if job.scope.cancel_called:
            ended = job.ended or STOPPED
            return job.warned(ended.content), ended.error_type, folder
        if clock.cancel_called:
            return job.warned(f"Timed out after {limit:g} s."), "timeout", folder
        return wrong, "failed", folder

    def _failure(self, call: Call, error: BaseException) -> str:
        """What the model reads of an error, without secrets; the log has all of what nobody foresaw."""
        if isinstance(error, DragomanError):
            log.info("tool %s (%s) failed: %s", call.name, call.tool_use_id, error)
        else:
            log.warning("tool %s (%s) failed", call.name, call.tool_use_id, exc_info=error)
        return redact(_words(error))

    async def _report(self, job: _Job, scope: anyio.CancelScope) -> None:
        """Say now and then how far a tool is: the newest that it said, from whichever thread."""
        with scope:
            while True:
                await anyio.sleep(PROGRESS)
                if (progress := job.progress) is not None:
                    job.progress = None
                    words, done, total = progress
                    name = job.call.tool_use_id
                    await self._say(ToolProgress(tool_use_id=name, message=words, done=done, total=total))

    async def _return(self, job: _Job, content: str, length: int, error_type: ToolErrorType | None) -> None:
        name = job.call.tool_use_id
        returned = Returned(tool_use_id=name, content=content, length=length, error_type=error_type)
        await self._keep([returned])
        job.returned = returned

    async def _tell(self, job: _Job) -> None:
        if (returned := job.returned) is not None:
            await self._say(result(returned))

    async def _say(self, event: Event) -> bool:
        """Put an event of ours where it may come; whether it could."""
        async with self._lock:
            if self._failed or (isinstance(event, ToolProgress) and self._jobs[event.tool_use_id].returned):
                return False
            await self._put(event)
        return True


def _requested(call: Call, approval_id: str, *, may_stand: bool) -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=approval_id,
        tool_use_id=call.tool_use_id,
        tool_name=call.name,
        input=call.input,
        may_stand=may_stand,
    )


def _resolved(approval: Approval) -> ApprovalResolved:
    decision = "withdrawn" if approval.state == "open" else approval.state
    return ApprovalResolved(
        approval_id=approval.id, tool_use_id=approval.tool_use_id, decision=decision, by=approval.by
    )


def _is_tools_own(error: BaseException) -> bool:
    """Whether an error is the tool's, and so its result; other languages' panics are no ``Exception``."""
    ours = (KeyboardInterrupt, GeneratorExit, anyio.get_cancelled_exc_class())
    return not isinstance(error, (*ours, BaseExceptionGroup))


def _words(error: BaseException) -> str:
    """What an error says; of a group, what each says that is in it."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return "; ".join(_words(each) for each in group.exceptions)
    words, kind = str(error).strip(), type(error).__name__
    plain = isinstance(error, DragomanError | ValueError | RuntimeError | OSError)
    return words if words and plain else f"{kind}: {words}".rstrip(": ")
