"""Who may call what, how often, and what the headers say of it."""

import hashlib
from collections.abc import Mapping

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import Answer, RefusedError, milliseconds_up
from adapters.loopback.discord.route import Call, Door
from adapters.loopback.discord.window import Allowance, Tally, Window
from adapters.loopback.discord.world import World

GLOBAL = Allowance(name="global", limit=rule.GLOBAL_RATE.limit, seconds=1.0)

BAN_WINDOW = 600.0
"""Platform seconds in which invalid requests are counted together."""


class Gate:
    """Lets a call in or refuses it.

    Args:
        world: whose token opens.
        most_invalid: answers of 401, 403 and 429 before Cloudflare answers instead.
    """

    def __init__(self, world: World, most_invalid: int = rule.INVALID_REQUESTS.limit) -> None:
        self.invalid_requests = 0
        self.token_is_reset = False
        self._world = world
        self._most_invalid = most_invalid
        self._windows: dict[tuple[str, ...], Window] = {}
        self._global = Window(GLOBAL)
        self._invalid = Tally(BAN_WINDOW)

    def is_token(self, token: object) -> bool:
        """Whether this is the bot's token, and good."""
        return token == self._world.bot_token and not self.token_is_reset

    def admit(self, call: Call, now: float) -> None:
        """Let the call in and count it.

        Raises:
            RefusedError: it may not come in; nothing is counted.
        """
        if self._invalid.count(now) >= self._most_invalid:
            raise RefusedError(rule.INVALID_REQUESTS, retry_after=BAN_WINDOW, scope="cloudflare")
        window, ours = self._window(call), call.route.door is Door.BOT
        if ours and not self.is_token(call.authorization.removeprefix("Bot ")):
            raise RefusedError(rule.UNAUTHORIZED)
        if ours and (wait := self._global.wait(now)):
            raise RefusedError(rule.GLOBAL_RATE, retry_after=wait, scope="global")
        if wait := window.wait(now):
            raise RefusedError(rule.RATE_LIMITED, retry_after=wait)
        window.take(now)
        if ours:
            self._global.take(now)

    def answered(self, answer: Answer, now: float) -> None:
        """Count an answer that counts against the bot."""
        if answer.is_invalid:
            self.invalid_requests += 1
            self._invalid.add(now)

    def headers(self, call: Call, now: float, unix: float) -> Mapping[str, str]:
        """What the call's bucket says: how much is left, and until when."""
        window, allowance = self._window(call), call.route.allowance
        after = milliseconds_up(window.resets_after(now))
        return {
            "X-RateLimit-Limit": str(allowance.limit),
            "X-RateLimit-Remaining": str(window.remaining(now)),
            "X-RateLimit-Reset": f"{unix + after:.3f}",
            "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(allowance.name.encode()).hexdigest()[:32],
        }

    def _window(self, call: Call) -> Window:
        key = (call.route.allowance.name, *(call.path.get(name, "") for name in call.route.major))
        return self._windows.setdefault(key, Window(call.route.allowance))
