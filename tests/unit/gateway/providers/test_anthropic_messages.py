import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.event import Error, MessageEnd, TextDelta, ToolUseConfirmed, ToolUseEnd, Usage, to_object
from gateway.grammar import check_message
from gateway.provider import Item, Native
from gateway.providers.anthropic_messages import PROTOCOL, Settings, create, decode
from gateway.sse import MAX_EVENT_BYTES
from tests.golden import Golden, load

GOLDENS = load("anthropic")

# What facts and provenance of the streams say of each, in short: the text that is shown; for each call its input and
# whether it is confirmed; how the message ends. Written from the streams, not from what the decoder gave.
SAID: dict[str, tuple[str, list[tuple[Any, bool]], str]] = {
    "compaction_beta": ("Hello.", [], "end"),
    "context_window": ("cut her", [], "context_window"),
    "crlf_padding_comment": ("Hello", [], "end"),
    "empty_tool_input": ("", [({}, True), ({}, True), ({}, True)], "tool_use"),
    "error_after_tool": ("", [({"path": "a.txt"}, True), ("invalid_json", False)], "server"),
    "error_midstream": ("Partial answ", [], "overloaded"),
    "fallback_beta": ("Hello from the fallback.", [("invalid_json", False)], "end"),
    "interleaved_blocks": (
        "Reading.And the second one.Waiting.",
        [({"path": "a.txt"}, True), ({"path": "b.txt"}, True)],
        "tool_use",
    ),
    "interleaved_index_synthetic": ("", [({"path": "b.txt"}, True), ({"path": "a.txt"}, True)], "tool_use"),
    "malformed_tool_json": ("", [("invalid_json", True)], "tool_use"),
    "max_tokens_in_tool_nostop": ("Writing.", [("invalid_json", False)], "max_tokens"),
    "max_tokens_in_tool_stop": ("Writing.", [("invalid_json", False)], "max_tokens"),
    "max_tokens_valid_looking": ("", [({"path": "/tmp/a"}, False)], "max_tokens"),  # noqa: S108 - nothing is opened
    "refusal": ("Hi", [], "refusal"),
    "server_tool_pause": ("Found it.", [], "pause"),
    "text_only": ("Hello, world.", [], "end"),
    "text_two_tools": (
        "I will look at both.",
        [({"path": "a.txt"}, True), ({"path": "b.txt", "text": "hi"}, True)],
        "tool_use",
    ),
    "thinking": ("4", [], "end"),
    "thinking_omitted": ("", [({"path": "a"}, True)], "tool_use"),
    "truncated_no_message_stop": ("Looking.", [({"path": "b.txt"}, False)], "incomplete_stream"),
    "unicode": ("grüß 👩\u200d💻 你好 line\u2028sep nel\x85end", [({"t": "café 😀 😀 \u2028"}, True)], "tool_use"),
    "unknown_events": ("Hello.", [], "unknown"),
}

START: dict[str, Any] = {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}}
STOP: dict[str, Any] = {"type": "message_stop"}


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def call(index: int, tool_use_id: str = "tu_1", name: str = "f", **more: Any) -> dict[str, Any]:
    return start(index, type="tool_use", id=tool_use_id, name=name, **{"input": {}, **more})


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: int, piece: str) -> dict[str, Any]:
    return delta(index, "text_delta", text=piece)


def argument(index: int, piece: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=piece)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def sse(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def items(*events: dict[str, Any]) -> list[Item]:
    found = list(decode([sse(events)]))
    check_message(found)
    return found


def shown(found: list[Item]) -> str:
    return "".join(item.text for item in found if isinstance(item, TextDelta))


def native(found: list[Item]) -> list[dict[str, Any]]:
    return [block for item in found if isinstance(item, Native) for block in item.blocks]


def calls(found: list[Item]) -> list[tuple[Any, bool]]:
    confirmed = {item.tool_use_id for item in found if isinstance(item, ToolUseConfirmed)}
    ends = [item for item in found if isinstance(item, ToolUseEnd)]
    return [(end.problem or end.input, end.tool_use_id in confirmed) for end in ends]


def end(found: list[Item]) -> str:
    match found[-1]:
        case MessageEnd(stop_reason=reason):
            return reason
        case Error(error_type=reason):
            return reason
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_a_golden_stream_is_read_alike_in_any_slices(golden: Golden) -> None:
    by_event = [piece for piece in re.split(rb"(?<=\n\n)|(?<=\r\n\r\n)", golden.data) if piece]
    for size in (1, 7, 100_000):
        pieces = [golden.data[i : i + size] for i in range(0, len(golden.data), size)]
        assert list(decode(pieces)) == list(decode(by_event))
    found = list(decode(by_event))
    check_message(found)
    events = [item for item in found if not isinstance(item, Native)]
    assert [{"seq": seq, **to_object(event)} for seq, event in enumerate(events)] == golden.events
    natives = [[dict(block) for block in item.blocks] for item in found if isinstance(item, Native)]
    assert natives == ([] if golden.native is None else [golden.native])


@pytest.mark.parametrize("golden", GOLDENS, ids=str)
def test_a_golden_stream_says_what_the_facts_say(golden: Golden) -> None:
    found = list(decode([golden.data]))
    assert (shown(found), calls(found), end(found)) == SAID[golden.name]
    assert not [item for item in found if isinstance(item, TextDelta) and not item.text]


def test_every_golden_stream_is_described() -> None:
    assert {golden.name for golden in GOLDENS} == set(SAID)


def test_an_input_on_the_start_of_its_block_counts_where_no_delta_came() -> None:
    found = items(START, call(0, input={"path": "quay.log"}), argument(0, ""), stop(0), ended("tool_use"), STOP)
    assert calls(found) == [({"path": "quay.log"}, True)]
    assert native(found) == [{"type": "tool_use", "id": "tu_1", "name": "f", "input": {"path": "quay.log"}}]


def test_deltas_of_an_input_win_over_the_start_of_its_block() -> None:
    found = items(START, call(0, input={"a": 1}), argument(0, '{"b": 2}'), stop(0), ended("tool_use"), STOP)
    assert calls(found) == [({"b": 2}, True)]


@pytest.mark.parametrize(
    ("given", "read"),
    [(None, {}), ("", {}), ('{"a": 1}', {"a": 1}), ("nope", "invalid_json"), ([1], "not_an_object"), (0, {})],
)
def test_an_input_of_another_type_on_the_start_of_its_block_is_read_or_refused(given: Any, read: Any) -> None:
    assert calls(items(START, call(0, input=given), stop(0), ended("tool_use"), STOP)) == [(read, True)]


def test_a_call_cut_before_its_input_began_has_no_input() -> None:
    for ending in ([ended("max_tokens"), STOP], [], [{"type": "error", "error": {"type": "api_error"}}]):
        assert calls(items(START, call(0), argument(0, ""), *ending)) == [("invalid_json", False)]


def test_a_block_without_a_stop_is_closed_by_a_message_that_stops_for_its_call() -> None:
    found = items(START, call(0), argument(0, "{}"), ended("tool_use"), STOP)
    assert calls(found) == [({}, True)]


def test_a_block_without_a_stop_is_closed_by_the_next_one_in_its_place() -> None:
    found = items(START, start(0, type="text", text=""), text(0, "a"), call(0), start(0, type="text", text="b"), STOP)
    assert (shown(found), calls(found)) == ("ab", [({}, True)])


def test_a_stream_without_indexes_is_read_in_order() -> None:
    events = [START, start(0, type="text", text=""), text(0, "a"), stop(0), call(0), argument(0, "{}"), stop(0)]
    for event in events:
        event.pop("index", None)
    assert calls(items(*events, ended("tool_use"), STOP)) == [({}, True)]


def test_calls_before_a_fallback_are_never_confirmed() -> None:
    before = [START, call(0), stop(0), call(1, "tu_2"), argument(1, "{}")]
    after = [start(2, type="fallback"), stop(2), call(3, "tu_3"), stop(3), ended("tool_use"), STOP]
    assert calls(items(*before, *after)) == [({}, True), ({}, False), ({}, True)]


def test_a_call_of_an_answer_that_just_ended_is_not_confirmed() -> None:
    assert calls(items(START, call(0), stop(0), ended("end_turn"), STOP)) == [({}, False)]


@pytest.mark.parametrize("broken", [{"id": ""}, {"id": None}, {"name": ""}, {"name": 7}])
def test_a_call_without_id_or_name_breaks_the_protocol(broken: dict[str, Any]) -> None:
    assert end(items(START, start(0, **{"type": "tool_use", "id": "a", "name": "f", **broken}), STOP)) == "server"


def test_a_call_with_the_id_of_another_breaks_the_protocol() -> None:
    found = items(START, call(0), stop(0), call(1), stop(1), ended("tool_use"), STOP)
    assert (calls(found), end(found)) == ([({}, True)], "server")


@pytest.mark.parametrize("lost", [text(1, "a"), argument(0, "{}"), delta(7, "thinking_delta", thinking="a")])
def test_a_delta_that_no_block_can_take_breaks_the_protocol(lost: dict[str, Any]) -> None:
    found = items(START, start(0, type="text", text=""), text(0, "a"), lost, STOP)
    assert (shown(found), end(found)) == ("a", "server")
    assert isinstance(found[-1], Error)
    assert "breaks the protocol" in found[-1].error_message


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("ping", "end"),
        ("future_event", "end"),
        ("content_block_delta", "server"),
        ("message", "server"),
        ("error", "server"),
    ],
)
def test_data_that_is_no_json_is_passed_over_only_where_nothing_is_lost_by_it(name: str, ending: str) -> None:
    tail = sse([ended("end_turn"), STOP])
    assert end(list(decode([sse([START]), f"event: {name}\ndata: {{oops\n\n".encode(), tail]))) == ending


def test_events_are_known_by_their_name_where_the_data_has_no_type() -> None:
    data = b'event: error\ndata: {"error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    assert end(list(decode([sse([START]), data]))) == "overloaded"


@pytest.mark.parametrize(
    ("kind", "error_type", "retryable"),
    [
        ("overloaded_error", "overloaded", True),
        ("rate_limit_error", "rate_limited", True),
        ("api_error", "server", True),
        ("timeout_error", "timeout", True),
        ("authentication_error", "authentication", False),
        ("permission_error", "authentication", False),
        ("billing_error", "authentication", False),
        ("invalid_request_error", "invalid_request", False),
        ("not_found_error", "invalid_request", False),
        ("request_too_large", "invalid_request", False),
        ("future_error", "unknown", False),
        (None, "unknown", False),
    ],
)
def test_an_error_event_is_told_by_its_type(kind: str | None, error_type: str, retryable: bool) -> None:
    found = items(
        START, {"type": "error", "error": {"type": kind, "message": "Oh \ud83d"}, "request_id": "req_1"}, STOP
    )
    message = f"{kind or 'error'}: Oh \ufffd (request req_1)"
    assert isinstance(found[-1], Error)
    assert (found[-1].error_type, found[-1].error_message, found[-1].retryable) == (error_type, message, retryable)


def test_nothing_comes_behind_the_end_of_a_message() -> None:
    whole = [START, ended("end_turn"), STOP]
    late: list[dict[str, Any]] = [start(0, type="text", text="late"), {"type": "error", "error": {}}, STOP]
    assert items(*whole, *late) == items(*whole)


@pytest.mark.parametrize("events", [[], [START], [START, ended("end_turn")], [START, start(0, type="text", text="a")]])
def test_a_stream_that_just_stops_is_incomplete(events: list[dict[str, Any]]) -> None:
    found = items(*events)
    assert end(found) == "incomplete_stream"
    assert not native(found)


def test_halves_of_a_character_meet_across_deltas_and_never_leave_alone() -> None:
    found = items(
        START,
        start(0, type="text", text=""),
        text(0, "a\ud83d"),
        text(0, "\ude00b\ud83d"),
        stop(0),
        start(1, type="thinking", thinking="\ud83d", signature="s\ude00"),
        stop(1),
        call(2, "tu\ud83d", "f\ude00"),
        argument(2, '{"a": "\ud83d'),
        argument(2, '\ude00", "b": "\\ud83d"}'),
        stop(2),
        ended("tool_use"),
        STOP,
    )
    assert shown(found) == "a😀b\ufffd"
    assert calls(found) == [({"a": "😀", "b": "\ufffd"}, True)]
    json.dumps(native(found), ensure_ascii=False).encode()
    assert [to_object(item) for item in found if not isinstance(item, Native)]


def test_usage_is_a_total_that_each_count_overwrites() -> None:
    begun = {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 1}
    first = {"type": "message_start", "message": {"id": "m", "usage": begun}}
    details = {"thinking_tokens": 5}
    last = ended("end_turn", output_tokens=20, input_tokens=None, output_tokens_details=details)
    found = items(first, ended(None, output_tokens=7, cache_read_input_tokens=True), last, STOP)[-1]
    usage = Usage(input_tokens=10, output_tokens=20, cache_read_tokens=3, cache_write_tokens=4, reasoning_tokens=5)
    assert found == MessageEnd(message_id="m", stop_reason="end", usage=usage)


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "context_window"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("compaction", "pause"),
        ("future_reason", "unknown"),
        (None, "unknown"),
    ],
)
def test_stop_reasons_are_translated(reason: str | None, stop_reason: str) -> None:
    assert end(items(START, ended(reason), STOP)) == stop_reason


def test_blocks_that_the_api_would_refuse_are_not_kept_for_the_replay() -> None:
    found = items(
        START,
        start(0, type="text", text=""),
        stop(0),
        start(1, type="text", text="\n\n"),
        stop(1),
        start(2, type="thinking", thinking="unsigned"),
        stop(2),
        start(3, type="server_tool_use", id="s", name="web_search", input={}),
        argument(3, '{"query": "cu'),
        ended("max_tokens"),
        STOP,
    )
    assert native(found) == []


def test_blocks_nobody_knows_are_kept_as_they_came() -> None:
    strange = {"type": "future", "input": [1, {"a": None}], "text": "x", "deep": {"b": [True]}}
    found = items(START, start(0, **strange), delta(0, "future_delta", x=1), stop(0), ended("end_turn"), STOP)
    assert native(found) == [strange]
    assert shown(found) == ""


def test_the_last_signature_counts() -> None:
    signed = [delta(0, "signature_delta", signature=name) for name in ("one", "two")]
    found = items(START, start(0, type="thinking", thinking="a", signature=""), *signed, stop(0), STOP)
    assert native(found) == [{"type": "thinking", "thinking": "a", "signature": "two"}]


def test_citations_are_added_to_those_of_the_start() -> None:
    for begun, before in ((None, []), ([{"n": 0}], [{"n": 0}]), ("odd", [])):
        block = start(0, type="text", text="a", citations=begun)
        cited = [delta(0, "citations_delta", citation={"n": n}) for n in (1, 2)]
        assert native(items(START, block, *cited, stop(0), STOP))[0]["citations"] == [*before, {"n": 1}, {"n": 2}]


def test_an_event_without_end_is_a_servers_error() -> None:
    found = list(decode([sse([START, start(0, type="text", text="a")]), b"x" * (MAX_EVENT_BYTES + 1)]))
    check_message(found)
    assert (shown(found), end(found)) == ("a", "server")


def settings(**more: Any) -> Settings:
    given: dict[str, Any] = {"provider": PROTOCOL, "name": "a-model", "max_tokens": 100}
    return Settings(**given | more)


def test_the_configurations_table_is_read_strictly() -> None:
    table: dict[str, Any] = {"provider": PROTOCOL, "name": "a-model", "max_tokens": 100, "api_key": "file:/run/key"}
    assert TypeAdapter(Settings).validate_python(table) == settings(api_key="file:/run/key")
    wrong: list[dict[str, Any]] = [
        {"max_token": 1},
        {"max_tokens": 0},
        {"api_key": "sk-ant-in-the-file"},
        {"timeout": 0},
        {"timeout": float("inf")},
        {"provider": "scripted"},
    ]
    for change in wrong:
        with pytest.raises(ValidationError):
            TypeAdapter(Settings).validate_python(table | change)


def test_a_missing_key_is_named_with_the_place_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"ANTHROPIC_API_KEY is not set.*https://platform\.claude\.com"):
        create(settings())


@pytest.mark.parametrize("key", ["sk-\xe4", "sk one", "sk\none"])
def test_a_key_that_could_not_be_sent_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(ConfigurationError, match="env:A_KEY") as caught:
        create(settings(api_key="env:A_KEY"))
    assert key not in str(caught.value)
