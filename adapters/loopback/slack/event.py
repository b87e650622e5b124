"""The events Slack sends for what happens in a channel. Pure: a change in, payloads out."""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from adapters.loopback.slack.change import Change, MessageDeleted, MessageEdited, MessagePosted
from adapters.loopback.slack.message import Message, to_wire
from adapters.loopback.slack.workspace import Channel, Workspace

Payload = dict[str, object]


def events_of(change: Change, workspace: Workspace, next_ts: Callable[[], str]) -> list[Payload]:
    """The inner events of a change; none where the bot is not in the channel.

    Args:
        change: what happened.
        workspace: where it happened.
        next_ts: makes the id of an edit's or deletion's event, which is not the message's.
    """
    if not isinstance(change, MessagePosted | MessageEdited | MessageDeleted):
        return []
    channel = workspace.channel(change.message.channel)
    if channel is None or not channel.joined:
        return []
    match change:
        case MessagePosted():
            return _posted(change.message, channel, workspace)
        case MessageEdited():
            return [_edited(change, channel, workspace, next_ts())]
        case MessageDeleted():
            return [_deleted(change.message, channel, workspace, next_ts())]
        case _:
            assert_never(change)


def event_callback(event: Payload, event_id: str, event_time: int, workspace: Workspace) -> Payload:
    """Wrap an inner event as the Events API does."""
    authorization = {
        "enterprise_id": None,
        "team_id": workspace.team,
        "user_id": workspace.bot_user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": "loopback",
        "team_id": workspace.team,
        "api_app_id": workspace.app,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": event_time,
        "authorizations": [authorization],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event.get('type')}-{workspace.team}-{event.get('channel')}",
    }


def _posted(message: Message, channel: Channel, workspace: Workspace) -> list[Payload]:
    shared = to_wire(message, workspace.team, workspace.app) | {"channel": channel.id, "event_ts": message.ts}
    events: list[Payload] = []
    if channel.type != "im" and workspace.is_named(message.text) and message.author == "user":
        events.append(shared | {"type": "app_mention"})
    events.append(shared | {"channel_type": channel.type})
    return events


def _edited(change: MessageEdited, channel: Channel, workspace: Workspace, ts: str) -> Payload:
    return _hidden("message_changed", channel, ts) | {
        "message": to_wire(change.message, workspace.team, workspace.app),
        "previous_message": to_wire(change.before, workspace.team, workspace.app),
    }


def _deleted(message: Message, channel: Channel, workspace: Workspace, ts: str) -> Payload:
    """Where replies keep its place, Slack calls it a change: into a tombstone."""
    before = to_wire(replace(message, deleted=False), workspace.team, workspace.app)
    if message.is_tombstone:
        after = to_wire(message, workspace.team, workspace.app)
        return _hidden("message_changed", channel, ts) | {"message": after, "previous_message": before}
    return _hidden("message_deleted", channel, ts) | {"deleted_ts": message.ts, "previous_message": before}


def _hidden(subtype: str, channel: Channel, ts: str) -> Payload:
    return {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.type,
        "ts": ts,
        "event_ts": ts,
    }
