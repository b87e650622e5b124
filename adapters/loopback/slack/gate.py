"""Who may call which method, and how often."""

import math

from adapters.loopback.bucket import TokenBucket, take_all
from adapters.loopback.slack import limit, rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.workspace import Channel, Workspace

_APP_METHOD = "apps.connections.open"


class Gate:
    """Lets a call in or refuses it. Budgets count by method and workspace, or by method and channel."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._buckets: dict[tuple[str, str], TokenBucket] = {}

    def admit(self, method: str, token: str, arguments: Arguments, now: float) -> None:
        """Let the call in and take its tokens.

        Raises:
            RefusedError: it may not come in; nothing is taken.
        """
        if method not in limit.LIMITS:
            raise RefusedError(rule.UNKNOWN_METHOD)
        self._authenticate(method, token)
        self._authorize(method, self._workspace.channel(arguments.text("channel")))
        wait = take_all(self._buckets_of(method, arguments), now)
        if wait > 0:
            raise RefusedError(rule.RATE_LIMITED, retry_after=max(1, math.ceil(wait - 1e-6)))

    def _authenticate(self, method: str, token: str) -> None:
        tokens = (self._workspace.bot_token, self._workspace.app_token)
        right, other = reversed(tokens) if method == _APP_METHOD else tokens
        if not token:
            raise RefusedError(rule.NO_TOKEN)
        if token == other:
            raise RefusedError(rule.TOKEN_TYPE)
        if token != right:
            raise RefusedError(rule.INVALID_TOKEN)

    def _authorize(self, method: str, channel: Channel | None) -> None:
        by_type = limit.READ_SCOPES[channel.type] if channel and method in limit.READS else None
        needed, provided = by_type or limit.SCOPES.get(method), self._workspace.scopes
        if needed is not None and needed not in provided:
            details: dict[str, object] = {"needed": needed, "provided": ",".join(provided)}
            raise RefusedError(rule.MISSING_SCOPE, details=details)

    def _buckets_of(self, method: str, arguments: Arguments) -> list[TokenBucket]:
        limits = limit.LIMITS[method]
        buckets = [self._buckets.setdefault((method, ""), TokenBucket(limits.workspace))]
        if limits.channel is not None:
            key = arguments.text("channel") or arguments.text("channel_id")
            channel = self._workspace.channel(key)
            key = channel.id if channel else key
            buckets.append(self._buckets.setdefault((method, key or "-"), TokenBucket(limits.channel)))
        return buckets
