"""The routes of channels and their messages, once a call was let in. Each answers, or refuses."""

import re
from collections.abc import Callable

from adapters.loopback.discord import route, rule
from adapters.loopback.discord.answer import Answer, RefusedError, invalid_form
from adapters.loopback.discord.change import ThreadUpdated, TypingStarted
from adapters.loopback.discord.content import mapping_of, read_edit, read_nonce, read_post
from adapters.loopback.discord.message import Message, Reference
from adapters.loopback.discord.permission import Permission
from adapters.loopback.discord.ping import MESSAGES
from adapters.loopback.discord.route import Call
from adapters.loopback.discord.stage import Stage
from adapters.loopback.discord.window import Allowance, Window
from adapters.loopback.discord.world import DM, Channel

Handler = Callable[[Call], Answer]

AGED = 3_600.0
"""Platform seconds after which edits of a message are counted apart."""

AGED_EDITS = Allowance(name="edits of messages older than an hour", limit=rule.OLD_EDITS.limit, seconds=6.0)

_EMOJI = re.compile(r"[^\w\s]+(?:[\ufe0f\u200d\u20e3].*)?|[0-9#*]\ufe0f?\u20e3|\w{2,32}:[0-9]+")


class ChannelApi:
    """What the routes of channels do."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world = stage.world
        self._places = stage.places
        self._history = stage.history
        self._wire = stage.wire
        self._aged: dict[str, Window] = {}
        self.routes: dict[str, Handler] = {
            "GET /channels/{channel}": self._get_channel,
            route.GET_MESSAGES: self._list,
            route.POST_MESSAGE: self._post,
            route.GET_MESSAGE: self._get,
            route.PATCH_MESSAGE: self._edit,
            route.DELETE_MESSAGE: self._delete,
            route.PUT_REACTION: self._react,
            route.DELETE_REACTION: self._unreact,
            route.TYPING: self._type,
        }

    def _get_channel(self, call: Call) -> Answer:
        return Answer(body=self._wire.channel(self._places.readable(call.path["channel"])))

    def _list(self, call: Call) -> Answer:
        channel = self._places.readable(call.path["channel"])
        if not self._places.bot_may(channel, Permission.READ_MESSAGE_HISTORY):
            return Answer(body=[])
        listed = [message for message in self._history.messages(channel.id) if not message.ephemeral]
        before, after = _number(call, "before"), _number(call, "after")
        limit = min(100, _number(call, "limit") or 50)
        if before is not None:
            listed = [message for message in listed if int(message.id) < before]
        if after is not None:
            listed = [message for message in listed if int(message.id) > after][:limit]
        newest = listed[-limit:][::-1]
        return Answer(body=[self._shown(message) for message in newest])

    def _post(self, call: Call) -> Answer:
        channel, body = self._places.writable(call.path["channel"]), mapping_of(call.body)
        nonce = read_nonce(body)
        reference, reply_to = self._read_reference(channel, body)
        reading = self._places.reading(channel, self._world.bot, MESSAGES)
        content = read_post(body, reading, files=call.files, reply_to=reply_to)
        if nonce is not None and body.get("enforce_nonce") is True:
            first = self._history.with_nonce(channel.id, self._world.bot, nonce, self._stage.limits.nonce_life)
            if first is not None:
                return Answer(body=self._wire.message(first))
        if channel.archived:
            self._stage.tell(ThreadUpdated(channel=self._places.archive(channel, archived=False)))
        message = self._history.post(
            channel=channel.id, user=self._world.bot, content=content, nonce=nonce, reference=reference
        )
        return Answer(body=self._wire.message(message))

    def _get(self, call: Call) -> Answer:
        return Answer(body=self._shown(self._standing(call)[1]))

    def _edit(self, call: Call) -> Answer:
        channel, before = self._standing(call)
        if before.author != "bot":
            raise RefusedError(rule.NOT_THE_AUTHOR)
        self._demand_open(channel)
        content = read_edit(
            before.content,
            mapping_of(call.body),
            self._places.reading(channel, self._world.bot, MESSAGES),
            files=call.files,
        )
        self._count_aged(channel, before)
        return Answer(body=self._wire.message(self._history.edit(before, content)))

    def _delete(self, call: Call) -> Answer:
        channel, message = self._standing(call)
        if message.author != "bot":
            if channel.type == DM:
                raise RefusedError(rule.NOT_IN_A_DM)
            if not self._places.bot_may(channel, Permission.MANAGE_MESSAGES):
                raise RefusedError(rule.MISSING_PERMISSIONS)
        self._history.delete(message)
        return Answer(status=204)

    def _react(self, call: Call) -> Answer:
        channel, message = self._standing(call)
        if not self._places.bot_may(channel, Permission.ADD_REACTIONS):
            raise RefusedError(rule.MISSING_PERMISSIONS)
        self._demand_open(channel)
        self._history.react(message, _emoji(call))
        return Answer(status=204)

    def _unreact(self, call: Call) -> Answer:
        _, message = self._standing(call)
        self._history.unreact(message, _emoji(call))
        return Answer(status=204)

    def _type(self, call: Call) -> Answer:
        channel = self._places.writable(call.path["channel"])
        self._stage.tell(TypingStarted(channel=channel.id, t=self._stage.clock.now()))
        return Answer(status=204)

    def _read_reference(self, channel: Channel, body: dict[str, object]) -> tuple[Reference | None, str | None]:
        """What it replies to, and whose that is."""
        sent = mapping_of(body.get("message_reference"))
        if not sent:
            return None, None
        message = self._history.find(str(sent.get("message_id")))
        fails = sent.get("fail_if_not_exists") is not False
        if message is None or message.deleted or message.ephemeral or message.channel != channel.id:
            if fails:
                raise invalid_form(rule.REFERENCE_UNKNOWN, "message_reference", code="REPLIES_UNKNOWN_MESSAGE")
            return None, None
        if not self._places.bot_may(channel, Permission.READ_MESSAGE_HISTORY):
            raise RefusedError(rule.REPLY_PERMISSIONS)
        return Reference(message=message.id, fail_if_not_exists=fails), message.user

    def _standing(self, call: Call) -> tuple[Channel, Message]:
        channel = self._places.readable(call.path["channel"])
        message = self._history.find(call.path["message"])
        if message is None or message.deleted or message.ephemeral or message.channel != channel.id:
            raise RefusedError(rule.UNKNOWN_MESSAGE)
        return channel, message

    def _demand_open(self, channel: Channel) -> None:
        if channel.archived:
            raise RefusedError(rule.THREAD_ARCHIVED)

    def _count_aged(self, channel: Channel, message: Message) -> None:
        now = self._stage.clock.now()
        if now - message.t <= AGED:
            return
        window = self._aged.setdefault(channel.id, Window(AGED_EDITS))
        if wait := window.wait(now):
            raise RefusedError(rule.OLD_EDITS, retry_after=wait)
        window.take(now)

    def _shown(self, message: Message) -> dict[str, object]:
        hidden = self._stage.events.hides(message, self._world.privileged)
        return self._wire.message(message, hidden=hidden)


def _number(call: Call, name: str) -> int | None:
    """A number in the query; none where it is none."""
    value = call.query.get(name, "")
    return int(value) if value.isdecimal() else None


def _emoji(call: Call) -> str:
    emoji = call.path["emoji"]
    if not _EMOJI.fullmatch(emoji):
        raise RefusedError(rule.UNKNOWN_EMOJI)
    return emoji
