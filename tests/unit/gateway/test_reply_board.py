"""What of a reply stays on the screen and changes: lines about tools, and approvals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest

from gateway import approval
from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import (
    AgentEnd,
    ApprovalRequested,
    ApprovalResolved,
    Event,
    JsonObject,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUseStart,
    TurnStart,
    Usage,
)
from gateway.journal import Line
from gateway.need import Priority
from gateway.notice import LEFT_OUT, MAY_BE_A_REPEAT
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Forbidden,
    MessageGone,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    StartStream,
    TooLong,
    Unknown,
)
from gateway.place import Place
from gateway.reply import Reply

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")
EDIT = Capabilities(surface="edit", unit="cp", bubble=800, post=(), edit=(), buttons=True, mention="<@{}>")
APPEND = replace(EDIT, surface="append")
POST = replace(EDIT, surface="post")
NAME = "abcdefgh"
BUTTONS = approval.buttons(NAME, may_stand=True)
ASKS = (
    '**Allow `rm`?**\n\n```json\n{\n  "path": "a"\n}\n```\n\n'
    "Press a button, or mention me with `approve abcdefgh` or `deny abcdefgh`."
)
TOLD = 'I asked to run `rm`:\n\n```json\n{\n  "path": "a"\n}\n```\n\n'


def reply_on(capabilities: Capabilities = EDIT, lines: Sequence[Line] = ()) -> Reply:
    return Reply(place=Place(address=ADDRESS, capabilities=capabilities, seed="s"), run_id="r1", lines=lines)


def feed(reply: Reply, *events: Event) -> None:
    for event in events:
        reply.feed(event)


def turn(number: int) -> TurnStart:
    return TurnStart(turn_number=number)


def say(text: str) -> TextDelta:
    return TextDelta(block_id="b0", text=text)


def call(name: str) -> ToolUseStart:
    return ToolUseStart(block_id="b1", tool_use_id=f"u-{name}", tool_name=name)


def start(name: str) -> ToolStart:
    return ToolStart(tool_use_id=f"u-{name}", input={"secret": "x"})


def result(name: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(tool_use_id=f"u-{name}", content="", content_length=0, is_error=is_error)


def ask(given: JsonObject | None = None, name: str = NAME) -> ApprovalRequested:
    shown = {"path": "a"} if given is None else given
    return ApprovalRequested(approval_id=name, tool_use_id="u-rm", tool_name="rm", input=shown)


def decide(decision: Literal["approved", "denied"] = "approved") -> ApprovalResolved:
    return ApprovalResolved(approval_id=NAME, tool_use_id="u-rm", decision=decision, by="42")


SPOKEN = MessageEnd(message_id="m", stop_reason="tool_use", usage=Usage())
END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())
ASKED: tuple[Event, ...] = (turn(1), say("Let me."), call("rm"), SPOKEN, ask())


def rest_of(reply: Reply, *outcomes: Outcome) -> list[Operation]:
    """What is still done; the first operations meet those outcomes, the others go well."""
    fates, done = [*outcomes], list[Operation]()
    while reply.need() is not None and (operation := reply.next_operation()) is not None:
        done.append(operation)
        default = Performed(message_id=getattr(operation, "message_id", f"m{len(done)}"))
        reply.settle(fates.pop(0) if fates else default)
    return done


def short(operations: Sequence[Operation]) -> list[str]:
    said: list[str] = []
    for each in operations:
        match each:
            case PostMessage(text=text) | StartStream(text=text):
                said.append(f"post {text}")
            case EditMessage(message_id=message_id, text=text):
                said.append(f"edit {message_id} {text}")
            case DeleteMessage(message_id=message_id):
                said.append(f"delete {message_id}")
            case _:
                said.append(type(each).__name__)
    return said


def written(reply: Reply) -> list[Line]:
    """All that its journal holds."""
    return list(reply.lines().values())


def test_tools_behind_new_text_begin_a_line_of_their_own() -> None:
    """Case O03: 'Let me look.', what the tools do, 'Here is the answer.'"""
    reply = reply_on()
    feed(reply, turn(1), say("Let me look."), call("a"), call("b"), call("c"), SPOKEN)
    feed(reply, start("a"), start("b"), result("a"))
    assert short(rest_of(reply)) == ["post Let me look.", "post _Working: `b`_"]
    feed(reply, result("b"), start("c"), result("c"), turn(2), say("Here is the answer."))
    assert short(rest_of(reply)) == ["edit m2 _Used `a`, `b`, `c`_", "post Here is the answer."]
    feed(reply, call("d"), SPOKEN, start("d"), result("d"), END)
    assert short(rest_of(reply)) == ["post _Used `d`_"]
    assert reply.done


def test_tools_of_a_further_turn_that_says_nothing_go_on_in_the_line() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("a"), SPOKEN, start("a"), result("a"))
    assert short(rest_of(reply)) == ["post _Used `a`_"]
    feed(reply, turn(2), call("b"), SPOKEN, start("b"), result("b"))
    assert short(rest_of(reply)) == ["edit m1 _Used `a`, `b`_"]


def test_a_line_about_tools_is_no_stream() -> None:
    reply = reply_on(APPEND)
    feed(reply, turn(1), call("a"), SPOKEN, start("a"))
    assert [type(each) for each in rest_of(reply)] == [PostMessage]


def test_each_turn_is_a_draft_of_its_own() -> None:
    reply = reply_on()
    feed(reply, turn(1), say("One."), SPOKEN, turn(2), say("Two."), SPOKEN, END)
    rest_of(reply)
    assert [(each.draft, each.start, each.text) for each in reply.bubbles] == [(0, 0, "One."), (1, 0, "Two.")]


def test_a_discarded_message_takes_no_line_about_earlier_tools_with_it() -> None:
    reply = reply_on()
    feed(reply, turn(1), say("One."), call("a"), SPOKEN, start("a"), result("a"), turn(2), say("Void."))
    rest_of(reply)
    feed(reply, MessageDiscarded(reason="overloaded"), say("Two."), END)
    assert short(rest_of(reply)) == ["edit m3 Two."]


def test_a_question_stands_behind_the_text_with_its_buttons_and_goes_before_what_is_live() -> None:
    reply = reply_on()
    feed(reply, *ASKED)
    assert reply.need() is not None
    first, second = rest_of(reply)
    assert short([first, second]) == ["post Let me.", f"post {ASKS}"]
    assert isinstance(second, PostMessage)
    assert second.buttons == BUTTONS


def test_a_question_goes_at_the_priority_of_an_approval() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("rm"), SPOKEN, ask())
    need = reply.need()
    assert need is not None
    assert need.priority is Priority.APPROVAL


def test_a_question_is_an_ordinary_post_where_text_is_streamed() -> None:
    reply = reply_on(APPEND)
    feed(reply, *ASKED)
    assert [type(each).__name__ for each in rest_of(reply)] == ["StartStream", "FinishStream", "PostMessage"]
    assert [line.ordinary for line in written(reply)] == [False, True]


def test_once_decided_its_message_says_who_decided_and_what_came_of_it_and_its_buttons_go() -> None:
    reply = reply_on()
    feed(reply, *ASKED)
    rest_of(reply)
    feed(reply, decide())
    (edited,) = rest_of(reply)
    assert edited == EditMessage(address=ADDRESS, message_id="m2", text=f"{TOLD}**Approved by <@42>.**")
    feed(reply, start("rm"))
    assert short(rest_of(reply)) == [f"edit m2 {TOLD}**Approved by <@42>.** It is running."]
    feed(reply, result("rm", is_error=True), END)
    assert short(rest_of(reply)) == [f"edit m2 {TOLD}**Approved by <@42>.** It failed."]


def test_a_call_that_was_asked_about_is_told_of_in_no_line_about_tools() -> None:
    reply = reply_on()
    feed(reply, *ASKED, decide("approved"), start("rm"), result("rm"), END)
    assert short(rest_of(reply)) == ["post Let me.", f"post {TOLD}**Approved by <@42>.** Done."]


def test_what_comes_too_late_to_be_edited_is_shown_once_more_below() -> None:
    reply = reply_on()
    feed(reply, *ASKED)
    rest_of(reply)
    feed(reply, decide("denied"))
    said = f"{TOLD}**Denied by <@42>.** It was not run."
    assert short(rest_of(reply, EditRefused(reason="too old"))) == [f"edit m2 {said}", "delete m2", f"post {said}"]


def test_a_question_that_somebody_deleted_is_not_asked_again_not_even_after_a_restart() -> None:
    reply = reply_on()
    feed(reply, *ASKED)
    rest_of(reply)
    feed(reply, decide("denied"))
    assert len(rest_of(reply, MessageGone())) == 1
    again = reply_on(lines=written(reply))
    feed(again, *ASKED, decide("denied"))
    assert rest_of(again) == []
    assert again.unasked == set()


def test_where_nothing_can_be_edited_the_decision_is_told_behind_once() -> None:
    reply = reply_on(POST)
    feed(reply, *ASKED, decide(), start("rm"), result("rm"), turn(2), say("Gone."), SPOKEN)
    asks = ASKS.replace("Press a button, or", "To decide,")
    told = "(`rm`: **Approved by <@42>.**)"
    assert short(rest_of(reply)) == ["post Let me.", f"post {asks}", f"post {told}", "post Gone."]
    again = reply_on(POST, written(reply))
    feed(again, *ASKED, decide(), start("rm"), result("rm"), turn(2), say("Gone."), SPOKEN, END)
    assert rest_of(again) == []
    assert again.done


LARGE: JsonObject = {"text": "é" * 2_000}


def test_an_input_that_has_no_room_stands_whole_before_the_question() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("rm"), SPOKEN, ask(LARGE))
    *before, question = rest_of(reply)
    assert isinstance(question, PostMessage)
    assert question.text.startswith("**Allow `rm` with the input above?**")
    assert question.buttons
    assert all(isinstance(each, PostMessage) and not each.buttons for each in before)
    shown = "".join(each.text for each in before if isinstance(each, PostMessage))
    assert shown.count("é") == 2_000


def test_a_question_that_the_platform_finds_too_long_has_its_input_before_it() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("rm"), SPOKEN, ask())
    first, before, question = short(rest_of(reply, TooLong()))
    assert first == f"post {ASKS}"
    assert before.startswith("post `rm` is to run with this input:")
    assert question.startswith("post **Allow `rm` with the input above?**")


def test_a_question_that_may_be_there_is_asked_again_behind_a_notice_also_where_text_would_be_left_out() -> None:
    reply = reply_on(replace(EDIT, unknown_outcome="skip"))
    feed(reply, turn(1), call("rm"), SPOKEN, ask())
    lost = Unknown(reason="no answer")
    assert short(rest_of(reply, lost)) == [f"post {ASKS}", f"post {MAY_BE_A_REPEAT}", f"post {ASKS}"]


def test_nobody_is_asked_where_the_platform_refuses_for_good_and_the_reply_says_so() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("rm"), SPOKEN, ask())
    assert reply.unasked == set()
    rest_of(reply, Forbidden(reason="is_archived"))
    assert reply.unasked == {NAME}
    assert reply.done


def test_nobody_is_asked_where_no_wording_is_short_enough() -> None:
    reply = reply_on()
    feed(reply, turn(1), call("rm"), SPOKEN, ask())
    before = reply_on()
    feed(before, turn(1), call("rm"), SPOKEN, ask())
    while reply.need() is not None and (operation := reply.next_operation()) is not None:
        asks = isinstance(operation, PostMessage) and operation.text.startswith("**Allow")
        reply.settle(TooLong() if asks else Performed(message_id="m1"))
    assert reply.unasked == {NAME}
    assert reply.failure is None


GUEST = replace(EDIT, messages=3)


def test_a_guest_is_asked_where_a_message_is_left_for_the_answer() -> None:
    reply = reply_on(GUEST)
    feed(reply, *ASKED, decide(), turn(2), say("Gone."), SPOKEN, END)
    assert short(rest_of(reply)) == ["post Let me.", f"post {TOLD}**Approved by <@42>.**", "post Gone."]


def test_a_guest_is_not_asked_where_there_is_no_room_and_the_reply_says_so() -> None:
    reply = reply_on(GUEST)
    feed(reply, turn(1), say("word " * 500), call("rm"), SPOKEN, ask())
    assert reply.unasked == {NAME}
    feed(reply, decide("denied"), turn(2), say("Not done."), SPOKEN, END)
    assert reply.unasked == set()
    shown = short(rest_of(reply))
    assert len(shown) == 3
    assert shown[-1].endswith(LEFT_OUT)


def test_a_guest_has_no_line_about_tools_for_that_would_take_the_room_of_the_answer() -> None:
    reply = reply_on(GUEST)
    feed(reply, turn(1), call("a"), SPOKEN, start("a"), result("a"), turn(2), say("Done."), END)
    assert short(rest_of(reply)) == ["post Done."]


def rested() -> Reply:
    """A reply that has asked, and waits."""
    reply = reply_on()
    feed(reply, turn(1), say("Let me."), call("a"), call("rm"), SPOKEN, start("a"), result("a"), ask())
    reply.rest()
    assert not reply.done
    assert short(rest_of(reply)) == ["post Let me.", "post _Used `a`_", f"post {ASKS}"]
    assert reply.done
    return reply


def test_a_reply_rests_when_all_is_on_the_screen_though_the_run_has_not_ended() -> None:
    reply = rested()
    assert reply.need() is None
    assert reply.unasked == set()


def test_a_reply_that_goes_on_where_another_rested_edits_its_boards_and_posts_nothing_twice() -> None:
    reply = reply_on(lines=written(rested()))
    feed(reply, turn(1), say("Let me."), call("a"), call("rm"), SPOKEN, start("a"), result("a"), ask())
    feed(reply, decide(), start("rm"), result("rm"), turn(2), say("Gone."), SPOKEN, END)
    edited, posted = rest_of(reply)
    assert short([edited, posted]) == ["post Gone.", f"edit m3 {TOLD}**Approved by <@42>.** Done."]
    assert reply.done


def test_a_reply_that_is_told_of_the_text_and_the_calls_apart_finds_its_lines_again() -> None:
    first = reply_on()
    feed(first, turn(1), say("One."), call("a"), start("a"), result("a"), say("Two."), call("b"), start("b"))
    shown = [*rest_of(first)]
    feed(first, result("b"), SPOKEN)
    shown += rest_of(first)
    assert short(shown)[:4] == ["post One.", "post _Used `a`_", "post Two.", "post _Working: `b`_"]
    again = reply_on(lines=written(first))
    feed(again, turn(1), say("One.Two."), call("a"), call("b"), SPOKEN, start("a"), start("b"))
    feed(again, result("a"), result("b"), END)
    assert rest_of(again) == []
    assert again.done


def test_boards_of_a_run_that_is_not_told_again_are_taken_away() -> None:
    reply = reply_on(lines=written(rested()))
    feed(reply, END)
    assert short(rest_of(reply)) == ["delete m2", "delete m3"]
    assert [bubble.text for bubble in reply.bubbles] == ["Let me."]


def test_a_question_that_was_written_down_and_not_posted_is_posted_once_behind_its_input() -> None:
    first = reply_on()
    feed(first, turn(1), call("rm"), SPOKEN, ask(LARGE))
    first.next_operation()
    first.settle(Performed(message_id="m1"))
    again = reply_on(lines=written(first))
    feed(again, turn(1), call("rm"), SPOKEN, ask(LARGE))
    again.rest()
    shown = short(rest_of(again))
    assert sum(each.startswith("post **Allow") for each in shown) == 1
    assert shown[-1].startswith("post **Allow `rm` with the input above?**")
    assert not any("is to run with this input" in each for each in shown), "it was there already"


@pytest.mark.parametrize("shown", [0, 1, 2, 3])
def test_a_question_stands_behind_its_input_though_the_process_died_twice_and_the_text_is_in_doubt(shown: int) -> None:
    events = (turn(1), say("Let me."), call("rm"), SPOKEN, ask(LARGE))
    first = reply_on()
    feed(first, *events)
    first.next_operation()
    second = reply_on(lines=written(first))
    feed(second, *events)
    for number in range(shown):
        second.next_operation()
        second.settle(Performed(message_id=f"s{number}"))
    third = reply_on(lines=written(second))
    feed(third, *events)
    third.rest()
    left = short(rest_of(third))
    assert [each for each in left if each.startswith("post **Allow")] == left[-1:]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_what_was_fixed_of_any_turn_does_not_come_out_again(number: int) -> None:
    first = reply_on()
    turns = [(turn(each), say(f"Turn {each}."), SPOKEN) for each in (1, 2, 3)]
    for each in turns[:number]:
        feed(first, *each)
    rest_of(first)
    again = reply_on(lines=written(first))
    for each in turns:
        feed(again, *each)
    feed(again, END)
    assert short(rest_of(again)) == [f"post Turn {each}." for each in (1, 2, 3)[number:]]


def test_a_question_that_nobody_answered_has_no_buttons_when_the_run_is_over() -> None:
    reply = reply_on()
    feed(reply, *ASKED)
    rest_of(reply)
    reply.stop()
    edited = next(each for each in rest_of(reply) if isinstance(each, EditMessage))
    assert edited.buttons == ()
    assert "**Withdrawn.**" in edited.text
