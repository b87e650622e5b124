"""Secrets are named in the configuration and kept elsewhere: in the environment, or in a file."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gateway.error import ConfigurationError

SECRET_PATTERN = r"^(env|file):.+$"  # noqa: S105 - the form of a name, no secret

SecretName = Annotated[str, Field(pattern=SECRET_PATTERN)]
"""``env:VARIABLE`` or ``file:PATH``: where a secret is to be found."""


def reveal(name: SecretName, *, purpose: str, source: str) -> str:
    """The secret itself.

    Args:
        name: where it is.
        purpose: what it is, for a person: "the Slack bot token (xoxb-...)".
        source: where a person gets one.

    Raises:
        ConfigurationError: where it is not there; says which one, and where to get it.
    """
    kind, _, place = name.partition(":")
    value = os.environ.get(place, "") if kind == "env" else _read(place)
    if value.strip():
        return value.strip()
    where = f"the environment variable {place}" if kind == "env" else f"the file {place}"
    msg = f"{purpose} is missing: {where} is not set or empty. {source}"
    raise ConfigurationError(msg)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
