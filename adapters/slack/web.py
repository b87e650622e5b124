"""Calls Slack's Web API. The SDK is loaded with this module.

Rule 1: a call is made once: the SDK's own repeating is off, for it repeats a post that may have arrived. Only a query,
    which does nothing, is sent a second time by aiohttp where the connection is cut.
Rule 2: what comes of it is a value, whatever the network does; only cancellation passes through.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.outcome import Answer, NoAnswer

TIMEOUT = 30
"""Seconds a call may take in all, as the SDK has it."""

CONNECT_TIMEOUT = 10
"""Seconds until a connection stands. That time-out is told apart, for nothing was sent then."""

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

_NOT_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    aiohttp.InvalidURL,
    SlackRequestError,
)


def web_client(token: str, base_url: str) -> AsyncWebClient:
    """A client that calls each method once. Opens nothing."""
    client = AsyncWebClient(token=token, base_url=base_url, timeout=TIMEOUT, retry_handlers=[])
    if urlsplit(base_url).hostname in _LOOPBACK:
        client.proxy = None  # the SDK takes HTTPS_PROXY for every host, and none leads back to this machine
    return client


@asynccontextmanager
async def connections(client: AsyncWebClient) -> AsyncGenerator[None]:
    """Keep the client's connections open between its calls; outside of this each call opens its own."""
    timeout = aiohttp.ClientTimeout(total=TIMEOUT, sock_connect=CONNECT_TIMEOUT)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        client.session = session  # once it is closed, the SDK passes it over
        yield


async def ask(
    client: AsyncWebClient,
    method: str,
    arguments: Mapping[str, object] | None = None,
    *,
    query: bool = False,
    token: str | None = None,
) -> Answer | NoAnswer:
    """What Slack says to a call.

    Args:
        client: makes it.
        method: such as "chat.update".
        arguments: what goes with it, as JSON; none for a method that takes none.
        query: they go in the address instead; conversations.replies is not said to take JSON.
        token: instead of the client's; goes into the header, as that one does.
    """
    sent = None if arguments is None else dict(arguments)
    params = sent if query else None if token is None else {"token": token}
    json, verb = (None, "GET") if query else (sent, "POST")
    try:
        # The SDK's types say "dict" and no more.
        response = await client.api_call(method, http_verb=verb, json=json, params=params)  # pyright: ignore[reportUnknownMemberType]  # the SDK says "dict" and no more
    except SlackApiError as error:
        return answer_of(error)
    except _NOT_SENT as error:
        return NoAnswer(sent=False, reason=f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - the SDK lets through whatever its HTTP client and a strange body raise
        return NoAnswer(sent=True, reason=type(error).__name__)
    return _answer(response)


def answer_of(error: SlackApiError) -> Answer:
    """What Slack said, of an error that the SDK made of it."""
    return _answer(cast("object", error.response))


def _answer(response: object) -> Answer:
    """The parts that count; where the body was no JSON, the SDK hands over its HTTP client's response instead."""
    status = getattr(response, "status_code", None) or getattr(response, "status", 0)
    headers = cast("Mapping[str, str]", getattr(response, "headers", {}))
    body = getattr(response, "data", None)
    return Answer(
        status=status,
        body=cast("Mapping[str, object]", body) if isinstance(body, dict) else {},
        retry_after=headers.get("Retry-After"),
    )
