"""How Slack says yes and no."""

from dataclasses import dataclass

from adapters.loopback.slack.rule import Rule


class RefusedError(Exception):
    """A call broke a rule.

    Attributes:
        rule: the rule; its ``error`` is what Slack answers.
        retry_after: platform seconds to wait, where the rule is a rate limit.
        details: what else stands in the answer.
    """

    def __init__(self, rule: Rule, *, retry_after: int | None = None, details: dict[str, object] | None = None) -> None:
        super().__init__(rule.error)
        self.rule = rule
        self.retry_after = retry_after
        self.details = details or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to the caller; status 0 stands for a connection that is cut instead."""

    body: dict[str, object]
    status: int = 200
    retry_after: int | None = None

    @property
    def error(self) -> str | None:
        """The error code, if the answer is a no."""
        error = self.body.get("error")
        return error if isinstance(error, str) else None


def good(body: dict[str, object]) -> Answer:
    """Say yes."""
    return Answer(body={"ok": True} | body)


def refused(refusal: RefusedError) -> Answer:
    """Say no; a no is 200 with Slack, but for a rate limit."""
    body: dict[str, object] = {"ok": False, "error": refusal.rule.error} | refusal.details
    status = 200 if refusal.retry_after is None else 429
    return Answer(body=body, status=status, retry_after=refusal.retry_after)
