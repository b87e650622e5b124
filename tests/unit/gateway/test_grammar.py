from collections.abc import Sequence
from typing import get_args

import pytest

from gateway.event import (
    AgentEnd,
    AgentStart,
    ApprovalRequested,
    ApprovalResolved,
    BlockType,
    ContentBlockEnd,
    ContentBlockStart,
    Error,
    Event,
    MessageDiscarded,
    MessageEnd,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolProgress,
    ToolResult,
    ToolStart,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.grammar import (
    BLOCK,
    CALL,
    OPENED,
    RUN,
    BlockState,
    CallState,
    Grammar,
    GrammarError,
    RunState,
    check_message,
    check_run,
)
from gateway.provider import Item, Native

AGENT_START = AgentStart(agent_id="a", model="m", input_length=1)
TURN_START = TurnStart(turn_number=1)
TURN_END = TurnEnd(turn_number=1, has_tool_calls=False)
AGENT_END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())
ERROR = Error(error_type="server", error_message="", retryable=True)
DISCARDED = MessageDiscarded(reason="retry")
NATIVE = Native(protocol="p", blocks=())


def opened(block: str, block_type: BlockType = "text") -> ContentBlockStart:
    return ContentBlockStart(block_id=block, block_type=block_type)


def closed(block: str, block_type: BlockType = "text") -> ContentBlockEnd:
    return ContentBlockEnd(block_id=block, block_type=block_type)


def said(block: str) -> TextDelta:
    return TextDelta(block_id=block, text="a")


def thought(block: str) -> ThinkingDelta:
    return ThinkingDelta(block_id=block, text="a")


def named(call: str) -> ToolUseStart:
    return ToolUseStart(block_id=f"b{call}", tool_use_id=call, tool_name="f")


def argued(call: str) -> ToolInputDelta:
    return ToolInputDelta(tool_use_id=call, json_delta="{}")


def written(call: str) -> ToolUseEnd:
    return ToolUseEnd(tool_use_id=call, input={})


def confirmed(call: str) -> ToolUseConfirmed:
    return ToolUseConfirmed(tool_use_id=call)


def asked(call: str, approval: str = "p") -> ApprovalRequested:
    return ApprovalRequested(approval_id=approval, tool_use_id=call, tool_name="f", input={})


def decided(call: str, approval: str = "p") -> ApprovalResolved:
    return ApprovalResolved(approval_id=approval, tool_use_id=call, decision="approved", by="u")


def begun(call: str) -> ToolStart:
    return ToolStart(tool_use_id=call, input={})


def progressed(call: str) -> ToolProgress:
    return ToolProgress(tool_use_id=call, message="half")


def answered(call: str) -> ToolResult:
    return ToolResult(tool_use_id=call, content="", content_length=0)


def ended(reason: StopReason = "end") -> MessageEnd:
    return MessageEnd(message_id="m", stop_reason=reason, usage=Usage())


def text(block: str) -> list[Event]:
    return [opened(block), said(block), said(block), closed(block)]


def call(name: str) -> list[Event]:
    block = f"b{name}"
    return [opened(block, "tool_use"), named(name), argued(name), written(name), closed(block, "tool_use")]


def run(*turn: Event) -> list[Event]:
    return [AGENT_START, TURN_START, *turn, TURN_END, AGENT_END]


LEGAL: dict[str, Sequence[Event]] = {
    "an empty message": [ended()],
    "text": [*text("b0"), ended()],
    "blocks that interleave": [
        opened("b0"),
        opened("b1", "thinking"),
        said("b0"),
        thought("b1"),
        said("b0"),
        closed("b0"),
        closed("b1", "thinking"),
        ended(),
    ],
    "a block of no kind we know": [opened("b0", "other"), closed("b0", "other"), ended()],
    "an error": [*text("b0"), ERROR],
    "an error first of all": [ERROR],
    "a call": [*call("1"), confirmed("1"), ended("tool_use"), begun("1"), progressed("1"), answered("1")],
    "a safe call that runs while the model talks": [
        *call("1"),
        begun("1"),
        confirmed("1"),
        *text("b2"),
        progressed("1"),
        answered("1"),
        ended("tool_use"),
    ],
    "a confirmation behind the result": [*call("1"), begun("1"), answered("1"), confirmed("1"), ended("tool_use")],
    "calls whose blocks interleave": [
        opened("b1", "tool_use"),
        named("1"),
        opened("b2", "tool_use"),
        named("2"),
        argued("1"),
        argued("2"),
        written("2"),
        closed("b2", "tool_use"),
        written("1"),
        closed("b1", "tool_use"),
        ended("tool_use"),
        begun("2"),
        begun("1"),
        answered("1"),
        answered("2"),
    ],
    "an approval": [*call("1"), ended("tool_use"), asked("1"), decided("1"), begun("1"), answered("1")],
    "a denial": [*call("1"), ended("tool_use"), asked("1"), decided("1"), answered("1")],
    "two approvals": [
        *call("1"),
        *call("2"),
        ended("tool_use"),
        asked("1"),
        asked("2", "q"),
        decided("2", "q"),
        decided("1"),
        answered("1"),
        answered("2"),
    ],
    "a cut call with an error result": [*call("1"), ended("max_tokens"), answered("1")],
    "a refused message without results": [*call("1"), ended("refusal")],
    "a broken message without results": [*call("1"), begun("1"), ERROR],
    "a retry": [*text("b0"), *call("1"), DISCARDED, *text("b0"), *call("1"), ended("tool_use"), answered("1")],
    "a retry at once": [DISCARDED, DISCARDED, ended()],
    "two turns": [
        *call("1"),
        ended("tool_use"),
        answered("1"),
        TURN_END,
        TURN_START,
        *call("1"),
        ended(),
        answered("1"),
    ],
}

ILLEGAL: dict[str, tuple[Sequence[Event], str]] = {
    "no start": ([TURN_START], "turn_start may not come here: the run is NEW"),
    "two starts": ([AGENT_START, AGENT_START], "agent_start .* the run is STARTED"),
    "no turn": ([AGENT_START, AGENT_END], "agent_end .* the run is STARTED"),
    "an event behind the end": ([*run(ended()), ERROR], "error .* the run is OVER"),
    "a second turn inside the first": ([AGENT_START, TURN_START, TURN_START], "turn_start .* SPEAKING"),
    "a turn without a message": (run(), "turn_end .* the run is SPEAKING"),
    "an end inside a turn": ([AGENT_START, TURN_START, ended(), AGENT_END], "agent_end .* SPOKEN"),
    "a message behind its end": (run(ended(), *text("b0")), "content_block_start .* SPOKEN"),
    "an error behind the end": (run(ended(), ERROR), "error .* SPOKEN"),
    "an end behind the error": (run(ERROR, ended()), "message_end .* FAILED"),
    "a block twice": (run(*text("b0"), opened("b0")), "there is a block b0 already"),
    "a delta without its block": (run(said("b0")), "there is no block b0"),
    "a delta behind its block": (run(*text("b0"), said("b0")), "block b0 is CLOSED"),
    "text in thinking": (run(opened("b0", "thinking"), said("b0")), "text_delta .* block b0 is THINKING"),
    "thinking in text": (run(opened("b0"), thought("b0")), "thinking_delta .* block b0 is TEXT"),
    "text in a block of no kind": (run(opened("b0", "other"), said("b0")), "block b0 is OTHER"),
    "a block that changes its type": (run(opened("b0"), closed("b0", "thinking")), "b0 is of another type"),
    "a block open at the end": (run(opened("b0"), ended()), "message_end .* block b0 is TEXT"),
    "a block open at the error": (run(opened("b0"), ERROR), "error .* block b0 is TEXT"),
    "a block open when discarded": (run(opened("b0"), DISCARDED), "message_discarded .* block b0 is TEXT"),
    "a call in text": (run(opened("b1"), named("1")), "tool_use_start .* block b1 is TEXT"),
    "two calls in a block": (
        run(opened("b1", "tool_use"), named("1"), ToolUseStart(block_id="b1", tool_use_id="2", tool_name="f")),
        "block b1 is INPUT",
    ),
    "a call's block without a call": (run(opened("b1", "tool_use"), closed("b1", "tool_use")), "b1 is TOOL_USE"),
    "a call's block without its end": (run(*call("1")[:3], closed("b1", "tool_use")), "block b1 is INPUT"),
    "a call twice": (run(*call("1"), opened("bx", "tool_use"), named("1")), "there is a call 1 already"),
    "input without a call": (run(argued("1")), "there is no call 1"),
    "input behind its end": (run(*call("1"), argued("1")), "call 1 is READY"),
    "an unfinished call confirmed": (run(*call("1")[:3], confirmed("1")), "call 1 is WRITING"),
    "a call confirmed twice": (run(*call("1"), confirmed("1"), confirmed("1")), "call 1 is confirmed"),
    "a call confirmed behind the message": (run(*call("1"), ended(), confirmed("1")), "tool_use_confirmed .* SPOKEN"),
    "no call confirmed": (run(confirmed("1")), "there is no call 1"),
    "an unfinished call started": (run(*call("1")[:3], begun("1")), "tool_start .* call 1 is WRITING"),
    "a tool without a call": (run(begun("1")), "there is no call 1"),
    "a tool started twice": (run(*call("1"), begun("1"), begun("1")), "call 1 is RUNNING"),
    "progress before the start": (run(*call("1"), progressed("1")), "call 1 is READY"),
    "progress behind the result": (run(*call("1"), answered("1"), progressed("1")), "call 1 is DONE"),
    "two results": (run(*call("1"), answered("1"), answered("1")), "call 1 is DONE"),
    "results out of order": (run(*call("1"), *call("2"), answered("2")), "the result of call 1 comes first"),
    "a result missing": (run(*call("1"), *call("2"), ended("tool_use"), answered("1")), "turn_end .* call 2 is READY"),
    "a cut call without a result": (run(*call("1"), ended("max_tokens")), "turn_end .* call 1 is READY"),
    "a result in a refused turn": (run(*call("1"), ended("refusal"), answered("1")), "tool_result .* FAILED"),
    "a result in a broken turn": (run(*call("1"), ERROR, answered("1")), "tool_result .* FAILED"),
    "an approval while the model talks": (run(*call("1"), asked("1")), "approval_requested .* SPEAKING"),
    "an approval that nobody asked for": (run(*call("1"), ended(), decided("1")), "call 1 is READY"),
    "an approval of another call's": (run(*call("1"), ended(), asked("1"), decided("1", "q")), "waits for approval p"),
    "a start while a person is asked": (run(*call("1"), ended(), asked("1"), begun("1")), "call 1 is ASKED"),
    "a result while a person is asked": (run(*call("1"), ended(), asked("1"), answered("1")), "call 1 is ASKED"),
    "an approval of a running call": (run(*call("1"), begun("1"), ended(), asked("1")), "call 1 is RUNNING"),
    "a retry behind a start": (run(*call("1"), begun("1"), DISCARDED), "message_discarded .* call 1 is RUNNING"),
    "a retry behind the message": (run(ended(), DISCARDED), "message_discarded .* SPOKEN"),
    "a call of the turn before": (
        run(*call("1"), ended(), answered("1"), TURN_END, TURN_START, begun("1")),
        "there is no call 1",
    ),
    "a call of a discarded message": (run(*call("1"), DISCARDED, confirmed("1")), "there is no call 1"),
    "a run without its end": (run(ended())[:-1], "end while the run is BETWEEN_TURNS"),
    "nothing": ([], "end while the run is NEW"),
}


@pytest.mark.parametrize("events", LEGAL.values(), ids=LEGAL.keys())
def test_a_legal_turn_is_taken(events: Sequence[Event]) -> None:
    check_run(run(*events))


@pytest.mark.parametrize(("events", "why"), ILLEGAL.values(), ids=ILLEGAL.keys())
def test_a_breach_is_named_with_the_event_and_the_state(events: Sequence[Event], why: str) -> None:
    with pytest.raises(GrammarError, match=why):
        check_run(events)


@pytest.mark.parametrize("items", [[ended()], [ERROR], [*text("b0"), NATIVE, ended()], [*call("1"), ERROR]])
def test_a_message_stands_for_itself(items: Sequence[Item]) -> None:
    check_message(items)


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([], "no end"),
        ([opened("b0"), said("b0")], "no end"),
        ([ended(), ERROR], "behind the end"),
        ([ended(), NATIVE], "behind the end"),
        ([NATIVE], "no end"),
        ([NATIVE, *text("b0"), ended()], "behind the native form"),
        ([NATIVE, NATIVE, ended()], "behind the native form"),
        ([NATIVE, ERROR], "behind the native form"),
        ([*text("b0"), said("b0"), ended()], "CLOSED"),
    ],
)
def test_a_message_that_is_none_is_refused(items: Sequence[Item], why: str) -> None:
    with pytest.raises(GrammarError, match=why):
        check_message(items)


def test_a_grammar_shows_where_the_run_stands() -> None:
    grammar = Grammar()
    seen: list[RunState] = [grammar.state]
    for event in run(ended("refusal")):
        grammar.feed(event)
        seen.append(grammar.state)
    assert [state.name for state in seen] == ["NEW", "STARTED", "SPEAKING", "FAILED", "BETWEEN_TURNS", "OVER"]


def test_the_tables_know_every_state_event_and_block_type() -> None:
    assert set(RUN) == set(RunState)
    assert set(BLOCK) == set(BlockState)
    assert set(CALL) == set(CallState)
    assert set(OPENED) == set(get_args(BlockType))
    assert {kind for moves in RUN.values() for kind in moves} == set(get_args(Event))
