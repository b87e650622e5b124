"""Takes in what Slack sends through Socket Mode. slack-bolt is loaded with this module.

Rule 1: a payload is given to ``keep`` before bolt looks at it, and is acknowledged when ``keep`` has returned. So
    everything is acknowledged that was stored, whether somebody listens for it or not, and nothing else is.
Rule 2: payloads are kept in the order in which they came through the socket.
Rule 3: a token that Slack does not take any more ends it; all else is tried again for ever.
Rule 4: when it ends, no task and no connection is left, and what breaks because the socket is closed is not told.

Sources: https://docs.slack.dev/apis/events-api/using-socket-mode and the SDK's own code, whose attempts to connect
never end and use one address over and over, though an address is good for one connection only.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import time
from typing import Any

import anyio
from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.login import FINAL
from adapters.slack.web import answer_of
from gateway.error import StoreError

log = logging.getLogger(__name__)
_bolt_log = logging.getLogger(f"{__name__}.bolt")
_bolt_log.setLevel(logging.ERROR)  # below that it explains environment variables that are not meant for it

PING = 5.0
"""Seconds between the socket's pings; after four without an answer it is opened anew."""

FAREWELL = 2.0
"""Seconds that a socket gets for closing in good order."""

Keep = Callable[[object], Awaitable[None]]
"""Stores one payload.

Raises:
    StoreError: it was not stored.
"""


async def listen(web: AsyncWebClient, app_token: str, url: str, keep: Keep, ready: Callable[[], None]) -> str:
    """Keep all that arrives, until cancelled or refused.

    Args:
        web: asks for the addresses of further sockets.
        app_token: for them.
        url: the first socket's address.
        keep: is given every payload.
        ready: called when the first socket is open.

    Returns:
        Slack's reason for not taking the token any more.
    """
    socket = _Socket(web, app_token, url)

    async def connect() -> None:
        await socket.connect()
        ready()

    try:
        _Handler(web, socket, keep)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect)
            tasks.start_soon(socket.renew)
            await socket.refused.wait()
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await socket.leave()
    return socket.refusal


class _Socket(SocketModeClient):
    """The SDK's socket, with an end."""

    message_processor: asyncio.Future[Any]
    message_receiver: asyncio.Future[Any] | None
    current_session_monitor: asyncio.Future[Any] | None

    def __init__(self, web: AsyncWebClient, app_token: str, url: str) -> None:
        self._leaving = False
        super().__init__(app_token=app_token, logger=self._logger(), web_client=web, ping_interval=PING)
        self.proxy = web.proxy
        self.wss_uri = url
        self.refused = anyio.Event()
        self.refusal = ""
        self._running: set[asyncio.Future[Any]] = set()

    def _logger(self) -> logging.Logger:
        """One for this socket alone: another one may be opened while this one is left."""
        logger = logging.Logger(f"{__name__}.socket")
        logger.parent = log
        logger.addFilter(self._tells)
        return logger

    def _tells(self, record: logging.LogRecord) -> bool:
        """Whether a line of the SDK's is of use: while we leave, it complains that the socket closes under it."""
        broken = record.exc_info is not None and isinstance(record.exc_info[1], ConnectionError)
        return not (self._leaving and (broken or record.levelno <= logging.WARNING))

    async def issue_new_wss_url(self) -> str:
        """A further address; where the token is refused for good, also the end."""
        try:
            return await super().issue_new_wss_url()
        except SlackApiError as error:
            code = answer_of(error).error
            if code in FINAL:
                self.refusal = code
                self.refused.set()
            raise

    async def renew(self) -> None:
        """While there is no connection, forget the address, so that the next attempt asks for another."""
        while True:
            await anyio.sleep(PING)
            if not await self.is_connected():
                self.wss_uri = None

    async def run_message_listeners(self, message: dict[str, object], raw_message: str) -> None:
        """As the SDK does, which starts it as a task and forgets it; here it is remembered."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - told to the type checker: coroutines run in tasks
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await super().run_message_listeners(message, raw_message)  # pyright: ignore[reportUnknownMemberType]  # untyped in the SDK

    async def leave(self) -> None:
        """Close the socket and wait for the end of all that runs. What was not acknowledged comes again."""
        self._leaving = True
        with anyio.move_on_after(FAREWELL):
            await self.close()
        await self.aiohttp_client_session.close()  # the SDK does so, if it comes to it
        loops = (self.message_processor, self.message_receiver, self.current_session_monitor)
        tasks = [*self._running, *(loop for loop in loops if loop is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Verdict(BoltResponse):
    """What came of storing. Any other response is bolt's own, and says nothing about that."""


class _Handler(AsyncBaseSocketModeHandler):
    """Gives the socket's envelopes to bolt, and bolt's verdict back."""

    def __init__(self, web: AsyncWebClient, client: SocketModeClient, keep: Keep) -> None:
        self.app = self._bolt = _bolt(web, self._store)
        self.client = client
        self._keep = keep
        client.socket_mode_request_listeners.append(self.handle)

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        """Acknowledge the envelope if its payload was stored; store it here where bolt did not come to that."""
        started = time()
        response: BoltResponse | None = None
        with suppress(Exception):  # whatever bolt raises over a payload that it cannot read
            response = await run_async_bolt_app(self._bolt, req)
        if not isinstance(response, _Verdict):  # bolt may also answer before it asks anybody
            response = await self._store(req.payload)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # untyped in the SDK
        with suppress(ConnectionError):  # the socket was closed meanwhile: Slack sends the event again, and it is known
            await send_async_response(client, req, response, started)

    async def _store(self, body: dict[str, Any]) -> _Verdict:
        try:
            await self._keep(body)
        except StoreError as error:
            log.warning("event %s was not stored, so Slack will send it again: %s", body.get("event_id"), error)
            return _Verdict(status=503, body="")
        return _Verdict(status=200, body="")


def _bolt(web: AsyncWebClient, store: Callable[[dict[str, Any]], Awaitable[BoltResponse]]) -> AsyncApp:
    """Bolt with one global middleware, in front of all others: what it answers is the verdict.

    Bolt's own ones are off. They would hide our own messages, ask ``auth.test`` again, and acknowledge what they
    could not authorize.
    """
    return AsyncApp(
        name="dragoman",
        client=web,
        before_authorize=store,
        logger=_bolt_log,
        request_verification_enabled=False,
        ignoring_self_events_enabled=False,
        ssl_check_enabled=False,
        url_verification_enabled=False,
        attaching_function_token_enabled=False,
    )
