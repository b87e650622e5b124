"""Secrets are named in the configuration and kept elsewhere: in the environment, or in a file."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field

from gateway.error import ConfigurationError

# A variable's name is held to its letters, because no token is made of them alone: one that was pasted is refused here.
# No backslash: it must be found again in the repr of a type.
SECRET_PATTERN = "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"  # noqa: S105 - the form of a name, no secret

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
    value, lack = _from_environment(place) if kind == "env" else _from_file(place)
    if value:
        return value
    msg = f"{purpose} is missing: {lack}. {source}"
    raise ConfigurationError(msg)


def _from_environment(name: str) -> tuple[str, str]:
    return os.environ.get(name, "").strip(), f"the environment variable {name} is not set or empty"


def _from_file(path: str) -> tuple[str, str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").strip(), f"the file {path} is empty"
    except UnicodeDecodeError:
        return "", f"the file {path} is no text"
    except OSError as error:
        return "", f"the file {path} cannot be read ({error.strerror})"
