"""The configuration, by example; that complaints name the right line is a law, in tests/properties."""

import traceback
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.configuration import (
    STRICT,
    WHOLE,
    AgentSettings,
    Configuration,
    Document,
    PacingSettings,
    WebAddress,
)
from gateway.error import ConfigurationError
from gateway.secret import SecretName

BUILT_IN = """\
[agent]
id = 'built-in'
system_prompt = 'prompts/system.md'
concurrent_runs = 50
history_characters = 1000
pairing = true
turns = 40
tokens = 1000
deadline = 1800
retries = 3

[pacing]
time_scale = 1.0

[model]
name = 'built-in'
limit = 5
"""
DEFAULTS = Document(BUILT_IN, Path("built/in.toml"))


def configuration(text: str | None) -> Configuration:
    return Configuration(None if text is None else Document(text, Path("my/own.toml")), DEFAULTS)


def complaint(text: str, table: str, kind: type[object]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        configuration(text).read(table, kind)
    return str(caught.value)


def test_without_a_file_everything_is_built_in() -> None:
    built_in = configuration(None)
    assert built_in.read("agent", AgentSettings).id == "built-in"
    assert built_in.read("pacing", PacingSettings) == PacingSettings(time_scale=1.0)
    assert built_in.tables == ()
    assert built_in.value("agent", "concurrent_runs") == 50


def test_a_key_that_is_not_written_is_the_built_in_one() -> None:
    mine = configuration("\n[agent]\nconcurrent_runs = 5\n")
    assert mine.read("agent", AgentSettings) == AgentSettings(
        id="built-in",
        system_prompt="prompts/system.md",
        concurrent_runs=5,
        history_characters=1000,
        pairing=True,
        turns=40,
        tokens=1000,
        deadline=1800,
        retries=3,
    )
    assert mine.value("agent", "id") == "built-in"
    assert mine.place("agent", "concurrent_runs") == "my/own.toml:3"
    assert mine.place("agent", "id") == "built/in.toml:2"
    assert mine.place("agent") == "my/own.toml:2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Settings of a table whose keys belong together."""

    __pydantic_config__ = STRICT

    name: str
    limit: int


def test_a_table_whose_keys_belong_together_is_taken_whole() -> None:
    assert {"model", "fallback", "store"} == WHOLE
    assert configuration("[agent]").read("model", Model) == Model(name="built-in", limit=5)
    mine = configuration("\n[model]\nname = 'mine'\n")
    assert mine.value("model", "limit") is None
    assert mine.place("model", "limit") == "my/own.toml:2"
    message = complaint("\n[model]\nname = 'mine'\n", "model", Model)
    assert message == "my/own.toml:2: [model] needs the key 'limit'; add it below this line"


def test_a_table_that_is_not_built_in_is_what_is_written() -> None:
    message = complaint("\n[bot]\nmore = []\n", "bot", Bot)
    assert message == "my/own.toml:2: [bot] needs the key 'token'; add it below this line"


def test_a_table_that_is_not_written_is_the_built_in_one() -> None:
    mine = configuration("[other]\n")
    assert mine.read("agent", AgentSettings).id == "built-in"
    assert mine.place("agent", "id") == "built/in.toml:2"
    assert mine.tables == ("other",)


def test_a_table_that_nobody_has_is_missed_in_the_file_that_can_be_mended() -> None:
    assert configuration("# nothing\n").place("slack") == "my/own.toml"


def test_who_wrote_no_file_is_told_in_which_to_begin() -> None:
    assert configuration(None).place("slack") == "dragoman.toml"


def test_a_built_in_file_is_looked_for_beside_what_is_built_in_unless_it_is_written_too() -> None:
    for text in ("[agent]", "[agent]\nid = 'x'"):
        assert configuration(text).path("agent", "prompts/system.md") == Path("built/prompts/system.md")
    mine = configuration("[agent]\nsystem_prompt = 'prompts/system.md'")
    assert mine.path("agent", "prompts/system.md") == Path("my/prompts/system.md")


@pytest.mark.parametrize("name", ["a\\u0000b", "~nobody-of-this-name/x"])
def test_what_names_no_file_is_refused_with_its_line(name: str) -> None:
    mine = configuration(f'\n[agent]\nsystem_prompt = "{name}"')
    with pytest.raises(ConfigurationError, match=r"^my/own.toml:3: .* in \[agent\] is no name of a file"):
        mine.path("agent", str(mine.value("agent", "system_prompt")))


def test_files_are_looked_for_beside_the_file_that_names_them() -> None:
    assert configuration("[other]").path("agent", "prompts/system.md") == Path("built/prompts/system.md")
    assert configuration("[agent]").path("agent", "mine.md") == Path("my/mine.md")
    assert configuration("[agent]").path("agent", "/etc/mine.md") == Path("/etc/mine.md")


def test_a_file_in_the_home_folder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert configuration("[agent]").path("agent", "~/mine.md") == tmp_path / "mine.md"


def test_a_mistyped_key_is_named_with_what_was_meant() -> None:
    text = "[pacing]\n# how fast\ntime_scael = 2\n"
    assert complaint(text, "pacing", PacingSettings).split("\n") == [
        "my/own.toml:3: unknown key 'time_scael' in [pacing], did you mean 'time_scale'?; remove it or correct its name"
    ]


def test_a_key_like_no_other_is_named_without_a_guess() -> None:
    message = complaint("[pacing]\ntime_scale = 2\nxyz = 1", "pacing", PacingSettings)
    assert message == "my/own.toml:3: unknown key 'xyz' in [pacing]; remove it or correct its name"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0.5", "greater than or equal to 1"),
        ("61", "less than or equal to 60"),
        ("nan", ""),
        ("inf", ""),
        ("true", "number"),
    ],
)
def test_a_value_out_of_its_bounds_is_named_with_them(value: str, said: str) -> None:
    message = complaint(f"[pacing]\n\ntime_scale = {value}", "pacing", PacingSettings)
    assert message.startswith("my/own.toml:3: time_scale in [pacing]: ")
    assert said in message


def test_the_history_given_to_the_model_has_no_negative_length() -> None:
    table = "[agent]\nid = 'mine'\nsystem_prompt = 'x.md'\nconcurrent_runs = 2\nhistory_characters = -1"
    message = complaint(table, "agent", AgentSettings)
    assert message.startswith("my/own.toml:5: history_characters in [agent]: Input should be greater than")


def test_a_text_for_a_number_is_refused() -> None:
    message = complaint("[pacing]\ntime_scale = '2'", "pacing", PacingSettings)
    assert message == "my/own.toml:2: time_scale in [pacing]: Input should be a valid number, not '2'"


def test_a_whole_number_will_do_for_a_fraction() -> None:
    assert configuration("[pacing]\ntime_scale = 20").read("pacing", PacingSettings).time_scale == 20


@pytest.mark.parametrize("text", ["agent = 5", "agent = 'x'", "[[agent]]\nid = 'x'"])
def test_a_value_in_the_place_of_a_table_is_refused(text: str) -> None:
    message = complaint(text, "agent", AgentSettings)
    assert message == "my/own.toml:1: agent is a table; write [agent] and its keys below it"


def test_unknown_tables_are_named_all_at_once() -> None:
    mine = configuration("[agnet]\n\n[pacing]\n[zzz]\n")
    with pytest.raises(ConfigurationError) as caught:
        mine.refuse_unknown_tables(["pacing", "agent"])
    assert str(caught.value).split("\n") == [
        "my/own.toml:1: unknown table [agnet], did you mean 'agent'?; known are agent, pacing",
        "my/own.toml:4: unknown table [zzz]; known are agent, pacing",
    ]


def test_known_tables_are_not_refused() -> None:
    configuration("[pacing]\n").refuse_unknown_tables(["pacing", "agent"])


def test_a_table_is_found_at_its_own_header_though_another_named_it_first() -> None:
    document = Document("[a.b]\nx = 1\n\n[a]\ny = 2\n", Path("f"))
    assert document.place("a") == "f:4"
    assert document.place("a", "absent") == "f:4"
    assert document.place("a", "b") == "f:1"


def test_an_item_of_a_list_of_tables_is_found_at_its_own_line() -> None:
    document = Document("[[rule]]\nx = 1\n[[rule]]\nx = 2\n\n[[rule]]\n", Path("f"))
    assert [document.place("rule", at) for at in range(3)] == ["f:1", "f:3", "f:6"]
    assert document.place("rule", 1, "x") == "f:4"
    assert document.place("rule", 7) == "f:1"


def test_an_item_of_a_list_is_found_where_the_list_begins() -> None:
    document = Document("[t]\nl = [\n 'a',\n 'b',\n]\n", Path("f"))
    assert document.place("t", "l", 1) == "f:2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Settings with a secret, and with several."""

    __pydantic_config__ = STRICT

    token: SecretName
    more: tuple[SecretName, ...] = field(default=())


@pytest.mark.parametrize(
    "line",
    ["token = 'hunter2'", "token = ['hunter2']", "token = { x = 'hunter2' }", "tokn = 'hunter2'", "more = ['hunter2']"],
)
def test_a_secret_in_the_wrong_place_shows_in_no_message_and_no_traceback(line: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configuration(f"[bot]\n{line}").read("bot", Bot)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_number_in_the_place_of_a_secret_is_not_repeated() -> None:
    message = complaint("[bot]\ntoken = 123456", "bot", Bot)
    assert message == "my/own.toml:2: token in [bot]: name where the secret is, as env:VARIABLE or file:PATH"


def test_a_missing_secret_is_a_missing_key() -> None:
    assert complaint("[bot]", "bot", Bot) == "my/own.toml:1: [bot] needs the key 'token'; add it below this line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Settings with an address."""

    __pydantic_config__ = STRICT

    url: WebAddress


@pytest.mark.parametrize(
    "url", ["https://slack.com/api/", "http://127.0.0.1:8080/api/", "http://[::1]:1", "https://é.example/"]
)
def test_an_address_is_taken_as_it_is_written(url: str) -> None:
    assert configuration(f"[server]\nurl = '{url}'").read("server", Server).url == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "slack.com/api/",
        "ftp://host/",
        "http://",
        "http://[::1",
        "http://a:b/",
        "http://a:70000/",
        "https://a b/",
        "https://host/?x=1",
        "https://host/#x",
        "https://host/\\n",
        "https:host",
        "https://é\\u2028/",
    ],
)
def test_what_is_no_address_is_named_with_its_line(url: str) -> None:
    message = complaint(f'[server]\nurl = "{url}"', "server", Server)
    assert message == "my/own.toml:2: url in [server] must be an address such as https://host/path/"


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    message = complaint("[server]\nurl = 'https://ada:hunter2@host/'", "server", Server)
    assert message.startswith("my/own.toml:2: url in [server] must be an address without a user and a password")
    assert "hunter2" not in message


@pytest.mark.parametrize(
    "text", ["a = ", "[a\n", "a = 1\na = 2", "a = " + "9" * 5000, "a = " + "[" * 5000 + "]" * 5000]
)
def test_what_is_no_toml_is_refused_by_the_files_name(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^my\.toml: this is not TOML: "):
        Document(text, Path("my.toml"))


def test_a_file_is_read_as_utf8_with_or_without_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(mark + "[a]\r\nx = 'é'\r\n".encode())
        document = Document.open(path)
        assert document.tables == {"a": {"x": "é"}}
        assert document.place("a", "x") == f"{path}:2"


def test_a_file_that_cannot_be_read_is_complained_about(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    for path, reason in (
        (tmp_path / "absent.toml", "No such file"),
        (tmp_path, "directory"),
        (tmp_path / "latin.toml", "utf-8"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            Document.open(path)
        assert str(caught.value).startswith(f"{path}: cannot be read: ")
        assert reason in str(caught.value)
