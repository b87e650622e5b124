"""What ``dragoman chat`` shows: in a terminal, or as plain text.

Rule 1: whatever a model or a tool says is shown without control characters, so that it steers no terminal.
Rule 2: on a terminal a finished chunk is printed for good, as Markdown; only the open rest is drawn again and again.
Rule 3: elsewhere standard output gets the model's words as they come and nothing else; whatever else there is to say
        goes to standard error.
Rule 4: who is asked to allow something sees all of it; what cannot be seen is written as an escape.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Protocol

import anyio
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import SegmentLines
from rich.text import Text

from chunker import Chunk, Chunker
from gateway.activity import Activity
from gateway.cli import output
from gateway.cli.screen import markdown, width
from gateway.event import Error, Event, JsonObject, MessageDiscarded, MessageEnd, TextDelta
from gateway.stream import EventStream

LONGEST, EARLY = 4000, 400
"""How many characters are drawn again and again at most, and from how many on a block that has ended is printed."""

REDRAW = 0.08
"""Seconds between two drawings of the open rest."""

ROOM = 400
"""Bytes of the line about the tools."""

AGAIN = "(That broke off. The answer begins anew:)"
WAITING = "…"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_BLOCKS = frozenset({"block", "end"})
"""The reasons for a cut between two paragraphs, and not inside one."""


def visible(text: str) -> str:
    """The text without what would steer a terminal: rule 1."""
    return _CONTROL.sub("", text)


def written(given: JsonObject) -> str:
    """All of a call's input: rule 4."""
    lines = json.dumps(given, indent=2, ensure_ascii=False)
    return "".join(char if char.isprintable() or char == "\n" else _escape(char) for char in lines)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


class View(Protocol):
    """Where a conversation is shown."""

    @property
    def overwritable(self) -> bool:
        """What is shown of an answer that breaks off can be told from the one that follows."""
        ...

    def begin(self, question: str | None) -> None:
        """An answer follows; to a question that nobody has typed here, if there is one."""
        ...

    async def follow(self, stream: EventStream) -> None:
        """Show what comes until the stream ends."""
        ...

    def end(self, sentence: str) -> None:
        """The answer is over; the sentence says how, if it is not complete."""
        ...

    def tell(self, words: str) -> None:
        """Say something of our own."""
        ...

    def prompt(self, words: str) -> None:
        """Ask for a line, and stay in it."""
        ...

    def handler(self) -> logging.Handler:
        """Where the log goes meanwhile."""
        ...


def open_view() -> View:
    """The view of standard output."""
    return Terminal() if sys.stdout.isatty() else Plain()


class Plain:
    """Standard output that is no terminal, or standard error: rule 3."""

    overwritable = False

    def __init__(self) -> None:
        self._activity = Activity()
        self._last = ""

    def begin(self, question: str | None) -> None:
        """See ``View``."""
        self._activity, self._last = Activity(), ""

    async def follow(self, stream: EventStream) -> None:
        """See ``View``."""
        new = True
        async for envelope in stream:
            event = envelope.event
            self._activity.feed(event)
            match event:
                case TextDelta(text=text) if shown := visible(text):
                    self._write("\n" + shown if new and self._last else shown)
                    new = False
                case MessageEnd() | Error():
                    self._close()
                    new = True
                case _:
                    pass
        self._close()

    def end(self, sentence: str) -> None:
        """See ``View``."""
        self._activity.end()
        for words in (_line(self._activity), sentence):
            if words:
                self.tell(words)

    def tell(self, words: str) -> None:
        """See ``View``."""
        output.tell(visible(words))

    def prompt(self, words: str) -> None:
        """See ``View``."""
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is, where it was closed
            sys.stderr.write(words)
            sys.stderr.flush()

    def handler(self) -> logging.Handler:
        """See ``View``."""
        return logging.StreamHandler()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._last = text[-1:]

    def _close(self) -> None:
        if self._last not in {"", "\n"}:
            self._write("\n")


class Terminal:
    """A terminal: rule 2."""

    overwritable = True

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False, width=width())
        self._live: Live | None = None
        self._stale = False
        self._restart()

    def begin(self, question: str | None) -> None:
        """See ``View``."""
        self._restart()
        if question is not None:
            self._console.print(Text(f"> {visible(question)}", style="bold"))

    async def follow(self, stream: EventStream) -> None:
        """See ``View``."""
        live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
        with live:
            self._live, self._stale = live, True
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._draw, live)
                    async for envelope in stream:
                        self._take(envelope.event)
                    tasks.cancel_scope.cancel()
                self._flush()
            finally:
                self._live = None
                live.update(Text(""))

    def end(self, sentence: str) -> None:
        """See ``View``."""
        self._activity.end()
        for words in (_line(self._activity), sentence):
            if words:
                self.tell(words)
        self._console.print()

    def tell(self, words: str) -> None:
        """See ``View``."""
        self._console.print(Text(visible(words), style="dim"), soft_wrap=True)

    def prompt(self, words: str) -> None:
        """See ``View``."""
        self._console.print(Text(words, style="bold"), end="")

    def handler(self) -> logging.Handler:
        """See ``View``."""
        return _Remarks(self)

    def _restart(self) -> None:
        self._activity = Activity()
        self._chunker = Chunker(LONGEST, early=EARLY)
        self._printed = self._apart = False

    def _take(self, event: Event) -> None:
        self._stale = True
        self._activity.feed(event)
        match event:
            case TextDelta(text=text):
                self._print(self._chunker.feed(visible(text)))
            case MessageEnd() | Error():
                self._flush()
            case MessageDiscarded():
                self._chunker = Chunker(LONGEST, early=EARLY)
                if self._printed:
                    self.tell(AGAIN)
                self._printed = False
            case _:
                pass

    def _flush(self) -> None:
        self._print(self._chunker.flush())
        self._printed = False

    def _print(self, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            if self._live is not None:
                self._live.update(self._open())  # what is printed now is not open any more
            if self._apart:
                self._console.print()
            self._console.print(markdown(chunk.text, addresses=True))
            self._printed, self._apart = True, chunk.reason in _BLOCKS

    async def _draw(self, live: Live) -> None:
        while True:
            if self._stale:
                self._stale = False
                live.update(self._open(), refresh=True)
            await anyio.sleep(REDRAW)

    def _open(self) -> RenderableType:
        return Group(*self._parts())

    def _parts(self) -> Iterator[RenderableType]:
        preview = self._chunker.preview()
        if preview and self._apart:
            yield Text("")
        if preview:
            yield _Tail(markdown(preview, addresses=True))
        yield Text(_line(self._activity) or WAITING, style="dim", no_wrap=True, overflow="ellipsis")


class _Tail:
    """The last lines of something, as many as a terminal has room for beside the line about the tools."""

    def __init__(self, body: RenderableType) -> None:
        self._body = body

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._body, options, pad=False)
        yield SegmentLines(lines[-max(1, console.height - 4) :], new_lines=True)


class _Remarks(logging.Handler):
    """Puts the log between the lines of a terminal, and not into what is being drawn."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """See ``logging.Handler``."""
        self._terminal.tell(self.format(record))


def _line(activity: Activity) -> str:
    """What the tools do, without the Markdown round it."""
    line = activity.text(ROOM, activity.calls)
    return visible(line.removeprefix("_").removesuffix("_").replace("`", ""))
