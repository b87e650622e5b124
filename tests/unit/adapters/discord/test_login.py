from pathlib import Path

import pytest

from adapters.discord.identity import Identity
from adapters.discord.login import CLOSED, closed, identity, refused, secret, socket_address
from adapters.discord.outcome import Answer, NoAnswer
from gateway.error import AdapterError, ConfigurationError

URL = "https://discord.com/api/v10"
TOKEN = "MTE5MDAwMDAwMDAwMDAwMDAwMQ.Gabc_d.x-y_z0123456789012345678901234567"  # noqa: S105 - of the form of one, and no more
OK = Answer(status=200, body={"id": "901"})


def kept(tmp_path: Path, text: str) -> str:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8")
    return f"file:{file}"


def test_a_token_is_taken_as_it_is_also_with_the_word_that_goes_in_front_of_it(tmp_path: Path) -> None:
    assert secret(kept(tmp_path, f" {TOKEN}\n")) == TOKEN
    assert secret(kept(tmp_path, f"Bot {TOKEN}")) == TOKEN


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1190000000000000001", "holds an id"),
        ("short", "form that no token has"),
        (f"{TOKEN} {TOKEN}", "form that no token has"),
        ("tökentökentökentökentöken", "form that no token has"),
    ],
)
def test_what_can_be_no_token_is_said_and_not_shown(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(AdapterError, match=rf"Discord bot token, but .*{why}.*Reset Token") as caught:
        secret(kept(tmp_path, text))
    assert text not in str(caught.value)


def test_a_token_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCORD_BOT_TOKEN", raising=False)
    with pytest.raises(ConfigurationError, match=r"Discord bot token is missing: .*DISCORD_BOT_TOKEN.*Reset Token"):
        secret("env:DISCORD_BOT_TOKEN")


def test_we_are_a_user_and_an_application() -> None:
    application = Answer(status=200, body={"id": "900"})
    assert identity(OK, application, "env:X", URL) == Identity(user="901", application="900")


def test_a_token_that_discord_does_not_take_is_named_by_its_place() -> None:
    unauthorized = Answer(status=401, body={"message": "401: Unauthorized", "code": 0})
    with pytest.raises(AdapterError, match=r"does not accept the Discord bot token in env:X.*Reset Token"):
        identity(unauthorized, OK, "env:X", URL)
    assert "env:X" in str(refused("env:X"))


def test_a_passing_trouble_is_not_laid_on_the_token() -> None:
    limited = Answer(status=429, body={"retry_after": 30})
    with pytest.raises(AdapterError, match=r"HTTP 429. Discord asks to wait 30 seconds") as caught:
        identity(OK, limited, "env:X", URL)
    assert "token" not in str(caught.value)
    with pytest.raises(AdapterError, match=rf"cannot be reached at {URL} .*proxy and base_url"):
        identity(NoAnswer(sent=False, reason="ClientConnectorError"), OK, "env:X", URL)


def test_what_is_not_discord_is_said() -> None:
    with pytest.raises(AdapterError, match=r"does not answer as Discord does. Check base_url"):
        identity(Answer(status=200, body=[]), OK, "env:X", URL)


def test_each_way_of_being_shut_out_says_what_to_mend() -> None:
    assert "env:X" in str(closed(4004, "env:X"))
    for code in CLOSED.keys() - {4004}:
        assert str(closed(code, "env:X")).startswith(f"Discord's gateway closed with {code}: ")
    assert "Privileged Gateway Intents" in str(closed(4014, "env:X"))


def test_a_socket_has_an_address() -> None:
    for address in ("wss://gateway.discord.gg/", "ws://127.0.0.1:8080/gw"):
        assert socket_address(address) == address


@pytest.mark.parametrize(
    "text",
    [
        "https://x",
        "wss://",
        "wss://a b/",
        "wss://u:p@x/",
        "wss://x/?v=10",
        "wss://x/#a",
        "wss://[::1",
        "wss://x:y/",
        "",
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="wss://host/path/"):
        socket_address(text)
