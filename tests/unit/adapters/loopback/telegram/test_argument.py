import pytest

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.keyboard import read_keyboard
from adapters.loopback.telegram.utf16 import cut, length, split


def test_arguments_are_read_from_forms_and_from_json() -> None:
    for values in (
        {"n": "-7", "f": "true", "l": "[1]", "o": '{"a": 1}'},
        {"n": -7, "f": True, "l": [1], "o": {"a": 1}},
    ):
        arguments = Arguments(values)
        assert (arguments.number("n"), arguments.flag("f")) == (-7, True)
        assert (arguments.sequence("l"), arguments.mapping("o")) == ([1], {"a": 1})
        assert (arguments.text("n"), arguments.number("o", 3)) == ("-7", 3)


def test_what_is_absent_is_empty_and_what_is_malformed_none() -> None:
    arguments = Arguments({"bad": "[", "none": None, "empty": ""})
    assert (arguments.sequence("absent"), arguments.mapping("absent"), arguments.flag("absent")) == ([], {}, False)
    assert (arguments.sequence("bad"), arguments.mapping("bad")) == (None, None)
    assert (arguments.sequence("empty"), "none" in arguments, "bad" in arguments) == ([], False, True)


@pytest.mark.parametrize(
    "markup",
    [
        [],
        {"inline_keyboard": {}},
        {"inline_keyboard": [{"text": "a"}]},
        {"inline_keyboard": [["a"]]},
        {"inline_keyboard": [[{"text": 1, "callback_data": "a"}]]},
        {"inline_keyboard": [[{"text": "a"}]]},
    ],
)
def test_a_keyboard_of_another_shape_is_refused(markup: object) -> None:
    with pytest.raises(RefusedError) as raised:
        read_keyboard(Arguments({"reply_markup": markup}))
    assert raised.value.rule is outbound.KEYBOARD_FORMAT


@pytest.mark.parametrize("data", ["a" * 65, "é" * 33])
def test_callback_data_is_counted_in_bytes(data: str) -> None:
    with pytest.raises(RefusedError, match="BUTTON_DATA_INVALID"):
        read_keyboard(Arguments({"reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": data}]]}}))


def test_an_empty_keyboard_is_none_and_another_kind_is_kept() -> None:
    assert read_keyboard(Arguments({})) is None
    assert read_keyboard(Arguments({"reply_markup": {"inline_keyboard": []}})) is None
    assert read_keyboard(Arguments({"reply_markup": {"force_reply": True}})) == {"force_reply": True}


def test_lengths_and_cuts_are_in_utf16_units() -> None:
    assert (length("a\U0001f600é"), cut("a\U0001f600é", 1, 3)) == (4, "\U0001f600")
    assert list(split("\U0001f600" * 3, 3)) == ["\U0001f600"] * 3
    assert list(split("", 3)) == []
