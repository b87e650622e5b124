"""The reply, one row of the outcome table at a time; that nothing is lost is a law, in tests/properties."""

from dataclasses import replace
from typing import get_args

import pytest

from gateway.adapter import Capabilities
from gateway.address import Address
from gateway.event import AgentEnd, EndReason, Error, ErrorType, MessageEnd, TextDelta, ToolUseStart, Usage
from gateway.operation import (
    EditMessage,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    TooLong,
    Unknown,
    Unreachable,
)
from gateway.reply import DOUBTS, ENDINGS, FAILURES, MAY_BE_A_REPEAT, NO_ANSWER, Bubble, Need, Priority, Reply

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")
EDIT = Capabilities(surface="edit", unit="cp", bubble=800, limit=4000, post=(), edit=())
POST = replace(EDIT, surface="post")


def reply_on(capabilities: Capabilities = EDIT) -> Reply:
    return Reply(address=ADDRESS, capabilities=capabilities, run_id="r1")


def say(reply: Reply, text: str) -> None:
    reply.feed(TextDelta(block_id="b0", text=text))


def end(reply: Reply, reason: EndReason = "complete") -> None:
    reply.feed(AgentEnd(reason=reason, final_response="", turn_count=1, message_count=1, usage=Usage()))


def next_of(reply: Reply) -> Operation:
    operation = reply.next_operation()
    assert operation is not None
    return operation


def post(text: str, *, markup: bool = True) -> PostMessage:
    return PostMessage(address=ADDRESS, text=text, markup=markup)


def edit(text: str, message_id: str = "m1", *, markup: bool = True) -> EditMessage:
    return EditMessage(address=ADDRESS, message_id=message_id, text=text, markup=markup)


def shown(text: str, message_id: str = "m1", capabilities: Capabilities = EDIT) -> Reply:
    """A reply whose live bubble shows a text."""
    reply = reply_on(capabilities)
    say(reply, text)
    assert reply.next_operation() == post(text)
    reply.settle(Performed(message_id=message_id))
    return reply


def rest_of(reply: Reply) -> list[Operation]:
    """What is still done where all goes well."""
    operations: list[Operation] = []
    while (operation := reply.next_operation()) is not None:
        operations.append(operation)
        message_id = operation.message_id if isinstance(operation, EditMessage) else f"n{len(operations)}"
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
    assert reply.need() == Need(priority=Priority.LIVE, message_id=None)
    assert reply.next_operation() == post("Hel")
    reply.settle(Performed(message_id="m1"))
    assert reply.need() is None
    say(reply, "lo.")
    assert reply.need() == Need(priority=Priority.LIVE, message_id="m1")
    assert reply.next_operation() == edit("Hello.")


def test_text_that_is_whole_is_final_and_closes_its_bubble() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    assert reply.need() == Need(priority=Priority.FINAL, message_id="m1")
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
    assert reply.need() == Need(priority=Priority.FINAL, message_id=None)
    assert isinstance(next_of(reply), PostMessage)
    reply.settle(Performed(message_id="m1"))
    assert reply.need() is None


@pytest.mark.parametrize("outcome", [RateLimited(retry_after=5.0), Unreachable(reason="no connection")])
def test_what_was_not_done_is_done_later_with_the_newest_text(outcome: Outcome) -> None:
    reply = reply_on()
    say(reply, "Hel")
    assert reply.next_operation() == post("Hel")
    say(reply, "lo.")
    reply.settle(outcome)
    assert reply.next_operation() == post("Hello.")


def test_a_message_that_shows_the_text_already_counts_as_edited() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    end(reply)
    next_of(reply)
    reply.settle(NotModified())
    assert reply.done


def test_a_post_is_not_on_the_screen_because_nothing_was_modified() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    end(reply)
    next_of(reply)
    reply.settle(NotModified())
    assert not reply.done
    assert reply.next_operation() == post("Hello.")


def test_a_live_message_that_was_deleted_is_posted_anew_with_all_of_its_text() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    assert reply.next_operation() == edit("Hello.")
    reply.settle(MessageGone())
    assert reply.next_operation() == post("Hello.")


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
    texts = [operation.text for operation in rest_of(reply)]
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
    assert reply.next_operation() == post("Hello, you")


def test_a_single_character_that_is_too_long_ends_the_reply() -> None:
    reply = reply_on()
    say(reply, "x")
    end(reply)
    next_of(reply)
    reply.settle(TooLong())
    assert reply.failure == "the platform refuses even 1 characters as too long"
    assert reply.next_operation() is None


def test_a_post_of_unknown_outcome_is_repeated_and_says_so() -> None:
    reply = reply_on()
    say(reply, "Hel")
    next_of(reply)
    reply.settle(Unknown(reason="no answer"))
    assert next_of(reply) == post(f"{MAY_BE_A_REPEAT}Hel")
    reply.settle(Performed(message_id="m1"))
    say(reply, "lo.")
    end(reply, "cut")
    assert rest_of(reply) == [edit(f"{MAY_BE_A_REPEAT}Hello."), post(ENDINGS["cut"])]


def test_a_post_that_is_in_doubt_too_often_ends_the_reply_and_says_why() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    for _ in range(DOUBTS):
        assert (reply.failure, reply.done) == (None, False)
        next_of(reply)
        reply.settle(Unknown(reason="no answer"))
    assert reply.failure == "posted 3 times without an answer, so it may be there already: no answer"
    assert reply.done
    assert reply.next_operation() is None


def test_the_doubts_of_one_bubble_do_not_count_against_the_next() -> None:
    reply = reply_on(POST)
    for text in ("One.", "Two."):
        say(reply, text)
        reply.feed(MessageEnd(message_id="m", stop_reason="end", usage=Usage()))
        for _ in range(DOUBTS - 1):
            next_of(reply)
            reply.settle(Unknown(reason="no answer"))
        assert next_of(reply) == post(f"{MAY_BE_A_REPEAT}{text}")
        reply.settle(Performed(message_id=text))
    assert reply.failure is None
    assert [bubble.message_id for bubble in reply.bubbles] == ["One.", "Two."]


def test_only_doubts_count_not_what_was_not_done_for_sure() -> None:
    reply = reply_on()
    say(reply, "Hello.")
    for _ in range(10 * DOUBTS):
        next_of(reply)
        reply.settle(Unreachable(reason="no connection"))
    assert reply.failure is None
    assert reply.next_operation() == post("Hello.")


def test_a_mark_makes_no_message_longer_than_the_platform_takes() -> None:
    reply = reply_on(replace(EDIT, bubble=100, limit=100))
    say(reply, "word " * 19)
    end(reply)
    next_of(reply)
    reply.settle(Unknown(reason="no answer"))
    texts = [operation.text for operation in rest_of(reply)]
    assert max(map(len, texts)) <= 100
    assert " ".join(texts).split() == [*MAY_BE_A_REPEAT.split(), *["word"] * 19]


def test_an_edit_of_unknown_outcome_is_simply_sent_again_however_often() -> None:
    reply = shown("Hel")
    say(reply, "lo.")
    for _ in range(10 * DOUBTS):
        assert reply.next_operation() == edit("Hello.")
        reply.settle(Unknown(reason="no answer"))
    assert reply.failure is None
    assert reply.next_operation() == edit("Hello.")


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


@pytest.mark.parametrize("reason", [reason for reason in get_args(EndReason) if reason != "complete"])
def test_every_other_end_is_told_in_a_sentence_behind_the_text(reason: EndReason) -> None:
    reply = reply_on(POST)
    say(reply, "Hel")
    end(reply, reason)
    text, sentence = (operation.text for operation in rest_of(reply))
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
    texts = [operation.text for operation in rest_of(reply)]
    assert max(map(len, texts)) <= 40
    assert " ".join(texts) == ENDINGS["cut"]
