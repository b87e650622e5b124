import json
from datetime import UTC
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from gateway.event import (
    BlockType,
    Envelope,
    ErrorType,
    Event,
    StopReason,
    Usage,
    from_json,
    to_json,
    to_object,
)
from gateway.grammar import check_message
from gateway.provider import Native
from gateway.providers.anthropic_messages import decode

# --- every event there is

texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)


counts = st.integers(0, 10**12)
floats = st.none() | st.floats(allow_nan=False, allow_infinity=False)
FIELD_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "usage": st.builds(Usage, **dict.fromkeys(Usage.__dataclass_fields__, counts)),
    "input": json_objects,
    "done": floats,
    "total": floats,
}


def built(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Values of one type of event: what its annotations allow, and JSON where they say no more than that."""
    return st.builds(kind, **{name: FIELD_VALUES[name] for name in FIELD_VALUES if name in kind.__dataclass_fields__})


envelopes = st.builds(
    Envelope,
    run_id=texts,
    seq=st.integers(0),
    timestamp=st.datetimes(timezones=st.just(UTC)),
    event=st.one_of(*map(built, get_args(Event))),
)


@given(envelopes)
def test_an_envelope_survives_json(envelope: Envelope) -> None:
    line = to_json(envelope)
    assert "\n" not in line
    assert from_json(line) == envelope
    assert json.loads(line)["event"] == to_object(envelope.event)


# --- whatever a server may send

Strategy = st.SearchStrategy[Any]

KINDS = [
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "compaction",
    "fallback",
    "future",
    None,
]
DELTAS = [
    "text_delta",
    "thinking_delta",
    "input_json_delta",
    "signature_delta",
    "citations_delta",
    "compaction_delta",
    "x",
]
FIELDS = ["text", "thinking", "partial_json", "signature", "citation", "content", "input", "citations"]
PIECES = ["a", "\ud83d", "\ude00", "é", "😀", '{"a": ', "1}", "{}", "\\ud83d", ""]

pieces: Strategy = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
scalars: Strategy = st.none() | st.booleans() | st.integers() | st.floats() | pieces


def nested(inner: Strategy) -> Strategy:
    return st.lists(inner, max_size=3) | st.dictionaries(pieces, inner, max_size=3)


things: Strategy = st.recursive(scalars, nested)


def event(kind: str, **fields: Strategy) -> Strategy:
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


def part(kinds: list[Any], **fields: Strategy) -> Strategy:
    """A block or a delta, with whatever other fields of blocks and deltas."""
    more: dict[str, Strategy] = dict.fromkeys(FIELDS, pieces | things)
    return st.fixed_dictionaries({"type": st.sampled_from(kinds), **fields}, optional=more)


index: Strategy = st.sampled_from([0, 1, 2, None, "0"])
tool_use_ids: Strategy = st.sampled_from(["t1", "t2", "t3", "t4", "", None])
blocks = part(KINDS, id=tool_use_ids, name=st.sampled_from(["f", "f", "f", ""]))
usages: Strategy = st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "output_tokens_details"]), things)
reasons = st.fixed_dictionaries({"stop_reason": st.sampled_from(["tool_use", "end_turn", "refusal", "x", None, 1])})
wire_events: Strategy = st.one_of(
    event("content_block_start", index=index, content_block=blocks),
    event("content_block_delta", index=index, delta=part(DELTAS)),
    event("content_block_stop", index=index),
    event("message_start", message=st.fixed_dictionaries({"id": things, "usage": usages})),
    event("message_delta", delta=reasons, usage=usages),
    event("message_stop"),
    event("ping"),
    event("error", error=things),
    st.dictionaries(pieces, things, max_size=3),
    things,
)
plausible = st.lists(wire_events, max_size=12)


@given(plausible, st.integers(1, 64))
def test_whatever_is_sent_is_read_as_one_message_of_the_grammar_that_can_be_stored(wire: list[Any], size: int) -> None:
    data = b"".join(f"data: {json.dumps(sent)}\n\n".encode() for sent in wire)
    found = list(decode([data]))
    check_message(found)
    for item in found:
        if isinstance(item, Native):
            json.dumps(item.blocks, ensure_ascii=False, allow_nan=False).encode()
        else:
            json.dumps(to_object(item), ensure_ascii=False, allow_nan=False).encode()
    assert list(decode([data[i : i + size] for i in range(0, len(data), size)])) == found


@given(st.binary(max_size=200))
def test_bytes_that_are_no_stream_are_an_error_and_no_exception(data: bytes) -> None:
    check_message(list(decode([data])))


def test_the_vocabulary_is_that_of_the_design() -> None:
    assert get_args(BlockType) == ("text", "thinking", "tool_use", "other")
    assert set(get_args(StopReason)) == {
        "end",
        "tool_use",
        "max_tokens",
        "refusal",
        "pause",
        "context_window",
        "unknown",
    }
    assert "incomplete_stream" in get_args(ErrorType)
