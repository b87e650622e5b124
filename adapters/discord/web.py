"""Calls Discord's API. aiohttp is loaded with this module.

Rule 1: a call is made once. discord.py's own way is not used: it sleeps in the call that empties a bucket, sends again
    what was answered by a 429 or a 5xx, and cannot be kept from the latter.
Rule 2: what comes of it is a value, whatever the network does; only cancellation passes through.
Rule 3: no path is ever told: there may be a token in it.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from adapters.discord.outcome import Answer, NoAnswer
from adapters.discord.render import Call

TIMEOUT = 30
"""Seconds a call may take in all."""

CONNECT_TIMEOUT = 10
"""Seconds until a connection stands. That time-out is told apart, for nothing was sent then."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
)


class Web:
    """Makes calls. Opens nothing before the first.

    Args:
        token: the bot's.
        base_url: of the API.
    """

    def __init__(self, token: str, base_url: str) -> None:
        self.token = token
        self._base_url = base_url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        self._headers = {"User-Agent": _user_agent()}

    @asynccontextmanager
    async def connections(self) -> AsyncGenerator[aiohttp.ClientSession]:
        """Keep connections open between calls; outside of this each call opens its own."""
        async with self._opened() as session:
            self._session = session
            try:
                yield session
            finally:
                self._session = None

    async def ask(self, call: Call) -> Answer | NoAnswer:
        """What Discord says to a call."""
        if (session := self._session) is not None and not session.closed:
            return await self._ask(session, call)
        async with self._opened() as session:
            return await self._ask(session, call)

    async def _ask(self, session: aiohttp.ClientSession, call: Call) -> Answer | NoAnswer:
        headers = self._headers | ({} if call.by_token else {"Authorization": f"Bot {self.token}"})
        data = None if call.body is None else json.dumps(call.body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        address = URL(f"{self._base_url}{call.path}", encoded=True)
        try:
            async with session.request(call.method, address, headers=headers, data=data) as response:
                body = await response.read()
        except _NOT_SENT as error:
            return NoAnswer(sent=False, reason=type(error).__name__)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            return NoAnswer(sent=True, reason=type(error).__name__)
        return Answer(
            status=response.status,
            body=_read(body),
            headers={name.lower(): value for name, value in response.headers.items()},
        )

    def _opened(self) -> aiohttp.ClientSession:
        local = urlsplit(self._base_url).hostname in _LOOPBACK
        return aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=TIMEOUT, sock_connect=CONNECT_TIMEOUT),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=not local,  # no proxy leads back to this machine
        )


def _read(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _user_agent() -> str:
    """In the form that Discord asks for: the library's address and version, and then who uses it."""
    library, ours = version("discord.py"), version("dragoman")
    return f"DiscordBot (https://github.com/Rapptz/discord.py, {library}) Dragoman/{ours}"
