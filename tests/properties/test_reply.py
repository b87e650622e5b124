"""The reply against a strict screen: whatever the platform does, the answer stands there whole, once, in order.

What must be seen is worked out from the words alone, by the chunker; of the reply it is only known what its shell
knows: operations, and the lines that were written down before it was thrown away.
"""

from collections.abc import Sequence
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
from gateway import journal, notice
from gateway.adapter import Capabilities, Reconciliation, Surface, Unit, UnknownOutcome
from gateway.address import Address
from gateway.event import (
    AgentEnd,
    AgentStart,
    ContentBlockEnd,
    ContentBlockStart,
    EndReason,
    Error,
    ErrorType,
    Event,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ThinkingDelta,
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

    def kept(self, runs: int) -> "Words":
        """The first stretches, and an open one behind them."""
        return Words([*self.runs[:runs], ""])

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


class ReplyOnScreen(RuleBasedStateMachine):
    """Text comes, slots are granted, operations meet their fate, people delete messages and the process dies."""

    def __init__(self) -> None:
        super().__init__()
        self.draft: int = 0
        self.words: Words = Words()
        self.void: list[Words] = []
        """What the words of this draft were before a message was discarded."""
        self.earlier: list[str] = []
        """What people have of the drafts that were cut short, as it is cut for them."""
        self.sources: dict[int, str] = {}
        self.endings: list[str] = []
        """What may be left of the ends of earlier attempts, where nothing can be overwritten."""
        self.turn = 0
        self.finished = 0
        """How many stretches belong to messages that ended."""
        self.calls: list[str] = []
        self.started: list[str] = []
        self.error: ErrorType | None = None
        self.reason: EndReason | None = None
        self.lines: dict[int, str] = {}
        self.forbidden = self.denied = self.crashed = self.discarded = self.user_deleted = False
        self.doubts = self.doubts_now = 0
        self.worked = False

    @initialize(
        surface=st.sampled_from(["edit", "edit", "append", "post"]),
        unit=st.sampled_from(["cp", "utf16", "utf8"]),
        bubble=st.sampled_from([60, 200]),
        update=st.sampled_from([20, 800]),
        patience=st.sampled_from([50, 100, 10_000, 10_000, 10_000]),
        reconciliation=st.sampled_from(["read", "nonce", "none"]),
        unknown_outcome=st.sampled_from(["repeat", "skip"]),
        opened=st.sampled_from([False, False, True]),
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
        )
        self.screen = Screen(self.capabilities, patience)
        self.ticket = Ticket(secret="s", lifetime=900.0, opening="@", guest=False) if opened else None
        if opened:
            self.screen.messages["@"] = Shown("", markup=True, nonce="")
        self.may_cut_again = patience < bubble
        self.reply = self.new_reply()

    # What the model and its tools do.

    @precondition(lambda self: self.reason is None)
    @rule(text=texts, block=st.sampled_from(["b0", "b1"]))
    def say(self, text: str, block: str) -> None:
        self.words.say(text)
        self.reply.feed(TextDelta(block_id=block, text=text))

    @precondition(lambda self: self.reason is None)
    @rule(event=quiet)
    def happen(self, event: Event) -> None:
        before = self.reply.need()
        self.reply.feed(event)
        assert self.reply.need() == before

    @precondition(lambda self: self.reason is None)
    @rule()
    def end_message(self) -> None:
        self.reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
        self.words.end_run()
        self.finished = len(self.words.runs) - 1

    @precondition(lambda self: self.reason is None and not self.words.runs[-1])
    @rule()
    def begin_turn(self) -> None:
        self.reply.feed(TurnStart(turn_number=1))
        self.turn = len(self.words.runs) - 1
        self.started = []

    @precondition(lambda self: self.reason is None)
    @rule(name=st.sampled_from(["search", "x" * 70]))
    def call_tool(self, name: str) -> None:
        self.calls.append(f"u{len(self.calls)}")
        self.reply.feed(ToolUseStart(block_id="b2", tool_use_id=self.calls[-1], tool_name=name))
        self.words.end_run()

    @precondition(lambda self: self.reason is None and self.calls)
    @rule(data=st.data())
    def start_tool(self, data: st.DataObject) -> None:
        self.started.append(data.draw(st.sampled_from(self.calls)))
        self.worked = True
        self.reply.feed(ToolStart(tool_use_id=self.started[-1], input={}))

    @precondition(lambda self: self.reason is None and self.started)
    @rule(data=st.data(), done=st.booleans())
    def use_tool(self, data: st.DataObject, *, done: bool) -> None:
        call = data.draw(st.sampled_from(self.started))
        if done:
            self.reply.feed(ToolResult(tool_use_id=call, content="", content_length=0, is_error=False, error_type=None))
        else:
            self.reply.feed(ToolProgress(tool_use_id=call, message="page *2* of `three`", done=1, total=3))

    @precondition(lambda self: self.reason is None and self.reply.overwritable and not self.started)
    @rule()
    def discard(self) -> None:
        self.reply.feed(MessageDiscarded(reason="overloaded"))
        self.void.append(self.words)
        self.words = self.words.kept(self.turn)
        self.finished = min(self.finished, self.turn)
        self.discarded = True

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
        if self.reason is None:
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
        told=st.booleans(),
    )
    def crash(self, when: str, fate: Fate, *, told: bool) -> None:
        if when == "before the operation" and self.screen.in_flight is None:
            self.reply.next_operation()
        if when == "before its outcome is stored" and self.screen.in_flight is not None:
            self.reply.settle(self.screen.end(fate))
        self.screen.drop(done=fate == "done")
        self.restart(told=told)

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
        for _ in range(400 + 2 * sum(map(len, (self.words.text, *self.earlier)))):
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

    def new_reply(self) -> Reply:
        return Reply(
            place=Place(address=ADDRESS, capabilities=self.capabilities, seed="s", ticket=self.ticket),
            run_id="r1",
            draft=self.draft,
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
        assert need.priority == Priority.FINAL or self.capabilities.surface != "post" or self.crashed
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
        self.finished = len(self.words.runs) - 1

    def restart(self, *, told: bool) -> None:
        """Go on from the lines. ``told``: the model's messages so far are known, and told again where that is right."""
        self.crashed, self.doubts_now, self.worked = True, 0, False
        self.calls, self.started = [], []
        lines = [journal.from_json(line) for line in self.lines.values()]
        sources = journal.drafts(lines)
        for draft, source in self.sources.items():
            assert sources.get(draft, "") == source, "words of an earlier draft were lost"
        finished = "".join(self.words.runs[: self.finished])
        fixed = sources.get(self.draft, "")
        if told and finished.startswith(fixed):
            self.retell(finished, len(fixed))
        else:
            self.begin_anew(lines, fixed)

    def retell(self, finished: str, fixed: int) -> None:
        ended, error = self.reason, self.error
        ended = ended if self.finished == len(self.words.runs) - 1 else None
        self.words = self.words.kept(self.finished).retold(finished, fixed)
        self.void, self.finished, self.turn = [], len(self.words.runs) - 1, len(self.words.runs) - 1
        self.reply = self.new_reply()
        if finished:
            self.reply.feed(TextDelta(block_id="b0", text=finished))
        self.reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
        self.reply.feed(TurnStart(turn_number=2))
        self.reason = None
        if ended is not None:
            self.end(ended, error)

    def begin_anew(self, lines: Sequence[Line], fixed: str) -> None:
        if self.reason is not None and self.capabilities.surface == "post":
            sentences = self.sentence(answered=True), notice.NO_ANSWER
            self.endings += [text for sentence in sentences for text in self.notice(sentence)]
        draft = journal.next_draft(lines)
        assert draft == self.draft + bool(fixed.strip())
        if fixed.strip():
            self.earlier += self.cut_short(fixed)
            self.sources[self.draft] = fixed
        self.draft, self.words, self.void = draft, Words(), []
        self.turn = self.finished = 0
        self.reason = self.error = None
        self.reply = self.new_reply()
        self.reply.feed(TurnStart(turn_number=1))

    def cut_short(self, fixed: str) -> list[str]:
        """How what is fixed of a draft is cut: it was said like this, and it ends with a piece."""
        for words in (self.words, *reversed(self.void)):
            for ended in (False, True):
                chunks = [each for each in words.chunks(self.capabilities, ended=ended) if each.end <= len(fixed)]
                if words.text.startswith(fixed) and chunks and chunks[-1].end == len(fixed):
                    return [chunk.text for chunk in chunks]
        msg = "what is fixed was never said, or is no row of pieces"
        raise AssertionError(msg)

    # What must be seen.

    def compare(self) -> None:
        visible = self.screen.visible()
        for shown in visible:
            assert not shown.streams or not shown.heard or shown.stays, "a stream was left open"
            raw = not shown.markup or shown.streams
            assert raw or not leaves_fence_open(shown.text), ("an open fence", shown.text)
        self.compare_doubts(visible)
        seen = [shown for shown in visible if shown.heard and not shown.stays]
        activity = [shown.text for shown in seen if shown.text.startswith(("_Used", "_Working"))]
        assert all(text.startswith("_Used") for text in activity), "it says that it works on"
        assert len(activity) <= (1 if self.worked else 0), "an activity line too many"
        self.compare_text([shown.text for shown in seen if shown.text not in activity])

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
        expected = [*self.earlier, *(chunk.text for chunk in self.words.chunks(self.capabilities, ended=True))]
        expected += self.notice(self.sentence(answered=bool(expected)))
        if self.may_cut_again:
            self.compare_letters(seen, expected)
            return
        deleted = [shown.meant for shown in self.screen.messages.values() if shown.deleted or shown.stays]
        # A stray message for which a line stands that a part may be missing may have been deleted, too.
        beside = [*repeat, *self.endings, *(missing if self.user_deleted else ())]
        # Texts may be alike, so all places are followed up to which what is seen can be what was said so far.
        places, lost_mark = {0}, any(part in deleted for part in missing)
        for text in expected:
            places = self.behind(places, seen, beside)
            unseen = places if text in deleted or lost_mark else set[int]()
            shown = {at + 1 for at in places if seen[at : at + 1] == [text]}
            marked = {at + 1 for at in places if at < len(seen) and seen[at] in missing}
            places = unseen | shown | self.behind(marked, seen, missing)
            assert places, ("neither seen nor accounted for", text, seen)
        assert len(seen) in self.behind(places, seen, beside), ("more than the answer", seen)

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
        return text.startswith(("_Used", "_Working")) or any(
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
