"""The agent loop, with a model and tools in memory."""

from collections import Counter
from dataclasses import replace
from typing import get_args

import anyio
import pytest

from gateway import history, speech
from gateway.agent import Agent, Answer, Case, Stop, answer
from gateway.event import (
    AgentEnd,
    AgentStart,
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    Event,
    JsonObject,
    MessageDiscarded,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolInputDelta,
    ToolResult,
    ToolStart,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.grammar import check_run
from gateway.history import Answered, Asked, Ended, Entry, Returned, Started
from gateway.limit import Limits
from gateway.provider import AssistantMessage, Item, Request, Result, UserMessage
from gateway.store import Approval
from gateway.stream import EventStream
from tests.unit.gateway import model as models
from tests.unit.gateway.model import (
    USAGE,
    USER,
    Bug,
    Fake,
    Minutes,
    Model,
    agent,
    broken,
    called,
    native,
    spoken,
    whole,
)

pytestmark = pytest.mark.virtual_time

ASKED = Asked(speaker="U1", text="Hello?")


def after(seconds: float) -> Stop:
    """A stop that comes by itself."""
    return Stop(scope=anyio.CancelScope(deadline=anyio.current_time() + seconds))


def case(said: tuple[Entry, ...] = (ASKED,), **more: object) -> Case:
    """A question, and what has become of it so far."""
    return replace(Case(before=(), said=said, user=USER), **more)


class Ran:
    """One stretch of a run: what it came to, what it told and what it wrote down."""

    def __init__(self, answered: Answer, events: list[Event], minutes: Minutes) -> None:
        self.answered = answered
        self.events = events
        self.minutes = minutes

    @property
    def texts(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    def of(self, *kinds: type[Event]) -> list[Event]:
        """The events of some kinds."""
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def results(self) -> list[tuple[str, str | None]]:
        """The calls with what was wrong with each, in the order in which they were told."""
        return [(each.tool_use_id, each.error_type) for each in self.events if isinstance(each, ToolResult)]


async def run(
    who: Agent | Model, stream: EventStream | None = None, stop: Stop | None = None, about: Case | None = None
) -> Ran:
    """Let somebody answer."""
    stream, minutes = stream or EventStream("r1"), Minutes()
    asked = agent(who) if isinstance(who, Model) else who
    with anyio.fail_after(10_000):
        answered = await answer(asked, about or case(), stream, minutes, stop=stop or Stop())
        events = [envelope.event async for envelope in stream]
    return Ran(answered, events, minutes)


async def test_a_run_tells_what_the_model_said_between_its_start_and_its_end() -> None:
    ran = await run(Model([whole("Hello, you there.")]))
    check_run(ran.events)
    assert ran.events[:2] == [AgentStart(agent_id="agent", model="model-1", input_length=6), TurnStart(turn_number=1)]
    assert ran.events[-2:] == [
        TurnEnd(turn_number=1, has_tool_calls=False),
        AgentEnd(reason="complete", final_response="Hello, you there.", turn_count=1, message_count=1, usage=USAGE),
    ]
    assert ran.texts == "Hello, you there."
    assert ran.answered == Answer(reason="complete")
    assert ran.minutes.entries == [
        Answered(text="Hello, you there.", native=native("Hello, you there."), reason="complete", usage=USAGE)
    ]


async def test_the_model_is_asked_with_the_prompt_and_the_conversation() -> None:
    model = Model([whole("Hi.")])
    await run(model)
    assert model.requests == [
        Request(model="model-1", max_tokens=100, system="Be brief.", messages=(UserMessage(text="<U1> Hello?"),))
    ]
    assert model.open == 0


ENDINGS: dict[StopReason, EndReason] = {
    "end": "complete",
    "tool_use": "complete",
    "max_tokens": "cut",
    "context_window": "context_window",
    "pause": "turn_limit",
    "refusal": "refusal",
    "unknown": "complete",
}


@pytest.mark.parametrize("stop_reason", get_args(StopReason))
async def test_every_reason_to_stop_ends_the_run_by_its_name(stop_reason: StopReason) -> None:
    ran = await run(agent(Model([whole("Well.", stop_reason)]), limits=Limits(turns=3)))
    check_run(ran.events)
    assert ran.answered.reason == ENDINGS[stop_reason]
    assert isinstance(ran.events[-1], AgentEnd)
    assert ran.events[-1].reason == ran.answered.reason


async def test_a_paused_answer_is_sent_back_as_it_is_and_goes_on() -> None:
    model = Model([whole("Let me see.", "pause"), whole("So it is.")])
    ran = await run(model)
    check_run(ran.events)
    assert ran.answered.reason == "complete"
    assert model.requests[1].messages[1:] == (AssistantMessage(text="Let me see.", native=native("Let me see.")),)


@pytest.mark.parametrize("text", ["", "Half of i"])
async def test_an_error_ends_the_run_with_the_text_that_came_before_it(text: str) -> None:
    ran = await run(Model([broken(text)]), about=case(overwritable=False))
    check_run(ran.events)
    assert ran.answered == Answer(reason="error", error="overloaded")
    assert ran.events[-1] == AgentEnd(reason="error", final_response=text, turn_count=1, message_count=1, usage=Usage())
    assert [event.error_type for event in ran.events if isinstance(event, Error)] == ["overloaded"]
    assert ran.minutes.entries == [
        Answered(text=text, reason="error", error="overloaded", stop_reason="unknown", usage=Usage())
    ]


async def test_a_model_that_just_stops_has_not_finished_its_answer() -> None:
    ran = await run(Model([[*spoken("Half"), native("Half")]]))
    assert ran.answered.reason == "error"
    assert [each.native for each in ran.minutes.entries if isinstance(each, Answered)] == [None]


async def test_nobody_reading_ends_the_run_and_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    model, stream = Model([whole("word " * 10)]), EventStream("r1", capacity=3, patience=30)
    began = anyio.current_time()
    ran = await run(model, stream)
    check_run(ran.events)
    assert anyio.current_time() - began == pytest.approx(30)
    assert ran.answered.reason == "consumer_stalled"
    assert model.open == 0
    assert not ran.of(MessageEnd)
    assert isinstance(ran.events[-1], AgentEnd)
    assert ran.events[-1].reason == "consumer_stalled"
    assert "the reader of run r1 stood still" in caplog.text


CALLING: list[Item] = [
    ContentBlockStart(block_id="b1", block_type="tool_use"),
    ToolUseStart(block_id="b1", tool_use_id="u1", tool_name="look"),
    ToolInputDelta(tool_use_id="u1", json_delta="{"),
]
CALLED: list[Item] = [
    ToolUseEnd(tool_use_id="u1", input={}, problem=None),
    ContentBlockEnd(block_id="b1", block_type="tool_use"),
]
TALKING: list[Item] = [
    ContentBlockStart(block_id="b2", block_type="text"),
    *(TextDelta(block_id="b2", text="Hm. ") for _ in range(60)),
]


@pytest.mark.parametrize("tools", [[], [Fake("look", seconds=5)], [Fake("look")]])
@pytest.mark.parametrize("seconds", range(0, 16, 2))
async def test_a_run_that_is_stopped_leaves_nothing_open_wherever_the_model_was(
    seconds: int, tools: list[Fake]
) -> None:
    model = Model([[*spoken("Half an answer"), *CALLING, *CALLED, *TALKING]], pace=1.0)
    stop = after(seconds + 0.5)
    began = anyio.current_time()
    ran = await run(agent(model, tools=tools), stop=stop)
    check_run(ran.events)
    assert anyio.current_time() - began == pytest.approx(seconds + 0.5)
    assert ran.answered.reason == "deadline"
    assert model.open == 0
    assert [event.error_type for event in ran.events if isinstance(event, Error)] == ["unknown"]
    (kept,) = (each for each in ran.minutes.entries if isinstance(each, Answered))
    assert (kept.reason, kept.text, kept.native) == ("deadline", ran.texts, None)
    started = {each.call.tool_use_id for each in ran.minutes.entries if isinstance(each, Started)}
    assert {call.tool_use_id for call in kept.calls} == started
    assert {each.tool_use_id for each in ran.minutes.entries if isinstance(each, Returned)} == started


async def test_a_tool_call_that_is_stopped_halfway_has_no_input() -> None:
    ran = await run(Model([[*CALLING, *CALLED]], pace=1.2), stop=after(4))
    check_run(ran.events)
    (ended,) = (event for event in ran.events if isinstance(event, ToolUseEnd))
    assert (ended.input, ended.problem) == (None, "invalid_json")


async def test_a_run_that_was_stopped_before_it_began_ends_in_order() -> None:
    stop = Stop()
    stop("stopped")
    ran = await run(Model([whole("Hello.")]), stop=stop)
    check_run(ran.events)
    assert ran.answered == Answer(reason="stopped")


async def test_an_answer_that_was_whole_when_it_was_stopped_stays_whole() -> None:
    ran = await run(Model([whole("Hello.")], linger=50), stop=after(5))
    check_run(ran.events)
    assert ran.answered == Answer(reason="complete")


async def test_why_a_run_was_stopped_is_logged_under_its_id(caplog: pytest.LogCaptureFixture) -> None:
    await run(Model([whole("Hello.")], pace=1.0), stop=after(2))
    assert "run r1: unknown: stopped before its end" in caplog.text


async def test_what_nobody_thought_of_passes_through_and_closes_the_stream() -> None:
    model, stream = Model([[*spoken("Half"), Bug("oops")]]), EventStream("r1")
    with pytest.raises(Bug):
        await answer(agent(model), case(), stream, Minutes(), stop=Stop())
    with anyio.fail_after(5):
        events = [envelope.event async for envelope in stream]
    assert not any(isinstance(event, AgentEnd) for event in events)
    assert model.open == 0


async def test_a_cancelled_run_closes_the_stream_and_the_connection() -> None:
    model, stream = Model([whole("word " * 100)], pace=1.0), EventStream("r1")
    with anyio.move_on_after(10) as scope:
        await answer(agent(model), case(), stream, Minutes(), stop=Stop())
    assert scope.cancelled_caught
    assert model.open == 0
    with anyio.fail_after(5):
        assert not [envelope async for envelope in stream if isinstance(envelope.event, AgentEnd)]


def test_every_reason_to_stop_has_an_end() -> None:
    assert set(speech.ENDS) == set(get_args(StopReason))
    assert set(speech.ENDS.values()) <= {*get_args(EndReason), "continued"}


# Tools.


async def test_a_call_is_run_and_its_result_goes_back_to_the_model() -> None:
    model, look = Model([called(("u1", "look", {}), text="I look."), whole("There.")]), Fake("look", result="A cat.")
    ran = await run(agent(model, tools=[look]))
    check_run(ran.events)
    assert ran.answered.reason == "complete"
    assert ran.results == [("u1", None)]
    assert len(look.runs) == 1
    _, said, heard = model.requests[1].messages
    assert isinstance(said, AssistantMessage)
    assert said.native is not None
    assert heard == UserMessage(text="", results=(Result(tool_use_id="u1", content="A cat."),))
    assert Counter(map(type, ran.minutes.entries)) == {Started: 1, Returned: 1, Answered: 2}


async def test_five_reads_of_300_ms_inside_a_stream_of_two_seconds_add_nothing_to_it() -> None:
    reads: list[tuple[str, str, JsonObject]] = [(f"u{number}", "look", {}) for number in range(5)]
    items = called(*reads, text="word " * 8)
    model = Model([[*items[:-2], *spoken("word " * 20), *items[-2:]], whole("Done.")])
    model.pace = 2 / len(model.answers[0])
    look = Fake("look", seconds=0.3)
    began = anyio.current_time()
    ran = await run(agent(model, tools=[look]))
    second = len(model.answers[1]) * model.pace
    assert anyio.current_time() - began == pytest.approx(2 + second, abs=0.05)
    assert [result for result, _ in ran.results] == [name for name, _, _ in reads]


WRONG: list[tuple[tuple[str, str, JsonObject], str]] = [
    (("u1", "nothing", {}), "unknown_tool"),
    (("u1", "look", {"bad": 1}), "invalid_input"),
    (("u1", "look", {"forbidden": 1}), "not_permitted"),
    (("u1", "fall", {}), "failed"),
    (("u1", "sleep", {}), "timeout"),
]


@pytest.mark.parametrize(("call", "error_type"), WRONG)
async def test_whatever_is_wrong_with_a_call_is_a_result_for_the_model(
    call: tuple[str, str, JsonObject], error_type: str
) -> None:
    tools = [Fake("look"), Fake("fall", fails=True), Fake("sleep", seconds=100, time_limit=10)]
    ran = await run(agent(Model([called(call), whole("I see.")]), tools=tools))
    check_run(ran.events)
    assert ran.results == [("u1", error_type)]
    assert ran.answered.reason == "complete"


@pytest.mark.parametrize("stop_reason", ["max_tokens", "context_window"])
async def test_of_a_cut_message_no_call_is_run_and_each_is_told_so(stop_reason: StopReason) -> None:
    model = Model([called(("u1", "write", {}), stop_reason=stop_reason), whole("Again.")])
    write = Fake("write", safe=False)
    ran = await run(agent(model, tools=[write]))
    check_run(ran.events)
    assert ran.results == [("u1", "cut")]
    assert write.runs == []
    assert ran.answered.reason == ("complete" if stop_reason == "max_tokens" else "context_window")


async def test_of_a_refused_message_nothing_is_run_and_its_calls_leave_the_history() -> None:
    model, write = Model([called(("u1", "write", {}), stop_reason="refusal")]), Fake("write", safe=False)
    ran = await run(agent(model, tools=[write]))
    check_run(ran.events)
    assert (ran.answered.reason, write.runs, ran.results) == ("refusal", [], [])
    (kept,) = (each for each in ran.minutes.entries if isinstance(each, Answered))
    assert (kept.calls, kept.native) == ((), None)


async def test_the_same_call_with_the_same_result_three_times_ends_the_run() -> None:
    model = Model([called((f"u{number}", "look", {"at": 1})) for number in range(9)])
    ran = await run(agent(model, tools=[Fake("look")]))
    check_run(ran.events)
    assert ran.answered.reason == "loop"
    assert len(model.requests) == 3
    assert ran.minutes.entries[-1] == Ended(reason="loop")


async def test_a_run_ends_at_its_turns() -> None:
    model = Model([called((f"u{number}", "look", {"at": number})) for number in range(9)])
    ran = await run(agent(model, tools=[Fake("look")], limits=Limits(turns=4)))
    check_run(ran.events)
    assert (ran.answered.reason, len(model.requests)) == ("turn_limit", 4)


async def test_a_run_ends_at_its_tokens() -> None:
    model = Model([called((f"u{number}", "look", {"at": number})) for number in range(9)])
    ran = await run(agent(model, tools=[Fake("look")], limits=Limits(tokens=3 * 13)))
    check_run(ran.events)
    assert (ran.answered.reason, len(model.requests)) == ("token_budget", 3)


async def test_a_run_ends_at_its_deadline_also_inside_a_tool() -> None:
    model, sleep = Model([called(("u1", "sleep", {}))]), Fake("sleep", seconds=50)
    ran = await run(agent(model, tools=[sleep], limits=Limits(deadline=20)))
    check_run(ran.events)
    assert ran.events[-2] == TurnEnd(turn_number=1, has_tool_calls=True)
    assert ran.answered.reason == "deadline"
    assert ran.results == [("u1", "interrupted")]
    assert ran.minutes.entries[-2:] == [
        Returned(
            tool_use_id="u1",
            content=history.MAY_HAVE_RUN,
            length=len(history.MAY_HAVE_RUN),
            error_type="interrupted",
        ),
        Ended(reason="deadline"),
    ]


@pytest.mark.parametrize("at", [0.5, 3.0, 8.0])
async def test_a_stop_is_obeyed_at_once_and_what_had_begun_may_have_run(at: float) -> None:
    items = called(("u1", "look", {}), ("u2", "write", {}), text="Both.")
    model = Model([items], pace=0.1)
    tools = [Fake("look", seconds=5), Fake("write", seconds=5, safe=False)]
    began, stop = anyio.current_time(), Stop()
    ran: Ran | None = None
    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            await anyio.sleep(at)
            stop("stopped")

        tasks.start_soon(ask)
        ran = await run(agent(model, tools=tools), stop=stop)
        assert anyio.current_time() - began == pytest.approx(at, abs=0.01)
    assert ran is not None
    check_run(ran.events)
    assert ran.answered.reason == "stopped"


# Approvals.


def waits() -> Agent:
    """Somebody who has to ask before they write."""
    model = Model([called(("u1", "look", {}), ("u2", "write", {}), ("u3", "look", {}), text="Both."), whole("Done.")])
    return agent(model, tools=[Fake("look"), Fake("write", safe=False, approval=True)])


async def test_a_run_that_waits_for_a_person_is_no_task_and_has_written_down_all() -> None:
    who = waits()
    ran = await run(who)
    assert ran.answered == Answer(reason=None)
    (asked,) = (each for each in ran.events if isinstance(each, ApprovalRequested))
    assert (asked.tool_use_id, asked.tool_name) == ("u2", "write")
    assert ran.results == [("u1", None)]
    assert {each.tool_use_id for each in ran.minutes.entries if isinstance(each, Returned)} == {"u1", "u3"}
    assert not ran.of(AgentEnd)


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("state", ["approved", "denied", "expired", "withdrawn"])
async def test_a_run_is_taken_up_where_it_waited(state: str, here: bool) -> None:
    who = waits()
    before = await run(who)
    (approval,) = before.minutes.approvals.values()
    decided = replace(approval, state=state, by="U2")  # pyright: ignore[reportArgumentType]  # one of the states
    told = len(before.events)
    stream = EventStream("r1", first=told if here else 0)
    ran = await run(who, stream, about=case((ASKED, *before.minutes.entries), approvals=(decided,), goes_on=here))
    check_run([*before.events, *ran.events] if here else ran.events)
    assert ran.answered.reason == "complete"
    write = who.tools.tools["write"]
    assert isinstance(write, Fake)
    assert len(write.runs) == (state == "approved")
    (resolved,) = (each for each in ran.events if isinstance(each, ApprovalResolved))
    assert (resolved.decision, resolved.by) == (state, "U2")
    assert ran.results[-2:] == [("u2", None if state == "approved" else state), ("u3", None)]
    assert not [each for each in ran.minutes.entries if isinstance(each, Started) and each.call.name == "look"]


async def test_a_stop_while_a_run_waits_withdraws_what_it_asked() -> None:
    who = waits()
    before = await run(who)
    stop = Stop()
    stop("stopped")
    ran = await run(
        who,
        stop=stop,
        about=case((ASKED, *before.minutes.entries), approvals=tuple(before.minutes.approvals.values())),
    )
    check_run(ran.events)
    assert ran.answered.reason == "stopped"
    assert ran.minutes.withdrawn == ["ask-u2"]
    assert ran.results == [("u1", None), ("u2", "cancelled"), ("u3", None)]
    assert ran.minutes.entries[-1] == Ended(reason="stopped")


async def test_a_call_that_had_begun_before_a_crash_is_not_begun_again() -> None:
    write = Fake("write", safe=False)
    model = Model([called(("u1", "write", {})), whole("I see.")])
    whole_run = await run(agent(model, tools=[write]))
    upto = next(at for at, each in enumerate(whole_run.minutes.entries) if isinstance(each, Returned))
    model.requests.clear()
    model.answers = [whole("I see.")]
    ran = await run(agent(model, tools=[write]), about=case((ASKED, *whole_run.minutes.entries[:upto])))
    check_run(ran.events)
    assert len(write.runs) == 1
    assert ran.results == [("u1", "interrupted")]
    assert ran.answered.reason == "complete"


# What a model's failures lead to.


async def test_a_call_of_which_nobody_saw_anything_is_made_again_and_then_goes_to_the_other_model() -> None:
    first, second = Model([broken("", retryable=True)]), Model([whole("Hello.")])
    who = replace(
        agent(first, limits=Limits(retries=2)),
        fallback=models.provider.Model(provider=second, name="model-2", max_tokens=50),
    )
    began = anyio.current_time()
    ran = await run(who)
    check_run(ran.events)
    assert (ran.answered.reason, ran.texts) == ("complete", "Hello.")
    assert (len(first.requests), len(second.requests)) == (3, 1)
    assert 1.5 <= anyio.current_time() - began <= 3
    assert not ran.of(Error)
    assert (second.requests[0].model, second.requests[0].max_tokens) == ("model-2", 50)


async def test_what_was_shown_of_a_broken_message_is_discarded_and_the_turn_begins_anew_once() -> None:
    ran = await run(Model([broken("Half", retryable=True), whole("Whole.")]))
    check_run(ran.events)
    assert (ran.answered.reason, ran.texts) == ("complete", "HalfWhole.")
    assert len(ran.of(MessageDiscarded)) == 1
    ran = await run(Model([broken("Half", retryable=True)]))
    check_run(ran.events)
    assert ran.answered == Answer(reason="error", error="overloaded")
    assert len(ran.of(MessageDiscarded)) == 1


async def test_behind_a_tool_that_began_the_run_goes_on_from_what_is_known() -> None:
    items = called(("u1", "look", {}), text="I look.")
    error = Error(error_type="overloaded", error_message="529", retryable=True)
    model, look = Model([[*items[:-2], error], whole("A cat.")], pace=0.1), Fake("look", result="Fur.")
    ran = await run(agent(model, tools=[look], limits=Limits(retries=2)))
    check_run(ran.events)
    assert ran.answered.reason == "complete"
    assert len(look.runs) == 1
    said, heard = model.requests[1].messages[1:]
    assert isinstance(said, AssistantMessage)
    assert isinstance(heard, UserMessage)
    assert [call.tool_use_id for call in said.calls] == ["u1"]
    assert [result.content for result in heard.results] == ["Fur."]
    assert "interrupted" in heard.text


async def test_tools_are_told_to_the_model_always_in_the_same_order() -> None:
    model = Model([whole("Hi.")])
    await run(agent(model, tools=[Fake("write"), Fake("look")]))
    assert [spec.name for spec in model.requests[0].tools] == ["look", "write"]


def test_an_approval_is_what_the_store_has() -> None:
    assert Approval(id="a", conversation="c", tool_use_id="u", tool_name="t", asker="U1").state == "open"


async def test_a_tool_starts_before_the_message_ends() -> None:
    model = Model([called(("u1", "look", {}), text="I look."), whole("There.")], pace=0.1)
    ran = await run(agent(model, tools=[Fake("look")]))
    order = [type(each) for each in ran.of(ToolStart, MessageEnd)]
    assert order[:2] == [ToolStart, MessageEnd]
