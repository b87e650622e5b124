import pytest

from adapters.loopback.telegram.outbound import CALLBACK_DATA, QUERY_TEXT
from adapters.telegram.press import ANSWER_LIMIT, DATA_LIMIT, answer, keyboard
from gateway.operation import Button

BUTTONS = (
    Button(label="Allow", data="approve:abcdefg2", style="go"),
    Button(label="Always here", data="always:abcdefg2"),
    Button(label="Deny", data="deny:abcdefg2", style="stop"),
)


def test_buttons_stand_in_one_row_in_their_order() -> None:
    assert keyboard(BUTTONS) == {
        "reply_markup": {
            "inline_keyboard": [
                [
                    {"text": "Allow", "callback_data": "approve:abcdefg2", "style": "success"},
                    {"text": "Always here", "callback_data": "always:abcdefg2"},
                    {"text": "Deny", "callback_data": "deny:abcdefg2", "style": "danger"},
                ]
            ]
        }
    }


def test_without_buttons_nothing_is_said_of_any() -> None:
    assert keyboard(()) == {}


def test_the_limits_are_telegrams() -> None:
    assert CALLBACK_DATA.limit == DATA_LIMIT
    assert QUERY_TEXT.limit == ANSWER_LIMIT


def test_a_press_without_words_is_answered_without_any() -> None:
    assert answer("4001", "") == answer("4001", "  ") == {"callback_query_id": "4001"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Only ada may decide.", "Only ada may decide."),
        ("(`read_url` waits: `/deny abcdefg2`.)", "(read_url waits: /deny abcdefg2.)"),
        ("a" * 200, "a" * 200),
        ("a" * 201, "a" * 199 + "…"),
        ("😀" * 101, "😀" * 99 + "…"),
    ],
    ids=["plain", "Markdown", "full", "long", "emoji"],
)
def test_what_is_said_to_who_pressed_is_plain_and_short(text: str, said: str) -> None:
    assert answer("4001", text) == {"callback_query_id": "4001", "text": said, "show_alert": True}
