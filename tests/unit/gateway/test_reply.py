"""The reply, one row of the outcome table at a time; that nothing is lost is a law, in tests/properties."""

from dataclasses import replace
from typing import get_args

import pytest

from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import (
    AgentEnd,
    EndReason,
    Error,
    ErrorType,
    MessageDiscarded,
    MessageEnd,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUseStart,
    TurnStart,
    Usage,
)
from gateway.message import PLACEHOLDER, WHOLE
from gateway.need import Need, Priority
from gateway.notice import ENDINGS, FAILURES, MAY_BE_A_REPEAT, MAY_BE_MISSING, NO_ANSWER
from gateway.operation import (
    AppendText,
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    Said,
    StartStream,
    ThreadRead,
    TooLong,
    Unknown,
    Unreachable,
)
from gateway.place import Place
from gateway.reply import DOUBTS, LATE, Bubble, Reply

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")
EDIT = Capabilities(surface="edit", unit="cp", bubble=800, post=(), edit=())
POST = replace(EDIT, surface="post")
APPEND = replace(EDIT, surface="append")
READ = replace(EDIT, reconciliation="read")
NONCE = replace(EDIT, reconciliation="nonce")
SKIP = replace(EDIT, unknown_outcome="skip")


def reply_on(capabilities: Capabilities = EDIT) -> Reply:
    return Reply(place=Place(address=ADDRESS, capabilities=capabilities), run_id="r1")


def say(reply: Reply, text: str) -> None:
    reply.feed(TextDelta(block_id="b0", text=text))


def end(reply: Reply, reason: EndReason = "complete") -> None:
    reply.feed(AgentEnd(reason=reason, final_response="", turn_count=1, message_count=1, usage=Usage()))


def nameless(operation: Operation) -> Operation:
    return replace(operation, nonce="") if isinstance(operation, PostMessage | StartStream) else operation


def next_of(reply: Reply) -> Operation:
    """The next operation; its nonce is for test_journal and test_message."""
    operation = reply.next_operation()
    assert operation is not None
    return nameless(operation)


def post(text: str, *, markup: bool = True) -> PostMessage:
    return PostMessage(address=ADDRESS, text=text, markup=markup)


def edit(text: str, message_id: str = "m1", *, markup: bool = True) -> EditMessage:
    return EditMessage(address=ADDRESS, message_id=message_id, text=text, markup=markup)


def shown(text: str, message_id: str = "m1", capabilities: Capabilities = EDIT) -> Reply:
    """A reply whose live bubble shows a text."""
    reply = reply_on(capabilities)
    say(reply, text)
    assert next_of(reply) == post(text)
    reply.settle(Performed(message_id=message_id))
    return reply


def texts_of(operations: list[Operation]) -> list[str]:
    return [operation.text for operation in operations if isinstance(operation, PostMessage | EditMessage)]


def rest_of(reply: Reply) -> list[Operation]:
    """What is still done where all goes well."""
    operations: list[Operation] = []
    while (operation := reply.next_operation()) is not None:
        operations.append(nameless(operation))
        message_id = getattr(operation, "message_id", f"n{len(operations)}")
        reply.settle(Performed(message_id=message_id))
    return operations


def test_a_reply_to_which_nothing_was_said_needs_nothing() -> None:
    reply = reply_on()
    assert reply.need() is None
    assert reply.next_operation() is None
    assert not reply.done


def test_the_first_text_is_posted_and_the_next_is_edited_in() -> None:
    reply = reply_on()
    say(reply, "Hel")
    assert reply.need() == Need(priority=Priority.LIVE, draws="post")
    assert next_of(reply) == post("Hel")
    reply.settle(Performed(message_id="m1"))
    assert reply.need() is None
    say(reply, "lo.")
    assert reply.need() == Need(priority=Priority.LIVE, draws="edit", message_id="m1")
    assert next_of(reply) == edit("Hello.")


def test_text_that_is_whole_is_final_and_closes_its_bubble() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    assert reply.need() == Need(priority=Priority.FINAL, draws="edit", message_id="m1")
    assert rest_of(reply) == [edit("Hello.")]
    assert reply.done
    assert reply.bubbles == [Bubble(message_id="m1", text="Hello.", start=0, end=6)]


def test_text_that_stands_there_already_is_not_sent_again_when_it_becomes_final() -> None:
    reply = shown("Hello.")
    end(reply)
    assert reply.need() is None
    assert reply.done
    assert [bubble.text for bubble in reply.bubbles] == ["Hello."]


def test_text_that_becomes_final_while_it_is_in_flight_is_not_sent_again() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    next_of(reply)
    end(reply)
    assert not reply.done
    reply.settle(Performed(message_id="m1"))
    assert reply.done


def test_white_space_alone_is_never_sent() -> None:
    reply = reply_on()
    say(reply, "  \n")
    assert reply.next_operation() is None
    assert reply.need() is None


@pytest.mark.parametrize(
    "event",
    [
        ToolUseStart(block_id="b1", tool_use_id="u", tool_name="t"),
        MessageEnd(message_id="m", stop_reason="end", usage=Usage()),
    ],
)
def test_a_tool_or_the_end_of_a_message_begins_a_new_bubble(event: ToolUseStart | MessageEnd) -> None:
    reply = reply_on(POST)
    say(reply, "One.")
    assert reply.need() is None
    reply.feed(event)
    say(reply, "Two.")
    end(reply)
    assert rest_of(reply) == [post("One."), post("Two.")]
    assert [(bubble.start, bubble.end) for bubble in reply.bubbles] == [(0, 4), (4, 8)]


def test_a_surface_without_edits_gets_whole_chunks_only() -> None:
    reply = reply_on(POST)
    say(reply, "word " * 300)
    assert reply.need() == Need(priority=Priority.FINAL, draws="post")
    assert isinstance(next_of(reply), PostMessage)
    reply.settle(Performed(message_id="m1"))
    assert reply.need() is None


@pytest.mark.parametrize("outcome", [RateLimited(retry_after=5.0), Unreachable(reason="no connection")])
def test_what_was_not_done_is_done_later_with_the_newest_text(outcome: Outcome) -> None:
    reply = reply_on()
    say(reply, "Hel")
    assert next_of(reply) == post("Hel")
    say(reply, "lo.")
    reply.settle(outcome)
    assert next_of(reply) == post("Hello.")


def test_a_message_that_shows_the_text_already_counts_as_edited() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    next_of(reply)
    reply.settle(NotModified())
    assert reply.done


@pytest.mark.parametrize(
    ("outcome", "failure"),
    [
        (NotModified(), "the platform will not show it"),
        (MessageGone(), "what it was to be posted to is gone"),
    ],
)
def test_a_post_that_is_answered_like_an_edit_ends_the_reply_instead_of_being_repeated_for_ever(
    outcome: Outcome, failure: str
) -> None:
    reply = reply_on()
    say(reply, "Hello.")
    next_of(reply)
    reply.settle(outcome)
    assert (reply.failure, reply.done, reply.bubbles) == (failure, True, [])
    say(reply, " And more.")
    end(reply)
    assert reply.next_operation() is None


def test_a_live_message_that_was_deleted_is_posted_anew_with_all_of_its_text() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    assert next_of(reply) == edit("Hello.")
    reply.settle(MessageGone())
    assert next_of(reply) == post("Hello.")


def test_rejected_markup_is_sent_as_plain_text_in_the_same_place_and_for_this_bubble_only() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply, "cut")
    assert next_of(reply) == edit("Hello.")
    reply.settle(MarkupRejected(reason="invalid"))
    assert rest_of(reply) == [edit("Hello.", markup=False), post(ENDINGS["cut"])]


def test_plain_text_that_is_rejected_too_ends_the_reply() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    for _ in range(2):
        next_of(reply)
        reply.settle(MarkupRejected(reason="invalid"))
    assert (reply.failure, reply.done) == ("invalid", True)


def test_a_final_text_that_is_too_long_is_cut_again() -> None:
    reply = reply_on()
    say(reply, "word " * 100)
    end(reply)
    next_of(reply)
    reply.settle(TooLong())
    texts = texts_of(rest_of(reply))
    assert len(texts) == 2
    assert " ".join(texts).split() == ["word"] * 100


def test_bubbles_that_were_cut_again_stand_for_no_text_twice() -> None:
    reply = reply_on()
    say(reply, "word " * 100)
    end(reply)
    next_of(reply)
    reply.settle(TooLong())
    rest_of(reply)
    spans = [(bubble.start, bubble.end) for bubble in reply.bubbles]
    assert spans == sorted(spans)
    assert sum(stop - start for start, stop in spans) == 500


def test_a_live_text_that_is_too_long_waits_until_it_is_whole() -> None:
    reply = reply_on()
    say(reply, "Hello")
    next_of(reply)
    reply.settle(TooLong())
    say(reply, ", you")
    assert reply.need() is None
    end(reply)
    assert next_of(reply) == post("Hello, you")


def test_a_single_character_that_is_too_long_ends_the_reply() -> None:
    reply = reply_on()
    say(reply, "x")
    end(reply)
    next_of(reply)
    reply.settle(TooLong())
    assert reply.failure == "the platform refuses even 1 characters as too long"
    assert reply.next_operation() is None


def doubt(reply: Reply, times: int = 1) -> list[str]:
    """Whatever is posted next, nobody knows whether it arrived."""
    posted: list[str] = []
    for _ in range(times):
        operation = next_of(reply)
        assert isinstance(operation, PostMessage)
        posted.append(operation.text)
        reply.settle(Unknown(reason="no answer"))
    return posted


def test_a_post_of_unknown_outcome_is_repeated_unchanged_behind_a_message_that_says_so() -> None:
    reply = reply_on()
    say(reply, "Hel")
    assert doubt(reply) == ["Hel"]
    assert reply.need() == Need(priority=Priority.FINAL, draws="post")
    assert next_of(reply) == post(MAY_BE_A_REPEAT)
    reply.settle(Performed(message_id="m1"))
    assert next_of(reply) == post("Hel")
    reply.settle(Performed(message_id="m2"))
    say(reply, "lo.")
    end(reply, "cut")
    assert rest_of(reply) == [edit("Hello.", "m2"), post(ENDINGS["cut"])]
    spans = [(bubble.text, bubble.start, bubble.end) for bubble in reply.bubbles]
    assert spans == [(MAY_BE_A_REPEAT, 0, 0), ("Hello.", 0, 6), (ENDINGS["cut"], 6, 6)]


def test_text_in_doubt_is_shown_again_though_the_model_says_nothing_more_for_a_while() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    doubt(reply)
    assert rest_of(reply) == [post(MAY_BE_A_REPEAT), post("Hello.")]
    assert reply.need() is None


def test_what_stands_behind_a_full_bubble_is_shown_though_the_model_says_nothing_more_for_a_while() -> None:
    reply = reply_on()
    say(reply, "word " * 200)
    texts = texts_of(rest_of(reply))
    assert len(texts) == 2
    assert " ".join(texts).split() == ["word"] * 200
    assert reply.need() is None


def test_where_nothing_stands_behind_a_bubble_nothing_is_needed() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
    assert rest_of(reply) == [post("Hello.")]
    assert reply.need() is None


def test_a_notice_in_doubt_gets_no_notice_and_the_bubble_behind_it_one_for_each_doubt_of_its_own() -> None:
    reply = reply_on(POST)
    say(reply, "Hello.")
    end(reply)
    assert doubt(reply, 3) == ["Hello.", MAY_BE_A_REPEAT, MAY_BE_A_REPEAT]
    assert next_of(reply) == post(MAY_BE_A_REPEAT)
    reply.settle(Performed(message_id="m1"))
    assert doubt(reply) == ["Hello."]
    assert rest_of(reply) == [post(MAY_BE_A_REPEAT), post("Hello.")]


def test_a_notice_that_had_to_be_cut_gets_no_notice_either() -> None:
    reply = reply_on()
    end(reply, "cut")
    next_of(reply)
    reply.settle(TooLong())
    (piece,) = doubt(reply)
    assert next_of(reply) == post(piece)


def test_a_notice_stands_where_its_bubble_begins() -> None:
    reply = reply_on(POST)
    for text in ("One.", "Two."):
        say(reply, text)
        reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
    next_of(reply)
    reply.settle(Performed(message_id="m1"))
    doubt(reply)
    rest_of(reply)
    spans = [(bubble.text, bubble.start, bubble.end) for bubble in reply.bubbles]
    assert spans == [("One.", 0, 4), (MAY_BE_A_REPEAT, 4, 4), ("Two.", 4, 8)]


def test_a_reply_that_is_in_doubt_too_often_ends_and_says_why() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    for _ in range(DOUBTS):
        assert (reply.failure, reply.done) == (None, False)
        doubt(reply)
    assert reply.failure == "posted 10 times without an answer, so it may be there already: no answer"
    assert reply.done
    assert reply.next_operation() is None


def test_the_doubts_of_all_bubbles_count_together() -> None:
    reply = reply_on(POST)
    say(reply, "word " * 2000)
    end(reply)
    posts = 0
    while not reply.done:
        posts += 1
        next_of(reply)
        reply.settle(Unknown(reason="no answer") if posts % 3 == 1 else Performed(message_id=f"m{posts}"))
    assert reply.failure is not None
    assert posts == 3 * (DOUBTS - 1) + 1


def test_only_doubts_count_not_what_was_not_done_for_sure() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    for _ in range(10 * DOUBTS):
        next_of(reply)
        reply.settle(Unreachable(reason="no connection"))
    assert reply.failure is None
    assert next_of(reply) == post("Hello.")


@pytest.mark.parametrize("size", [20, 100, 800])
def test_no_message_is_longer_than_a_bubble_and_none_is_cut_elsewhere_because_of_a_doubt(size: int) -> None:
    text, capabilities = "word " * 400, replace(POST, bubble=size)
    calm, doubted = reply_on(capabilities), reply_on(capabilities)
    for reply in (calm, doubted):
        say(reply, text)
        end(reply)
    undisturbed = texts_of(rest_of(calm))
    assert doubt(doubted) == undisturbed[:1]
    texts = texts_of(rest_of(doubted))
    assert max(map(len, texts)) <= size
    notice = texts[: -len(undisturbed)]
    assert " ".join(notice) == MAY_BE_A_REPEAT
    assert texts[len(notice) :] == undisturbed


def test_an_edit_of_unknown_outcome_is_simply_sent_again_however_often() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    for _ in range(10 * DOUBTS):
        assert next_of(reply) == edit("Hello.")
        reply.settle(Unknown(reason="no answer"))
    assert reply.failure is None
    assert next_of(reply) == edit("Hello.")


def lost_edit(reply: Reply) -> Reply:
    """An edit of which nobody hears goes, and the whole text behind it."""
    say(reply, "lo, ")
    assert next_of(reply) == edit("Hello,")
    reply.settle(Unknown(reason="no answer"))
    say(reply, "world.")
    end(reply)
    assert next_of(reply) == edit("Hello, world.")
    reply.settle(Performed(message_id="m1"))
    return reply


def test_an_edit_that_nobody_heard_of_may_arrive_late_so_the_text_is_sent_once_more_at_the_end() -> None:
    reply = lost_edit(shown("Hel"))
    assert reply.need() == Need(priority=Priority.FINAL, draws="edit", message_id="m1", rest=LATE)
    assert rest_of(reply) == [edit("Hello, world.")]
    assert reply.done


def test_a_text_that_may_not_be_sent_once_more_ends_the_reply() -> None:
    reply = lost_edit(shown("Hel"))
    assert next_of(reply) == edit("Hello, world.")
    reply.settle(Forbidden(reason="channel_not_found"))
    assert (reply.done, reply.failure) == (True, "channel_not_found")


def test_what_may_arrive_late_is_known_after_a_restart_too() -> None:
    reply = again(lost_edit(shown("Hel")))
    end(reply)
    assert rest_of(reply) == [edit("Hello, world.")]


def test_what_was_on_its_way_to_a_message_that_is_gone_does_not_concern_the_one_in_its_place() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    assert next_of(reply) == edit("Hello.")
    reply.settle(Unknown(reason="no answer"))
    assert next_of(reply) == edit("Hello.")
    reply.settle(MessageGone())
    assert rest_of(reply) == [post("Hello.")]


def test_the_line_about_the_tools_is_brought_to_its_last_state_before_that_is_sent_once_more() -> None:
    reply = reply_on()
    reply.feed(ToolUseStart(block_id="b1", tool_use_id="u", tool_name="search"))
    reply.feed(ToolStart(tool_use_id="u", input={}))
    assert rest_of(reply) == [post("_Working: `search`_")]
    say(reply, "Found.")
    end(reply)
    assert next_of(reply) == post("Found.")
    reply.settle(Performed(message_id="m2"))
    assert next_of(reply) == edit("_Used `search`_", "n1")
    reply.settle(Unknown(reason="no answer"))
    assert rest_of(reply) == [edit("_Used `search`_", "n1"), edit("_Used `search`_", "n1")]


def test_a_reply_that_may_not_speak_is_done_and_says_why() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    next_of(reply)
    reply.settle(Forbidden(reason="is_archived"))
    assert (reply.failure, reply.done) == ("is_archived", True)
    say(reply, " And more.")
    end(reply)
    assert reply.need() is None


def test_an_outcome_of_nothing_is_a_mistake_of_ours() -> None:
    with pytest.raises(RuntimeError, match="no operation is in flight"):
        reply_on().settle(NotModified())


def test_an_answer_that_is_complete_has_no_sentence_behind_it() -> None:
    reply = reply_on(POST)
    say(reply, "Hello.")
    end(reply)
    assert rest_of(reply) == [post("Hello.")]


def test_no_answer_at_all_is_told() -> None:
    reply = reply_on()
    end(reply)
    assert rest_of(reply) == [post(NO_ANSWER)]


def test_a_stop_shows_no_more_than_closes_what_is_on_the_screen() -> None:
    reply = shown("Hello,")
    say(reply, " you." * 400)
    end(reply, "stopped")
    operations = rest_of(reply)
    assert isinstance(operations[0], EditMessage)
    assert texts_of(operations)[1:] == [ENDINGS["stopped"]]
    assert [bubble.text for bubble in reply.bubbles] == texts_of(operations)


def test_a_stop_before_anything_is_shown_shows_nothing() -> None:
    reply = reply_on(POST)
    say(reply, "Hel")
    end(reply, "stopped")
    assert texts_of(rest_of(reply)) == [ENDINGS["stopped"]]


@pytest.mark.parametrize("reason", ["complete", "error"])
def test_a_stop_behind_the_end_leaves_out_the_rest_and_says_so_once(reason: EndReason) -> None:
    reply = shown("Hello,")
    say(reply, " you." * 400)
    end(reply, reason)
    assert reply.stop()
    reply.stop()
    assert texts_of(rest_of(reply))[1:] == [ENDINGS["stopped"]]


def test_there_is_nothing_to_stop_where_all_has_begun_to_be_shown() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    assert not reply.stop()
    assert rest_of(reply) == [edit("Hello.")]


OTHER_ENDS = [reason for reason in get_args(EndReason) if reason not in ("complete", "stopped")]


@pytest.mark.parametrize("reason", OTHER_ENDS)
def test_every_other_end_is_told_in_a_sentence_behind_the_text(reason: EndReason) -> None:
    reply = reply_on(POST)
    say(reply, "Hel")
    end(reply, reason)
    text, sentence = texts_of(rest_of(reply))
    assert text == "Hel"
    assert sentence.startswith(ENDINGS[reason])
    assert sentence.endswith(")")
    assert ("r1" in sentence) == (reason in ("error", "consumer_stalled"))


@pytest.mark.parametrize("error_type", get_args(ErrorType))
def test_every_failure_of_the_model_is_told_without_its_details(error_type: ErrorType) -> None:
    reply = reply_on()
    reply.feed(Error(error_type=error_type, error_message="secret detail", retryable=True))
    end(reply, "error")
    assert rest_of(reply) == [post(f"{FAILURES[error_type]} Reference: r1)")]


def test_a_sentence_is_cut_where_bubbles_are_shorter() -> None:
    reply = reply_on(replace(EDIT, bubble=40))
    end(reply, "cut")
    texts = texts_of(rest_of(reply))
    assert max(map(len, texts)) <= 40
    assert " ".join(texts) == ENDINGS["cut"]


def test_a_post_in_doubt_is_looked_for_where_the_conversation_can_be_read() -> None:
    reply = reply_on(READ)
    say(reply, "Hello.")
    operation = reply.next_operation()
    assert isinstance(operation, PostMessage)
    reply.settle(Unknown(reason="no answer"))
    assert reply.need() == Need(priority=Priority.LIVE, draws="read", rest=LATE)
    assert next_of(reply) == ReadThread(address=ADDRESS, limit=WHOLE)
    said = Said(message_id="m7", user="bot", text="Hello.", ours=True, nonce=operation.nonce)
    reply.settle(ThreadRead(messages=(said,)))
    end(reply)
    assert reply.done
    assert [bubble.message_id for bubble in reply.bubbles] == ["m7"]


def test_a_post_that_is_not_found_goes_again_and_nothing_is_said_about_it() -> None:
    reply = reply_on(READ)
    say(reply, "Hello.")
    doubt(reply)
    next_of(reply)
    reply.settle(ThreadRead(messages=()))
    assert rest_of(reply) == [post("Hello.")]


def test_where_it_may_not_be_read_either_the_post_stays_in_doubt() -> None:
    reply = reply_on(READ)
    say(reply, "Hello.")
    doubt(reply)
    next_of(reply)
    reply.settle(Forbidden(reason="missing_scope"))
    assert rest_of(reply) == [post(MAY_BE_A_REPEAT), post("Hello.")]


def test_a_post_in_doubt_goes_again_under_its_nonce_where_the_platform_shows_that_once() -> None:
    reply = reply_on(NONCE)
    say(reply, "Hello.")
    first = reply.next_operation()
    reply.settle(Unknown(reason="no answer"))
    say(reply, " And more.")
    assert reply.next_operation() == first
    reply.settle(Performed(message_id="m1"))
    assert rest_of(reply) == [edit("Hello. And more.")]


def test_a_chunk_in_doubt_is_left_out_where_that_is_asked_for() -> None:
    reply = reply_on(SKIP)
    say(reply, "Hel")
    doubt(reply)
    assert reply.need() is None
    say(reply, "lo.")
    reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
    say(reply, "Next.")
    end(reply)
    assert rest_of(reply) == [post(MAY_BE_MISSING), post("Next.")]


def test_a_stream_is_started_grows_by_what_is_settled_and_is_finished() -> None:
    reply = reply_on(APPEND)
    say(reply, "One two three ")
    assert reply.need() == Need(priority=Priority.LIVE, draws="append")
    assert next_of(reply) == StartStream(address=ADDRESS, text="One two")
    reply.settle(Performed(message_id="m1"))
    say(reply, "four")
    assert next_of(reply) == AppendText(address=ADDRESS, message_id="m1", text=" three")
    reply.settle(Performed(message_id="m1"))
    end(reply)
    assert rest_of(reply) == [FinishStream(address=ADDRESS, message_id="m1", text=" four")]
    assert reply.done


def streamed(outcome: Outcome) -> Reply:
    reply = reply_on(APPEND)
    say(reply, "One two three ")
    next_of(reply)
    reply.settle(Performed(message_id="m1"))
    say(reply, "four")
    end(reply)
    assert next_of(reply) == FinishStream(address=ADDRESS, message_id="m1", text=" three four")
    reply.settle(outcome)
    return reply


CLOSE = FinishStream(address=ADDRESS, message_id="m1", text="")


@pytest.mark.parametrize(
    ("outcome", "rest"),
    [
        (RateLimited(retry_after=9.0), [replace(CLOSE, text=" three four")]),
        (Expired(), [edit("One two three four")]),
        (Unknown(reason="no answer"), [CLOSE, edit("One two three four")]),
        (MarkupRejected(reason="invalid"), [CLOSE, edit("One two three four", markup=False)]),
        (TooLong(), [CLOSE, edit("One two three four")]),
        (MessageGone(), [StartStream(address=ADDRESS, text="One two three four"), replace(CLOSE, message_id="n1")]),
    ],
)
def test_a_stream_that_does_not_go_on_becomes_a_message_that_is_edited(outcome: Outcome, rest: list[Operation]) -> None:
    assert rest_of(streamed(outcome)) == rest


def test_a_stream_that_cannot_be_started_is_posted() -> None:
    reply = reply_on(APPEND)
    say(reply, "Hello.")
    end(reply)
    next_of(reply)
    reply.settle(Expired())
    assert rest_of(reply) == [post("Hello.")]


@pytest.mark.parametrize("outcome", [EditRefused(reason="too old"), Expired()])
def test_a_message_that_cannot_be_changed_is_taken_away_and_posted_anew(outcome: Outcome) -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    next_of(reply)
    reply.settle(outcome)
    end(reply)
    assert rest_of(reply) == [DeleteMessage(address=ADDRESS, message_id="m1"), post("Hello.")]


def test_what_cannot_even_be_taken_away_is_followed_by_a_line_that_says_so() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    for outcome in (EditRefused(reason="too old"), Forbidden(reason="not yours")):
        next_of(reply)
        reply.settle(outcome)
    end(reply)
    assert rest_of(reply) == [post(MAY_BE_A_REPEAT), post("Hello.")]


def test_a_discarded_message_is_overwritten_and_what_is_left_of_it_taken_away() -> None:
    reply = reply_on()
    reply.feed(TurnStart(turn_number=1))
    say(reply, "word " * 300)
    rest_of(reply)
    reply.feed(MessageDiscarded(reason="overloaded"))
    say(reply, "Other words.")
    end(reply)
    assert rest_of(reply) == [edit("Other words.", "n1"), DeleteMessage(address=ADDRESS, message_id="n2")]
    assert [bubble.text for bubble in reply.bubbles] == ["Other words."]


def test_a_discarded_message_is_overwritten_though_the_one_before_was_but_white_space() -> None:
    reply = reply_on()
    say(reply, "\n\n")
    reply.feed(MessageEnd(message_id="m0", stop_reason="end", usage=Usage()))
    reply.feed(TurnStart(turn_number=2))
    say(reply, "Void.")
    reply.feed(MessageEnd(message_id="m1", stop_reason="end", usage=Usage()))
    assert rest_of(reply) == [post("Void.")]
    reply.feed(MessageDiscarded(reason="overloaded"))
    say(reply, "Other.")
    end(reply)
    assert rest_of(reply) == [edit("Other.", "n1")]


def test_a_discarded_message_takes_no_earlier_one_with_it_that_is_not_shown_yet() -> None:
    reply = reply_on()
    reply.feed(TurnStart(turn_number=1))
    say(reply, "One.")
    reply.feed(MessageEnd(message_id="m", stop_reason="tool_use", usage=Usage()))
    reply.feed(TurnStart(turn_number=2))
    say(reply, "Two.")
    rest_of(reply)
    reply.feed(MessageDiscarded(reason="overloaded"))
    say(reply, "Other.")
    end(reply)
    assert rest_of(reply) == [edit("Other.", "n2")]
    assert [bubble.text for bubble in reply.bubbles] == ["One.", "Other."]


def test_tools_are_one_line_which_is_left_as_a_summary() -> None:
    reply = reply_on()
    reply.feed(ToolUseStart(block_id="b1", tool_use_id="u", tool_name="search"))
    reply.feed(ToolStart(tool_use_id="u", input={}))
    assert rest_of(reply) == [post("_Working: `search`_")]
    reply.feed(ToolResult(tool_use_id="u", content="", content_length=0, is_error=False, error_type=None))
    say(reply, "Found.")
    end(reply)
    assert rest_of(reply) == [post("Found."), edit("_Used `search`_", "n1")]


def again(reply: Reply, draft: int = 0) -> Reply:
    """A reply that is made from what another left."""
    return Reply(
        place=Place(address=ADDRESS, capabilities=reply.capabilities),
        run_id="r1",
        draft=draft,
        lines=list(reply.lines().values()),
    )


def test_a_live_bubble_is_overwritten_after_a_restart() -> None:
    reply = again(shown("Hel"))
    say(reply, "Other.")
    end(reply)
    assert rest_of(reply) == [edit("Other.")]


def test_what_was_whole_is_shown_after_a_restart_and_goes_before_the_next_draft() -> None:
    first = reply_on()
    say(first, "One.")
    first.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
    reply = again(first, draft=1)
    say(reply, "Two.")
    end(reply)
    assert rest_of(reply) == [post("One."), post("Two.")]


def test_an_answer_that_is_told_again_is_not_shown_again() -> None:
    first = reply_on()
    say(first, "One.")
    end(first, "cut")
    rest_of(first)
    reply = again(first)
    say(reply, "One.")
    end(reply, "cut")
    assert reply.done


def test_a_post_that_was_certainly_not_done_leaves_no_doubt_behind_a_restart() -> None:
    first = reply_on()
    say(first, "One.")
    end(first)
    next_of(first)
    first.lines()
    first.settle(Unreachable(reason="no connection"))
    lines = first.lines()
    assert [line.state for line in lines.values()] == ["due"]
    reply = Reply(place=Place(address=ADDRESS, capabilities=EDIT), run_id="r1", lines=list(lines.values()))
    end(reply)
    assert rest_of(reply) == [post("One.")]


@pytest.mark.parametrize(
    ("age", "shown"),
    [
        pytest.param(99.0, [PLACEHOLDER, "One."], id="its nonce is known"),
        pytest.param(100.0, [MAY_BE_A_REPEAT, "One."], id="its nonce may be forgotten"),
    ],
)
def test_a_post_that_was_cut_off_is_made_again_unmarked_only_while_its_nonce_is_known(
    age: float, shown: list[str]
) -> None:
    place = Place(address=ADDRESS, capabilities=replace(NONCE, nonce_life=100.0), seed="s")
    first = Reply(place=place, run_id="r1")
    say(first, "One.")
    end(first)
    next_of(first)
    reply = Reply(place=place, run_id="r1", lines=list(first.lines().values()), age=age)
    end(reply)
    assert [each.text for each in rest_of(reply) if isinstance(each, PostMessage | EditMessage)] == shown
