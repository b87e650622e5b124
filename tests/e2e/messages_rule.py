"""What Anthropic's API refuses in a request, in its words as far as they are known. Pure.

What it only takes badly, and we never send, is refused as well: messages that do not alternate, text in front of
results.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

KNOWN = frozenset({"text", "thinking", "redacted_thinking", "tool_use", "tool_result"})


def blocks(message: Json) -> list[Json]:
    """What a message holds; text that stands alone as the block that it means."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def problems(request: Json, *, paused: bool) -> Iterator[str]:
    """All that is wrong with a request.

    Args:
        request: the body.
        paused: the last answer stopped to be sent back, so that the request may end with it.
    """
    yield from _frame(request)
    yield from _tools(request.get("tools", []))
    messages: list[Json] = request.get("messages", [])
    yield from _order(messages, paused=paused)
    for at, message in enumerate(messages):
        yield from _content(f"messages.{at}", message)
    yield from _calls(messages)
    yield from _server_tools(messages)


def _frame(request: Json) -> Iterator[str]:
    if request.get("stream") is not True:
        yield "stream: must be true"
    if request.get("cache_control") != {"type": "ephemeral"}:
        yield "cache_control: is off"
    if not isinstance(request.get("max_tokens"), int) or request["max_tokens"] < 1:
        yield "max_tokens: must be greater than or equal to 1"
    if not request.get("model"):
        yield "model: field required"
    if "system" in request and not request["system"].strip():
        yield "system: text content blocks must be non-empty"


def _tools(tools: list[Json]) -> Iterator[str]:
    names = [tool["name"] for tool in tools]
    for at, tool in enumerate(tools):
        if not TOOL_NAME.fullmatch(tool["name"]):
            yield f"tools.{at}.name: String should match pattern '{TOOL_NAME.pattern}'"
        if tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{at}.input_schema.type: Field required"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def _order(messages: list[Json], *, paused: bool) -> Iterator[str]:
    roles = [message.get("role") for message in messages]
    if not roles or roles[0] != "user":
        yield "messages: first message must use the user role"
    for at, (before, after) in enumerate(pairwise(roles), start=1):
        if before == after:
            yield f"messages.{at}: roles must alternate"
    if roles[-1:] == ["assistant"] and not paused:
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _content(place: str, message: Json) -> Iterator[str]:
    found = blocks(message)
    if not found:
        yield f"{place}: content must not be empty"
    kinds = [block["type"] for block in found]
    results = [at for at, kind in enumerate(kinds) if kind == "tool_result"]
    if "text" in kinds and any(at > kinds.index("text") for at in results):
        yield f"{place}: text stands in front of a result"
    for at, block in enumerate(found):
        if (block["type"] in {"text", "tool_result"}) < (message["role"] == "user"):
            yield f"{place}.content.{at}: `{block['type']}` blocks can only be in assistant messages"
        if block["type"] == "tool_result" and message["role"] == "assistant":
            yield f"{place}.content.{at}: `tool_result` blocks can only be in user messages"
        yield from _block(f"{place}.content.{at}", block)


def _block(place: str, block: Json) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(words)} if not words.strip():
            yield f"{place}: text content blocks must contain non-whitespace text"
        case {"type": "thinking"} if not block.get("signature"):
            yield f"{place}.thinking.signature: Field required"
        case {"type": "tool_use"} if not isinstance(block.get("input"), dict):
            yield f"{place}.tool_use.input: Input should be a valid dictionary"
        case _:
            pass


def _calls(messages: list[Json]) -> Iterator[str]:
    """Each call has its result in the next message, each result its call in the one before."""
    seen = set[str]()
    for at, message in enumerate(messages):
        calls = [block["id"] for block in blocks(message) if block["type"] == "tool_use"]
        results = _results(messages[at + 1]) if at + 1 < len(messages) else []
        if left := [call for call in calls if call not in results]:
            yield (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(left)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
                "message."
            )
        for result in results:
            if result not in calls:
                yield f"messages.{at + 1}: unexpected `tool_use_id` found in `tool_result` blocks: {result}"
        if len(set(results)) < len(results):
            yield f"messages.{at + 1}: each tool_use must have a single result"
        if seen & set(calls) or len(set(calls)) < len(calls):
            yield f"messages.{at}: `tool_use` ids must be unique"
        seen |= set(calls)
    for result in _results(messages[0]) if messages else []:
        yield f"messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {result}"


def _results(message: Json) -> list[str]:
    return [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]


def _server_tools(messages: list[Json]) -> Iterator[str]:
    """A server's call has its result in its own message, unless that goes on, or calls a tool of ours besides."""
    for at, message in enumerate(messages):
        found = blocks(message)
        given = {block.get("tool_use_id") for block in found if block["type"] not in KNOWN}
        goes_on = at == len(messages) - 1 or any(block["type"] == "tool_use" for block in found)
        for block in found:
            if block["type"] == "server_tool_use" and block["id"] not in given and not goes_on:
                yield (
                    f"messages.{at}: `{block['name']}` tool use with id `{block['id']}` was found without a "
                    f"corresponding `{block['name']}_tool_result` block"
                )
