"""The terminal as a chat window: shows the conversation while it grows, from what the platform was told."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from markdown_it import MarkdownIt
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from gateway.cli.entity import marked
from gateway.cli.stage import Shown, Stage, seen
from gateway.error import DragomanError, UsageError
from gateway.event import JsonObject

NARROWEST, WIDEST, UNKNOWN = 20, 100, 80
"""Columns: what a message can be read in, what it is read well in, and what a terminal has that does not say."""

ERROR = 400
"""The status from which on HTTP means one."""

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])

_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Where a picture would fetch its fonts from; the reader's own will do."""


class Screen:
    """Prints each message once it is followed by another, and keeps the last one of each conversation live.

    Args:
        stages: where the conversations are.
        save_svg: a file for a picture of all that was shown.
        faults: the seed by which the platforms misbehave, if they do.
    """

    def __init__(self, stages: Sequence[Stage], save_svg: Path | None = None, faults: int | None = None) -> None:
        self._console = Console(record=save_svg is not None, width=width())
        self._stages = stages
        self._save_svg = save_svg
        self._faults = faults
        self._printed: set[tuple[str, str]] = set()
        self._changed = anyio.Event()

    async def show(self, ask: Callable[[], object], *, until: anyio.Event) -> None:
        """Have it asked, and show what comes until the event is set."""
        unsubscribe = [stage.subscribe(self._wake) for stage in self._stages]
        started = anyio.current_time()
        if self._faults is not None:
            line = f"Faults are on (seed {self._faults}): calls fail at random, and waits may be long."
            self._console.print(Text(line, style="dim"))
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            ask()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._end, until, tasks.cancel_scope)
                while True:
                    changed = self._changed
                    self._draw(live)
                    await changed.wait()
        for each in unsubscribe:
            each()
        self._finish(anyio.current_time() - started)

    async def _end(self, until: anyio.Event, scope: anyio.CancelScope) -> None:
        await until.wait()
        scope.cancel()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def _draw(self, live: Live) -> None:
        open_ones: list[RenderableType] = []
        for stage in self._stages:
            messages = stage.messages()
            self._print(stage, messages[:-1])
            open_ones += [self._bubble(stage, message, live=True) for message in messages[-1:]]
        live.update(Group(*open_ones), refresh=True)

    def _print(self, stage: Stage, messages: Sequence[Shown]) -> None:
        """Print those that are new. What was printed stays, also where its reader deletes it."""
        for message in messages:
            if (stage.name, message.id) not in self._printed:
                self._console.print(self._bubble(stage, message))
                self._printed.add((stage.name, message.id))

    def _bubble(self, stage: Stage, message: Shown, *, live: bool = False) -> RenderableType:
        """A message; where it is, if that is in question."""
        bot = message.author == "bot"
        name, place = "dragoman" if bot else "ada", f" on {stage.name}" if len(self._stages) > 1 else ""
        note = " is writing" if bot and live else ""
        body = _body(stage, message) if bot else Text(message.text)
        return Panel(
            body,
            title=f"[b]{name}[/b]{place}{note}",
            title_align="left",
            border_style="cyan" if bot else "green",
            padding=(0, 1),
        )

    def _finish(self, seconds: float) -> None:
        for stage in self._stages:
            self._print(stage, stage.messages())
        for stage in self._stages:
            self._console.print(Text(f"{summary(stage)}, {seconds:.1f} s", style="dim"))
        if self._save_svg is not None:
            _write(self._save_svg, _FONTS.sub("", self._console.export_svg(title="dragoman play")))


def summary(stage: Stage) -> str:
    """What it took to show the answer, and what went wrong on the way."""
    answers = sum(message.author == "bot" for message in stage.messages())
    calls = stage.calls()
    kinds = Counter(filter(None, map(_failure, calls)))
    refused = kinds.pop("refused by a rate limit", 0)
    messages = "1 message" if answers == 1 else f"{answers} messages"
    others = "".join(f", {count} {kind}" for kind, count in sorted(kinds.items()))
    return f"{messages}, {len(calls)} calls to {stage.name.title()}, {refused} refused by a rate limit{others}"


def _failure(call: JsonObject) -> str | None:
    """What went wrong with a call, if anything did; Slack answers 200 also where it says no."""
    match call["status"]:
        case 429:
            return "refused by a rate limit"
        case 0:
            return "without an answer"
        case int(status) if status >= ERROR or call["error"] is not None:
            return "answered with an error"
        case _:
            return None


def width() -> int:
    """The columns to write in."""
    return max(NARROWEST, min(WIDEST, Console().width or UNKNOWN))


def refuse_unwritable(picture: Path) -> None:
    """Make sure that a picture can be saved there; what is there stays as it is.

    Raises:
        UsageError: it cannot.
    """
    new = not picture.exists()
    try:
        with picture.open("ab") as file:
            if not picture.is_file():
                file.write(b"\n")  # a device says only then that it takes nothing
        if new:
            picture.unlink()
    except OSError as error:
        raise UsageError(_complaint(picture, error)) from error


def _write(picture: Path, content: str) -> None:
    try:
        picture.write_text(content, encoding="utf-8")
    except OSError as error:
        raise DragomanError(_complaint(picture, error)) from error


def _complaint(picture: Path, error: OSError) -> str:
    return f"--save-svg {picture}: cannot be written: {error.strerror}"


def _body(stage: Stage, message: Shown) -> RenderableType:
    """What the bot said; Markdown where it is not entities that mark it up."""
    text = seen(stage, message)
    return markdown(text) if message.entities is None else marked(text, message.entities)


def markdown(text: str, *, addresses: bool = False) -> Markdown:
    """The text rendered, HTML in it shown as it stands: Rich would leave it out, and a chat does not.

    With ``addresses`` a link shows where it leads, in the place of being one.
    """
    rendered = Markdown(text, hyperlinks=not addresses)
    rendered.parsed = _PARSER.parse(text)
    return rendered
