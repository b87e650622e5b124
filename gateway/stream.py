"""The run's event stream: one producer, one consumer, bounded.

Rule 1: nothing is dropped. A full stream makes the producer wait, and so the reader of the model.
Rule 2: adjacent text deltas of a block that wait here become one; no other event is touched.
Rule 3: an event is wrapped once, when the consumer takes it: ``seq`` counts what was taken, without a gap.
"""

from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

import anyio

from gateway.error import DragomanError
from gateway.event import Envelope, Event, TextDelta, ThinkingDelta

MERGED_CHARACTERS = 4096
"""How long a merged delta may get: a consumer that stands still must in the end be felt by the producer."""


class ConsumerStalledError(DragomanError):
    """Nobody read the stream for as long as a put may wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How full a stream is, and how often its producer had to wait."""

    waiting: int
    capacity: int
    stalls: int


class EventStream:
    """Carries the events of one run from the agent to the reply.

    Args:
        run_id: goes into every envelope.
        capacity: how many events may wait.
        patience: how many seconds a put may wait for room.
        first: the number of the first event: how many an earlier stream of the run has told in this process.
    """

    def __init__(self, run_id: str, *, capacity: int = 256, patience: float = 30.0, first: int = 0) -> None:
        self.run_id = run_id
        self._capacity = capacity
        self._patience = patience
        self._waiting: deque[Event] = deque()
        self.taken = first
        self._stalls = 0
        self._closed = False
        self._changed = anyio.Event()

    async def put(self, event: Event) -> None:
        """Add an event behind the others.

        Raises:
            ConsumerStalledError: it found no room in time.
            anyio.ClosedResourceError: the stream is closed; the event would be lost.
        """
        if self._closed:
            raise anyio.ClosedResourceError
        if self._merge(event):
            return
        if len(self._waiting) >= self._capacity:
            self._stalls += 1
            await self._wait_for_room()
        await anyio.lowlevel.checkpoint()  # before, so that an event whose put was cancelled is not in the stream
        self._waiting.append(event)
        self._wake()

    def close(self, *last: Event) -> None:
        """Nothing more will come but these, which need no room: the end of a run must always find its place."""
        self._waiting.extend(last)
        self._closed = True
        self._wake()

    def __aiter__(self) -> Self:
        """The events, until the stream is closed and empty."""
        return self

    async def __anext__(self) -> Envelope:
        """Take the next event, once it is there."""
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            await self._changed.wait()
        return self._take()

    def statistics(self) -> Statistics:
        """A look at the stream, for the curious."""
        return Statistics(waiting=len(self._waiting), capacity=self._capacity, stalls=self._stalls)

    def _merge(self, event: Event) -> bool:
        last = self._waiting[-1] if self._waiting else None
        match last, event:
            case (TextDelta(), TextDelta()) | (ThinkingDelta(), ThinkingDelta()) if (
                last.block_id == event.block_id and len(last.text) + len(event.text) <= MERGED_CHARACTERS
            ):
                self._waiting[-1] = replace(last, text=last.text + event.text)
                return True
            case _:
                return False

    async def _wait_for_room(self) -> None:
        with anyio.move_on_after(self._patience):
            while len(self._waiting) >= self._capacity:
                await self._changed.wait()
            return
        msg = f"the reader of run {self.run_id} stood still for {self._patience:g} s"
        raise ConsumerStalledError(msg)

    def _take(self) -> Envelope:
        event = self._waiting.popleft()
        self._wake()
        envelope = Envelope(run_id=self.run_id, seq=self.taken, timestamp=datetime.now(UTC), event=event)
        self.taken += 1
        return envelope

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
