"""The list of commands that clients show, as the bot set it."""

import json
import re
from typing import TYPE_CHECKING, cast

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(rf"[a-z0-9_]{{1,{outbound.COMMAND_NAME.limit}}}")

Commands = tuple[tuple[str, str], ...]
"""Names and descriptions."""


class CommandMenu:
    """Keeps the commands of each scope and language."""

    def __init__(self) -> None:
        self.times_set = 0
        self._lists: dict[tuple[str, str], Commands] = {}

    def key(self, arguments: Arguments) -> tuple[str, str]:
        """Which of the lists a call is about: its scope as JSON, "default" at first, and its language."""
        scope = arguments.mapping("scope") or {"type": "default"}
        kind = str(scope.get("type"))
        return (kind if len(scope) == 1 else json.dumps(scope, sort_keys=True)), arguments.text("language_code")

    def set(self, arguments: Arguments) -> None:
        """Set one of the lists; an empty list takes it away."""
        commands = _read(arguments)
        self.times_set += 1
        self._lists[self.key(arguments)] = commands

    def delete(self, arguments: Arguments) -> None:
        """Take one of the lists away."""
        self._lists.pop(self.key(arguments), None)

    def listed(self, arguments: Arguments) -> Commands:
        """The commands of just that scope and language."""
        return self._lists.get(self.key(arguments), ())

    @property
    def default(self) -> Commands:
        """What clients show where no other list is nearer."""
        return self._lists.get(("default", ""), ())


def _read(arguments: Arguments) -> Commands:
    values = arguments.sequence("commands")
    if values is None or not all(isinstance(value, dict) for value in values):
        raise RefusedError(outbound.COMMAND_NAME)
    if len(values) > outbound.COMMAND_COUNT.limit:
        raise RefusedError(outbound.COMMAND_COUNT)
    commands = list[tuple[str, str]]()
    for value in cast("list[Mapping[str, object]]", values):
        # A slash in front is let through, as the real server does.
        name, description = str(value.get("command", "")).removeprefix("/"), str(value.get("description", ""))
        if not _NAME.fullmatch(name):
            raise RefusedError(outbound.COMMAND_NAME)
        if not 1 <= len(description) <= outbound.COMMAND_DESCRIPTION.limit:
            raise RefusedError(outbound.COMMAND_DESCRIPTION)
        commands.append((name, description))
    return tuple(commands)
