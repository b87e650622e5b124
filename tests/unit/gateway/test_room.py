"""How many messages there is room for."""

from dataclasses import replace

import pytest

from gateway.adapter import Capabilities
from gateway.draft import Piece
from gateway.notice import LEFT_OUT
from gateway.room import Room

ANY_NUMBER = Capabilities(surface="edit", unit="cp", bubble=200, post=(), edit=())
THREE = replace(ANY_NUMBER, messages=3)


def pieces(*texts: str) -> list[Piece]:
    return [Piece(kind="text", draft=0, text=text) for text in texts]


def texts(shown: list[Piece]) -> list[str]:
    return [piece.text for piece in shown]


def test_without_a_limit_everything_passes() -> None:
    room = Room(ANY_NUMBER)
    assert texts(room.admit(pieces(*"abcdefgh"))) == list("abcdefgh")
    assert room.close() == ([], False)
    assert not room.full


def test_the_piece_for_the_last_message_waits_and_is_shown_as_it_is_where_nothing_follows() -> None:
    room = Room(THREE)
    assert texts(room.admit(pieces("a", "b", "c"))) == ["a", "b"]
    assert room.full
    assert texts(room.close()[0]) == ["c"]


def test_where_more_follows_the_last_message_says_that_it_is_left_out() -> None:
    room = Room(THREE)
    assert texts(room.admit(pieces("a"))) == ["a"]
    assert texts(room.admit(pieces("b", "c", "d"))) == ["b"]
    assert room.admit(pieces("e")) == []
    assert texts(room.close()[0]) == [f"c\n\n{LEFT_OUT}"]


def test_behind_the_close_nothing_passes() -> None:
    room = Room(THREE)
    assert room.close() == ([], False)
    assert room.admit(pieces("a")) == []
    assert room.close() == ([], False)


def test_what_was_used_before_is_no_room_any_more_but_for_one_last_message() -> None:
    assert Room(THREE, used=2).admit(pieces("a")) == []
    assert texts(Room(THREE, used=0).admit(pieces("a", "b"))) == ["a", "b"]
    spent = Room(THREE, used=7)
    spent.admit(pieces("a"))
    assert texts(spent.close()[0]) == ["a"]


def test_what_is_taken_back_is_room_again() -> None:
    room = Room(THREE)
    room.admit(pieces("a", "b", "c"))
    room.give_back(2, lambda _: True)
    assert texts(room.admit(pieces("d", "e"))) == ["d", "e"]
    assert room.close() == ([], False)


def test_what_waits_and_is_not_taken_back_goes_on_waiting() -> None:
    room = Room(THREE)
    room.admit(pieces("a", "b", "c", "d"))
    room.give_back(0, lambda piece: piece.text == "d")
    assert texts(room.close()[0]) == ["c"]


@pytest.mark.parametrize("text", ["word " * 40, "w" * 200, "```python\n" + "x = 1\n" * 31 + "```", "😀" * 200])
def test_a_full_last_message_gives_up_words_for_the_sentence(text: str) -> None:
    room = Room(THREE, used=2)
    room.admit(pieces(text[:200], "more"))
    (last,) = room.close()[0]
    assert last.text.endswith(LEFT_OUT)
    assert len(last.text) <= THREE.bubble
    assert len(last.text) > THREE.bubble // 2


def test_messages_that_may_be_there_take_the_room_of_others() -> None:
    room = Room(THREE)
    assert texts(room.admit(pieces("a", "b", "c"))) == ["a", "b"]
    assert room.spend(1) == 0
    assert room.close() == ([], True)
    room = Room(THREE)
    room.admit(pieces("a", "b", "c"))
    assert room.spend(3) == 2
    assert Room(ANY_NUMBER).spend(9) == 0


def test_what_belongs_together_gets_room_for_all_of_it_and_one_message_behind_or_none() -> None:
    room = Room(THREE)
    assert not room.take(3)
    assert room.take(2)
    assert not room.take(1)
    assert room.admit(pieces("a")) == []
    assert texts(room.close()[0]) == ["a"]
    assert Room(ANY_NUMBER).take(1_000)


def test_nothing_more_is_taken_once_the_last_message_is_spoken_for() -> None:
    room = Room(THREE)
    room.admit(pieces("a", "b", "c"))
    assert not room.take(1)
