"""Asks Telegram for updates, and keeps them.

Rule 1: an update is confirmed when it is kept, and all before it are. Nothing else confirms.
Rule 2: what was not kept is forgotten, and comes again.
Rule 3: while a message is held that may go on, Telegram is asked again and again without waiting, for it gives what is
    not confirmed at once.
Rule 4: a token that Telegram does not take any more ends it; all else is tried again for ever.

Source: https://core.telegram.org/bots/api#getupdates
"""

import logging
from collections.abc import Awaitable, Callable

import anyio

from adapters.telegram.decode import ALLOWED_UPDATES
from adapters.telegram.login import is_final
from adapters.telegram.merge import Group, Merge
from adapters.telegram.outcome import Answer, NoAnswer, wait
from adapters.telegram.web import Web
from gateway.error import StoreError
from gateway.payload import objects

log = logging.getLogger(__name__)

POLL = 30
"""Seconds that Telegram waits for something to tell; it takes 50 at most."""

STEP = 0.25
"""Real seconds between two looks for the rest of a message that is held."""

BACK_OFF = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Real seconds to wait after the first, second, ... failure in a row."""

_WEBHOOK = "webhook"

Keep = Callable[[Group], Awaitable[None]]
"""Stores one message.

Raises:
    StoreError: it was not stored.
"""


async def listen(web: Web, keep: Keep, ready: Callable[[], None]) -> Answer:
    """Keep all that arrives, until cancelled or refused.

    Args:
        web: asks.
        keep: is given every message.
        ready: called when Telegram has answered for the first time.

    Returns:
        Telegram's refusal of the token.
    """
    return await _Poller(web, keep, ready).run()


class _Poller:
    def __init__(self, web: Web, keep: Keep, ready: Callable[[], None]) -> None:
        self._web = web
        self._keep = keep
        self._ready = ready
        self._begun = False
        self._failures = 0
        self._freed = False
        self._merge = Merge()

    async def run(self) -> Answer:
        while True:
            answer = await self._ask()
            if isinstance(answer, Answer) and answer.ok:
                await self._take(answer)
            elif isinstance(answer, Answer) and is_final(answer):
                return answer
            else:
                await self._mend(answer)

    async def _ask(self) -> Answer | NoAnswer:
        """The next updates. The first time nothing is waited for, so that it is soon known whether we are let in."""
        patient = self._begun and self._merge.due() is None
        offset = self._merge.offset
        answer = await self._web.ask(
            "get_updates", offset=offset, timeout=POLL if patient else 0, allowed_updates=list(ALLOWED_UPDATES)
        )
        if isinstance(answer, Answer) and answer.ok and offset is not None:
            self._merge.confirmed(offset)
        return answer

    async def _take(self, answer: Answer) -> None:
        self._freed = False
        if not self._begun:
            self._begun = True
            self._ready()
        now = anyio.current_time()
        for update in objects(answer.result):
            self._merge.feed(update, now)
        try:
            await self._store(now)
            if (due := self._merge.due()) is not None:
                await anyio.sleep(min(STEP, max(0.0, due - anyio.current_time())))
                await self._store(anyio.current_time())
        except StoreError as error:
            log.warning("an update was not stored, so Telegram is asked for it again: %s", error)
            self._merge.forget()
            await self._pause()
        else:
            self._failures = 0

    async def _store(self, now: float) -> None:
        for group in self._merge.take(now):
            await self._keep(group)
            self._merge.done(group)

    async def _mend(self, answer: Answer | NoAnswer) -> None:
        """Telegram gave nothing: say why, do what can be done about it, and wait."""
        if isinstance(answer, NoAnswer):
            log.warning("Telegram cannot be reached, and is asked again: %s", answer.reason)
        elif answer.status == 429:
            log.warning("Telegram asks to wait %g s before it is asked for updates again", wait(answer))
            await anyio.sleep(wait(answer))
            return
        elif answer.status == 409 and _WEBHOOK in answer.description.lower() and not self._freed:
            log.warning("a webhook is set, so Telegram gives no updates to whoever asks: it is deleted")
            freed = await self._web.ask("delete_webhook")
            self._freed = isinstance(freed, Answer) and freed.ok
            if self._freed:
                return
        elif answer.status == 409:
            log.error(
                "Telegram says %s: another process asks with this token, or a webhook is set by one; stop it, or get "
                "another token from @BotFather. Tried again",
                answer.description,
            )
        else:
            log.warning("Telegram gives no updates: HTTP %s %s; tried again", answer.status, answer.description)
        await self._pause()

    async def _pause(self) -> None:
        self._failures += 1
        await anyio.sleep(BACK_OFF[min(self._failures, len(BACK_OFF)) - 1])
