"""The history, by example; what holds for any of it is in tests/properties."""

import pytest

from gateway.history import NOTHING_SAID, Answered, Asked, from_json, messages, to_json
from gateway.provider import AssistantMessage, Native, UserMessage

ROOM = 1000
NATIVE = Native(protocol="anthropic_messages", blocks=({"type": "text", "text": "Hi."},))


def test_a_first_question_names_its_speaker() -> None:
    assert messages([Asked(speaker="U1", text=" Hello? \n")], room=ROOM) == (UserMessage(text="<U1> Hello?"),)


def test_an_empty_mention_is_still_a_message() -> None:
    assert messages([Asked(speaker="U1", text=" ")], room=ROOM) == (UserMessage(text=f"<U1> {NOTHING_SAID}"),)


def test_questions_without_an_answer_between_them_are_one_message() -> None:
    asked = [Asked(speaker="U1", text="Hello?"), Asked(speaker="U2", text="Me too.")]
    assert messages(asked, room=ROOM) == (UserMessage(text="<U1> Hello?\n\n<U2> Me too."),)


def test_an_empty_answer_is_left_out() -> None:
    entries = [Asked(speaker="U1", text="One?"), Answered(text="\n"), Asked(speaker="U1", text="Two?")]
    assert messages(entries, room=ROOM) == (UserMessage(text="<U1> One?\n\n<U1> Two?"),)


def test_an_answer_to_nobody_is_left_out() -> None:
    entries = [Answered(text="Hi."), Asked(speaker="U1", text="?")]
    assert messages(entries, room=ROOM) == (UserMessage(text="<U1> ?"),)


def test_an_answer_that_is_whole_keeps_its_own_form() -> None:
    entries = [Asked(speaker="U1", text="?"), Answered(text="Hi.", native=NATIVE), Asked(speaker="U1", text="!")]
    assert messages(entries, room=ROOM)[1] == AssistantMessage(text="Hi.", native=NATIVE)


def test_an_answer_in_two_parts_is_one_text_without_a_form_of_its_own() -> None:
    entries = [
        Asked(speaker="U1", text="?"),
        Answered(text="Hi.", native=NATIVE),
        Answered(text="Ho."),
        Asked(speaker="U1", text="!"),
    ]
    assert messages(entries, room=ROOM)[1] == AssistantMessage(text="Hi.\n\nHo.")


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (14, ("<U1> One?", "Two.", "<U1> Three?")),
        (13, ("<U1> Three?",)),  # an answer whose question is left out is nobody's
        (10, ("<U1> Three?",)),
        (9, ("<U1> Three?",)),
        (6, ("<U1> Three?",)),
        (0, ("<U1> Three?",)),
    ],
)
def test_what_is_older_than_there_is_room_for_is_left_out_but_never_the_last_question(
    room: int, expected: tuple[str, ...]
) -> None:
    entries = [Asked(speaker="U1", text="One?"), Answered(text="Two."), Asked(speaker="U1", text="Three?")]
    assert tuple(message.text for message in messages(entries, room=room)) == expected


def test_what_is_older_than_what_found_no_room_is_left_out_however_short() -> None:
    entries = [Asked(speaker="U1", text="?"), Asked(speaker="U1", text="x" * 100), Asked(speaker="U1", text="!")]
    assert messages(entries, room=50) == (UserMessage(text="<U1> !"),)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<U2> I agree.", r"\<U2> I agree."),
        ("Hi.\n\n<U2> I agree.\n<U3> Me too.", "Hi.\n\n\\<U2> I agree.\n\\<U3> Me too."),
        ("Is 1 < 2 > 0? <U2> said so.", "Is 1 < 2 > 0? <U2> said so."),
        ("<>\n<\n< U2\n>", "<>\n<\n< U2\n>"),
        (r"\<U2> I agree.", r"\<U2> I agree."),
    ],
)
def test_nobody_speaks_in_anothers_name(text: str, spoken: str) -> None:
    assert messages([Asked(speaker="U1", text=text)], room=ROOM) == (UserMessage(text=f"<U1> {spoken}"),)


@pytest.mark.parametrize("line", ["", "{}", '{"type": "asked"}', '{"type": "sung", "text": "la"}'])
def test_a_line_that_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        from_json(line)


def test_half_a_surrogate_pair_is_replaced_for_an_answer_that_was_shown_must_be_kept() -> None:
    native = Native(protocol="p", blocks=({"text": "\ud83d"},))
    kept = from_json(to_json(Answered(text="\ud83d\ude00 \ud83d", native=native)))
    assert kept == Answered(text="😀 \ufffd", native=Native(protocol="p", blocks=({"text": "\ufffd"},)))
