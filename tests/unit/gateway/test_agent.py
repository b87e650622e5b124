"""The agent loop, with a model in memory."""

from typing import get_args

import anyio
import pytest

from gateway import agent as loop
from gateway.agent import Answer, Stop, answer
from gateway.event import (
    AgentEnd,
    AgentStart,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    Event,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolInputDelta,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.grammar import check_run
from gateway.provider import Item, Request, UserMessage
from gateway.stream import EventStream
from tests.unit.gateway.model import USAGE, Bug, Model, agent, broken, native, spoken, whole

pytestmark = pytest.mark.virtual_time

ASKED = (UserMessage(text="<U1> Hello?"),)


def after(seconds: float) -> Stop:
    """A stop that comes by itself."""
    return Stop(scope=anyio.CancelScope(deadline=anyio.current_time() + seconds))


async def run(model: Model, stream: EventStream | None = None, stop: Stop | None = None) -> tuple[Answer, list[Event]]:
    """What a run came to, and what it told."""
    stream = stream or EventStream("r1")
    with anyio.fail_after(60):
        answered = await answer(agent(model), ASKED, stream, stop=stop or Stop())
        events = [envelope.event async for envelope in stream]
    return answered, events


async def test_a_run_tells_what_the_model_said_between_its_start_and_its_end() -> None:
    answered, events = await run(Model([whole("Hello, you there.")]))
    check_run(events)
    assert events[:2] == [AgentStart(agent_id="agent", model="model-1", input_length=11), TurnStart(turn_number=1)]
    assert events[-2:] == [
        TurnEnd(turn_number=1, has_tool_calls=False),
        AgentEnd(reason="complete", final_response="Hello, you there.", turn_count=1, message_count=1, usage=USAGE),
    ]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello, you there."
    assert answered == Answer(reason="complete", text="Hello, you there.", native=native("Hello, you there."))


async def test_the_model_is_asked_with_the_prompt_and_the_conversation() -> None:
    model = Model([whole("Hi.")])
    await run(model)
    assert model.requests == [Request(model="model-1", max_tokens=100, system="Be brief.", messages=ASKED)]
    assert model.open == 0


ENDINGS: dict[StopReason, EndReason] = {
    "end": "complete",
    "tool_use": "complete",
    "max_tokens": "cut",
    "context_window": "context_window",
    "pause": "cut",
    "refusal": "refusal",
    "unknown": "complete",
}


@pytest.mark.parametrize("stop_reason", get_args(StopReason))
async def test_every_reason_to_stop_ends_the_run_by_its_name(stop_reason: StopReason) -> None:
    answered, events = await run(Model([whole("Well.", stop_reason)]))
    check_run(events)
    assert answered.reason == ENDINGS[stop_reason]
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].reason == answered.reason


@pytest.mark.parametrize("text", ["", "Half of i"])
async def test_an_error_ends_the_run_with_the_text_that_came_before_it(text: str) -> None:
    answered, events = await run(Model([broken(text)]))
    check_run(events)
    assert answered == Answer(reason="error", text=text, native=None, error="overloaded")
    assert events[-1] == AgentEnd(reason="error", final_response=text, turn_count=1, message_count=1, usage=Usage())
    assert [event.error_type for event in events if isinstance(event, Error)] == ["overloaded"]


async def test_a_model_that_just_stops_has_not_finished_its_answer() -> None:
    answered, events = await run(Model([[*spoken("Half"), native("Half")]]))
    assert answered.reason == "error"
    assert answered.native is None
    assert isinstance(events[-1], AgentEnd)


async def test_an_answer_that_breaks_behind_its_native_form_is_not_kept_in_it() -> None:
    answered, _ = await run(Model([[*spoken("Half"), native("Half"), *broken("")]]))
    assert answered == Answer(reason="error", text="Half", native=None, error="overloaded")


async def test_nobody_reading_ends_the_run_and_closes_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    model, stream = Model([whole("word " * 10)]), EventStream("r1", capacity=3, patience=30)
    began = anyio.current_time()
    answered, events = await run(model, stream)
    check_run(events)
    assert anyio.current_time() - began == pytest.approx(30)
    assert answered.reason == "consumer_stalled"
    assert model.open == 0
    assert not any(isinstance(event, MessageEnd) for event in events)
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].reason == "consumer_stalled"
    assert [event.error_type for event in events if isinstance(event, Error)] == ["timeout"]
    assert "run r1: timeout: the reader of run r1 stood still" in caplog.text


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


@pytest.mark.parametrize("seconds", range(0, 16, 2))
async def test_a_run_that_is_stopped_leaves_nothing_open_wherever_the_model_was(seconds: int) -> None:
    model = Model([[*spoken("Half an answer"), *CALLING, *CALLED, *TALKING]], pace=1.0)
    stop = after(seconds + 0.5)
    began = anyio.current_time()
    answered, events = await run(model, stop=stop)
    check_run(events)
    assert anyio.current_time() - began == pytest.approx(seconds + 0.5)
    assert answered.reason == "error"
    assert answered.native is None
    assert model.open == 0
    assert [event.error_type for event in events if isinstance(event, Error)] == ["unknown"]
    assert events[-1] == AgentEnd(
        reason="error", final_response=answered.text, turn_count=1, message_count=1, usage=Usage()
    )
    assert answered.text == "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_tool_call_that_is_stopped_halfway_has_no_input() -> None:
    stop = after(4)
    _, events = await run(Model([[*CALLING, *CALLED]], pace=1.2), stop=stop)
    check_run(events)
    (ended,) = (event for event in events if isinstance(event, ToolUseEnd))
    assert (ended.input, ended.problem) == (None, "invalid_json")


async def test_a_run_that_was_stopped_before_it_began_ends_in_order() -> None:
    stop = Stop()
    stop("stopped")
    answered, events = await run(Model([whole("Hello.")]), stop=stop)
    check_run(events)
    assert answered == Answer(reason="stopped", text="", native=None)


async def test_an_answer_that_was_whole_when_it_was_stopped_stays_whole() -> None:
    stop = after(5)
    answered, events = await run(Model([whole("Hello.")], linger=50), stop=stop)
    check_run(events)
    assert answered == Answer(reason="complete", text="Hello.", native=native("Hello."))


async def test_why_a_run_was_stopped_is_logged_under_its_id(caplog: pytest.LogCaptureFixture) -> None:
    await run(Model([whole("Hello.")], pace=1.0), stop=after(2))
    assert "run r1: unknown: stopped before its end" in caplog.text


async def test_what_nobody_thought_of_passes_through_and_closes_the_stream() -> None:
    model, stream = Model([[*spoken("Half"), Bug("oops")]]), EventStream("r1")
    with pytest.raises(Bug):
        await answer(agent(model), ASKED, stream, stop=Stop())
    with anyio.fail_after(5):
        events = [envelope.event async for envelope in stream]
    assert not any(isinstance(event, AgentEnd) for event in events)
    assert model.open == 0


async def test_a_cancelled_run_closes_the_stream_and_the_connection() -> None:
    model, stream = Model([whole("word " * 100)], pace=1.0), EventStream("r1")
    with anyio.move_on_after(10) as scope:
        await answer(agent(model), ASKED, stream, stop=Stop())
    assert scope.cancelled_caught
    assert model.open == 0
    with anyio.fail_after(5):
        assert not [envelope async for envelope in stream if isinstance(envelope.event, AgentEnd)]


def test_every_reason_to_stop_has_an_end() -> None:
    assert set(loop.ENDS) == set(get_args(StopReason))
    assert set(loop.ENDS.values()) <= set(get_args(EndReason))
