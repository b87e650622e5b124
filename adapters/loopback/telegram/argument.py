"""The arguments of a Bot API call, which come as JSON, as a form or in the address."""

import json
import re
from collections.abc import Mapping
from typing import cast

_NUMBER = re.compile(r"-?[0-9]{1,18}")


class Arguments:
    """Reads arguments whatever they came as: in a form all are strings, structures are JSON in a string."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = {name: value for name, value in values.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        """Whether the argument was given."""
        return name in self.values

    def text(self, name: str) -> str:
        """The argument as text; empty where it is absent or a structure."""
        value = self.values.get(name, "")
        return str(value) if isinstance(value, str | int | float) else ""

    def flag(self, name: str) -> bool:
        """The argument as a boolean; false where it is absent."""
        return str(self.values.get(name, "")).lower() in {"true", "1", "yes", "t", "y"}

    def number(self, name: str, default: int = 0) -> int:
        """The argument as a whole number; the default where it is none."""
        text = self.text(name)
        return int(text) if _NUMBER.fullmatch(text) else default

    def sequence(self, name: str) -> list[object] | None:
        """The argument as a JSON list; none where it is something else, empty where it is absent."""
        value = self._parsed(name, default=[])
        return cast("list[object]", value) if isinstance(value, list) else None

    def mapping(self, name: str) -> dict[str, object] | None:
        """The argument as a JSON object; none where it is something else, empty where it is absent."""
        value = self._parsed(name, default={})
        return cast("dict[str, object]", value) if isinstance(value, dict) else None

    def _parsed(self, name: str, default: object) -> object:
        value = self.values.get(name, default)
        if not isinstance(value, str):
            return value
        if not value:
            return default
        try:
            return cast("object", json.loads(value))
        except ValueError:
            return None
