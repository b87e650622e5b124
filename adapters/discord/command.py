"""The slash commands, and how Discord comes to know them. What is sent is compared first: creating is rationed.

Source: https://docs.discord.com/developers/interactions/application-commands
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import chain, repeat
from typing import cast

import anyio

from adapters.discord.interaction import ASK, QUESTION
from adapters.discord.outcome import Answer, NoAnswer, retry_after
from adapters.discord.render import Call
from gateway.payload import items, mapping

log = logging.getLogger(__name__)

PAUSES = (5.0, 15.0, 60.0, 300.0, 1800.0)
"""Seconds until the commands are tried again, the first time, the second, ..."""

Ask = Callable[[Call], Awaitable[Answer | NoAnswer]]

_EVERYWHERE: Mapping[str, object] = {"type": 1, "integration_types": [0, 1], "contexts": [0, 1, 2]}
_TEXT = {
    "type": 3,
    "name": QUESTION,
    "description": "What you want to know",
    "required": True,
    "max_length": 6_000,
}

_WHICH = {"type": 3, "name": "id", "description": "What is asked, if more than one thing is", "max_length": 40}
"""That it need not be filled in is not said: Discord does not give back what is the default."""

_TOOL = {"type": 3, "name": "tool", "description": "Its name", "required": True, "max_length": 64}

COMMANDS: tuple[Mapping[str, object], ...] = (
    {**_EVERYWHERE, "name": ASK, "description": "Ask the bot", "options": [_TEXT]},
    {**_EVERYWHERE, "name": "new", "description": "Begin anew: what was said here so far is forgotten"},
    {**_EVERYWHERE, "name": "stop", "description": "Stop the answer that is being written"},
    {**_EVERYWHERE, "name": "status", "description": "See what is going on here"},
    {**_EVERYWHERE, "name": "approve", "description": "Let a tool do what it asks for", "options": [_WHICH]},
    {**_EVERYWHERE, "name": "deny", "description": "Do not let a tool do what it asks for", "options": [_WHICH]},
    {**_EVERYWHERE, "name": "approvals", "description": "See what waits for approval, and what is allowed for good"},
    {**_EVERYWHERE, "name": "revoke", "description": "Allow a tool no more for good", "options": [_TOOL]},
    {**_EVERYWHERE, "name": "help", "description": "See what you can ask for"},
)
"""In servers and direct messages, for who installed the application for a server or for themselves."""


async def register(ask: Ask, application: str) -> float | None:
    """Make sure that Discord offers the commands. Where that fails it is logged; all else works without.

    Returns:
        After how many seconds at least it may be tried again; none where that is not needed, or would not help.
    """
    path = f"/applications/{application}/commands"
    known = await ask(Call(method="GET", path=path))
    if isinstance(known, NoAnswer) or not known.ok:
        return _failed("which slash commands are registered is not known, so they stay as they are", known)
    if _same(known.body):
        return None
    answer = await ask(Call(method="PUT", path=path, body=COMMANDS))
    if isinstance(answer, NoAnswer) or not answer.ok:
        return _failed("the slash commands were not registered", answer)
    return None


async def register_yet(ask: Ask, application: str, wait: float) -> None:
    """Try again, ever more seldom, until there is nothing to try any more; the first time after ``wait`` seconds."""
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        await anyio.sleep(max(pause, wait))
        again = await register(ask, application)
        if again is None:
            return
        wait = again


def _failed(what: str, answer: Answer | NoAnswer) -> float | None:
    """Log it, and say when to try again: where Discord was not there, is busy or broken, but not where it says no."""
    wait = None
    if isinstance(answer, NoAnswer) or answer.status >= 500:
        wait = 0.0
    elif answer.status == 429:
        wait = retry_after(answer)
    log.warning("%s; %s: %s", what, "at the next start again" if wait is None else "it is tried again", _why(answer))
    return wait


def _why(answer: Answer | NoAnswer) -> str:
    return answer.reason if isinstance(answer, NoAnswer) else f"HTTP {answer.status}, code {answer.code}"


def _same(registered: object) -> bool:
    """Whether what is registered says what we would say; Discord adds fields and fills in what was left out."""
    theirs = {mapping(each).get("name"): each for each in items(registered)}
    return theirs.keys() == {each["name"] for each in COMMANDS} and all(
        _holds(theirs[each["name"]], each) for each in COMMANDS
    )


def _holds(theirs: object, ours: object) -> bool:
    """Whether a value is there, in whatever order Discord keeps a list."""
    if fields := mapping(ours):
        return all(_holds(mapping(theirs).get(name), value) for name, value in fields.items())
    if isinstance(ours, list):
        values, wanted = items(theirs), items(cast("object", ours))
        return len(values) == len(wanted) and all(any(_holds(value, each) for value in values) for each in wanted)
    return theirs == ours
