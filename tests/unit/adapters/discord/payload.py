"""Payloads as Discord dispatches them, for tests."""

from typing import Any

from adapters.discord.directory import Directory
from adapters.discord.identity import Identity

ME = Identity(application="900", user="901")
ROLE = "77"


def places() -> Directory:
    """A guild with a channel, a thread in it, and a role that is ours alone."""
    known = Directory(ME.user)
    known.feed(
        "GUILD_CREATE",
        {
            "id": "1",
            "roles": [{"id": ROLE, "tags": {"bot_id": ME.user}}, {"id": "78"}],
            "channels": [{"id": "10", "type": 0}],
            "threads": [{"id": "11", "type": 11, "parent_id": "10"}],
        },
    )
    return known


def message(**changes: object) -> dict[str, Any]:
    """A message of a person's in a channel, which is not for us."""
    said: dict[str, Any] = {
        "id": "500",
        "channel_id": "10",
        "guild_id": "1",
        "type": 0,
        "author": {"id": "20", "username": "ada"},
        "content": "hello",
        "mentions": [],
        "mention_roles": [],
        "mention_everyone": False,
        "attachments": [],
        "edited_timestamp": None,
    }
    return said | changes


def mention(**changes: object) -> dict[str, Any]:
    """A message that names us."""
    return message(content="<@901> hello", mentions=[{"id": "901", "bot": True}]) | changes


def direct(**changes: object) -> dict[str, Any]:
    """A direct message."""
    said = message(channel_id="30")
    del said["guild_id"]
    return said | changes


def press(custom_id: object = "approve:abcdefg2", **changes: object) -> dict[str, Any]:
    """A press of a button below a message of ours in a channel."""
    said = message(author={"id": ME.user, "bot": True}, content="May I?")
    pressed = {"custom_id": custom_id, "component_type": 2, "id": 1}
    return interaction() | {"id": "700", "type": 3, "data": pressed, "message": said} | changes


def interaction(name: str = "ask", text: str | None = "what?", **changes: object) -> dict[str, Any]:
    """A slash command in a channel."""
    options: list[object] = [] if text is None else [{"name": "text", "type": 3, "value": text}]
    return {
        "id": "600",
        "application_id": "900",
        "type": 2,
        "data": {"id": "1", "name": name, "type": 1, "options": options},
        "guild_id": "1",
        "channel_id": "10",
        "channel": {"id": "10", "type": 0},
        "member": {"user": {"id": "20"}},
        "token": "secret-token",
        "app_permissions": str(1 << 10 | 1 << 11 | 1 << 38),
        "authorizing_integration_owners": {"0": "1"},
        "context": 0,
    } | changes
