"""The wire: HTTP and sockets on 127.0.0.1. What a call means is decided elsewhere."""

import asyncio
import json
import socket
from typing import cast

import anyio
from aiohttp import WSMsgType, web
from anyio.streams.memory import MemoryObjectReceiveStream

from adapters.loopback.slack.answer import Answer
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.desk import Desk
from adapters.loopback.slack.rule import ONE_TIME_TICKET
from adapters.loopback.slack.socket_mode import Frame, SocketMode
from adapters.loopback.slack.workspace import Workspace

HOST = "127.0.0.1"

_NO_JSON = frozenset({"conversations.replies"})
"""Methods whose specification does not say that they take JSON; what is sent so is not read."""


class Server:
    """Takes Web API calls to the desk, and carries Socket Mode's frames.

    Args:
        desk: answers calls.
        socket_mode: sends and receives frames.
        tickets: those that open a socket, once each.
        workspace: who greets, and with which scopes.
    """

    def __init__(self, desk: Desk, socket_mode: SocketMode, tickets: set[str], workspace: Workspace) -> None:
        self._desk = desk
        self._socket_mode = socket_mode
        self._tickets = tickets
        self._workspace = workspace
        self._links: dict[web.WebSocketResponse, web.Request] = {}
        self._calling: set[web.RequestHandler] = set()
        self._runner: web.AppRunner | None = None
        self._door: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._port = 0

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return f"{HOST}:{self._port}"

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_get("/link/", self._link)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        await self._open(port)

    async def stop(self) -> None:
        """Close every socket and stop listening."""
        if self._opening is not None:
            self._opening.cancel()
        for link in tuple(self._links):
            await link.close()
        if self._door is not None:
            self._door.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut those that nobody uses.

        What is under way goes on, on a connection that takes no other call.
        """
        if self._door is None or self._runner is None or self._runner.server is None:
            return
        self._door.close()
        self._door = None
        busy = self._calling | {request.protocol for request in self._links.values()}
        for connection in self._runner.server.connections:
            if connection not in busy and connection.transport is not None:
                connection.transport.close()
        self._opening = asyncio.create_task(self._open(self._port, seconds))

    async def _open(self, port: int, seconds: float = 0.0) -> None:
        await anyio.sleep(seconds)
        assert self._runner is not None  # noqa: S101 - told to the type checker: doors are opened by a server that runs
        assert self._runner.server is not None  # noqa: S101 - as above
        listener = socket.create_server((HOST, port), backlog=128)
        self._port = listener.getsockname()[1]
        self._door = await asyncio.get_running_loop().create_server(self._runner.server, sock=listener)

    def drop_links(self) -> int:
        """Cut every socket without a word, as a broken network does; says how many."""
        requests = tuple(self._links.values())
        for request in requests:
            _cut(request)
        return len(requests)

    async def _call(self, request: web.Request) -> web.Response:
        arguments = await _read_arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or arguments.text("token")
        self._calling.add(request.protocol)
        try:
            answer = await self._desk.call(request.match_info["method"], token, arguments)
        finally:
            self._calling.discard(request.protocol)
        if answer.status == 0:
            _cut(request)
            return web.Response()
        response = _respond(answer, self._workspace.scopes)
        if self._door is None:
            response.force_close()
        return response

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text=ONE_TIME_TICKET.says)
        self._tickets.remove(ticket)
        link = web.WebSocketResponse()
        await link.prepare(request)
        self._links[link] = request
        try:
            await self._converse(link)
        finally:
            del self._links[link]
        return link

    async def _converse(self, link: web.WebSocketResponse) -> None:
        """Carry frames both ways until the socket closes, or is refused."""
        outbox, frames = anyio.create_memory_object_stream[Frame](float("inf"))
        send = outbox.send_nowait
        with outbox, frames:
            if not self._socket_mode.open(send, self._workspace.app):
                await link.send_json(frames.receive_nowait())
                await link.close()
                return
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(_write, link, frames)
                    await self._read(link)
                    group.cancel_scope.cancel()
            finally:
                self._socket_mode.close(send)

    async def _read(self, link: web.WebSocketResponse) -> None:
        async for message in link:
            if message.type is WSMsgType.TEXT and isinstance(message.data, str):
                frame: object = json.loads(message.data)
                if isinstance(frame, dict):
                    self._socket_mode.receive(cast("Frame", frame))


async def _write(link: web.WebSocketResponse, frames: MemoryObjectReceiveStream[Frame]) -> None:
    """Send what is to be sent; a socket that breaks meanwhile is the reader's affair."""
    try:
        async for frame in frames:
            await link.send_json(frame)
    except ConnectionError:
        return


async def _read_arguments(request: web.Request) -> Arguments:
    values: dict[str, object] = dict(request.query)
    if request.content_type == "application/json":
        sent: object = None if request.match_info["method"] in _NO_JSON else await request.json()
        values |= cast("Frame", sent) if isinstance(sent, dict) else {}
    else:
        values |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return Arguments(values)


def _respond(answer: Answer, scopes: tuple[str, ...]) -> web.Response:
    headers = {"x-oauth-scopes": ",".join(scopes)}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.json_response(answer.body, status=answer.status, headers=headers)


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
