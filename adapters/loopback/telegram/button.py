"""Buttons that users press, and that wait for the bot's answer."""

import itertools
from collections.abc import Callable

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.change import ButtonAnswered, ButtonPressed, Change
from adapters.loopback.telegram.keyboard import buttons_of
from adapters.loopback.telegram.message import Message


class Buttons:
    """Keeps what was pressed. The time to answer is real: it measures the bot."""

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None]) -> None:
        self.answers: dict[str, str] = {}
        self._clock = clock
        self._tell = tell
        self._pressed: dict[str, float] = {}
        self._numbers = itertools.count(4_000_000_000_000_001)

    def press(self, user: int, message: Message, data: str) -> str:
        """Press a button that the message has or had; returns the query's id.

        Raises:
            ValueError: it never had such a button.
        """
        markups = [version.reply_markup for version in message.versions if version.reply_markup]
        if all(button.get("callback_data") != data for markup in markups for button in buttons_of(markup)):
            msg = f"message {message.id} has no button {data!r}"
            raise ValueError(msg)
        query, now = str(next(self._numbers)), self._clock.real()
        self._pressed[query] = now
        self._tell(ButtonPressed(id=query, user=user, message=message, data=data, at=now))
        return query

    def answer(self, query: str, text: str) -> None:
        """Answer a press.

        Raises:
            RefusedError: there was none, it is too long ago, or the text is too long.
        """
        pressed = self._pressed.get(query)
        if pressed is None or self._clock.real() - pressed > outbound.QUERY_OLD.limit:
            raise RefusedError(outbound.QUERY_OLD)
        if len(text) > outbound.QUERY_TEXT.limit:
            raise RefusedError(outbound.QUERY_TEXT)
        self.answers[query] = text
        self._tell(ButtonAnswered(id=query, text=text))
