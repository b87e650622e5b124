from typing import Any

import pytest

from adapters.discord.decode import decode
from gateway.address import Address
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageReceived, PressReceived, Ticket
from tests.unit.adapters.discord.payload import ME, direct, interaction, message, places, press


def decoded(data: object) -> Inbound:
    return decode("INTERACTION_CREATE", data, ME, places())


def ticket(data: dict[str, Any]) -> Ticket:
    inbound = decoded(data)
    assert isinstance(inbound, MessageReceived | CommandReceived), inbound
    assert inbound.ticket is not None
    return inbound.ticket


def test_what_is_asked_is_a_message_with_a_ticket() -> None:
    assert decoded(interaction()) == MessageReceived(
        event_id="discord:900:600",
        message_id="discord:900:10:@600",
        address=Address(platform="discord", account="900", channel="10"),
        user="20",
        text="what?",
        direct=False,
        space="1",
        ticket=Ticket(secret="secret-token", lifetime=900.0, opening="@600", guest=False),
    )


def test_the_ticket_does_not_show_its_secret() -> None:
    assert "secret-token" not in repr(decoded(interaction()))


@pytest.mark.parametrize("name", ["new", "stop", "status", "help"])
def test_the_other_commands_are_commands(name: str) -> None:
    inbound = decoded(interaction(name, None))
    assert isinstance(inbound, CommandReceived)
    assert (inbound.command, inbound.message_id) == (name, "discord:900:10:@600")
    assert inbound.ticket == Ticket(secret="secret-token", lifetime=900.0, opening="@600", guest=False)


def test_a_command_in_a_thread_belongs_to_the_thread_though_nobody_has_heard_of_it() -> None:
    where = {"id": "13", "type": 12, "parent_id": "10"}
    inbound = decoded(interaction(channel_id="13", channel=where))
    assert isinstance(inbound, MessageReceived)
    assert (inbound.address.channel, inbound.address.thread) == ("10", "13")
    known = decoded(interaction(channel_id="11", channel={}))
    assert isinstance(known, MessageReceived)
    assert (known.address.channel, known.address.thread) == ("10", "11")


def test_a_command_in_a_direct_conversation_is_direct_and_in_other_peoples_it_is_not() -> None:
    alone: dict[str, Any] = {"guild_id": None, "member": None, "user": {"id": "20"}, "channel": {"type": 1}}
    ours = decoded(interaction(**alone, context=1, authorizing_integration_owners={"0": "0"}))
    theirs = decoded(interaction(**alone, context=2, authorizing_integration_owners={"1": "20"}))
    assert isinstance(ours, MessageReceived)
    assert isinstance(theirs, MessageReceived)
    assert (ours.direct, ours.user, ours.space) == (True, "20", None)
    assert not theirs.direct
    assert ours.ticket is not None
    assert not ours.ticket.guest


@pytest.mark.parametrize(
    "changes",
    [
        {"authorizing_integration_owners": {"1": "20"}},
        {"guild_id": "2"},
        {"app_permissions": str(1 << 10)},
        {"app_permissions": str(1 << 11)},
        {"app_permissions": "0"},
        {"context": 2},
        {"channel_id": "11", "app_permissions": str(1 << 10 | 1 << 11)},
    ],
    ids=str,
)
def test_where_the_bot_cannot_write_by_itself_it_is_a_guest(changes: dict[str, Any]) -> None:
    assert ticket(interaction(**changes)).guest


@pytest.mark.parametrize(
    "changes",
    [
        {"channel_id": "11", "app_permissions": str(1 << 10 | 1 << 38)},
        {"app_permissions": None},
        {"app_permissions": "many"},
        {"authorizing_integration_owners": None},
    ],
    ids=str,
)
def test_where_nothing_says_otherwise_it_is_none(changes: dict[str, Any]) -> None:
    assert not ticket(interaction(**changes)).guest


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"type": 1}, "not a command: a ping"),
        ({"type": 3}, "not a command: a button or a menu"),
        ({"type": []}, "not a command: unknown"),
        ({"data": {"name": "ban"}}, "not a command of ours"),
        ({"data": {"name": "ask", "type": 3}}, "not a command of ours"),
        ({"data": None}, "not a command of ours"),
        ({"token": ""}, "malformed: no usable token"),
        ({"token": "a\nb"}, "malformed: no usable token"),
        ({"member": {}}, "malformed: no usable user"),
        ({"channel_id": 5}, "malformed: no usable channel_id"),
        ({"id": "../x"}, "malformed: no usable id"),
    ],
    ids=str,
)
def test_anything_else_is_ignored(changes: dict[str, Any], why: str) -> None:
    inbound = decoded(interaction(**changes))
    assert isinstance(inbound, Ignored)
    assert inbound.reason == why


def test_a_question_without_text_is_an_empty_one() -> None:
    for options in (None, [], [None], [{"value": 7}]):
        inbound = decoded(interaction(data={"name": "ask", "type": 1, "options": options}))
        assert isinstance(inbound, MessageReceived)
        assert inbound.text == ""


@pytest.mark.parametrize(
    ("name", "given", "argument"),
    [
        ("approve", None, ""),
        ("approve", "abcdefg2", "abcdefg2"),
        ("deny", " ABCDEFG2 ", "abcdefg2"),
        ("approve", "always abcdefg2", "always abcdefg2"),
        ("approve", "of it", "of it"),
        ("approvals", None, ""),
        ("revoke", "read_URL", "read_URL"),
    ],
)
def test_a_decision_is_a_command_with_what_it_is_about(name: str, given: str | None, argument: str) -> None:
    inbound = decoded(interaction(name, given))
    assert isinstance(inbound, CommandReceived)
    assert (inbound.command, inbound.argument) == (name, argument)


def test_a_press_says_who_pressed_what_below_what_and_brings_its_token() -> None:
    inbound = decoded(press(channel_id="11", channel={"id": "11", "type": 11, "parent_id": "10"}))
    assert inbound == PressReceived(
        event_id="discord:900:700",
        press="700",
        message_id="discord:900:11:500",
        address=Address(platform="discord", account="900", channel="10", thread="11"),
        user="20",
        data="approve:abcdefg2",
        direct=False,
        space="1",
        ticket=Ticket(secret="secret-token", lifetime=900.0, opening="@700", guest=False),
    )
    assert "secret-token" not in repr(inbound)


def test_a_press_where_two_talk_alone_is_direct() -> None:
    alone: dict[str, Any] = {"guild_id": None, "member": None, "user": {"id": "20"}, "context": 1}
    said = direct(author={"id": ME.user, "bot": True})
    inbound = decoded(press(message=said, channel_id="30", channel={"id": "30", "type": 1}, **alone))
    assert isinstance(inbound, PressReceived)
    assert (inbound.direct, inbound.space, inbound.address.channel) == (True, None, "30")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (press(data={"custom_id": "x", "component_type": 3}), "not a command: a button or a menu"),
        (press(data=None), "not a command: a button or a menu"),
        (press(message=None), "malformed: no usable message"),
        (press(message={"id": "../x"}), "malformed: no usable message"),
        (press(message=message()), "a press below another's message"),
        (press(""), "a press without data of ours"),
        (press("x" * 101), "a press without data of ours"),
        (press(7), "a press without data of ours"),
        (press(token=""), "malformed: no usable token"),
        (press(member={}), "malformed: no usable user"),
        (press(id=7), "malformed: no usable id"),
    ],
)
def test_a_press_that_is_malformed_or_not_for_us_is_ignored(query: dict[str, Any], why: str) -> None:
    inbound = decoded(query)
    assert isinstance(inbound, Ignored)
    assert inbound.reason == why
