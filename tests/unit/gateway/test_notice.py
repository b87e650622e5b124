"""The sentences that the bot says itself."""

from typing import get_args

import pytest

from gateway import notice
from gateway.event import EndReason, ErrorType


def test_every_end_and_every_failure_has_its_sentence() -> None:
    assert set(notice.ENDINGS) == set(get_args(EndReason))
    assert set(notice.FAILURES) == set(get_args(ErrorType))


@pytest.mark.parametrize("reason", [reason for reason in get_args(EndReason) if reason != "complete"])
def test_each_stands_in_parentheses_and_names_the_run_where_the_log_knows_more(reason: EndReason) -> None:
    sentence = notice.ending(reason, None, "r7")
    assert sentence.startswith("(")
    assert sentence.endswith(")")
    assert ("Reference: r7" in sentence) == (reason in ("error", "consumer_stalled"))


def test_what_went_wrong_is_told_only_where_that_ended_the_run() -> None:
    assert notice.ending("complete", "server", "r7") == ""
    assert notice.ending("stopped", "server", "r7") == "(Stopped.)"
    assert notice.ending("error", "server", "r7") == f"{notice.FAILURES['server']} Reference: r7)"
