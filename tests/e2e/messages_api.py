"""A server on this machine that speaks Anthropic's protocol, one request a connection, and answers as it is told."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

Answer = Callable[["Api", asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Api:
    """A server that reads a request, answers as it is told, and notices when its client hangs up."""

    answer: Answer
    url: str = ""
    headers: list[bytes] = field(default_factory=list[bytes])
    bodies: list[bytes] = field(default_factory=list[bytes])
    hung_up: anyio.Event = field(default_factory=anyio.Event)
    waiting: anyio.Event = field(default_factory=anyio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            assert length
            self.headers.append(head)
            self.bodies.append(await reader.readexactly(int(length[1])))
            answering = asyncio.ensure_future(self.answer(self, writer))
            try:
                await reader.read()  # until the client hangs up
            finally:
                self.hung_up.set()
                answering.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await answering


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[Api, None]:
    api = Api(answer=answer)
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0)
    api.url = "http://127.0.0.1:{1}".format(*server.sockets[0].getsockname())
    try:
        yield api
    finally:
        server.close()
        with anyio.fail_after(5):
            await server.wait_closed()


async def write(writer: asyncio.StreamWriter, data: bytes, size: int = 100_000) -> None:
    for start in range(0, len(data), size):
        piece = data[start : start + size]
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()


def stream_of(data: bytes, size: int = 100_000) -> Answer:
    """Answer with the whole body, in writes of this size."""

    async def answer(_api: Api, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        await write(writer, data, size)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return answer


def dropped_after(data: bytes) -> Answer:
    """Answer with this much of a body, then drop the connection."""

    async def answer(_api: Api, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        await write(writer, data)
        writer.close()

    return answer


def stalled_after(data: bytes) -> Answer:
    """Answer with this much of a body, then say nothing more."""

    async def answer(api: Api, writer: asyncio.StreamWriter) -> None:
        if data:
            writer.write(STREAM)
            await write(writer, data)
        api.waiting.set()
        await anyio.sleep_forever()

    return answer


def refused(status: int, body: str) -> Answer:
    async def answer(_api: Api, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} No\r\nrequest-id: req_7\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"{head}content-type: application/json\r\n\r\n{body}".encode())
        await writer.drain()

    return answer
