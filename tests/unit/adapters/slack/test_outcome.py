import pytest

from adapters.slack.outcome import RETRY_AFTER, TABLE, Answer, NoAnswer, outcome, refusal
from adapters.slack.render import Rendered
from gateway.address import Address
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    TellPrivately,
    ThreadRead,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)

CHANNEL = Address(platform="slack", account="T1", channel="C1")
POST = PostMessage(address=CHANNEL, text="hi")
PLAIN = PostMessage(address=CHANNEL, text="hi", markup=False)
EDIT = EditMessage(address=CHANNEL, message_id="17.1", text="hi")
DELETE = DeleteMessage(address=CHANNEL, message_id="17.1")
MARK = MarkWaiting(address=CHANNEL, message_id="slack:T1:C1:17.1")
UNMARK = UnmarkWaiting(address=CHANNEL, message_id="slack:T1:C1:17.1")
READ = ReadThread(address=CHANNEL)
TELL = TellPrivately(address=CHANNEL, user="U1", text="hi", press="19.3")
ALL: tuple[Rendered | ReadThread, ...] = (POST, EDIT, DELETE, MARK, UNMARK, READ, TELL)


def answer(error: str | None, *, status: int = 200, retry_after: str | None = None) -> Answer:
    body: dict[str, object] = {"ok": False} if error is None else {"ok": False, "error": error}
    return Answer(status=status, body=body, retry_after=retry_after)


def said(
    error: str | None, *, status: int = 200, retry_after: str | None = None, operation: Rendered = POST
) -> Outcome:
    return outcome(answer(error, status=status, retry_after=retry_after), operation)


def test_ok_gives_the_message_id() -> None:
    assert outcome(Answer(status=200, body={"ok": True, "ts": "17.1"}), POST) == Performed(message_id="17.1")


def test_ok_without_a_message_id_is_not_taken_for_done() -> None:
    assert isinstance(outcome(Answer(status=200, body={"ok": True}), POST), Unknown)


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
        ("edit_window_closed", EditRefused),
        ("cant_update_message", EditRefused),
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
    assert outcome(NoAnswer(sent=False, reason="refused"), POST) == Unreachable(reason="refused")
    assert outcome(NoAnswer(sent=True, reason="reset"), POST) == Unknown(reason="reset")


def test_plain_text_that_is_rejected_is_not_tried_again_as_plain_text() -> None:
    assert isinstance(said("invalid_blocks", operation=PLAIN), Forbidden)


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


@pytest.mark.parametrize(
    ("operation", "error", "expected"),
    [
        (EDIT, "message_not_found", MessageGone()),
        (DELETE, "message_not_found", MessageGone()),
        (MARK, "already_reacted", NotModified()),
        (MARK, "message_not_found", NotModified()),
        (UNMARK, "no_reaction", NotModified()),
        (UNMARK, "message_not_found", NotModified()),
    ],
    ids=str,
)
def test_what_is_done_already_is_done(operation: Rendered, error: str, expected: Outcome) -> None:
    assert said(error, operation=operation) == expected


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (EDIT, "edit_window_closed"),
        (EDIT, "cant_update_message"),
        (DELETE, "cant_delete_message"),
        (DELETE, "compliance_exports_prevent_deletion"),
        (MARK, "too_many_reactions"),
        (MARK, "not_reactable"),
        (UNMARK, "thread_locked"),
    ],
    ids=str,
)
def test_a_message_that_cannot_be_changed_is_told_from_a_place_where_nothing_can(
    operation: Rendered, error: str
) -> None:
    refused = said(error, operation=operation)
    assert isinstance(refused, EditRefused)
    assert refused.reason.startswith(f"Slack says {error}: ")


def test_a_mark_is_performed_though_slack_names_no_message() -> None:
    for operation in (MARK, UNMARK):
        assert outcome(Answer(status=200, body={"ok": True}), operation) == Performed(message_id=operation.message_id)


def test_a_thread_that_is_gone_is_empty_and_a_forgotten_cursor_is_read_anew() -> None:
    assert refusal(answer("thread_not_found"), READ) == ThreadRead(messages=())
    assert isinstance(refusal(answer("invalid_cursor"), READ), Unreachable)


@pytest.mark.parametrize(
    "failed", [NoAnswer(sent=True, reason="reset"), answer(None, status=502), answer("fatal_error")]
)
def test_reading_does_nothing_so_it_is_never_unknown(failed: Answer | NoAnswer) -> None:
    assert isinstance(refusal(failed, READ), Unreachable)
    assert isinstance(refusal(failed, DELETE), Unknown)


def test_a_missing_scope_is_forbidden_with_its_mend_whatever_was_asked() -> None:
    for operation in ALL:
        missing = refusal(answer("missing_scope"), operation)
        assert isinstance(missing, Forbidden)
        assert "config/slack-manifest.yaml" in missing.reason


def test_a_rate_limit_is_one_whatever_was_asked() -> None:
    for operation in ALL:
        limited = answer("ratelimited", status=429, retry_after="9")
        assert refusal(limited, operation) == RateLimited(retry_after=9)


def test_a_private_word_is_performed_by_the_name_that_slack_gives_it() -> None:
    assert outcome(Answer(status=200, body={"ok": True, "message_ts": "17.1"}), TELL) == Performed(message_id="17.1")


@pytest.mark.parametrize("error", ["user_not_in_channel", "invalid_blocks", "channel_not_found"])
def test_a_private_word_that_is_not_taken_is_forbidden(error: str) -> None:
    refused = said(error, operation=TELL)
    assert isinstance(refused, Forbidden)
    assert error in refused.reason
