"""What goes with a question of what was said before it."""

from itertools import count

import pytest

from gateway.context import CHARACTERS, CUT, MESSAGES, quoted
from gateway.history import Quoted
from gateway.operation import Said

_ids = count()


def theirs(text: str, user: str = "U1") -> Said:
    return Said(message_id=str(next(_ids)), user=user, text=text, ours=False)


def ours(text: str, message_id: str | None = None) -> Said:
    return Said(message_id=message_id or str(next(_ids)), user="bot", text=text, ours=True)


def texts(*said: Said, root: str = "root") -> list[str]:
    return [each.text for each in quoted(said, root=root)]


def test_it_begins_behind_our_last_answer() -> None:
    assert quoted([theirs("old"), ours("An answer."), theirs("new idea", "U2")], root="root") == (
        Quoted(speaker="U2", text="new idea"),
    )


def test_our_notices_end_nothing_and_are_no_part_of_it() -> None:
    assert texts(theirs("one"), ours("(I am not answering anything here.)"), theirs("two")) == ["one", "two"]


@pytest.mark.parametrize("word", ["new", "New!", " NEW. "])
def test_what_was_said_before_a_new_conversation_is_no_part_of_it(word: str) -> None:
    assert texts(theirs("my secret is 42"), theirs(word), theirs("well")) == ["well"]


@pytest.mark.parametrize("word", ["stop", "status", "help!"])
def test_other_commands_are_no_part_of_it(word: str) -> None:
    assert texts(theirs("one"), theirs(word), theirs("stop that noise")) == ["one", "stop that noise"]


def test_the_root_goes_along_where_it_is_our_only_word() -> None:
    assert texts(ours("The report.", "root"), theirs("why?")) == ["The report.", "why?"]


def test_what_does_not_fit_is_cut_and_says_so() -> None:
    (kept,) = texts(theirs("old"), theirs("x" * (CHARACTERS + 1)))
    assert len(kept) == CHARACTERS
    assert kept.endswith(CUT)


def test_the_newest_are_kept() -> None:
    said = [theirs(str(number)) for number in range(MESSAGES + 5)]
    assert texts(*said) == [str(number) for number in range(5, MESSAGES + 5)]


def test_what_the_history_holds_is_not_said_twice() -> None:
    known, other = theirs("known"), theirs("other")
    assert [each.text for each in quoted([known, other], root="root", known=frozenset({known.message_id}))] == ["other"]
