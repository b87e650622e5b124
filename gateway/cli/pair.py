"""``dragoman pair``: lets in a stranger whom the bot has given a code."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from gateway import app, pairing
from gateway.cli import output
from gateway.cli.choice import PLATFORMS, chosen, hint
from gateway.command import duration
from gateway.configuration import AgentSettings
from gateway.error import PairingError, UsageError
from gateway.store import Pairing, Pairings, Person

OFF = "dragoman: pairing is off ([agent] pairing = false), so that nobody is let in by it"


def main(config: Path | None, *, code: str | None, show: bool, revoke: tuple[str, str] | None) -> int:
    """Confirm a code, show what there is, or take a pairing back; then print what came of it.

    Raises:
        ConfigurationError: the configuration cannot be used.
        PairingError: nobody has that code, or is paired by that name.
        StoreError: there is no store, or it refuses.
        UsageError: not one of the three was asked for, or the code is none.
    """
    task = _task(code, show, revoke)
    configuration = app.configure(config)
    settings = configuration.read("agent", AgentSettings)  # before a code is spent: it may be wrong

    async def ask() -> list[str]:
        async with app.pairings(configuration) as pairings:
            return await task(pairings)

    lines = anyio.run(ask)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if not settings.pairing:
        output.tell(OFF)
    return 0


def _task(code: str | None, show: bool, revoke: tuple[str, str] | None) -> Callable[[Pairings], Awaitable[list[str]]]:
    if (code is not None) + show + (revoke is not None) != 1:
        msg = "name a code, or --list, or --revoke PLATFORM USER"
        raise UsageError(msg)
    if revoke is not None:
        platform, user = revoke
        return lambda pairings: _revoked(pairings, platform, user)
    if code is None:
        return _listed
    if (known := pairing.read(code)) is None:
        msg = f"{code!r} is no pairing code: they are {pairing.LENGTH} of {pairing.ALPHABET}, as in CDFG-HJKM"
        raise UsageError(msg)
    return lambda pairings: _confirmed(pairings, known)


async def _confirmed(pairings: Pairings, code: str) -> list[str]:
    if (person := await pairings.confirm(code)) is None:
        msg = (
            f"nobody has the code {pairing.shown(code)} (any more): it is good once, and for an hour. --list shows"
            " those that are open; a new one is given to who writes to the bot then"
        )
        raise PairingError(msg)
    return [f"{_name(person)} is paired: ask for the message to be sent again, it is answered now"]


async def _revoked(pairings: Pairings, platform: str, user: str) -> list[str]:
    """Whoever is paired by that name; also on a platform that is no more, or is not one of ours."""
    if people := await pairings.revoke(platform, user) or await pairings.revoke(platform.lower(), user):
        return [f"{_name(person)} is paired no more" for person in people]
    if chosen(platform, PLATFORMS) is None:
        msg = f"{platform!r} is no platform{hint(platform, PLATFORMS)}"
        raise UsageError(msg)
    msg = f"{user} is not paired on {platform.lower()}: --list shows who is"
    raise PairingError(msg)


async def _listed(pairings: Pairings) -> list[str]:
    everyone = await pairings.everyone()
    return list(map(_line, everyone)) or ["nobody is paired, and no code is open"]


def _line(known: Pairing) -> str:
    if known.code is None:
        return f"{_name(known.person)}: paired for {duration(known.seconds)}"
    return f"{_name(known.person)}: {pairing.shown(known.code)}, good for {duration(known.seconds)}"


def _name(person: Person) -> str:
    return f"{person.platform} {person.user} ({person.account})"
