"""Pairing: a stranger is given a code, the operator confirms it, and from then on the stranger is none. Pure.

Rule 1: a code is short to read out, and hard to misread: no letter looks like another or like a digit, and without
        vowels it spells nothing.
Rule 2: a stranger makes the bot speak once an hour at most, and a crowd of them no oftener than there are places:
        a code is said once, and ``PLACES`` are open at a time.
Rule 3: only a direct message leads to a code, and only direct messages are let in by one.
"""

from gateway.inbound import CommandReceived, MessageReceived, PressReceived
from gateway.store import Person

ALPHABET = "CDFGHJKMNPQRTVWXY34679"
LENGTH = 8

LIFETIME = 3600.0
"""Seconds for which a code is good."""

PLACES = 3
"""How many codes may be open in one account of a platform; who comes then is not answered."""

CODES = len(ALPHABET) ** LENGTH
"""How many codes there are."""

STRANGER = "(I do not know you yet. Give the operator this code: {}. It is good for an hour; then write to me again.)"


def code(number: int) -> str:
    """A code as it is stored; each number below ``CODES`` gives another one."""
    letters: list[str] = []
    for _ in range(LENGTH):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def shown(code: str) -> str:
    """A code as people read it: ``CDFG-HJKM``."""
    return f"{code[: LENGTH // 2]}-{code[LENGTH // 2 :]}"


def read(text: str) -> str | None:
    """The code that somebody typed, in capitals or not, with or without the dash; none where it is none."""
    code = "".join(text.replace("-", "").split()).upper()
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else None


def asker(message: MessageReceived | CommandReceived | PressReceived) -> Person | None:
    """Whom a message could be let in for; none where it cannot (rule 3)."""
    if not (message.direct and message.user):
        return None
    return Person(platform=message.address.platform, account=message.address.account, user=message.user)


def sentence(code: str) -> str:
    """What a stranger is told."""
    return STRANGER.format(shown(code))
