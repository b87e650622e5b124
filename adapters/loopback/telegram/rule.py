"""Telegram's rules as data: what is enforced, with its number, its error and where it is written.

The rules themselves stand in ``outbound`` (what the bot calls) and ``inbound`` (what it is told). Nothing here was
checked against the live platform by us; ``Confidence`` says how far each rule can be trusted.
"""

from dataclasses import dataclass
from enum import Enum

API = "https://core.telegram.org/bots/api"
SERVER = "https://github.com/tdlib/telegram-bot-api/blob/master/telegram-bot-api"
CLIENT = f"{SERVER}/Client.cpp"
ENTITIES = "https://github.com/tdlib/td/blob/master/td/telegram/MessageEntity.cpp"
FAQ = "https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this"
LIVE = "live tests of an Effect client's sendMessage"

_CODES = {
    "Bad Request": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "Not Found": 404,
    "Conflict": 409,
    "Too Many Requests": 429,
}


class Confidence(Enum):
    """How a rule is known."""

    DOCUMENTED = "O"
    """Telegram's own documentation says so."""
    READ = "S"
    """Read in the source of the Bot API server, of the library under it, or of the SDK."""
    MEASURED = "M"
    """Measured by a third party on the live platform."""
    CLAIMED = "C"
    """Community claim or custom; also the stricter of two guesses where nobody has measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the platform.

    Attributes:
        name: stable id, also the row in the README's table.
        says: the rule in one sentence.
        source: where it is written.
        confidence: how it is known.
        error: the description the Bot API answers with when the rule is broken, ``{}`` for what varies; empty where
            it isn't an error.
        limit: the rule's number; 0 where it has none.
    """

    name: str
    says: str
    source: str
    confidence: Confidence
    error: str = ""
    limit: int = 0

    @property
    def code(self) -> int:
        """The error_code, which is the HTTP status, too; 0 where the rule is no error."""
        return _CODES.get(self.error.partition(":")[0], 0)
