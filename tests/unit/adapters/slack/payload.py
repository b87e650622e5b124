"""Payloads as Slack sends them, for tests."""

from typing import Any

from adapters.slack.decode import Identity

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


def body(event: object, event_id: object = "Ev1") -> dict[str, Any]:
    """What comes through the socket."""
    return {"type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": event_id, "event": event}
