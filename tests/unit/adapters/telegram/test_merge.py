from typing import Any

import pytest

from adapters.telegram.merge import ALBUM, HOLD, LONGEST, REMEMBERED, Group, Merge
from tests.unit.adapters.telegram.payload import ADA, direct, group, photo, press, topic, update

BOB = {"id": 102, "is_bot": False, "first_name": "Bob"}
LONG = "a" * 4000


def ids(groups: list[Group]) -> list[list[object]]:
    return [[each["update_id"] for each in group.updates] for group in groups]


def fed(*messages: dict[str, Any], merge: Merge | None = None, now: float = 0.0, first: int = 1) -> Merge:
    """After these messages, one update each, under message ids that count up as well."""
    merge = merge or Merge()
    for number, message in enumerate(messages, first):
        merge.feed(update(message | {"message_id": number}, number), now)
    return merge


def test_what_cannot_go_on_is_not_held() -> None:
    merge = fed(direct("one"), direct("two"))
    assert ids(merge.take(0.0)) == [[1], [2]]
    assert merge.due() is None


def test_a_long_text_is_held_for_a_moment() -> None:
    merge = fed(direct(LONG))
    assert merge.take(HOLD - 0.1) == []
    assert merge.due() == HOLD
    assert ids(merge.take(HOLD)) == [[1]]


def test_l34_the_parts_of_a_paste_are_one() -> None:
    merge = fed(direct("🙂" * 2048, date=1_000))
    assert merge.take(0.0) == []
    fed(direct("and so on", date=1_001), merge=merge, now=0.8, first=2)
    assert ids(merge.take(0.8)) == [[1, 2]]


@pytest.mark.parametrize(
    "second",
    [
        direct("b", date=1_003),
        direct("b", date=999),
        direct("b", **{"from": BOB}),
        direct(None, voice={"file_id": "v"}),
        photo(2),
    ],
    ids=["later", "earlier", "another's", "voice", "photo"],
)
def test_what_is_no_part_is_a_message_of_its_own(second: dict[str, Any]) -> None:
    merge = fed(direct(LONG, date=1_000), second)
    assert ids(merge.take(HOLD)) == [[1], [2]]


def test_a_short_text_has_no_second_part() -> None:
    assert ids(fed(direct("a" * 3999), direct("b")).take(0.0)) == [[1], [2]]


def test_an_album_is_one_however_many_pictures_it_has() -> None:
    merge = fed(*(photo(number, media_group_id="g1") for number in range(3)))
    assert merge.take(0.0) == []
    assert ids(merge.take(HOLD)) == [[1, 2, 3]]
    merge = fed(*(photo(number, media_group_id="g1") for number in range(ALBUM)))
    assert len(merge.take(0.0)) == 1


def test_two_albums_are_two() -> None:
    merge = fed(photo(1, media_group_id="g1"), photo(2, media_group_id="g2"))
    assert ids(merge.take(HOLD)) == [[1], [2]]


def test_another_persons_words_do_not_part_a_message() -> None:
    merge = fed(group(LONG), group("b", **{"from": BOB}), group("c", **{"from": ADA}))
    assert ids(merge.take(0.0)) == [[1, 3], [2]]


def test_o07_what_comes_behind_a_held_message_waits_and_other_places_do_not() -> None:
    merge = fed(photo(1, media_group_id="g1"), direct("b", **{"from": BOB}), topic("c"), topic("d", thread=6))
    assert ids(merge.take(0.0)) == [[3], [4]]
    assert ids(merge.take(HOLD)) == [[1], [2]]


def test_a_press_waits_for_nothing() -> None:
    merge = fed(photo(1, media_group_id="g1"))
    merge.feed(update(press(photo(2)), 2, "callback_query"), 0.0)
    assert ids(merge.take(0.0)) == [[2]]
    assert ids(merge.take(HOLD)) == [[1]]


def test_the_senders_next_message_ends_the_waiting() -> None:
    merge = fed(photo(1, media_group_id="g1"), direct("what is wrong with it?"))
    assert ids(merge.take(0.0)) == [[1], [2]]


def test_nothing_is_held_for_ever() -> None:
    merge = Merge()
    for number in range(1, 9):
        fed(photo(number, media_group_id="g1"), merge=merge, now=number * 0.9, first=number)
        if groups := merge.take(number * 0.9):
            assert number * 0.9 >= 0.9 + LONGEST
            assert groups[0].began == 0.9
            return
    pytest.fail("it was held for ever")


# What may be confirmed.


def test_an_update_is_confirmed_when_it_and_all_before_it_are_done() -> None:
    merge = fed(photo(1, media_group_id="g1"), topic("b"))
    (second,) = merge.take(0.0)
    merge.done(second)
    assert merge.offset == 1
    (first,) = merge.take(HOLD)
    merge.done(first)
    assert merge.offset == 3
    merge.confirmed(3)
    assert merge.offset is None


def test_what_comes_again_while_it_is_held_is_known() -> None:
    merge = fed(direct(LONG))
    fed(direct(LONG), direct("b"), merge=merge, now=0.5)
    assert ids(merge.take(0.5)) == [[1, 2]]


def test_what_was_done_and_comes_again_behind_a_held_one_is_known() -> None:
    merge = fed(photo(1, media_group_id="g1"), topic("b"))
    for each in merge.take(0.0):
        merge.done(each)
    fed(photo(1, media_group_id="g1"), topic("b"), merge=merge, now=0.2)
    assert merge.take(0.2) == []


def test_what_is_forgotten_is_put_together_again() -> None:
    merge = fed(topic("b"), direct(LONG), direct("c"))
    done, _ = merge.take(0.0)
    merge.done(done)
    merge.forget()
    assert merge.offset == 2 or merge.offset is None or merge.offset <= 2
    fed(topic("b"), direct(LONG), direct("c"), merge=merge)
    assert ids(merge.take(0.0)) == [[2, 3]]


def test_an_update_without_an_id_is_taken_each_time_and_confirms_nothing() -> None:
    merge = Merge()
    for _ in range(2):
        merge.feed({"message": {}}, 0.0)
        (group_,) = merge.take(0.0)
        merge.done(group_)
    assert merge.offset is None


# Edits of parts.


def edit(of: int, text: str, number: int) -> dict[str, Any]:
    return update(direct(text, message_id=of), number, "edited_message")


def test_an_edit_of_a_part_brings_the_whole() -> None:
    merge = fed(direct(LONG), direct("b"))
    merge.take(0.0)
    merge.feed(edit(2, "c", 3), 0.0)
    merge.feed(edit(1, "d", 4), 0.0)
    first, second = merge.take(0.0)
    assert [part["text"] for part in first.parts] == [LONG, "c"]
    assert [part["text"] for part in second.parts] == ["d", "c"]


def test_an_edit_that_comes_while_its_message_is_held_brings_the_whole_too() -> None:
    merge = fed(direct(LONG), direct(LONG))
    merge.feed(edit(1, "d", 3), 0.5)
    first, second = merge.take(HOLD)
    assert ids([first, second]) == [[1, 2], [3]]
    assert [part["text"] for part in second.parts] == ["d", LONG]


def test_an_edit_of_a_message_that_came_whole_brings_nothing() -> None:
    merge = fed(direct("a"))
    merge.take(0.0)
    merge.feed(edit(1, "c", 2), 0.0)
    assert [group_.parts for group_ in merge.take(0.0)] == [()]


def test_not_all_that_came_in_parts_is_remembered() -> None:
    merge = Merge()
    for number in range(1, 2 * REMEMBERED, 2):
        fed(direct(LONG), direct("b"), merge=merge, first=number)
        merge.take(0.0)
    last = 2 * REMEMBERED - 1
    for number, of in enumerate((1, last), last + 2):
        merge.feed(edit(of, "c", number), 0.0)
    assert [bool(each.parts) for each in merge.take(0.0)] == [False, True]
