"""The tools of a run, and the configuration's word on them. Pure.

Rule 1: a call that may not be is refused with a sentence for the model; nothing raises, whatever a tool says.
Rule 2: what a tool itself would let through, the configuration may still have asked for, or forbid; not the other way
        round but for ``never``, which the operator has to write.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.event import InputProblem, JsonObject, ToolErrorType
from gateway.provider import ToolSpec
from gateway.tool import Tool, User

Policy = Literal["never", "ask", "always"]
"""``never`` asks nobody. ``ask`` asks, unless the tool is allowed for the conversation. ``always`` asks each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What decides when a call may start.

    ``safe``: it may run beside others. ``asks``: a person has to allow it first; ``may_stand``: for good, if they like.
    ``cascades``: its failure cancels later ones of the kind.
    """

    safe: bool = False
    asks: bool = False
    may_stand: bool = True
    cascades: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a call will not be, and what the model is told of that."""

    error_type: ToolErrorType
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """What a run may use.

    Args:
        tools: by name.
        policy: whether a tool asks; of one that is not named, it says so itself.
        only: the roles whose members may use a tool; one that is not named is for everybody.
        time_limit: seconds that a call may take where its tool names no other.
    """

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    policy: Mapping[str, Policy] = field(default_factory=dict[str, Policy])
    only: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    time_limit: float = 60.0

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told of them, always in the same order: its cache depends on it."""
        return tuple(
            ToolSpec(name=name, description=tool.description, input_schema=tool.input_schema)
            for name, tool in sorted(self.tools.items())
        )

    def judge(
        self, name: str, given: JsonObject | None, problem: InputProblem | None, user: User, grants: Collection[str]
    ) -> Traits | Refusal:
        """What holds for a call.

        Args:
            name: of the tool.
            given: its input; none where ``problem`` says why.
            problem: what is wrong with what the model wrote.
            user: who asked for the run.
            grants: the tools that are allowed in the conversation for good.
        """
        if (tool := self.tools.get(name)) is None:
            known = ", ".join(sorted(self.tools)) or "none"
            return Refusal(error_type="unknown_tool", content=f"There is no tool {name!r}. There are: {known}.")
        if given is None:
            words = "is no JSON object" if problem == "not_an_object" else "is not valid JSON"
            return Refusal(error_type="invalid_input", content=f"The input {words}; write it again, whole.")
        try:
            return self._judged(tool, given, user, grants)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - rule 1
            return Refusal(error_type="failed", content=f"{name} failed before it began: {error}")

    def _judged(self, tool: Tool, given: JsonObject, user: User, grants: Collection[str]) -> Traits | Refusal:
        if (wrong := tool.problem(given)) is not None:
            return Refusal(error_type="invalid_input", content=wrong)
        roles = self.only.get(tool.name)
        if (roles is not None and not roles & user.roles) or not tool.permits(user, given):
            return Refusal(error_type="not_permitted", content=f"Who asked you may not use {tool.name} for this.")
        return Traits(
            safe=tool.concurrency_safe(given),
            asks=self._asks(tool, given, user, grants),
            may_stand=self.policy.get(tool.name) != "always",
            cascades=tool.cascades,
        )

    def _asks(self, tool: Tool, given: JsonObject, user: User, grants: Collection[str]) -> bool:
        match self.policy.get(tool.name):
            case "never":
                return False
            case "always":
                return True
            case "ask":
                return tool.name not in grants
            case None:
                return tool.name not in grants and tool.needs_approval(user, given)
