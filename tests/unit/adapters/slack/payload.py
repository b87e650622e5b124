"""Payloads as Slack sends them, for tests."""

from typing import Any

from adapters.slack.identity import Identity

ME = Identity(team="T1", user="UBOT", bot="B1")


def message(**changes: object) -> dict[str, Any]:
    """A message of a person's in a channel."""
    return {
        "type": "message",
        "user": "U1",
        "text": "hello",
        "ts": "17.1",
        "channel": "C1",
        "channel_type": "channel",
    } | (changes)


def mention(**changes: object) -> dict[str, Any]:
    """A mention; it has no channel type."""
    event = message(type="app_mention", text="<@UBOT> hello")
    del event["channel_type"]
    return event | changes


def direct(**changes: object) -> dict[str, Any]:
    """A direct message."""
    return message(channel="D1", channel_type="im") | changes


def changed(before: dict[str, Any], **changes: object) -> dict[str, Any]:
    """A message that was changed; inside of the event it does not name its channel."""
    return _hidden("message_changed", before) | {
        "message": _inner(before) | changes,
        "previous_message": _inner(before),
    }


def deleted(before: dict[str, Any]) -> dict[str, Any]:
    """A message that was deleted."""
    return _hidden("message_deleted", before) | {"deleted_ts": before["ts"], "previous_message": _inner(before)}


def _inner(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in ("channel", "channel_type")}


def _hidden(subtype: str, before: dict[str, Any]) -> dict[str, Any]:
    place = {name: before.get(name) for name in ("channel", "channel_type")}
    return {"type": "message", "subtype": subtype, "hidden": True, "ts": "18.2", "event_ts": "18.2"} | place


def body(event: object, event_id: object = "Ev1") -> dict[str, Any]:
    """What comes through the socket."""
    return {"type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": event_id, "event": event}


def pressed(**changes: object) -> dict[str, Any]:
    """The press of a button of ours, in a thread of a channel."""
    return {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": "T1"},
        "api_app_id": "A1",
        "team": {"id": "T1"},
        "channel": {"id": "C1", "name": "general"},
        "container": {"type": "message", "message_ts": "18.2", "channel_id": "C1", "thread_ts": "17.1"},
        "trigger_id": "19.3.19",
        "message": {"type": "message", "user": "UBOT", "bot_id": "B1", "ts": "18.2", "thread_ts": "17.1"},
        "actions": [
            {
                "type": "button",
                "action_id": "dragoman:0",
                "block_id": "x",
                "value": "deny:abcdefg2",
                "action_ts": "19.3",
            }
        ],
    } | changes
