"""What the bot says to a command. Pure.

A command passes its conversation's queue; what it does to the run there is done when it is stored. Here is only the
answer.
"""

import re
from dataclasses import dataclass
from typing import cast

from gateway.approval import ID
from gateway.inbound import Command

_BARE = frozenset({"new", "stop", "status", "help", "approvals"})
_DECISIONS = frozenset({"approve", "deny"})
_ALWAYS = "always"
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")

NOTICEABLE = 60.0
"""A wait for the platform of so many seconds is worth telling."""

_HELP = (
    "(Mention me, or write to me directly, and I answer. {how}: **{sign}stop** ends the answer I am giving, "
    "**{sign}new** begins a new conversation, **{sign}status** says what I am doing, **{sign}help** says this.)"
)
_WORDS = "Alone in a message, these words are commands, with ! in front in a direct message"
HELP = _HELP.format(how=_WORDS, sign="")
SLASH_HELP = _HELP.format(how="These are commands", sign="/")
NEW = "(A new conversation begins here.)"
NOTHING_TO_STOP = "(There is nothing to stop: I am not writing an answer here.)"
TOO_LATE = "(I am answering this as you first wrote it. Stop me, or write again, if that is not what you meant.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a conversation stands.

    ``running`` is for how many seconds an answer is being given, or none; ``open`` how many messages are unanswered;
    ``held`` for how many seconds the platform lets nothing through.
    """

    model: str
    running: float | None
    open: int
    held: float


def parse(words: str) -> tuple[Command, str] | None:
    """The command that somebody typed, and its argument; none where the words are anything else, however they begin.

    Args:
        words: all that was typed, without what stands in front of a command.
    """
    verb, *rest = words.split() or [""]
    verb, given = verb.lower(), [word.lower() for word in rest]
    if verb in _BARE:
        return None if rest else (cast("Command", verb), "")
    if verb == "revoke":
        return ("revoke", rest[0]) if len(rest) == 1 and _TOOL.fullmatch(rest[0]) else None
    if verb not in _DECISIONS:
        return None
    named = [word for word in given if word != _ALWAYS]
    standing = len(given) - len(named)
    if len(named) > 1 or standing > (verb == "approve") or not all(map(ID.fullmatch, named)):
        return None
    return cast("Command", verb), " ".join(given)


def text(command: Command, status: Status, *, behind: bool, slash: bool = False) -> str:
    """The answer to a command; empty where what it did speaks for itself.

    Args:
        command: which.
        status: of the conversation that it was given in.
        behind: a message was open when it came, whose answer was not written yet.
        slash: commands begin with a slash here.
    """
    match command:
        case "help":
            return SLASH_HELP if slash else HELP
        case "new":
            return NEW
        case "stop":
            return "" if behind else NOTHING_TO_STOP
        case "status":
            return f"({' '.join(_sentences(status))})"


def _sentences(status: Status) -> list[str]:
    waiting = status.open - (status.running is not None)
    said = ["I am not answering anything here." if status.running is None else _working(status.running)]
    if waiting > 0:
        said.append(f"{waiting} {'message waits' if waiting == 1 else 'messages wait'} in line.")
    if status.held >= NOTICEABLE:
        said.append(f"The chat lets nothing more through for {duration(status.held)}.")
    return [*said, f"Model: {status.model}."]


def _working(seconds: float) -> str:
    return f"I have been working on an answer for {duration(seconds)}."


def duration(seconds: float) -> str:
    """A time in words: its largest unit, rounded down, and at least a second."""
    for size, name in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}" if count == 1 else f"{count} {name}s"
    return "1 second"
