"""Who has which role."""

from gateway.role import Roles
from gateway.tool import User

ROLES = Roles(
    members={"admins": frozenset({"slack:U1", "telegram:42"}), "crew": frozenset({"slack:U1", "slack:U2"})},
    approvers=frozenset({"admins", "discord:7"}),
)


def test_a_person_has_the_roles_that_name_them_on_their_platform() -> None:
    assert ROLES.roles_of("slack", "U1") == {"admins", "crew"}
    assert ROLES.roles_of("slack", "U2") == {"crew"}
    assert ROLES.roles_of("discord", "U1") == ROLES.roles_of("slack", "42") == frozenset()
    assert ROLES.user("slack", "U2") == User(platform="slack", id="U2", roles=frozenset({"crew"}))


def test_an_approver_is_named_or_has_a_role_that_is() -> None:
    assert ROLES.is_approver("telegram", "42")
    assert ROLES.is_approver("discord", "7")
    assert not ROLES.is_approver("slack", "U2")
    assert not ROLES.is_approver("slack", "7")


def test_nobody_is_called_as_a_role_is() -> None:
    assert not ROLES.is_approver("admins", "")
    assert not ROLES.is_approver("", "admins")
    assert not Roles().is_approver("slack", "U1")
