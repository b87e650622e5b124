r"""Pieces of a model's answer, put together again: text that is cut anywhere, JSON that is parsed once.

Rule 1: no text leaves here that cannot be encoded as UTF-8. JSON may spell half a character (``"\ud83d"``) and send
        the other half in the next delta; halves that meet become the character, halves that do not become U+FFFD.
Rule 2: a tool's input is parsed strictly and never repaired. Strictly means RFC 8259, and no name twice in an object:
        whoever approves a call and whoever runs it must not see different values.
"""

import json
import math
from typing import Any, NoReturn, cast

from gateway.event import InputProblem, JsonObject

MAX_DEPTH = 100
"""Deepest nesting of an input. JSON writers on the way to stores and logs give up at about 200."""


class TextJoiner:
    """Makes deltas that may be cut inside a surrogate pair into deltas that are text."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, delta: str) -> str:
        """The delta as text; half a character at its end waits for the next delta."""
        if delta.isascii() and not self._half:
            return delta
        text = self._half + delta
        self._half = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        return mended(text[:-1] if self._half else text)

    def flush(self) -> str:
        """U+FFFD where half a character still waits, else nothing."""
        half, self._half = self._half, ""
        return "\ufffd" if half else ""


def mended(text: str) -> str:
    """The text with its surrogate pairs made one and its lone surrogates replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mended_json(value: Any) -> Any:
    """The JSON value with every text in it mended."""
    match value:
        case str():
            return mended(value)
        case dict():
            return {mended(name): mended_json(item) for name, item in cast("JsonObject", value).items()}
        case list():
            return [mended_json(item) for item in cast("list[Any]", value)]
        case _:
            return value


def parse_event(text: str) -> JsonObject:
    """The JSON object that is an event's data. Its texts may still hold halves of characters.

    Raises:
        ValueError: where it is something else, or holds numbers that JSON has not, or nests deeper than ``MAX_DEPTH``.
    """
    try:
        value = _EVENT.decode(text)
    except RecursionError:
        value = None
    if not isinstance(value, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - the text's value is wrong, not our caller's type
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(cast("JsonObject", value)) > MAX_DEPTH:
        msg = "nested too deep"
        raise ValueError(msg)
    return cast("JsonObject", value)


def parse_input(text: str) -> tuple[JsonObject | None, InputProblem | None]:
    """A tool's whole input, or what is wrong with it. Nothing at all is an input without arguments."""
    if not text.strip():
        return {}, None
    try:
        value = _INPUT.decode(text)
        if _depth(value) > MAX_DEPTH:
            return None, "invalid_json"
    except (ValueError, RecursionError):
        return None, "invalid_json"
    if not isinstance(value, dict):
        return None, "not_an_object"
    return cast("JsonObject", mended_json(value)), None


def _depth(value: Any) -> int:
    """How deep lists and objects nest in the value; more than ``MAX_DEPTH`` is not told apart."""
    level, depth = [value], 0
    while depth <= MAX_DEPTH:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(cast("JsonObject", item).values())
            elif isinstance(item, list):
                inner.extend(cast("list[Any]", item))
        if not inner:
            break
        level, depth = inner, depth + 1
    return depth


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        msg = "a name stands twice in an object"
        raise ValueError(msg)
    return found


def _refuse(constant: str) -> NoReturn:
    msg = f"{constant} is not JSON"
    raise ValueError(msg)


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        _refuse(number)
    return value


# Made once: ``json.loads`` with hooks makes a decoder at every call.
_EVENT = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
_INPUT = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
