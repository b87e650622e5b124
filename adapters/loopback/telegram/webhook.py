"""Brings updates to the bot's webhook, again and again until they are taken.

Rule 1: the updates of one chat go in their order, one at a time; those of others go beside them.
Rule 2: whatever is not answered with 2xx goes again: after 1 second, then doubling to 60, or when ``Retry-After`` says.
"""

import asyncio
from typing import TYPE_CHECKING, cast

from aiohttp import ClientError, ClientSession, ClientTimeout

from adapters.loopback.clock import PlatformClock
from adapters.loopback.telegram import inbound
from adapters.loopback.telegram.delivery import Address, Delivery
from adapters.loopback.telegram.mailbox import Update

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_WISH = 3600
_PATIENCE = 60.0
"""Real seconds for an answer; it is the bot's time, so it is not scaled."""


class Webhook:
    """Delivers while an address is set. Delays are platform seconds."""

    def __init__(self, clock: PlatformClock, delivery: Delivery) -> None:
        self._clock = clock
        self._delivery = delivery
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._delays: dict[int, float] = {}
        self._session: ClientSession | None = None
        self._runner: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look for updates."""
        self._session = ClientSession(timeout=ClientTimeout(total=_PATIENCE))
        self._runner = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Leave what is not delivered."""
        tasks = [task for task in (self._runner, *self._under_way.values()) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _run(self) -> None:
        while True:
            self._begin()
            await self._delivery.came()

    def _begin(self) -> None:
        address = self._delivery.address
        if address is None:
            return
        for update in self._delivery.due():
            chat = chat_of(update)
            if chat not in self._under_way and len(self._under_way) < address.max_connections:
                self._under_way[chat] = asyncio.create_task(self._bring(chat, update, address))

    async def _bring(self, chat: str, update: Update, address: Address) -> None:
        update_id = cast("int", update["update_id"])
        try:
            wish = await self._post(update, address)
            if wish is None:
                self._delays.pop(update_id, None)
                self._delivery.delivered(update_id)
            else:
                delay = self._delays.get(update_id, 1.0)
                self._delays[update_id] = following(delay)
                await asyncio.sleep((wish or delay) / self._clock.scale)
        finally:
            del self._under_way[chat]
        self._begin()

    async def _post(self, update: Update, address: Address) -> float | None:
        """Bring one update; none if it was taken, else how long the bot wishes us to wait, 0 without a wish."""
        assert self._session is not None  # noqa: S101 - told to the type checker: who delivers was started
        headers = {"X-Telegram-Bot-Api-Secret-Token": address.secret} if address.secret else {}
        try:
            async with self._session.post(address.url, json=dict(update), headers=headers) as response:
                if 200 <= response.status < 300:
                    return None
                error = f"Wrong response from the webhook: {response.status} {response.reason}"
                wish = response.headers.get("Retry-After", "")
        except (ClientError, TimeoutError) as failure:
            error, wish = f"Connection failed: {type(failure).__name__}", ""
        self._delivery.last_error = (int(self._clock.unix()), error)
        return float(min(_LONGEST_WISH, int(wish))) if wish.isdecimal() else 0.0


def following(delay: float) -> float:
    """How long the attempt after the next waits."""
    return min(float(inbound.WEBHOOK_AGAIN.limit), 2 * delay)


def chat_of(update: Update) -> str:
    """What an update is about; those without a chat stand in one row."""
    for value in update.values():
        if isinstance(value, dict):
            inner = cast("Mapping[str, object]", value)
            message = inner.get("message")
            chat = (cast("Mapping[str, object]", message) if isinstance(message, dict) else inner).get("chat")
            if isinstance(chat, dict):
                return str(cast("Mapping[str, object]", chat).get("id"))
    return ""
