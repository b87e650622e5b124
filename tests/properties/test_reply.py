"""The reply against a strict screen: whatever the platform does, the answer stands there whole, once, in order.

What must be seen is worked out from the words alone, by the chunker; of the reply it is only known what its shell
knows: operations, and the lines that were written down before it was thrown away.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chunker import Chunk, Chunker, split
from gateway import approval, journal, notice
from gateway.adapter import Capabilities, Reconciliation, Surface, Unit, UnknownOutcome
from gateway.address import Address
from gateway.event import (
    AgentEnd,
    AgentStart,
    ApprovalRequested,
    ApprovalResolved,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    ErrorType,
    Event,
    JsonObject,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ThinkingDelta,
    ToolErrorType,
    ToolProgress,
    ToolResult,
    ToolStart,
    ToolUseStart,
    TurnEnd,
    TurnStart,
    Usage,
)
from gateway.inbound import Ticket
from gateway.journal import Line
from gateway.need import Priority
from gateway.operation import DeleteMessage, EditMessage, PostMessage, ReadThread, StartStream, Unknown
from gateway.place import Place
from gateway.reply import DOUBTS, Reply
from tests.conftest import SOAK
from tests.properties.screen import BUDGETS, Fate, Screen, Shown, leaves_fence_open

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")
STEPS = 60

parts = st.one_of(
    st.sampled_from(
        [
            "Hello ",
            "world. ",
            "\n",
            "\n\n",
            "   ",
            "a b c d e f g h ",
            "word" * 40,
            "One sentence, and one more. " * 4,
            "- item\n",
            "é😀 ",
            "😀" * 30,
            "> quote\n",
        ]
    ),
    st.sampled_from(
        ["```python\n", "x = 1\n", "```\n", "`code` ", "**bold** ", "| a | b |\n", "|---|---|\n", "# Title\n"]
    ),
    st.text(max_size=20),
)
texts = st.lists(parts, min_size=1, max_size=6).map("".join)
quiet: st.SearchStrategy[Event] = st.sampled_from(
    [
        AgentStart(agent_id="a", model="m", input_length=1),
        ContentBlockStart(block_id="b0", block_type="text"),
        ContentBlockEnd(block_id="b0", block_type="text"),
        ThinkingDelta(block_id="b1", text="hm"),
        TurnEnd(turn_number=1, has_tool_calls=False),
    ]
)
DONE: Fate = "done"
fates = st.sampled_from((DONE, DONE, DONE, *(fate for fate in get_args(Fate) if fate != "forbidden")))


def told_of(line: str) -> int:
    """Of how many calls a line about tools tells."""
    rest = re.findall(r"(\d+) (?:more|tool)", line)
    return len(re.findall(r"`t\d+x*`", line)) + sum(map(int, rest))


class Words:
    """What the model said in one draft: stretches between the places where the row breaks, the last one open."""

    def __init__(self, runs: Sequence[str] = ("",)) -> None:
        self.runs = list(runs)

    def say(self, text: str) -> None:
        self.runs[-1] += text

    def end_run(self) -> None:
        self.runs.append("")

    @property
    def text(self) -> str:
        return "".join(self.runs)

    def retold(self, told: str, fixed: int) -> "Words":
        """As it is when it is told again in one go: the row breaks only where it did before what is fixed ends."""
        runs, at = list[str](), 0
        for run in self.runs[:-1]:
            if at + len(run) > fixed:
                break
            runs.append(run)
            at += len(run)
        return Words([*runs, told[at:], ""])

    def chunks(self, capabilities: Capabilities, *, ended: bool) -> list[Chunk]:
        """What the row shows of it. Where it was not ended, only what is whole of its last stretch."""
        chunker = Chunker(capabilities.bubble, unit=capabilities.unit)
        chunks: list[Chunk] = []
        for run in self.runs[:-1]:
            chunks += [*chunker.feed(run), *chunker.flush()]
        return [*chunks, *chunker.feed(self.runs[-1]), *(chunker.flush() if ended else ())]


def letters(texts: Sequence[str]) -> str:
    """What is left of texts however they are cut: a cut may drop white space, and repeat what opens a block."""
    return "".join(filter(str.isalnum, "".join(texts)))


Decision = Literal["approved", "denied", "expired", "withdrawn"]
DECISIONS: dict[Decision, str] = {
    "approved": "**Approved by `u1`.**",
    "denied": "**Denied by `u1`.** It was not run.",
    "expired": "**Expired:** nobody decided in time. It was not run.",
    "withdrawn": "**Withdrawn.** It was not run.",
}
"""What is said of each decision."""

OUTCOMES: dict[ToolErrorType | None, str] = {
    None: "It failed.",
    "timeout": "It took too long, and was ended.",
    "interrupted": "It was interrupted, and may have done what it does.",
}
INPUTS: list[JsonObject] = [{}, {"path": "a"}, {"n": [1, 2, 3], "text": "word " * 30}, {"code": "```\n`x`\n```"}]


@dataclass(slots=True, kw_only=True)
class Call:
    """A call of the model's, and what became of it so far; in ``draft`` it was made."""

    id: str
    name: str
    draft: int
    started: bool = False
    outcome: str = ""
    asked: ApprovalRequested | None = None
    resolved: ApprovalResolved | None = None

    @property
    def open(self) -> bool:
        return self.asked is not None and self.resolved is None


@dataclass(slots=True, kw_only=True)
class Turn:
    """A message of the model's and what came behind it, with the events that told of it.

    ``items``: the calls about which a person was asked, and the decisions, in order. ``fixed``: only so much of it is
    known, since it was cut short.
    """

    draft: int
    words: Words = field(default_factory=Words)
    events: list[Event] = field(default_factory=list[Event])
    items: list[tuple[Literal["question", "decision"], Call]] = field(
        default_factory=list[tuple[Literal["question", "decision"], Call]]
    )
    ended: bool = False
    short: list[str] | None = None


class ReplyOnScreen(RuleBasedStateMachine):
    """Text comes, tools work, people are asked, slots are granted, operations meet their fate, messages are deleted,
    the run waits, and the process dies.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Turn] = [Turn(draft=0)]
        self.void: list[Words] = []
        """What the words of this draft were before a message was discarded."""
        self.earlier: list[str] = []
        """What people have of a run that was forgotten, as it is cut for them."""
        self.sources: dict[int, str] = {}
        self.leftover: list[str] = []
        self.forgotten: list[Call] = []
        self.known: list[Call] = []
        """What may be left of earlier attempts."""
        self.calls: dict[str, Call] = {}
        self.number = 0
        self.error: ErrorType | None = None
        self.reason: EndReason | None = None
        self.lines: dict[int, str] = {}
        self.forbidden = self.denied = self.crashed = self.discarded = self.user_deleted = False
        self.doubts = self.doubts_now = 0

    @property
    def turn(self) -> Turn:
        return self.turns[-1]

    @property
    def words(self) -> Words:
        return self.turn.words

    @property
    def waiting(self) -> Call | None:
        """The call that waits for a person."""
        return next((call for call in self.calls.values() if call.open), None)

    def feed(self, event: Event) -> None:
        self.turn.events.append(event)
        self.reply.feed(event)

    @initialize(
        surface=st.sampled_from(["edit", "edit", "append", "post"]),
        unit=st.sampled_from(["cp", "utf16", "utf8"]),
        bubble=st.sampled_from([60, 200]),
        update=st.sampled_from([20, 800]),
        patience=st.sampled_from([50, 100, 10_000, 10_000, 10_000]),
        reconciliation=st.sampled_from(["read", "nonce", "none"]),
        unknown_outcome=st.sampled_from(["repeat", "skip"]),
        opened=st.sampled_from([False, False, True]),
        buttons=st.booleans(),
    )
    def begin(  # noqa: PLR0917 - hypothesis passes them by name
        self,
        surface: Surface,
        unit: Unit,
        bubble: int,
        update: int,
        patience: int,
        reconciliation: Reconciliation,
        unknown_outcome: UnknownOutcome,
        *,
        opened: bool,
        buttons: bool,
    ) -> None:
        self.capabilities = Capabilities(
            surface=surface,
            unit=unit,
            bubble=bubble,
            post=(),
            edit=(),
            update=update,
            reconciliation=reconciliation,
            unknown_outcome=unknown_outcome,
            buttons=buttons,
        )
        self.screen = Screen(self.capabilities, patience)
        self.ticket = Ticket(secret="s", lifetime=900.0, opening="@", guest=False) if opened else None
        if opened:
            self.screen.messages["@"] = Shown("", markup=True, nonce="")
        self.may_cut_again = patience < bubble
        self.reply = self.new_reply(0)

    # What the model and its tools do.

    @precondition(lambda self: self.reason is None and not self.turn.ended)
    @rule(text=texts, block=st.sampled_from(["b0", "b1"]))
    def say(self, text: str, block: str) -> None:
        self.words.say(text)
        self.feed(TextDelta(block_id=block, text=text))

    @precondition(lambda self: self.reason is None)
    @rule(event=quiet)
    def happen(self, event: Event) -> None:
        before = self.reply.need()
        self.reply.feed(event)
        assert self.reply.need() == before

    @precondition(lambda self: self.reason is None and not self.turn.ended)
    @rule()
    def end_message(self) -> None:
        self.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
        self.words.end_run()
        self.turn.ended = True

    @precondition(lambda self: self.reason is None and self.turn.ended and self.waiting is None)
    @rule()
    def begin_turn(self) -> None:
        self.turns.append(Turn(draft=self.turn.draft + 1))
        self.void = []
        self.feed(TurnStart(turn_number=self.turn.draft + 1))

    @precondition(lambda self: self.reason is None and not self.turn.ended)
    @rule(long=st.booleans())
    def call_tool(self, *, long: bool) -> None:
        self.number += 1
        call = Call(id=f"u{self.number}", name=f"t{self.number}" + "x" * 40 * long, draft=self.turn.draft)
        self.calls[call.id] = call
        self.feed(ToolUseStart(block_id="b2", tool_use_id=call.id, tool_name=call.name))
        self.words.end_run()

    @precondition(lambda self: self.reason is None and self.startable())
    @rule(data=st.data())
    def start_tool(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.startable()))
        call.started, call.outcome = True, "It was ended before it was done."
        self.feed(ToolStart(tool_use_id=call.id, input={}))

    @precondition(lambda self: self.reason is None and self.running())
    @rule(data=st.data(), done=st.booleans(), error=st.sampled_from(["", "", None, "timeout", "interrupted"]))
    def use_tool(self, data: st.DataObject, *, done: bool, error: ToolErrorType | Literal[""] | None) -> None:
        call = data.draw(st.sampled_from(self.running()))
        if done:
            self.return_result(call, "Done." if error == "" else OUTCOMES[error], error or None, failed=error != "")
        else:
            self.feed(ToolProgress(tool_use_id=call.id, message="page *2* of `three`", done=1, total=3))

    @precondition(lambda self: self.reason is None and self.turn.ended and not self.waiting and self.askable())
    @rule(data=st.data(), given=st.sampled_from(INPUTS), may_stand=st.booleans())
    def ask(self, data: st.DataObject, given: JsonObject, *, may_stand: bool) -> None:
        call = data.draw(st.sampled_from(self.askable()))
        call.asked = ApprovalRequested(
            approval_id=approval.identifier("s", call.id),
            tool_use_id=call.id,
            tool_name=call.name,
            input=given,
            may_stand=may_stand,
        )
        self.turn.items.append(("question", call))
        self.feed(call.asked)

    @precondition(lambda self: self.reason is None and not self.turn.ended)
    @rule(data=st.data(), long=st.booleans())
    def use_tool_at_once(self, data: st.DataObject, *, long: bool) -> None:
        self.call_tool(long=long)
        self.start_tool(data)

    @precondition(lambda self: self.reason is None and not self.waiting)
    @rule(data=st.data(), text=texts, given=st.sampled_from(INPUTS), may_stand=st.booleans())
    def ask_at_once(self, data: st.DataObject, text: str, given: JsonObject, *, may_stand: bool) -> None:
        if self.turn.ended:
            self.begin_turn()
        self.say(text, "b0")
        self.call_tool(long=False)
        self.end_message()
        self.ask(data, given, may_stand=may_stand)

    @precondition(lambda self: self.reason is None and self.waiting is not None)
    @rule(decision=st.sampled_from([*get_args(Decision), "approved"]))
    def decide(self, decision: Decision) -> None:
        call = self.waiting
        assert call is not None
        assert call.asked is not None
        call.resolved = ApprovalResolved(
            approval_id=call.asked.approval_id,
            tool_use_id=call.id,
            decision=decision,
            by="u1" if decision in {"approved", "denied"} else None,
        )
        self.turn.items.append(("decision", call))
        self.feed(call.resolved)
        if decision != "approved":
            self.return_result(call, "", "denied", failed=True)

    @precondition(
        lambda self: (
            self.reason is None
            and self.reply.overwritable
            and not self.turn.ended
            and not any(call.started for call in self.of_turn())
        )
    )
    @rule()
    def discard(self) -> None:
        self.reply.feed(MessageDiscarded(reason="overloaded"))
        self.void.append(self.words)
        for call in self.of_turn():
            del self.calls[call.id]
        self.turn.words, self.turn.events = Words(), self.turn.events[:1] if len(self.turns) > 1 else []
        self.discarded = True

    @precondition(lambda self: self.reason is None and self.waiting is not None and not self.running())
    @rule(
        fates=st.lists(fates, max_size=3), told=st.sampled_from([True, True, True, True, False]), merged=st.booleans()
    )
    def park(self, fates: Sequence[Fate], *, told: bool, merged: bool) -> None:
        """The run waits for a decision, and goes on in another reply."""
        left = list(fates)
        self.reply.rest()
        for _ in range(400 + 2 * sum(len(turn.words.text) for turn in self.turns)):
            if self.reply.done:
                break
            if self.screen.in_flight:
                self.settle(left.pop() if left else "done")
            else:
                self.grant_slot()
        assert self.reply.done, "it never rests"
        if self.reply.failure is None:
            self.screen.land()
            self.compare(rests=True)
            self.screen.drop(done=True)
            self.restart(told=told, merged=merged)

    def of_turn(self) -> list[Call]:
        return [call for call in self.calls.values() if call.draft == self.turn.draft]

    def startable(self) -> list[Call]:
        fresh = [call for call in self.of_turn() if not call.started and not call.outcome]
        return [call for call in fresh if call.asked is None or (call.resolved is not None and not call.open)]

    def running(self) -> list[Call]:
        return [call for call in self.calls.values() if call.started and call.outcome.startswith("It was ended before")]

    def askable(self) -> list[Call]:
        return [call for call in self.of_turn() if not call.started and call.asked is None]

    def return_result(self, call: Call, outcome: str, error_type: ToolErrorType | None, *, failed: bool) -> None:
        call.outcome = outcome or "It was not run."
        self.feed(ToolResult(tool_use_id=call.id, content="", content_length=0, is_error=failed, error_type=error_type))

    @precondition(lambda self: self.reason is None)
    @rule(
        reason=st.sampled_from([each for each in get_args(EndReason) if each != "stopped"]),
        error=st.sampled_from(get_args(ErrorType)),
    )
    def stop(self, reason: EndReason, error: ErrorType) -> None:
        self.end(reason, error if reason == "error" else None)

    # What the platform and the people on it do.

    @precondition(lambda self: self.screen.in_flight is None)
    @rule()
    def grant(self) -> None:
        self.grant_slot()

    @precondition(lambda self: self.reason is None)
    @rule()
    def catch_up(self) -> None:
        for _ in range(500):
            if self.screen.in_flight:
                self.settle("done")
            elif self.reply.need():
                self.grant_slot()
            else:
                self.compare_live()
                return
        msg = "it asks for slots without end"
        raise AssertionError(msg)

    @precondition(lambda self: self.screen.in_flight is not None)
    @rule(fate=fates)
    def meet(self, fate: Fate) -> None:
        self.settle(fate)

    @precondition(lambda self: self.screen.in_flight is not None)
    @rule()
    def lose_the_right_to_speak(self) -> None:
        if isinstance(self.screen.in_flight, ReadThread):
            self.denied = True
        elif isinstance(self.screen.in_flight, DeleteMessage):
            self.screen.messages[self.screen.in_flight.message_id].stays = True
        else:
            self.forbidden = True
        self.settle("forbidden")
        assert not self.forbidden or self.reply.failure == "channel_not_found"

    @precondition(lambda self: isinstance(self.screen.in_flight, EditMessage))
    @rule(more=texts)
    def overtake(self, more: str) -> None:
        """An edit arrives behind the next one, if ever."""
        self.settle("late")
        if self.reason is None and not self.turn.ended:
            self.say(more, "b0")
        self.grant_slot()
        if self.screen.in_flight is not None:
            self.settle("done")

    @rule()
    def land(self) -> None:
        self.screen.land()

    @precondition(lambda self: self.screen.visible())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.screen.visible())).deleted = True
        self.user_deleted = True

    @precondition(lambda self: self.reply.failure is None)
    @rule(
        when=st.sampled_from(["between", "before the operation", "before its outcome is stored"]),
        fate=fates,
        told=st.sampled_from([True, True, True, True, False]),
        merged=st.booleans(),
    )
    def crash(self, when: str, fate: Fate, *, told: bool, merged: bool) -> None:
        if when == "before the operation" and self.screen.in_flight is None:
            self.reply.next_operation()
        if when == "before its outcome is stored" and self.screen.in_flight is not None:
            self.reply.settle(self.screen.end(fate))
        self.screen.drop(done=fate == "done")
        self.restart(told=told, merged=merged)

    @invariant()
    def nothing_is_needed_while_something_is_in_flight(self) -> None:
        if self.screen.in_flight is not None:
            assert self.reply.need() is None
            assert self.reply.next_operation() is None
            assert not self.reply.done

    @invariant()
    def nothing_is_needed_once_it_is_done(self) -> None:
        if self.reply.done:
            assert self.reply.need() is None
            assert self.reply.next_operation() is None
            assert self.reason is not None or self.reply.failure is not None

    def teardown(self) -> None:
        if not hasattr(self, "reply"):
            return
        if self.reason is None:
            self.end("complete")
        said = [turn.words.text for turn in self.turns]
        for _ in range(900 + 2 * sum(map(len, (*said, *self.earlier)))):
            if self.reply.done:
                break
            if self.screen.in_flight:
                self.settle("done")
            else:
                self.grant_slot()
        assert self.reply.done, "it never ends"
        self.screen.land()
        if self.reply.failure is None:
            assert all(each.text or each.stays or not each.there for each in self.screen.messages.values()), "it waits"
            self.compare()

    # The shell.

    def new_reply(self, draft: int) -> Reply:
        return Reply(
            place=Place(address=ADDRESS, capabilities=self.capabilities, seed="s", ticket=self.ticket),
            run_id="r1",
            draft=draft,
            lines=[journal.from_json(line) for line in self.lines.values()],
        )

    def store(self) -> None:
        self.lines |= {number: journal.to_json(line) for number, line in self.reply.lines().items()}
        self.screen.learned.clear()
        assert not self.reply.lines()

    def grant_slot(self) -> None:
        need = self.reply.need()
        operation = self.reply.next_operation()
        if operation is None:
            assert self.reply.need() is None, "a slot was of no use, and yet it asks for another"
            return
        assert need is not None
        assert need.message_id == getattr(operation, "message_id", None)
        known = need.draws == BUDGETS[type(operation)]
        assert known or self.capabilities.reconciliation == "nonce"
        rare = need.priority in {Priority.FINAL, Priority.APPROVAL}
        assert rare or self.capabilities.surface != "post" or self.crashed
        if (below := getattr(operation, "buttons", ())) and self.waiting is not None:
            assert self.waiting.asked is not None
            asked = self.waiting.asked
            assert need.priority == Priority.APPROVAL or self.reason is not None
            assert below == approval.buttons(asked.approval_id, may_stand=asked.may_stand)
        else:
            assert not below, "buttons where nothing is to be decided"
        self.store()
        if need.rest:
            self.screen.rest()
        self.screen.begin(operation)

    def settle(self, fate: Fate) -> None:
        operation = self.screen.in_flight
        outcome = self.screen.end(fate)
        if isinstance(outcome, Unknown) and isinstance(operation, PostMessage | StartStream):
            self.doubts += 1
            self.doubts_now += 1
        self.reply.settle(outcome)
        self.store()
        if self.reply.failure is not None:
            hopeless = self.reply.failure.startswith("posted") and self.doubts_now >= DOUBTS
            tiny = self.may_cut_again and "characters as too long" in self.reply.failure
            assert self.forbidden or hopeless or tiny, self.reply.failure

    def end(self, reason: EndReason, error: ErrorType | None = None) -> None:
        self.reason, self.error = reason, error
        if error is not None:
            self.reply.feed(Error(error_type=error, error_message="secret", retryable=False))
        self.reply.feed(AgentEnd(reason=reason, final_response="", turn_count=1, message_count=1, usage=Usage()))
        self.words.end_run()
        self.turn.ended = True

    def restart(self, *, told: bool, merged: bool) -> None:
        """Go on from the lines. ``told``: what was finished is known, and told again, each message in one go or not."""
        self.crashed, self.doubts_now = True, 0
        lines = [journal.from_json(line) for line in self.lines.values()]
        sources = journal.drafts(lines)
        for draft, source in self.sources.items():
            assert sources.get(draft, "") == source, "words of an earlier draft were lost"
        for turn in self.turns:
            if turn.short is not None:
                assert sources.get(turn.draft, "") == turn.words.text, "words of a message cut short were lost"
        known = [turn for turn in self.turns if turn.ended]
        if told and all(turn.words.text.startswith(sources.get(turn.draft, "")) for turn in known):
            self.retell(sources, merged=merged)
        else:
            self.begin_anew(lines, sources)

    def retell(self, sources: dict[int, str], *, merged: bool) -> None:
        """All messages that had ended are told again; of one that had not, only that its tools had begun."""
        reason, error = self.reason, self.error
        self.reason = None
        again = self.turns
        if not self.turn.ended:
            self.break_off(sources.get(self.turn.draft, ""))
        self.void = []
        self.reply = self.new_reply(again[0].draft)
        for turn in again:
            fixed = len(sources.get(turn.draft, ""))
            for event in self.merged(turn) if merged and turn.short is None else turn.events:
                self.reply.feed(event)
            if merged and turn.short is None:
                turn.words = turn.words.retold(turn.words.text, fixed)
                turn.events = self.merged(turn)
        if reason is not None:
            self.end(reason, error)
        elif self.turn.short is not None:
            self.turns.append(Turn(draft=self.turn.draft + 1))
            self.feed(TurnStart(turn_number=self.turn.draft + 1))

    def merged(self, turn: Turn) -> list[Event]:
        """The events of a turn as somebody tells them who knows its text and its calls, but not which came first."""
        kinds = (TextDelta, ToolUseStart, MessageEnd)
        begins = [event for event in turn.events if isinstance(event, TurnStart)]
        calls = [event for event in turn.events if isinstance(event, ToolUseStart)]
        ends = [event for event in turn.events if isinstance(event, MessageEnd)]
        others = [event for event in turn.events if not isinstance(event, (*kinds, TurnStart))]
        text = "".join(event.text for event in turn.events if isinstance(event, TextDelta))
        told = [TextDelta(block_id="b0", text=text)] if text else []
        return [*begins, *told, *calls, *ends, *others]

    def break_off(self, fixed: str) -> None:
        """The message that was being written ends where the screen does, and a further one follows."""
        turn, self.discarded = self.turn, True
        tools = [
            event for event in turn.events if isinstance(event, ToolUseStart | ToolStart | ToolProgress | ToolResult)
        ]
        begins = [event for event in turn.events if isinstance(event, TurnStart)]
        for call in self.running():
            if call.draft == turn.draft:
                call.outcome = OUTCOMES["interrupted"]
                tools.append(
                    ToolResult(
                        tool_use_id=call.id, content="", content_length=0, is_error=True, error_type="interrupted"
                    )
                )
        for call in self.of_turn():
            if not call.started:
                del self.calls[call.id]
        turn.short = self.cut_short(fixed) if fixed.strip() else []
        turn.words = Words([fixed if fixed.strip() else "", ""])
        turn.events, turn.ended = [*begins, *tools], True

    def begin_anew(self, lines: Sequence[Line], sources: dict[int, str]) -> None:
        """Nothing is known of the run but what is fixed."""
        if self.reason is not None and self.capabilities.surface == "post":
            sentences = self.sentence(answered=True), notice.NO_ANSWER
            self.leftover += [text for sentence in sentences for text in self.notice(sentence)]
        for turn in self.turns:
            fixed = sources.get(turn.draft, "")
            if fixed.strip():
                self.earlier += turn.short or self.cut_short(fixed, turn)
                self.sources[turn.draft] = fixed
            self.leftover += [text for kind, call in turn.items for text in self.aside(kind, call)]
            self.known += [call for _, call in turn.items]
            if self.capabilities.surface == "post":
                self.forgotten += [call for kind, call in turn.items if kind == "question"]
        draft = journal.next_draft(lines)
        self.turns, self.void, self.calls = [Turn(draft=draft)], [], {}
        self.reason = self.error = None
        self.reply = self.new_reply(draft)
        self.feed(TurnStart(turn_number=draft + 1))

    def cut_short(self, fixed: str, turn: Turn | None = None) -> list[str]:
        """How what is fixed of a draft is cut: it was said like this, and it ends with a piece."""
        for words in ((turn or self.turn).words, *reversed(self.void)):
            for ended in (False, True):
                chunks = [each for each in words.chunks(self.capabilities, ended=ended) if each.end <= len(fixed)]
                if words.text.startswith(fixed) and chunks and chunks[-1].end == len(fixed):
                    return [chunk.text for chunk in chunks]
        msg = "what is fixed was never said, or is no row of pieces"
        raise AssertionError(msg)

    # What must be seen.

    def compare(self, *, rests: bool = False) -> None:
        visible = self.screen.visible()
        for shown in visible:
            assert not shown.streams or not shown.heard or shown.stays, "a stream was left open"
            raw = not shown.markup or shown.streams
            assert raw or not leaves_fence_open(shown.text), ("an open fence", shown.text)
        self.compare_doubts(visible)
        seen = [shown for shown in visible if shown.heard and not shown.stays]
        waiting = None if self.reason is not None else self.waiting
        for shown in seen:
            named = waiting is not None and waiting.asked is not None and waiting.asked.approval_id in shown.text
            assert not shown.buttons or (rests and named), "buttons where nothing is to be decided"
        assert self.reply.unasked <= ({waiting.asked.approval_id} if waiting and waiting.asked else set())
        assert not self.reply.unasked or self.may_cut_again, "nobody was asked"
        tools = [shown.text for shown in seen if shown.text.startswith(("_Used", "_Working"))]
        self.compare_tools(tools)
        self.compare_text([shown.text for shown in seen if shown.text not in tools])

    def compare_tools(self, lines: Sequence[str]) -> None:
        """Each call that began without being asked about is told of in one line."""
        begun = [call for call in self.calls.values() if call.started and call.asked is None]
        assert len(lines) <= len(begun), "a line too many"
        lost = any(shown.deleted or shown.fixed or shown.stays for shown in self.screen.messages.values())
        if self.capabilities.surface == "post":
            assert not lines
        elif not lost and not self.may_cut_again:
            assert sum(map(told_of, lines)) == len(begun), "a call that is told of twice, or not at all"
        assert all(line.startswith("_Used") for line in lines), "it says that it works on"

    def compare_live(self) -> None:
        """Where the model pauses, all that it said stands there, if it can stand there at all."""
        shy = self.capabilities.unknown_outcome == "skip" and self.capabilities.reconciliation == "none"
        fixed = any(shown.fixed or shown.overtaken is not None for shown in self.screen.messages.values())
        if self.capabilities.surface != "edit" or shy or fixed or self.may_cut_again or self.reply.failure is not None:
            return
        chunker = Chunker(self.capabilities.bubble, unit=self.capabilities.unit)
        chunker.feed(self.words.runs[-1])
        live = chunker.preview()
        assert not live or any(live == shown.text for shown in self.screen.messages.values()), "behind, and content"

    def compare_text(self, seen: list[str]) -> None:
        repeat, missing = self.notice(notice.MAY_BE_A_REPEAT), self.notice(notice.MAY_BE_MISSING)
        moved = any(shown.fixed or shown.stays for shown in self.screen.messages.values())
        deleted = [shown.meant for shown in self.screen.messages.values() if shown.deleted or shown.stays]
        expected = [*self.earlier, *self.expected([*seen, *deleted], moved=moved)]
        answered = any(turn.words.text.strip() for turn in self.turns) or bool(self.earlier)
        expected += self.notice(self.sentence(answered=answered)) if self.reason is not None else []
        if self.may_cut_again:
            about = [item for turn in self.turns for item in turn.items]
            beside = [text for kind, call in about for text in self.aside(kind, call)]
            self.compare_letters(seen, [text for text in expected if isinstance(text, str) and text not in beside])
            return
        # A stray message for which a line stands that a part may be missing may have been deleted, too.
        beside = [*repeat, *self.leftover, *(missing if self.user_deleted else ())]
        beside += [text for text in seen for call in self.calls.values() if moved and self.tells(call, text)]
        beside += [text for text in seen for call in self.forgotten if self.is_about(call, text)]
        # Texts may be alike, so all places are followed up to which what is seen can be what was said so far.
        places, lost_mark = {0}, any(part in deleted for part in missing)
        for item in expected:
            places = self.behind(places, seen, beside)
            unseen = places if any(self.is_about(item, text) for text in deleted) or lost_mark else set[int]()
            shown = {at + 1 for at in places if at < len(seen) and self.tells(item, seen[at])}
            marked = {at + 1 for at in places if at < len(seen) and seen[at] in missing and isinstance(item, str)}
            places = unseen | shown | self.behind(marked, seen, missing)
            assert places, ("neither seen nor accounted for", item, seen)
        assert len(seen) in self.behind(places, seen, beside), ("more than the answer", seen)

    def expected(self, seen: Sequence[str], *, moved: bool) -> Iterator[str | Call]:
        """What stands there of the run, in order. A question that was ``moved`` may stand anywhere behind its place."""
        for turn in self.turns:
            words = turn.words.chunks(self.capabilities, ended=True)
            yield from [chunk.text for chunk in words] if turn.short is None else turn.short
            for kind, call in turn.items:
                whole = any(self.is_about(call, text) and "```" in text for text in seen)
                notices = self.aside(kind, call)
                yield from [] if kind == "question" and whole else notices
                if kind == "question" and not moved:
                    yield call

    def aside(self, kind: str, call: Call) -> list[str]:
        """What is said beside a question: its input, where it has no room in it, or the decision."""
        assert call.asked is not None
        if kind == "decision":
            assert call.resolved is not None
            told = f"(`{call.name}`: {DECISIONS[call.resolved.decision]})"
            return self.notice(told) if self.capabilities.surface == "post" else []
        shown = json.dumps(call.asked.input, indent=2)
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])
        return self.notice(f"`{call.name}` is to run with this input:\n\n{fence}json\n{shown}\n{fence}")

    def is_about(self, call: str | Call, text: str) -> bool:
        """Whether a text is what the message about a call, or with those words, had to show at some time."""
        if isinstance(call, str):
            return text == call
        asked = call.asked is not None and text.startswith("**Allow ") and call.asked.approval_id in text
        return asked or text.startswith(f"I asked to run `{call.name}`") or self.tells(call, text)

    def tells(self, call: str | Call, text: str) -> bool:
        """Whether a text is what the message about a call, or with those words, has to show by now."""
        if isinstance(call, str):
            return text == call
        if call.asked is None or text in self.aside("question", call):
            return False
        given, whole = json.dumps(call.asked.input, indent=2), "json\n" in text
        if (call.open and self.reason is None) or self.capabilities.surface == "post":
            asks = f"approve {call.asked.approval_id}` or `" in text and f"deny {call.asked.approval_id}`" in text
            return asks and text.startswith("**Allow ") and (not whole or given in text)
        decision = DECISIONS["withdrawn" if call.resolved is None else call.resolved.decision]
        approved = call.resolved is not None and call.resolved.decision == "approved"
        ended = not approved or call.outcome in text or self.capabilities.bubble < 100
        return decision in text and ended and (not whole or given in text)

    def behind(self, places: set[int], seen: list[str], those: Sequence[str]) -> set[int]:
        """The places, and all that come behind them where nothing but some texts stands between."""
        found = set(places)
        for at, text in enumerate(seen):
            if at in found and text in those:
                found.add(at + 1)
        return found

    def compare_letters(self, seen: list[str], expected: list[str]) -> None:
        whole = self.capabilities.unknown_outcome == "repeat" or self.capabilities.reconciliation != "none"
        if whole and not self.denied and not self.user_deleted:
            rest = iter(letters(seen))
            assert all(letter in rest for letter in letters(expected)), "something is missing, or out of order"

    def compare_doubts(self, visible: Sequence[Shown]) -> None:
        """What stands there beside the answer was in doubt, and a line says so; our own words need none."""
        marks = [*self.notice(notice.MAY_BE_A_REPEAT), *self.notice(notice.MAY_BE_MISSING)]
        known = self.capabilities.reconciliation != "none" and not self.denied
        stray = [shown for shown in visible if not shown.heard]
        if known and not self.may_cut_again:
            assert not stray, "a message too many"
            left = any(shown.stays or shown.fixed for shown in self.screen.messages.values())
            assert left or not any(shown.text in marks for shown in visible), "a doubt where there is none"
        words = [shown for shown in stray if not self.ours(shown.text)]
        if words and not self.may_cut_again:
            assert any(shown.text in marks for shown in self.screen.messages.values()), "a doubt that nothing marks"
        if self.crashed or self.discarded or self.user_deleted or self.may_cut_again:
            return
        order = [shown for shown in visible if shown.heard]
        for each in words:
            behind = [shown for shown in order if visible.index(shown) > visible.index(each)]
            assert behind, "a doubt with nothing behind it"
            assert behind[0].text in marks, "a doubt that nothing marks"

    def ours(self, text: str) -> bool:
        """Whether it is a sentence of ours, or how a stream of one begins."""
        own = (notice.MAY_BE_A_REPEAT, notice.MAY_BE_MISSING, notice.NO_ANSWER, *notice.ENDINGS.values())
        sentences = [*own, *notice.FAILURES.values()]
        sentences += [f"{sentence} Reference: r1)" for sentence in sentences if not sentence.endswith(")")]
        about = [("question", call) for call in (*self.calls.values(), *self.known) if call.asked is not None]
        about += [("decision", call) for _, call in about if call.resolved is not None]
        beside = [part for kind, call in about for part in self.aside(kind, call)]
        return text.startswith(("_Used", "_Working", *beside)) or any(
            chunk.startswith(text) for each in sentences for chunk in self.notice(each)
        )

    def notice(self, sentence: str) -> list[str]:
        return [chunk.text for chunk in split(sentence, self.capabilities.bubble, unit=self.capabilities.unit)]

    def sentence(self, *, answered: bool) -> str:
        reason: EndReason | Literal["complete"] = self.reason or "complete"
        if reason == "complete":
            return "" if answered else notice.NO_ANSWER
        sentence = notice.FAILURES[self.error] if reason == "error" and self.error else notice.ENDINGS[reason]
        return sentence if sentence.endswith(")") else f"{sentence} Reference: r1)"


@pytest.mark.parametrize("part", range(SOAK * 10 or 1))
def test_the_answer_stands_there_whole_once_in_order_whatever_the_platform_does(part: int) -> None:
    """A thousand schedules: always the same ones where nobody soaks, so that no commit fails for another's fault."""
    assert part >= 0
    many = settings(max_examples=1_000, stateful_step_count=STEPS, derandomize=not SOAK)
    run_state_machine_as_test(ReplyOnScreen, settings=many)
