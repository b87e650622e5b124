"""What the press of a button means.

Rule 1: whatever arrives is an inbound, malformed or not; nothing raises.
Rule 2: only buttons of ours count, below messages of ours.
Rule 3: a press is named by where and when it was pressed, and by whom: that is the same if it is delivered again, and
    no other press's.

Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
"""

import re

from adapters.slack.block import ACTION
from adapters.slack.identity import Identity
from adapters.slack.message import ID, TS, is_ours
from gateway.address import Address
from gateway.inbound import Ignored, Inbound, PressReceived
from gateway.payload import Json, mapping, objects

_DATA = re.compile(r"[!-~]{1,64}")


def decode_press(body: Json, me: Identity, event_id: str) -> Inbound:
    """The inbound of a ``block_actions`` payload; ``event_id`` names it where it is no press of ours."""
    message, container = mapping(body.get("message")), mapping(body.get("container"))
    (action, *_) = objects(body.get("actions")) or [{}]
    if not is_ours(message, me, body.get("api_app_id")):
        return Ignored(event_id=event_id, reason="a press below a message that is not ours")
    if not str(action.get("action_id")).startswith(f"{ACTION}:") or action.get("type") != "button":
        return Ignored(event_id=event_id, reason="a press of a button that is not ours")
    pressed = {
        "user": (mapping(body.get("user")).get("id"), ID),
        "channel": (mapping(body.get("channel")).get("id") or container.get("channel_id"), ID),
        "ts": (message.get("ts") or container.get("message_ts"), TS),
        "thread_ts": (message.get("thread_ts") or container.get("thread_ts") or message.get("ts"), TS),
        "action_ts": (action.get("action_ts"), TS),
        "value": (action.get("value"), _DATA),
    }
    found = {
        name: value for name, (value, pattern) in pressed.items() if isinstance(value, str) and pattern.fullmatch(value)
    }
    if missing := next((name for name in pressed if name not in found), None):
        return Ignored(event_id=event_id, reason=f"malformed: no usable {missing} of a press")
    return _press(found, me)


def _press(found: dict[str, str], me: Identity) -> PressReceived:
    channel, ts, thread = found["channel"], found["ts"], found["thread_ts"]
    direct = channel.startswith("D")
    message_id = f"slack:{me.team}:{channel}:{ts}"
    return PressReceived(
        event_id=f"{message_id}:{found['user']}:{found['action_ts']}",
        press=found["action_ts"],
        message_id=message_id,
        address=Address(
            platform="slack",
            account=me.team,
            channel=channel,
            thread=None if direct and thread == ts else thread,
        ),
        user=found["user"],
        data=found["value"],
        direct=direct,
    )
