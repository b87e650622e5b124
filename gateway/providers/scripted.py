"""A model that says what a script says: needs no key and no network, and says the same every time.

What a script holds stands in ``gateway.script``.

Rule 1: the n-th model call of a conversation gets the n-th turn; after the last turn, the last again. Which one it is
        is told by the request alone: it has one message of the model's for each call before it. (Where older ones were
        left out of a long history, they are not counted.)
Rule 2: a call that is made again, after a failure or a crash, gets the same turn from its beginning. A model goes on
        where it was interrupted, a script does not: a gateway that is killed in mid-answer shows what was sealed, and
        then all of the script.
Rule 3: but a tool is not called again: a call that stands in the request already is left out, and where all of a turn's
        do, that turn is over, and the next one is played.
Rule 4: text, and the input of calls, come in deltas of four characters. The k-th call of the n-th turn is ``call-n-k``.
"""

import math
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import anyio
from pydantic import ConfigDict, Field

from gateway.error import ConfigurationError
from gateway.event import (
    ContentBlockEnd,
    ContentBlockStart,
    JsonObject,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolInputDelta,
    ToolUseConfirmed,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.history import INTERRUPTED
from gateway.provider import AssistantMessage, Item, Message, Native, Provider, Request, UserMessage
from gateway.providers.failure import failure
from gateway.providers.fragment import parse_input
from gateway.script import Pace, ScriptedCall, Turn, read

PROTOCOL = "scripted"

DELTA_LENGTH = 4
"""Characters of a delta: about a token, which is what models send."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in its script a model call is: the ``count``-th, from 1, and which calls of tools were ``made`` before."""

    count: int = 1
    made: frozenset[str] = frozenset()

    def behind(self, turns: Sequence[Turn], said: AssistantMessage, heard: Message | None) -> "Place":
        """Where it is once the model has said something, and heard the next: rules 1 to 3."""
        made = self.made.union(call.tool_use_id for call in said.calls)
        calls = {name for name, _ in _named(self.turn(turns), self.count)}
        interrupted = isinstance(heard, UserMessage) and heard.text.startswith(INTERRUPTED)
        if interrupted and not (calls and made >= calls):
            return Place(count=self.count, made=made)
        return Place(count=self.count + 1)

    def turn(self, turns: Sequence[Turn]) -> Turn:
        """What is said there."""
        return turns[min(self.count, len(turns)) - 1]


def place_of(turns: Sequence[Turn], request: Request) -> Place:
    """Where in its script a request is."""
    place = Place()
    for said, heard in pairwise((*request.messages, None)):
        if isinstance(said, AssistantMessage):
            place = place.behind(turns, said, heard)
    return place


def _named(turn: Turn, count: int) -> list[tuple[str, ScriptedCall]]:
    return [(f"call-{count}-{number}", call) for number, call in enumerate(turn.calls, start=1)]


def events(turn: Turn, request: Request, place: Place) -> list[Item]:
    """All that the model says in a turn, in order.

    The usage is an estimate, a token for every four characters, since there is no tokenizer here.

    Args:
        turn: what it says.
        request: what it is asked.
        place: where in its script it is.
    """
    writer = _Writer()
    calls = [(name, call) for name, call in _named(turn, place.count) if name not in place.made]
    begin = 0
    for number, (name, call) in enumerate(calls, start=1):
        end = len(turn.text) if call.at is None else call.at
        writer.say(turn.text[begin:end])
        begin = end
        writer.call(name, call, cut=turn.cut is not None and number == len(calls) and end == len(turn.text))
    writer.say(turn.text[begin:])
    return [*writer.items, *_end(turn, request, writer, f"scripted-{place.count}")]


class _Writer:
    """Writes blocks, as Anthropic does: a call is confirmed by what comes behind it."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.native: list[JsonObject] = []
        self.length = 0
        self._blocks = 0
        self._unconfirmed: str | None = None

    def say(self, text: str) -> None:
        """A block of text; none for no text."""
        if not text:
            return
        block_id = self._open("text")
        self.items += [TextDelta(block_id=block_id, text=delta) for delta in _deltas(text)]
        self.items.append(ContentBlockEnd(block_id=block_id, block_type="text"))
        self.native.append({"type": "text", "text": text})
        self.length += len(text)

    def call(self, tool_use_id: str, call: ScriptedCall, *, cut: bool) -> None:
        """A block with a call; ``cut``: only half of its input comes."""
        written = call.written[: len(call.written) // 2] if cut else call.written
        parsed, problem = (None, "invalid_json") if cut else parse_input(written)
        block_id = self._open("tool_use")
        self.items.append(ToolUseStart(block_id=block_id, tool_use_id=tool_use_id, tool_name=call.name))
        self.items += [ToolInputDelta(tool_use_id=tool_use_id, json_delta=delta) for delta in _deltas(written)]
        self.items.append(ToolUseEnd(tool_use_id=tool_use_id, input=parsed, problem=problem))
        self.items.append(ContentBlockEnd(block_id=block_id, block_type="tool_use"))
        self.native.append({"type": "tool_use", "id": tool_use_id, "name": call.name, "input": parsed or {}})
        self.length += len(written)
        self._unconfirmed = tool_use_id

    def confirm(self) -> None:
        """Say of the call before, if there is one, that the model moved on behind it."""
        if self._unconfirmed is not None:
            self.items.append(ToolUseConfirmed(tool_use_id=self._unconfirmed))
            self._unconfirmed = None

    def _open(self, block_type: Literal["text", "tool_use"]) -> str:
        self.confirm()
        block_id = f"b{self._blocks}"
        self._blocks += 1
        self.items.append(ContentBlockStart(block_id=block_id, block_type=block_type))
        return block_id


def _deltas(text: str) -> Iterator[str]:
    return (text[start : start + DELTA_LENGTH] for start in range(0, len(text), DELTA_LENGTH))


def _end(turn: Turn, request: Request, writer: _Writer, message_id: str) -> Iterator[Item]:
    error = "incomplete_stream" if turn.cut == "silent" else turn.error
    if error:
        message = "the stream stopped before the message did" if turn.cut else f"{error}, says the script"
        yield failure(error, message)
        return
    called = any(block["type"] == "tool_use" for block in writer.native)
    stop_reason: StopReason = "tool_use" if called else "end"
    if turn.cut is not None and turn.cut != "silent":
        stop_reason = turn.cut
    if stop_reason == "tool_use":
        before = len(writer.items)
        writer.confirm()
        yield from writer.items[before:]
    yield Native(protocol=PROTOCOL, blocks=tuple(writer.native))
    usage = Usage(input_tokens=math.ceil(_length(request) / 4), output_tokens=math.ceil(writer.length / 4))
    yield MessageEnd(message_id=message_id, stop_reason=stop_reason, usage=usage)


def _length(request: Request) -> int:
    """Characters of what the model is asked."""
    results = [result.content for said in request.messages if isinstance(said, UserMessage) for result in said.results]
    return len(request.system) + sum(len(said.text) for said in request.messages) + sum(map(len, results))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A scripted model, as the configuration names it.

    Attributes:
        provider: this module.
        name: what the model calls itself in events and logs.
        max_tokens: as for every model; not enforced, a script says by ``cut`` where it is cut.
        script: the file to play.
        pace: deltas a second; 0, like infinity, means without waiting.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    provider: Literal["scripted"]
    name: str
    max_tokens: Annotated[int, Field(gt=0)]
    script: Path | None = None
    pace: Pace = 200.0


def create(settings: Settings) -> Provider:
    """The provider.

    Raises:
        ConfigurationError: where there is no script, or none that can be played.
    """
    if settings.script is None:
        msg = "the scripted model has nothing to say: set `script` to a .md or .toml file"
        raise ConfigurationError(msg)
    return _Scripted(read(settings.script).turns, settings.pace)


class _Scripted:
    def __init__(self, turns: Sequence[Turn], pace: float) -> None:
        self._turns = turns
        self._pace = pace

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[Item], None]:
        """See ``gateway.provider.Provider``."""
        place = place_of(self._turns, request)
        turn = place.turn(self._turns)
        pace = self._pace if turn.pace is None else turn.pace
        yield _Answer(events(turn, request, place), pace)


class _Answer:
    """The items of one answer, each delta when its time has come, counted from the first."""

    def __init__(self, items: list[Item], pace: float) -> None:
        self._items = iter(items)
        self._gap = 1 / pace if pace else 0.0
        self._due: float | None = None

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        for item in self._items:
            if isinstance(item, TextDelta | ToolInputDelta):
                self._due = anyio.current_time() if self._due is None else self._due + self._gap
                await anyio.sleep_until(self._due)
            return item
        raise StopAsyncIteration
