"""A model behind Anthropic's protocol that says what it is told to, and lets nothing pass in the next request.

Rule 1: a request that the API would refuse is answered with status 400, as is one that does not repeat what must be
        repeated: each message that came to its end, byte for byte and in its place, and the tools, always alike.
Rule 2: what was complained of is kept, so that no test overlooks it.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.e2e.messages_api import Api, refused, stalled_after, stream_of
from tests.e2e.messages_rule import Json, blocks, problems

End = Literal["end_turn", "tool_use", "max_tokens", "pause_turn", "refusal"]

USAGE = {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}

PIECE = 5
"""Characters of a delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer of the server.

    ``blocks`` are those that the next request must hold unchanged; none where the message counts for nothing.
    ``data`` is the stream; ``status`` another one than 200, with an error of the type that ``data`` names.
    ``stalls``: nothing comes behind it. ``anew``: it is asked for in a new conversation, where nothing is repeated.
    """

    data: bytes
    blocks: tuple[Json, ...] | None = None
    status: int = 200
    paused: bool = False
    stalls: bool = False
    anew: bool = False


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def thinking(words: str, signature: str) -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def call(name: str, tool: str, given: Json) -> Json:
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def said(*content: Json, end: End | None = None) -> Said:
    """A message that comes to its end: for its calls, where it has any."""
    calls = any(block["type"] == "tool_use" for block in content)
    end = end or ("tool_use" if calls else "end_turn")
    kept = None if end == "refusal" else content
    return Said(data=_stream(content, end), blocks=kept, paused=end == "pause_turn")


def broken(*content: Json, error: str = "overloaded_error") -> Said:
    """A message behind whose blocks an error comes."""
    problem = {"type": "error", "error": {"type": error, "message": "Overloaded"}, "request_id": "req_8"}
    return Said(data=_stream(content, None) + _event(problem))


def stalled(*content: Json) -> Said:
    """A message behind whose blocks nothing comes any more."""
    return Said(data=_stream(content, None), stalls=True)


def failed(status: int, error: str) -> Said:
    """No message at all."""
    return Said(data=error.encode(), status=status)


def recorded(data: bytes, native: Sequence[Json] | None, *, paused: bool = False) -> Said:
    """A message as it was recorded, with what is to be repeated of it."""
    return Said(data=data, blocks=None if native is None else tuple(native), paused=paused)


def _stream(content: Sequence[Json], end: End | None) -> bytes:
    start: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []}
    events: list[Json] = [{"type": "message_start", "message": {**start, "stop_reason": None, "usage": USAGE}}]
    for index, block in enumerate(content):
        opened, deltas = _opened(block)
        events.append({"type": "content_block_start", "index": index, "content_block": opened})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    if end is not None:
        events.append({"type": "message_delta", "delta": {"stop_reason": end}, "usage": {"output_tokens": 9}})
        events.append({"type": "message_stop"})
    return b"".join(map(_event, events))


def _event(data: Json) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _opened(block: Json) -> tuple[Json, list[Json]]:
    """How a block is opened, and what comes behind that."""
    match block:
        case {"type": "text", "text": words}:
            return block | {"text": ""}, [{"type": "text_delta", "text": each} for each in _pieces(words)]
        case {"type": "thinking", "thinking": words, "signature": signature}:
            deltas = [{"type": "thinking_delta", "thinking": each} for each in _pieces(words)]
            signed = {"type": "signature_delta", "signature": signature}
            return block | {"thinking": "", "signature": ""}, [*deltas, signed]
        case {"type": "tool_use" | "server_tool_use", "input": given}:
            pieces = ["", *_pieces(json.dumps(given, ensure_ascii=False))]
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": each} for each in pieces]
        case _:
            return block, []


def _pieces(words: str) -> Iterator[str]:
    return (words[at : at + PIECE] for at in range(0, len(words), PIECE))


@dataclass(slots=True)
class Script:
    """The answers in turn, the last one again and again; an ``Answer`` of ``serving``.

    ``requests`` are all that came; ``complaints`` what was wrong with them.
    """

    answers: Sequence[Said]
    requests: list[Json] = field(default_factory=list[Json])
    complaints: list[str] = field(default_factory=list[str])
    _given: int = 0
    _repeat: list[Said] = field(default_factory=list[Said])

    async def __call__(self, api: Api, writer: asyncio.StreamWriter) -> None:
        raw = api.bodies[-1]
        request = json.loads(raw)
        answer = self.answers[min(self._given, len(self.answers) - 1)]
        if answer.anew:
            self._repeat.clear()
        self.requests.append(request)
        wrong = [*problems(request, paused=self._paused), *self._unlike(request, raw)]
        if wrong:
            self.complaints += wrong
            await refused(400, _body("invalid_request_error", wrong[0]))(api, writer)
            return
        self._given += 1
        if answer.blocks:
            self._repeat.append(answer)
        if answer.status != 200:
            await refused(answer.status, _body(answer.data.decode(), "Try again."))(api, writer)
        elif answer.stalls:
            await stalled_after(answer.data)(api, writer)
        else:
            await stream_of(answer.data)(api, writer)

    def lose(self) -> None:
        """The last answer came to nothing, and need not be repeated."""
        self._repeat.pop()

    @property
    def _paused(self) -> bool:
        return bool(self._repeat) and self._repeat[-1].paused

    def _unlike(self, request: Json, raw: bytes) -> Iterator[str]:
        """What is not repeated as it was."""
        if request.get("tools") != self.requests[0].get("tools"):
            yield "tools: are others than before, or in another order"
        for answer in self._repeat:
            content = b",".join(_bytes(block) for block in answer.blocks or ())
            if content not in raw:
                yield "messages: `thinking` or `redacted_thinking` blocks, or others of an answer, cannot be modified"
        ours = [_bytes(block) for answer in self._repeat for block in answer.blocks or ()]
        written = [
            each for message in request["messages"] if message["role"] == "assistant" for each in blocks(message)
        ]
        for block in written:
            if block["type"] not in {"text", "tool_use"} and _bytes(block) not in ours:
                yield f"messages: there was no such block: {block['type']}"
        if self._paused and request["messages"][-1]["role"] == "user":
            last = request["messages"][-1]
            yield f"messages: something stands behind an answer that paused: {last['content']}"


def _bytes(block: Any) -> bytes:
    return json.dumps(block, ensure_ascii=False, separators=(",", ":")).encode()


def _body(kind: str, message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_9"})
