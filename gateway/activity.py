"""The one quiet line that says what the tools do, or did. Pure: events in, a line of Markdown out.

Rule 1: it names tools and how far they are, never what they were given or gave: that may be anybody's secret.
Rule 2: once the run is over, it says what was done, and nothing that goes on.
Rule 3: it names as many tools as there is room for; where there is none for a line without names, there is no line.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateway.event import Event, ToolProgress, ToolResult, ToolStart, ToolUseStart

NAMED = 6
"""How many tools are named; of the rest, only how many there are."""

PROGRESS = 80
"""How many characters of a tool's own words are shown."""


@dataclass(slots=True)
class _Call:
    name: str
    state: Literal["announced", "running", "done", "failed"] = "announced"
    progress: str = ""


@dataclass(slots=True)
class Activity:
    """What the tools of a run do."""

    _calls: dict[str, _Call] = field(default_factory=dict[str, _Call])
    _over: bool = False

    def feed(self, event: Event) -> None:
        """Take in what the run did; what concerns no tool changes nothing."""
        match event:
            case ToolUseStart(tool_use_id=call, tool_name=name):
                self._calls[call] = _Call(name)
            case ToolStart(tool_use_id=call):
                self._call(call).state = "running"
            case ToolProgress(tool_use_id=call):
                self._call(call).progress = _progress(event)
            case ToolResult(tool_use_id=call):
                self._call(call).state = "failed" if event.is_error else "done"
            case _:
                pass

    def end(self) -> None:
        """The run is over: what has no result is not going on any more."""
        self._over = True

    def text(self, room: int) -> str:
        """The line, in at most so many bytes; nothing where no tool has begun."""
        lines = (self._line(named) for named in range(NAMED, -1, -1))
        return next((line for line in lines if len(line.encode()) <= room), "")

    def _call(self, call: str) -> _Call:
        """A call; one that was begun before a restart has lost its name."""
        return self._calls.setdefault(call, _Call(""))

    def _line(self, named: int) -> str:
        begun = [call for call in self._calls.values() if call.state != "announced"]
        running = [call for call in begun if call.state == "running"]
        if not begun:
            return ""
        if running and not self._over:
            return f"_Working: {_listed([_named(call) for call in running], named)}_"
        failed = sum(call.state == "failed" for call in begun)
        times = Counter(call.name for call in begun)
        words = [f"{_code(name)} ({count} times)" if count > 1 else _code(name) for name, count in times.items()]
        return f"_Used {_listed(words, named)}" + (f"; {failed} failed" if failed else "") + "_"


def _listed(words: Sequence[str], named: int) -> str:
    """So many of the words, and how many there are beside them."""
    left = len(words) - named
    if left <= 0:
        return ", ".join(words)
    return f"{', '.join(words[:named])} and {left} more" if named else f"{left} {'tool' if left == 1 else 'tools'}"


def _named(call: _Call) -> str:
    return f"{_code(call.name)} ({call.progress})" if call.progress else _code(call.name)


def _code(name: str) -> str:
    return f"`{name.replace('`', '')}`" if name else "a tool"


def _progress(event: ToolProgress) -> str:
    """A tool's words in a line that holds no Markdown of theirs."""
    words = " ".join("".join(" " if char in "`*_[]<>|~\\" else char for char in event.message).split())[:PROGRESS]
    if event.done is not None and event.total:
        share = f"{event.done / event.total:.0%}"
        return f"{words}, {share}" if words else share
    return words
