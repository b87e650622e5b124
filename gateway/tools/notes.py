"""The tool ``notes``: what the model wants to remember of a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from gateway import payload
from gateway.error import DragomanError
from gateway.event import JsonObject
from gateway.tool import Context, Memory, Tool, User
from gateway.tools.form import Form

MOST = 50
"""Notes of a conversation."""

LONGEST_NAME = 64
LONGEST = 2_000
"""Characters of a note."""

GLANCE = 80
"""Characters of a note that are shown where all are listed."""

PREFIX = "note:"
"""Stands before the names of notes in the memory, which other tools use as well."""


class NoteError(DragomanError):
    """The note cannot be kept, or there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be done with which note."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    action: Annotated[
        Literal["list", "read", "keep", "delete"],
        Field(description="keep puts a note in the place of the one of that name, if there is one."),
    ]
    name: Annotated[
        str,
        Field(description=f"Of the note, {LONGEST_NAME} characters at most. Not for list.", max_length=LONGEST_NAME),
    ] = ""
    text: Annotated[
        str, Field(description=f"What to keep, {LONGEST} characters at most. Only for keep.", max_length=LONGEST)
    ] = ""


FORM = Form(Wish)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """See ``gateway.tool.Tool``."""

    name: str = "notes"
    description: str = (
        f"Keeps up to {MOST} short notes of this conversation, under names, also for later runs. "
        "Everybody who takes part in the conversation can have them read out."
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
        wish = FORM.read(input)
        if wish.action != "list" and not _name(wish):
            return f"name: needed to {wish.action} a note"
        if wish.action == "keep" and not wish.text.strip():
            return "text: needed to keep a note"
        return None

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Everybody: notes are the conversation's."""
        del user, input
        return True

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """To look is, to keep and to delete are not."""
        return input.get("action") in {"list", "read"}

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        """Never: nothing leaves the conversation."""
        del user, input
        return False

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - the contract's name
        """What is in the notes, or what became of one.

        Raises:
            NoteError: there are too many, or none of that name.
            StoreError: the database refuses.
        """
        wish = FORM.read(input)
        texts = await context.memory.texts()
        notes = {name.removeprefix(PREFIX): text for name, text in sorted(texts.items()) if name.startswith(PREFIX)}
        match wish.action:
            case "list":
                return "\n".join(f"{name}: {_glance(text)}" for name, text in notes.items()) or "There are no notes."
            case "read":
                return _found(notes, _name(wish))
            case "keep":
                return await _keep(context.memory, notes, _name(wish), payload.words(wish.text))
            case "delete":
                _found(notes, _name(wish))
                await context.memory.keep(PREFIX + _name(wish), None)
                return f"The note {_name(wish)!r} is deleted."


def create() -> Sequence[Tool]:
    """The tool."""
    return (Notes(),)


async def _keep(memory: Memory, notes: dict[str, str], name: str, text: str) -> str:
    if name not in notes and len(notes) >= MOST:
        msg = f"There are {MOST} notes already, which is the most: delete one, or keep this under the name of another."
        raise NoteError(msg)
    await memory.keep(PREFIX + name, text)
    return f"The note {name!r} is kept" + (", in the place of the one before." if name in notes else ".")


def _found(notes: dict[str, str], name: str) -> str:
    if name not in notes:
        known = ", ".join(map(repr, notes)) or "none"
        msg = f"There is no note {name!r}. There are: {known}."
        raise NoteError(msg)
    return notes[name]


def _name(wish: Wish) -> str:
    """The name on one line, and without what no database takes."""
    return " ".join(payload.words(wish.name).split())


def _glance(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= GLANCE else f"{line[:GLANCE]}…"
