from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.event import (
    ErrorType,
    JsonObject,
    MessageEnd,
    TextDelta,
    ToolInputDelta,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.grammar import check_message
from gateway.history import INTERRUPTED
from gateway.provider import AssistantMessage, Call, Item, Native, Request, Result, UserMessage
from gateway.providers.scripted import Place, Settings, create, events, place_of
from gateway.script import ScriptedCall, Turn

QUESTION = Request(model="scripted", max_tokens=100, system="1234", messages=(UserMessage(text="56789"),))
FIRST = Place()
DEPLOY = ScriptedCall(name="deploy", input={"to": "pier", "n": 1})
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


def test_text_comes_in_deltas_of_four_characters() -> None:
    found = events(Turn(text="123456789"), QUESTION, FIRST)
    check_message(found)
    assert [item.text for item in found if isinstance(item, TextDelta)] == ["1234", "5678", "9"]
    assert found[-2:] == [
        Native(protocol="scripted", blocks=({"type": "text", "text": "123456789"},)),
        MessageEnd(message_id="scripted-1", stop_reason="end", usage=Usage(input_tokens=3, output_tokens=3)),
    ]


@pytest.mark.parametrize("cut", ["max_tokens", "refusal"])
def test_a_cut_is_told_by_the_stop_reason(cut: Any) -> None:
    end = events(Turn(text="abc", cut=cut), QUESTION, FIRST)[-1]
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
    found = events(turn, QUESTION, FIRST)
    check_message(found)
    assert shown(found) == "abcde"
    assert getattr(found[-1], "error_type", None) == error_type
    assert getattr(found[-1], "retryable", None) == retryable


def kinds(items: list[Item]) -> list[str]:
    return [item.type if not isinstance(item, Native) else "native" for item in items]


def written(items: list[Item]) -> str:
    return "".join(item.json_delta for item in items if isinstance(item, ToolInputDelta))


def test_a_call_stands_between_blocks_of_text_and_is_confirmed_by_what_comes_behind_it() -> None:
    turn = Turn(text="I look.", calls=(ScriptedCall(name="look", at=2), DEPLOY))
    found = events(turn, QUESTION, Place(count=3))
    check_message(found)
    assert kinds(found) == [
        *("content_block_start", "text_delta", "content_block_end"),
        *("content_block_start", "tool_use_start", "tool_use_end", "content_block_end", "tool_use_confirmed"),
        *("content_block_start", "text_delta", "text_delta", "content_block_end"),
        *("content_block_start", "tool_use_start", *["tool_input_delta"] * 6, "tool_use_end", "content_block_end"),
        *("tool_use_confirmed", "native", "message_end"),
    ]
    assert [item.tool_use_id for item in found if isinstance(item, ToolUseConfirmed)] == ["call-3-1", "call-3-2"]
    assert [item.input for item in found if isinstance(item, ToolUseEnd)] == [{}, {"to": "pier", "n": 1}]
    assert found[-2:] == [
        Native(
            protocol="scripted",
            blocks=(
                {"type": "text", "text": "I "},
                {"type": "tool_use", "id": "call-3-1", "name": "look", "input": {}},
                {"type": "text", "text": "look."},
                {"type": "tool_use", "id": "call-3-2", "name": "deploy", "input": {"to": "pier", "n": 1}},
            ),
        ),
        MessageEnd(message_id="scripted-3", stop_reason="tool_use", usage=Usage(input_tokens=3, output_tokens=8)),
    ]


@pytest.mark.parametrize("cut", ["max_tokens", "refusal", "silent"])
def test_a_cut_falls_inside_the_last_call_where_nothing_follows_it(cut: Any) -> None:
    found = events(Turn(text="Now", calls=(DEPLOY, DEPLOY), cut=cut), QUESTION, FIRST)
    check_message(found)
    whole, half = [item for item in found if isinstance(item, ToolUseEnd)]
    assert (whole.input, half.input, half.problem) == (DEPLOY.input, None, "invalid_json")
    assert written(found) == DEPLOY.written + DEPLOY.written[: len(DEPLOY.written) // 2]
    assert [item.tool_use_id for item in found if isinstance(item, ToolUseConfirmed)] == ["call-1-1"]


def test_a_cut_behind_text_leaves_the_call_before_it_whole_and_confirmed() -> None:
    found = events(Turn(text="Now it", calls=(ScriptedCall(name="look", at=3),), cut="max_tokens"), QUESTION, FIRST)
    check_message(found)
    assert [item.input for item in found if isinstance(item, ToolUseEnd)] == [{}]
    assert sum(isinstance(item, ToolUseConfirmed) for item in found) == 1
    assert shown(found) == "Now it"


def test_behind_an_error_no_call_is_confirmed() -> None:
    found = events(Turn(calls=(DEPLOY,), error="overloaded"), QUESTION, FIRST)
    check_message(found)
    assert not any(isinstance(item, ToolUseConfirmed) for item in found)


@pytest.mark.parametrize(
    ("written_input", "parsed", "problem"),
    [("", {}, None), ('{"a": 1}', {"a": 1}, None), ('{"a": ', None, "invalid_json"), ("[]", None, "not_an_object")],
)
def test_an_input_may_be_given_to_the_letter(
    written_input: str, parsed: JsonObject | None, problem: str | None
) -> None:
    found = events(Turn(calls=(ScriptedCall(name="look", input=written_input),)), QUESTION, FIRST)
    check_message(found)
    (end,) = (item for item in found if isinstance(item, ToolUseEnd))
    assert (end.input, end.problem) == (parsed, problem)
    assert written(found) == written_input


texts = st.text(st.characters(exclude_categories=["Cs"]))
inputs = st.dictionaries(texts, st.recursive(st.none() | st.booleans() | st.integers() | texts, st.lists), max_size=3)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    text = draw(texts)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
    calls = [ScriptedCall(name="t", input=draw(inputs | texts), at=at) for at in places]
    calls += [ScriptedCall(name="t", input=draw(inputs)) for _ in range(draw(st.integers(0, 2)))]
    cut: Any = draw(st.sampled_from([None, "max_tokens", "refusal", "silent"]))
    error: Any = draw(st.sampled_from([None, "overloaded", "unknown"])) if cut is None else None
    return Turn(text=text, calls=tuple(calls), cut=cut, error=error)


@given(turns(), st.sets(st.integers(1, 5)))
def test_every_turn_is_a_message_that_says_its_whole_text_and_makes_the_calls_that_are_left(
    turn: Turn, before: set[int]
) -> None:
    found = events(turn, QUESTION, Place(count=2, made=frozenset(f"call-2-{number}" for number in before)))
    check_message(found)
    assert shown(found) == turn.text
    left = [f"call-2-{number}" for number in range(1, len(turn.calls) + 1) if number not in before]
    assert [item.tool_use_id for item in found if isinstance(item, ToolUseStart)] == left


PLAY = (Turn(text="one", calls=(DEPLOY, DEPLOY)), Turn(text="two"), Turn(text="three"))


def said(*calls: str) -> AssistantMessage:
    return AssistantMessage(text="o", calls=tuple(Call(tool_use_id=name, name="deploy", input={}) for name in calls))


def heard(text: str, *results: str) -> UserMessage:
    return UserMessage(text=text, results=tuple(Result(tool_use_id=name, content="") for name in results))


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([heard("q")], Place(count=1)),
        ([heard("q"), said("call-1-1", "call-1-2"), heard("", "call-1-1", "call-1-2")], Place(count=2)),
        ([heard("q"), said(), heard(INTERRUPTED)], Place(count=1)),
        ([heard("q"), said(), heard(INTERRUPTED), said(), heard("q")], Place(count=2)),
        (
            [heard("q"), said("call-1-1"), heard(INTERRUPTED, "call-1-1")],
            Place(count=1, made=frozenset({"call-1-1"})),
        ),
        (
            [heard("q"), said("call-1-1"), heard(INTERRUPTED, "call-1-1"), said("call-1-2"), heard("", "call-1-2")],
            Place(count=2),
        ),
        ([heard("q"), said("call-1-1", "call-1-2"), heard(INTERRUPTED, "call-1-1", "call-1-2")], Place(count=2)),
        ([heard("q"), said("call-1-1"), heard("And now?", "call-1-1")], Place(count=2)),
        ([heard("q"), said()], Place(count=2)),
    ],
)
def test_where_a_request_is_in_its_script_is_told_by_it_alone(
    messages: list[UserMessage | AssistantMessage], place: Place
) -> None:
    request = Request(model="scripted", max_tokens=100, system="", messages=tuple(messages))
    assert place_of(PLAY, request) == place


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
async def test_the_input_of_a_call_comes_at_the_same_pace(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(f"[[turn]]\ntext = '12345678'\ncalls = [{{ name = 'x', input = '{'y' * 4 * 199}' }}]\n")
    begun = anyio.current_time()
    await ask(file, pace=200)
    assert anyio.current_time() - begun == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]  # untyped in pytest


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
