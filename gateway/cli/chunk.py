"""``dragoman chunk``: how the chunker cuts a text."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from chunker import Chunk, Chunker, Unit
from chunker.length import MEASURES
from gateway.cli.screen import width
from gateway.error import UsageError

REASONS = {
    "end": "the text ends here",
    "block": "the end of a paragraph, list item, table or code block",
    "line": "the end of a line: no block ended in time",
    "sentence": "the end of a sentence: no line ended in time",
    "space": "white space: no sentence ended in time",
    "cluster": "inside a word: no white space was in reach",
    "code": "inside a line of code that is longer than a chunk",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to cut, and how to show it."""

    limit: int
    unit: Unit
    markup: bool
    deltas: int
    explain: bool
    json: bool


def main(file: Path | None, options: Options) -> int:
    """Cut a file, or standard input, and print the chunks."""
    if options.json and options.explain:
        msg = "--explain does not go with --json: each chunk's reason stands there already"
        raise UsageError(msg)
    text = _read(file)
    try:
        chunks = list(_cut(text, options))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if options.json:
        rows = [_row(index, chunk, options.unit) for index, chunk in enumerate(chunks)]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    else:
        _show(chunks, options)
    return 0


def _cut(text: str, options: Options) -> Iterator[Chunk]:
    chunker = Chunker(options.limit, unit=options.unit, markup=options.markup)
    step = options.deltas or max(1, len(text))
    for start in range(0, len(text), step):
        yield from chunker.feed(text[start : start + step])
    yield from chunker.flush()


def _row(index: int, chunk: Chunk, unit: Unit) -> dict[str, object]:
    return {
        "index": index,
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "length": MEASURES[unit](chunk.text),
        "reason": chunk.reason,
    }


def _show(chunks: list[Chunk], options: Options) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True, width=width())
    for index, chunk in enumerate(chunks):
        length = MEASURES[options.unit](chunk.text)
        title = f"{index}: {length} of {options.limit}, source {chunk.start} to {chunk.end}"
        console.print(Rule(Text(title, style="bold"), align="left"))
        console.print(Text(chunk.text))
        if options.explain:
            console.print(Text(f"cut here: {REASONS[chunk.reason]}", style="dim cyan"))


def _read(file: Path | None) -> str:
    name = "standard input" if file is None or str(file) == "-" else str(file)
    try:
        return _bytes(file).decode("utf-8-sig")
    except OSError as error:
        msg = f"{name}: cannot be read: {error.strerror}"
        raise UsageError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{name}: is not UTF-8 (at byte {error.start}); convert it first"
        raise UsageError(msg) from error


def _bytes(file: Path | None) -> bytes:
    if file is not None and str(file) != "-":
        return file.read_bytes()
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it is, where it was closed
        msg = "standard input: is closed; name a file, or pipe a text in"
        raise UsageError(msg)
    return sys.stdin.buffer.read()
