"""The routes of interactions, once a call was let in: the first response, and what its token can do after that."""

from collections.abc import Callable
from dataclasses import replace

from adapters.loopback.discord import interaction_rule, route, rule
from adapters.loopback.discord.answer import Answer, RefusedError, invalid_form
from adapters.loopback.discord.content import (
    POSTED_FLAGS,
    Payload,
    Reading,
    mapping_of,
    number_of,
    read_edit,
    read_post,
)
from adapters.loopback.discord.interaction import BUTTON, Interaction
from adapters.loopback.discord.message import Content, Flag, Message
from adapters.loopback.discord.ping import WEBHOOKS
from adapters.loopback.discord.route import Call
from adapters.loopback.discord.stage import Stage

Handler = Callable[[Call], Answer]

SAY, DEFER, DEFER_UPDATE, UPDATE = 4, 5, 6, 7
"""The types of a first response."""


class WebhookApi:
    """What the routes of interactions do."""

    def __init__(self, stage: Stage) -> None:
        self._world = stage.world
        self._places = stage.places
        self._history = stage.history
        self._wire = stage.wire
        self._docket = stage.docket
        self.routes: dict[str, Handler] = {
            route.CALLBACK_ROUTE: self._callback,
            route.FOLLOW_UP: self._follow_up,
            route.GET_ORIGINAL: self._get,
            route.PATCH_ORIGINAL: self._edit,
            route.DELETE_ORIGINAL: self._delete,
            route.GET_FOLLOW_UP: self._get,
            route.PATCH_FOLLOW_UP: self._edit,
            route.DELETE_FOLLOW_UP: self._delete,
        }

    def target(self, call: Call) -> str:
        """What the call is about, as the log names it: channel, channel/message or interaction; never the token."""
        path = call.path
        if "token" not in path:
            return "/".join(path[name] for name in ("channel", "message") if name in path) or path.get("guild", "")
        if "interaction" in path:
            return path["interaction"]
        interaction = self._docket.with_token(path["token"])
        if interaction is None:
            return ""
        if call.route.name == route.FOLLOW_UP:
            return interaction.channel
        return f"{interaction.channel}/{path.get('message') or interaction.response or ''}"

    def _callback(self, call: Call) -> Answer:
        interaction = self._docket.answerable(call.path["interaction"], call.path["token"])
        body = mapping_of(call.body)
        kind, data = number_of(body.get("type")), mapping_of(body.get("data"))
        allowed = {SAY, DEFER, DEFER_UPDATE, UPDATE} if interaction.type == BUTTON else {SAY, DEFER}
        if kind not in allowed:
            raise invalid_form(interaction_rule.RESPONSE_TYPE, "type", code="BASE_TYPE_CHOICES")
        message = self._first(interaction, kind, data, call.files)
        state = "deferred" if message.loading else "answered"
        interaction = self._docket.respond(interaction, state, message.id, ephemeral=message.ephemeral)
        if call.query.get("with_response", "").lower() not in {"1", "true"}:
            return Answer(status=204)
        return Answer(body=self._response(interaction, message, kind))

    def _first(self, interaction: Interaction, kind: int, data: Payload, files: int) -> Message:
        """The message that a first response leaves: a new one, or the button's."""
        if kind == SAY:
            return self._say(interaction, data, files)
        if kind == DEFER:
            flags = Flag(number_of(data.get("flags"))) & Flag.EPHEMERAL
            return self._post(interaction, Content(flags=flags | Flag.LOADING))
        before = self._standing(interaction.source)
        if kind == DEFER_UPDATE:
            return before
        return self._history.edit(before, read_edit(before.content, data, self._reading(interaction), files=files))

    def _follow_up(self, call: Call) -> Answer:
        interaction, body = self._open(call), mapping_of(call.body)
        if interaction.user_installed and len(interaction.follow_ups) >= interaction_rule.FOLLOW_UPS.limit:
            raise RefusedError(interaction_rule.FOLLOW_UPS)
        original = self._history.find(interaction.response or "")
        if original is not None and original.loading and not original.deleted:
            content = read_edit(original.content, body, self._reading(interaction), files=call.files)
            message = self._history.edit(original, content)
            interaction = self._docket.complete(interaction)
        else:
            message = self._say(interaction, body, call.files)
        self._docket.follow_up(interaction, message.id)
        return Answer(body=self._wire.message(message))

    def _get(self, call: Call) -> Answer:
        return Answer(body=self._wire.message(self._named(call)[1]))

    def _edit(self, call: Call) -> Answer:
        interaction, before = self._named(call)
        content = read_edit(before.content, mapping_of(call.body), self._reading(interaction), files=call.files)
        message = self._history.edit(before, content)
        if before.loading:
            self._docket.complete(interaction)
        return Answer(body=self._wire.message(message))

    def _delete(self, call: Call) -> Answer:
        interaction, message = self._named(call)
        self._history.delete(message)
        if message.loading:
            self._docket.complete(interaction)
        return Answer(status=204)

    def _open(self, call: Call) -> Interaction:
        return self._docket.open(call.path["application"] == self._world.application, call.path["token"])

    def _named(self, call: Call) -> tuple[Interaction, Message]:
        """The interaction of the token, and the message that the path names."""
        interaction = self._open(call)
        message = call.path.get("message") or interaction.response
        if message is not None:
            self._docket.owned(interaction, message)
        return interaction, self._standing(message)

    def _standing(self, message_id: str | None) -> Message:
        message = self._history.find(message_id or "")
        if message is None or message.deleted:
            raise RefusedError(rule.UNKNOWN_MESSAGE)
        return message

    def _reading(self, interaction: Interaction) -> Reading:
        channel = self._places.find(interaction.channel)
        assert channel is not None  # noqa: S101 - told to the type checker: an interaction has a channel that is there
        reading = self._places.reading(channel, self._world.bot, WEBHOOKS)
        return replace(reading, settable=POSTED_FLAGS | Flag.EPHEMERAL)

    def _say(self, interaction: Interaction, data: Payload, files: int) -> Message:
        return self._post(interaction, read_post(data, self._reading(interaction), files=files))

    def _post(self, interaction: Interaction, content: Content) -> Message:
        return self._history.post(
            channel=interaction.channel, user=self._world.bot, content=content, interaction=interaction.id
        )

    def _response(self, interaction: Interaction, message: Message, kind: int) -> Payload:
        resource: dict[str, object] = {"type": kind}
        if kind in {SAY, UPDATE}:
            resource["message"] = self._wire.message(message)
        about: dict[str, object] = {
            "id": interaction.id,
            "type": interaction.type,
            "response_message_id": message.id,
            "response_message_loading": message.loading,
            "response_message_ephemeral": message.ephemeral,
        }
        return {"interaction": about, "resource": resource}
