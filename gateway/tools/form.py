"""The input of a tool as a dataclass: its schema for the model, and what is wrong with an input."""

import json
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from gateway.event import JsonObject

Input = TypeVar("Input")


class Form(Generic[Input]):
    """What a tool takes.

    Args:
        kind: a dataclass; each field's description is for the model, and ``extra="forbid"`` lets no other key pass.
    """

    def __init__(self, kind: type[Input]) -> None:
        self._adapter = TypeAdapter(kind)
        schema = self._adapter.json_schema()
        schema["properties"] = {name: _plain(entry) for name, entry in schema["properties"].items()}
        self.schema: JsonObject = _plain(schema)

    def problem(self, given: JsonObject) -> str | None:
        """Why an input does not satisfy the schema; none where it does."""
        try:
            self.read(given)
        except ValidationError as error:
            details = error.errors(include_url=False, include_context=False, include_input=False)
            return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in details)
        return None

    def read(self, given: JsonObject) -> Input:
        """The input.

        Raises:
            ValidationError: it does not satisfy the schema.
        """
        return self._adapter.validate_json(json.dumps(given), strict=True)


def _plain(schema: JsonObject) -> JsonObject:
    """A schema without what pydantic adds for readers of forms: titles, and the docstring of the class."""
    dropped = {"title", "description"} if "properties" in schema else {"title"}
    return {key: value for key, value in schema.items() if key not in dropped}
