"""What a bot may, as Discord's bits: https://docs.discord.com/developers/topics/permissions."""

from enum import IntFlag


class Permission(IntFlag):
    """The permissions that are asked for here."""

    NONE = 0
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    CREATE_PUBLIC_THREADS = 1 << 35
    SEND_MESSAGES_IN_THREADS = 1 << 38


EVERYTHING = Permission(sum(Permission))

MEMBERS = EVERYTHING & ~Permission.MANAGE_MESSAGES & ~Permission.MENTION_EVERYONE
"""What the role of everybody has here."""
