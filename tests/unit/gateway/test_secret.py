"""Secrets are found where the configuration says they are."""

import re
from pathlib import Path

import pytest

from gateway.error import ConfigurationError
from gateway.secret import SECRET_PATTERN, reveal

PURPOSE, SOURCE = "the Slack bot token (xoxb-...)", "Get one at api.slack.com/apps."


def revealed(name: str) -> str:
    return reveal(name, purpose=PURPOSE, source=SOURCE)


def test_a_secret_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_TOKEN", " xoxb-1\n")
    assert revealed("env:BOT_TOKEN") == "xoxb-1"


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "to:ken").write_text("xoxb-2\n", encoding="utf-8")
    assert revealed(f"file:{tmp_path / 'to:ken'}") == "xoxb-2"


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_variable_that_says_nothing_is_complained_about(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("BOT_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("BOT_TOKEN", value)
    with pytest.raises(ConfigurationError) as caught:
        revealed("env:BOT_TOKEN")
    for part in (PURPOSE, "the environment variable BOT_TOKEN", SOURCE):
        assert part in str(caught.value)


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_that_says_nothing_is_complained_about(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        revealed(f"file:{path}")
    for part in (PURPOSE, f"the file {path}", SOURCE):
        assert part in str(caught.value)


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the file"):
        revealed(f"file:{tmp_path}")


@pytest.mark.parametrize(
    "text", ["xoxb-1", "env:", "file:", "ENV:A", "env:A\nB", " env:A", "env:xoxb-1", "env:sk-ant-1", "env:1A"]
)
def test_what_names_no_place_is_no_name_of_a_secret(text: str) -> None:
    assert re.fullmatch(SECRET_PATTERN, text) is None
