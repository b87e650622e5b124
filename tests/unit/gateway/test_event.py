import json
from datetime import UTC, datetime

import pytest

from gateway.event import Envelope, Error, TextDelta, ToolUseEnd, TurnStart, Usage, from_json, to_json, to_object

ENVELOPE = Envelope(
    run_id="r1",
    seq=0,
    timestamp=datetime(2026, 11, 30, 12, tzinfo=UTC),
    event=TextDelta(block_id="b0", text="line\u2028end"),
)


def test_an_event_is_one_line_of_json_with_its_envelope_round_it() -> None:
    line = to_json(ENVELOPE)
    assert "\n" not in line
    assert json.loads(line) == {
        "run_id": "r1",
        "seq": 0,
        "timestamp": "2026-11-30T12:00:00Z",
        "event": {"type": "text_delta", "block_id": "b0", "text": "line\u2028end"},
    }
    assert from_json(line) == ENVELOPE
    assert from_json(line.encode()) == ENVELOPE


def test_a_payload_begins_with_its_type_and_absent_values_are_null() -> None:
    assert list(to_object(TurnStart(turn_number=1)).items()) == [
        ("type", "turn_start"),
        ("turn_number", 1),
        ("context_tokens", None),
    ]
    assert to_object(ToolUseEnd(tool_use_id="t", input=None, problem="invalid_json"))["input"] is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "{",
        to_json(ENVELOPE).replace("text_delta", "future_event"),
        to_json(ENVELOPE).replace('"seq":0', '"seq":"0"'),
        to_json(ENVELOPE).replace('"b0"', "null"),
        to_json(ENVELOPE).replace("00Z", "00"),
    ],
)
def test_a_line_that_is_no_envelope_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(line)


def test_usage_adds_up_field_by_field() -> None:
    one = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, reasoning_tokens=5)
    more = Usage(input_tokens=10, output_tokens=20, cache_read_tokens=30, cache_write_tokens=40, reasoning_tokens=50)
    total = Usage(input_tokens=11, output_tokens=22, cache_read_tokens=33, cache_write_tokens=44, reasoning_tokens=55)
    assert one + more == total
    assert one + Usage() == one


def test_events_are_values() -> None:
    one, other = (Error(error_type="server", error_message="m", retryable=True) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(AttributeError):
        one.retryable = False  # pyright: ignore[reportAttributeAccessIssue]  # wrong on purpose
