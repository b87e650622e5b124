"""The tools of a script: for ``dragoman play``, and for tests. See ``gateway.script``."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from gateway.error import DragomanError
from gateway.event import JsonObject
from gateway.script import Script, ScriptedTool
from gateway.tool import Context, Tool, User


class ScriptedError(DragomanError):
    """A tool failed, as the script says."""


def tools(script: Script) -> Sequence[Tool]:
    """The tools of a script. This module has no ``create``, for nobody can enable it by its name alone."""
    return tuple(_Scripted(play=tool) for tool in script.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scripted:
    """See ``gateway.tool.Tool``. Takes any object."""

    play: ScriptedTool
    time_limit: float | None = None

    @property
    def name(self) -> str:
        return self.play.name

    @property
    def description(self) -> str:
        return f"A tool of a script: {self.play.name}."

    @property
    def input_schema(self) -> JsonObject:
        return {"type": "object"}

    @property
    def cascades(self) -> bool:
        return self.play.cascades

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the contract's name
        del input

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        del user, input
        return True

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        del input
        return self.play.safe

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - the contract's name
        del user, input
        return self.play.approval

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - the contract's name
        del input, context
        await anyio.sleep(self.play.seconds)
        if self.play.fails is False:
            return self.play.result
        words = self.play.fails if isinstance(self.play.fails, str) else self.play.result
        raise ScriptedError(words or f"{self.name} failed, says the script.")
