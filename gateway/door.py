"""Who is let in: those whom the configuration names, and those whom the operator has paired.

Rule 1: whether somebody is paired is asked of the store each time, so that a pairing counts from the next message on,
        and one that was taken back from the next turn.
Rule 2: nobody but the operator pairs; here are only given the codes for it.
"""

import logging
import secrets
from collections.abc import Callable

from gateway import access, pairing
from gateway.inbound import CommandReceived, MessageReceived, PressReceived
from gateway.platform import Platform
from gateway.store import Pairings, Person

log = logging.getLogger(__name__)


class Door:
    """Lets in, and turns away.

    Args:
        pairings: who is paired.
        pairing: whether anybody can be; otherwise the configuration alone decides.
        draw: a number below the one that it is given, which nobody can guess.

    Raises:
        StoreError: from every method, where the store refuses.
    """

    def __init__(self, pairings: Pairings, *, pairing: bool, draw: Callable[[int], int] = secrets.randbelow) -> None:
        self._pairings = pairings
        self._open = pairing
        self._draw = draw
        self._told: dict[Person, str] = {}

    async def admits(self, platform: Platform, message: MessageReceived | CommandReceived | PressReceived) -> bool:
        """Whether a message may be answered, a command obeyed."""
        if access.admits(platform.allow, message):
            return True
        person = self._knocking(message)
        return person is not None and await self._pairings.has(person)

    async def refuse(self, message: MessageReceived | CommandReceived) -> str | None:
        """What to say to somebody who is not let in; none for silence.

        That is a code to a stranger who can be paired, once: who is told nothing more has it already, and finds it
        above. After a restart nobody knows whether it was seen, and it is said once again, if they ask again.
        """
        if (person := self._knocking(message)) is None:
            return None
        drawn = pairing.code(self._draw(pairing.CODES))
        code = await self._pairings.offer(person, drawn, lifetime=pairing.LIFETIME, most=pairing.PLACES)
        if code is None:
            log.warning("%s gets no pairing code: %d are open already", person.user, pairing.PLACES)
            return None
        if self._told.get(person) == code:
            return None
        self._told[person] = code
        log.info("%s gets a pairing code; dragoman pair --list shows it", person.user)
        return pairing.sentence(code)

    def _knocking(self, message: MessageReceived | CommandReceived | PressReceived) -> Person | None:
        return pairing.asker(message) if self._open else None
