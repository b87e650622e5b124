"""What the command says to those who ask it wrongly, and how it ends."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command import DRAGOMAN, dragoman, environment

SLACK = '[slack]\nallow_users = ["U1"]\n'
GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "[slack]\nallow_usrs = []\n",
            "dragoman.toml:2: unknown key 'allow_usrs' in [slack], did you mean 'allow_users'",
        ),
        ("# mine\n\n[slak]\n", "dragoman.toml:3: unknown table [slak], did you mean 'slack'"),
        (
            SLACK + '[model]\nprovider = "anthropic_messages"\nname = "x"\n',
            "dragoman.toml:3: [model] needs the key 'max_tokens'",
        ),
        (
            SLACK + '[model]\nprovider = "claude"\n',
            "dragoman.toml:4: provider in [model] must be one of anthropic_messages, scripted",
        ),
        (SLACK + "bubble = 'long'\n", "dragoman.toml:3: bubble in [slack]"),
        (SLACK + 'bot_token = "xoxb-secret"\n', "dragoman.toml:3: bot_token in [slack]: name where the secret is"),
        ("[slack\n", "dragoman.toml: this is not TOML"),
        ("slack = 3\n", "dragoman.toml:1: slack is a table"),
        ("", "no platform is configured"),
        (SLACK, "SLACK_APP_TOKEN"),
    ],
)
def test_a_wrong_configuration_is_named_with_its_line_and_the_mend(
    content: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "dragoman.toml").write_text(content, encoding="utf-8")
    done = dragoman("run", cwd=tmp_path, extra={"ANTHROPIC_API_KEY": "sk-ant-unused"})
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert "xoxb-secret" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("chunk", "nowhere.md"),
        ("events", "--provider", "anthropic_messages", "nowhere.sse"),
        ("events", "--provider", "nobody", "nowhere.sse"),
        ("run", "--config", "nowhere.toml"),
        ("play", "--script", "nowhere.md", "--headless"),
        ("chunk", "."),
        ("chunk", "--limit", "0", "text.md"),
        ("chunk", "latin1.md"),
        ("play", "--pace", "-1"),
        ("play", "--on", "irc"),
        ("play", "--json"),
        ("sing",),
    ],
)
def test_what_cannot_be_read_or_understood_ends_with_status_2_and_a_sentence(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "text.md").write_text("text", encoding="utf-8")
    (tmp_path / "latin1.md").write_bytes(b"caf\xe9")
    done = dragoman(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_a_model_without_its_key_says_which_and_where_to_get_one(tmp_path: Path) -> None:
    done = dragoman("play", "--headless", "--json", "--model", "anthropic", cwd=tmp_path)
    assert "ANTHROPIC_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_chunk_reads_standard_input_and_prints_json(tmp_path: Path) -> None:
    done = dragoman("chunk", "--limit", "20", "--json", cwd=tmp_path, text="One sentence.\n\nAnother one.\n")
    assert done.returncode == 0, done.stderr
    assert [row["text"] for row in json.loads(done.stdout)] == ["One sentence.", "Another one."]


def test_the_chunks_do_not_depend_on_the_deltas(tmp_path: Path) -> None:
    text = (GOLDEN.parent.parent / "config" / "play" / "answer.md").read_text(encoding="utf-8")
    outputs = {
        dragoman("chunk", "--json", "--deltas", deltas, cwd=tmp_path, text=text).stdout for deltas in ("0", "1", "7")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize(
    "arguments",
    [("chunk", "--limit", "10", "long.md"), ("events", "--provider", "anthropic_messages", "long.sse"), ("play",)],
)
def test_a_closed_pipe_ends_it_silently(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("word " * 200_000, encoding="utf-8")
    name = b"event: content_block_delta"
    start, delta, *_ = (GOLDEN / "anthropic.text_only.sse").read_bytes().split(name)
    (tmp_path / "long.sse").write_bytes(start + (name + delta) * 20_000)
    with subprocess.Popen(
        [DRAGOMAN, *arguments], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == -signal.SIGPIPE


def test_an_interrupt_ends_play_with_130_and_no_traceback(tmp_path: Path) -> None:
    with subprocess.Popen(
        [DRAGOMAN, "play", "--pace", "1"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert any(b"ada" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert b"Traceback" not in process.stderr.read()


def test_help_is_there_for_each_command(tmp_path: Path) -> None:
    for command in ("run", "play", "chunk", "events"):
        done = dragoman(command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage: dragoman" in done.stdout
