import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.slack import rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.listing import Page, Span, channel_page, read_span, thread_page
from adapters.loopback.slack.message import Content, Message
from adapters.loopback.slack.rule import Rule

TIMES = range(1, 8)


def message(second: int) -> Message:
    content = Content(text=f"{second}")
    return Message(
        channel="C1", ts=f"{second}.000000", t=0, author="user", user="U1", content=content, original=content
    )


MESSAGES = [message(second) for second in TIMES]


def span(**values: object) -> Span:
    return read_span(Arguments(values), default=100, most=999)


def seconds(page: Page) -> list[int]:
    return [int(float(each.ts)) for each in page.messages]


def test_a_channel_is_newest_first_and_a_thread_oldest_first() -> None:
    assert seconds(channel_page(MESSAGES, span())) == [7, 6, 5, 4, 3, 2, 1]
    assert seconds(thread_page(MESSAGES, span())) == [1, 2, 3, 4, 5, 6, 7]


def test_a_listing_holds_what_is_between_two_times() -> None:
    between = {"oldest": "2.000000", "latest": "5"}
    assert seconds(channel_page(MESSAGES, span(**between))) == [4, 3]
    assert seconds(channel_page(MESSAGES, span(**between, inclusive="true"))) == [5, 4, 3, 2]
    assert seconds(channel_page(MESSAGES, span(inclusive="true"))) == [7, 6, 5, 4, 3, 2, 1]
    assert seconds(thread_page(MESSAGES, span(**between))) == [1, 3, 4]


def test_a_channel_asked_for_from_a_time_on_begins_there() -> None:
    first = channel_page(MESSAGES, span(oldest="2.0", limit=2))
    assert seconds(first) == [4, 3]
    assert seconds(channel_page(MESSAGES, span(oldest="2.0", limit=2, cursor=first.cursor))) == [6, 5]
    assert seconds(channel_page(MESSAGES, span(oldest="2.0", latest="9", limit=2))) == [7, 6]


def test_a_threads_root_is_on_every_page_whatever_was_asked_for() -> None:
    first = thread_page(MESSAGES, span(oldest="2", limit=2))
    assert seconds(first) == [1, 3, 4]
    second = thread_page(MESSAGES, span(oldest="2", limit=2, cursor=first.cursor))
    assert seconds(second) == [1, 5, 6]
    assert seconds(thread_page(MESSAGES, span(latest="1"))) == [1]


@given(st.integers(1, 9), st.booleans(), st.sampled_from([None, "0", "3"]))
def test_the_pages_together_hold_everything_once(limit: int, threaded: bool, oldest: str | None) -> None:
    asked = {"limit": limit} | ({} if oldest is None else {"oldest": oldest})
    seen, cursor = list[int](), ""
    for _ in MESSAGES:
        page = (thread_page if threaded else channel_page)(MESSAGES, span(**asked, cursor=cursor))
        seen += seconds(page)[1 if threaded else 0 :]
        cursor = page.cursor
        if not cursor:
            break
    assert cursor == ""
    assert sorted(seen) == [each for each in TIMES if each > int(oldest or 0) and not (threaded and each == 1)]


@pytest.mark.parametrize(("limit", "got"), [(None, 100), (5, 5), ("6", 6), (0, 1), (2_000, 999), ("many", 100)])
def test_a_page_has_as_many_as_were_asked_for_within_the_methods_bounds(limit: object, got: int) -> None:
    assert span(limit=limit).limit == got


@pytest.mark.parametrize("cursor", ["?", "bmV4dF90czo=", "b3RoZXI6MTcwMDAwMDA=", "/w==", "bmV4dF90czp4"])
def test_a_cursor_that_slack_did_not_give_is_refused(cursor: str) -> None:
    assert broken(cursor=cursor) is rule.CURSOR


@pytest.mark.parametrize("moment", ["yesterday", "-1", "1.", "nan", "slack:T1:C1:1.0"])
def test_a_time_that_is_none_is_refused(moment: str) -> None:
    assert broken(oldest=moment) is rule.RANGE_OLDEST
    assert broken(latest=moment) is rule.RANGE_LATEST


def broken(**values: object) -> Rule:
    with pytest.raises(RefusedError) as refusal:
        span(**values)
    return refusal.value.rule
