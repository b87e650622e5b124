"""Discord's routes, as far as they are here: which call is which, and what it counts against. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import unquote

from adapters.loopback.discord.answer import RefusedError
from adapters.loopback.discord.rule import BODY_FORMAT
from adapters.loopback.discord.window import Allowance


class Door(Enum):
    """Who may call a route."""

    BOT = "with the bot's token"
    INTERACTION = "with an interaction's token in the path; such calls do not count against the global limit"


# What Discord tells in headers only; those of messages and webhooks are what others saw there, the rest are guesses.
SEND = Allowance(name="send", limit=5, seconds=5.0)
EDIT = Allowance(name="edit", limit=5, seconds=5.0)
DELETE = Allowance(name="delete", limit=5, seconds=1.0)
READ = Allowance(name="read", limit=5, seconds=5.0)
REACT = Allowance(name="react", limit=1, seconds=0.25)
TYPE = Allowance(name="type", limit=5, seconds=5.0)
WEBHOOK = Allowance(name="webhook", limit=5, seconds=5.0)
CALLBACK = Allowance(name="callback", limit=5, seconds=1.0)
COMMANDS = Allowance(name="commands", limit=5, seconds=20.0)
LOOK_UP = Allowance(name="look up", limit=30, seconds=30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route: a method and a path with names in it.

    Attributes:
        name: as in Discord's documents, such as "POST /channels/{channel}/messages".
        allowance: what it counts against, together with its bucket's other routes.
        major: the names in the path that each have a window of their own.
        door: who may call it.
    """

    name: str
    allowance: Allowance
    major: tuple[str, ...] = ()
    door: Door = Door.BOT
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _, _, path = self.name.partition(" ")
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path))
        object.__setattr__(self, "pattern", re.compile(pattern))

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.name.partition(" ")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that has arrived.

    Attributes:
        route: which one.
        path: the values in its path.
        query: behind the question mark.
        body: the JSON that was sent; none where it is not readable.
        files: how many files were sent along.
        authorization: the header.
    """

    route: Route
    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: object = field(default_factory=dict[str, object])
    files: int = 0
    authorization: str = field(default="", repr=False)


GET_MESSAGES = "GET /channels/{channel}/messages"
POST_MESSAGE = "POST /channels/{channel}/messages"
GET_MESSAGE = "GET /channels/{channel}/messages/{message}"
PATCH_MESSAGE = "PATCH /channels/{channel}/messages/{message}"
DELETE_MESSAGE = "DELETE /channels/{channel}/messages/{message}"
PUT_REACTION = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
DELETE_REACTION = "DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
TYPING = "POST /channels/{channel}/typing"
CALLBACK_ROUTE = "POST /interactions/{interaction}/{token}/callback"
FOLLOW_UP = "POST /webhooks/{application}/{token}"
GET_ORIGINAL = "GET /webhooks/{application}/{token}/messages/@original"
PATCH_ORIGINAL = "PATCH /webhooks/{application}/{token}/messages/@original"
DELETE_ORIGINAL = "DELETE /webhooks/{application}/{token}/messages/@original"
GET_FOLLOW_UP = "GET /webhooks/{application}/{token}/messages/{message}"
PATCH_FOLLOW_UP = "PATCH /webhooks/{application}/{token}/messages/{message}"
DELETE_FOLLOW_UP = "DELETE /webhooks/{application}/{token}/messages/{message}"


def _by_channel(name: str, allowance: Allowance) -> Route:
    return Route(name=name, allowance=allowance, major=("channel",))


def _by_token(name: str) -> Route:
    return Route(name=name, allowance=WEBHOOK, major=("application", "token"), door=Door.INTERACTION)


def _look_up(name: str) -> Route:
    return Route(name=name, allowance=LOOK_UP)


ROUTES: Mapping[str, Route] = {
    route.name: route
    for route in (
        _look_up("GET /users/@me"),
        _look_up("GET /users/{user}"),
        _look_up("POST /users/@me/channels"),
        _look_up("GET /oauth2/applications/@me"),
        _look_up("GET /applications/@me"),
        _look_up("GET /gateway"),
        _look_up("GET /gateway/bot"),
        _look_up("GET /guilds/{guild}"),
        _look_up("GET /channels/{channel}"),
        _by_channel(GET_MESSAGES, READ),
        _by_channel(POST_MESSAGE, SEND),
        _by_channel(GET_MESSAGE, READ),
        _by_channel(PATCH_MESSAGE, EDIT),
        _by_channel(DELETE_MESSAGE, DELETE),
        _by_channel(PUT_REACTION, REACT),
        _by_channel(DELETE_REACTION, REACT),
        _by_channel(TYPING, TYPE),
        Route(name="GET /applications/{application}/commands", allowance=COMMANDS),
        Route(name="PUT /applications/{application}/commands", allowance=COMMANDS),
        Route(name="GET /applications/{application}/guilds/{guild}/commands", allowance=COMMANDS, major=("guild",)),
        Route(name="PUT /applications/{application}/guilds/{guild}/commands", allowance=COMMANDS, major=("guild",)),
        Route(name=CALLBACK_ROUTE, allowance=CALLBACK, major=("interaction", "token"), door=Door.INTERACTION),
        _by_token(FOLLOW_UP),
        _by_token(GET_ORIGINAL),
        _by_token(PATCH_ORIGINAL),
        _by_token(DELETE_ORIGINAL),
        _by_token(GET_FOLLOW_UP),
        _by_token(PATCH_FOLLOW_UP),
        _by_token(DELETE_FOLLOW_UP),
    )
}
"""All routes by their names; where two fit a path the earlier one is meant."""


def readable(call: Call) -> Call:
    """The call, if its body could be read.

    Raises:
        RefusedError: it is no JSON.
    """
    if call.body is None:
        raise RefusedError(BODY_FORMAT)
    return call


def find_route(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route of a path, with the values in it; none where there is no such route."""
    for route in ROUTES.values():
        if route.method == method and (found := route.pattern.fullmatch(path)):
            return route, {name: unquote(value) for name, value in found.groupdict().items()}
    return None
