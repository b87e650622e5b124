"""A mention, answered end to end: the real command, the real SDK, a Slack that enforces Slack's rules."""

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import dragoman, play

GOLDEN = Path(__file__).parent.parent / "golden"
LIMIT = 800
VOCABULARY = [
    "the",
    "tide",
    "gate",
    "opens",
    "when",
    "water",
    "stands",
    "higher",
    "outside",
    "and",
    "a",
    "keeper",
    "notes",
]


def prose(source: random.Random, sentences: int) -> str:
    made = [" ".join(source.choices(VOCABULARY, k=source.randint(5, 18))).capitalize() + "." for _ in range(sentences)]
    return " ".join(made)


def code(source: random.Random, lines: int) -> str:
    body = [f"{'    ' * source.randint(0, 4)}step_{number} = measure({source.random():.6f})" for number in range(lines)]
    return "\n".join(["```python", *body, "```"])


def long_answer(length: int) -> str:
    """An answer of at least that many characters, with code blocks of 300 lines."""
    source = random.Random(1)
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts += [prose(source, 6), prose(source, 3), code(source, 300), "- " + prose(source, 1), prose(source, 9)]
    return "\n\n".join(parts) + "\n"


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


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Low water is at six.\n", id="a sentence"),
        pytest.param(long_answer(3_000), id="a few messages"),
        pytest.param(long_answer(40_000), id="40,000 characters with 300-line code blocks"),
    ],
)
def test_an_answer_is_shown_whole_once_and_in_order(answer: str, tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    played = play(tmp_path, "--say", "When is low water?", "--script", "answer.md", "--time-scale", "60", "--pace", "0")
    assert_whole_once_in_order(played, answer)
    assert played["end"] == "complete"


def test_the_json_has_the_shape_that_is_promised(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(2_000), encoding="utf-8")
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
    (tmp_path / "answer.md").write_text(long_answer(2_000), encoding="utf-8")
    played = play(tmp_path, "--script", "answer.md", "--time-scale", "60", "--pace", "0", "--faults", "0")
    assert list(played) == ["platform", "messages", "deleted", "chunks", "calls", "events", "end"]
    assert all(set(message) == {"id", "author", "text", "edited", "thread"} for message in played["deleted"])
    assert any(call["error"] for call in played["calls"])


def test_a_live_answer_is_edited_while_it_grows(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text(long_answer(1_500), encoding="utf-8")
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


def test_an_empty_mention_gets_an_answer(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Yes?", encoding="utf-8")
    assert answers(play(tmp_path, "--say", "", "--script", "answer.md", "--time-scale", "60")) == ["Yes?"]


def test_what_the_model_writes_pings_nobody_and_arrives_as_text(tmp_path: Path) -> None:
    answer = "<!channel> <@U1> <#C1> <!here> @everyone `<!channel>`"
    (tmp_path / "answer.md").write_text(answer, encoding="utf-8")
    assert answers(play(tmp_path, "--script", "answer.md", "--time-scale", "60")) == [answer]


def test_a_smaller_limit_holds(tmp_path: Path) -> None:
    answer = long_answer(3_000)
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


def test_the_terminal_shows_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "answer.md").write_text("Low water is **at six**.", encoding="utf-8")
    done = dragoman("play", "--say", "When?", "--script", "answer.md", "--time-scale", "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "When?" in done.stdout
    assert "Low water is at six." in done.stdout
    assert "0 refused" in done.stdout
    assert done.stderr == ""


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
