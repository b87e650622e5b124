"""A mention, answered end to end: the real command, the real SDK, a Slack that enforces Slack's rules."""

import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest

from gateway.cli.screen import summary
from gateway.cli.table import Value
from tests.e2e.answer import FAMILIES, LARGE, NARROW, long_answer
from tests.e2e.command import dragoman, play

GOLDEN = Path(__file__).parent.parent / "golden"
LIMIT = 800


def words(text: str) -> list[str]:
    """All that is said, in order, without the fences that mark code."""
    return [word for line in text.splitlines() if not line.startswith("```") for word in line.split()]


def code_lines(text: str) -> list[str]:
    """The lines that stand in fences, with their indentation."""
    inside, lines = False, list[str]()
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            lines.append(line)
    return lines


def answers(played: dict[str, Any]) -> list[str]:
    return [message["text"] for message in played["messages"] if message["author"] == "bot"]


def assert_whole_once_in_order(played: dict[str, Any], answer: str, limit: int = LIMIT) -> None:
    shown = answers(played)
    assert words("\n".join(shown)) == words(answer)
    assert code_lines("\n".join(shown)) == code_lines(answer)
    assert max(map(len, shown)) <= limit
    assert all(sum(line.startswith("```") for line in text.splitlines()) % 2 == 0 for text in shown)
    assert [call for call in played["calls"] if call["status"] != 200 or call["error"]] == []


LONGEST = {"slack": 11_500, "discord": 1_950, "telegram": 4_000}
NUMBERED = re.compile(r"w\d{4,}")


def units(platform: str, text: str) -> int:
    """How long a text is, as the platform counts."""
    return len(text.encode("utf-16-le")) // 2 if platform == "telegram" else len(text)


def code_in(platform: str, message: Mapping[str, Any]) -> list[str]:
    """The lines of code in a message; those of tables, which are shown as code, among them."""
    if platform != "telegram":
        return code_lines(message["text"])
    encoded = message["text"].encode("utf-16-le")
    blocks = [
        encoded[2 * each["offset"] : 2 * (each["offset"] + each["length"])].decode("utf-16-le")
        for each in message["entities"]
        if each["type"] == "pre"
    ]
    return [line for block in blocks for line in block.splitlines()]


def assert_all_is_there(played: Mapping[str, Any], answer: str, limit: int) -> None:
    """Judged by the messages alone: each word once and in order, code as it was written, nothing too long or open."""
    platform, shown = played["platform"], [each for each in played["messages"] if each["author"] == "bot"]
    text = "\n".join(message["text"] for message in shown)
    assert NUMBERED.findall(text) == NUMBERED.findall(answer)
    assert re.sub("[^潮-鿿]", "", text) == re.sub("[^潮-鿿]", "", answer)
    assert all(text.count(family) == answer.count(family) for family in FAMILIES)
    code = [line for message in shown for line in code_in(platform, message)]
    assert [line for line in code if " = " in line] == code_lines(answer)
    assert max(units(platform, message["text"]) for message in shown) <= limit
    if platform != "telegram":
        assert all(len(re.findall("^ *```", message["text"], re.MULTILINE)) % 2 == 0 for message in shown)
    assert [call for call in played["calls"] if call["status"] == 429 or call["retry_after"] is not None] == []
    assert played["end"] == "complete"


@pytest.mark.parametrize("platform", LONGEST)
@pytest.mark.parametrize(
    ("limit", "answer"),
    [
        pytest.param(800, "Low water is at six.\n", id="a sentence"),
        pytest.param(40, long_answer(6_000, seed=1, blocks=NARROW), id="6,000 characters, 40 a message"),
        pytest.param(800, long_answer(60_000, seed=1, blocks=LARGE), id="60,000 characters, 800 a message"),
        pytest.param(0, long_answer(60_000, seed=2, blocks=LARGE), id="60,000 characters, the longest messages"),
    ],
)
def test_an_answer_is_shown_whole_once_and_in_order(platform: str, limit: int, answer: str, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    limit = limit or LONGEST[platform]
    options = ("--on", platform, "--limit", str(limit), "--script", "answer.md", "--time-scale", "60", "--pace", "0")
    assert_all_is_there(play(tmp_path, *options), answer, limit)


@pytest.mark.parametrize("platform", LONGEST)
def test_an_answer_that_grows_is_whole_in_the_end(platform: str, tmp_path: Path) -> None:
    answer = long_answer(6_000, seed=3, blocks=LARGE)
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    played = play(tmp_path, "--on", platform, "--script", "answer.md", "--time-scale", "60", "--pace", "1000")
    assert_all_is_there(played, answer, LIMIT)
    assert len(played["calls"]) > len(played["messages"]) + 5


def test_all_platforms_give_the_same_answer_at_once(tmp_path: Path) -> None:
    answer = long_answer(60_000, seed=4, blocks=LARGE)
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    options = ("--on", "all", "--script", "answer.md", "--time-scale", "60", "--pace", "0")
    played: Any = play(tmp_path, *options)
    assert [each["platform"] for each in played] == [*LONGEST]
    for each in played:
        assert_all_is_there(each, answer, LIMIT)


@pytest.mark.parametrize("platform", ["discord", "telegram"])
def test_what_is_longer_once_it_is_rendered_keeps_the_limit(platform: str, tmp_path: Path) -> None:
    rows = "\n".join(f"| {'x' * 30 if number % 10 == 0 else 'y'} | w{number:04} |" for number in range(200))
    answer = f"| a | b |\n|---|---|\n{rows}\n\n{'@you and _a, *b ' * 60}\n"
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    played = play(tmp_path, "--on", platform, "--script", "answer.md", "--time-scale", "60", "--pace", "0")
    assert_all_is_there(played, answer, LIMIT)


@pytest.mark.parametrize("platform", [*LONGEST, "all"])
def test_a_limit_that_no_message_has_is_refused_in_a_sentence(platform: str, tmp_path: Path) -> None:
    limit = min(LONGEST.values()) + 1 if platform == "all" else LONGEST[platform] + 1
    done = dragoman("play", "--headless", "--on", platform, "--limit", str(limit), cwd=tmp_path)
    assert done.returncode == 2
    assert str(limit - 1) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("platform", LONGEST)
def test_what_the_model_writes_pings_nobody_on_any_platform(platform: str, tmp_path: Path) -> None:
    answer = "w0000 <!channel> <@U1> <@200000000000000001> @ada @everyone `@here` [x](tg://user?id=101) w0001\n"
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    played = play(tmp_path, "--on", platform, "--script", "answer.md", "--time-scale", "60")
    (said,) = (message for message in played["messages"] if message["author"] == "bot")
    assert NUMBERED.findall(said["text"]) == ["w0000", "w0001"]
    kinds = {each["type"] for each in said.get("entities", ())}
    assert not kinds & {"mention", "text_mention"}


def test_the_json_has_the_shape_that_is_promised(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(2_000, seed=1), encoding="utf-8")
    played = play(tmp_path, "--say", "Tell me.", "--script", "answer.md", "--time-scale", "60")
    assert list(played) == ["platform", "messages", "chunks", "calls", "events", "end"]
    assert played["platform"] == "slack"
    assert all(set(message) == {"id", "author", "text", "edited", "thread"} for message in played["messages"])
    question, *rest = played["messages"]
    assert (question["author"], question["text"]) == ("user", "@dragoman Tell me.")
    assert {message["thread"] for message in rest} == {question["id"]}
    assert [(chunk["message"], chunk["text"]) for chunk in played["chunks"]] == [(m["id"], m["text"]) for m in rest]
    spans = [(chunk["start"], chunk["end"]) for chunk in played["chunks"]]
    assert spans[0][0] == 0
    assert all(before[1] == behind[0] for before, behind in pairwise(spans))
    assert all(set(c) == {"t", "method", "target", "status", "error", "retry_after"} for c in played["calls"])
    assert [event["seq"] for event in played["events"]] == list(range(len(played["events"])))
    assert [played["events"][index]["event"]["type"] for index in (0, -1)] == ["agent_start", "agent_end"]


def test_with_faults_the_json_also_has_what_readers_deleted(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(2_000, seed=1), encoding="utf-8")
    played = play(tmp_path, "--script", "answer.md", "--time-scale", "60", "--pace", "0", "--faults", "0")
    assert list(played) == ["platform", "messages", "deleted", "chunks", "calls", "events", "end"]
    assert all(set(message) == {"id", "author", "text", "edited", "thread"} for message in played["deleted"])
    assert any(call["error"] for call in played["calls"])


def test_a_live_answer_is_edited_while_it_grows(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(1_500, seed=1), encoding="utf-8")
    played = play(tmp_path, "--script", "answer.md", "--time-scale", "20", "--pace", "400")
    methods = [call["method"] for call in played["calls"]]
    assert methods.count("chat.update") > methods.count("chat.postMessage")


@pytest.mark.parametrize(
    ("turn", "end", "sentence"),
    [
        ('cut = "max_tokens"', "cut", "length limit"),
        ('cut = "refusal"', "refusal", "declined"),
        ('cut = "silent"', "error", "broke off"),
        ('error = "overloaded"', "error", "overloaded"),
    ],
)
def test_the_user_is_told_in_a_sentence_how_a_run_ended(turn: str, end: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "answer.toml").write_text(f'[[turn]]\ntext = "The tide is"\n{turn}\n', encoding="utf-8")
    played = play(tmp_path, "--script", "answer.toml", "--time-scale", "60")
    begun, told = answers(played)
    assert begun == "The tide is"
    assert sentence in told
    assert played["end"] == end


def test_an_empty_answer_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(" \n", encoding="utf-8")
    assert answers(play(tmp_path, "--script", "answer.md", "--time-scale", "60")) == ["(The model gave no answer.)"]


def assert_refused_in_a_line(folder: Path, *arguments: str) -> str:
    """What was said instead; it names the option."""
    done = dragoman("play", "--time-scale", "60", *arguments, cwd=folder)
    assert (done.returncode, done.stdout.strip()) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("dragoman: --say")
    return line


@pytest.mark.parametrize("platform", [*LONGEST, "all"])
@pytest.mark.parametrize("shown", [("--headless",), ()], ids=["headless", "terminal"])
def test_a_question_of_which_nothing_can_be_seen_is_refused_in_a_line(
    platform: str, shown: tuple[str, ...], tmp_path: Path
) -> None:
    for question in ("", " \n", "\u200b\u2028"):
        assert "empty" in assert_refused_in_a_line(tmp_path, "--on", platform, "--say", question, *shown)


@pytest.mark.parametrize(
    ("platform", "question"),
    [
        *(("slack", word) for word in ("new", "stop", "status", " Help ")),
        *(("telegram", word) for word in ("/new", "/stop", "/status", "/help", "/start 1")),
        ("all", "help"),
        ("all", "/help"),
    ],
)
@pytest.mark.parametrize("shown", [("--headless",), ()], ids=["headless", "terminal"])
def test_a_command_starts_no_answer_and_is_refused_in_a_line(
    platform: str, question: str, shown: tuple[str, ...], tmp_path: Path
) -> None:
    line = assert_refused_in_a_line(tmp_path, "--on", platform, "--say", question, *shown)
    assert "is a command" in line


def test_a_question_that_no_client_sends_is_refused_in_a_line(tmp_path: Path) -> None:
    for platform in ("discord", "all"):
        line = assert_refused_in_a_line(tmp_path, "--on", platform, "--say", "w" * 6_001)
        assert "6000 characters" in line


@pytest.mark.parametrize(("platform", "length"), [("slack", 20_000), ("discord", 6_000), ("telegram", 20_000)])
def test_a_long_question_is_asked_as_the_platforms_client_sends_it(platform: str, length: int, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Yes.", encoding="utf-8")
    question = ("word " * length)[: length - 1] + "."
    played = play(tmp_path, "--on", platform, "--say", question, "--script", "answer.md", "--time-scale", "60")
    said = [message["text"] for message in played["messages"] if message["author"] == "user"]
    assert answers(played) == ["Yes."]
    assert sum(text.count("word") for text in said) == pytest.approx(length / 5, abs=len(said))
    assert len(said) == (5 if platform == "telegram" else 1)


def test_what_the_model_writes_pings_nobody_and_arrives_as_text(tmp_path: Path) -> None:
    answer = "<!channel> <@U1> <#C1> <!here> @everyone `<!channel>`"
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    assert answers(play(tmp_path, "--script", "answer.md", "--time-scale", "60")) == [answer]


def test_a_smaller_limit_holds(tmp_path: Path) -> None:
    answer = long_answer(3_000, seed=1)
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    played = play(tmp_path, "--script", "answer.md", "--limit", "300", "--time-scale", "60", "--pace", "0")
    assert_whole_once_in_order(played, answer, 300)


def test_the_terminal_shows_html_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(
        "Put `<div>` in a List<int>, <!channel>.\n\n<details>\nmore\n</details>", "utf-8"
    )
    done = dragoman("play", "--script", "answer.md", "--time-scale", "60", cwd=tmp_path)
    assert all(said in done.stdout for said in ("<div>", "List<int>", "<!channel>", "<details>", "more"))


def test_headless_says_in_a_line_what_it_took(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Yes.", encoding="utf-8")
    done = dragoman("play", "--headless", "--script", "answer.md", "--time-scale", "60", cwd=tmp_path)
    assert done.stdout.startswith("1 message, ")
    assert done.stdout.endswith(" calls to Slack, 0 refused by a rate limit\n")


def test_faults_are_announced_in_the_terminal_and_counted_by_kind(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(2_000, seed=1), encoding="utf-8")
    options = ("--script", "answer.md", "--time-scale", "60", "--pace", "0", "--faults", "3")
    done = dragoman("play", *options, cwd=tmp_path, extra={"COLUMNS": "100"})
    assert done.stdout.startswith("Faults are on (seed 3): calls fail at random, and waits may be long.\n")
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r".* calls to Slack, 1 refused by a rate limit, [1-9] answered with an error.*", last), last


class NothingHappened:
    """A stage on which nothing was said."""

    name = "slack"
    longest = 1

    def settings(self, folder: Path) -> Mapping[str, Value]:
        raise NotImplementedError

    def ask(self, text: str, *, who: Literal["ada", "bob"] = "ada", shared: bool = False) -> str:
        raise NotImplementedError

    def press(self, who: Literal["ada", "bob"], message_id: str, data: str, *, stale: bool = False) -> None:
        raise NotImplementedError

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        raise NotImplementedError

    def messages(self) -> list[Any]:
        return []

    def taken(self) -> list[Any]:
        return []

    def calls(self) -> list[dict[str, object]]:
        return []

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        raise NotImplementedError


def test_the_last_line_counts_each_kind_of_failed_call() -> None:
    class Played(NothingHappened):
        def calls(self) -> list[dict[str, object]]:
            kinds = [
                (200, None),
                (204, None),
                (429, "ratelimited"),
                (200, "no_text"),
                (503, None),
                (0, None),
                (0, None),
            ]
            return [{"status": status, "error": error} for status, error in kinds]

    assert summary(NothingHappened()) == "0 messages, 0 calls to Slack, 0 refused by a rate limit"
    assert summary(Played()) == (
        "0 messages, 7 calls to Slack, 1 refused by a rate limit, 2 answered with an error, 2 without an answer"
    )


def test_the_terminal_shows_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Low water is **at six**.", encoding="utf-8")
    done = dragoman("play", "--say", "When?", "--script", "answer.md", "--time-scale", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "When?" in done.stdout
    assert "Low water is at six." in done.stdout
    assert "0 refused" in done.stdout
    assert done.stderr == ""


def test_the_terminal_shows_what_telegram_was_told(tmp_path: Path) -> None:
    code = "def f(x):\n    if __name__ == '__main__':\n        return '**' * x  # 2_3_4\n\n\n    return None"
    lists = "1. one\n2. two\n\n- a\n  - b\n- c"
    table = "| a | b |\n|---|---|\n| a long cell | 2 |"
    answer = f"# Head\n\n{lists}\n\n```python\n{code}\n```\n\n> quoted `__x__`\n\n{table}\n\nSee \\*this\\*."
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    options = ("--on", "telegram", "--say", "?", "--script", "answer.md", "--time-scale", "60", "--pace", "0")
    (told,) = answers(play(tmp_path, *options))
    done = dragoman("play", *options, cwd=tmp_path, extra={"COLUMNS": "100"})
    lines = [line[2:-2].rstrip() for line in done.stdout.split("─ dragoman ")[1].splitlines() if line.startswith("│")]
    assert lines == told.splitlines()
    assert all(line in lines for line in code.splitlines())


def test_a_real_model_is_asked_as_the_users_own_configuration_says(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write((GOLDEN / "anthropic.text_only.sse").read_bytes())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "key").write_text("sk-ant-local", encoding="utf-8")
        (tmp_path / "dragoman.toml").write_text(
            f"""
[model]
provider = "anthropic_messages"
name = "of-my-own"
max_tokens = 111
base_url = "http://127.0.0.1:{server.server_port}"
api_key = "file:{tmp_path / "key"}"
""",
            encoding="utf-8",
        )
        played = play(tmp_path, "--model", "anthropic", "--say", "Hello?", "--time-scale", "60")
        server.shutdown()
    assert answers(played) == ["Hello, world."]
    assert (asked[0]["model"], asked[0]["max_tokens"]) == ("of-my-own", 111)
