"""The wire: HTTP and sockets on 127.0.0.1. What a call means is decided elsewhere."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

import anyio
from aiohttp import WSMsgType, web
from anyio.streams.memory import MemoryObjectReceiveStream

from adapters.loopback.discord.answer import BAN_PAGE, Answer
from adapters.loopback.discord.desk import Desk
from adapters.loopback.discord.route import Call, find_route
from adapters.loopback.discord.shard import Close, Connection, Sent, Shard
from adapters.loopback.door import Door, cut

API, GATEWAY = "/api/v10", "/gw/"

_VIA: Mapping[str, str] = {"Via": "1.1 google"}
_MOST_BYTES = 25 * 1024 * 1024


class Server:
    """Takes calls to the desk, and carries the gateway's frames."""

    def __init__(self, desk: Desk, shard: Shard) -> None:
        self._desk = desk
        self._shard = shard
        self._links: dict[web.WebSocketResponse, web.Request] = {}
        self._door = Door()

    @property
    def address(self) -> str:
        """Host and port; port 0 before the start."""
        return self._door.address

    async def start(self, port: int) -> None:
        """Listen; port 0 takes a free one."""
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_get(GATEWAY, self._link)
        app.router.add_get(GATEWAY.rstrip("/"), self._link)
        app.router.add_route("*", "/{path:.*}", self._call)
        await self._door.start(web.AppRunner(app, shutdown_timeout=1.0, access_log=None), port)

    async def stop(self) -> None:
        """Close every socket and stop listening."""
        for link in tuple(self._links):
            await link.close(code=1001)
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
        path = request.rel_url.raw_path
        found = find_route(request.method, path.removeprefix(API)) if path.startswith(f"{API}/") else None
        if found is None:
            return _respond(self._desk.unknown(request.method, path.removeprefix(API)))
        route, values = found
        with self._door.busy(request):
            body, files = await _read_body(request)
            call = Call(
                route=route,
                path=values,
                query=dict(request.query),
                body=body,
                files=files,
                authorization=request.headers.get("Authorization", ""),
            )
            answer = await self._desk.call(call)
        if answer.status == 0:
            cut(request)
            return web.Response()
        return self._door.last(_respond(answer))

    async def _link(self, request: web.Request) -> web.WebSocketResponse:
        link = web.WebSocketResponse(autoclose=False, compress=False)
        await link.prepare(request)
        self._links[link] = request
        try:
            with self._door.busy(request):
                await self._converse(link)
        finally:
            del self._links[link]
        return link

    async def _converse(self, link: web.WebSocketResponse) -> None:
        """Carry frames both ways until the socket closes."""
        outbox, frames = anyio.create_memory_object_stream[Sent | Close](float("inf"))
        with outbox, frames:
            connection = self._shard.open(outbox.send_nowait)
            code = 1006
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(_write, link, frames)
                    code = await self._read(link, connection)
                    group.cancel_scope.cancel()
            finally:
                self._shard.close(connection, code)
                with suppress(ConnectionError):  # the client may be gone by now
                    await link.close()

    async def _read(self, link: web.WebSocketResponse, connection: Connection) -> int:
        """Take what comes, and say with which code the client closed; 1006 where it was not the client."""
        while True:
            message = await link.receive()
            if message.type is WSMsgType.TEXT:
                self._shard.receive(connection, cast("str", message.data))
            elif message.type is WSMsgType.BINARY:
                self._shard.receive(connection, "")
            elif message.type is WSMsgType.CLOSE:
                return message.data if isinstance(message.data, int) else 1006
            else:
                return 1006


async def _write(link: web.WebSocketResponse, frames: MemoryObjectReceiveStream[Sent | Close]) -> None:
    """Send what is to be sent; a socket that breaks meanwhile is the reader's affair."""
    try:
        async for frame in frames:
            if isinstance(frame, Close):
                await link.close(code=frame.code)
                return
            await link.send_str(frame if isinstance(frame, str) else json.dumps(frame))
    except ConnectionError:
        return


async def _read_body(request: web.Request) -> tuple[object, int]:
    """The JSON of a call and how many files came along; the JSON is none where it cannot be read."""
    if request.content_type == "multipart/form-data":
        form = await request.post()
        files = sum(not isinstance(value, str) for value in form.values())
        text = form.get("payload_json", "{}")
        return _json(text if isinstance(text, str) else ""), files
    raw = await request.read()
    return (_json(raw) if raw else {}), 0


def _json(text: str | bytes) -> object:
    try:
        return cast("object", json.loads(text))
    except ValueError:
        return None


def _respond(answer: Answer) -> web.Response:
    """Answers are JSON without a charset, and come from Discord unless Cloudflare gives them."""
    if answer.scope == "cloudflare":
        return web.Response(text=BAN_PAGE, status=429, headers=answer.headers, content_type="text/html")
    headers = {**_VIA, **answer.headers}
    if answer.body is None:
        return web.Response(status=answer.status, headers=headers)
    body = json.dumps(answer.body).encode()
    return web.Response(body=body, status=answer.status, headers=headers, content_type="application/json")
