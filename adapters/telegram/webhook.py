"""Takes in what Telegram sends to an address of ours.

Rule 1: who does not show the secret is turned away, and nothing is read.
Rule 2: an update is answered with 200 when it is kept. What was not is answered with 503, and comes again.
Rule 3: Telegram sends the next update of a chat when the one before is answered. So nothing is held here, and what
    belongs together is not put together.

Sources: https://core.telegram.org/bots/api#setwebhook ;
https://github.com/tdlib/telegram-bot-api/blob/master/telegram-bot-api/WebhookActor.cpp (a queue for each chat)
"""

import hmac
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import anyio
from aiohttp import web as http

from adapters.telegram.decode import ALLOWED_UPDATES
from adapters.telegram.ingress import Keep
from adapters.telegram.login import is_final
from adapters.telegram.merge import Group
from adapters.telegram.outcome import Answer, NoAnswer
from adapters.telegram.web import Web
from gateway.error import AdapterError, StoreError
from gateway.payload import mapping

log = logging.getLogger(__name__)

AGAIN = 30.0
"""Real seconds until Telegram is told the secret again, where it did not take it in."""

SECRET = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the name of a header


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Where Telegram sends to, what it shows, and where we listen for it."""

    url: str
    secret: str
    host: str
    port: int


async def listen(web: Web, hook: Hook, keep: Keep, ready: Callable[[], None]) -> Answer | NoAnswer:
    """Keep all that arrives, until cancelled or refused.

    Returns:
        Telegram's refusal of the address.

    Raises:
        AdapterError: we cannot listen there.
    """
    route = _Route(hook, keep)
    async with _served(hook, route):
        if (refusal := await _set(web, hook)) is not None:
            return refusal
        ready()
        await route.strange.wait()
        # The address is ours, and the secret is another: Telegram does not tell which one it knows. Once is enough: the
        # next who calls without it is a stranger.
        log.warning("somebody called the webhook without its secret; Telegram is told the secret once more")
        while True:
            refusal = await _told(web, hook)
            if isinstance(refusal, Answer) and is_final(refusal):
                return refusal
            await (anyio.sleep_forever() if refusal is None else anyio.sleep(AGAIN))


async def _set(web: Web, hook: Hook) -> Answer | NoAnswer | None:
    """Tell Telegram the address, if it knows another; its refusal."""
    known = await web.ask("get_webhook_info")
    if not isinstance(known, Answer) or not known.ok:
        return known
    info = mapping(known.result)
    allowed = info.get("allowed_updates")  # absent: all that we ask for, and more, which harms nobody
    same = info.get("url") == hook.url and (allowed is None or _is_what_we_ask_for(allowed))
    return None if same else await _told(web, hook)


async def _told(web: Web, hook: Hook) -> Answer | NoAnswer | None:
    answer = await web.ask("set_webhook", url=hook.url, secret_token=hook.secret, allowed_updates=list(ALLOWED_UPDATES))
    return None if isinstance(answer, Answer) and answer.ok else answer


def _is_what_we_ask_for(allowed: object) -> bool:
    names = cast("list[object]", allowed) if isinstance(allowed, list) else []
    return sorted(map(str, names)) == sorted(ALLOWED_UPDATES)


@asynccontextmanager
async def _served(hook: Hook, route: "_Route") -> AsyncGenerator[None]:
    app = http.Application()
    app.router.add_post(urlsplit(hook.url).path or "/", route.take)
    runner = http.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        try:
            await http.TCPSite(runner, hook.host, hook.port).start()
        except OSError as error:
            place = f"{hook.host} port {hook.port} ({error.strerror})"
            msg = f"nothing can listen at {place}: choose others in [telegram.webhook]"
            raise AdapterError(msg) from error
        yield
    finally:
        await runner.cleanup()


class _Route:
    def __init__(self, hook: Hook, keep: Keep) -> None:
        self._secret = hook.secret.encode()
        self._keep = keep
        self.strange = anyio.Event()

    async def take(self, request: http.Request) -> http.Response:
        if not hmac.compare_digest(request.headers.get(SECRET, "").encode("utf-8", "replace"), self._secret):
            self.strange.set()
            return http.Response(status=403)
        try:
            update = mapping(json.loads(await request.read()))
        except (ValueError, RecursionError):
            return http.Response(status=400)
        now = anyio.current_time()
        try:
            await self._keep(Group([update], now, now, whole=True))
        except StoreError as error:
            log.warning("an update was not stored, so Telegram will send it again: %s", error)
            return http.Response(status=503)
        return http.Response()
