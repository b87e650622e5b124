"""On which terms tools are used here. Data, and whose roles are whose."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path

from gateway.tool import User


def nobody(_platform: str, _user: str) -> frozenset[str]:
    """The roles of everybody where the configuration gives none."""
    return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for all runs.

    Attributes:
        roles: those of a user of a platform.
        files: the folder below which each conversation has its own.
        patience: seconds that people have to decide about an approval; none for any time.
    """

    files: Path
    roles: Callable[[str, str], frozenset[str]] = nobody
    patience: float | None = None

    def user(self, platform: str, identifier: str) -> User:
        """A user of a platform, with their roles."""
        return User(platform=platform, id=identifier, roles=self.roles(platform, identifier))

    def folder(self, conversation: str) -> Path:
        """The folder of a conversation's files; its name tells nobody whose it is."""
        return self.files / blake2s(conversation.encode(), digest_size=12).hexdigest()
