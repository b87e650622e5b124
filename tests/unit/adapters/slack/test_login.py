from pathlib import Path

import pytest

from adapters.slack.identity import Identity
from adapters.slack.login import APP, BOT, FINAL, Token, identity, secret, socket_url
from adapters.slack.outcome import Answer, NoAnswer
from gateway.error import AdapterError, ConfigurationError

URL = "https://slack.com/api/"
WHO = {"ok": True, "team_id": "T1", "user_id": "UBOT", "bot_id": "B1"}


def held(value: str, token: Token, folder: Path) -> str:
    file = folder / "token"
    file.write_text(value)
    return secret(token, f"file:{file}")


@pytest.mark.parametrize(
    ("value", "token"),
    [("xoxb-1-a", BOT), ("xoxe.xoxb-1-a", BOT), ("a-kind-of-tomorrow", BOT), ("xapp-1-A1-a", APP)],
)
def test_a_token_of_the_right_kind_is_taken(value: str, token: Token, tmp_path: Path) -> None:
    assert held(f"{value}\n", token, tmp_path) == value


@pytest.mark.parametrize(
    ("value", "token", "kind"),
    [
        ("xapp-1-A1-a", BOT, "app-level token"),
        ("xoxp-1-a", BOT, "user token"),
        ("xoxe.xoxp-1-a", BOT, "user token"),
        ("xoxe-1-a", BOT, "refresh token"),
        ("xoxb-1-a", APP, "bot token"),
    ],
)
def test_a_token_of_another_kind_is_named(value: str, token: Token, kind: str, tmp_path: Path) -> None:
    with pytest.raises(
        AdapterError, match=f"should hold the Slack {token.kind}.*holds a {kind}.*api.slack.com"
    ) as caught:
        held(value, token, tmp_path)
    assert value not in str(caught.value)


@pytest.mark.parametrize("value", ["xoxb-1 a", "xoxb-1\na", "xoxb-ä"])
def test_what_cannot_stand_in_a_header_is_no_token(value: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="characters") as caught:
        held(value, BOT, tmp_path)
    assert value not in str(caught.value)


def test_a_missing_token_is_named_with_the_place_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_APP_TOKEN", raising=False)
    with pytest.raises(ConfigurationError, match=r"Slack app-level token .xapp-.*SLACK_APP_TOKEN.*connections:write"):
        secret(APP, "env:SLACK_APP_TOKEN")


def test_auth_test_tells_who_we_are() -> None:
    assert identity(Answer(status=200, body=WHO), "env:X", URL) == Identity(team="T1", user="UBOT", bot="B1")


def test_a_token_that_belongs_to_no_bot_is_refused() -> None:
    with pytest.raises(AdapterError, match=r"env:X.*no bot"):
        identity(Answer(status=200, body={key: WHO[key] for key in WHO if key != "bot_id"}), "env:X", URL)


@pytest.mark.parametrize("code", sorted(FINAL))
def test_a_refusal_says_which_token_why_and_where_to_get_one(code: str) -> None:
    refusal = Answer(status=200, body={"ok": False, "error": code})
    with pytest.raises(AdapterError, match=rf"bot token .xoxb-.*env:X.*{code}.*OAuth & Permissions"):
        identity(refusal, "env:X", URL)
    with pytest.raises(AdapterError, match=rf"app-level token .xapp-.*env:Y.*{code}.*connections:write.*Socket Mode"):
        socket_url(refusal, "env:Y", URL)


def test_a_passing_trouble_is_not_laid_on_the_token() -> None:
    with pytest.raises(AdapterError, match=r"HTTP 429 and ratelimited. Slack asks to wait 30 seconds") as caught:
        identity(Answer(status=429, body={"error": "ratelimited"}, retry_after="30"), "env:X", URL)
    assert "token" not in str(caught.value)
    with pytest.raises(AdapterError, match=r"cannot be reached at https://slack.com/api/ .*proxy and base_url"):
        identity(NoAnswer(sent=False, reason="ClientConnectorError"), "env:X", URL)


def test_the_socket_has_an_address() -> None:
    assert socket_url(Answer(status=200, body={"ok": True, "url": "wss://x"}), "env:Y", URL) == "wss://x"


def test_what_was_pasted_instead_of_a_name_or_into_the_address_is_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "xoxb-SECRET"
    file.write_text("xapp-1-SECRET")
    with pytest.raises(AdapterError, match="xoxb-… should hold") as kind:
        secret(BOT, f"file:{file}")
    unreachable = NoAnswer(sent=False, reason="InvalidURL: https://ada:SECRET@host/")
    with pytest.raises(AdapterError, match="cannot be reached at https://…@host/") as reached:
        identity(unreachable, "file:xoxb-SECRET", "https://ada:SECRET@host/")
    refusal = Answer(status=200, body={"ok": False, "error": "invalid_auth"})
    with pytest.raises(AdapterError, match="xoxb-…: it says") as refused:
        identity(refusal, "file:xoxb-SECRET", URL)
    assert not [error for error in (kind, reached, refused) if "SECRET" in str(error.value)]
