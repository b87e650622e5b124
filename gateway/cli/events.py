"""``dragoman events``: a recorded provider stream as unified events."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from gateway.error import UsageError
from gateway.event import to_object
from gateway.provider import Native

CHUNK = 65_536


def main(file: Path, provider: str) -> int:
    """Print the events. A stream that ends in an error is data like any other."""
    name = f"gateway.providers.{provider}"
    decode = getattr(import_module(name), "decode", None) if provider.isidentifier() and find_spec(name) else None
    if decode is None:
        msg = f"there is no protocol {provider!r}; known is anthropic_messages"
        raise UsageError(msg)
    seq = 0
    for item in decode(_read(file)):
        if not isinstance(item, Native):
            sys.stdout.write(json.dumps({"seq": seq} | to_object(item), ensure_ascii=False) + "\n")
            seq += 1
    return 0


def _read(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as stream:
            while data := stream.read(CHUNK):
                yield data
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror}"
        raise UsageError(msg) from error
