"""Who has which role, and who may decide for others. Pure.

Rule 1: nobody has a role, and nobody is an approver, unless the configuration says so.
Rule 2: a person is a platform and an id there: the same id on another platform is somebody else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.tool import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """What the configuration says of people.

    Args:
        members: of each role, as ``platform:id``.
        approvers: who may decide approvals of others: roles, and people as ``platform:id``.
    """

    members: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    approvers: frozenset[str] = frozenset()

    def roles_of(self, platform: str, user: str) -> frozenset[str]:
        """The roles of a person."""
        person = _person(platform, user)
        return frozenset(role for role, members in self.members.items() if person in members)

    def is_approver(self, platform: str, user: str) -> bool:
        """Whether a person may decide approvals that others asked for."""
        return _person(platform, user) in self.approvers or bool(self.roles_of(platform, user) & self.approvers)

    def user(self, platform: str, user: str) -> User:
        """A person as tools know them."""
        return User(platform=platform, id=user, roles=self.roles_of(platform, user))


def _person(platform: str, user: str) -> str:
    return f"{platform}:{user}"
