"""The wire: HTTP on 127.0.0.1. What a call means is decided elsewhere."""

import asyncio
from collections.abc import Callable, Iterable
from typing import cast

from aiohttp import web

from adapters.loopback.door import Door, cut
from adapters.loopback.telegram.answer import Answer
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.change import Change, ListenersChanged
from adapters.loopback.telegram.desk import POLL, Desk


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
        self._tasks: set[asyncio.Task[Answer]] = set()
        self._door = Door(lambda handler: _Line(handler, self._forget))

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return self._door.address

    @property
    def listeners(self) -> int:
        """On how many connections somebody polls, also between two polls."""
        return len(self._polling)

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._call)
        # A poll whose client went away is over, else it would hold the place of the next.
        runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None, handler_cancellation=True)
        await self._door.start(runner, port)

    async def stop(self) -> None:
        """Cut what is under way and stop listening."""
        self._cut(self._door.connections)
        await self._door.stop()

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut polls and those that nobody uses.

        What is under way goes on, on a connection that takes no other call.
        """
        if self._door.shut(seconds):
            self.drop_connections()

    def drop_connections(self) -> int:
        """Cut every poll, and every connection on which nothing is under way; says how many."""
        idle = self._door.idle
        self._cut(idle)
        return len(idle)

    def _cut(self, connections: Iterable[web.RequestHandler]) -> None:
        for connection in connections:
            self._forget(connection)
            if connection.transport is not None:
                connection.transport.abort()

    def _forget(self, connection: web.RequestHandler) -> None:
        if connection in self._polling:
            self._polling.discard(connection)
            self._tell(ListenersChanged(count=len(self._polling)))

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
            cut(request)
            return web.Response()
        return self._door.last(web.json_response(answer.body, status=answer.status))

    async def _finish(self, request: web.Request, method: str, token: str, arguments: Arguments) -> Answer:
        """Answer a call, and bring it to its end also if the caller goes away."""
        task = asyncio.create_task(self._desk.call(method, token, arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with self._door.busy(request):
            return await asyncio.shield(task)


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
