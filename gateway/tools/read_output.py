"""The tool ``read_output``: the whole of a result that was too long to be given to the model at once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import anyio.to_thread
from pydantic import ConfigDict, Field

from gateway.error import DragomanError
from gateway.event import JsonObject
from gateway.tool import Context, Tool, User
from gateway.tools.form import Form

MOST = 20_000
"""Characters that are given at once."""

NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
"""A file right in the conversation's folder, and nothing that leads out of it."""


class OutputError(DragomanError):
    """There is no such file in this conversation, or nothing at that place of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which part of which file."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    file: Annotated[str, Field(description="The name of the file, as the result that was cut says it.")]
    start: Annotated[int, Field(description="How many characters to leave out in front.", ge=0)] = 0
    length: Annotated[int, Field(description=f"How many characters, {MOST} at most.", ge=1, le=MOST)] = MOST


FORM = Form(Part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOutput:
    """See ``gateway.tool.Tool``."""

    name: str = "read_output"
    description: str = (
        "Reads a part of a tool's result that was too long to be shown whole, from the file that was named there."
    )
    cascades: bool = False
    time_limit: float | None = None

    @property
    def input_schema(self) -> JsonObject:
        """See ``gateway.tool.Tool``."""
        return FORM.schema

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the contract's name
        """See ``gateway.tool.Tool``."""
        if (wrong := FORM.problem(input)) is not None:
            return wrong
        return None if NAME.fullmatch(FORM.read(input).file) else "file: not the name of a file that was given here"

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Everybody: the files are of this conversation."""
        del user, input
        return True

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Always: it only reads."""
        del input
        return True

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Never: the model was to see it."""
        del user, input
        return False

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - the contract's name
        """The part, and where it stands in the whole.

        Raises:
            OutputError: there is no such part.
        """
        part = FORM.read(input)
        text = await anyio.to_thread.run_sync(_read, context.folder / part.file)
        if part.start >= len(text):
            msg = f"{part.file} has {len(text)} characters; there is nothing behind {part.start}."
            raise OutputError(msg)
        end = min(len(text), part.start + part.length)
        return f"[{part.file}, characters {part.start} to {end} of {len(text)}]\n{text[part.start : end]}"


def create() -> Sequence[Tool]:
    """The tool."""
    return (ReadOutput(),)


def _read(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        msg = f"There is no file {path.name} in this conversation."
        raise OutputError(msg)
    return path.read_text(encoding="utf-8")
