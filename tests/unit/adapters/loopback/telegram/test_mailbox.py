import pytest

from adapters.loopback.telegram.mailbox import Mailbox

DAY = 24 * 3600


def ids(mailbox: Mailbox, limit: int = 100, now: float = 0.0) -> list[object]:
    return [update["update_id"] for update in mailbox.take(limit, now)]


def filled(count: int) -> tuple[Mailbox, list[int]]:
    mailbox = Mailbox()
    return mailbox, [mailbox.put({"message": {}}, 0.0) for _ in range(count)]


def test_updates_are_numbered_and_stay_until_they_are_confirmed() -> None:
    mailbox, numbers = filled(3)
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    assert ids(mailbox, 2) == numbers[:2]
    assert ids(mailbox) == numbers
    mailbox.confirm(numbers[1])
    assert ids(mailbox) == numbers[1:]
    mailbox.confirm(numbers[0])
    assert (ids(mailbox), mailbox.offset) == (numbers[1:], numbers[1])


@pytest.mark.parametrize(("offset", "left"), [(-1, 1), (-2, 2), (-9, 3)])
def test_a_negative_offset_leaves_so_many_of_the_last(offset: int, left: int) -> None:
    mailbox, numbers = filled(3)
    mailbox.confirm(offset)
    assert ids(mailbox) == numbers[-left:]


def test_an_empty_box_can_be_confirmed_from_the_end() -> None:
    mailbox = Mailbox()
    mailbox.confirm(-1)
    assert ids(mailbox) == []


def test_an_update_with_an_id_keeps_it_and_the_next_comes_behind() -> None:
    mailbox = Mailbox()
    assert mailbox.put({"update_id": 500_000, "message": {}}, 0.0) == 500_000
    assert mailbox.put({"message": {}}, 0.0) == 500_001


def test_what_comes_again_comes_once_however_far_it_was_confirmed() -> None:
    mailbox, numbers = filled(2)
    mailbox.confirm(numbers[1] + 1)
    mailbox.repeat(numbers[0])
    assert len(mailbox) == 1
    assert ids(mailbox) == [numbers[0]]
    assert ids(mailbox) == []
    with pytest.raises(KeyError):
        mailbox.repeat(1)


def test_an_update_is_kept_for_a_day() -> None:
    mailbox, (number,) = filled(1)
    assert ids(mailbox, now=DAY - 1.0) == [number]
    assert ids(mailbox, now=float(DAY)) == []


def test_one_that_was_delivered_leaves_the_others() -> None:
    mailbox, numbers = filled(3)
    mailbox.repeat(numbers[1])
    mailbox.forget(numbers[1])
    assert [update["update_id"] for update in mailbox.due(0.0)] == [numbers[0], numbers[2]]
    assert mailbox.offset == numbers[0]
    mailbox.clear()
    assert mailbox.due(0.0) == []


def test_types_are_allowed_by_list_or_by_default() -> None:
    mailbox = Mailbox()
    assert (mailbox.is_allowed("message"), mailbox.is_allowed("chat_member")) == (True, False)
    mailbox.allow(["chat_member"])
    mailbox.allow(None)
    assert (mailbox.is_allowed("message"), mailbox.is_allowed("chat_member")) == (False, True)
    mailbox.allow([])
    assert mailbox.is_allowed("message")
