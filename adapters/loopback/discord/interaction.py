"""A command that was run or a button that was pressed, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["waiting", "deferred", "answered", "lost"]
"""Nobody has answered yet; a loading message stands there; it was answered; nobody answered in time."""

COMMAND, BUTTON = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One interaction.

    Attributes:
        id: its snowflake.
        token: what its routes are called with.
        type: 2 is a command, 3 a button.
        name: the command's name, or the button's ``custom_id``.
        data: what was chosen, as on the wire.
        user: whose.
        channel: where.
        guild: in which guild; none in direct messages.
        user_installed: the app is there only because the user carries it.
        source: the message of the button.
        t: platform seconds since the server's start.
        at: real seconds of the same moment, on the clock's scale.
        expires: platform seconds at which the token ends.
        state: what became of it.
        latency: real seconds until the first response.
        ephemeral: the first response said that only the user sees it.
        response: the message that answers it.
        follow_ups: what was said after that, oldest first.
    """

    id: str
    token: str = field(repr=False)
    type: int
    name: str
    data: Mapping[str, object]
    user: str
    channel: str
    guild: str | None = None
    user_installed: bool = False
    source: str | None = None
    t: float
    at: float
    expires: float
    state: State = "waiting"
    latency: float | None = None
    ephemeral: bool = False
    response: str | None = None
    follow_ups: tuple[str, ...] = ()
