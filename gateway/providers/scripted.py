"""A model that says what a script says: needs no key and no network, and says the same every time.

A ``.md`` file is one answer. A ``.toml`` file is a row of them, each a ``[[turn]]``:

    [[turn]]
    text = "Low water is at six."
    pace = 40                  # deltas a second, if not the settings' pace; 0: all at once
    cut = "max_tokens"         # or "refusal", or "silent": the stream just stops
    error = "overloaded"       # or another error_type; sent behind the text

Rule 1: the n-th question gets the n-th turn; after the last turn, the last again. A question that is asked again gets
        the same answer from its beginning. A model goes on where it was interrupted, a script does not: a gateway that
        is killed in mid-answer shows what was sealed, and then all of the script.
Rule 2: text comes in deltas of four characters.
"""

import math
import tomllib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import anyio
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.event import (
    ContentBlockEnd,
    ContentBlockStart,
    ErrorType,
    MessageEnd,
    StopReason,
    TextDelta,
    Usage,
)
from gateway.provider import Item, Native, Provider, Request, UserMessage
from gateway.providers.failure import failure

PROTOCOL = "scripted"

DELTA_LENGTH = 4
"""Characters of a delta: about a token, which is what models send."""

Pace = Annotated[float, Field(ge=0)]
"""Deltas a second. 0, like infinity, means without waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model.

    Attributes:
        text: all it says.
        pace: deltas a second, if not that of the settings.
        cut: how it ends, if not well: at the token limit, refused, or silently, the stream just stopping.
        error: the error that ends it.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    text: str = ""
    pace: Pace | None = None
    cut: Literal["max_tokens", "refusal", "silent"] | None = None
    error: ErrorType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    __pydantic_config__ = ConfigDict(extra="forbid")

    turn: Annotated[tuple[Turn, ...], Field(min_length=1)]


def parse(content: bytes, path: Path) -> tuple[Turn, ...]:
    """The turns of a script; at least one.

    Args:
        content: the file's.
        path: the file's name, which says what it holds and is named in errors.

    Raises:
        ConfigurationError: where the script cannot be played; says which file and which key.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8 ({error.reason} at byte {error.start})"
        raise ConfigurationError(msg) from None
    match path.suffix.lower():
        case ".md":
            return (Turn(text=text),)
        case ".toml":
            return _parse_toml(text, path)
        case _:
            msg = f"{path}: a script is a .md file (one answer) or a .toml file (tables [[turn]])"
            raise ConfigurationError(msg)


def _parse_toml(text: str, path: Path) -> tuple[Turn, ...]:
    try:
        turns = TypeAdapter(_Script).validate_python(tomllib.loads(text)).turn
    except tomllib.TOMLDecodeError as error:
        msg = f"{path}: not TOML: {error}"
        raise ConfigurationError(msg) from None
    except ValidationError as error:
        raise ConfigurationError(_explain(error, path)) from None
    for number, turn in enumerate(turns, start=1):
        if turn.cut and turn.error:
            msg = f"{path}: turn {number}: it ends by `cut` or by `error`, not by both"
            raise ConfigurationError(msg)
    return turns


def _explain(error: ValidationError, path: Path) -> str:
    """Name the first key that is wrong, and say what may stand there."""
    first = error.errors(include_url=False)[0]
    place = [f"turn {part + 1}" if isinstance(part, int) else part for part in first["loc"]]
    match first["type"], place:
        case "missing" | "too_short", _:
            return f"{path}: there is no [[turn]]"
        case "unexpected_keyword_argument", [table]:
            return f"{path}: `{table}` is not known here; a script holds tables [[turn]]"
        case "unexpected_keyword_argument", [_, turn, key]:
            return f"{path}: {turn}: `{key}` is not known here; a turn has text, pace, cut and error"
        case _:
            return f"{path}: {', '.join(place[1:] or place)}: {first['msg']}"


def events(turn: Turn, request: Request) -> list[Item]:
    """All that the model says in a turn, in order.

    The usage is an estimate, a token for every four characters, since there is no tokenizer here.
    """
    items: list[Item] = []
    if turn.text:
        items.append(ContentBlockStart(block_id="b0", block_type="text"))
        items += [
            TextDelta(block_id="b0", text=turn.text[start : start + DELTA_LENGTH])
            for start in range(0, len(turn.text), DELTA_LENGTH)
        ]
        items.append(ContentBlockEnd(block_id="b0", block_type="text"))
    items += _end(turn, request)
    return items


def _end(turn: Turn, request: Request) -> list[Item]:
    error = "incomplete_stream" if turn.cut == "silent" else turn.error
    if error:
        message = "the stream stopped before the message did" if turn.cut else f"{error}, says the script"
        return [failure(error, message)]
    stop_reason: StopReason = "end" if turn.cut is None or turn.cut == "silent" else turn.cut
    asked = len(request.system) + sum(len(message.text) for message in request.messages)
    return [
        Native(protocol=PROTOCOL, blocks=({"type": "text", "text": turn.text},) if turn.text else ()),
        MessageEnd(
            message_id=f"scripted-{questions(request)}",
            stop_reason=stop_reason,
            usage=Usage(input_tokens=math.ceil(asked / 4), output_tokens=math.ceil(len(turn.text) / 4)),
        ),
    ]


def questions(request: Request) -> int:
    """How many times the user has spoken."""
    return sum(isinstance(message, UserMessage) for message in request.messages)


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
    try:
        content = settings.script.read_bytes()
    except OSError as error:
        msg = f"{settings.script}: the script cannot be read ({error.strerror})"
        raise ConfigurationError(msg) from None
    return _Scripted(parse(content, settings.script), settings.pace)


class _Scripted:
    def __init__(self, turns: tuple[Turn, ...], pace: float) -> None:
        self._turns = turns
        self._pace = pace

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[Item], None]:
        """See ``gateway.provider.Provider``."""
        turn = self._turns[min(max(questions(request), 1), len(self._turns)) - 1]
        pace = self._pace if turn.pace is None else turn.pace
        yield _Answer(events(turn, request), pace)


class _Answer:
    """The items of one answer, each text delta when its time has come, counted from the first."""

    def __init__(self, items: list[Item], pace: float) -> None:
        self._items = iter(items)
        self._gap = 1 / pace if pace else 0.0
        self._due: float | None = None

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        for item in self._items:
            if isinstance(item, TextDelta):
                self._due = anyio.current_time() if self._due is None else self._due + self._gap
                await anyio.sleep_until(self._due)
            return item
        raise StopAsyncIteration
