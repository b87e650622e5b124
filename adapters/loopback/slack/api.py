"""The Web API's methods. Each takes arguments and returns the body of a good answer, or refuses."""

import re
from collections.abc import Callable
from dataclasses import replace

from adapters.loopback.slack import block_rule, rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.change import Change, EphemeralPosted, StatusSet
from adapters.loopback.slack.content import read_post, read_update
from adapters.loopback.slack.history import History
from adapters.loopback.slack.listing import Page, channel_page, read_span, thread_page
from adapters.loopback.slack.message import Message, Reaction, to_wire
from adapters.loopback.slack.workspace import Channel, User, Workspace

Payload = dict[str, object]

_TS = re.compile(r"[0-9]+\.[0-9]+")
_EMOJI = re.compile(r"[a-z0-9_+'-]+(?:::skin-tone-[2-6])?")


class WebApi:
    """What the methods do once a call was let in.

    Args:
        workspace: who and what there is.
        history: where messages go.
        tell: hears what the history does not tell.
        open_socket: makes the one-time address of a new socket.
    """

    def __init__(
        self, workspace: Workspace, history: History, tell: Callable[[Change], None], open_socket: Callable[[], str]
    ) -> None:
        self._workspace = workspace
        self._history = history
        self._tell = tell
        self._open_socket = open_socket
        self.methods: dict[str, Callable[[Arguments], Payload]] = {
            "apps.connections.open": self._connections_open,
            "assistant.threads.setStatus": self._set_status,
            "auth.test": self._auth_test,
            "chat.delete": self._delete,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.postMessage": self._post_message,
            "chat.update": self._update,
            "conversations.history": self._conversations_history,
            "conversations.info": self._conversations_info,
            "conversations.replies": self._replies,
            "reactions.add": self._add_reaction,
            "reactions.remove": self._remove_reaction,
            "users.info": self._users_info,
        }

    def _connections_open(self, _: Arguments) -> Payload:
        return {"url": self._open_socket()}

    def _auth_test(self, _: Arguments) -> Payload:
        return {
            "url": f"https://{self._workspace.name}.slack.com/",
            "team": self._workspace.name,
            "user": self._workspace.bot_name,
            "team_id": self._workspace.team,
            "user_id": self._workspace.bot_user,
            "bot_id": self._workspace.bot_id,
            "is_enterprise_install": False,
        }

    def _post_message(self, arguments: Arguments) -> Payload:
        channel = self._joined_channel(arguments.text("channel"))
        content, warnings = read_post(arguments)
        thread = _read_thread(arguments)
        message = self._history.post(channel=channel.id, user=self._bot(), content=content, thread=thread)
        body: Payload = {"channel": channel.id, "ts": message.ts, "message": self._wire(message)}
        if warnings:
            body |= {"warning": ",".join(warnings), "response_metadata": {"warnings": warnings}}
        return body

    def _update(self, arguments: Arguments) -> Payload:
        before = self._own_message(arguments, rule.NOT_THE_AUTHOR)
        message = self._history.edit(before, read_update(arguments, before.content))
        return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": self._wire(message)}

    def _delete(self, arguments: Arguments) -> Payload:
        message = self._history.delete(self._own_message(arguments, rule.NOT_THE_OWNER))
        return {"channel": message.channel, "ts": message.ts}

    def _post_ephemeral(self, arguments: Arguments) -> Payload:
        channel = self._joined_channel(arguments.text("channel"))
        reader = self._user(arguments.text("user"))
        if not channel.holds(reader.id):
            raise RefusedError(block_rule.WHISPER_MEMBER)
        content, _ = read_post(arguments)
        thread = _read_thread(arguments)
        root = self._history.find(channel.id, thread) if thread else None
        seen = thread is None or (root is not None and root.thread_ts is not None)
        message = replace(self._history.draft(channel=channel.id, user=self._bot(), content=content), thread_ts=thread)
        self._tell(EphemeralPosted(user=reader.id, message=message, seen=seen))
        return {"message_ts": message.ts}

    def _conversations_info(self, arguments: Arguments) -> Payload:
        channel = self._channel(arguments.text("channel"))
        described: Payload = {
            "id": channel.id,
            "name": channel.name,
            "is_channel": channel.type == "channel",
            "is_im": channel.type == "im",
            "is_private": channel.type != "channel",
            "is_member": channel.joined,
        }
        return {"channel": described | ({"user": channel.user} if channel.user else {})}

    def _conversations_history(self, arguments: Arguments) -> Payload:
        channel = self._joined_channel(arguments.text("channel"))
        messages = [message for message in self._listed(channel.id) if not message.is_reply]
        return self._page(arguments, channel_page(messages, read_span(arguments, default=100, most=999)))

    def _replies(self, arguments: Arguments) -> Payload:
        channel = self._joined_channel(arguments.text("channel"))
        message = self._history.find(channel.id, arguments.text("ts"))
        if message is None or (message.deleted and message.thread_ts is None):
            raise RefusedError(rule.THREAD_UNKNOWN)
        thread = self._listed(channel.id, message.thread_ts or message.ts)
        return self._page(arguments, thread_page(thread, read_span(arguments, default=1000, most=1000)))

    def _users_info(self, arguments: Arguments) -> Payload:
        user = self._user(arguments.text("user"))
        return {
            "user": {"id": user.id, "team_id": self._workspace.team, "name": user.name, "is_bot": bool(user.bot_id)}
        }

    def _add_reaction(self, arguments: Arguments) -> Payload:
        message, reaction = self._reaction(arguments)
        if reaction in message.reactions:
            raise RefusedError(rule.REACTION_ONCE)
        self._history.react(message, reaction)
        return {}

    def _remove_reaction(self, arguments: Arguments) -> Payload:
        message, reaction = self._reaction(arguments)
        if reaction not in message.reactions:
            raise RefusedError(rule.REACTION_UNKNOWN)
        self._history.unreact(message, reaction)
        return {}

    def _reaction(self, arguments: Arguments) -> tuple[Message, Reaction]:
        """What shall be reacted to, and how."""
        name, timestamp = arguments.text("name"), arguments.text("timestamp")
        if not _EMOJI.fullmatch(name):
            raise RefusedError(rule.REACTION_NAME)
        if not (timestamp and arguments.text("channel")):
            raise RefusedError(rule.REACTION_ITEM)
        channel = self._joined_channel(arguments.text("channel"))
        if not _TS.fullmatch(timestamp):
            raise RefusedError(rule.REACTION_TIME)
        return self._standing(channel, timestamp), Reaction(name=name, user=self._workspace.bot_user)

    def _set_status(self, arguments: Arguments) -> Payload:
        channel = self._joined_channel(arguments.text("channel_id"))
        thread = arguments.text("thread_ts")
        self._tell(StatusSet(channel=channel.id, thread_ts=thread, text=arguments.text("status")))
        return {}

    def _bot(self) -> User:
        return self._user(self._workspace.bot_user)

    def _user(self, user_id: str) -> User:
        user = self._workspace.user(user_id)
        if user is None:
            raise RefusedError(rule.USER_UNKNOWN)
        return user

    def _channel(self, key: str) -> Channel:
        channel = self._workspace.channel(key)
        if channel is None:
            raise RefusedError(rule.CHANNEL_UNKNOWN)
        return channel

    def _joined_channel(self, key: str) -> Channel:
        channel = self._channel(key)
        if not channel.joined:
            raise RefusedError(rule.NOT_A_MEMBER)
        return channel

    def _standing(self, channel: Channel, ts: str) -> Message:
        message = self._history.find(channel.id, ts)
        if message is None or message.deleted:
            raise RefusedError(rule.MESSAGE_UNKNOWN)
        return message

    def _own_message(self, arguments: Arguments, otherwise: rule.Rule) -> Message:
        message = self._standing(self._channel(arguments.text("channel")), arguments.text("ts"))
        if message.author != "bot":
            raise RefusedError(otherwise)
        return message

    def _listed(self, channel: str, thread: str | None = None) -> list[Message]:
        """What a listing shows, oldest first: what stands, and tombstones."""
        messages = self._history.messages(channel, thread, deleted=True)
        return [message for message in messages if message.is_tombstone or not message.deleted]

    def _page(self, arguments: Arguments, page: Page) -> Payload:
        """A page of a listing; metadata only if that was asked for, too."""
        wires = [self._wire(message) for message in page.messages]
        if not arguments.flag("include_all_metadata"):
            for wire in wires:
                wire.pop("metadata", None)
        more: Payload = {"response_metadata": {"next_cursor": page.cursor}} if page.cursor else {}
        return {"messages": wires, "has_more": bool(page.cursor)} | more

    def _wire(self, message: Message) -> Payload:
        return to_wire(message, self._workspace.team, self._workspace.app)


def _read_thread(arguments: Arguments) -> str | None:
    thread = arguments.text("thread_ts")
    if thread and not _TS.fullmatch(thread):
        raise RefusedError(rule.THREAD_FORMAT)
    return thread or None
