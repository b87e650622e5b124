from typing import Any

import pytest

from adapters.discord.outcome import RETRY_AFTER, TABLE, TABLES, Answer, NoAnswer, outcome, quota
from adapters.discord.render import Rendered
from gateway.address import Address
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Outcome,
    Performed,
    PostMessage,
    Quota,
    RateLimited,
    ShowTyping,
    TellPrivately,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)

CHANNEL = Address(platform="discord", account="900", channel="10")
POST = PostMessage(address=CHANNEL, text="hi")
PLAIN = PostMessage(address=CHANNEL, text="hi", markup=False)
EDIT = EditMessage(address=CHANNEL, message_id="5", text="hi")
DELETE = DeleteMessage(address=CHANNEL, message_id="5")
MARK = MarkWaiting(address=CHANNEL, message_id="5")
UNMARK = UnmarkWaiting(address=CHANNEL, message_id="5")
TYPING = ShowTyping(address=CHANNEL)
TELL = TellPrivately(address=CHANNEL, user="20", text="no", press="600")
HEADERS = {"x-ratelimit-remaining": "3", "x-ratelimit-reset-after": "1.25"}


def said(code: int, status: int = 400, operation: Rendered = POST, **more: object) -> Outcome:
    return outcome(Answer(status=status, body={"code": code, "message": "?"} | more), operation)


def test_a_post_has_the_id_of_its_message_and_all_else_the_one_it_had() -> None:
    assert outcome(Answer(status=200, body={"id": "7"}), POST) == Performed(message_id="7")
    assert outcome(Answer(status=200, body={"id": "7"}), EDIT) == Performed(message_id="5")
    for operation in (DELETE, MARK, UNMARK):
        assert outcome(Answer(status=204), operation) == Performed(message_id="5")
    assert outcome(Answer(status=204), TYPING) == Performed(message_id="")
    assert outcome(Answer(status=200, body={"id": "7"}, headers=HEADERS), TELL) == Performed(message_id="")


def test_a_post_without_an_id_is_not_taken_for_done() -> None:
    assert isinstance(outcome(Answer(status=200, body=None), POST), Unknown)


def test_the_headers_say_what_is_left() -> None:
    done = outcome(Answer(status=204, headers=HEADERS), DELETE)
    assert done == Performed(message_id="5", quota=Quota(remaining=3, seconds=1.25))


@pytest.mark.parametrize("strange", ["", "soon", "-1", "nan", "inf"])
@pytest.mark.parametrize("header", list(HEADERS))
def test_headers_that_say_nothing_are_no_quota(header: str, strange: str) -> None:
    assert quota(Answer(status=200, headers=HEADERS | {header: strange})) is None


@pytest.mark.parametrize(
    ("code", "status", "operation", "kind"),
    [
        (10008, 404, EDIT, MessageGone),
        (50027, 401, TELL, Expired),
        (10062, 404, TELL, Expired),
        (10015, 404, TELL, Expired),
        (10008, 404, DELETE, MessageGone),
        (10008, 404, MARK, NotModified),
        (10008, 404, UNMARK, NotModified),
        (10014, 400, UNMARK, NotModified),
        (30010, 400, MARK, EditRefused),
        (10015, 404, EDIT, Expired),
        (10062, 404, EDIT, Expired),
        (50027, 401, EDIT, Expired),
        (50027, 401, POST, Expired),
        (50027, 401, DELETE, EditRefused),
        (50005, 403, EDIT, EditRefused),
        (50083, 400, EDIT, EditRefused),
        (50083, 400, POST, Forbidden),
        (50001, 403, POST, Forbidden),
        (50013, 403, EDIT, Forbidden),
        (10003, 404, POST, Forbidden),
        (50007, 403, POST, Forbidden),
        (40094, 400, POST, Forbidden),
        (50006, 400, POST, MarkupRejected),
        (50006, 400, PLAIN, Forbidden),
        (40005, 413, POST, TooLong),
        (99999, 400, POST, Forbidden),
        (0, 401, POST, Unreachable),
        (0, 403, POST, Forbidden),
        (0, 404, POST, Forbidden),
        (0, 413, POST, TooLong),
        (0, 500, POST, Unknown),
        (0, 502, EDIT, Unknown),
        (0, 408, POST, Unknown),
    ],
)
def test_a_code_means(code: int, status: int, operation: Rendered, kind: type[Outcome]) -> None:
    assert type(said(code, status, operation)) is kind


def test_l23_a_message_that_is_too_old_for_edits_is_over_and_not_waited_for() -> None:
    assert said(30046, 429, EDIT, retry_after=5.0) == Expired()


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        ({"retry_after": 1.25, "global": False}, {"retry-after": "2"}, RateLimited(retry_after=1.25)),
        ({"retry_after": 10_072, "global": False}, {}, RateLimited(retry_after=10_072)),
        ({"retry_after": 3.0, "global": True}, {}, RateLimited(retry_after=3, everything=True)),
        (
            {"retry_after": 3.0},
            {"x-ratelimit-scope": "global"},
            RateLimited(retry_after=3, everything=True),
        ),
        ({"retry_after": 3.0}, {"x-ratelimit-scope": "shared"}, RateLimited(retry_after=3)),
        (None, {"retry-after": "60"}, RateLimited(retry_after=60, everything=True)),
        (None, {}, RateLimited(retry_after=RETRY_AFTER, everything=True)),
        ({"retry_after": "x"}, {"retry-after": "nan"}, RateLimited(retry_after=RETRY_AFTER)),
        ({"retry_after": True}, {}, RateLimited(retry_after=RETRY_AFTER)),
    ],
    ids=str,
)
def test_a_wait_is_as_long_as_told_and_for_as_much(body: object, headers: dict[str, str], expected: Outcome) -> None:
    assert outcome(Answer(status=429, body=body, headers=headers), POST) == expected


def test_what_never_left_may_be_sent_again_and_what_left_may_have_arrived() -> None:
    assert outcome(NoAnswer(sent=False, reason="refused"), POST) == Unreachable(reason="refused")
    assert outcome(NoAnswer(sent=True, reason="reset"), POST) == Unknown(reason="reset")


def test_a_form_that_is_refused_is_told_by_its_field() -> None:
    def form(field: str, code: str) -> dict[str, Any]:
        return {"errors": {field: {"_errors": [{"code": code, "message": "?"}]}}}

    assert said(50035, **form("content", "BASE_TYPE_MAX_LENGTH")) == TooLong()
    assert isinstance(said(50035, **form("content", "BASE_TYPE_BAD")), MarkupRejected)
    assert isinstance(said(50035, operation=PLAIN, **form("content", "BASE_TYPE_BAD")), Forbidden)
    assert said(50035, **form("nonce", "X")) == Forbidden(reason="Discord says 50035: it does not take nonce")
    assert isinstance(said(50035, errors=[None]), Forbidden)


@pytest.mark.parametrize(
    ("status", "headers", "counts"),
    [
        (401, {}, True),
        (403, {}, True),
        (429, {}, True),
        (429, {"x-ratelimit-scope": "user"}, True),
        (429, {"x-ratelimit-scope": "shared"}, False),
        (404, {}, False),
        (200, {}, False),
        (500, {}, False),
    ],
)
def test_what_counts_as_invalid(status: int, headers: dict[str, str], counts: bool) -> None:
    assert Answer(status=status, headers=headers).is_invalid is counts


def test_whatever_is_forbidden_says_what_to_mend() -> None:
    for table in (TABLE, *TABLES.values()):
        for code, result in table.items():
            if isinstance(result, Forbidden | EditRefused):
                assert result.reason.startswith(f"Discord says {code}: ")
                assert len(result.reason) > 35
