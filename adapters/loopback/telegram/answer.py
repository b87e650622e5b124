"""How the Bot API says yes and no."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from adapters.loopback.telegram.rule import Rule


class RefusedError(Exception):
    """A call broke a rule.

    Attributes:
        rule: the rule; its ``error`` is what Telegram answers, with ``details`` in the places of its braces.
        parameters: what stands under ``parameters`` in the answer.
    """

    def __init__(self, rule: Rule, *details: object, parameters: Mapping[str, object] | None = None) -> None:
        super().__init__(rule.error.format(*details))
        self.rule = rule
        self.parameters = parameters or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back to the caller; status 0 stands for a connection that is cut instead."""

    body: Mapping[str, object]
    status: int = 200

    @property
    def error(self) -> str | None:
        """The description, if the answer is a no."""
        description = self.body.get("description")
        return description if isinstance(description, str) else None

    @property
    def retry_after(self) -> int | None:
        """Platform seconds to wait, if the answer says so."""
        parameters = self.body.get("parameters")
        wait = cast("Mapping[str, object]", parameters).get("retry_after") if isinstance(parameters, dict) else None
        return wait if isinstance(wait, int) else None


def good(result: object) -> Answer:
    """Say yes."""
    return Answer(body={"ok": True, "result": result})


def refused(refusal: RefusedError) -> Answer:
    """Say no."""
    return bad(refusal.rule.code, str(refusal), refusal.parameters)


def bad(status: int, description: str, parameters: Mapping[str, object] | None = None) -> Answer:
    """Say no in any words."""
    body: dict[str, object] = {"ok": False, "error_code": status, "description": description}
    return Answer(body=body | ({"parameters": dict(parameters)} if parameters else {}), status=status)


CUT = Answer(body={}, status=0)
"""No answer at all."""
