"""Calls a loopback Discord without the SDK, which would hide half of what is answered."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

from adapters.loopback.discord import LoopbackDiscord


class HandClock:
    """Real seconds that pass only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def code(self) -> int:
        """The code in the body."""
        return int(self.body["code"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Calls routes by their names, with the values of their paths."""

    platform: LoopbackDiscord
    session: ClientSession

    async def call(self, name: str, body: object = None, *, bot_token: str | None = None, **path: str) -> Reply:
        """Call a route; ``query`` among the values stands behind the question mark."""
        method, _, pattern = name.partition(" ")
        query = path.pop("query", "")
        bot_token = self.platform.world.bot_token if bot_token is None else bot_token
        url = f"{self.platform.api_url}{pattern.format(**path)}" + (f"?{query}" if query else "")
        headers = {"Authorization": f"Bot {bot_token}"} if bot_token else {}
        async with self.session.request(method, url, json=body, headers=headers) as response:
            is_json = response.headers.get("Content-Type") == "application/json"
            text = await response.read()
            parsed: Any = await response.json() if is_json and text else text.decode()
            return Reply(status=response.status, body=parsed, headers=dict(response.headers))

    async def post(self, channel: str, content: str = "a", **body: object) -> Reply:
        """Post a message."""
        sent = {"content": content, **body}
        return await self.call("POST /channels/{channel}/messages", sent, channel=channel)

    async def posted(self, channel: str, content: str = "a", **body: object) -> str:
        """Post a message, and give its id."""
        reply = await self.post(channel, content, **body)
        assert reply.status == 200, reply
        return str(reply.body["id"])

    async def edit(self, channel: str, message: str, **body: object) -> Reply:
        """Edit a message."""
        return await self.call("PATCH /channels/{channel}/messages/{message}", body, channel=channel, message=message)

    @asynccontextmanager
    async def socket(self) -> AsyncGenerator[ClientWebSocketResponse]:
        """A bare socket, for what the SDK would never do."""
        async with self.session.ws_connect(f"{self.platform.gateway_url}?v=10&encoding=json") as link:
            yield link


@asynccontextmanager
async def caller_of(platform: LoopbackDiscord) -> AsyncGenerator[Caller]:
    async with ClientSession() as session:
        yield Caller(platform=platform, session=session)
