"""The press of a button, as Slack tells the app of it. Pure."""

from adapters.loopback.slack.block import Button, buttons_of
from adapters.loopback.slack.message import Message, to_wire
from adapters.loopback.slack.workspace import Channel, User, Workspace

Payload = dict[str, object]


def find_button(message: Message, value: str, *, stale: bool) -> Button:
    """The button of a message that has that value; with ``stale`` of any version of it, the newest first.

    Raises:
        LookupError: there is none.
    """
    versions = [message.content]
    if stale:
        versions += [*(edit.content for edit in reversed(message.edits)), message.original]
    for content in versions:
        for button in buttons_of(content.blocks):
            if button.value == value:
                return button
    msg = f"message {message.ts} has no button {value!r}"
    raise LookupError(msg)


def block_actions(
    *, button: Button, message: Message, channel: Channel, user: User, workspace: Workspace, action_ts: str
) -> Payload:
    """The payload of a press."""
    thread: Payload = {} if message.thread_ts is None else {"thread_ts": message.thread_ts}
    seconds = action_ts.partition(".")[0]
    return {
        "type": "block_actions",
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": workspace.team},
        "api_app_id": workspace.app,
        "token": "loopback",
        "container": {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": channel.id,
            "is_ephemeral": False,
            **thread,
        },
        "trigger_id": f"{action_ts}.{seconds}",
        "team": {"id": workspace.team, "domain": workspace.name},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": channel.id, "name": "directmessage" if channel.type == "im" else channel.name},
        "message": to_wire(message, workspace.team, workspace.app),
        "state": {"values": {}},
        "actions": [
            {**button.wire, "action_id": button.action_id, "block_id": button.block_id, "action_ts": action_ts}
        ],
    }
