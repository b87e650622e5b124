"""The executor: what runs when, what is kept and told, and in which order.

On virtual time, but where threads take part: the jumping clock does not wait for them.
"""

import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from gateway.event import (
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    Event,
    JsonObject,
    MessageDiscarded,
    MessageEnd,
    ModelEvent,
    StopReason,
    TextDelta,
    ToolProgress,
    ToolResult,
    ToolStart,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.executor import MAY_HAVE_RUN, Executor, Report
from gateway.function import tool as made
from gateway.grammar import Grammar, RunState
from gateway.history import Answered, Entry, Returned, Started
from gateway.provider import Call
from gateway.store import Approval
from gateway.tool import LONGEST, Context, Tool, User
from gateway.toolset import Toolset

pytestmark = pytest.mark.virtual_time

HOUR = 3600.0
USER = User(platform="p", id="U1")
BROKEN = Error(error_type="overloaded", error_message="529", retryable=True)


class Notes:
    async def texts(self) -> dict[str, str]:
        return {}

    async def keep(self, name: str, text: str | None) -> None:
        """Nothing is kept."""


@dataclass(kw_only=True)
class Task:
    """A tool that takes a while, and knows when it did what; in its input stand ``say``, ``fail`` and ``take``."""

    name: str = "read"
    description: str = "Does something."
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    cascades: bool = False
    time_limit: float | None = None
    safe: bool = True
    asks: bool = False
    work: Callable[[JsonObject, Context], Awaitable[str]] | None = None
    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    begun: int = 0

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the field's word
        return "It is wrong." if input.get("wrong") else None

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        return user == USER and not input.get("forbidden")

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - as above
        return self.safe and not input.get("unsafe")

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        return user == USER and (self.asks or bool(input.get("ask")))

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - as above
        began = anyio.current_time()
        self.begun += 1
        try:
            if self.work is not None:
                return await self.work(input, context)
            await anyio.sleep(float(input.get("take", 0.3)))
            if input.get("fail"):
                msg = "No such file."
                raise ValueError(msg)
            return str(input.get("say", "text"))
        finally:
            self.spans.append((began, anyio.current_time()))


@dataclass(kw_only=True)
class Desk:
    """What an executor reaches out to: a stream that is held to the grammar, a history, approvals."""

    tools: Sequence[Tool]
    folder: Path = Path("unused")
    slow: float = 0.0
    events: list[Event] = field(default_factory=list[Event])
    times: list[float] = field(default_factory=list[float])
    entries: list[Entry] = field(default_factory=list[Entry])
    asked: dict[str, Call] = field(default_factory=dict[str, Call])
    withdrawn: list[str] = field(default_factory=list[str])
    grammar: Grammar = field(default_factory=lambda: Grammar(RunState.SPEAKING))
    refusal: Exception | None = None

    async def put(self, event: Event) -> None:
        await anyio.sleep(self.slow)
        self.grammar.feed(event)
        self.events.append(event)
        self.times.append(anyio.current_time())

    async def keep(self, entries: Sequence[Entry]) -> None:
        await anyio.lowlevel.checkpoint()
        if self.refusal is not None:
            raise self.refusal
        self.entries.extend(entries)

    async def ask(self, call: Call, may_stand: bool) -> str:
        await anyio.lowlevel.checkpoint()
        assert may_stand
        self.asked[f"approval-{call.tool_use_id}"] = call
        return f"approval-{call.tool_use_id}"

    async def withdraw(self, approval_id: str) -> None:
        await anyio.lowlevel.checkpoint()
        self.withdrawn.append(approval_id)

    def context(self, call: Call, report: Report) -> Context:
        return Context(
            user=USER,
            conversation="c",
            run_id="r1",
            tool_use_id=call.tool_use_id,
            memory=Notes(),
            folder=self.folder,
            report=report,
        )

    @asynccontextmanager
    async def executing(self, *, time_limit: float = 60.0) -> AsyncGenerator[Executor]:
        async with Executor(
            tools=Toolset(tools={tool.name: tool for tool in self.tools}, time_limit=time_limit),
            user=USER,
            grants=(),
            put=self.put,
            keep=self.keep,
            ask=self.ask,
            withdraw=self.withdraw,
            context=self.context,
        ) as executor:
            yield executor

    def of(self, *kinds: type[Event]) -> list[str]:
        """The calls of which such events told, in order."""
        return [getattr(event, "tool_use_id", "") for event in self.events if isinstance(event, kinds)]

    def when(self, kind: type[Event]) -> list[float]:
        return [time for time, event in zip(self.times, self.events, strict=True) if isinstance(event, kind)]

    def results(self) -> dict[str, ToolResult]:
        return {event.tool_use_id: event for event in self.events if isinstance(event, ToolResult)}


def called(name: str, given: JsonObject | None, call: str) -> list[ModelEvent]:
    """A block with a call, as a decoder says it."""
    return [
        ContentBlockStart(block_id=call, block_type="tool_use"),
        ToolUseStart(block_id=call, tool_use_id=call, tool_name=name),
        ToolUseEnd(tool_use_id=call, input=given, problem=None if given is not None else "invalid_json"),
        ContentBlockEnd(block_id=call, block_type="tool_use"),
    ]


def ended(stop_reason: StopReason = "tool_use") -> MessageEnd:
    return MessageEnd(message_id="m", stop_reason=stop_reason, usage=Usage())


async def hear(executor: Executor, *calls: tuple[str, JsonObject | None], end: ModelEvent | None = None) -> None:
    """The model makes its calls, c0, c1, and so on, and ends."""
    for number, (name, given) in enumerate(calls):
        for item in called(name, given, f"c{number}"):
            await executor.take(item)
    if end is not None:
        await executor.take(end)


async def test_five_reads_of_300_ms_inside_a_message_of_two_seconds_add_nothing_to_it() -> None:
    read = Task()
    desk = Desk(tools=[read])
    began = anyio.current_time()
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            for number in range(5):
                await anyio.sleep(0.3)
                for item in called("read", {}, f"c{number}"):
                    await executor.take(item)
            await executor.take(ContentBlockStart(block_id="t", block_type="text"))
            for _ in range(10):
                await anyio.sleep(0.05)
                await executor.take(TextDelta(block_id="t", text="word "))
            await executor.take(ContentBlockEnd(block_id="t", block_type="text"))
            assert anyio.current_time() - began == pytest.approx(2)
            await executor.take(ended())
            assert not await executor.settle()
    assert anyio.current_time() - began == pytest.approx(2)
    assert desk.of(ToolResult) == ["c0", "c1", "c2", "c3", "c4"]
    assert all(time < 2 for time in desk.when(ToolResult))


async def test_six_reads_at_once_run_five_beside_each_other_and_their_results_come_in_call_order() -> None:
    read = Task()
    desk = Desk(tools=[read])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, *(("read", {"take": 1 - number / 10}) for number in range(6)), end=ended())
            await executor.settle()
            assert [result.tool_use_id for result in executor.results] == [f"c{number}" for number in range(6)]
            assert [call.input["take"] for call in executor.calls][:2] == [1.0, 0.9]
    assert desk.of(ToolResult) == [f"c{number}" for number in range(6)]
    kept = [entry.tool_use_id for entry in desk.entries if isinstance(entry, Returned)]
    assert kept == ["c4", "c3", "c2", "c1", "c0", "c5"]
    assert max(sum(one <= begin < other for one, other in read.spans) for begin, _ in read.spans) == 5


async def test_an_exclusive_call_waits_for_its_confirmation_and_for_all_before_it_and_runs_alone() -> None:
    read, write = Task(), Task(name="write", safe=False)
    desk = Desk(tools=[read, write])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {}), ("write", {}), ("read", {}))
            await anyio.sleep(5)
            assert (read.begun, write.begun) == (1, 0)
            await executor.take(ToolUseConfirmed(tool_use_id="c1"))
            await anyio.sleep(0.1)
            assert (read.begun, write.begun) == (1, 1)
            await executor.take(ended())
            await executor.settle()
    assert write.spans[0][0] >= read.spans[0][1]
    assert read.spans[1][0] >= write.spans[0][1]


async def test_it_is_kept_that_a_tool_starts_before_it_does_and_what_it_said_before_that_is_told() -> None:
    desk = Desk(tools=[])

    async def look(given: JsonObject, context: Context) -> str:
        del given
        return str([type(entry).__name__ for entry in desk.entries]) + context.tool_use_id

    desk.tools = [Task(work=look)]
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"path": "a"}), end=ended())
            await executor.settle()
    call = Call(tool_use_id="c0", name="read", input={"path": "a"})
    assert desk.entries == [
        Started(call=call),
        Returned(tool_use_id="c0", content="['Started']c0", length=13, error_type=None),
    ]
    assert desk.results()["c0"].content == "['Started']c0"


@pytest.mark.parametrize(
    ("name", "given", "error_type", "words"),
    [
        ("write", {}, "unknown_tool", "There is no tool 'write'"),
        ("read", None, "invalid_input", "not valid JSON"),
        ("read", {"wrong": True}, "invalid_input", "It is wrong."),
        ("read", {"forbidden": True}, "not_permitted", "may not use read"),
        ("read", {"fail": True}, "failed", "No such file."),
        ("read", {"take": 90}, "timeout", "Timed out after 60 s."),
        ("read", {"take": 90, "unsafe": True}, "timeout", f"Timed out after 60 s. {MAY_HAVE_RUN}"),
    ],
)
async def test_what_goes_wrong_is_a_result_that_says_what(
    name: str, given: JsonObject | None, error_type: str, words: str
) -> None:
    desk = Desk(tools=[Task()])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, (name, given), ("read", {}), end=ended())
            assert not await executor.settle()
    result = desk.results()["c0"]
    assert (result.error_type, result.is_error) == (error_type, True)
    assert words in result.content
    assert not desk.results()["c1"].is_error


async def gathers(given: JsonObject, context: Context) -> str:
    del given, context
    msg = "two"
    raise BaseExceptionGroup(msg, [ValueError("one thing"), SystemExit("other thing")])


class Panic(BaseException):
    """What a library written in another language raises."""


async def panics(given: JsonObject, context: Context) -> str:
    msg = "index out of bounds"
    raise Panic(msg)


async def leaves(given: JsonObject, context: Context) -> str:
    del given, context
    raise SystemExit(3)


async def wordless(given: JsonObject, context: Context) -> str:
    del given, context
    raise KeyError


async def objects(given: JsonObject, context: Context) -> str:
    """Raises while it is cancelled."""
    del given, context
    try:
        await anyio.sleep(HOUR)
    finally:
        msg = "closing failed"
        raise ValueError(msg)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (gathers, "one thing; SystemExit: other thing"),
        (leaves, "SystemExit: 3"),
        (panics, "Panic: index out of bounds"),
        (wordless, "KeyError"),
    ],
)
async def test_whatever_a_tool_raises_is_its_result(
    work: Callable[[JsonObject, Context], Awaitable[str]], words: str
) -> None:
    desk = Desk(tools=[Task(work=work)])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {}), end=ended())
            await executor.settle()
    assert desk.results()["c0"].content == words
    assert desk.results()["c0"].error_type == "failed"


@pytest.mark.parametrize("work", [None, objects])
async def test_a_stop_is_felt_at_once_and_says_what_may_have_run(
    work: Callable[[JsonObject, Context], Awaitable[str]] | None,
) -> None:
    write = Task(name="write", safe=False, work=work)
    desk = Desk(tools=[Task(), write])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"say": "done"}), ("write", {"take": 60}), ("read", {}), end=ended())
            await anyio.sleep(1)
            began = anyio.current_time()
            executor.stop()
            assert not await executor.settle()
            assert anyio.current_time() - began < 0.2
    results = desk.results()
    assert results["c0"].content == "done"
    assert results["c1"].error_type == results["c2"].error_type == "cancelled"
    assert MAY_HAVE_RUN in results["c1"].content
    assert MAY_HAVE_RUN not in results["c2"].content
    assert write.begun == 1


async def test_a_stop_is_felt_also_while_the_stream_takes_nothing() -> None:
    read = Task()
    desk = Desk(tools=[read])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {}), ("read", {"take": 60}), end=ended())
            await anyio.sleep(0.1)
            desk.slow = 30.0
            await anyio.sleep(0.4)
            began = anyio.current_time()
            executor.stop()
            await anyio.wait_all_tasks_blocked()
            assert [end for _, end in read.spans[1:]] == [began]
            assert not desk.results()
            await executor.settle()
    assert desk.results()["c1"].error_type == "cancelled"


@pytest.mark.parametrize("stop_reason", ["max_tokens", "context_window"])
async def test_of_a_cut_message_nothing_starts_and_what_runs_is_cancelled(stop_reason: StopReason) -> None:
    read, write = Task(), Task(name="write", safe=False)
    desk = Desk(tools=[read, write])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"say": "true"}), ("read", {"take": 60}), ("write", {}), ("read", None))
            await anyio.sleep(1)
            await executor.take(ended(stop_reason))
            assert not await executor.settle()
    assert [result.error_type for result in desk.results().values()] == [None, "cut", "cut", "cut"]
    assert (read.begun, write.begun) == (2, 0)


@pytest.mark.parametrize("end", [BROKEN, ended("refusal")])
async def test_of_a_failed_message_no_result_is_told_or_kept(end: ModelEvent) -> None:
    read = Task()
    desk = Desk(tools=[read])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"take": 60}), ("read", {"wrong": True}))
            await anyio.sleep(1)
            await executor.take(end)
            assert not await executor.settle()
    assert desk.of(ToolResult) == []
    assert not any(isinstance(entry, Returned) for entry in desk.entries)
    assert read.spans[0][1] - read.spans[0][0] == pytest.approx(1)


async def test_a_message_is_discarded_as_long_as_no_tool_has_begun() -> None:
    desk = Desk(tools=[Task(), Task(name="write", safe=False)])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("write", {}), ("read", {}), ("nothing", {}))
            await anyio.wait_all_tasks_blocked()
            assert not executor.begun
            assert await executor.discard("overloaded")
            assert executor.calls == ()
            await hear(executor, ("read", {}))
            await anyio.wait_all_tasks_blocked()
            assert executor.begun
            assert not await executor.discard("overloaded")
            await executor.take(ended())
            await executor.settle()
    assert desk.of(ToolResult) == ["c0"]
    assert sum(isinstance(event, MessageDiscarded) for event in desk.events) == 1


async def test_an_approval_is_asked_for_behind_the_message_and_is_all_that_is_left() -> None:
    write = Task(name="write", safe=False, asks=True)
    desk = Desk(tools=[Task(), write])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("write", {"path": "a"}), ("read", {}), ("write", {}))
            await anyio.sleep(5)
            assert not desk.asked
            await executor.take(ended())
            assert await executor.settle()
    assert list(desk.asked) == ["approval-c0"]
    assert desk.of(ApprovalRequested) == ["c0"]
    assert desk.of(ToolResult) == []
    assert [entry.tool_use_id for entry in desk.entries if isinstance(entry, Returned)] == ["c1"]
    assert write.begun == 0


def approval(call: str, state: str) -> Approval:
    asked = Approval(id=f"approval-{call}", conversation="c", tool_use_id=call, tool_name="write", asker="U1")
    match state:
        case "approved" | "denied" | "expired" | "withdrawn":
            return replace(asked, state=state, by="U1")
        case _:
            return asked


def answered(*calls: tuple[str, JsonObject], stop_reason: StopReason = "tool_use") -> Answered:
    return Answered(
        text="",
        reason="continued",
        stop_reason=stop_reason,
        calls=tuple(
            Call(tool_use_id=f"c{number}", name=name, input=given) for number, (name, given) in enumerate(calls)
        ),
    )


@asynccontextmanager
async def again(desk: Desk, message: Answered, *approvals: Approval) -> AsyncGenerator[Executor]:
    """Another process: the message's own events are told again, then the executor takes it up."""
    desk.grammar, desk.events, desk.times = Grammar(RunState.SPEAKING), [], []
    for call in message.calls:
        for item in called(call.name, None if call.problem else call.input, call.tool_use_id):
            await desk.put(item)
    await desk.put(ended(message.stop_reason))
    async with desk.executing() as executor:
        await executor.restore(message, list(desk.entries), approvals)
        yield executor


async def test_a_call_that_was_approved_meanwhile_runs_and_the_next_is_asked_for() -> None:
    write = Task(name="write", safe=False, asks=True)
    desk = Desk(tools=[Task(), write], entries=[Returned(tool_use_id="c1", content="text", length=4)])
    message = answered(("write", {}), ("read", {}), ("write", {}))
    with anyio.fail_after(HOUR):
        async with again(desk, message, approval("c0", "approved")) as executor:
            assert await executor.settle()
    assert write.begun == 1
    assert desk.of(ApprovalRequested, ApprovalResolved) == ["c0", "c0", "c2"]
    assert desk.of(ToolResult) == ["c0", "c1"]
    with anyio.fail_after(HOUR):
        async with again(desk, message, approval("c0", "approved"), approval("c2", "denied")) as executor:
            assert not await executor.settle()
    assert write.begun == 1
    assert desk.of(ToolResult) == ["c0", "c1", "c2"]
    assert desk.results()["c2"].error_type == "denied"


async def test_an_approval_that_is_still_open_is_waited_for_and_not_asked_for_again() -> None:
    desk = Desk(tools=[Task(name="write", safe=False, asks=True)])
    with anyio.fail_after(HOUR):
        async with again(desk, answered(("write", {})), approval("c0", "open")) as executor:
            assert await executor.settle()
            await executor.decide(approval("c0", "approved"))
            await executor.decide(approval("c0", "denied"))
            assert not await executor.settle()
    assert not desk.asked
    assert desk.of(ApprovalRequested, ApprovalResolved, ToolStart, ToolResult) == ["c0"] * 4
    assert desk.results()["c0"].content == "text"


async def test_what_had_started_in_another_process_is_interrupted_and_never_starts_again() -> None:
    write = Task(name="write", safe=False)
    calls = [Call(tool_use_id=f"c{number}", name="write", input={}) for number in range(2)]
    desk = Desk(tools=[write], entries=[Started(call=calls[0])])
    with anyio.fail_after(HOUR):
        async with again(desk, answered(("write", {}), ("write", {}))) as executor:
            assert not await executor.settle()
    assert desk.results()["c0"].error_type == "interrupted"
    assert not desk.results()["c1"].is_error
    assert write.begun == 1


async def test_a_call_whose_input_could_not_be_read_is_refused_also_when_it_is_taken_up_again() -> None:
    read = Task()
    desk = Desk(tools=[read])
    message = Answered(
        text="",
        reason="continued",
        stop_reason="tool_use",
        calls=(Call(tool_use_id="c0", name="read", input={}, problem="invalid_json"),),
    )
    with anyio.fail_after(HOUR):
        async with again(desk, message) as executor:
            await executor.settle()
    assert desk.results()["c0"].error_type == "invalid_input"
    assert read.begun == 0


async def test_a_failure_that_cascades_withdraws_the_approval_of_its_kin_and_touches_no_other() -> None:
    shell = Task(name="shell", safe=False, cascades=True)
    desk = Desk(tools=[Task(), shell])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(
                executor,
                ("shell", {"fail": True, "take": 5}),
                ("shell", {"ask": True}),
                ("read", {}),
                ("shell", {}),
                end=ended(),
            )
            assert not await executor.settle()
    assert desk.withdrawn == ["approval-c1"]
    assert [result.error_type for result in desk.results().values()] == ["failed", "withdrawn", None, "cancelled"]
    assert shell.begun == 1


async def test_a_tool_says_how_far_it_is_from_any_thread_and_the_newest_is_told_now_and_then() -> None:
    async def work(given: JsonObject, context: Context) -> str:
        del given
        for number in range(100):
            await anyio.sleep(0.01)
            thread = threading.Thread(target=context.report, args=(f"step {number}", float(number), 100.0))
            thread.start()
            thread.join()
        return "done"

    desk = Desk(tools=[Task(work=work)])
    with anyio.fail_after(HOUR):
        async with desk.executing() as executor:
            await hear(executor, ("read", {}), end=ended())
            await executor.settle()
    said = [event for event in desk.events if isinstance(event, ToolProgress)]
    assert [event.total for event in said] == [100.0, 100.0]
    assert [event.done for event in said] == pytest.approx([39, 79], abs=2)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_thread_is_abandoned_within_200_ms_and_may_have_run() -> None:
    began, let_go = threading.Event(), threading.Event()

    @made(approval=False)
    def block() -> str:
        """Block."""
        began.set()
        let_go.wait(20)
        return "late"

    desk = Desk(tools=[block])
    with anyio.fail_after(5):
        async with desk.executing() as executor:
            await hear(executor, ("block", {}), end=ended())
            await anyio.to_thread.run_sync(began.wait)
            executor.stop()
            with anyio.fail_after(0.2):
                await executor.settle()
    let_go.set()
    assert desk.results()["c0"].error_type == "cancelled"
    assert MAY_HAVE_RUN in desk.results()["c0"].content


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_long_output_is_cut_in_the_middle_and_the_whole_is_in_a_file(tmp_path: Path) -> None:
    whole = "ä" * LONGEST + "end"
    desk = Desk(tools=[Task()], folder=tmp_path / "files")
    with anyio.fail_after(5):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"say": whole, "take": 0}), end=ended())
            await executor.settle()
    result = desk.results()["c0"]
    (file,) = await anyio.to_thread.run_sync(lambda: list((tmp_path / "files").iterdir()))
    assert await anyio.Path(file).read_text(encoding="utf-8") == whole
    assert file.name in result.content
    assert result.content.startswith("ää")
    assert result.content.endswith("äend")
    assert len(result.content.encode()) < LONGEST + 200
    assert result.content_length == len(whole)
    assert not result.is_error


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_long_output_that_cannot_be_kept_is_cut_all_the_same(tmp_path: Path) -> None:
    await anyio.Path(tmp_path / "files").write_text("no folder")
    desk = Desk(tools=[Task()], folder=tmp_path / "files")
    with anyio.fail_after(5):
        async with desk.executing() as executor:
            await hear(executor, ("read", {"say": "x" * 2 * LONGEST, "take": 0}), end=ended())
            await executor.settle()
    assert "could not be kept" in desk.results()["c0"].content


async def test_what_the_history_refuses_ends_the_whole_as_itself() -> None:
    desk = Desk(tools=[Task()], refusal=OSError("the store is full"))

    async def hold() -> None:
        async with desk.executing() as executor:
            await hear(executor, ("read", {}))
            await anyio.sleep_forever()

    with anyio.fail_after(HOUR), pytest.raises(OSError, match="the store is full"):
        await hold()


async def test_what_is_raised_inside_comes_out_as_it_was_and_ends_the_tools() -> None:
    read = Task()
    desk = Desk(tools=[read])

    async def leave() -> None:
        async with desk.executing() as executor:
            await hear(executor, ("read", {"take": 60}))
            await anyio.sleep(1)
            raise KeyError

    with anyio.fail_after(HOUR), pytest.raises(KeyError):
        await leave()
    assert read.spans[0][1] - read.spans[0][0] == pytest.approx(1)
    assert [type(entry) for entry in desk.entries] == [Started]


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("work", [None, objects])
async def test_a_cancellation_from_outside_passes_and_leaves_the_call_without_a_result(
    work: Callable[[JsonObject, Context], Awaitable[str]] | None,
) -> None:
    desk = Desk(tools=[Task(work=work)])
    with anyio.fail_after(5):
        with anyio.move_on_after(0.1) as scope:
            async with desk.executing() as executor:
                await hear(executor, ("read", {"take": 60}), end=ended())
                await executor.settle()
        assert scope.cancelled_caught
    assert [type(entry) for entry in desk.entries] == [Started]
