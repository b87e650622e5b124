"""Which words are a command, and what the bot says to it. Pure.

A command passes its conversation's queue; what it does to the run there is done when it is stored. Here is only what
was meant, and the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway import approval
from gateway.inbound import Command
from gateway.store import Approval, Grant

NOTICEABLE = 60.0
"""A wait for the platform of so many seconds is worth telling."""

TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a tool may be called."""

_ALONE: tuple[Command, ...] = ("new", "stop", "status", "help", "approvals")
_SPOKEN: dict[str, Command] = {f"{word}{end}": word for word in _ALONE for end in ("", ".", "!")}

_HELP = (
    "(Mention me, or write to me directly, and I answer. {how}: **{sign}stop** ends the answer I am giving, "
    "**{sign}new** begins a new conversation, **{sign}status** says what I am doing, **{sign}approve** and "
    "**{sign}deny** decide what I ask for, **{sign}approvals** lists that and what is allowed for good, "
    "**{sign}revoke** with a tool's name allows it no more, **{sign}help** says this.)"
)
_WORDS = "Alone in a message, these words are commands, with ! in front in a direct message"
HELP = _HELP.format(how=_WORDS, sign="")
SLASH_HELP = _HELP.format(how="These are commands", sign="/")
NEW = "(A new conversation begins here.)"
NOTHING_TO_STOP = "(There is nothing to stop: I am not writing an answer here.)"
NO_TOOL = "(Say which tool, by its name.)"
TOO_LATE = "(I am answering this as you first wrote it. Stop me, or write again, if that is not what you meant.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a conversation stands.

    ``running`` is for how many seconds an answer is being given, or none; ``open`` how many messages are unanswered;
    ``held`` for how many seconds the platform lets nothing through. ``asked`` is what waits for approval there, oldest
    first, and ``allowed`` what needs none any more.
    """

    model: str
    running: float | None
    open: int
    held: float
    asked: tuple[Approval, ...] = ()
    allowed: tuple[Grant, ...] = ()


def parse(words: str) -> tuple[Command, str] | None:
    """The command that a message is, and what stands behind it; none where it is an ordinary message.

    Args:
        words: all that the message says, without the mention or the sign that made it a command.
    """
    if not words.isascii():
        return None  # whatever looks like one of our words and is another
    match words.split():
        case [word]:
            return _alone(word.lower())
        case [verb, name] if verb.lower() == "revoke" and TOOL.fullmatch(name):
            return "revoke", name
        case [verb, *given]:
            return _decided(verb.lower(), [word.lower() for word in given])
        case _:
            return None


def _alone(word: str) -> tuple[Command, str] | None:
    return (_SPOKEN[word], "") if word in _SPOKEN else _decided(word, [])


def _decided(verb: str, given: list[str]) -> tuple[Command, str] | None:
    """A decision: the very words, and nothing beside them."""
    always = verb == "approve" and "always" in given
    named = [word for word in given if word != "always"]
    if len(named) + always != len(given) or len(named) > 1 or not all(map(approval.ID.fullmatch, named)):
        return None
    match verb:
        case "approve":
            return "approve", " ".join(given)
        case "deny":
            return "deny", " ".join(given)
        case _:
            return None


def text(
    command: Command, status: Status, *, behind: bool, slash: bool = False, argument: str = "", revoked: bool = False
) -> str:
    """The answer to a command; empty where what it did speaks for itself.

    Args:
        command: which.
        status: of the conversation that it was given in.
        behind: a message was open when it came, whose answer was not written yet.
        slash: commands begin with a slash here.
        argument: what stood behind the command.
        revoked: the tool that it names was allowed for good until now.
    """
    sign = "/" if slash else ""
    match command:
        case "help":
            return SLASH_HELP if slash else HELP
        case "new":
            return NEW
        case "stop":
            return "" if behind else NOTHING_TO_STOP
        case "approve" | "deny":
            return ""
        case "revoke":
            return _revoked(argument.strip(), revoked=revoked)
        case "status" | "approvals":
            said = _sentences(status, sign) if command == "status" else _permissions(status, sign)
            return f"({' '.join(said)})"


def _permissions(status: Status, sign: str) -> list[str]:
    asked = _asked(status.asked, sign) or ["Nothing waits for approval here."]
    allowed = ", ".join(f"`{grant.tool_name}`" for grant in status.allowed)
    if not allowed:
        return [*asked, "Nothing is allowed here for good."]
    return [*asked, f"Allowed here for good: {allowed}; `{sign}revoke` with a name allows it no more."]


def _asked(waiting: Sequence[Approval], sign: str) -> list[str]:
    return [f"`{each.tool_name}` waits for approval: {approval.words(each.id, sign)}." for each in waiting]


def _revoked(tool: str, *, revoked: bool) -> str:
    """What is said where nothing was revoked is true also after a crash that left the answer out."""
    if TOOL.fullmatch(tool) is None:
        return NO_TOOL
    return f"(`{tool}` is not allowed here for good{' any more' if revoked else ''}.)"


def _sentences(status: Status, sign: str) -> list[str]:
    begun = status.running is not None or bool(status.asked)
    waiting = status.open - begun
    said = _asked(status.asked, sign)
    if status.running is not None:
        said = [_working(status.running), *said]
    elif not said:
        said = ["I am not answering anything here."]
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
