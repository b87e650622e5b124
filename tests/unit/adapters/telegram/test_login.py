from pathlib import Path

import pytest

from adapters.telegram import login
from adapters.telegram.identity import Identity
from adapters.telegram.outcome import Answer, NoAnswer
from gateway.error import AdapterError, ConfigurationError
from tests.cases import case

NAME = "env:TELEGRAM_BOT_TOKEN"
BASE = "https://api.telegram.org/bot"


@pytest.mark.parametrize("value", ["123456:AAA-b_c", "1:a"])
def test_a_token_is_what_has_its_form(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", value)
    assert login.token(NAME) == value


@pytest.mark.parametrize("value", ["xoxb-1-secret", "9876543", "123456:AA/../x", "bot123:AAA", "123:ä", "1:a 2:b"])
def test_what_is_no_token_is_refused_without_being_told(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", value)
    with pytest.raises(AdapterError, match=r"should hold the Telegram bot token .*BotFather") as caught:
        login.token(NAME)
    assert value not in str(caught.value)


def test_a_missing_token_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"Telegram bot token .* is missing.*BotFather"):
        login.token(f"file:{tmp_path / 'none'}")


@pytest.mark.parametrize("value", ["", "a b", "ü", "x" * 257])
def test_a_webhook_secret_is_what_telegram_takes(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", value)
    with pytest.raises((AdapterError, ConfigurationError), match="the webhook's secret"):
        login.webhook_secret("env:SECRET")
    monkeypatch.setenv("SECRET", "x" * 256)
    assert login.webhook_secret("env:SECRET") == "x" * 256


def good(result: object) -> Answer:
    return Answer(status=200, body={"ok": True, "result": result})


def bad(status: int, description: str) -> Answer:
    return Answer(status=status, body={"ok": False, "error_code": status, "description": description})


def test_who_we_are_is_what_get_me_tells() -> None:
    me = login.identity(good({"id": 7, "is_bot": True, "username": "helm_bot"}), NAME, BASE)
    assert me == Identity(id=7, username="helm_bot")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (good({}), "is no Bot API: check base_url"),
        (bad(401, "Unauthorized"), f"does not accept the Telegram bot token.*{NAME}.*Unauthorized.*BotFather"),
        (bad(404, "Not Found"), "does not accept.*Not Found"),
        (Answer(status=404, body={}), "HTTP 404. Try again"),
        (bad(429, "Too Many Requests"), "asks to wait 30 seconds"),
        (bad(500, "Internal"), "HTTP 500 and Internal. Try again"),
        (NoAnswer(sent=False, reason="ConnectError"), f"cannot be reached at {BASE} .ConnectError"),
        (
            bad(400, "Bad Request: bad webhook: An HTTPS URL"),
            r"does not accept the webhook.*Check \[telegram.webhook\]",
        ),
    ],
    ids=str,
)
def test_who_is_not_let_in_is_told_what_to_mend(answer: Answer | NoAnswer, expected: str) -> None:
    with pytest.raises(AdapterError, match=expected):
        login.identity(answer, NAME, BASE)


def test_z05_a_token_in_an_address_is_not_told() -> None:
    token = case("Z05")["input"]["token"]
    hidden = login.hide(f"POST {BASE}{token}/getMe failed for {token}")
    assert hidden == f"POST {BASE}123456:…/getMe failed for 123456:…"
    assert login.hide("at 12:30:45 http://127.0.0.1:8800/x") == "at 12:30:45 http://127.0.0.1:8800/x"
