"""What was said in a thread since the bot last spoke there, so that it goes with a question. Pure.

Rule 1: it begins behind our last answer, or behind the last ``new``; our notices and the commands that were given count
        for nothing, and are not part of it.
Rule 2: where our only word is the thread's root, the thread is about that, and it goes along.
Rule 3: the newest goes first into the room that there is; what does not fit as a whole is cut, and says so.
"""

from collections.abc import Sequence
from typing import get_args

from gateway.history import Quoted
from gateway.inbound import Command
from gateway.operation import Said

MESSAGES = 30
CHARACTERS = 8_000
"""How much goes with a question."""

CUT = " […]"

_COMMANDS = frozenset(get_args(Command))


def quoted(said: Sequence[Said], *, root: str, known: frozenset[str] = frozenset()) -> tuple[Quoted, ...]:
    """What goes with the question.

    Args:
        said: the thread's messages in front of the question, oldest first.
        root: the id of the first of the thread.
        known: the ids of those that the history holds already.
    """
    begin = max((at for at, each in enumerate(said, 1) if _ends_what_was(each, root)), default=0)
    kept: list[Quoted] = []
    room = CHARACTERS
    for each in reversed(said[begin:]):
        if each.message_id in known or not each.text.strip() or _is_notice(each) or _command(each):
            continue
        if room <= len(CUT) or len(kept) == MESSAGES:
            break
        text = each.text if len(each.text) <= room else each.text[: room - len(CUT)] + CUT
        room -= len(text)
        kept.append(Quoted(speaker=each.user, text=text))
    return tuple(reversed(kept))


def _ends_what_was(said: Said, root: str) -> bool:
    answers = said.ours and said.message_id != root and not _is_notice(said)
    return answers or _command(said) == "new"


def _is_notice(said: Said) -> bool:
    """Whether it is one of our own sentences, which stand in parentheses."""
    text = said.text.strip()
    return said.ours and text.startswith("(") and text.endswith(")")


def _command(said: Said) -> str:
    """The command that it is; empty where it is none."""
    word = said.text.strip().strip("!.").lower()
    return word if not said.ours and word in _COMMANDS else ""
