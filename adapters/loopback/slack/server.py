"""The wire: HTTP and sockets on 127.0.0.1. What a call means is decided elsewhere."""

import json
from typing import cast

import anyio
from aiohttp import WSMsgType, web
from anyio.streams.memory import MemoryObjectReceiveStream

from adapters.loopback.door import Door, cut
from adapters.loopback.slack.answer import Answer
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.desk import Desk
from adapters.loopback.slack.rule import ONE_TIME_TICKET
from adapters.loopback.slack.socket_mode import Frame, SocketMode
from adapters.loopback.slack.workspace import Workspace

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
        self._door = Door()

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return self._door.address

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_get("/link/", self._link)
        await self._door.start(web.AppRunner(app, shutdown_timeout=1.0, access_log=None), port)

    async def stop(self) -> None:
        """Close every socket and stop listening."""
        for link in tuple(self._links):
            await link.close()
        await self._door.stop()

    def close_doors(self, seconds: float) -> None:
        """Refuse every connection for so many real seconds, and cut those that nobody uses.

        What is under way goes on, on a connection that takes no other call.
        """
        if self._door.shut(seconds):
            for connection in self._door.idle:
                if connection.transport is not None:
                    connection.transport.close()

    def drop_links(self) -> int:
        """Cut every socket without a word, as a broken network does; says how many."""
        requests = tuple(self._links.values())
        for request in requests:
            cut(request)
        return len(requests)

    async def _call(self, request: web.Request) -> web.Response:
        arguments = await _read_arguments(request)
        token = request.headers.get("Authorization", "").removeprefix("Bearer ") or arguments.text("token")
        with self._door.busy(request):
            answer = await self._desk.call(request.match_info["method"], token, arguments)
        if answer.status == 0:
            cut(request)
            return web.Response()
        return self._door.last(_respond(answer, self._workspace.scopes))

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            raise web.HTTPForbidden(text=ONE_TIME_TICKET.says)
        self._tickets.remove(ticket)
        link = web.WebSocketResponse()
        await link.prepare(request)
        self._links[link] = request
        try:
            with self._door.busy(request):
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
