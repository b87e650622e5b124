import pytest

from adapters.slack.outcome import RETRY_AFTER, TABLE, Answer, NoAnswer, outcome
from gateway.operation import (
    Forbidden,
    MarkupRejected,
    MessageGone,
    Outcome,
    Performed,
    RateLimited,
    TooLong,
    Unknown,
    Unreachable,
)


def said(error: str | None, *, status: int = 200, retry_after: str | None = None, markup: bool = True) -> Outcome:
    body: dict[str, object] = {"ok": False} if error is None else {"ok": False, "error": error}
    return outcome(Answer(status=status, body=body, retry_after=retry_after), markup=markup)


def test_ok_gives_the_message_id() -> None:
    assert outcome(Answer(status=200, body={"ok": True, "ts": "17.1"}), markup=True) == Performed(message_id="17.1")


def test_ok_without_a_message_id_is_not_taken_for_done() -> None:
    assert isinstance(outcome(Answer(status=200, body={"ok": True}), markup=True), Unknown)


@pytest.mark.parametrize(
    ("error", "status"), [("ratelimited", 429), ("ratelimited", 200), ("rate_limited", 200), (None, 429)]
)
def test_every_way_of_limiting_us_is_a_wait(error: str | None, status: int) -> None:
    assert said(error, status=status, retry_after="7") == RateLimited(retry_after=7)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("1.5", 1.5),
        ("10072", 10_072),
        (None, RETRY_AFTER),
        ("soon", RETRY_AFTER),
        ("-1", RETRY_AFTER),
        ("inf", RETRY_AFTER),
        ("nan", RETRY_AFTER),
    ],
)
def test_the_wait_is_as_told_without_a_cap_or_a_guess_where_nothing_is_told(header: str | None, seconds: float) -> None:
    assert said("ratelimited", status=429, retry_after=header) == RateLimited(retry_after=seconds)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("message_not_found", MessageGone),
        ("msg_too_long", TooLong),
        ("msg_blocks_too_long", TooLong),
        ("invalid_blocks", MarkupRejected),
        ("invalid_blocks_format", MarkupRejected),
        ("no_text", MarkupRejected),
        ("channel_not_found", Forbidden),
        ("not_in_channel", Forbidden),
        ("is_archived", Forbidden),
        ("restricted_action", Forbidden),
        ("missing_scope", Forbidden),
        ("edit_window_closed", Forbidden),
        ("cant_update_message", Forbidden),
        ("fatal_error", Unknown),
        ("internal_error", Unknown),
        ("service_unavailable", Unknown),
        ("invalid_auth", Unreachable),
        ("token_revoked", Unreachable),
        ("request_timeout", Unreachable),
        ("team_added_to_org", Unreachable),
        ("an_error_of_tomorrow", Forbidden),
    ],
)
def test_an_error_code_means(error: str, kind: type[Outcome]) -> None:
    assert type(said(error)) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [(500, Unknown), (502, Unknown), (503, Unknown), (408, Unknown), (413, TooLong), (404, Forbidden), (200, Unknown)],
)
def test_an_answer_without_a_code_is_told_by_its_status(status: int, kind: type[Outcome]) -> None:
    assert type(said(None, status=status)) is kind


def test_a_code_counts_more_than_the_status_it_comes_with() -> None:
    assert said("message_not_found", status=500) == MessageGone()


def test_what_never_left_may_be_sent_again_and_what_left_may_have_arrived() -> None:
    assert outcome(NoAnswer(sent=False, reason="refused"), markup=True) == Unreachable(reason="refused")
    assert outcome(NoAnswer(sent=True, reason="reset"), markup=True) == Unknown(reason="reset")


def test_plain_text_that_is_rejected_is_not_tried_again_as_plain_text() -> None:
    assert isinstance(said("invalid_blocks", markup=False), Forbidden)


def test_whatever_is_forbidden_says_what_to_mend() -> None:
    for code, result in TABLE.items():
        if isinstance(result, Forbidden):
            assert result.reason.startswith(f"Slack says {code}: ")
            assert len(result.reason) > len(code) + 25


@pytest.mark.parametrize(
    "code",
    ["account_inactive", "invalid_auth", "not_allowed_token_type", "not_authed", "token_expired", "token_revoked"],
)
def test_a_token_that_is_refused_makes_the_message_wait_and_says_what_to_mend(code: str) -> None:
    for status in (200, 401, 403):
        waiting = said(code, status=status)
        assert isinstance(waiting, Unreachable)
        assert waiting.reason.startswith(f"Slack says {code}: ")
        assert "put its new bot token where" in waiting.reason
