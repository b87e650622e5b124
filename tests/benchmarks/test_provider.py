"""What a delta costs: our reader and decoder beside the SDK's own iterator, over the same bytes in one run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

import httpx2
from anthropic import AsyncAnthropic
from pytest_benchmark.fixture import BenchmarkFixture

from gateway.event import TextDelta
from gateway.providers.anthropic_messages import decode

DELTAS = 5000
READ = 16 * 1024


def event(name: str, **fields: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


BODY = b"".join(
    [
        event("message_start", message={"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {}}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *(
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": f"word{n:05d} "})
            for n in range(DELTAS)
        ),
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": DELTAS}),
        event("message_stop"),
    ]
)
PIECES = [BODY[start : start + READ] for start in range(0, len(BODY), READ)]


def ours() -> int:
    return sum(isinstance(item, TextDelta) for item in decode(PIECES))


async def through_the_sdk() -> int:
    class Body(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in PIECES:
                yield piece

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    async with AsyncAnthropic(api_key="none", http_client=client, open_telemetry=False) as sdk:
        stream = await sdk.messages.create(
            model="claude-test", max_tokens=1, messages=[{"role": "user", "content": "?"}], stream=True
        )
        async with stream:
            return len([found async for found in stream if found.type == "content_block_delta"])


def seconds(run: Callable[[], int]) -> float:
    """Processor time of the best of three runs."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        assert run() == DELTAS
        best = min(best, time.process_time() - begun)
    return best


def test_our_reader_and_decoder(benchmark: BenchmarkFixture) -> None:
    assert benchmark(ours) == DELTAS  # pyright: ignore[reportUnknownMemberType]  # it is untyped there


def test_the_sdks_own_iterator(benchmark: BenchmarkFixture) -> None:
    assert benchmark(lambda: asyncio.run(through_the_sdk())) == DELTAS  # pyright: ignore[reportUnknownMemberType]  # untyped in the plug-in


def test_a_delta_costs_us_less_than_half_of_what_it_costs_the_sdk() -> None:
    assert seconds(ours) < seconds(lambda: asyncio.run(through_the_sdk())) / 2
