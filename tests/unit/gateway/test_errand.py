import pytest

from gateway.errand import TRIES, Errand
from gateway.need import Budgets, Need, Priority
from gateway.operation import (
    Forbidden,
    MarkWaiting,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    RateLimited,
    ReadThread,
    ThreadRead,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)
from tests.unit.gateway.chat import CAPABILITIES, place

MARK = MarkWaiting(address=place(), message_id="m1")
UNMARK = UnmarkWaiting(address=place(), message_id="m1")
READ = ReadThread(address=place())
AGAIN = [RateLimited(retry_after=5.0), Unreachable(reason="no route"), Unknown(reason="no answer")]


def errand(operation: Operation = MARK, priority: Priority = Priority.ACKNOWLEDGEMENT) -> Errand:
    return Errand(operation, CAPABILITIES, priority)


@pytest.mark.parametrize(("operation", "draws"), [(MARK, "mark"), (UNMARK, "mark"), (READ, "read")])
def test_it_draws_on_the_budget_of_its_operation_at_its_priority(operation: Operation, draws: Budgets) -> None:
    assert errand(operation, Priority.STATUS).need() == Need(priority=Priority.STATUS, draws=draws)


def test_its_operation_is_given_out_once_and_nothing_is_needed_meanwhile() -> None:
    mark = errand()
    assert mark.next_operation() == MARK
    assert mark.need() is None
    assert mark.next_operation() is None
    assert not mark.done


@pytest.mark.parametrize(
    "outcome",
    [
        Performed(message_id="m1"),
        NotModified(),
        MessageGone(),
        Forbidden(reason="no scope"),
        ThreadRead(messages=()),
    ],
)
def test_what_was_done_or_never_will_be_is_its_end(outcome: Outcome) -> None:
    mark = errand()
    mark.next_operation()
    mark.settle(outcome)
    assert (mark.done, mark.outcome) == (True, outcome)
    assert mark.need() is None
    assert mark.next_operation() is None


@pytest.mark.parametrize("outcome", AGAIN)
def test_what_may_go_later_goes_again_a_few_times_and_is_let_be(outcome: Outcome) -> None:
    mark, given = errand(), 0
    while mark.next_operation() == MARK:
        given += 1
        mark.settle(outcome)
        assert mark.done is (given == TRIES)
    assert given == TRIES
    assert mark.outcome == outcome


@pytest.mark.parametrize("outcome", AGAIN)
def test_what_goes_well_at_last_has_gone_well(outcome: Outcome) -> None:
    mark = errand()
    for last in [outcome] * (TRIES - 1) + [Performed(message_id="m1")]:
        assert mark.next_operation() == MARK
        mark.settle(last)
    assert mark.outcome == Performed(message_id="m1")


def test_nothing_of_it_is_written_down() -> None:
    mark = errand()
    mark.next_operation()
    assert mark.lines() == {}


def test_it_is_where_its_operation_is() -> None:
    assert (errand().address, errand().capabilities) == (place(), CAPABILITIES)
