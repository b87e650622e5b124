"""The agent loop: asks the model, has its tools run, asks again, and tells what happens as it happens.

One call of ``answer`` is one run, or what follows of one that was cut short or waited. It is straight-line code in the
task that owns the run, and puts every event into the run's stream; it never yields from inside a task group.

Rule 1: what the model said is in the history before anybody is asked to allow anything of it.
Rule 2: whatever happens ends in an ``AgentEnd`` with its reason, or in a run that waits for a person.
Rule 3: a call is known by its id, in the history and to who allows it. A message that uses one again in its run is
        broken off there, as nothing that was allowed before may allow what it calls now.
Rule 4: a stop ends the model's message and its tools at once. Of what had begun it is said that it may have been done.
"""

import json
import logging
import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio

from gateway import history
from gateway.event import (
    AgentEnd,
    AgentStart,
    EndReason,
    Error,
    ErrorType,
    Event,
    MessageEnd,
    ToolErrorType,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.executor import Executor
from gateway.history import Answered, Asked, Ended, Entry, Returned, Started
from gateway.limit import Limits
from gateway.provider import Call, Model, Native, Request
from gateway.retelling import Turn, retold, turns
from gateway.retry import Retries
from gateway.speech import Speech
from gateway.store import Approval
from gateway.stream import ConsumerStalledError, EventStream
from gateway.telling import BROKEN_OFF, Telling
from gateway.tool import Context, Report, User
from gateway.toolset import Toolset

log = logging.getLogger(__name__)

SILENT = Error(error_type="unknown", error_message="the model's message had no end", retryable=False)

REUSED = Error(error_type="unknown", error_message="the model used the id of a call twice", retryable=False)

SAME = 3
"""After so many turns with an equal call and an equal result a run goes in a circle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who answers: a model, how it is to behave, what it may use, and how much of the history it is given."""

    id: str
    model: Model
    system: str
    history_characters: int
    fallback: Model | None = None
    tools: Toolset = field(default_factory=Toolset)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a run is about, and how far it has come.

    Attributes:
        before: the history in front of what was asked.
        said: what there is of this run: what was asked, and all that followed.
        user: who asked.
        approvals: what the run has asked people to allow.
        overwritable: what is shown can be taken back.
        goes_on: its events so far were told in this process.
    """

    before: tuple[Entry, ...]
    said: tuple[Entry, ...]
    user: User
    approvals: tuple[Approval, ...] = ()
    overwritable: bool = True
    goes_on: bool = False


class Recorder(Protocol):
    """Where a run is written down. What was handed in is written, in this order, also where the caller is cancelled.

    Raises:
        OwnershipLostError: the run is another process's.
    """

    async def keep(self, entries: Sequence[Entry]) -> None:
        """Append to the history."""
        ...

    async def ask(self, call: Call, *, may_stand: bool) -> str:
        """Keep an open approval for a call; its id."""
        ...

    async def withdraw(self, approval_id: str) -> None:
        """There is nothing left to decide about it."""
        ...

    async def grants(self) -> Collection[str]:
        """The tools that are allowed in the conversation for good, as of now."""
        ...

    def context(self, call: Call, report: Report) -> Context:
        """What a call knows of where it runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a run came to. ``reason`` is none where it waits for approval; ``error`` is what went wrong."""

    reason: EndReason | None
    error: ErrorType | None = None


@dataclass(slots=True)
class Stop:
    """Ends a run before its time, once: whoever calls first says why."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    reason: EndReason = "error"
    asked: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, reason: EndReason) -> None:
        """Go no further."""
        if not self.asked.is_set():
            self.reason = reason
            self.scope.cancel()
            self.asked.set()


async def answer(agent: Agent, case: Case, stream: EventStream, recorder: Recorder, *, stop: Stop) -> Answer:
    """Run the agent on a conversation, and close its stream.

    A ``stop`` ends it with the reason given there, unless it has ended. Other cancellation passes through, and so does
    an exception of the provider or the store: the stream then just closes.
    """
    run = _Run(agent, case, stream, recorder)
    try:
        return await run.answer(stop)
    finally:
        stream.close()


class _Run:
    def __init__(self, agent: Agent, case: Case, stream: EventStream, recorder: Recorder) -> None:
        past = turns(case.said, case.approvals)
        self._agent = agent
        self._case = case
        self._stream = stream
        self._recorder = recorder
        self._said = list(case.said)
        self._number = len(past)
        self._open = past[-1] if past and past[-1].open else None
        self._model = agent.model
        self._retries = Retries(most=agent.limits.retries, fallback=agent.fallback is not None)
        self._turn_at = _behind_last(self._said, 2 if self._open else 1)
        self._speech = Speech()
        self._telling = Telling()

    async def answer(self, stop: Stop) -> Answer:
        reason: EndReason | None = None
        try:
            await self._begin()
            with stop.scope:
                stop.scope.deadline = min(stop.scope.deadline, anyio.current_time() + self._agent.limits.deadline)
                await anyio.lowlevel.checkpoint()  # who was stopped before it began asks nobody
                reason = await self._go_on()
                if reason is None:
                    return Answer(reason=None)
            if reason is None:
                reason = await self._break_off(stop.reason if stop.asked.is_set() else "deadline")
        except ConsumerStalledError as error:
            log.error("run %s: %s", self._stream.run_id, error)  # noqa: TRY400 - the message says it whole
            reason = await self._break_off("consumer_stalled")
        last = self._telling.closing()
        error = self._speech.error
        if error is not None and reason != "stopped":
            log.error("run %s: %s: %s", self._stream.run_id, error.error_type, error.error_message)
        self._stream.close(*last, self._ended(reason))
        return Answer(reason=reason, error=error.error_type if error is not None and reason == "error" else None)

    async def _begin(self) -> None:
        """Tell what nobody in this process was told, up to where there is something to be done."""
        if not self._case.goes_on:
            agent = self._agent
            await self._put(AgentStart(agent_id=agent.id, model=agent.model.name, input_length=self._input_length()))
            for event in retold(self._open) if self._open is not None else ():
                await self._put(event)
        else:
            for event in retold(self._open) if self._open is not None else ():
                self._telling.told(event)
        if self._open is None:
            await self._begin_turn()

    async def _begin_turn(self) -> None:
        self._number += 1
        self._turn_at = len(self._said)
        await self._put(TurnStart(turn_number=self._number))

    async def _go_on(self) -> EndReason | None:
        """Turn after turn, until the run ends, or waits for approval: none."""
        if self._open is not None:
            answered = await self._take_up(self._open)
        else:
            answered = await self._turn()
        while answered is not None:
            await self._put(TurnEnd(turn_number=self._number, has_tool_calls=bool(answered.calls)))
            if answered.reason not in ("continued", "interrupted"):
                return answered.reason
            if (end := self._exhausted()) is not None:
                await self._keep(Ended(reason=end))
                return end
            await self._begin_turn()
            answered = await self._turn()
        return None

    def _exhausted(self) -> EndReason | None:
        """Why there will be no further turn, if there will be none."""
        usage = self._usage()
        limits = self._agent.limits
        if self._circles():
            return "loop"
        if self._number >= limits.turns:
            return "turn_limit"
        spent = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        return "token_budget" if spent >= limits.tokens else None

    def _circles(self) -> bool:
        done = Counter[str]()
        for turn in turns(self._said):
            calls = {call.tool_use_id: call for call in turn.answered.calls}
            named = ((calls[each.tool_use_id], each) for each in turn.returned)
            done.update({json.dumps([call.name, call.input, each.content], sort_keys=True) for call, each in named})
        return any(count >= SAME for count in done.values())

    # One turn.

    async def _take_up(self, turn: Turn) -> Answered | None:
        """What is left to be done of a turn whose message had ended; none where that is to wait for approval."""
        async with await self._executor() as executor:
            await executor.restore(turn.answered, self._said[self._turn_at :], turn.approvals)
            return None if await executor.settle() else turn.answered

    async def _turn(self) -> Answered | None:
        """One message of the model, and its calls; none where one of them waits for approval."""
        self._retries.begin()
        reason: Literal["interrupted", "error"] = "error"
        async with await self._executor() as executor:
            while (answered := await self._listen(executor)) is None:
                if (found := await self._after_failure(executor)) is not None:
                    reason = found
                    break
            else:
                self._retries.succeeded()
                return None if await executor.settle() else answered
        return await self._broken(reason)  # behind the executor: whatever ran does so no more

    async def _after_failure(self, executor: Executor) -> Literal["interrupted", "error"] | None:
        """See to it that the turn begins anew; or how its message broke off, where it does not."""
        error = self._speech.error or SILENT
        step = self._retries.failed(
            error,
            told=self._speech.told,
            started=executor.begun,
            overwritable=self._case.overwritable or not self._speech.text,
        )
        log.warning("run %s: %s: %s: %s", self._stream.run_id, step, error.error_type, error.error_message)
        match step:
            case "again":
                await anyio.sleep(self._retries.pause(random.random()))  # noqa: S311 - no secret
            case "fallback":
                self._model = self._agent.fallback or self._model
            case "discard" if await executor.discard(error.error_type):
                pass
            case "discard" | "go on":
                await executor.take(error)
                return "interrupted"
            case "end":
                await executor.take(error)
                return "error"
        return None

    async def _listen(self, executor: Executor) -> Answered | None:
        """Have the model speak, and its tools begin; none where its message did not come to its end."""
        self._speech, used = Speech(), self._used()
        async with self._model.provider.stream(self._request()) as items:
            async for item in items:
                if isinstance(item, ToolUseStart):
                    if item.tool_use_id in used:
                        self._speech.take(REUSED)
                        break
                    used.add(item.tool_use_id)
                self._speech.take(item)
                match item:
                    case Native() | Error():
                        pass
                    case MessageEnd():
                        answered = self._speech.answered()
                        await self._keep(answered)
                        await executor.take(item)
                        return answered
                    case _:
                        await executor.take(item)
        for event in self._telling.open_blocks():
            await executor.take(event)
        return None

    async def _broken(self, reason: EndReason | Literal["interrupted"]) -> Answered:
        """Keep what there is of a message that did not come to its end, with the calls that had begun."""
        answered = self._speech.broken(reason, self._started())
        await self._keep(answered, *self._unreturned(answered))
        return answered

    async def _break_off(self, reason: EndReason) -> EndReason:
        """Write down a run that was ended from outside, and what has to be told of that; how it ends.

        Where the model had said its last, it ends by that.
        """
        past = turns(self._said)
        if len(past) < self._number:
            if self._speech.error is None:
                self._speech.take(BROKEN_OFF)
            await self._broken(reason)
            return reason
        turn = past[-1]
        self._telling.settle(self._speech.end, turn.returned)
        if (last := turn.answered.reason) not in ("continued", "interrupted") and not turn.open:
            return last
        for approval_id in self._telling.undecided:
            await self._recorder.withdraw(approval_id)
        await self._keep(*self._unreturned(turn.answered), Ended(reason=reason))
        self._telling.settle(self._speech.end, turns(self._said)[-1].returned)
        return reason

    def _unreturned(self, answered: Answered) -> list[Returned]:
        """Results for the calls that will have no other."""
        started, found = self._started(), list[Returned]()
        given = {each.tool_use_id for each in self._said[self._turn_at :] if isinstance(each, Returned)}
        for call in answered.calls:
            if call.tool_use_id not in given:
                begun = call.tool_use_id in started
                content = history.MAY_HAVE_RUN if begun else history.NOT_BEGUN
                kind: ToolErrorType = "interrupted" if begun else "cancelled"
                found.append(
                    Returned(tool_use_id=call.tool_use_id, content=content, length=len(content), error_type=kind)
                )
        return found

    def _started(self) -> list[str]:
        """The calls of this turn that have begun."""
        return [each.call.tool_use_id for each in self._said[self._turn_at :] if isinstance(each, Started)]

    def _used(self) -> set[str]:
        """The ids of the calls that are in the history of the run."""
        said = {call.tool_use_id for each in self._said if isinstance(each, Answered) for call in each.calls}
        return said | {each.call.tool_use_id for each in self._said if isinstance(each, Started)}

    # What it is made of.

    async def _executor(self) -> Executor:
        """For one message of the model: what is allowed by then, people may have changed since the one before."""
        recorder, case = self._recorder, self._case
        return Executor(
            tools=self._agent.tools,
            user=case.user,
            grants=await recorder.grants(),
            put=self._put,
            keep=self._keep_all,
            ask=lambda call, may_stand: recorder.ask(call, may_stand=may_stand),
            withdraw=recorder.withdraw,
            context=recorder.context,
        )

    def _request(self) -> Request:
        entries = [*self._case.before, *self._said]
        return Request(
            model=self._model.name,
            max_tokens=self._model.max_tokens,
            system=self._agent.system,
            messages=history.messages(entries, room=self._agent.history_characters),
            tools=self._agent.tools.specs,
        )

    async def _put(self, event: Event) -> None:
        """Tell an event, but for one that was told in this process before the run waited."""
        if not self._telling.knows(event):
            await self._stream.put(event)
            self._telling.told(event)

    async def _keep(self, *entries: Entry) -> None:
        await self._keep_all(entries)

    async def _keep_all(self, entries: Sequence[Entry]) -> None:
        if entries:
            self._said.extend(entries)  # first: what was begun to be written will be, whoever stops waiting for that
            await self._recorder.keep(entries)

    def _usage(self) -> Usage:
        return sum((each.usage for each in self._said if isinstance(each, Answered)), Usage())

    def _ended(self, reason: EndReason) -> AgentEnd:
        written = [each for each in self._said if isinstance(each, Answered)]
        return AgentEnd(
            reason=reason,
            final_response=written[-1].text if written else "",
            turn_count=self._number,
            message_count=len(written),
            usage=self._usage(),
        )

    def _input_length(self) -> int:
        return sum(len(each.text) for each in self._said if isinstance(each, Asked))


def _behind_last(said: Sequence[Entry], count: int) -> int:
    """Where the entries begin behind the last but so many answers, or the last one."""
    places = [at + 1 for at, entry in enumerate(said) if isinstance(entry, Answered)]
    return places[-count] if len(places) >= count else 0
