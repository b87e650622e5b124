"""Who may call which method, and how often. Pure: the caller brings the time.

Rule 1: whoever was told to wait is told so until the wait is over, whatever the budget says by then.
Rule 2: sends and edits wait together by chat, every other method by itself.
"""

import math
import re

from adapters.loopback.bucket import Budget, TokenBucket, take_all
from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.limit import SCOPED, WRITES, Limits
from adapters.loopback.telegram.rule import Rule
from adapters.loopback.telegram.world import World

_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
_TOLERANCE = 1e-6


class Gate:
    """Lets a call in or refuses it."""

    def __init__(self, world: World, limits: Limits) -> None:
        self._token = world.bot.token
        self._limits = limits
        self._buckets: dict[tuple[str, str], TokenBucket] = {}
        self._until: dict[tuple[str, str], float] = {}

    def authenticate(self, token: str) -> None:
        """Let in who has the bot's token.

        Raises:
            RefusedError: it is somebody else's, or none.
        """
        if token != self._token:
            raise RefusedError(outbound.WRONG_TOKEN if _TOKEN.fullmatch(token) else outbound.MALFORMED_TOKEN)

    def revoke(self) -> None:
        """Take no token any more."""
        self._token = ""

    def admit(self, method: str, arguments: Arguments, now: float) -> None:
        """Let the call in and take its tokens.

        Raises:
            RefusedError: it has to wait; nothing is taken.
        """
        held = self._until.get(_key(method, arguments), 0.0) - now
        if held > _TOLERANCE:
            raise waiting(math.ceil(held - _TOLERANCE), outbound.FLOOD_HOLDS)
        wait = take_all(self._buckets_of(method, arguments), now)
        if wait > 0:
            seconds = max(1, math.ceil(wait - _TOLERANCE))
            self.hold(method, arguments, now + seconds)
            raise waiting(seconds, outbound.FLOOD)

    def hold(self, method: str, arguments: Arguments, until: float) -> None:
        """Let nothing of this kind in before ``until``."""
        key = _key(method, arguments)
        self._until[key] = max(until, self._until.get(key, 0.0))

    def release(self) -> None:
        """Let nobody wait longer for having been told to."""
        self._until.clear()

    def _buckets_of(self, method: str, arguments: Arguments) -> list[TokenBucket]:
        chat = arguments.text("chat_id")
        limits = self._limits
        match method:
            case "getUpdates":
                return []
            case _ if method in WRITES:
                budget = limits.group if chat.startswith("-") else limits.private
                return [self._bucket("write", chat, budget), self._bucket("write", "", limits.overall)]
            case "sendChatAction":
                return [self._bucket(method, chat, limits.action)]
            case "deleteMessage":
                return [self._bucket(method, chat, limits.deletion)]
            case "setWebhook" | "deleteWebhook":
                return [self._bucket("webhook", "", limits.webhook)]
            case _:
                return [self._bucket(method, "", limits.other)]

    def _bucket(self, kind: str, chat: str, budget: Budget) -> TokenBucket:
        return self._buckets.setdefault((kind, chat), TokenBucket(budget))


def _key(method: str, arguments: Arguments) -> tuple[str, str]:
    return "write" if method in WRITES else method, arguments.text(SCOPED.get(method, ""))


def waiting(seconds: int, rule: Rule) -> RefusedError:
    """The refusal of a call that has to wait."""
    return RefusedError(rule, seconds, parameters={"retry_after": seconds})
