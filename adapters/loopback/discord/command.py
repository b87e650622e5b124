"""The commands of the app: what may be registered, and what users can run. Pure but for the count of a day."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from adapters.loopback.discord import interaction_rule
from adapters.loopback.discord.answer import RefusedError, invalid_form
from adapters.loopback.discord.window import Tally

Command = Mapping[str, object]

DAY = 86_400.0

_NAME = re.compile(r"[-_'\w]{1,32}")
_MOST_OPTIONS, _MOST_CHOICES, _MOST_CHOICE = 25, 25, 100
_LONGEST_TEXT = 6_000
"""Characters of a text that a user fills in, where the option does not say less."""
_SUB_COMMANDS = frozenset({1, 2})
_TYPES: Mapping[type, int] = {str: 3, bool: 5, int: 4, float: 10}
_FORM = interaction_rule.COMMAND_FORM


class Commands:
    """What is registered, everywhere ("") and in guilds.

    Attributes:
        puts: how often commands were overwritten.
        registered: by guild, as they were given back.
    """

    def __init__(self) -> None:
        self.puts = 0
        self.registered: dict[str, tuple[Command, ...]] = {}
        self._created: dict[str, Tally] = {}

    def names(self, guild: str = "") -> tuple[str, ...]:
        """The names of what is registered there."""
        return tuple(str(each["name"]) for each in self.registered.get(guild, ()))

    def offered(self, name: str, guild: str | None) -> Command | None:
        """The command of that name that users see in a guild, or in direct messages."""
        listed = (*self.registered.get(guild or "", ()), *self.registered.get("", ()))
        return next((each for each in listed if each["name"] == name and each["type"] == 1), None)

    def overwrite(self, guild: str, commands: Sequence[Command], now: float) -> list[str]:
        """Put these in the place of all that were there; returns the names that are new.

        Raises:
            RefusedError: they break a rule; nothing is changed.
        """
        check_commands(commands)
        before = {(each["name"], each["type"]) for each in self.registered.get(guild, ())}
        new = [str(each["name"]) for each in commands if (each["name"], each.get("type", 1)) not in before]
        created = self._created.setdefault(guild, Tally(DAY))
        if created.count(now) + len(new) > interaction_rule.COMMAND_CREATES.limit:
            raise RefusedError(interaction_rule.COMMAND_CREATES, retry_after=DAY)
        for _ in new:
            created.add(now)
        self.puts += 1
        return new


def check_commands(commands: Sequence[Command]) -> None:
    """Refuse commands that Discord would.

    Raises:
        RefusedError: it names the first fault.
    """
    typed = [each for each in commands if each.get("type", 1) == 1]
    if len(typed) > interaction_rule.COMMAND_COUNT.limit:
        raise RefusedError(interaction_rule.COMMAND_COUNT)
    for number, command in enumerate(commands):
        _check_words(command, str(number), described=command.get("type", 1) == 1)
        _check_options(_items(command.get("options")), str(number))
        if _length(command) > _FORM.limit:
            raise invalid_form(_FORM, str(number), code="APPLICATION_COMMAND_TOO_LARGE")
    names = [(each.get("name"), each.get("type", 1)) for each in commands]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise invalid_form(_FORM, str(number), "name", code="APPLICATION_COMMANDS_DUPLICATE_NAME")


def read_options(command: Command, options: Mapping[str, object]) -> list[dict[str, object]]:
    """What a user filled in, as it goes over the wire.

    Raises:
        ValueError: the command has no such option, or one that it needs is missing, or a text is too long for it.
    """
    offered = {str(each["name"]): each for each in _items(command.get("options"))}
    missing = [name for name, each in offered.items() if each.get("required") is True and name not in options]
    if missing or not options.keys() <= offered.keys():
        msg = f"/{command['name']} has the options {sorted(offered)} and needs {missing}; given were {sorted(options)}"
        raise ValueError(msg)
    filled: list[dict[str, object]] = []
    for name, value in options.items():
        kind = offered[name].get("type")
        if kind in _TYPES.values() and _TYPES.get(type(value)) != kind:
            msg = f"the option {name} of /{command['name']} is of type {kind}, not {type(value).__name__}"
            raise ValueError(msg)
        most = offered[name].get("max_length", _LONGEST_TEXT)
        if isinstance(value, str) and isinstance(most, int) and len(value) > most:
            msg = f"the option {name} of /{command['name']} has room for {most} characters, not for {len(value)}"
            raise ValueError(msg)
        filled.append({"name": name, "type": kind, "value": value})
    return filled


def _check_words(item: Command, *path: str, described: bool) -> None:
    name, description = item.get("name"), item.get("description")
    if not isinstance(name, str) or not 1 <= len(name) <= 32:
        raise invalid_form(_FORM, *path, "name", code="BASE_TYPE_BAD_LENGTH")
    if described and (not _NAME.fullmatch(name) or name != name.lower()):
        raise invalid_form(_FORM, *path, "name", code="APPLICATION_COMMAND_INVALID_NAME")
    if described and not (isinstance(description, str) and 1 <= len(description) <= 100):
        raise invalid_form(_FORM, *path, "description", code="BASE_TYPE_BAD_LENGTH")


def _check_options(options: Sequence[Command], *path: str) -> None:
    if len(options) > _MOST_OPTIONS:
        raise invalid_form(_FORM, *path, "options")
    optional = False
    for number, option in enumerate(options):
        here = (*path, "options", str(number))
        _check_words(option, *here, described=True)
        if option.get("required") is True and optional:
            raise invalid_form(_FORM, *here, code="APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID")
        optional = optional or option.get("required") is not True
        choices = _items(option.get("choices"))
        if len(choices) > _MOST_CHOICES or any(len(str(each.get("value"))) > _MOST_CHOICE for each in choices):
            raise invalid_form(_FORM, *here, "choices")
        if option.get("type") in _SUB_COMMANDS:
            _check_options(_items(option.get("options")), *here)


def _length(item: Command) -> int:
    """The characters of all names, descriptions and values."""
    words = sum(len(str(item.get(name) or "")) for name in ("name", "description", "value"))
    inside = (*_items(item.get("options")), *_items(item.get("choices")))
    return words + sum(_length(each) for each in inside)


def _items(value: object) -> list[Command]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Command", each) for each in listed if isinstance(each, dict)]
