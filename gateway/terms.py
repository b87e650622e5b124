"""On which terms tools are used here. Data, and whose roles are whose."""

from dataclasses import dataclass, field
from hashlib import blake2s
from pathlib import Path

from gateway.role import Roles
from gateway.tool import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for all runs.

    Attributes:
        roles: who has which, and who may decide for others.
        files: the folder below which each conversation has its own.
        patience: seconds that people have to decide about an approval; none for any time.
    """

    files: Path = Path("dragoman-files")
    roles: Roles = field(default_factory=Roles)
    patience: float | None = None

    def user(self, platform: str, identifier: str) -> User:
        """A user of a platform, with their roles."""
        return self.roles.user(platform, identifier)

    def folder(self, conversation: str) -> Path:
        """The folder of a conversation's files; its name tells nobody whose it is."""
        return self.files / blake2s(conversation.encode(), digest_size=12).hexdigest()
