from typing import Any

import pytest

from adapters.slack.decode import decode
from gateway.address import Address
from gateway.inbound import Ignored, PressReceived
from tests.unit.adapters.slack.payload import ME, pressed


def received(payload: dict[str, Any]) -> PressReceived:
    inbound = decode(payload, ME)
    assert isinstance(inbound, PressReceived), inbound
    return inbound


def action(**changes: object) -> dict[str, object]:
    return {"actions": [pressed()["actions"][0] | changes]}


def below(**changes: object) -> dict[str, object]:
    """Another message that the button stands below; none of its places are told elsewhere."""
    return {"message": pressed()["message"] | changes, "container": {}}


def test_a_press_is_told_with_its_message_and_who_pressed() -> None:
    assert received(pressed()) == PressReceived(
        event_id="slack:T1:C1:18.2:U1:19.3",
        press="19.3",
        message_id="slack:T1:C1:18.2",
        address=Address(platform="slack", account="T1", channel="C1", thread="17.1"),
        user="U1",
        data="deny:abcdefg2",
        direct=False,
    )


def test_a_press_that_comes_again_has_its_id_and_another_has_its_own() -> None:
    first = received(pressed())
    assert received(pressed(trigger_id="20.1.20", response_url="https://x.y")).event_id == first.event_id
    for other in (pressed(user={"id": "U2"}), pressed(**action(action_ts="19.4")), pressed(**below(ts="18.3"))):
        assert received(other).event_id != first.event_id


@pytest.mark.parametrize(("thread", "expected"), [(None, None), ("18.2", None), ("17.1", "17.1")])
def test_a_direct_press_stands_outside_of_threads_unless_the_message_is_in_one(
    thread: str | None, expected: str | None
) -> None:
    press = received(pressed(channel={"id": "D1"}, **below(thread_ts=thread)))
    assert (press.direct, press.address.channel, press.address.thread) == (True, "D1", expected)


def test_a_message_at_a_channels_top_level_is_in_the_thread_that_it_begins() -> None:
    assert received(pressed(**below(thread_ts=None))).address.thread == "18.2"


def test_what_the_message_does_not_tell_its_container_does() -> None:
    press = received(pressed(channel=None, message={"user": "UBOT"}))
    assert (press.message_id, press.address.thread) == ("slack:T1:C1:18.2", "17.1")


@pytest.mark.parametrize(
    "message", [None, [], {}, {"user": "U2", "ts": "18.2"}, {"user": "U9", "bot_id": "B9", "app_id": "A9"}]
)
def test_a_press_below_a_message_that_is_not_ours_is_ignored(message: object) -> None:
    inbound = decode(pressed(message=message), ME)
    assert isinstance(inbound, Ignored)
    assert inbound.reason == "a press below a message that is not ours"


@pytest.mark.parametrize(
    "actions",
    [
        None,
        [],
        [5],
        action(action_id="approve")["actions"],
        action(action_id=None)["actions"],
        action(type="static_select")["actions"],
    ],
    ids=str,
)
def test_a_press_of_a_button_that_is_not_ours_is_ignored(actions: object) -> None:
    inbound = decode(pressed(actions=actions), ME)
    assert isinstance(inbound, Ignored)
    assert inbound.reason == "a press of a button that is not ours"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"user": None}, "user"),
        ({"user": {"id": "U 1"}}, "user"),
        ({"channel": {"id": 5}}, "channel"),
        (below(ts="x"), "ts"),
        (below(thread_ts="x"), "thread_ts"),
        (action(action_ts=None), "action_ts"),
        (action(action_ts=19.3), "action_ts"),
        (action(value=None), "value"),
        (action(value=""), "value"),
        (action(value="x" * 65), "value"),
        (action(value="two words"), "value"),
        (action(value="\u00e9"), "value"),
    ],
)
def test_a_malformed_press_is_ignored_and_says_what_is_wrong(changes: dict[str, object], name: str) -> None:
    inbound = decode(pressed(**changes), ME)
    assert isinstance(inbound, Ignored)
    assert inbound.reason == f"malformed: no usable {name} of a press"
