"""Runs the calls of one message as the schedule allows, beside the model that still talks.

Rule 1: what happens is written down first: that a call begins, before it does; what came of it, before that is told.
Rule 2: whatever a tool does is a result for the model. It has a time limit, and a result a length.
Rule 3: leaving the context ends what runs: a coroutine at once, a thread is left to itself. Of such a call nothing more
        is written here; whoever left says that it may have run.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from hashlib import blake2s
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, cast

import anyio
import anyio.to_thread

from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    Error,
    Event,
    InputProblem,
    JsonObject,
    MessageEnd,
    ModelEvent,
    ToolErrorType,
    ToolProgress,
    ToolStart,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
)
from gateway.history import Entry, Returned, Started
from gateway.payload import words
from gateway.provider import Call
from gateway.retelling import Turn, result
from gateway.schedule import Act, Ask, Cancel, Past, Schedule, Settle, Start, Tell, Withdraw
from gateway.store import Approval
from gateway.tool import LONGEST, Context, Report, User
from gateway.toolset import Refusal, Toolset, Traits

PROGRESS_EVERY = 0.5
"""Seconds between two words of a tool on how far it is; the newest goes."""

BROKEN_OFF = Refusal(error_type="cancelled", content="Cancelled: the message that called this broke off.")

HAD_BEGUN = "It had begun, and may have done part of what it does."


class Asker(Protocol):
    """Keeps an open approval for a call, and says its id."""

    async def __call__(self, call: Call, *, may_stand: bool) -> str:
        """Before anybody is asked."""
        ...


@dataclass(slots=True)
class _Working:
    """A call that runs. ``refusal`` is why it was told to end."""

    scope: anyio.CancelScope
    refusal: Refusal | None = None
    said: list[tuple[str, float | None, float | None]] = field(
        default_factory=list[tuple[str, float | None, float | None]]
    )


class Executor:
    """An asynchronous context in which the calls of one message run.

    Args:
        tools: what may be called.
        user: who asked for the run.
        grants: the tools that are allowed in the conversation for good.
        put: tells an event.
        keep: writes down what happened.
        ask: keeps an approval.
        withdraw: says that there is nothing left to decide about one.
        context: what a call knows of where it runs.
    """

    def __init__(  # noqa: PLR0913 - what calls act on
        self,
        *,
        tools: Toolset,
        user: User,
        grants: Collection[str],
        put: Callable[[Event], Awaitable[None]],
        keep: Callable[[Sequence[Entry]], Awaitable[None]],
        ask: Asker,
        withdraw: Callable[[str], Awaitable[None]],
        context: Callable[[Call, Report], Context],
    ) -> None:
        self._tools = tools
        self._user = user
        self._grants = grants
        self._put = put
        self._keep = keep
        self._ask = ask
        self._withdraw = withdraw
        self._context = context
        self._schedule = Schedule()
        self._names: dict[str, str] = {}
        self._calls: dict[str, Call] = {}
        self._verdicts: dict[str, Traits | Refusal] = {}
        self._results: dict[str, Returned] = {}
        self._told: frozenset[str] = frozenset()
        self._approvals: dict[str, str] = {}
        self._working: dict[str, _Working] = {}
        self._acting = anyio.Lock()
        self._changed = anyio.Event()
        self._tasks = anyio.create_task_group()

    async def __aenter__(self) -> Self:
        """Calls may run from now on."""
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End what runs."""
        self._tasks.cancel_scope.cancel()
        try:
            return await self._tasks.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            raise _alone(group) from None

    async def take(self, item: ModelEvent) -> None:
        """Do what follows from something that the model did, and that was told."""
        match item:
            case ToolUseStart(tool_use_id=name):
                self._names[name] = item.tool_name
                self._schedule.open(name)
            case ToolUseEnd(tool_use_id=name):
                self._calls[name] = Call(tool_use_id=name, name=self._names[name], input=item.input or {})
                tool = self._names[name]
                verdict = self._tools.judge(tool, item.input, item.problem, self._user, self._grants)
                self._verdicts[name] = verdict
                self._schedule.judge(name, verdict)
            case ToolUseConfirmed(tool_use_id=name):
                self._schedule.confirm(name)
            case MessageEnd(stop_reason=stop_reason):
                self._schedule.end(stop_reason)
            case Error():
                self._schedule.fail()
            case _:
                return
        await self._act()

    async def restore(self, turn: Turn) -> None:
        """Take up a turn whose message had ended, and that was told again as far as it came."""
        returned = {each.tool_use_id: each for each in turn.returned}
        approvals = {each.tool_use_id: each for each in turn.approvals}
        for call in turn.answered.calls:
            name = call.tool_use_id
            self._calls[name] = call
            if name in returned:
                self._results[name] = returned[name]
            approval = approvals.get(name)
            past = _past(turn, name, returned.get(name), approval)
            if approval is not None:
                self._approvals[name] = approval.id
                if approval.state != "open" and not (past.started or past.returned):
                    await self._put(
                        ApprovalResolved(
                            approval_id=approval.id, tool_use_id=name, decision=approval.state, by=approval.by
                        )
                    )
            verdict = self._tools.judge(call.name, *_given(turn, call), self._user, self._grants)
            self._verdicts[name] = verdict
            self._schedule.resume(name, verdict, past)
        self._told = frozenset(takewhile(returned.__contains__, self._calls))
        self._schedule.end(turn.answered.stop_reason)

    async def settle(self) -> bool:
        """Return when every call has its result; or true, when all that is left waits for a person."""
        await self._act()
        while not self._schedule.done:
            if self._schedule.waiting:
                return True
            await self._changed.wait()
        return False

    async def _act(self) -> None:
        """Do all that may be done now, one after the other."""
        async with self._acting:
            while (act := self._schedule.next()) is not None:
                await self._do(act)
        self._changed.set()
        self._changed = anyio.Event()

    async def _do(self, act: Act) -> None:
        match act:
            case Start(call=name):
                call = self._calls[name]
                await self._keep([Started(call=call)])
                await self._put(ToolStart(tool_use_id=name, input=call.input))
                self._working[name] = _Working(scope=anyio.CancelScope())
                self._tasks.start_soon(self._run, call)
            case Ask(call=name):
                call = self._calls[name]
                may_stand = self._may_stand(name)
                approval_id = self._approvals[name] = await self._ask(call, may_stand=may_stand)
                await self._put(
                    ApprovalRequested(
                        approval_id=approval_id,
                        tool_use_id=name,
                        tool_name=call.name,
                        input=call.input,
                        may_stand=may_stand,
                    )
                )
            case Withdraw(call=name):
                approval_id = self._approvals[name]
                await self._withdraw(approval_id)
                await self._put(
                    ApprovalResolved(approval_id=approval_id, tool_use_id=name, decision="withdrawn", by=None)
                )
            case Cancel(call=name):
                self._working[name].refusal = act.result or BROKEN_OFF
                self._working[name].scope.cancel()
            case Settle(call=name):
                await self._return(name, act.result.content, act.result.error_type)
            case Tell(call=name) if name not in self._told:
                await self._put(result(self._results[name]))
            case Tell():
                pass

    def _may_stand(self, call: str) -> bool:
        verdict = self._verdicts[call]
        return isinstance(verdict, Traits) and verdict.may_stand

    async def _return(
        self, call: str, content: str, error_type: ToolErrorType | None, length: int | None = None
    ) -> None:
        returned = Returned(
            tool_use_id=call,
            content=content,
            length=len(content) if length is None else length,
            error_type=error_type,
        )
        self._results[call] = returned
        await self._keep([returned])

    async def _run(self, call: Call) -> None:
        """One call, from its beginning to its result."""
        working = self._working[call.tool_use_id]
        context = self._context(call, lambda words, done, total: working.said.append((words, done, total)))
        content, error_type = "", None
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._tell_progress, call.tool_use_id, working)
            content, error_type = await self._called(call, context, working)
            beside.cancel_scope.cancel()
        text, length = await _shortened(content, context)
        await self._return(call.tool_use_id, text, error_type, length)
        self._schedule.finish(call.tool_use_id, failed=error_type is not None)
        await self._act()

    async def _called(self, call: Call, context: Context, working: _Working) -> tuple[str, ToolErrorType | None]:
        tool = self._tools.tools[call.name]
        limit = self._tools.time_limit if tool.time_limit is None else tool.time_limit
        working.scope.deadline = anyio.current_time() + limit
        try:
            with working.scope:
                return _text(await tool.call(call.input, context)), None
        except Exception as error:  # noqa: BLE001 - rule 2
            return _complaint(error), "failed"
        if working.refusal is not None:
            return f"{working.refusal.content} {HAD_BEGUN}", working.refusal.error_type
        return f"It took longer than {limit:g} seconds and was ended. {HAD_BEGUN}", "timeout"

    async def _tell_progress(self, call: str, working: _Working) -> None:
        while True:
            if working.said:
                message, done, total = working.said[-1]
                working.said.clear()
                await self._put(ToolProgress(tool_use_id=call, message=words(message), done=done, total=total))
            await anyio.sleep(PROGRESS_EVERY)


def _given(turn: Turn, call: Call) -> tuple[JsonObject | None, InputProblem | None]:
    """The input that the model wrote, or that it was none."""
    return (None, "invalid_json") if call.tool_use_id in turn.answered.spoiled else (call.input, None)


def _past(turn: Turn, call: str, returned: Returned | None, approval: Approval | None) -> Past:
    """How far a call was when its turn was left."""
    well = None if returned is None else "well" if returned.error_type is None else "failed"
    return Past(started=call in turn.started, returned=well, approval=None if approval is None else approval.state)


def _text(content: object) -> str:
    """What a tool gave, as text that can be stored."""
    return words(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str))


def _alone(error: BaseException) -> BaseException:
    """The one exception in a group, and in a group in that; the group, where there are several."""
    inner = cast("tuple[BaseException, ...]", getattr(error, "exceptions", ()))
    return _alone(inner[0]) if len(inner) == 1 else error


def _complaint(error: BaseException) -> str:
    """What went wrong, in the tool's own words."""
    error = _alone(error)
    return words(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


async def _shortened(content: str, context: Context) -> tuple[str, int]:
    """A result that the model may be given, and how long the whole was."""
    raw = content.encode()
    if len(raw) <= LONGEST:
        return content, len(content)
    name = blake2s(f"{context.run_id}\0{context.tool_use_id}".encode(), digest_size=8).hexdigest() + ".txt"
    try:
        await anyio.to_thread.run_sync(_write, context.folder, name, content)
        where = f"the whole is in the file {name}"
    except OSError as error:
        where = f"the whole could not be kept: {error.strerror}"
    half = LONGEST // 2
    head, tail = raw[:half].decode(errors="ignore"), raw[-half:].decode(errors="ignore")
    left = len(content) - len(head) - len(tail)
    return f"{head}\n\n[{left} characters are left out here; {where}]\n\n{tail}", len(content)


def _write(folder: Path, name: str, content: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
