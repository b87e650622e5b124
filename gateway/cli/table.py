"""A configuration's table in writing."""

import re
from collections.abc import Mapping, Sequence

Value = str | bool | int | float | Sequence[str]

# TOML lets no control character stand in a text, and, unlike JSON, knows no pair of surrogates.
_ESCAPED = re.compile(r'[\\"\x00-\x1f\x7f]')


def table(name: str, content: Mapping[str, Value]) -> str:
    """The table as TOML, from which a reader gets back the same content.

    Raises:
        UnicodeEncodeError: a text holds what no TOML can, half a surrogate pair.
    """
    return f"[{name}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in content.items())


def _value(value: Value) -> str:
    match value:
        case str():
            value.encode()
            return '"' + _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04X}", value) + '"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case _:
            return "[" + ", ".join(map(_value, value)) + "]"
