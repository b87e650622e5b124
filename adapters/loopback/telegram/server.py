"""The wire: HTTP on 127.0.0.1. What a call means is decided elsewhere."""

import asyncio
import socket
from collections.abc import Callable
from typing import cast

import anyio
from aiohttp import web

from adapters.loopback.telegram.answer import Answer
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.change import Change, ListenersChanged
from adapters.loopback.telegram.desk import POLL, Desk

HOST = "127.0.0.1"


class Server:
    """Takes calls to the desk.

    Args:
        desk: answers calls.
        tell: hears when a connection on which somebody polls comes or goes.
    """

    def __init__(self, desk: Desk, tell: Callable[[Change], None]) -> None:
        self._desk = desk
        self._tell = tell
        self._polling: set[web.RequestHandler] = set()
        self._calling: set[web.RequestHandler] = set()
        self._tasks: set[asyncio.Task[Answer]] = set()
        self._runner: web.AppRunner | None = None
        self._door: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._port = 0

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return f"{HOST}:{self._port}"

    @property
    def listeners(self) -> int:
        """On how many connections somebody polls, also between two polls."""
        return len(self._polling)

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._call)
        # A poll whose client went away is over, else it would hold the place of the next.
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        await self._open(port)

    async def stop(self) -> None:
        """Cut what is under way and stop listening."""
        if self._opening is not None:
            self._opening.cancel()
        if self._door is not None:
            self._door.close()
        self._cut_all()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut polls and those that nobody uses.

        What is under way goes on, on a connection that takes no other call.
        """
        if self._door is None or self._runner is None:
            return
        self._door.close()
        self._door = None
        self.drop_connections()
        self._opening = asyncio.create_task(self._open(self._port, seconds))

    def drop_connections(self) -> int:
        """Cut every poll, and every connection on which nothing is under way; says how many."""
        return self._cut_all(but=self._calling)

    def _cut_all(self, but: "set[web.RequestHandler] | frozenset[web.RequestHandler]" = frozenset()) -> int:
        if self._runner is None or self._runner.server is None:
            return 0
        cut = [each for each in self._runner.server.connections if each not in but and each.transport is not None]
        for connection in cut:
            self._forget(connection)
            if connection.transport is not None:
                connection.transport.abort()
        return len(cut)

    def _forget(self, connection: web.RequestHandler) -> None:
        if connection in self._polling:
            self._polling.discard(connection)
            self._tell(ListenersChanged(count=len(self._polling)))

    async def _open(self, port: int, seconds: float = 0.0) -> None:
        await anyio.sleep(seconds)
        assert self._runner is not None  # noqa: S101 - told to the type checker: doors are opened by a server that runs
        assert self._runner.server is not None  # noqa: S101 - as above
        listener = socket.create_server((HOST, port), backlog=128)
        self._port = listener.getsockname()[1]
        server = self._runner.server
        self._door = await asyncio.get_running_loop().create_server(
            lambda: _Line(server(), self._forget), sock=listener
        )

    async def _call(self, request: web.Request) -> web.Response:
        arguments = await _read_arguments(request)
        method, token = self._desk.name_of(request.match_info["method"]), request.match_info["token"]
        if method == POLL:
            self._polling.add(request.protocol)
            self._tell(ListenersChanged(count=len(self._polling)))
            answer = await self._desk.call(method, token, arguments)
        else:
            answer = await self._finish(request, method, token, arguments)
        if answer.status == 0:
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        response = web.json_response(answer.body, status=answer.status)
        if self._door is None:
            response.force_close()
        return response

    async def _finish(self, request: web.Request, method: str, token: str, arguments: Arguments) -> Answer:
        """Answer a call, and bring it to its end also if the caller goes away."""
        task = asyncio.create_task(self._desk.call(method, token, arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._calling.add(request.protocol)
        try:
            return await asyncio.shield(task)
        finally:
            self._calling.discard(request.protocol)


class _Line(asyncio.Protocol):
    """A connection that says when it is gone; aiohttp does not."""

    def __init__(self, handler: web.RequestHandler, gone: Callable[[web.RequestHandler], None]) -> None:
        self._handler = handler
        self._gone = gone
        self.data_received = handler.data_received
        self.eof_received = handler.eof_received
        self.pause_writing = handler.pause_writing
        self.resume_writing = handler.resume_writing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._handler.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._handler.connection_lost(exc)
        self._gone(self._handler)


async def _read_arguments(request: web.Request) -> Arguments:
    values: dict[str, object] = dict(request.query)
    if request.content_type == "application/json":
        sent: object = await request.json()
        values |= cast("dict[str, object]", sent) if isinstance(sent, dict) else {}
    else:
        values |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return Arguments(values)
