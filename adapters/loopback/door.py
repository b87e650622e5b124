"""Where a server listens on this machine, and how it lets nobody in for a while."""

import asyncio
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
from aiohttp import web

HOST = "127.0.0.1"


def _as_it_is(handler: web.RequestHandler) -> asyncio.BaseProtocol:
    return handler


class Door:
    """A port on 127.0.0.1.

    Args:
        line: makes what speaks on a connection of what aiohttp answers there.
    """

    def __init__(self, line: Callable[[web.RequestHandler], asyncio.BaseProtocol] = _as_it_is) -> None:
        self._line = line
        self._busy: set[web.RequestHandler] = set()
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._port = 0

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return f"{HOST}:{self._port}"

    @property
    def connections(self) -> list[web.RequestHandler]:
        """All that are open."""
        server = None if self._runner is None else self._runner.server
        return [] if server is None else [each for each in server.connections if each.transport is not None]

    @property
    def idle(self) -> list[web.RequestHandler]:
        """The connections on which nothing is under way."""
        return [each for each in self.connections if each not in self._busy]

    @contextmanager
    def busy(self, request: web.Request) -> Generator[None]:
        """While the context lasts something is under way there."""
        self._busy.add(request.protocol)
        try:
            yield
        finally:
            self._busy.discard(request.protocol)

    async def start(self, runner: web.AppRunner, port: int) -> None:
        """Listen; port 0 takes a free one."""
        self._runner = runner
        await runner.setup()
        await self._open(port)

    async def stop(self) -> None:
        """Stop listening."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def shut(self, seconds: float) -> bool:
        """Refuse every connection for so many real seconds, unless that is so already; says whether it begins.

        What is under way goes on, on a connection that takes no other call.
        """
        if self._listener is None or self._runner is None:
            return False
        self._listener.close()
        self._listener = None
        self._opening = asyncio.create_task(self._open(self._port, seconds))
        return True

    def last(self, response: web.Response) -> web.Response:
        """The response, as the last one of its connection where nobody is let in."""
        if self._listener is None:
            response.force_close()
        return response

    async def _open(self, port: int, seconds: float = 0.0) -> None:
        await anyio.sleep(seconds)
        assert self._runner is not None  # noqa: S101 - told to the type checker: doors are opened by a server that runs
        assert self._runner.server is not None  # noqa: S101 - as above
        listener = socket.create_server((HOST, port), backlog=128)
        self._port = listener.getsockname()[1]
        server = self._runner.server
        self._listener = await asyncio.get_running_loop().create_server(lambda: self._line(server()), sock=listener)


def cut(request: web.Request) -> None:
    """Break its connection off without a word."""
    if request.transport is not None:
        request.transport.abort()
