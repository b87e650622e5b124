import json
from typing import Any

import pytest

from gateway.event import InputProblem
from gateway.providers.fragment import MAX_DEPTH, TextJoiner, mended, mended_json, parse_event, parse_input

HIGH, LOW = "\ud83d", "\ude00"


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("deltas", "texts"),
    [
        (["a", "b"], ["a", "b", ""]),
        ([HIGH, LOW], ["", "😀", ""]),
        (["a" + HIGH, LOW + "b"], ["a", "😀b", ""]),
        ([HIGH, "", LOW], ["", "", "😀", ""]),
        ([HIGH, "a"], ["", "\ufffda", ""]),
        ([HIGH, HIGH, LOW], ["", "\ufffd", "😀", ""]),
        ([LOW, HIGH], ["\ufffd", "", "\ufffd"]),
        (["é" + HIGH + LOW + HIGH], ["é😀", "\ufffd"]),
        (["a" + HIGH + "b"], ["a\ufffdb", ""]),
    ],
)
def test_halves_of_a_character_meet_or_are_replaced(deltas: list[str], texts: list[str]) -> None:
    joiner = TextJoiner()
    assert [*(joiner.feed(delta) for delta in deltas), joiner.flush()] == texts
    assert joiner.flush() == ""


def test_every_text_in_a_json_value_is_mended() -> None:
    assert mended("a" + LOW) == "a\ufffd"
    value = {HIGH: [LOW, {"a": HIGH + LOW}], "n": [1, 2.5, None, True]}
    assert mended_json(value) == {"\ufffd": ["\ufffd", {"a": "😀"}], "n": [1, 2.5, None, True]}


@pytest.mark.parametrize(
    ("text", "value", "problem"),
    [
        ("", {}, None),
        (" \n", {}, None),
        ("{}", {}, None),
        (' {"a": [1, 2.5, null, true, "x"]} ', {"a": [1, 2.5, None, True, "x"]}, None),
        ('{"t": "caf\\u00e9 \\ud83d\\ude00"}', {"t": "café 😀"}, None),
        ('{"t": "\\ud83d"}', {"t": "\ufffd"}, None),
        ('{"a": 1', None, "invalid_json"),
        ('{"a": 1}{"b": 2}', None, "invalid_json"),
        ("{'a': 1}", None, "invalid_json"),
        ('{"a": 1,}', None, "invalid_json"),
        ('{"a": "line\nend"}', None, "invalid_json"),
        ('{"a": NaN}', None, "invalid_json"),
        ('{"a": -Infinity}', None, "invalid_json"),
        ('{"a": 1e999}', None, "invalid_json"),
        ('{"a": 1, "a": 2}', None, "invalid_json"),
        ('{"o": {"a": 1, "a": 1}}', None, "invalid_json"),
        ('{"a": ' + "9" * 5000 + "}", None, "invalid_json"),
        ("[" * 100_000, None, "invalid_json"),
        (nested(MAX_DEPTH + 1), None, "invalid_json"),
        ("[1]", None, "not_an_object"),
        ("null", None, "not_an_object"),
        ('"{}"', None, "not_an_object"),
    ],
    ids=range(22),
)
def test_an_input_is_parsed_strictly(text: str, value: Any, problem: InputProblem | None) -> None:
    assert parse_input(text) == (value, problem)


def test_an_input_may_nest_up_to_the_limit() -> None:
    value, problem = parse_input(nested(MAX_DEPTH - 1))
    assert problem is None
    assert json.dumps(value).count("{") == MAX_DEPTH - 1


@pytest.mark.parametrize(
    "text", ["", "[DONE]", "[]", "null", '{"a"', '{"a": NaN}', "[" * 100_000, nested(MAX_DEPTH + 1)]
)
def test_an_event_that_is_no_plain_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_event(text)


def test_an_event_keeps_the_halves_of_characters_for_its_reader() -> None:
    assert parse_event('{"a": "\\ud83d", "b": "[[["}  ') == {"a": HIGH, "b": "[[["}
    assert parse_event('{"a": "' + "{" * 200 + '"}')["a"] == "{" * 200
