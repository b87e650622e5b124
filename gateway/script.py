"""A play: what a scripted model says, the tools that it may call, and what people do meanwhile.

A ``.md`` file is one answer. A ``.toml`` file holds tables, each kind in its order:

    [[tool]]
    name = "deploy"
    seconds = 2.5              # how long a call takes
    result = "Deployed."       # what comes of it; where it fails, why
    fails = false
    safe = false               # it changes nothing: may run beside others, and while the model talks
    approval = true            # a person has to allow it first
    cascades = false           # its failure cancels later calls of the kind

    [[turn]]
    text = "I look, then I deploy."
    calls = [{ name = "look", input = { at = "pier" }, at = 7 }, { name = "deploy" }]
    pace = 40                  # deltas a second, if not the settings' pace; 0: all at once
    cut = "max_tokens"         # or "refusal", or "silent": the stream just stops
    error = "overloaded"       # or another error_type; sent behind the text

    [[user]]
    who = "stranger"           # or "asker"
    press = "approve"          # or "deny", or "always"; or `say` instead
    after = "approval"         # when one is asked for; or "end", of the run; or seconds
    times = 2

Rule 1: a call stands behind the ``at``-th character of the text, or at its end; calls stand in that order.
Rule 2: ``cut`` falls where the message ends: inside the last call, where nothing follows it, else behind the text.
Rule 3: an ``input`` that is a text is what the model writes, letter for letter, also where it is no JSON.
Rule 4: of a script that cannot be played, the table, its number and the key are named.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.event import ErrorType, JsonObject

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Pace = Annotated[float, Field(ge=0)]
"""Deltas a second. 0, like infinity, means without waiting."""

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTool:
    """A tool of a play.

    Attributes:
        name: what the model calls it.
        seconds: how long a call takes.
        result: what comes of it.
        fails: whether it fails, or with which words.
        safe: whether it changes nothing.
        approval: whether a person has to allow it.
        cascades: whether its failure cancels later calls of the kind.
    """

    __pydantic_config__ = STRICT

    name: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
    seconds: Seconds = 0.0
    result: str = ""
    fails: bool | str = False
    safe: bool = False
    approval: bool = False
    cascades: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A call that the model makes. ``at``: behind how many characters of the text; none for its end."""

    __pydantic_config__ = STRICT

    name: Annotated[str, Field(min_length=1)]
    input: JsonObject | str = ""
    at: Annotated[int, Field(ge=0)] | None = None

    @property
    def written(self) -> str:
        """The input as the model writes it."""
        return self.input if isinstance(self.input, str) else json.dumps(self.input, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model.

    Attributes:
        text: all it says.
        calls: what it calls, in its order.
        pace: deltas a second, if not that of the settings.
        cut: how it ends, if not well: at the token limit, refused, or silently, the stream just stopping.
        error: the error that ends it.
    """

    __pydantic_config__ = STRICT

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    pace: Pace | None = None
    cut: Literal["max_tokens", "refusal", "silent"] | None = None
    error: ErrorType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedUser:
    """Something that a person does: says something, or presses the button of an approval.

    ``after`` is a number of seconds, or what is waited for: without it, a press waits for the approval, and words for
    the end of the run.
    """

    __pydantic_config__ = STRICT

    who: Literal["asker", "stranger"] = "asker"
    say: Annotated[str, Field(min_length=1)] | None = None
    press: Literal["approve", "deny", "always"] | None = None
    after: Seconds | Literal["approval", "end"] | None = None
    times: Annotated[int, Field(ge=1)] = 1

    @property
    def moment(self) -> float | Literal["approval", "end"]:
        """When it is done."""
        if self.after is not None:
            return self.after
        return "end" if self.press is None else "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All of a play; at least one turn."""

    turns: tuple[Turn, ...]
    tools: tuple[ScriptedTool, ...] = ()
    users: tuple[ScriptedUser, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    __pydantic_config__ = STRICT

    turn: Annotated[tuple[Turn, ...], Field(min_length=1)]
    tool: tuple[ScriptedTool, ...] = ()
    user: tuple[ScriptedUser, ...] = ()


KEYS: Mapping[str, Sequence[str]] = {
    "tool": [each.name for each in fields(ScriptedTool)],
    "turn": [each.name for each in fields(Turn)],
    "user": [each.name for each in fields(ScriptedUser)],
    "calls": [each.name for each in fields(ScriptedCall)],
}
"""What may stand in a table, and in a call."""


def read(path: Path) -> Script:
    """The script in a file.

    Raises:
        ConfigurationError: it cannot be read or not be played; says which file and which key.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"{path}: the script cannot be read ({error.strerror})"
        raise ConfigurationError(msg) from None
    return parse(content, path)


def parse(content: bytes, path: Path) -> Script:
    """The script that a file holds.

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
            return Script(turns=(Turn(text=text),))
        case ".toml":
            return _parse_toml(text, path)
        case _:
            msg = f"{path}: a script is a .md file (one answer) or a .toml file (tables [[turn]])"
            raise ConfigurationError(msg)


def _parse_toml(text: str, path: Path) -> Script:
    try:
        tables = tomllib.loads(text)
        file = TypeAdapter(_File).validate_json(json.dumps(tables, default=str), strict=True)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        msg = f"{path}: not TOML: {error}"
        raise ConfigurationError(msg) from None
    except ValidationError as error:
        raise ConfigurationError(_explained(error, path)) from None
    if (wrong := next(_contradictions(file), None)) is not None:
        msg = f"{path}: {wrong}"
        raise ConfigurationError(msg)
    return Script(turns=file.turn, tools=file.tool, users=file.user)


def _contradictions(file: _File) -> Iterator[str]:
    """What is wrong though each key by itself is not."""
    names = [tool.name for tool in file.tool]
    for number, name in enumerate(names, start=1):
        if name in names[: number - 1]:
            yield f"tool {number}, name: there is a tool {name!r} already"
    for number, turn in enumerate(file.turn, start=1):
        if turn.cut and turn.error:
            yield f"turn {number}: it ends by `cut` or by `error`, not by both"
        yield from (f"turn {number}, {wrong}" for wrong in _misplaced(turn))
    for number, user in enumerate(file.user, start=1):
        if (user.say is None) == (user.press is None):
            yield f"user {number}: they `say` something or `press` a button, one of the two"


def _misplaced(turn: Turn) -> Iterator[str]:
    before = 0
    for number, call in enumerate(turn.calls, start=1):
        place = len(turn.text) if call.at is None else call.at
        if place > len(turn.text):
            yield f"call {number}, at: the text has only {len(turn.text)} characters"
        if place < before:
            yield f"call {number}, at: it stands before call {number - 1}; write the calls in the order of their `at`"
        before = place
        if not isinstance(call.input, str) and not _is_json(call.input):
            yield f"call {number}, input: JSON has no nan and no inf"


def _is_json(value: JsonObject) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _explained(error: ValidationError, path: Path) -> str:
    """Name the first key that is wrong, and say what may stand there."""
    details = error.errors(include_url=False)
    location, kind = details[0]["loc"], details[0]["type"]
    place = ", ".join(_place(location))
    if kind == "unexpected_keyword_argument":
        if len(location) == 1:
            return f"{path}: `{location[0]}` is not known here; a script holds tables [[tool]], [[turn]] and [[user]]"
        known = ", ".join(KEYS[str(location[-3])])
        return f"{path}: {', '.join(_place(location[:-1]))}: `{location[-1]}` is not known here; known are {known}"
    if kind in {"missing", "too_short"} and location == ("turn",):
        return f"{path}: there is no [[turn]]"
    said = dict.fromkeys(_said(detail) for detail in details if ", ".join(_place(detail["loc"])) == place)
    return f"{path}: {place}: {'; or: '.join(said)}"


def _place(location: Sequence[int | str]) -> list[str]:
    """Where something stands, in the words of who wrote it; of a value that may be several things, the key."""
    place: list[str] = []
    known: Sequence[str] = tuple(KEYS)
    for part in location:
        if isinstance(part, int):
            place[-1] = f"{place[-1].removesuffix('s')} {part + 1}"
        elif part in known:
            place.append(part)
            known = KEYS.get(part, ())
    return place


def _said(detail: "ErrorDetails") -> str:
    return "this key is needed" if detail["type"] == "missing" else detail["msg"]
