"""What the tools of a run do, and the quiet lines that say so. Pure: events in, lines of Markdown out.

Rule 1: a line names tools and how far they are, never what they were given or gave: that may be anybody's secret.
Rule 2: once the run is over, it says what was done, and nothing that goes on.
Rule 3: it names as many tools as there is room for; where there is none for a line without names, there is no line.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateway.event import Event, ToolErrorType, ToolProgress, ToolResult, ToolStart, ToolUseStart

NAMED = 6
"""How many tools are named; of the rest, only how many there are."""

PROGRESS = 80
"""How many characters of a tool's own words are shown."""

_FAILURES: dict[ToolErrorType | None, str] = {
    "timeout": "It took too long, and was ended.",
    "cancelled": "It was ended before it was done.",
    "interrupted": "It was interrupted, and may have done what it does.",
}


@dataclass(slots=True)
class _Call:
    name: str
    state: Literal["announced", "running", "done", "failed"] = "announced"
    begun: bool = False
    progress: str = ""
    error_type: ToolErrorType | None = None


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
                self._call(call).state, self._call(call).begun = "running", True
            case ToolProgress(tool_use_id=call):
                self._call(call).progress = _progress(event)
            case ToolResult(tool_use_id=call):
                self._call(call).state = "failed" if event.is_error else "done"
                self._call(call).error_type = event.error_type
            case _:
                pass

    @property
    def calls(self) -> list[str]:
        """All that there were, in call order."""
        return [*self._calls]

    def end(self) -> None:
        """The run is over: what has no result is not going on any more."""
        self._over = True

    def works(self, calls: Collection[str]) -> bool:
        """Whether one of those calls is being worked on."""
        return not self._over and any(call.state == "running" for call in self._begun(calls))

    def ended(self, call: str) -> bool:
        """Whether nothing more will come of a call."""
        return self._over or (call in self._calls and self._calls[call].state in ("done", "failed"))

    def outcome(self, name: str) -> str:
        """What came of a call, in a sentence; nothing where it has not begun."""
        match self._calls.get(name):
            case _Call(begun=False, state="failed"):
                return "It was not run."
            case _Call(state="running", progress=progress):
                going = f"It is running ({progress})." if progress else "It is running."
                return _FAILURES["cancelled"] if self._over else going
            case _Call(state="done"):
                return "Done."
            case _Call(state="failed", error_type=error_type):
                return _FAILURES.get(error_type, "It failed.")
            case _:
                return ""

    def text(self, room: int, calls: Collection[str]) -> str:
        """The line about some calls, in at most so many bytes; nothing where none has begun."""
        begun = self._begun(calls)
        lines = (self._line(begun, named) for named in range(NAMED, -1, -1))
        return next((line for line in lines if len(line.encode()) <= room), "") if begun else ""

    def _call(self, call: str) -> _Call:
        """A call; one that was begun before a restart has lost its name."""
        return self._calls.setdefault(call, _Call(""))

    def _begun(self, calls: Collection[str]) -> list[_Call]:
        found = (self._calls[call] for call in calls if call in self._calls)
        return [call for call in found if call.begun]

    def _line(self, begun: Sequence[_Call], named: int) -> str:
        running = [call for call in begun if call.state == "running"]
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
