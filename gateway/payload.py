"""What a platform sends, read without trust: nothing here raises, whatever stands in it."""

from collections.abc import Mapping
from typing import cast

Json = Mapping[str, object]


def mapping(value: object) -> Json:
    """The JSON object; empty where it is something else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The JSON list; empty where it is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def objects(value: object) -> list[Json]:
    """The JSON objects of a list, an empty one for each that is something else."""
    return [mapping(each) for each in items(value)]


def words(value: object) -> str:
    """The text, without what no database takes: each lone surrogate and NUL is replaced, so that offsets stay.

    Empty where it is no text.
    """
    if not isinstance(value, str):
        return ""
    sound = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return sound.replace("\0", "\N{REPLACEMENT CHARACTER}")
