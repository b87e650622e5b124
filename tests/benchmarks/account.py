"""Accounts on the platforms, as their rate limits go: what judges is the loopback servers' own.

A platform of which this is not known yet gets an entry in ``ACCOUNTS``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from adapters import discord, slack, telegram
from adapters.loopback.bucket import TokenBucket, take_all
from adapters.loopback.discord import answer as discord_answer
from adapters.loopback.discord import route
from adapters.loopback.discord.gate import Gate as DiscordGate
from adapters.loopback.discord.world import World as DiscordWorld
from adapters.loopback.slack.limit import LIMITS
from adapters.loopback.telegram import answer as telegram_answer
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.gate import Gate as TelegramGate
from adapters.loopback.telegram.limit import Limits
from adapters.loopback.telegram.world import World as TelegramWorld
from gateway.adapter import Capabilities
from gateway.operation import EditMessage, PostMessage, Quota, RateLimited

Shows = PostMessage | EditMessage


class Judge(Protocol):
    """What an account may do, as its platform sees it."""

    def ask(self, operation: Shows, now: float) -> Quota | RateLimited | None:
        """Let it in, with what the headers say, if anything; or refuse it."""
        ...


class SlackJudge:
    """See ``adapters.loopback.slack.gate.Gate``, which asks for tokens and scopes first."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], TokenBucket] = {}

    def ask(self, operation: Shows, now: float) -> RateLimited | None:
        wait = take_all(self._budgets(operation), now)
        return RateLimited(retry_after=wait) if wait > 0 else None

    def _budgets(self, operation: Shows) -> list[TokenBucket]:
        method = "chat.postMessage" if isinstance(operation, PostMessage) else "chat.update"
        limits = LIMITS[method]
        buckets = [self._buckets.setdefault((method, ""), TokenBucket(limits.workspace))]
        if limits.channel is not None:
            key = method, operation.address.channel
            buckets.append(self._buckets.setdefault(key, TokenBucket(limits.channel)))
        return buckets


class DiscordJudge:
    """The gate itself: windows, and the headers that tell of them."""

    def __init__(self) -> None:
        self._world = DiscordWorld()
        self._gate = DiscordGate(self._world)

    def ask(self, operation: Shows, now: float) -> Quota | RateLimited:
        name = route.POST_MESSAGE if isinstance(operation, PostMessage) else route.PATCH_MESSAGE
        call = route.Call(
            route=route.ROUTES[name],
            path={"channel": operation.address.channel},
            authorization=f"Bot {self._world.bot_token}",
        )
        try:
            self._gate.admit(call, now)
        except discord_answer.RefusedError as refusal:
            return RateLimited(retry_after=refusal.retry_after or 0.0, everything=refusal.scope == "global")
        told = self._gate.headers(call, now, now)
        return Quota(remaining=int(told["X-RateLimit-Remaining"]), seconds=float(told["X-RateLimit-Reset-After"]))


class TelegramJudge:
    """The gate itself, with the limits that the loopback server has by default."""

    def __init__(self) -> None:
        self._gate = TelegramGate(TelegramWorld(), Limits())

    def ask(self, operation: Shows, now: float) -> RateLimited | None:
        method = "sendMessage" if isinstance(operation, PostMessage) else "editMessageText"
        try:
            self._gate.admit(method, Arguments({"chat_id": operation.address.channel}), now)
        except telegram_answer.RefusedError as refusal:
            return RateLimited(retry_after=float(str(refusal.parameters["retry_after"])))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account of a platform.

    Attributes:
        platform: which.
        name: what it is called there, for the table.
        capabilities: of its adapter, as it is configured where nothing is.
        judge: of a new one.
        channel: the id of its chat of that number.
        told: operations a second of budgets that the platform tells in its answers, by their names. The adapter's own
            figures hold only until then.
    """

    platform: str
    name: str
    capabilities: Capabilities
    judge: Callable[[], Judge]
    channel: Callable[[int], str]
    told: Mapping[str, float] = field(default_factory=dict[str, float])


_TELEGRAM = telegram.create(telegram.Settings()).capabilities

ACCOUNTS: Mapping[str, Account] = {
    "slack": Account(
        platform="slack",
        name="workspaces",
        capabilities=slack.create(slack.Settings()).capabilities,
        judge=SlackJudge,
        channel=lambda number: f"D{number}",
    ),
    "discord": Account(
        platform="discord",
        name="guilds",
        capabilities=discord.create(discord.Settings()).capabilities,
        judge=DiscordJudge,
        channel=lambda number: str(600_000_000_000_000_000 + number),
        told={
            "message": route.SEND.limit / route.SEND.seconds,
            "edit": route.EDIT.limit / route.EDIT.seconds,
        },
    ),
    "telegram": Account(
        platform="telegram",
        name="bots in private chats",
        capabilities=_TELEGRAM,
        judge=TelegramJudge,
        channel=lambda number: str(100 + number),
    ),
    "telegram groups": Account(
        platform="telegram",
        name="bots in groups",
        capabilities=_TELEGRAM,
        judge=TelegramJudge,
        channel=lambda number: str(-100 - number),
    ),
}
"""By the word that a benchmark names them with."""
