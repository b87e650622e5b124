"""A session with Discord's gateway. discord.py is loaded with this module.

Rule 1: a session outlives its connections: what was dispatched meanwhile comes with the next, in order.
Rule 2: whatever goes wrong, in the network, in the SDK, or in a dispatch that it breaks over, ends a connection and
    nothing else; only what Discord closes for good ends it all. What is no JSON does not even do that, for each
    RESUME would bring it again.
Rule 3: a new session is begun seldom: not sooner than ``IDENTIFY_PAUSE`` seconds after the last, and ever more seldom
    while they do not last, for after 1,000 in a day Discord resets the token.
Rule 4: when it ends, no connection is left.

Of the SDK only its web socket is used: it knows compression, heartbeats, resuming and close codes. Its client and the
models of all that is said in a guild are not, so none of them breaks over a field that is missing.

Source: https://docs.discord.com/developers/events/gateway
"""

import asyncio
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import aiohttp
import anyio
from yarl import URL

from adapters.discord.login import CLOSED
from gateway.payload import words

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it imports audioop, for calls that nobody makes here
    from discord.errors import ConnectionClosed
    from discord.gateway import DiscordWebSocket, ReconnectWebSocket

log = logging.getLogger(__name__)

# Below that it writes every payload into the log: what people say, and the tokens of interactions.
logging.getLogger("discord.gateway").setLevel(logging.WARNING)

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 0, 1 << 9, 1 << 12
INTENTS = GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES
"""None of them is privileged: what mentions the bot, or is said to it alone, comes with its words."""

IDENTIFY_PAUSE = 5.0
LONGEST_IDENTIFY_PAUSE = 600.0
LASTING = 300.0
"""Seconds after which a session has lasted, so that the next may begin soon."""

PAUSES = (0.2, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds to wait after a connection that brought something, and after the first, second, ... one that did not."""

STALE = 4
"""After so many that brought nothing the session is given up, for where it is resumed there may be nobody."""

OPENING = 20.0
"""Seconds until a connection has to be open."""

SILENCE = 60.0
"""Seconds after which a connection that says nothing is dead; heartbeats are answered every 41."""

FAREWELL = 2.0
"""Seconds that a connection gets for closing in good order."""

_RESUMED_NO_MORE = frozenset({4003, 4005, 4007, 4009})
"""What Discord says by closing where the session is over, too."""

Told = Callable[[str, object], None]
"""Takes a dispatch: its name and its payload."""


class _Parsers(Mapping[str, Callable[[Any], None]]):
    """Stands where the SDK has a parser for each dispatch, and passes on what it would parse."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def __getitem__(self, event: str) -> Callable[[Any], None]:
        return lambda data: self._told(event, data)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Socket(DiscordWebSocket):
    """One connection of the SDK's, without its client."""

    _initial_identify: bool

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, token: str, gateway: URL, told: Told) -> None:
        super().__init__(socket, loop=asyncio.get_running_loop())
        self.token = token
        self.gateway = gateway
        self.shard_id = self.shard_count = None
        self._max_heartbeat_timeout = SILENCE
        self._discord_parsers: Any = _Parsers(told)

    async def identify(self) -> None:
        """Begin a session."""
        system = {"os": "linux", "browser": "dragoman", "device": "dragoman"}
        payload = {"token": self.token, "properties": system, "large_threshold": 50, "intents": INTENTS}
        await self.send_as_json({"op": self.IDENTIFY, "d": payload})

    async def received_message(self, msg: str | bytes, /) -> None:
        """Take in a frame; one that the SDK cannot read is mended, and passed over where that is not possible."""
        if isinstance(msg, str) and msg.lstrip().startswith("{"):  # bytes would be compressed, which nobody asked for
            with suppress(json.JSONDecodeError):
                return await super().received_message(msg)
            with suppress(json.JSONDecodeError):
                return await super().received_message(_mended(msg))
        # Not its words: what was said may stand in them.
        return log.warning("Discord sent something that is no JSON; it is passed over")


def _mended(frame: str) -> str:
    """A frame as the SDK reads it: a lone surrogate is replaced, and what is no number; empty where it is no JSON."""
    try:
        return words(json.dumps(json.loads(frame, strict=False, parse_constant=lambda _: None), ensure_ascii=False))
    except (ValueError, RecursionError):
        return ""


class Session:
    """Connects, and connects again.

    Args:
        http: opens the connections.
        token: the bot's.
        url: the gateway's address.
        told: given every dispatch, as it came.
        ready: called when the first session has begun.
    """

    def __init__(
        self, http: aiohttp.ClientSession, token: str, url: str, told: Told, ready: Callable[[], None]
    ) -> None:
        self._http = http
        self._token = token
        self._url = URL(url)
        self._told = told
        self._ready: Callable[[], None] | None = ready
        self._last: _Socket | None = None
        self._identified_at = float("-inf")
        self._short_lived = 0
        self._failures = 0

    async def run(self) -> int:
        """Listen until cancelled, or until Discord closes for good; the code that it closed with."""
        while True:
            try:
                await self._connect()
            except ReconnectWebSocket as wish:
                self._lost(resume=wish.resume)
            except ConnectionClosed as closed:
                if closed.code in CLOSED:
                    return closed.code
                self._lost(resume=True)
            except Exception as error:  # noqa: BLE001 - rule 2: whatever the network, the SDK or a dispatch raises
                # Not its words: what was said may stand in them.
                log.warning("the connection to Discord broke (%s); a new one is opened", type(error).__name__)
            await anyio.sleep(PAUSES[min(self._failures, len(PAUSES) - 1)])

    def _lost(self, *, resume: bool) -> None:
        """A connection was closed. Where its session is over as well, the next begins a new one."""
        socket = self._last
        code = None if socket is None else socket.socket.close_code
        if socket is not None and (not resume or code in _RESUMED_NO_MORE):
            socket.session_id = socket.sequence = None
        log.info("Discord closed the connection (%s); a new one is opened", code)

    async def _connect(self) -> NoReturn:
        """Open a connection and listen; it never returns, but raises when the connection is over."""
        last, self._failures = self._last, self._failures + 1
        resumes = last is not None and last.session_id is not None and self._failures <= STALE
        if not resumes:
            await self.pause_to_identify()
        gateway = last.gateway if last is not None and resumes else self._url
        with anyio.fail_after(OPENING):
            link = await self._http.ws_connect(
                gateway.with_query(v=10, encoding="json"), max_msg_size=0, autoclose=False
            )
        socket = _Socket(link, self._token, gateway, self._dispatched)
        try:
            with anyio.fail_after(OPENING):
                await socket.poll_event()  # HELLO
                if last is not None and resumes:
                    socket.session_id, socket.sequence = last.session_id, last.sequence
                    await socket.resume()
                else:
                    await socket.identify()
            self._last = socket
            while True:
                await socket.poll_event()
        finally:
            with anyio.move_on_after(FAREWELL, shield=True):
                await socket.close(4000)

    async def pause_to_identify(self) -> None:
        """Wait until a session may begin."""
        now = anyio.current_time()
        self._short_lived = 0 if now - self._identified_at > LASTING else self._short_lived + 1
        pause = min(IDENTIFY_PAUSE * 2 ** max(0, self._short_lived - 2), LONGEST_IDENTIFY_PAUSE)
        await anyio.sleep(max(0.0, self._identified_at + pause - now))
        self._identified_at = anyio.current_time()

    def _dispatched(self, event: str, data: object) -> None:
        self._failures = 0
        self._told(event, data)
        if event == "READY" and self._ready is not None:
            self._ready()
            self._ready = None
