"""How Discord says yes and no."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adapters.loopback.discord.rule import Rule
from adapters.loopback.discord.rulebook import RULES
from adapters.loopback.fault import Failure

Scope = Literal["user", "global", "shared", "cloudflare"]
"""Whom a 429 is for; the last one is no answer of Discord's."""

_SCOPES: Mapping[str, Scope] = {"global": "global", "shared": "shared", "cloudflare": "cloudflare"}

Body = Mapping[str, object] | list[object] | None

BAN_PAGE = "<!doctype html><title>Access denied | discord.com used Cloudflare to restrict access</title>"


class RefusedError(Exception):
    """A call broke a rule.

    Attributes:
        rule: the rule; its status, code and message are what Discord answers.
        errors: where in the body the fault is, nested as Discord nests it.
        retry_after: platform seconds to wait, where the rule is a rate limit.
        scope: whom the rate limit is for.
    """

    def __init__(
        self,
        rule: Rule,
        *,
        errors: Mapping[str, object] | None = None,
        retry_after: float | None = None,
        scope: Scope = "user",
    ) -> None:
        super().__init__(rule.name)
        self.rule = rule
        self.errors = errors
        self.retry_after = retry_after
        self.scope: Scope = scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to the caller; status 0 stands for a connection that is cut instead.

    Attributes:
        status: HTTP status.
        body: JSON; none where there is nothing to say.
        headers: besides the content's own.
        retry_after: platform seconds the caller was told to wait.
        scope: whom that is for.
    """

    status: int = 200
    body: Body = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    retry_after: float | None = None
    scope: Scope = "user"

    @property
    def error(self) -> str | None:
        """The code in the body, or the status where there is none, if the answer is a no."""
        if 0 < self.status < 400:
            return None
        code = self.body.get("code") if isinstance(self.body, Mapping) else None
        return str(code or self.status)

    @property
    def is_invalid(self) -> bool:
        """Whether it counts among the bot's invalid requests."""
        return self.status in {401, 403} or (self.status == 429 and self.scope != "shared")


def invalid_form(rule: Rule, *path: str, code: str = "BASE_TYPE_MAX_LENGTH") -> RefusedError:
    """A refusal that says where in the body the rule is broken."""
    errors: dict[str, object] = {"_errors": [{"code": code, "message": rule.message}]}
    for name in reversed(path):
        errors = {name: errors}
    return RefusedError(rule, errors=errors)


def refused(refusal: RefusedError) -> Answer:
    """Say no."""
    rule = refusal.rule
    if refusal.retry_after is not None:
        return rate_limited(refusal.retry_after, refusal.scope, code=rule.code, message=rule.message)
    body: dict[str, object] = {"message": rule.message, "code": rule.code}
    if refusal.errors is not None:
        body |= {"message": "Invalid Form Body", "errors": refusal.errors}
    return Answer(status=rule.status, body=body)


def milliseconds_up(seconds: float) -> float:
    """Seconds to three decimals, never less than they are: who waits so long has waited long enough."""
    return math.ceil(seconds * 1000 - 1e-6) / 1000


def rate_limited(retry_after: float, scope: Scope, *, code: int = 0, message: str = "") -> Answer:
    """Say not now. Cloudflare says so in HTML, without ``Via`` and without a number in a body."""
    headers = {"Retry-After": str(max(1, math.ceil(retry_after - 1e-6)))}
    if scope == "cloudflare":
        return Answer(status=429, headers=headers, retry_after=retry_after, scope=scope)
    headers |= {"X-RateLimit-Scope": scope}
    if scope == "global":
        headers |= {"X-RateLimit-Global": "true"}
    body: dict[str, object] = {
        "message": message or "You are being rate limited.",
        "retry_after": milliseconds_up(retry_after),
        "global": scope == "global",
    }
    body |= {"code": code} if code else {}
    return Answer(status=429, body=body, headers=headers, retry_after=retry_after, scope=scope)


def failed(failure: Failure) -> Answer:
    """Say no as it was planned: the error is a code, whose text follows, or the scope of a 429."""
    code = int(failure.error) if failure.error.isdecimal() else 0
    if failure.retry_after is not None:
        return rate_limited(failure.retry_after, _SCOPES.get(failure.error, "user"), code=code)
    otherwise = f"{failure.status}: Internal Server Error"
    message = next((rule.message for rule in RULES if code and rule.code == code), otherwise)
    return Answer(status=failure.status, body={"message": message, "code": code})
