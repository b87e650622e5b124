"""The schedule in a world of calls, people, failures and crashes, judged by the table and the sentences themselves.

The judge knows facts only: what the world told the schedule, and which acts it was given. After a crash a new schedule
is made of what an executor has written down by then; the facts stay.
"""

from dataclasses import dataclass, field
from typing import get_args

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

from gateway.event import StopReason, ToolErrorType
from gateway.schedule import Act, Ask, Cancel, Past, Schedule, Settle, Start, Tell, Withdraw
from gateway.store import ApprovalState
from gateway.toolset import Refusal, Traits
from tests.conftest import SOAK

STEPS = 60
CUTS = ("max_tokens", "context_window")
REFUSED = Refusal(error_type="invalid_input", content="No.")

traits = st.builds(Traits, safe=st.booleans(), asks=st.sampled_from([False, False, True]), cascades=st.booleans())
verdicts = st.one_of(traits, traits, traits, st.just(REFUSED))
REASONS: tuple[StopReason, ...] = get_args(StopReason)
endings = st.sampled_from(("tool_use",) * 5 + ("end",) * 2 + REASONS)
choices = st.integers(0, 1_000)


@dataclass
class Fact:
    """What is known of a call."""

    number: int
    verdict: Traits | Refusal | None = None
    confirmed: bool = False
    approval: ApprovalState | None = None
    starts: int = 0
    running: bool = False
    cancelled: bool = False
    lost: bool = False
    """It was running when the process died."""
    result: bool = False
    error: ToolErrorType | None = None
    told: bool = False

    @property
    def name(self) -> str:
        return f"call{self.number}"

    @property
    def traits(self) -> Traits:
        return self.verdict if isinstance(self.verdict, Traits) else Traits()

    @property
    def decides(self) -> bool:
        """A person has still to be asked, or has been and has not decided."""
        return (self.traits.asks and self.approval is None) or self.approval == "open"

    @property
    def failed(self) -> bool:
        """It counts as a failure for its kin."""
        if not self.traits.cascades:
            return False
        unwanted = self.approval in {"denied", "expired", "withdrawn"} and not self.starts
        return unwanted or self.lost or (self.result and self.error == "failed")


@dataclass
class World:
    """One message's calls."""

    limit: int
    calls: list[Fact] = field(default_factory=list[Fact])
    ended: StopReason | None = None
    failed: bool = False
    stopped: bool = False

    @property
    def void(self) -> bool:
        return self.failed or self.ended == "refusal"

    @property
    def cut(self) -> bool:
        return self.ended in CUTS

    @property
    def busy(self) -> list[Fact]:
        return [call for call in self.calls if call.running]

    def kin_failed(self, call: Fact) -> bool:
        return call.traits.cascades and any(each.failed for each in self.calls[: call.number])

    def vouched(self, call: Fact) -> bool:
        return call.confirmed or self.ended in {"tool_use", "end"}

    def dead(self, call: Fact) -> set[ToolErrorType]:
        """Why it may not start (any more), by the errors that can say so."""
        why: set[ToolErrorType] = set()
        if isinstance(call.verdict, Refusal):
            why.add(call.verdict.error_type)
        if call.approval in ("denied", "expired", "withdrawn"):
            why.add(call.approval)
        if self.kin_failed(call):
            why |= {"cancelled", "withdrawn"}
        if self.stopped:
            why.add("cancelled")
        if self.cut or (self.ended is not None and not self.vouched(call) and not call.traits.safe):
            why.add("cut")
        if call.lost:
            why.add("interrupted")
        return why

    def over(self, call: Fact) -> bool:
        if call.result:
            return True
        return not call.running and call.approval != "open" and call.verdict is not None and bool(self.dead(call))

    def may_start(self, call: Fact) -> bool:
        """The table, read for one call."""
        if call.verdict is None or call.starts or call.result or self.void or self.dead(call) or call.decides:
            return False
        before = [each for each in self.calls[: call.number] if not self.over(each)]
        if any(each.decides for each in before) and (call.traits.cascades or not call.traits.safe):
            return False
        if not call.traits.safe:
            return self.vouched(call) and not before and not self.busy
        held = any(each.verdict is None or not (each.traits.safe or each.decides) for each in before)
        return not held and len(self.busy) < self.limit

    def may_ask(self, call: Fact) -> bool:
        if self.ended is None or self.void or any(each.approval == "open" for each in self.calls):
            return False
        wanting = [each for each in self.calls if each.traits.asks and each.approval is None and not self.over(each)]
        return wanting[:1] == [call] and not call.starts

    def must_end(self, call: Fact) -> bool:
        return call.running and (self.void or bool(self.dead(call)))


class Scheduling(RuleBasedStateMachine):
    """One message after the other, each with its calls."""

    world: World
    schedule: Schedule

    @initialize(limit=st.sampled_from([1, 2, 5]))
    def begin(self, limit: int) -> None:
        self.world = World(limit=limit)
        self.schedule = Schedule(limit=limit)

    # What the model says.

    @precondition(lambda self: self._speaking() and len(self.world.calls) < 12)
    @rule(verdict=verdicts, whole=st.sampled_from([True, True, True, False]), confirmed=st.booleans())
    def write(self, verdict: Traits | Refusal, whole: bool, confirmed: bool) -> None:
        call = Fact(number=len(self.world.calls))
        self.world.calls.append(call)
        self.schedule.open(call.name)
        if whole:
            self._judge(call, verdict, confirmed=confirmed)

    @precondition(lambda self: self._speaking() and any(call.verdict is None for call in self.world.calls))
    @rule(choice=choices, verdict=verdicts)
    def write_on(self, choice: int, verdict: Traits | Refusal) -> None:
        self._judge(self._one(choice, [call for call in self.world.calls if call.verdict is None]), verdict)

    @precondition(lambda self: self._speaking() and any(self._confirmable(call) for call in self.world.calls))
    @rule(choice=choices)
    def confirm(self, choice: int) -> None:
        call = self._one(choice, [call for call in self.world.calls if self._confirmable(call)])
        call.confirmed = True
        self.schedule.confirm(call.name)

    @precondition(lambda self: self._speaking() and self.world.calls)
    @rule(reason=endings, verdict=verdicts)
    def end(self, reason: StopReason, verdict: Traits | Refusal) -> None:
        for call in self.world.calls:
            if call.verdict is None:
                self._judge(call, verdict)
        self.world.ended = reason
        self.schedule.end(reason)

    @precondition(lambda self: self._speaking() and len(self.world.calls) > 3)
    @rule(really=st.sampled_from([True, False, False]))
    def fail(self, really: bool) -> None:
        if really:
            self.world.failed = True
            self.schedule.fail()

    # What tools and people do.

    @precondition(lambda self: self._under_way() and self.world.busy)
    @rule(choice=choices, well=st.sampled_from([True, True, False]))
    def finish(self, choice: int, well: bool) -> None:
        call = self._one(choice, self.world.busy)
        call.running, call.result = False, True
        failed = not well and not call.cancelled
        call.error = "failed" if failed else "cancelled" if call.cancelled and not well else None
        self.schedule.finish(call.name, failed=failed)

    @precondition(lambda self: self._under_way() and any(call.approval for call in self.world.calls))
    @rule(choice=choices, decision=st.sampled_from(["approved", "approved", "denied", "expired", "withdrawn"]))
    def decide(self, choice: int, decision: ApprovalState) -> None:
        """Also where it is decided already: then nothing may come of it."""
        asked = [call for call in self.world.calls if call.approval]
        call = self._one(choice, [each for each in asked if each.approval == "open"] or asked)
        withdrawn = bool(self.world.dead(call))
        self.schedule.decide(call.name, decision)
        if call.approval == "open" and not withdrawn:
            call.approval = decision

    @precondition(lambda self: self._under_way() and len(self.world.calls) > 2)
    @rule(really=st.sampled_from([True, False, False, False]))
    def stop(self, really: bool) -> None:
        if really:
            self.world.stopped = True
            self.schedule.stop()

    # What the executor does.

    @precondition(lambda self: self._under_way())
    @rule(acts=st.sampled_from([1, 1, 2, 1_000, 1_000, 1_000]))
    def work(self, acts: int) -> None:
        """Do some of what is to be done, or all of it."""
        for _ in range(acts):
            act = self.schedule.next()
            if act is None:
                self._quiet()
                return
            self._judge_act(act)

    @precondition(lambda self: self._under_way() and self.world.ended and not self.world.void)
    @rule(others=st.lists(st.sampled_from([None, None, None, "granted", "refused"]), min_size=12, max_size=12))
    def crash(self, others: list[str | None]) -> None:
        """Only what was written down is left; what holds for a call may be another thing now."""
        assert self.world.ended
        self.schedule = Schedule(limit=self.world.limit)
        for call, other in zip(self.world.calls, others, strict=False):
            call.lost = call.lost or call.running
            call.running = call.told = call.cancelled = False
            if not call.starts and not call.result and isinstance(call.verdict, Traits):
                if other == "granted" and call.approval is None:
                    call.verdict = Traits(safe=call.verdict.safe, cascades=call.verdict.cascades)
                elif other == "refused":
                    call.verdict = REFUSED
            assert call.verdict is not None
            call.confirmed = call.approval is not None
            past = Past(started=call.starts > 0, returned=call.result, error_type=call.error, approval=call.approval)
            self.schedule.resume(call.name, call.verdict, past)
        self.schedule.end(self.world.ended)
        if self.world.stopped:
            self.schedule.stop()

    @precondition(lambda self: not self._under_way())
    @rule()
    def next_message(self) -> None:
        self.begin(self.world.limit)

    # What holds always.

    @invariant()
    def never_too_many_and_nothing_beside_an_exclusive_call(self) -> None:
        busy = self.world.busy if hasattr(self, "world") else []
        assert len(busy) <= (self.world.limit if busy else 0)
        assert len(busy) < 2 or all(call.traits.safe for call in busy)

    @invariant()
    def one_approval_is_open_at_a_time_and_nothing_starts_twice(self) -> None:
        calls = self.world.calls if hasattr(self, "world") else []
        assert sum(call.approval == "open" for call in calls) <= 1
        assert all(call.starts <= 1 for call in calls)

    def teardown(self) -> None:
        """Whatever happened: when tools end, and people decide, the message comes to its end."""
        if not hasattr(self, "world") or not self._under_way():
            return
        if self._speaking():
            self.end("tool_use", REFUSED)
        for _ in range(100):
            self.work(1_000)
            if not self._under_way():
                return
            if self.world.busy:
                self.finish(0, well=True)
            else:
                self.decide(0, "approved")
        pytest.fail("a hundred steps brought the message to no end")

    def _judge_act(self, act: Act) -> None:
        call = self.world.calls[int(act.call.removeprefix("call"))]
        dead = self.world.dead(call)
        match act:
            case Start():
                assert self.world.may_start(call)
                call.starts += 1
                call.running = True
            case Ask():
                assert self.world.may_ask(call)
                call.approval = "open"
            case Cancel():
                assert self.world.must_end(call)
                assert not call.cancelled
                assert act.result.error_type in dead if act.result else self.world.void
                call.cancelled = True
            case Withdraw():
                assert call.approval == "open"
                assert dead
                call.approval = "withdrawn"
            case Settle():
                assert self.world.over(call)
                assert not call.result
                assert self.world.ended
                assert not self.world.void
                assert act.result.error_type in dead
                if call.lost:
                    assert act.result.error_type == "interrupted"
                elif self.world.cut and not self.world.stopped:
                    assert act.result.error_type == "cut"
                call.result, call.error = True, act.result.error_type
            case Tell():
                assert call.result
                assert not call.told
                assert not self.world.void
                assert all(each.told for each in self.world.calls[: call.number])
                assert self.world.ended or call.starts
                call.told = True

    def _quiet(self) -> None:
        """Nothing is to be done: then nothing may be left that could be."""
        world = self.world
        for call in world.calls:
            assert not world.may_start(call), "held back without a reason"
            assert not world.may_ask(call), "not asked for"
            assert not world.must_end(call) or call.cancelled, "not cancelled"
        if world.void:
            assert self.schedule.done == (not world.busy)
            return
        told = [call.told for call in world.calls]
        assert all(call.told for call in world.calls if call.result and all(told[: call.number]) and world.ended)
        open_ = any(call.approval == "open" for call in world.calls)
        assert self.schedule.done == (world.ended is not None and all(told))
        assert self.schedule.waiting == (open_ and not world.busy)
        if world.ended and not all(told):
            assert world.busy or open_, "nothing goes on, and nobody is waited for"

    def _judge(self, call: Fact, verdict: Traits | Refusal, *, confirmed: bool = False) -> None:
        call.verdict = verdict
        self.schedule.judge(call.name, verdict)
        if confirmed:
            call.confirmed = True
            self.schedule.confirm(call.name)

    def _confirmable(self, call: Fact) -> bool:
        return call.verdict is not None and not call.confirmed

    def _speaking(self) -> bool:
        return self.world.ended is None and not self.world.failed

    def _under_way(self) -> bool:
        return not self.schedule.done

    def _one(self, choice: int, calls: list[Fact]) -> Fact:
        return calls[choice % len(calls)]


@pytest.mark.parametrize("part", range(SOAK * 10 or 1))
def test_calls_run_as_the_table_says_whatever_happens(part: int) -> None:
    """The ordinary run plays the same 1,000 each time; the soak as many random ones in each of its parts."""
    del part
    many = settings(max_examples=1_000, stateful_step_count=STEPS, derandomize=not SOAK)
    run_state_machine_as_test(Scheduling, settings=many)
