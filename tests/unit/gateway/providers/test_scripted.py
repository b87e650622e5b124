from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.event import ErrorType, MessageEnd, TextDelta, Usage
from gateway.grammar import check_message
from gateway.provider import AssistantMessage, Item, Native, Request, UserMessage
from gateway.providers.scripted import Settings, Turn, create, events, parse

QUESTION = Request(model="scripted", max_tokens=100, system="1234", messages=(UserMessage(text="56789"),))
TOML = Path("s.toml")
LOOPS = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


def conversation(questions: int) -> Request:
    said: list[UserMessage | AssistantMessage] = [UserMessage(text="q")]
    for _ in range(questions - 1):
        said += [AssistantMessage(text="a"), UserMessage(text="q")]
    return Request(model="scripted", max_tokens=100, system="", messages=tuple(said))


def shown(items: list[Item]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def settings(**more: Any) -> Settings:
    given: dict[str, Any] = {"provider": "scripted", "name": "scripted", "max_tokens": 100}
    return Settings(**given | more)


async def ask(file: Path, request: Request = QUESTION, pace: float = 0) -> list[Item]:
    with anyio.fail_after(5):
        async with create(settings(script=file, pace=pace)).stream(request) as stream:
            return [item async for item in stream]


def test_a_markdown_file_is_one_answer_kept_to_the_letter() -> None:
    text = "# Tides\r\n\n```\n\u2028é👩\u200d💻\n```\n"
    assert parse(text.encode(), Path("answer.MD")) == (Turn(text=text),)
    assert parse(b"\xef\xbb\xbfa", Path("a.md")) == (Turn(text="a"),)


def test_a_toml_file_is_a_row_of_turns() -> None:
    script = b"""
        [[turn]]
        text = "one"
        pace = 40
        [[turn]]
        text = "two"
        cut = "max_tokens"
        [[turn]]
        error = "overloaded"
        pace = inf
    """
    assert parse(script, TOML) == (
        Turn(text="one", pace=40),
        Turn(text="two", cut="max_tokens"),
        Turn(error="overloaded", pace=float("inf")),
    )


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (b"", "s.toml", r"s\.toml: there is no \[\[turn\]\]"),
        (b"turn = []", "s.toml", r"s\.toml: there is no \[\[turn\]\]"),
        (b"turn = 1", "s.toml", r"s\.toml: turn: .*tuple"),
        (b"[[turn]]\n[[tool]]\nname = 'x'", "s.toml", r"s\.toml: `tool` is not known here"),
        (b"[[turn]]\n[[user]]\nsay = 'x'", "s.toml", r"s\.toml: `user` is not known here"),
        (b"[[turn]]\n[[turn]]\ncalls = []", "s.toml", r"s\.toml: turn 2: `calls` is not known here"),
        (b"[[turn]]\ntext = 1", "s.toml", r"s\.toml: turn 1, text: .*string"),
        (b"[[turn]]\npace = -1", "s.toml", r"s\.toml: turn 1, pace: .*greater"),
        (b"[[turn]]\npace = nan", "s.toml", r"s\.toml: turn 1, pace: "),
        (b"[[turn]]\ncut = 'pause'", "s.toml", r"s\.toml: turn 1, cut: .*'max_tokens', 'refusal' or 'silent'"),
        (b"[[turn]]\nerror = 'oops'", "s.toml", r"s\.toml: turn 1, error: .*'overloaded'"),
        (b"[[turn]]\n[[turn]]\ncut = 'silent'\nerror = 'server'", "s.toml", r"s\.toml: turn 2: .*not by both"),
        (b"[[turn]", "s.toml", r"s\.toml: not TOML: .*line 1"),
        (b"\xff", "s.toml", r"s\.toml: not UTF-8 .*byte 0"),
        (b"hi", "s.txt", r"s\.txt: a script is a \.md file"),
    ],
)
def test_a_script_that_cannot_be_played_is_named_with_its_key(content: bytes, name: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        parse(content, Path(name))


def test_text_comes_in_deltas_of_four_characters() -> None:
    found = events(Turn(text="123456789"), QUESTION)
    check_message(found)
    assert [item.text for item in found if isinstance(item, TextDelta)] == ["1234", "5678", "9"]
    assert found[-2:] == [
        Native(protocol="scripted", blocks=({"type": "text", "text": "123456789"},)),
        MessageEnd(message_id="scripted-1", stop_reason="end", usage=Usage(input_tokens=3, output_tokens=3)),
    ]


@pytest.mark.parametrize("cut", ["max_tokens", "refusal"])
def test_a_cut_is_told_by_the_stop_reason(cut: Any) -> None:
    end = events(Turn(text="abc", cut=cut), QUESTION)[-1]
    assert isinstance(end, MessageEnd)
    assert end.stop_reason == cut


@pytest.mark.parametrize(
    ("turn", "error_type", "retryable"),
    [
        (Turn(text="abcde", cut="silent"), "incomplete_stream", True),
        (Turn(text="abcde", error="overloaded"), "overloaded", True),
        (Turn(text="abcde", error="authentication"), "authentication", False),
    ],
)
def test_an_error_comes_behind_the_text(turn: Turn, error_type: ErrorType, retryable: bool) -> None:
    found = events(turn, QUESTION)
    check_message(found)
    assert shown(found) == "abcde"
    assert getattr(found[-1], "error_type", None) == error_type
    assert getattr(found[-1], "retryable", None) == retryable


@given(
    st.builds(
        Turn,
        text=st.text(),
        cut=st.none() | st.sampled_from(["max_tokens", "refusal", "silent"]),
        error=st.none() | st.sampled_from(["overloaded", "unknown"]),
    )
)
def test_every_turn_is_a_message_that_says_its_whole_text(turn: Turn) -> None:
    found = events(turn, QUESTION)
    check_message(found)
    assert shown(found) == turn.text


@LOOPS
async def test_the_nth_question_gets_the_nth_turn_and_then_the_last_again(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[[turn]]\ntext = "one"\n[[turn]]\ntext = "two"\n')
    answers = [shown(await ask(file, conversation(questions))) for questions in (1, 2, 3, 7, 1)]
    assert answers == ["one", "two", "two", "two", "one"]


@pytest.mark.virtual_time
async def test_deltas_come_at_the_settings_pace(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text("x" * 4 * 201)
    begun = anyio.current_time()
    items = await ask(file, pace=200)
    assert anyio.current_time() - begun == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]  # untyped in pytest
    assert len(shown(items)) == 804


@pytest.mark.virtual_time
async def test_a_turns_own_pace_goes_before_that_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[[turn]]\ntext = "12345678"\npace = 0.5\n')
    begun = anyio.current_time()
    await ask(file, pace=200)
    assert anyio.current_time() - begun == pytest.approx(2.0)  # pyright: ignore[reportUnknownMemberType]  # untyped in pytest


@pytest.mark.virtual_time
@pytest.mark.parametrize("pace", [0, float("inf")])
async def test_no_pace_means_no_waiting(tmp_path: Path, pace: float) -> None:
    file = tmp_path / "s.md"
    file.write_text("x" * 4000)
    begun = anyio.current_time()
    await ask(file, pace=pace)
    assert anyio.current_time() == begun


@LOOPS
async def test_an_answer_without_waiting_can_be_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text("x" * 4000)
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async with create(settings(script=file, pace=0)).stream(QUESTION) as stream:
            scope.cancel()
            async for _ in stream:
                pass
    assert scope.cancelled_caught


def test_the_configurations_table_is_read_strictly() -> None:
    table: dict[str, Any] = {"provider": "scripted", "name": "scripted", "max_tokens": 100, "script": "a.md"}
    assert TypeAdapter(Settings).validate_python(table) == settings(script=Path("a.md"))
    for change in ({"scripts": "a.md"}, {"pace": -1}, {"pace": float("nan")}, {"max_tokens": 0}):
        with pytest.raises(ValidationError):
            TypeAdapter(Settings).validate_python(table | change)


def test_without_a_script_there_is_nothing_to_say() -> None:
    with pytest.raises(ConfigurationError, match="set `script` to"):
        create(settings())


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nothing\.md: the script cannot be read \(No such file"):
        create(settings(script=tmp_path / "nothing.md"))
