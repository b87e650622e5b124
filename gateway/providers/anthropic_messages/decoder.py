"""The decoder: the events of one answer in, block-level items out. Pure.

Rule 1: blocks are keyed by the stream's ``index`` while they are open, and named ``b0``, ``b1``, ... as they open.
Rule 2: the end of a block is no proof that it is whole: an answer that is cut closes its last block too. A call is
        confirmed when another block starts behind it (but ``fallback``, which comes where the model was cut short)
        or when the message stops for ``tool_use``.
Rule 3: a message is finished by ``message_stop`` and by nothing else.
Rule 4: what this version does not know is ignored, and kept for the replay where it is a block.
Rule 5: a stream that breaks the protocol ends in an error; no part of an answer is lost in silence.

Events: https://platform.claude.com/docs/en/build-with-claude/streaming
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from gateway.event import (
    BlockType,
    ContentBlockEnd,
    ContentBlockStart,
    ErrorType,
    InputProblem,
    JsonObject,
    MessageEnd,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.provider import Item, Native
from gateway.providers.failure import failure
from gateway.providers.fragment import TextJoiner, mended, mended_json, parse_event, parse_input
from gateway.sse import EventReader, EventTooLargeError, ServerSentEvent

PROTOCOL = "anthropic_messages"

BLOCK_TYPES: dict[str, BlockType] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_use",
}
"""Every other block is ``other``: server tools, their results, and what is yet to come."""

STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "context_window",
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "pause",  # goes on the same way: the answer is sent back as it is
}

ERROR_TYPES: dict[str, ErrorType] = {
    "authentication_error": "authentication",
    "permission_error": "authentication",
    "billing_error": "authentication",
    "invalid_request_error": "invalid_request",
    "not_found_error": "invalid_request",
    "request_too_large": "invalid_request",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
    "api_error": "server",
}
"""By ``error.type``. In a stream it is all there is: the status was 200."""

DELTA_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
    "signature_delta": "signature",
}
"""The deltas that bring text, and the field that holds it."""

STARTED = ("text_delta", "thinking_delta", "signature_delta")
"""Those of them that add to a field of the block itself. A call's input is a field too, but is parsed first."""

ACCEPTED: dict[BlockType, frozenset[str]] = {
    "text": frozenset({"text_delta"}),
    "thinking": frozenset({"thinking_delta", "signature_delta"}),
    "tool_use": frozenset({"input_json_delta"}),
    "other": frozenset(DELTA_TEXTS),
}
"""Which of them may come for which block."""


class _BrokenError(Exception):
    """The stream does not keep to the protocol."""


@dataclass(slots=True, kw_only=True)
class _Block:
    """A block while it is being written. ``start`` is what the stream opened it with."""

    block_id: str
    block_type: BlockType
    start: JsonObject
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])  # by type of delta
    joiners: dict[str, TextJoiner] = field(default_factory=dict[str, TextJoiner])
    changes: JsonObject = field(default_factory=dict[str, Any])  # against ``start``
    dropped: bool = False

    @property
    def tool_use_id(self) -> str:
        return cast("str", self.start["id"])

    def event(self, kind: str, text: str) -> Item | None:
        """Take in a piece of text, and say it if anybody wants to hear of it."""
        if not text:
            return None
        self.parts.setdefault(kind, []).append(text)
        match kind, self.block_type:
            case "text_delta", "text":
                return TextDelta(block_id=self.block_id, text=text)
            case "thinking_delta", "thinking":
                return ThinkingDelta(block_id=self.block_id, text=text)
            case "input_json_delta", "tool_use":
                return ToolInputDelta(tool_use_id=self.tool_use_id, json_delta=text)
            case _:
                return None

    def native(self) -> JsonObject | None:
        """The block as the next request may hold it; none where the API would refuse it."""
        block = {**self.start, **self.changes}
        block |= {DELTA_TEXTS[kind]: "".join(self.parts[kind]) for kind in STARTED if kind in self.parts}
        match block.get("type"):
            case "text" if not _text(block, "text").strip():
                return None
            case "thinking" if not _text(block, "signature"):
                return None
            case _:
                return None if self.dropped else block


class Decoder:
    """Folds the events of one answer.

    Attributes:
        over: whether the message has ended, well or not; nothing comes behind it.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Block] = {}
        self._blocks: list[_Block] = []
        self._calls: set[str] = set()
        self._unconfirmed: list[str] = []
        self._message_id = ""
        self._stop_reason = ""
        self._usage: dict[str, int] = {}
        self.over = False

    def feed(self, event: ServerSentEvent) -> list[Item]:
        """What the event says. Nothing, once the message has ended."""
        if self.over:
            return []
        items: list[Item] = []
        try:
            self._take(event, items)
        except _BrokenError as error:
            items += self.fail("server", f"the stream breaks the protocol: {error}")
        return items

    def end(self) -> list[Item]:
        """Say that no more events will come: an error, unless the message had ended."""
        return self.fail("incomplete_stream", "the stream stopped before the message did")

    def fail(self, error_type: ErrorType, message: str) -> list[Item]:
        """End the message by an error, unless it had ended."""
        if self.over:
            return []
        items: list[Item] = []
        self._close_all(items, cut=True)
        items.append(failure(error_type, mended(message)))
        self.over = True
        return items

    def _take(self, event: ServerSentEvent, items: list[Item]) -> None:
        data = _parsed(event)
        match data.get("type", event.name):
            case "content_block_delta":
                self._delta(data, items)
            case "content_block_start":
                self._start(data, items)
            case "content_block_stop":
                if block := self._open.pop(_index(data), None):
                    self._close(block, items)
            case "message_start":
                message = _object(data, "message")
                self._message_id = mended(_text(message, "id"))
                self._count(_object(message, "usage"))
            case "message_delta":
                self._stop_reason = _text(_object(data, "delta"), "stop_reason") or self._stop_reason
                self._count(_object(data, "usage"))
            case "message_stop":
                self._finish(items)
            case "error":
                items += self._error(_object(data, "error"), _text(data, "request_id"))
            case _:
                pass  # ping, and what is yet to come

    def _start(self, data: JsonObject, items: list[Item]) -> None:
        index, start = _index(data), cast("JsonObject", mended_json(_object(data, "content_block")))
        if before := self._open.pop(index, None):  # whoever leaves out the stop says it by the next start
            self._close(before, items)
        if start.get("type") == "fallback":
            self._close_all(items, cut=True)
            self._unconfirmed.clear()
        self._confirm(items)
        block_type = BLOCK_TYPES.get(_text(start, "type"), "other")
        block = _Block(block_id=f"b{len(self._blocks)}", block_type=block_type, start=start)
        if block_type == "tool_use":
            self._register(start)
        self._open[index] = block
        self._blocks.append(block)
        items.append(ContentBlockStart(block_id=block.block_id, block_type=block_type))
        if block_type == "tool_use":
            items.append(
                ToolUseStart(block_id=block.block_id, tool_use_id=block.tool_use_id, tool_name=_text(start, "name"))
            )
        begun = (block.event(kind, _text(start, DELTA_TEXTS[kind])) for kind in STARTED)
        items.extend(item for item in begun if item)

    def _register(self, call: JsonObject) -> None:
        tool_use_id = _text(call, "id")
        if not tool_use_id or not _text(call, "name") or tool_use_id in self._calls:
            msg = f"a call has no name, or no id of its own (id {tool_use_id!r})"
            raise _BrokenError(msg)
        self._calls.add(tool_use_id)

    def _delta(self, data: JsonObject, items: list[Item]) -> None:
        delta = _object(data, "delta")
        kind = _text(delta, "type")
        block = self._open.get(_index(data))
        if kind in DELTA_TEXTS:
            if block is None or kind not in ACCEPTED[block.block_type]:
                msg = f"a {kind} for a block that is not open, or is none of its kind"
                raise _BrokenError(msg)
            if kind == "signature_delta":
                block.parts.pop(kind, None)  # there is one; a second one would replace it
            text = block.joiners.setdefault(kind, TextJoiner()).feed(_text(delta, DELTA_TEXTS[kind]))
            if item := block.event(kind, text):
                items.append(item)
        elif block and kind == "citations_delta":
            given = block.changes.get("citations", block.start.get("citations"))
            before = cast("list[Any]", given) if isinstance(given, list) else []
            block.changes["citations"] = [*before, mended_json(delta.get("citation"))]
        elif block and kind == "compaction_delta":
            block.changes |= cast("JsonObject", mended_json({k: v for k, v in delta.items() if k != "type"}))

    def _close(self, block: _Block, items: list[Item], *, cut: bool = False) -> None:
        for kind, joiner in block.joiners.items():
            if item := block.event(kind, joiner.flush()):
                items.append(item)
        block.dropped = cut and block.block_type == "other"
        if block.block_type == "tool_use" or "input_json_delta" in block.parts:
            value, problem = _input(block, cut=cut)
            block.changes["input"] = value or {}
            if block.block_type == "tool_use":
                items.append(ToolUseEnd(tool_use_id=block.tool_use_id, input=value, problem=problem))
                self._unconfirmed.append(block.tool_use_id)
            else:
                block.dropped |= problem is not None
        items.append(ContentBlockEnd(block_id=block.block_id, block_type=block.block_type))

    def _close_all(self, items: list[Item], *, cut: bool) -> None:
        for block in self._open.values():
            self._close(block, items, cut=cut)
        self._open.clear()

    def _confirm(self, items: list[Item]) -> None:
        items.extend(ToolUseConfirmed(tool_use_id=call) for call in self._unconfirmed)
        self._unconfirmed.clear()

    def _finish(self, items: list[Item]) -> None:
        stopped_for_calls = self._stop_reason == "tool_use"
        self._close_all(items, cut=not stopped_for_calls)
        if stopped_for_calls:
            self._confirm(items)
        blocks = tuple(native for block in self._blocks if (native := block.native()))
        items.append(Native(protocol=PROTOCOL, blocks=blocks))
        stop_reason = STOP_REASONS.get(self._stop_reason, "unknown")
        usage = Usage(**self._usage)
        items.append(MessageEnd(message_id=self._message_id, stop_reason=stop_reason, usage=usage))
        self.over = True

    def _count(self, usage: JsonObject) -> None:
        """Counts are totals so far: each overwrites what was said before; what is absent stands."""
        details = _object(usage, "output_tokens_details")
        said = {
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cache_read_tokens": usage.get("cache_read_input_tokens"),
            "cache_write_tokens": usage.get("cache_creation_input_tokens"),
            "reasoning_tokens": details.get("thinking_tokens"),
        }
        self._usage |= {name: count for name, count in said.items() if type(count) is int and count >= 0}

    def _error(self, error: JsonObject, request_id: str) -> list[Item]:
        kind = _text(error, "type")
        message = _text(error, "message") or "the provider gave no reason"
        return self.fail(ERROR_TYPES.get(kind, "unknown"), described(kind, message, request_id))


def decode(data: Iterable[bytes]) -> Iterator[Item]:
    """The items of a whole answer, from its bytes in any slices."""
    reader, decoder = EventReader(), Decoder()
    try:
        for piece in data:
            for event in reader.feed(piece):
                yield from decoder.feed(event)
        reader.close()
    except EventTooLargeError as error:
        yield from decoder.fail("server", str(error))
    yield from decoder.end()


def _parsed(event: ServerSentEvent) -> JsonObject:
    try:
        return parse_event(event.data)
    except ValueError as error:
        known = event.name in {"message", "error"} or event.name.startswith(("message_", "content_block_"))
        if not known:
            return {"type": event.name}
        msg = f"the data of {event.name!r} cannot be read ({error})"
        raise _BrokenError(msg) from None


def _input(block: _Block, *, cut: bool) -> tuple[JsonObject | None, InputProblem | None]:
    """A call's input: what its deltas say or, where none came, what it was opened with.

    Nothing at all means no arguments, but not where the block was cut: there it means that they were yet to come.
    """
    text = "".join(block.parts.get("input_json_delta", []))
    given = block.start.get("input")
    if not text.strip() and given:
        text = given if isinstance(given, str) else json.dumps(given)
    if cut and not text.strip():
        return None, "invalid_json"
    return parse_input(text)


def described(kind: str, message: str, request_id: str | None) -> str:
    """An error for the operator, who may have to name the request to the provider."""
    known_by = f" (request {request_id})" if request_id else ""
    return f"{kind or 'error'}: {message}{known_by}"


def _object(data: JsonObject, name: str) -> JsonObject:
    value = data.get(name)
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _text(data: JsonObject, name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _index(data: JsonObject) -> int:
    """Where the block stands; one and the same place for all blocks of a stream that does not say."""
    value = data.get("index")
    return value if isinstance(value, int) else -1
