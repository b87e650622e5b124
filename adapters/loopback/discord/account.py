"""The routes of the app itself: who it is, its commands, its gateway; and of whom it can look up."""

from collections.abc import Callable, Mapping

from adapters.loopback.discord import rule
from adapters.loopback.discord.answer import Answer, RefusedError
from adapters.loopback.discord.change import CommandsRegistered
from adapters.loopback.discord.command import Command
from adapters.loopback.discord.content import list_of, mapping_of
from adapters.loopback.discord.event import Intent
from adapters.loopback.discord.route import Call
from adapters.loopback.discord.stage import Stage

_HAS_CONTENT_INTENT = 1 << 19


class AccountApi:
    """What the app's own routes do.

    Args:
        stage: who there is.
        gateway: the address of the gateway, and how many IDENTIFYs are left.
    """

    def __init__(self, stage: Stage, gateway: Callable[[], Mapping[str, object]]) -> None:
        self._stage = stage
        self._world = stage.world
        self._wire = stage.wire
        self._commands = stage.commands
        self._gateway = gateway
        self.routes: dict[str, Callable[[Call], Answer]] = {
            "GET /users/@me": self._me,
            "GET /users/{user}": self._user,
            "POST /users/@me/channels": self._open_dm,
            "GET /oauth2/applications/@me": self._application,
            "GET /applications/@me": self._application,
            "GET /gateway": self._gateway_address,
            "GET /gateway/bot": self._gateway_bot,
            "GET /guilds/{guild}": self._guild,
            "GET /applications/{application}/commands": self._list_commands,
            "PUT /applications/{application}/commands": self._put_commands,
            "GET /applications/{application}/guilds/{guild}/commands": self._list_commands,
            "PUT /applications/{application}/guilds/{guild}/commands": self._put_commands,
        }

    def _me(self, _: Call) -> Answer:
        more: Mapping[str, object] = {"mfa_enabled": False, "verified": True, "locale": "en-US", "flags": 0}
        return Answer(body=self._wire.user(self._world.bot) | more)

    def _user(self, call: Call) -> Answer:
        if self._world.user(call.path["user"]) is None:
            raise RefusedError(rule.UNKNOWN_USER)
        return Answer(body=self._wire.user(call.path["user"]))

    def _open_dm(self, call: Call) -> Answer:
        recipient = str(mapping_of(call.body).get("recipient_id"))
        return Answer(body=self._wire.channel(self._stage.places.open_with(recipient, self._stage.next_id)))

    def _application(self, _: Call) -> Answer:
        has_content = self._world.privileged & Intent.MESSAGE_CONTENT
        return Answer(
            body={
                "id": self._world.application,
                "name": self._world.bot_name,
                "icon": None,
                "description": "",
                "summary": "",
                "bot_public": True,
                "bot_require_code_grant": False,
                "verify_key": "0" * 64,
                "flags": _HAS_CONTENT_INTENT if has_content else 0,
                "owner": self._wire.user(self._world.users[0].id),
                "team": None,
            }
        )

    def _gateway_address(self, _: Call) -> Answer:
        return Answer(body={"url": self._gateway()["url"]})

    def _gateway_bot(self, _: Call) -> Answer:
        return Answer(body=self._gateway())

    def _guild(self, call: Call) -> Answer:
        guild = self._world.guild(call.path["guild"])
        if guild is None or guild not in self._world.joined():
            raise RefusedError(rule.UNKNOWN_GUILD)
        return Answer(body=self._wire.guild(guild))

    def _list_commands(self, call: Call) -> Answer:
        return Answer(body=list[object](self._commands.registered.get(self._scope(call), ())))

    def _put_commands(self, call: Call) -> Answer:
        guild = self._scope(call)
        commands = [mapping_of(each) for each in list_of(call.body)]
        self._commands.overwrite(guild, commands, self._stage.clock.now())
        before = {(each["name"], each["type"]): each["id"] for each in self._commands.registered.get(guild, ())}
        written = tuple(self._command(each, guild, before) for each in commands)
        self._commands.registered[guild] = written
        self._stage.tell(CommandsRegistered(guild=guild, names=self._commands.names(guild)))
        return Answer(body=list[object](written))

    def _command(self, sent: Command, guild: str, before: Mapping[tuple[object, object], object]) -> Command:
        kind = sent.get("type", 1)
        written: dict[str, object] = {
            "type": kind,
            "description": "",
            "default_member_permissions": None,
            "nsfw": False,
            "options": [],
            "integration_types": [0],
            "contexts": None,
        }
        return (
            written
            | dict(sent)
            | {
                "id": before.get((sent.get("name"), kind)) or self._stage.next_id(),
                "application_id": self._world.application,
                "version": self._stage.next_id(),
            }
            | ({"guild_id": guild} if guild else {})
        )

    def _scope(self, call: Call) -> str:
        if call.path["application"] != self._world.application:
            raise RefusedError(rule.UNKNOWN_APPLICATION)
        guild = call.path.get("guild", "")
        if guild and all(each.id != guild for each in self._world.joined()):
            raise RefusedError(rule.MISSING_ACCESS)
        return guild
