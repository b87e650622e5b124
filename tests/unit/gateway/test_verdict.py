"""The outcome table in code, beside the one in the design: a row a test, so that whoever changes one sees the other."""

from typing import get_args

import pytest

from gateway.address import Address
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
    StartStream,
    ThreadRead,
    TooLong,
    Unknown,
    Unreachable,
)
from gateway.verdict import TABLE, Verdict, verdict

ADDRESS = Address(platform="p", account="a", channel="c", thread="t")

CREATE = (PostMessage, StartStream)
CHANGE = (EditMessage,)
GROW = (AppendText, FinishStream)

DESIGN: list[tuple[type[Outcome], Verdict, Verdict, Verdict]] = [
    # outcome, create, change, append and finish: in the order of design.md, section 8
    (NotModified, Verdict.END, Verdict.SHOWN, Verdict.END),
    (MessageGone, Verdict.END, Verdict.ANEW, Verdict.ANEW),
    (MarkupRejected, Verdict.PLAIN, Verdict.PLAIN, Verdict.PLAIN),
    (TooLong, Verdict.SMALLER, Verdict.SMALLER, Verdict.CLOSE),
    (Expired, Verdict.ORDINARY, Verdict.REPLACE, Verdict.CLOSED),
    (Unknown, Verdict.FIND, Verdict.UNSURE, Verdict.UNSURE),
    (Forbidden, Verdict.END, Verdict.END, Verdict.END),
    (Performed, Verdict.SHOWN, Verdict.SHOWN, Verdict.SHOWN),
    (EditRefused, Verdict.END, Verdict.REPLACE, Verdict.REPLACE),
    (ThreadRead, Verdict.END, Verdict.END, Verdict.END),
]


@pytest.mark.parametrize(("outcome", "create", "change", "grow"), DESIGN)
def test_the_table_says_what_the_design_says(
    outcome: type[Outcome], create: Verdict, change: Verdict, grow: Verdict
) -> None:
    for operations, expected in ((CREATE, create), (CHANGE, change), (GROW, grow)):
        for operation in operations:
            ordinary = expected is Verdict.ORDINARY and operation is PostMessage  # already: there is no other
            assert TABLE[operation].get(outcome, Verdict.END) is (Verdict.END if ordinary else expected)


def test_the_design_leaves_no_outcome_out() -> None:
    assert {row[0] for row in DESIGN} | {RateLimited, Unreachable} == set(get_args(Outcome))


@pytest.mark.parametrize("outcome", [RateLimited(retry_after=600.0), Unreachable(reason="no connection")])
@pytest.mark.parametrize(
    "operation",
    [
        PostMessage(address=ADDRESS, text="x"),
        EditMessage(address=ADDRESS, message_id="m", text="x"),
        DeleteMessage(address=ADDRESS, message_id="m"),
        StartStream(address=ADDRESS, text="x"),
        AppendText(address=ADDRESS, message_id="m", text="x"),
        FinishStream(address=ADDRESS, message_id="m", text="x"),
        ReadThread(address=ADDRESS),
    ],
)
def test_what_was_certainly_not_done_waits(operation: Operation, outcome: Outcome) -> None:
    assert verdict(operation, outcome) is Verdict.WAIT


def test_what_is_gone_is_gone_and_what_may_not_be_taken_away_stays() -> None:
    given = (Performed, MessageGone, EditRefused, Expired, Forbidden)
    assert {outcome: TABLE[DeleteMessage][outcome] for outcome in given} == {
        Performed: Verdict.GONE,
        MessageGone: Verdict.GONE,
        EditRefused: Verdict.STAYS,
        Expired: Verdict.STAYS,
        Forbidden: Verdict.STAYS,
    }


def test_a_conversation_that_may_not_be_read_leaves_the_doubt() -> None:
    assert TABLE[ReadThread] == {
        ThreadRead: Verdict.READ,
        Unknown: Verdict.WAIT,
        MessageGone: Verdict.DOUBT,
        Forbidden: Verdict.DOUBT,
    }
