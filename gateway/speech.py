"""The message that the model is writing, as the history will hold it. Pure."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from gateway.event import (
    EndReason,
    Error,
    MessageEnd,
    StopReason,
    TextDelta,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.history import Answered
from gateway.provider import Call, Item, Native

ENDS: dict[StopReason, EndReason | Literal["continued"]] = {
    "end": "complete",
    "tool_use": "complete",
    "max_tokens": "cut",
    "refusal": "refusal",
    "pause": "continued",
    "context_window": "context_window",
    "unknown": "complete",
}
"""How a run ends, or goes on, when the model stopped for a reason and called no tool."""

FINAL = frozenset({"refusal", "context_window"})
"""The reasons for which a run ends, also where tools were called."""


@dataclass(slots=True)
class Speech:
    """What the model has said of a message so far.

    ``told``: something of it was for others. ``error``: it did not come to its end.
    """

    told: bool = False
    error: Error | None = None
    _words: list[str] = field(default_factory=list[str])
    _length: int = 0
    _native: Native | None = None
    _end: MessageEnd | None = None
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _places: dict[str, int] = field(default_factory=dict[str, int])
    _calls: dict[str, Call] = field(default_factory=dict[str, Call])

    @property
    def text(self) -> str:
        """Its words."""
        return "".join(self._words)

    @property
    def end(self) -> MessageEnd | None:
        """How it ended, if it did."""
        return self._end

    def take(self, item: Item) -> None:
        """Take in what the model says next."""
        self.told = self.told or not isinstance(item, Native | Error)
        match item:
            case TextDelta(text=text):
                self._words.append(text)
                self._length += len(text)
            case ToolUseStart(tool_use_id=name):
                self._names[name] = item.tool_name
                self._places[name] = self._length
            case ToolUseEnd(tool_use_id=name):
                problem = item.problem or ("invalid_json" if item.input is None else None)
                call = Call(tool_use_id=name, name=self._names[name], input=item.input or {}, problem=problem)
                self._calls[name] = call
            case Native():
                self._native = item
            case MessageEnd():
                self._end = item
            case Error():
                self.error = item
            case _:
                pass

    def answered(self) -> Answered:
        """The whole message. A refused one calls nothing, and is not replayed."""
        end = self._end
        if end is None:
            msg = "the message has not come to its end"
            raise RuntimeError(msg)
        refused = end.stop_reason == "refusal"
        calls = () if refused else self._in_order()
        goes_on = bool(calls) and end.stop_reason not in FINAL
        return Answered(
            text=self.text,
            native=None if refused else self._native,
            reason="continued" if goes_on else ENDS[end.stop_reason],
            calls=calls,
            places=tuple(self._places[call.tool_use_id] for call in calls),
            stop_reason=end.stop_reason,
            usage=end.usage,
        )

    def broken(self, reason: EndReason | Literal["interrupted"], started: Collection[str]) -> Answered:
        """What there is of a message that broke off, with those of its calls that had begun."""
        calls = tuple(call for call in self._in_order() if call.tool_use_id in started)
        return Answered(
            text=self.text,
            reason=reason,
            error=self.error.error_type if self.error is not None and reason == "error" else None,
            calls=calls,
            places=tuple(self._places[call.tool_use_id] for call in calls),
            stop_reason="unknown",
            usage=Usage(),
        )

    def _in_order(self) -> tuple[Call, ...]:
        return tuple(self._calls[name] for name in self._places if name in self._calls)
