"""Buttons that users press, and that wait for the bot's answer."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.change import ButtonAnswered, ButtonPressed, Change
from adapters.loopback.telegram.keyboard import buttons_of
from adapters.loopback.telegram.message import Message


@dataclass(slots=True, kw_only=True)
class _Press:
    user: int
    at: float
    answer: str | None = None


class Buttons:
    """Keeps what was pressed. The time to answer is real: it measures the bot."""

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None]) -> None:
        self._clock = clock
        self._tell = tell
        self._presses: dict[str, _Press] = {}
        self._numbers = itertools.count(4_000_000_000_000_001)

    @property
    def answers(self) -> dict[str, str]:
        """What was answered, by the query's id."""
        return {query: press.answer for query, press in self._presses.items() if press.answer is not None}

    @property
    def waiting(self) -> int:
        """How many presses can be answered still."""
        return sum(press.answer is None and not self._is_old(press) for press in self._presses.values())

    def shown_to(self, user: int) -> list[str]:
        """What a user was told for their presses, oldest first."""
        return [press.answer for press in self._presses.values() if press.user == user and press.answer]

    def press(self, user: int, message: Message, data: str) -> str:
        """Press a button that the message has or had; returns the query's id.

        Raises:
            ValueError: it never had such a button, or is gone.
        """
        markups = [version.reply_markup for version in message.versions if version.reply_markup]
        known = any(button.get("callback_data") == data for markup in markups for button in buttons_of(markup))
        if message.deleted or not known:
            msg = f"message {message.id} has no button {data!r}"
            raise ValueError(msg)
        query, now = str(next(self._numbers)), self._clock.real()
        self._presses[query] = _Press(user=user, at=now)
        self._tell(ButtonPressed(id=query, user=user, message=message, data=data, at=now))
        return query

    def outdate(self) -> None:
        """Let every press have been too long ago."""
        for press in self._presses.values():
            press.at = -math.inf

    def answer(self, query: str, text: str) -> None:
        """Answer a press.

        Raises:
            RefusedError: there was none, it is too long ago or answered, or the text is too long.
        """
        press = self._presses.get(query)
        if press is None or press.answer is not None or self._is_old(press):
            raise RefusedError(outbound.QUERY_OLD)
        if len(text) > outbound.QUERY_TEXT.limit:
            raise RefusedError(outbound.QUERY_TEXT)
        press.answer = text
        self._tell(ButtonAnswered(id=query, text=text))

    def _is_old(self, press: _Press) -> bool:
        return self._clock.real() - press.at > outbound.QUERY_OLD.limit
