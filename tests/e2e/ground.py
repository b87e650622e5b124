"""The platforms on loopback as the fault tests and the kill tests want them: one face, and what is peculiar as data.

On each there is one place where ada talks to the bot. What is seen of it is the platform's own state.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Literal

from pydantic import TypeAdapter

from adapters.discord.interaction import ASK, QUESTION
from adapters.discord.markup import content
from adapters.discord.markup import fits as fits_discord
from adapters.loopback.discord import LoopbackDiscord
from adapters.loopback.discord.venue import DiscordVenue
from adapters.loopback.discord.world import ADA, FOREIGN_CHANNEL, GENERAL
from adapters.loopback.slack import LoopbackSlack, Workspace
from adapters.loopback.slack.venue import SlackVenue
from adapters.loopback.telegram import LoopbackTelegram
from adapters.loopback.telegram.entity import Entity
from adapters.loopback.telegram.formatting import show
from adapters.loopback.telegram.venue import GROUP, TelegramVenue
from adapters.loopback.venue import Shown, Value, Venue
from adapters.slack.render import undo
from adapters.telegram.prose import fits as fits_telegram
from adapters.telegram.prose import rendered
from chunker import Unit, split
from gateway.notice import FOR, MAY_BE_A_REPEAT
from tests.e2e.judge import Look, Row

Name = Literal["slack", "discord", "telegram"]
Way = Literal["said", "command"]
"""How a question is asked: in a message to the bot, or by a slash command, where there is one."""

Variant = Literal["", "deaf", "group"]
"""``deaf``: in a place where nobody can tell whether a post arrived. ``group``: where several people talk."""

FOLLOW_UPS = 5
"""How many a guest's answer gets behind the first message."""

Entities = Sequence[Mapping[str, object]] | None

Server = LoopbackSlack | LoopbackDiscord | LoopbackTelegram


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is peculiar to a platform.

    Attributes:
        look: how a Markdown text looks there.
        read: how a message of this text and these entities looks.
        posts: the calls that show a new message.
        edits: those that change one.
        limit: how long a message gets.
        unit: in what.
        fits: whether the platform takes a text.
        settled: whether it can be found out what became of a post that nobody heard of.
    """

    look: Callable[[str], Look]
    read: Callable[[str, Entities], Look]
    posts: Sequence[str]
    edits: Sequence[str]
    limit: int = 800
    unit: Unit = "cp"
    fits: Callable[[str], bool] | None = None
    settled: bool = True

    def looks(self, text: str) -> list[Look]:
        """How a whole answer is shown: the looks of its chunks."""
        return list(_looks(self, text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A platform with a place in it.

    ``ask`` lets ada ask, always in the same conversation, and tells the question's id. ``settings`` are what the
    configuration needs beside the venue's. ``place`` is where all answers stand, by the first question's id.
    """

    server: Server
    venue: Venue
    terms: Terms
    ask: Callable[[str, Way], str]
    place: Callable[[str], tuple[str, str | None]]
    settings: Mapping[str, Value] = field(default_factory=dict[str, Value])

    @property
    def scale(self) -> float:
        """Platform seconds in a real one."""
        return self.server.clock.scale

    @property
    def notice(self) -> Look:
        """How the mark of a doubt looks."""
        return self.terms.look(MAY_BE_A_REPEAT)

    @property
    def moved(self) -> Look:
        """How the sentence looks that an answer stands here because its command has expired."""
        return self.terms.look(FOR.format(f"<@{ADA}>"))

    def lost(self, asked: str) -> bool:
        """Whether a question was a command that was not answered in time, or has expired."""
        if not isinstance(self.server, LoopbackDiscord):
            return False
        found = [each for each in self.server.interactions if each.id == asked]
        return any(each.state == "lost" or each.expires <= self.server.clock.now() for each in found)

    def rows(self) -> list[Row]:
        """What stands of the bot's, and what its readers took away, in order."""
        standing = [_row(self.terms, shown) for shown in self.venue.messages() if shown.author == "bot"]
        taken = [_row(self.terms, shown, deleted=True) for shown in self.venue.taken()]
        return sorted([*standing, *taken], key=lambda row: order(row.id))

    def places(self) -> set[tuple[str, str | None]]:
        """Where the bot's messages stand."""
        return {(shown.where, shown.thread) for shown in self.venue.messages() if shown.author == "bot"}

    def waiting(self) -> list[str]:
        """What readers still wait for: messages that say no more than that there will be one."""
        if not isinstance(self.server, LoopbackDiscord):
            return []
        return [message.id for message in self.server.messages() if message.loading]

    def calls(self, names: Sequence[str]) -> int:
        """How many calls of these names were made."""
        return sum(len(self.server.calls.of(name)) for name in names)

    def doubts(self) -> int:
        """How many posts were answered so that nobody can tell whether they were done."""
        calls = [call for name in self.terms.posts for call in self.server.calls.of(name)]
        return sum(call.retry_after is None and (not call.status or call.status >= 500) for call in calls)

    def spent(self, asked: Sequence[str], given_up: Sequence[bool]) -> bool:
        """Whether the platform took no more of the answers that were given up: to a command, as a guest."""
        if not isinstance(self.server, LoopbackDiscord) or self.terms.settled:
            return False
        interactions = [self.server.interaction(each) for each, ended in zip(asked, given_up, strict=True) if ended]
        over = self.server.clock.now()
        return all(
            each.state == "lost" or len(each.follow_ups) >= FOLLOW_UPS or each.expires <= over for each in interactions
        )

    def hold(self, names: Sequence[str], seconds: float) -> None:
        """Let the next call of each name be done, and its answer come so late."""
        for name in names:
            self.server.delay_next(name, seconds, taken=True)


def order(name: str) -> tuple[int, str]:
    """Messages in the order of their ids are in that of their appearance, on each platform."""
    return len(name), name


@cache
def _looks(terms: Terms, text: str) -> tuple[Look, ...]:
    return tuple(terms.look(chunk.text) for chunk in split(text, terms.limit, unit=terms.unit, fits=terms.fits))


def _row(terms: Terms, shown: Shown, *, deleted: bool = False) -> Row:
    return Row(id=shown.id, look=terms.read(shown.text, shown.entities), text=shown.text, deleted=deleted)


def open_ground(name: Name, time_scale: float, variant: Variant = "") -> AbstractAsyncContextManager[Ground]:
    """A platform that listens while the context lasts."""
    match name:
        case "slack":
            return _slack(time_scale, variant)
        case "discord":
            return _discord(time_scale, variant)
        case "telegram":
            return _telegram(time_scale, variant)


SLACK = Terms(
    look=str,
    read=lambda text, _: undo(text),
    posts=("chat.postMessage",),
    edits=("chat.update",),
)
_DEAF = Workspace(scopes=tuple(scope for scope in Workspace().scopes if not scope.endswith(":history")))
"""Here nothing can be read back."""


@asynccontextmanager
async def _slack(time_scale: float, variant: Variant) -> AsyncGenerator[Ground]:
    workspace = _DEAF if variant == "deaf" else Workspace()
    async with LoopbackSlack(workspace=workspace, time_scale=time_scale) as server:
        threads: list[str] = []

        def ask(text: str, _: Way) -> str:
            asked = server.say("U1", "C1", text, thread=threads[0] if threads else None)
            threads.append(asked.ts)
            return asked.ts

        yield Ground(
            server=server,
            venue=SlackVenue(server),
            terms=SLACK,
            ask=ask,
            place=lambda first: ("channel", first),
        )


DISCORD = Terms(
    look=content,
    read=lambda text, _: text,
    posts=("POST /channels/{channel}/messages", "POST /webhooks/{application}/{token}"),
    edits=(
        "PATCH /channels/{channel}/messages/{message}",
        "PATCH /webhooks/{application}/{token}/messages/@original",
        "PATCH /webhooks/{application}/{token}/messages/{message}",
    ),
    fits=partial(fits_discord, limit=800),
)
GUEST = replace(DISCORD, limit=1_950, fits=partial(fits_discord, limit=1_950), settled=False)


@asynccontextmanager
async def _discord(time_scale: float, variant: Variant) -> AsyncGenerator[Ground]:
    channel = FOREIGN_CHANNEL if variant == "deaf" else GENERAL
    async with LoopbackDiscord(time_scale=time_scale) as server:

        def ask(text: str, way: Way) -> str:
            if way == "said" and variant != "deaf":
                return server.say(ADA, channel, text).id
            return server.command(ADA, channel, ASK, {QUESTION: text}).id

        yield Ground(
            server=server,
            venue=DiscordVenue(server),
            terms=GUEST if variant == "deaf" else DISCORD,
            ask=ask,
            place=lambda _: ("channel", channel if variant == "deaf" else None),
            settings={"allow_channels": [channel]},
        )


_ENTITIES = TypeAdapter(tuple[Entity, ...])


def _marked(markdown: str) -> Look:
    marked = rendered(markdown)
    return _shown(marked.text, [entity.json() for entity in marked.entities])


def _shown(text: str, entities: Entities) -> Look:
    return _given(text, tuple(tuple(entity.items()) for entity in entities or ()))


@cache
def _given(text: str, entities: tuple[tuple[tuple[str, object], ...], ...]) -> Look:
    """As a reader is given it: a view of half a code block may be sent with a line end that Telegram takes away."""
    given = show(text, _ENTITIES.validate_python([dict(entity) for entity in entities]))
    return given.text, given.entities


TELEGRAM = Terms(
    look=_marked,
    read=_shown,
    posts=("sendMessage",),
    edits=("editMessageText",),
    unit="utf16",
    fits=partial(fits_telegram, limit=800),
    settled=False,
)


@asynccontextmanager
async def _telegram(time_scale: float, variant: Variant) -> AsyncGenerator[Ground]:
    async with LoopbackTelegram(time_scale=time_scale) as server:
        ada = server.world.users[0].id
        chat = GROUP if variant == "group" else ada
        yield Ground(
            server=server,
            venue=TelegramVenue(server),
            terms=TELEGRAM,
            ask=lambda text, _: str(server.say(ada, chat, text, mention=variant == "group").id),
            place=lambda _: ("channel" if variant == "group" else "direct", None),
        )


TERMS: Mapping[Name, Terms] = {"slack": SLACK, "discord": DISCORD, "telegram": TELEGRAM}
