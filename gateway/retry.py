"""What follows when a model call has failed. Pure.

Rule 1: where nobody has seen anything of it, it is made again after a while; then the fallback model is asked.
Rule 2: where something was seen and no tool has begun, the message is discarded, and the turn begins anew, once; not
        where what was shown cannot be taken off the screen.
Rule 3: behind the first tool nothing is made again: the run goes on from what is known, a few times.
"""

from dataclasses import dataclass, field
from typing import Literal

from gateway.event import Error

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
"""Seconds before a call is made again: doubled each time from the first to the longest, and up to half of it less."""

GOES_ON = 2
"""How often in a row a run goes on behind a message that broke off."""

Step = Literal["again", "fallback", "discard", "go on", "end"]


@dataclass(slots=True, kw_only=True)
class Retries:
    """The failures of a run's model calls.

    Args:
        most: how often a call that nobody has seen anything of is made again.
        fallback: there is another model to ask.
    """

    most: int
    fallback: bool
    _made: int = field(default=0, init=False)
    _discarded: bool = field(default=False, init=False)
    _broken: int = field(default=0, init=False)

    def begin(self) -> None:
        """A new turn begins."""
        self._made, self._discarded = 0, False

    def succeeded(self) -> None:
        """A message came to its end."""
        self._broken = 0

    def failed(self, error: Error, *, told: bool, started: bool, overwritable: bool) -> Step:
        """What follows.

        Args:
            error: what went wrong.
            told: something of the message was told to others.
            started: a tool has begun that the message called.
            overwritable: what was shown of it can be taken back.
        """
        if started:
            self._broken += 1
            return "go on" if error.retryable and self._broken <= GOES_ON else "end"
        if told:
            if error.retryable and overwritable and not self._discarded:
                self._discarded = True
                return "discard"
            return "end"
        if error.retryable and self._made < self.most:
            self._made += 1
            return "again"
        if self.fallback:
            self.fallback, self._made = False, 0
            return "fallback"
        return "end"

    def pause(self, chance: float) -> float:
        """Seconds to wait before the call is made again; ``chance`` is drawn evenly from 0 to 1."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self._made - 1))
        return longest * (1 - chance / 2)
