"""What arrives, and its form in the store."""

import json

import pytest

from gateway.address import Address
from gateway.inbound import Ignored, Inbound, MessageReceived, from_json, to_json

MESSAGE = MessageReceived(
    event_id="slack:T1:Ev1",
    message_id="slack:T1:C1:17.5",
    address=Address(platform="slack", account="T1", channel="C1", thread="17.5"),
    user="U1",
    text="héllo 😀\n",
    direct=False,
)
IGNORED = Ignored(event_id="slack:T1:Ev2", reason="a bot's message")


@pytest.mark.parametrize("inbound", [MESSAGE, IGNORED])
def test_what_arrived_survives_the_store(inbound: Inbound) -> None:
    line = to_json(inbound)
    assert "\n" not in line
    assert from_json(line) == inbound
    assert from_json(line.encode()) == inbound


def test_a_message_at_top_level_has_no_thread() -> None:
    message = MessageReceived(
        event_id="e",
        message_id="m",
        address=Address(platform="p", account="a", channel="c"),
        user="u",
        text="",
        direct=True,
    )
    assert from_json(to_json(message)) == message


def broken(**fields: object) -> str:
    return json.dumps(json.loads(to_json(MESSAGE)) | fields)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{}",
        "[]",
        '{"type": "other"}',
        broken(user=None),
        broken(direct="yes"),
        broken(text=5),
        broken(address="slack/T1/C1"),
    ],
    ids=[
        "nothing",
        "no type",
        "a list",
        "unknown type",
        "no user",
        "direct no bool",
        "text no text",
        "address no object",
    ],
)
def test_a_line_that_is_something_else_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r": \w+$"):
        from_json(line)
