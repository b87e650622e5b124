"""``dragoman chat`` as a process, in a terminal and between pipes, with a model behind Anthropic's protocol."""

import os
import pty
import re
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import anyio
import anyio.abc
import pytest

from tests.e2e.command import environment
from tests.e2e.messages_api import serving
from tests.e2e.messages_model import Said, Script, broken, call, failed, said, stalled, text

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.e2e.tools", "chat"]

PATIENCE = 60
"""Seconds; a start takes two or three on a busy machine."""

STYLE = re.compile(r"\x1b\[[0-9;]*m")
DRAWING = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[lh]|2K|1A)")
"""What Rich writes of itself: styles, the cursor, and the lines that it draws again."""


@asynccontextmanager
async def model(folder: Path, *answers: Said) -> AsyncGenerator[Script]:
    """A model, and in the folder a configuration that names it."""
    script = Script(answers)
    async with serving(script) as api:
        settings = (
            f'name = "claude-test"\nmax_tokens = 100\napi_key = "file:{folder / "key"}"\nbase_url = "{api.url}"\n'
        )
        (folder / "key").write_text("sk-ant-a-key-that-nobody-may-see", encoding="utf-8")
        (folder / "dragoman.toml").write_text(f'[model]\nprovider = "anthropic_messages"\n{settings}', encoding="utf-8")
        yield script
    assert script.complaints == []


def surroundings() -> dict[str, str]:
    return environment({"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"})


async def piped(folder: Path, lines: str, *arguments: str) -> tuple[int, str, str]:
    """Its status, what it said, and what it said beside."""
    with anyio.fail_after(PATIENCE):
        done = await anyio.run_process(
            [*COMMAND, *arguments], input=lines.encode(), cwd=folder, env=surroundings(), check=False
        )
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Typist:
    """Somebody at a terminal."""

    def __init__(self, process: anyio.abc.Process, descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.raw = ""
        self._seen = 0

    @property
    def shown(self) -> str:
        """All that was shown, without styles."""
        return STYLE.sub("", self.raw)

    async def type(self, words: str) -> None:
        os.write(self._descriptor, words.encode())
        await anyio.lowlevel.checkpoint()

    async def until(self, words: str) -> str:
        """Wait until the words are there behind what was waited for before; what stood between."""
        with anyio.move_on_after(PATIENCE):
            while self.shown.find(words, self._seen) < 0 and await self._more():
                pass
        at = self.shown.find(words, self._seen)
        assert at >= 0, f"there is no {words!r} in {self.shown[self._seen :]!r}"
        between = self.shown[self._seen : at]
        self._seen = at + len(words)
        return between

    async def end(self) -> int:
        """Its status, when it has ended by itself."""
        with anyio.fail_after(PATIENCE):
            while await self._more():
                pass
            status = await self.process.wait()
        assert "Traceback" not in self.raw
        return status

    async def _more(self) -> bool:
        try:
            await anyio.wait_readable(self._descriptor)
            piece = os.read(self._descriptor, 65_536)
        except OSError:  # nobody is at the other end any more
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)


@asynccontextmanager
async def typing(folder: Path, *arguments: str) -> AsyncGenerator[Typist]:
    ours, theirs = pty.openpty()
    try:
        async with await anyio.open_process(
            [*COMMAND, *arguments], cwd=folder, env=surroundings(), stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            try:
                typist = Typist(process, ours)
                await typist.until("> ")
                yield typist
            finally:
                if process.returncode is None:
                    process.kill()
    finally:
        os.close(ours)


WRITES = (
    said(text("I write."), call("toolu_1", "write", {"path": "a.txt", "text": "x\x1b[2Jy\u202e" + "z" * 300})),
    said(text("So it is.")),
)


# Between pipes.


async def test_each_line_that_is_piped_in_is_a_question_and_the_answers_alone_are_the_output(tmp_path: Path) -> None:
    answers = (said(text("Low **water** is at six.")), said(text("And\n\nhigh at noon.")))
    async with model(tmp_path, *answers) as script:
        status, out, beside = await piped(tmp_path, "When?\n\nAnd high?\n")
    assert (status, out, beside) == (0, "Low **water** is at six.\nAnd\n\nhigh at noon.\n", "")
    assert [message["content"] for message in script.requests[1]["messages"]] == [
        "<you> When?",
        [text("Low **water** is at six.")],
        "<you> And high?",
    ]


async def test_another_model_can_be_named(tmp_path: Path) -> None:
    async with model(tmp_path, said(text("Six."))) as script:
        status, _, _ = await piped(tmp_path, "When?", "--model", "claude-other")
    assert (status, script.requests[0]["model"]) == (0, "claude-other")


@pytest.mark.parametrize(
    ("decision", "kind"),
    [("y\n", False), ("yes\n", False), ("a\n", False), ("n\n", True), ("perhaps\n", True), ("", True)],
)
async def test_the_line_behind_a_question_decides_what_the_tool_may(decision: str, kind: bool, tmp_path: Path) -> None:
    async with model(tmp_path, *WRITES) as script:
        status, out, beside = await piped(tmp_path, f"Write it.\n{decision}")
    assert (status, out) == (0, "I write.\n\nSo it is.\n")
    assert "z" * 300 in beside
    assert script.requests[1]["messages"][2]["content"][0]["is_error"] is kind


async def test_always_holds_for_the_conversation_and_no_longer(tmp_path: Path) -> None:
    answers = [said(call(f"toolu_{number}", "write", {"at": number})) for number in range(3)]
    answers[2] = replace(answers[2], anew=True)
    answers = [each for answer in answers for each in (answer, said(text("Done.")))]
    async with model(tmp_path, *answers) as script:
        status, out, beside = await piped(tmp_path, "Write.\na\nAgain.\n/new\nOnce more.\nn\n")
    assert (status, out) == (0, "Done.\n" * 3)
    assert beside.count("The model wants to use write") == 2
    assert script.requests[3]["messages"][-1]["content"][0]["is_error"] is False
    assert script.requests[5]["messages"][-1]["content"][0]["is_error"] is True
    assert len(script.requests[4]["messages"]) == 1


async def test_what_goes_wrong_is_a_sentence_beside_the_output_and_a_status(tmp_path: Path) -> None:
    async with model(tmp_path, failed(401, "authentication_error")):
        status, out, beside = await piped(tmp_path, "When?\n")
    assert (status, out) == (1, "")
    assert "The model refused the bot's key" in beside
    assert "sk-ant-a-key" not in beside


async def test_words_that_were_written_out_are_not_written_twice(tmp_path: Path) -> None:
    async with model(tmp_path, broken(text("Low water")), said(text("Six."))):
        status, out, beside = await piped(tmp_path, "When?\n")
    assert (status, out) == (1, "Low water\n")
    assert "The model is overloaded" in beside


async def test_nothing_that_a_model_says_steers_a_terminal(tmp_path: Path) -> None:
    evil = "a\x1b[31mb\x9b2Jc\rd\x07 &#27;[2J [x](http://e/\x1b]8;;) `\x1bc`"
    answers = (said(text(evil), call("toolu_1", "look", {})), said(text("Done.")))
    async with model(tmp_path, *answers):
        _, out, beside = await piped(tmp_path, "When?\n")
    async with model(tmp_path, *answers), typing(tmp_path) as typist:
        await typist.type("When?\n")
        await typist.until("Used look")
        await typist.type("\x04")
        assert await typist.end() == 0
    control = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
    assert not control.search(out + beside)
    assert not control.search(DRAWING.sub("", typist.raw).replace("\r", ""))


async def test_without_a_configuration_that_holds_it_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "dragoman.toml").write_text('[model]\nprovider = "nobody"\n', encoding="utf-8")
    status, out, beside = await piped(tmp_path, "When?\n")
    assert (status, out) == (2, "")
    assert "provider in [model] must be one of" in beside


# In a terminal.


async def test_an_answer_is_shown_as_markdown_and_stays(tmp_path: Path) -> None:
    words = "\n\n".join(f"Paragraph **{number}** " + "word " * 40 for number in range(6))
    async with model(tmp_path, said(text(words))), typing(tmp_path) as typist:
        await typist.type("When?\n")
        await typist.until("Paragraph 5")
        await typist.until("\n> ")
        await typist.type("/help\n")
        await typist.until("/new begins a new conversation")
        await typist.type("/exit\n")
        assert await typist.end() == 0
    assert "**" not in typist.shown


@pytest.mark.parametrize(("decision", "refused"), [("y", False), ("n", True)])
async def test_a_person_is_asked_with_the_whole_input_and_decides(decision: str, refused: bool, tmp_path: Path) -> None:
    async with model(tmp_path, *WRITES) as script, typing(tmp_path) as typist:
        await typist.type("Write it.\n")
        await typist.until("The model wants to use write:")
        shown = (await typist.until("Allow it? y (yes), n (no), a (always in this conversation): ")).replace(
            "\r\n", "\n"
        )
        await typist.type("hm\n")
        await typist.until("Allow it?")
        assert len(script.requests) == 1
        await typist.type(f"{decision}\n")
        await typist.until("So it is.")
        await typist.until("Used write" if not refused else "\n> ")
        await typist.type("\x04")
        assert await typist.end() == 0
    assert '"text": "x\\u001b[2Jy\\u202e' + "z" * 300 + '"' in shown
    assert script.requests[1]["messages"][2]["content"][0]["is_error"] is refused


async def test_what_was_typed_before_the_question_was_seen_allows_nothing(tmp_path: Path) -> None:
    answers = (said(call("toolu_1", "sleep", {"seconds": 0.5}), call("toolu_2", "write", {})), said(text("Well.")))
    async with model(tmp_path, *answers) as script, typing(tmp_path) as typist:
        await typist.type("Write it.\n")
        await typist.until("Working: sleep")
        await typist.type("y\ny\n")
        await typist.until("Allow it?")
        await typist.type("n\n")
        await typist.until("Well.")
    assert [each["is_error"] for each in script.requests[1]["messages"][2]["content"]] == [False, True]


@pytest.mark.parametrize(
    "answer",
    [stalled(text("Low water is")), said(text("Low water is"), call("toolu_1", "sleep", {}))],
    ids=["words", "tool"],
)
async def test_an_interrupt_ends_the_answer_and_the_next_one_the_program(answer: Said, tmp_path: Path) -> None:
    async with model(tmp_path, answer, said(text("At noon."))) as script, typing(tmp_path) as typist:
        await typist.type("When?\n")
        await typist.until("Low water is")
        if answer.blocks:
            await typist.until("Working: sleep")
        await typist.type("\x03")
        await typist.until("(Stopped.)")
        await typist.until("\n> ")
        await typist.type("And high?\n")
        await typist.until("At noon.")
        await typist.until("\n> ")
        await typist.type("\x03")
        assert await typist.end() == 130
    assert "They stopped your answer here" in str(script.requests[1]["messages"])


async def test_an_interrupt_at_a_decision_ends_the_answer_and_nothing_is_run(tmp_path: Path) -> None:
    async with model(tmp_path, WRITES[0], said(text("At noon."))) as script, typing(tmp_path) as typist:
        await typist.type("Write it.\n")
        await typist.until("Allow it?")
        await typist.type("\x03")
        await typist.until("(Stopped.)")
        await typist.until("\n> ")
        await typist.type("y\n")
        await typist.until("At noon.")
    (result, words) = script.requests[1]["messages"][2]["content"]
    assert result["is_error"]
    assert words["text"].endswith("<you> y")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str)
async def test_a_signal_ends_it_in_the_middle_of_an_answer(number: signal.Signals, status: int, tmp_path: Path) -> None:
    (place := tmp_path / "temporary").mkdir()
    async with (
        model(tmp_path, stalled(text("Low water is"))),
        await anyio.open_process(
            COMMAND, cwd=tmp_path, env=surroundings() | {"TMPDIR": str(place)}, stdin=PIPE, stdout=PIPE, stderr=PIPE
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            with anyio.fail_after(PATIENCE):
                await process.stdin.send(b"When?\n")
                await process.stdout.receive()
                process.send_signal(number)
                assert await process.wait() == status
        finally:
            if process.returncode is None:
                process.kill()
    assert list(place.iterdir()) == []


async def test_what_broke_off_behind_its_first_words_is_asked_for_again(tmp_path: Path) -> None:
    async with model(tmp_path, broken(text("Low water")), said(text("At six."))), typing(tmp_path) as typist:
        await typist.type("When?\n")
        await typist.until("At six.")
        await typist.until("\n> ")
        await typist.type("/exit\n")
        assert await typist.end() == 0
