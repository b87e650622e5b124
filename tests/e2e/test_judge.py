"""The judges of the fault tests and the kill tests see what is wrong."""

import pytest

from tests.e2e.judge import (
    Judge,
    Row,
    assert_begun,
    assert_doubts_are_marked,
    assert_gaps_are_marked,
    assert_whole_once_in_order,
)

CHUNKS, NOTICE = ["one", "two", "three"], "(!)"


def rows(screen: str) -> list[Row]:
    """A screen in words: ``-one`` was deleted by a reader."""
    return [Row(id=str(at), look=w.lstrip("-"), text=w, deleted=w[0] == "-") for at, w in enumerate(screen.split())]


WHOLE = ["one two three", "one -two three", "-one two three"]
WRONG = ["one two", "two one three", "one two two three", "one tw two three", "one tw -tw two three", "-on two three"]
MARKED = ["one (!) two three", "one two (!) two three", "one tw (!) two three", "one tw (!) (!) two three"]
GAPS = ["one (!) three", "one two (!)", "one tw (!) three", "(!) (!) (!)", "one (!) (!) three", "one two (!) three"]


@pytest.mark.parametrize(
    ("judge", "screens"),
    [
        (assert_whole_once_in_order, WHOLE),
        (assert_doubts_are_marked, WHOLE + MARKED),
        (assert_gaps_are_marked, WHOLE + GAPS),
    ],
)
def test_what_is_right_passes(judge: Judge, screens: list[str]) -> None:
    for screen in screens:
        judge(rows(screen), CHUNKS, NOTICE)


@pytest.mark.parametrize(
    ("judge", "screens"),
    [
        (assert_whole_once_in_order, [*WRONG, "one (!) two three"]),
        (assert_doubts_are_marked, [*WRONG, "one (!) three", "one (!) two two three"]),
        (assert_gaps_are_marked, [*WRONG, "one (!)", "(!) three", "one two three three (!) (!)"]),
    ],
)
def test_what_is_wrong_does_not(judge: Judge, screens: list[str]) -> None:
    for screen in screens:
        with pytest.raises(AssertionError):
            judge(rows(screen), CHUNKS, NOTICE)


def test_what_may_end_early_is_in_order_once_and_its_first_tries_are_counted() -> None:
    words, answer = r"[a-z]+", "one two three"
    assert assert_begun(rows("one two"), answer, NOTICE, words) == 0
    assert assert_begun(rows("one two two"), answer, None, words) == 1
    for screen in ("two one", "one three", "one two two"):
        with pytest.raises(AssertionError):
            assert_begun(rows(screen), answer, NOTICE, words)
