"""What was said in a conversation, and the requests that are made of it.

Rule 1: history is append-only; nothing that was said is rewritten.
Rule 2: every request built from it is legal, whatever it holds: it begins and ends with the user and alternates.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gateway.provider import AssistantMessage, Message, Native, UserMessage

NOTHING_SAID = "(They addressed you without saying anything.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A person said something to the bot."""

    type: Literal["asked"] = "asked"
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The model said something. ``native`` is none where it was cut off before its end."""

    type: Literal["answered"] = "answered"
    text: str
    native: Native | None = None


Entry = Asked | Answered


@cache
def _adapter() -> TypeAdapter[Entry]:
    return TypeAdapter(Annotated[Entry, Field(discriminator="type")])


def to_json(entry: Entry) -> str:
    """One line of JSON. Half a surrogate pair, which no UTF-8 can hold, becomes the replacement character."""
    line = json.dumps(_adapter().dump_python(entry), ensure_ascii=False)
    return line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def from_json(line: str | bytes) -> Entry:
    """The entry that ``to_json`` wrote.

    Raises:
        ValueError: where the line is something else.
    """
    return _adapter().validate_json(line)


def messages(entries: Iterable[Entry]) -> tuple[Message, ...]:
    """The messages of a legal request: alternating, beginning with the user's; each of theirs names its speaker.

    The entries must end with something that was asked.
    """
    said: list[Message] = []
    for entry in entries:
        match entry, said[-1:]:
            case Asked(), [UserMessage(text=before)]:
                said[-1] = UserMessage(text=f"{before}\n\n{_spoken(entry)}")
            case Asked(), _:
                said.append(UserMessage(text=_spoken(entry)))
            case Answered(), [UserMessage()] if entry.text.strip():
                said.append(AssistantMessage(text=entry.text, native=entry.native))
            case Answered(), [AssistantMessage(text=before)] if entry.text.strip():
                said[-1] = AssistantMessage(text=f"{before}\n\n{entry.text}")
            case Answered(), _:
                pass  # an empty answer, or one that nobody asked for, cannot be part of a request
    return tuple(said)


def _spoken(asked: Asked) -> str:
    return f"<{asked.speaker}> {asked.text.strip() or NOTHING_SAID}"
