"""Lines of JSON that were written before, read again.

What people say stands in these lines, so no error may quote them.
"""

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


def read(adapter: TypeAdapter[T], line: str | bytes, *, strict: bool = True) -> T:
    """What a line of JSON says.

    Raises:
        ValueError: it is something else; the message names the place and what is wrong there, and quotes nothing.
    """
    try:
        return adapter.validate_json(line, strict=strict)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        msg = f"{place}: {first['type']}"
        raise ValueError(msg) from None
