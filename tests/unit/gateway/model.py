"""A model in memory, for runners on virtual time: says what it is told to, at its pace, and can be made to fail."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from gateway.agent import Agent
from gateway.event import ContentBlockEnd, ContentBlockStart, Error, MessageEnd, StopReason, TextDelta, Usage
from gateway.provider import Item, Native, Request

USAGE = Usage(input_tokens=10, output_tokens=3)


def spoken(text: str) -> list[Item]:
    """One block of text, in deltas of four characters."""
    return [
        ContentBlockStart(block_id="b0", block_type="text"),
        *(TextDelta(block_id="b0", text=text[at : at + 4]) for at in range(0, len(text), 4)),
        ContentBlockEnd(block_id="b0", block_type="text"),
    ]


def native(text: str) -> Native:
    """The answer as its protocol has it."""
    return Native(protocol="model", blocks=({"type": "text", "text": text},))


def whole(text: str, stop_reason: StopReason = "end") -> list[Item]:
    """An answer that came to its end."""
    return [*spoken(text), native(text), MessageEnd(message_id="m1", stop_reason=stop_reason, usage=USAGE)]


def broken(text: str) -> list[Item]:
    """An answer that broke off."""
    error = Error(error_type="overloaded", error_message="529 secret detail", retryable=True)
    return [*(spoken(text) if text else []), error]


class Bug(Exception):  # noqa: N818 - what it stands for has no name
    """Something that nobody thought of."""


@dataclass
class Model:
    """A provider that gives its answers in turn, the last one again and again; a ``Bug`` among the items is raised.

    Args:
        answers: what it says.
        pace: seconds before each item.
        linger: seconds until the connection ends behind the last item.
    """

    answers: Sequence[Sequence[Item | Bug]]
    pace: float = 0.0
    linger: float = 0.0
    requests: list[Request] = field(default_factory=list[Request])
    open: int = 0
    most_open: int = 0

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[AsyncIterator[Item]]:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        items = self._items(answer)
        try:
            yield items
        finally:
            self.open -= 1
            await items.aclose()

    async def _items(self, answer: Sequence[Item | Bug]) -> AsyncGenerator[Item]:
        for item in answer:
            await anyio.sleep(self.pace)
            if isinstance(item, Bug):
                raise item
            yield item
        await anyio.sleep(self.linger)


def agent(model: Model, history_characters: int = 100_000) -> Agent:
    """Somebody to ask."""
    return Agent(
        id="agent",
        provider=model,
        model="model-1",
        max_tokens=100,
        system="Be brief.",
        history_characters=history_characters,
    )
