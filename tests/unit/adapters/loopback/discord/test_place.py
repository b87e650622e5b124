from dataclasses import replace

import pytest

from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.permission import Permission
from adapters.loopback.discord.ping import MESSAGES
from adapters.loopback.discord.place import Places
from adapters.loopback.discord.world import ADA, ADA_DM, BOT, GENERAL, PROJECT_THREAD, PROJECTS, TEAM_ROLE, World


def places_with(denied: Permission, channel: str) -> Places:
    world = World()
    channels = (replace(each, denied=denied) if each.id == channel else each for each in world.channels)
    return Places(replace(world, channels=tuple(channels)))


def test_what_may_be_done_comes_from_roles_and_the_channel() -> None:
    places = places_with(Permission.SEND_MESSAGES, GENERAL)
    general, projects, direct = (places.readable(each) for each in (GENERAL, PROJECTS, ADA_DM))
    assert Permission.SEND_MESSAGES not in places.permissions(general, BOT)
    assert Permission.SEND_MESSAGES in places.permissions(projects, ADA)
    assert Permission.MANAGE_MESSAGES in places.permissions(projects, BOT)
    assert Permission.MANAGE_MESSAGES not in places.permissions(projects, ADA)
    assert Permission.MANAGE_MESSAGES not in places.permissions(direct, BOT)
    assert places.permissions(general, "404") == Permission.NONE


def test_a_thread_asks_its_parent() -> None:
    places = places_with(Permission.SEND_MESSAGES_IN_THREADS, PROJECTS)
    with pytest.raises(RefusedError, match="thread_permissions"):
        places.writable(PROJECT_THREAD)
    assert places.writable(PROJECTS).id == PROJECTS
    assert places_with(Permission.SEND_MESSAGES, PROJECTS).writable(PROJECT_THREAD).parent == PROJECTS


def test_who_may_ping_everybody_may_ping_every_role() -> None:
    places = places_with(Permission.NONE, GENERAL)
    general = places.readable(GENERAL)
    assert places.reading(general, BOT, MESSAGES).everyone
    reading = places.reading(general, ADA, MESSAGES)
    assert (reading.everyone, reading.mentionable) == (False, frozenset({TEAM_ROLE}))


def test_direct_messages_are_begun_once() -> None:
    world = World()
    places = Places(replace(world, channels=()))
    channel = places.open_with(ADA, lambda: "7")
    assert (channel.id, places.open_with(ADA, lambda: "8").id) == ("7", "7")
