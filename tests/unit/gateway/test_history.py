"""The history, by example; what holds for any of it is in tests/properties."""

import pytest

from gateway.history import NOTHING_SAID, Answered, Asked, from_json, messages, to_json
from gateway.provider import AssistantMessage, Native, UserMessage

NATIVE = Native(protocol="anthropic_messages", blocks=({"type": "text", "text": "Hi."},))


def test_a_first_question_names_its_speaker() -> None:
    assert messages([Asked(speaker="U1", text=" Hello? \n")]) == (UserMessage(text="<U1> Hello?"),)


def test_an_empty_mention_is_still_a_message() -> None:
    assert messages([Asked(speaker="U1", text=" ")]) == (UserMessage(text=f"<U1> {NOTHING_SAID}"),)


def test_questions_without_an_answer_between_them_are_one_message() -> None:
    asked = [Asked(speaker="U1", text="Hello?"), Asked(speaker="U2", text="Me too.")]
    assert messages(asked) == (UserMessage(text="<U1> Hello?\n\n<U2> Me too."),)


def test_an_empty_answer_is_left_out() -> None:
    entries = [Asked(speaker="U1", text="One?"), Answered(text="\n"), Asked(speaker="U1", text="Two?")]
    assert messages(entries) == (UserMessage(text="<U1> One?\n\n<U1> Two?"),)


def test_an_answer_to_nobody_is_left_out() -> None:
    assert messages([Answered(text="Hi."), Asked(speaker="U1", text="?")]) == (UserMessage(text="<U1> ?"),)


def test_an_answer_that_is_whole_keeps_its_own_form() -> None:
    said = messages([Asked(speaker="U1", text="?"), Answered(text="Hi.", native=NATIVE), Asked(speaker="U1", text="!")])
    assert said[1] == AssistantMessage(text="Hi.", native=NATIVE)


def test_an_answer_in_two_parts_is_one_text_without_a_form_of_its_own() -> None:
    entries = [
        Asked(speaker="U1", text="?"),
        Answered(text="Hi.", native=NATIVE),
        Answered(text="Ho."),
        Asked(speaker="U1", text="!"),
    ]
    assert messages(entries)[1] == AssistantMessage(text="Hi.\n\nHo.")


@pytest.mark.parametrize("line", ["", "{}", '{"type": "asked"}', '{"type": "sung", "text": "la"}'])
def test_a_line_that_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        from_json(line)


def test_half_a_surrogate_pair_is_replaced_for_an_answer_that_was_shown_must_be_kept() -> None:
    native = Native(protocol="p", blocks=({"text": "\ud83d"},))
    kept = from_json(to_json(Answered(text="\ud83d\ude00 \ud83d", native=native)))
    assert kept == Answered(text="😀 \ufffd", native=Native(protocol="p", blocks=({"text": "\ufffd"},)))
