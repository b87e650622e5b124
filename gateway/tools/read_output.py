"""The tool ``read_output``: the whole of a result that was too long to be given to the model at once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gateway.error import DragomanError
from gateway.function import tool
from gateway.tool import Context, Tool

MOST = 20_000
"""Characters that are given at once."""

NAME = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$"
"""A file right in the conversation's folder, and nothing that leads out of it."""

File = Annotated[str, Field(description="The name of the file, as the result that was cut says it.", pattern=NAME)]
Start = Annotated[int, Field(description="How many characters to leave out in front.", ge=0)]
Length = Annotated[int, Field(description=f"How many characters, {MOST} at most.", ge=1, le=MOST)]


class OutputError(DragomanError):
    """There is no such file in this conversation, or nothing at that place of it."""


@tool(safe=True)
def read_output(context: Context, file: File, start: Start = 0, length: Length = MOST) -> str:
    """Reads a part of a tool's result that was too long to be shown whole, from the file that was named there."""
    text = _read(context.folder / file)
    if start >= len(text):
        msg = f"{file} has {len(text)} characters; there is nothing behind {start}."
        raise OutputError(msg)
    end = min(len(text), start + length)
    return f"[{file}, characters {start} to {end} of {len(text)}]\n{text[start:end]}"


def create() -> Sequence[Tool]:
    """The tool."""
    return (read_output,)


def _read(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        msg = f"There is no file {path.name} in this conversation."
        raise OutputError(msg)
    return path.read_text(encoding="utf-8")
