"""The shell: opens a stream with Anthropic's SDK, which does authentication and HTTP, and feeds the decoder.

Rule 1: whatever goes wrong behind ``create`` is an ``Error`` item, never an exception.
Rule 2: the SDK neither retries nor traces here: both are the agent's business.
Rule 3: progress is what the model says. A ping shows that the server lives, not that the model does.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import anyio
from pydantic import ConfigDict, Field

from gateway.error import ConfigurationError
from gateway.event import Error, JsonObject
from gateway.history import BROKEN_OFF
from gateway.provider import AssistantMessage, Item, Message, Native, Provider, Request, ToolSpec, UserMessage
from gateway.providers.anthropic_messages.decoder import ERROR_TYPES, PROTOCOL, Decoder, described
from gateway.providers.failure import by_status
from gateway.secret import SecretName, reveal
from gateway.sse import EventReader, EventTooLargeError

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic
    from anthropic.types import MessageParam, ToolParam

KEY_SOURCE = "Keys are made at https://platform.claude.com/settings/keys."

SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
THOUGHTS = frozenset({"thinking", "redacted_thinking"})

CLOSING_SECONDS = 1.0
"""How long a connection may take to close before it is left to itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A model of this protocol, as the configuration names it.

    Attributes:
        provider: this module.
        name: the model's name at the provider.
        max_tokens: the longest answer to ask for.
        api_key: where the key is to be found.
        base_url: another server that speaks the protocol; none for Anthropic's own, or what the SDK's environment
            variable ``ANTHROPIC_BASE_URL`` says.
        timeout: seconds without progress after which an answer is given up. Pings are no progress, so this is also the
            longest silent thinking.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    provider: Literal["anthropic_messages"]
    name: str
    max_tokens: Annotated[int, Field(gt=0)]
    api_key: SecretName = "env:ANTHROPIC_API_KEY"
    base_url: str | None = None
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 120.0


def create(settings: Settings) -> Provider:
    """The provider. Loads Anthropic's SDK, which takes about a second: not a thing to do between two messages.

    Raises:
        ConfigurationError: where there is no key, or none that could be sent.
    """
    key = reveal(settings.api_key, purpose="the Anthropic API key", source=KEY_SOURCE)
    if not (key.isascii() and key.isprintable() and " " not in key):
        msg = f"the Anthropic API key ({settings.api_key}) holds characters that no key has. {KEY_SOURCE}"
        raise ConfigurationError(msg)
    return _Anthropic(settings, key)


class _Anthropic:
    """Opens a connection for each answer; they share one TLS context, which is what is slow to make."""

    def __init__(self, settings: Settings, key: str) -> None:
        import anthropic  # noqa: PLC0415 - heavy; loaded before the first message and not while it waits
        import httpx2  # noqa: PLC0415 - as above

        self._sdk = anthropic
        self._settings = settings
        self._key = key
        self._tls = httpx2.create_ssl_context()

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[Item], None]:
        """See ``gateway.provider.Provider``."""
        async with self._client() as client:
            answer = _Answer(client, request, self._settings, self._key)
            try:
                yield answer
            finally:
                await answer.aclose()

    def _client(self) -> "AsyncAnthropic":
        return self._sdk.AsyncAnthropic(
            api_key=self._key,
            base_url=self._settings.base_url,
            timeout=self._settings.timeout,
            max_retries=0,  # the agent retries, by its own rules
            open_telemetry=False,  # the agent traces, with the rest of the run
            http_client=self._sdk.DefaultAsyncHttpxClient(verify=self._tls),
        )


class _Answer:
    """The items of one answer. An iterator and no generator: nothing is suspended inside a cancel scope."""

    def __init__(self, client: "AsyncAnthropic", request: Request, settings: Settings, key: str) -> None:
        self._client = client
        self._request = request
        self._settings = settings
        self._key = key
        self._reader = EventReader()
        self._decoder = Decoder()
        self._ready = deque[Item]()
        self._connection: AbstractAsyncContextManager[Any] | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        while not self._ready:
            if self._decoder.over:
                raise StopAsyncIteration
            self._ready.extend(map(self._safe, await self._progress()))
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Close the connection, also where we are being cancelled."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with anyio.move_on_after(CLOSING_SECONDS, shield=True):
                await connection.__aexit__(None, None, None)

    async def _progress(self) -> list[Item]:
        """Read until the model did something; whatever goes wrong becomes items."""
        from anthropic import AnthropicError, APIStatusError, APITimeoutError  # noqa: PLC0415 - see _Anthropic
        from httpx2 import HTTPError, InvalidURL, StreamError, TimeoutException  # noqa: PLC0415 - see _Anthropic

        try:
            with anyio.fail_after(self._settings.timeout):
                return await self._read()
        except (TimeoutError, APITimeoutError, TimeoutException):
            return self._decoder.fail("timeout", f"no progress for {self._settings.timeout:g} seconds")
        except APIStatusError as error:
            return self._refused(error)
        except EventTooLargeError as error:
            return self._decoder.fail("server", str(error))
        except (InvalidURL, ValueError) as error:
            return self._unsent(error) if self._pieces is None else self._broken(error)
        except (AnthropicError, HTTPError, StreamError, OSError) as error:
            return self._broken(error)

    async def _read(self) -> list[Item]:
        if self._pieces is None:
            self._pieces = await self._open()
        async for piece in self._pieces:
            events = self._reader.feed(piece)
            if any(event.name != "ping" for event in events):
                return [item for event in events for item in self._decoder.feed(event)]
        self._reader.close()
        return self._decoder.end()

    async def _open(self) -> AsyncIterator[bytes]:
        from anthropic import omit  # noqa: PLC0415 - see _Anthropic

        request = self._request
        connection = self._client.messages.with_streaming_response.create(
            model=request.model,
            max_tokens=request.max_tokens,
            system=request.system or omit,
            messages=[_message(message, last=message is request.messages[-1]) for message in request.messages],
            tools=[_tool(spec) for spec in request.tools] or omit,
            cache_control={"type": "ephemeral"},
            stream=True,
        )
        response = await connection.__aenter__()
        self._connection = connection
        return response.iter_bytes()

    def _refused(self, error: "APIStatusError") -> list[Item]:
        """The server answered, but not with a stream."""
        error_type = ERROR_TYPES.get(error.type or "") or by_status(error.status_code)
        kind = f"HTTP {error.status_code} {error.type or ''}".rstrip()
        message = described(kind, error.api_message or error.message, error.request_id)
        if error_type == "authentication":
            message = f"the Anthropic API key ({self._settings.api_key}) was not accepted. {KEY_SOURCE} {message}"
        return self._decoder.fail(error_type, message)

    def _unsent(self, error: Exception) -> list[Item]:
        """The request is none that can be sent."""
        return self._decoder.fail("invalid_request", f"the request cannot be sent: {error}")

    def _broken(self, error: Exception) -> list[Item]:
        """There was no connection, or there is none any more."""
        cause = error.__cause__ or error  # the SDK says "Connection error."; its cause says which
        message = f"the connection failed: {type(cause).__name__}: {cause}"
        return self._decoder.fail("incomplete_stream" if self._pieces else "server", message)

    def _safe(self, item: Item) -> Item:
        """The item without the key, which a server may have repeated in its error."""
        if isinstance(item, Error):
            return replace(item, error_message=item.error_message.replace(self._key, "[key]"))
        return item


def _message(message: Message, *, last: bool) -> "MessageParam":
    """A message as the API takes it: an answer that it gave itself, unchanged; results in front of what was said."""
    match message:
        case AssistantMessage(native=Native(protocol=protocol, blocks=blocks)) if protocol == PROTOCOL and blocks:
            kept = blocks if last or message.calls else _settled(blocks)
            return {"role": "assistant", "content": cast("Any", [*kept] or BROKEN_OFF)}
        case AssistantMessage(calls=()):
            return {"role": "assistant", "content": message.text}
        case UserMessage(results=()):
            return {"role": "user", "content": message.text}
        case AssistantMessage():
            calls = [
                {"type": "tool_use", "id": call.tool_use_id, "name": call.name, "input": call.input}
                for call in message.calls
            ]
            return {"role": "assistant", "content": cast("Any", [*_words(message.text), *calls])}
        case UserMessage():
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": result.tool_use_id,
                    "content": result.content,
                    "is_error": result.is_error,
                }
                for result in message.results
            ]
            return {"role": "user", "content": cast("Any", [*results, *_words(message.text)])}


def _settled(blocks: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """The blocks of an answer that paused and did not go on: without the server's calls that have no result.

    The API takes such a call only where it is to go on with it, and no message that ends with a thought.
    """
    given = {block.get("tool_use_id") for block in blocks}
    kept = [each for each in blocks if each.get("type") not in SERVER_CALLS or each.get("id") in given]
    if len(kept) == len(blocks):
        return blocks
    while kept and kept[-1].get("type") in THOUGHTS:
        kept.pop()
    return kept


def _words(text: str) -> list[JsonObject]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _tool(spec: ToolSpec) -> "ToolParam":
    """A tool as the API takes it; its input is streamed as it is written, and parsed strictly here."""
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": cast("Any", spec.input_schema),
        "eager_input_streaming": True,
    }
