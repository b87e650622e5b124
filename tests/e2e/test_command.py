"""What the command says to those who ask it wrongly, and how it ends."""

import json
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.e2e.command import DRAGOMAN, dragoman, environment, play

SLACK = '[slack]\nallow_users = ["U1"]\n'
GOLDEN = Path(__file__).parent.parent / "golden"
COMMANDS = ("run", "chat", "pair", "play", "chunk", "events")


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
        (SLACK + 'base_url = "http://[::1"\n', "dragoman.toml:3: base_url in [slack] must be an address such as"),
        (SLACK + '[agent]\nsystem_prompt = "\\u0000"\n', "dragoman.toml:4: '\\x00' in [agent] is no name of a file"),
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
        ("play", "--pace", "nan"),
        ("play", "--time-scale", "nan"),
        ("play", "--script", "\udcff.md"),
        ("play", "--headless", "--save-svg", "picture.svg"),
        ("play", "--script", "answer.md", "--model", "anthropic"),
        ("chunk", "--json", "--explain"),
        ("play", "--save-svg", "nowhere/picture.svg"),
        ("play", "--save-svg", "."),
        ("play", "--save-svg", "/dev/full"),
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
    assert done.stdout == ""


def test_a_picture_that_is_there_stays_until_there_is_another(tmp_path: Path) -> None:
    (tmp_path / "picture.svg").write_text("old", encoding="utf-8")
    for name in ("picture.svg", "new.svg"):
        done = dragoman("play", "--save-svg", name, "--script", "nowhere.md", cwd=tmp_path)
        assert done.returncode == 2
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('bot_token = "env:xoxb-SECRET1"', "dragoman.toml:2: bot_token in [slack]: name where the secret is"),
        ('bot_token = "file:xoxb-SECRET1"\napp_token = "file:app"', "the file xoxb-… cannot be read"),
        ('allow_users = "xoxb-SECRET1"', 'write a list: ["xoxb-…"]'),
        ('allow_users = ["xapp-1-SECRET1"]\napp_token = "file:nowhere"', '"xapp-…" in allow_users is not an id'),
        ('base_url = "https://ada:SECRET1@host/"', "without a user and a password"),
        ('"sk-ant-SECRET1" = 1', "unknown key 'sk-ant-…'"),
        ('bubble = "sk-ant-SECRET1"', "not 'sk-ant-…'"),
        ('allow_users = []\n["xoxb-SECRET1"]', "unknown table [xoxb-…]"),
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(content: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "dragoman.toml").write_text(f"[slack]\n{content}\n", encoding="utf-8")
    (tmp_path / "app").write_text("xapp-1-A", encoding="utf-8")
    done = dragoman("run", cwd=tmp_path, extra={"ANTHROPIC_API_KEY": "sk-ant-unused"})
    assert done.returncode == 2
    assert shown in done.stderr
    assert "SECRET1" not in done.stderr


def test_the_traceback_of_what_nobody_foresaw_shows_no_secret(tmp_path: Path) -> None:
    program = (
        "import sys; from gateway.cli import chunk, main\n"
        "def fail(*_): raise LookupError('xoxb-' + 'SECRET')\n"
        "chunk.main = fail; sys.argv = ['dragoman', 'chunk']; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "LookupError: xoxb-…" in done.stderr
    assert "xoxb-SECRET" not in done.stderr


def shell(command: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[bytes]:
    """Run what a user would type, with the command as $DRAGOMAN."""
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=cwd,
        env=environment({"DRAGOMAN": str(DRAGOMAN)} | extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("place", [">&-", ">/dev/full"], ids=["closed", "full"])
@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "chunk text.md",
        "chunk --json text.md",
        "events --provider anthropic_messages text.sse",
        "play --time-scale 60 --pace 0",
        "play --time-scale 60 --pace 0 --headless --json",
    ],
)
def test_output_that_cannot_be_written_is_said_in_a_sentence(arguments: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("text", encoding="utf-8")
    (tmp_path / "text.sse").write_bytes((GOLDEN / "anthropic.text_only.sse").read_bytes())
    done = shell(f'"$DRAGOMAN" {arguments} {place}', tmp_path)
    reason = b"No space left on device" if "full" in place else b"Bad file descriptor"
    assert (done.returncode, done.stderr) == (1, b"dragoman: standard output cannot be written: " + reason + b"\n")


def test_without_standard_error_the_status_tells_it(tmp_path: Path) -> None:
    for place in ("2>&-", "2>/dev/full"):
        done = shell(f'"$DRAGOMAN" chunk nowhere.md {place}', tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")


def test_standard_input_that_is_closed_is_said_in_a_sentence(tmp_path: Path) -> None:
    done = shell('"$DRAGOMAN" chunk <&-', tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"dragoman: standard input: is closed")


ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


@pytest.mark.parametrize(
    "extra", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, ASCII], ids=["ascii", "latin-1", "C"]
)
def test_what_is_printed_is_utf8_whatever_the_locale_says(extra: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("Hé 😀", encoding="utf-8")
    for option in ("", "--json"):
        done = shell(f'"$DRAGOMAN" chunk {option} text.md', tmp_path, **extra)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "Hé 😀" in done.stdout.decode()
    done = shell('"$DRAGOMAN" play --say "Hé 😀" --script text.md --pace 0 --time-scale 60', tmp_path, **extra)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().count("Hé 😀") == 2


@pytest.mark.parametrize("columns", ["0", "1", "99999999"])
def test_a_terminal_of_no_use_is_written_to_all_the_same(columns: str, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("Hello.", encoding="utf-8")
    for arguments in ("chunk text.md", "play --script text.md --pace 0 --time-scale 60"):
        done = shell(f'"$DRAGOMAN" {arguments}', tmp_path, COLUMNS=columns)
        assert (done.returncode, done.stderr) == (0, b"")
        assert "Hello." in done.stdout.decode()
        assert max(map(len, done.stdout.decode().splitlines())) <= 100


@pytest.mark.parametrize("name", ["a b.md", "é😀.md", 'quoted "\\.md', "line\nand\x7f.md", "# ${x}.md"])
def test_a_script_may_have_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("Found.", encoding="utf-8")
    played = play(tmp_path, "--script", name, "--time-scale", "60", "--pace", "inf")
    assert [message["text"] for message in played["messages"]][1:] == ["Found."]


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
    [
        ("chunk", "--limit", "10", "long.md"),
        ("chunk", "--limit", "10", "--json", "long.md"),
        ("events", "--provider", "anthropic_messages", "long.sse"),
        ("play",),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_it_silently(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (place := tmp_path / "temporary").mkdir()
    (tmp_path / "long.md").write_text("word " * 200_000, encoding="utf-8")
    name = b"event: content_block_delta"
    start, delta, *_ = (GOLDEN / "anthropic.text_only.sse").read_bytes().split(name)
    (tmp_path / "long.sse").write_bytes(start + (name + delta) * 20_000)
    with subprocess.Popen(
        [DRAGOMAN, *arguments],
        cwd=tmp_path,
        env=environment({"TMPDIR": str(place)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == -signal.SIGPIPE
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_ends_play_with_its_status_in_good_order(number: signal.Signals, status: int, tmp_path: Path) -> None:
    (place := tmp_path / "temporary").mkdir()
    with subprocess.Popen(
        [DRAGOMAN, "play", "--pace", "1"],
        cwd=tmp_path,
        env=environment({"TMPDIR": str(place)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert any(b"ada" in line for line in process.stdout)
            assert [path.name[:14] for path in place.iterdir()] == ["dragoman-play-"]
            process.send_signal(number)
            assert process.wait(timeout=30) == status
            assert process.stderr.read() == b""
        finally:
            process.kill()
    assert list(place.iterdir()) == []


def test_an_interrupt_while_it_loads_ends_it_with_130_and_no_traceback(tmp_path: Path) -> None:
    """The interrupt comes while the command's modules are being loaded, by one of them that sends it."""
    (tmp_path / "typer.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n")
    done = dragoman("play", cwd=tmp_path, extra={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_help_is_there_for_each_command(tmp_path: Path) -> None:
    for arguments in (("-h",), *((command, way) for command in COMMANDS for way in ("--help", "-h"))):
        done = dragoman(*arguments, cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage: dragoman" in done.stdout


def test_the_version_is_told(tmp_path: Path) -> None:
    done = dragoman("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"dragoman {version('dragoman')}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("play", "--on", "discrod"), "'discrod' is not known, did you mean 'discord'?"),
        (("play", "--on", "irc"), "'irc' is not known; known are slack, discord, telegram, all"),
        (("play", "--model", "gpt"), "'gpt' is not known; known are scripted, anthropic"),
        (("play", "--model", "antropic"), "'antropic' is not known, did you mean 'anthropic'?"),
        (("chunk", "--unit", "UTF-16"), "'UTF-16' is not known, did you mean 'utf16'?"),
        (("play", "Discord"), "play takes no 'Discord': a platform is named with --on discord"),
        (("play", "Hello?"), "play takes no 'Hello?': a question is asked with --say"),
    ],
)
def test_a_name_that_is_not_known_is_told_with_those_that_are(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = dragoman(*arguments, cwd=tmp_path, extra={"COLUMNS": "200"})
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_names_may_be_written_in_capitals(tmp_path: Path) -> None:
    on = ("--on", "Discord", "--model", "Scripted", "--pace", "0", "--time-scale", "60", "--headless")
    done = dragoman("play", *on, cwd=tmp_path)
    assert (done.returncode, "calls to Discord" in done.stdout) == (0, True)
