import pytest

from adapters.loopback.telegram import outbound
from adapters.telegram.outcome import RETRY_AFTER, Answer, NoAnswer, outcome
from gateway.address import Address
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    EditRefused,
    Expired,
    Forbidden,
    MarkupRejected,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ShowTyping,
    TellPrivately,
    TooLong,
    Unknown,
    Unreachable,
)

CHAT = Address(platform="telegram", account="7", channel="101")
POST = PostMessage(address=CHAT, text="a")
EDIT = EditMessage(address=CHAT, message_id="3", text="a")


def refused(status: int, description: str, **parameters: object) -> Answer:
    return Answer(
        status=status,
        body={"ok": False, "error_code": status, "description": description, "parameters": parameters},
    )


def meant(status: int, description: str, operation: Operation = EDIT) -> Outcome:
    return outcome(refused(status, description), operation)


@pytest.mark.parametrize(
    ("operation", "result", "expected"),
    [
        (POST, {"message_id": 5}, Performed(message_id="5")),
        (POST, True, Unknown(reason="an answer that is not Telegram's")),
        (EDIT, {"message_id": 3}, Performed(message_id="3")),
        (DeleteMessage(address=CHAT, message_id="3"), True, Performed(message_id="3")),
        (ShowTyping(address=CHAT), True, Performed(message_id="")),
        (TellPrivately(address=CHAT, user="101", text="no", press="4001"), True, Performed(message_id="")),
    ],
)
def test_what_was_done_is_told_with_the_message(operation: Operation, result: object, expected: Outcome) -> None:
    assert outcome(Answer(status=200, body={"ok": True, "result": result}), operation) == expected


def test_a_message_of_a_group_that_moved_is_told_with_its_place() -> None:
    answer = Answer(status=200, body={"ok": True, "result": {"message_id": 5}})
    assert outcome(answer, POST, "-100") == Performed(message_id="-100/5")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (outbound.EDIT_SAME, NotModified),
        (outbound.EDIT_GONE, MessageGone),
        (outbound.DELETE_GONE, MessageGone),
        (outbound.MESSAGE_UNNAMED, MessageGone),
        (outbound.EDIT_FOREIGN, EditRefused),
        (outbound.DELETE_FORBIDDEN, EditRefused),
        (outbound.TEXT_LENGTH, TooLong),
        (outbound.ENTITIES_FORMAT, MarkupRejected),
        (outbound.ENTITY_TYPE, MarkupRejected),
        (outbound.ENTITY_URL, MarkupRejected),
        (outbound.ENTITY_OFFSET, MarkupRejected),
        (outbound.ENTITY_BEGIN, MarkupRejected),
        (outbound.ENTITY_END, MarkupRejected),
        (outbound.ENTITY_SPLITS, MarkupRejected),
        (outbound.MARKUP, MarkupRejected),
        (outbound.TEXT_BLANK, MarkupRejected),
        (outbound.TEXT_EMPTY, MarkupRejected),
        (outbound.BLOCKED, Forbidden),
        (outbound.KICKED, Forbidden),
        (outbound.NOT_A_MEMBER, Forbidden),
        (outbound.NEVER_STARTED, Forbidden),
        (outbound.CHAT_UNKNOWN, Forbidden),
        (outbound.NO_RIGHT, Forbidden),
        (outbound.WRONG_TOKEN, Unreachable),
        (outbound.QUERY_OLD, Expired),
        (outbound.QUERY_TEXT, TooLong),
    ],
    ids=lambda value: value.name if isinstance(value, outbound.Rule) else value.__name__,
)
def test_a_refusal_means_what_the_judges_rule_is_about(rule: outbound.Rule, expected: type[Outcome]) -> None:
    assert isinstance(meant(rule.code, rule.error), expected)


@pytest.mark.parametrize(
    ("description", "mend"),
    [
        ("Forbidden: bot was blocked by the user", "has blocked the bot"),
        ("Forbidden: bot was kicked from the supergroup chat", "add the bot to the group again"),
        ("Bad Request: not enough rights to send text messages to the chat", "administrator"),
        ("Bad Request: TOPIC_CLOSED", "the topic is closed"),
        ("Bad Request: something new", "Telegram says Bad Request: something new"),
    ],
)
def test_what_is_forbidden_is_told_with_its_mend(description: str, mend: str) -> None:
    found = meant(403 if description.startswith("F") else 400, description)
    assert isinstance(found, Forbidden)
    assert mend in found.reason


def test_what_says_the_same_with_another_status_is_something_else() -> None:
    assert isinstance(meant(403, "message is not modified"), Forbidden)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(4, 4.0), (10_072, 10_072.0), (0, 0.0), (None, RETRY_AFTER), ("4", RETRY_AFTER), (-1, RETRY_AFTER)],
)
def test_a_rate_limit_lasts_as_long_as_told(seconds: object, expected: float) -> None:
    assert outcome(refused(429, "Too Many Requests", retry_after=seconds), EDIT) == RateLimited(retry_after=expected)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (NoAnswer(sent=True, reason="ReadTimeout"), Unknown(reason="ReadTimeout")),
        (NoAnswer(sent=False, reason="ConnectError"), Unreachable(reason="ConnectError")),
        (refused(500, "Internal Server Error"), Unknown(reason="HTTP 500")),
        (Answer(status=502, body={}), Unknown(reason="HTTP 502")),
        (Answer(status=408, body={}), Unknown(reason="HTTP 408")),
        (Answer(status=413, body={}), TooLong()),
    ],
)
def test_where_nothing_is_said_it_depends_on_whether_anything_was_sent(
    answer: Answer | NoAnswer, expected: Outcome
) -> None:
    assert outcome(answer, POST) == expected


@pytest.mark.parametrize(("status", "expected"), [(200, Unknown), (403, Forbidden), (404, Forbidden)])
def test_what_is_not_telegram_is_said(status: int, expected: type[Outcome]) -> None:
    found = outcome(Answer(status=status, body={}), POST)
    assert isinstance(found, expected)
    assert "something that is not Telegram" in getattr(found, "reason", "")
