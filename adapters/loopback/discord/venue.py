"""Discord as a venue: a server in whose channel #general somebody runs /ask, or mentions the bot."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

from adapters.loopback.discord.component import all_components
from adapters.loopback.discord.interaction import BUTTON, COMMAND, Interaction
from adapters.loopback.discord.loopback import LoopbackDiscord
from adapters.loopback.discord.message import Message
from adapters.loopback.discord.world import ADA, ADA_DM, BOB, BOB_DM, GENERAL, GUILD, Guild, Member, User, World
from adapters.loopback.venue import Doing, Happened, Shown, Trouble, Value, Venue, Where, Who

ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
ROBOT = "690000000000000003"
USERS: dict[Who, str] = {"ada": ADA, "bob": BOB, "robot": ROBOT}
DIRECT = {"ada": ADA_DM, "bob": BOB_DM}
ROUTES: dict[Doing, str] = {
    "post": "POST /channels/{channel}/messages",
    "edit": "PATCH /channels/{channel}/messages/{message}",
    "delete": "DELETE /channels/{channel}/messages/{message}",
    "tell": "POST /webhooks/{application}/{token}",
    "connect": "GET /users/@me",
}


def world() -> World:
    """The usual one, with another bot in it."""
    usual = World()
    return replace(
        usual,
        users=(*usual.users, User(id=ROBOT, name="robot", bot=True)),
        guilds=tuple(map(_with_robot, usual.guilds)),
    )


def _with_robot(guild: Guild) -> Guild:
    return replace(guild, members=(*guild.members, Member(user=ROBOT))) if guild.id == GUILD else guild


@asynccontextmanager
async def open_venue(time_scale: float, faults: int | None = None) -> AsyncGenerator[Venue]:
    """A Discord that listens while the context lasts; with ``faults``, a seed, it misbehaves."""
    async with LoopbackDiscord(world=world(), time_scale=time_scale) as discord:
        if faults is not None:
            discord.misbehave(faults)
        yield DiscordVenue(discord)


class DiscordVenue:
    """See ``adapters.loopback.venue.Venue``."""

    name = "discord"
    longest = 1_950

    def __init__(self, discord: LoopbackDiscord) -> None:
        self._discord = discord

    def settings(self, folder: Path) -> dict[str, Value]:
        """See ``Venue``."""
        (folder / "discord_token").write_text(self._discord.world.bot_token, encoding="utf-8")
        return {
            "bot_token": f"file:{folder / 'discord_token'}",
            "base_url": self._discord.api_url,
            "gateway_url": self._discord.gateway_url,
            "allow_users": [ADA],
            "allow_channels": [GENERAL],
        }

    def ask(self, text: str, *, who: Who = "ada", shared: bool = False) -> str:
        """See ``Venue``. What is asked in a server is seen by all who are there."""
        del shared
        return self.command("ask", text, who=who)

    def say(
        self,
        text: str,
        *,
        who: Who = "ada",
        where: Where = "channel",
        addressed: bool = True,
        beside: str | None = None,
    ) -> str:
        """See ``Venue``."""
        channel = GENERAL if where == "channel" else DIRECT[who]
        channel = channel if beside is None else self._channel(beside)
        return self._discord.say(USERS[who], channel, text, mention=addressed).id

    def command(self, word: str, argument: str = "", *, who: Who = "ada", beside: str | None = None) -> str:
        """See ``Venue``. The argument is what is filled in first."""
        command = self._discord.commands.offered(word, GUILD) or {}
        offered = cast("Sequence[Mapping[str, object]]", command.get("options") or ())
        filled: dict[str, object] = {str(offered[0]["name"]): argument} if argument else {}
        channel = GENERAL if beside is None else self._channel(beside)
        return self._discord.command(USERS[who], channel, word, filled).id

    def press(self, who: Who, message_id: str, data: str, *, stale: bool = False) -> None:
        """See ``Venue``."""
        self._discord.press(USERS[who], self._message(message_id).id, data, stale=stale)

    def edit(self, message_id: str, text: str) -> None:
        """See ``Venue``."""
        named = f"<@{self._discord.world.bot}> {text}"
        direct = self._discord.message(message_id).channel in DIRECT.values()
        self._discord.edit(message_id, text if direct else named)

    def delete(self, message_id: str) -> None:
        """See ``Venue``."""
        self._discord.delete(message_id)

    def repeat(self, what: Happened = "message") -> None:
        """See ``Venue``."""
        if what == "message":
            self._discord.redeliver("MESSAGE_CREATE")
        else:
            self._discord.redeliver("INTERACTION_CREATE", self._presses()[-1].id)

    def outdate(self) -> None:
        """See ``Venue``."""
        for press in self._presses():
            self._discord.outdate(press.id)

    def trouble(self, doing: Doing, trouble: Trouble) -> None:
        """See ``Venue``."""
        route = ROUTES[doing]
        match trouble:
            case "limited":
                self._discord.fail_next(route, retry_after=7)
            case "failed":
                self._discord.fail_next(route, status=500)
            case "cut":
                self._discord.fail_next(route, status=0)
            case "lost":
                self._discord.lose_answer_next(route, status=0)

    def refuse(self) -> None:
        """See ``Venue``."""
        self._discord.fail_next(ROUTES["connect"], status=401, times=100)

    def drop(self) -> None:
        """See ``Venue``."""
        self._discord.drop_sockets()

    def listeners(self) -> int:
        """See ``Venue``."""
        return self._discord.listeners

    def secrets(self) -> Sequence[str]:
        """See ``Venue``."""
        return self._discord.world.bot_token, *(each.token for each in self._discord.interactions)

    def messages(self) -> list[Shown]:
        """See ``Venue``. A command that was run is shown above its answer."""
        aside = {message.id for message in self._asides()}
        said = [
            self._shown(message)
            for message in self._discord.messages()
            if not message.loading and message.id not in aside
        ]
        run = [_run(interaction) for interaction in self._discord.interactions if interaction.type == COMMAND]
        return sorted([*said, *run], key=lambda shown: int(shown.id))

    def taken(self) -> list[Shown]:
        """See ``Venue``."""
        return [self._shown(message) for message in self._discord.taken if not message.loading]

    def buttons(self, message_id: str) -> list[tuple[str, str]]:
        """See ``Venue``."""
        inside = all_components(self._message(message_id).components)
        return [(str(each["label"]), str(each["custom_id"])) for each in inside if "custom_id" in each]

    def whispers(self, who: Who) -> list[str]:
        """See ``Venue``."""
        return [
            ESCAPE.sub(r"\1", message.text)
            for message in self._asides()
            if self._discord.interaction(str(message.interaction)).user == USERS[who]
        ]

    def waiting(self) -> int:
        """See ``Venue``."""
        return sum(press.state == "waiting" for press in self._presses())

    def calls(self) -> list[dict[str, object]]:
        """See ``Venue``."""
        return self._discord.calls.to_json()

    def subscribe(self, observer: Callable[[], None]) -> Callable[[], None]:
        """See ``Venue``."""
        return self._discord.subscribe(lambda _: observer())

    def until(self, condition: Callable[[], object]) -> Awaitable[object]:
        """See ``Venue``."""
        return self._discord.until(condition)

    def _presses(self) -> list[Interaction]:
        """Oldest first."""
        return [each for each in self._discord.interactions if each.type == BUTTON]

    def _asides(self) -> list[Message]:
        """What somebody alone was told for what they pressed. What answers a command stands below it instead."""
        presses = {press.id for press in self._presses()}
        return [each for each in self._discord.messages() if each.ephemeral and each.interaction in presses]

    def _message(self, message_id: str) -> Message:
        """A message, also by the name that it has as the first answer to an interaction."""
        if message_id.startswith("@"):
            return self._discord.message(self._discord.interaction(message_id[1:]).response or "")
        return self._discord.message(message_id)

    def _channel(self, message_id: str) -> str:
        """The channel that a message stands in, or that a command was run in."""
        name = message_id.removeprefix("@")
        asked = next((each for each in self._discord.interactions if each.id == name), None)
        return self._discord.message(name).channel if asked is None else asked.channel

    def _shown(self, message: Message) -> Shown:
        world, text = self._discord.world, message.text
        if message.author == "user":
            text = text.replace(f"<@{world.bot}>", f"@{world.bot_name}")
        return Shown(
            id=message.id,
            author=message.author,
            text=text,
            edited=message.edited,
            where="direct" if message.channel in DIRECT.values() else "channel",
            thread=None if message.channel in (GENERAL, *DIRECT.values()) else message.channel,
            pings=[ping.raw for ping in message.pings],
            previews=message.previews,
            plain=ESCAPE.sub(r"\1", text),
        )


def _run(interaction: Interaction) -> Shown:
    options = cast("Sequence[Mapping[str, object]]", interaction.data.get("options", ()))
    values = [str(each["value"]) for each in options]
    return Shown(id=interaction.id, author="user", text=" ".join((f"/{interaction.name}", *values)), edited=False)
