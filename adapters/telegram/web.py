"""Calls the Bot API. The SDK is loaded with this module.

Rule 1: a call is made once; the SDK repeats nothing by itself.
Rule 2: what comes of it is a value, whatever the network does; only cancellation passes through.
Rule 3: what Telegram said is read as it came, not as the SDK understands it: an update that is newer than the SDK must
    not be lost, and an error is more than the class of an exception.
Rule 4: the token stands in the address of every request, and in no line of a log.
"""

import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import httpx
from telegram import Bot
from telegram.request import HTTPXRequest

from adapters.telegram.login import hide
from adapters.telegram.outcome import Answer, NoAnswer
from gateway.payload import mapping

TIMEOUT = 30.0
"""Seconds until an answer comes, beyond what getUpdates waits; the SDK's five make a slow send an ambiguous one."""

CONNECT_TIMEOUT = 10.0
"""Seconds until a connection stands. Nothing was sent then."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)

_heard: ContextVar[list[Answer] | None] = ContextVar("heard", default=None)


class Web:
    """The Bot API for one bot. Opens nothing before it is asked; outside of ``connections`` each call opens its own.

    Args:
        token: the bot's.
        base_url: where it is, up to the token.
    """

    def __init__(self, token: str, base_url: str) -> None:
        self._token = token
        self._base_url = base_url
        self._bot: Bot | None = None

    @asynccontextmanager
    async def connections(self) -> AsyncGenerator[None]:
        """Keep connections open between calls."""
        async with _opened(self._token, self._base_url) as bot:
            self._bot = bot
            try:
                yield
            finally:
                self._bot = None

    async def ask(self, method: str, **arguments: object) -> Answer | NoAnswer:
        """What Telegram says to a call.

        Args:
            method: in the SDK's spelling: ``send_message``.
            arguments: in Telegram's: ``chat_id``.
        """
        if self._bot is not None:
            return await _ask(self._bot, method, arguments)
        async with _opened(self._token, self._base_url) as bot:
            return await _ask(bot, method, arguments)


@asynccontextmanager
async def _opened(token: str, base_url: str) -> AsyncGenerator[Bot]:
    sends, polls = _Request.toward(base_url), _Request.toward(base_url)
    try:
        yield Bot(token, base_url=base_url, request=sends, get_updates_request=polls)
    finally:
        await sends.shutdown()
        await polls.shutdown()


class _Request(HTTPXRequest):
    """The SDK's, which tells whoever asked what came back."""

    @classmethod
    def toward(cls, base_url: str) -> "_Request":
        """No proxy leads back to this machine, though the environment may name one for every host."""
        options = {"trust_env": False} if urlsplit(base_url).hostname in _LOOPBACK else {}
        return cls(read_timeout=TIMEOUT, write_timeout=TIMEOUT, connect_timeout=CONNECT_TIMEOUT, httpx_kwargs=options)

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        status, payload = await super().do_request(*args, **kwargs)
        if (heard := _heard.get()) is not None:
            heard.append(Answer(status=status, body=_body(payload)))
        return status, payload


def _body(payload: bytes) -> Mapping[str, object]:
    try:
        return mapping(json.loads(payload))
    except (ValueError, RecursionError):
        return {}


async def _ask(bot: Bot, method: str, arguments: Mapping[str, object]) -> Answer | NoAnswer:
    heard = list[Answer]()
    token = _heard.set(heard)
    try:
        await getattr(bot, method)(**arguments)
    except Exception as error:  # noqa: BLE001 - rule 3: where there is an answer, it counts; else what the client raised
        if not heard:
            cause = error.__cause__ or error
            sent = not isinstance(cause, _NOT_SENT)
            return NoAnswer(
                sent=sent, reason=hide(f"{type(cause).__name__}" if sent else f"{type(cause).__name__}: {cause}")
            )
    finally:
        _heard.reset(token)
    return heard[-1]


_QUOTES = ("Error while parsing updates", "Getting updates")
"""How the SDK's lines begin that hold whole updates."""


class _Quiet(logging.Filter):
    """Takes the token out of a line, and lets none through that quotes what people wrote."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str) and record.msg.startswith(_QUOTES):
            return False
        if (line := hide(record.getMessage())) != record.getMessage():
            record.msg, record.args = line, ()
        return True


for _name in ("httpx", "telegram.Bot", "telegram.request.HTTPXRequest"):
    logging.getLogger(_name).addFilter(_Quiet())
