"""What was said in a conversation, and the requests that are made of it.

Rule 1: history is append-only; nothing that was said is rewritten.
Rule 2: every request built from it is legal, whatever it holds: it begins and ends with the user and alternates.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from gateway.provider import AssistantMessage, Message, Native, UserMessage

_NAME = re.compile(r"^<[^<>\n]+>", re.MULTILINE)

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


def messages(entries: Sequence[Entry], *, room: int) -> tuple[Message, ...]:
    """The messages of a legal request: alternating, beginning with the user's; each of theirs names its speaker.

    Args:
        entries: all that was said; they must end with something that was asked.
        room: how many characters may go with the request. What is older is left out; the last question never is.
    """
    said: list[Message] = []
    for entry in _newest(entries, room):
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


def _newest(entries: Sequence[Entry], room: int) -> Sequence[Entry]:
    start = len(entries)
    while start > 0 and (room := room - len(entries[start - 1].text)) >= 0:
        start -= 1
    return entries[min(start, len(entries) - 1) :]


def _spoken(asked: Asked) -> str:
    """What somebody said, behind their name; a line of theirs that looks like another's name is made to look quoted."""
    text = _NAME.sub(r"\\\g<0>", asked.text.strip())
    return f"<{asked.speaker}> {text or NOTHING_SAID}"
