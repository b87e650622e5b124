"""Socket Mode: envelopes out, acknowledgements in, and again what nobody acknowledged.

Rule 1: an event goes to one of the open sockets, in turn; while none is open it waits.
Rule 2: an acknowledgement counts only before its envelope's deadline; the next attempt has an envelope of its own.
Rule 3: deadlines and delays are real seconds: they measure the client, not the platform.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack import rule
from adapters.loopback.slack.change import (
    Change,
    EnvelopeAcknowledged,
    EnvelopeSent,
    EnvelopeTimedOut,
    SocketClosed,
    SocketOpened,
)
from adapters.loopback.slack.envelope import Acknowledgement, Envelope, EnvelopeType, Redelivery

Frame = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    envelope: Envelope
    at: float
    deadline: asyncio.TimerHandle = field(repr=False)


class SocketMode:
    """Delivers envelopes over the sockets that are open. Runs inside an asyncio loop."""

    def __init__(self, clock: PlatformClock, tell: Callable[[Change], None], redelivery: Redelivery) -> None:
        self.envelopes: list[Envelope] = []
        self.acknowledgements: list[Acknowledgement] = []
        self._clock = clock
        self._tell = tell
        self._redelivery = redelivery
        self._sockets: deque[Callable[[Frame], None]] = deque()
        self._waiting: deque[Envelope] = deque()
        self._sent: dict[str, _Sent] = {}
        self._past: dict[str, _Sent] = {}
        self._retries: dict[str, asyncio.TimerHandle] = {}
        self._to_lose = 0

    @property
    def open_sockets(self) -> int:
        """How many sockets are open."""
        return len(self._sockets)

    @property
    def unacknowledged(self) -> int:
        """How many envelopes wait for a socket, for an acknowledgement or for their next attempt."""
        return len(self._waiting) + len(self._sent) + len(self._retries)

    def unanswered(self, type_: EnvelopeType) -> int:
        """How many envelopes of a type nobody has acknowledged in time, so far or ever."""
        answered = {each.envelope.envelope_id for each in self.acknowledgements if each.in_time}
        return sum(
            each.type == type_ and each.envelope_id not in answered for each in (*self.envelopes, *self._waiting)
        )

    def open(self, send: Callable[[Frame], None], app: str) -> bool:
        """Open a socket, which is greeted and given what waits; false if there are too many."""
        if len(self._sockets) >= rule.SOCKET_COUNT.limit:
            send(disconnect("too_many_websockets"))
            return False
        self._sockets.append(send)
        send(_hello(len(self._sockets), app))
        self._tell(SocketOpened(count=len(self._sockets)))
        self._deliver()
        return True

    def close(self, send: Callable[[Frame], None]) -> None:
        """Take a socket away; what it had not acknowledged goes again when its deadline is over."""
        if send in self._sockets:
            self._sockets.remove(send)
            self._tell(SocketClosed(count=len(self._sockets)))

    def push(self, payload: Mapping[str, object], type_: EnvelopeType, event_id: str = "", attempt: int = 0) -> str:
        """Send a payload, at once or when a socket opens; returns the envelope's id."""
        envelope = Envelope(
            envelope_id=str(uuid.uuid4()), event_id=event_id, type=type_, payload=payload, attempt=attempt
        )
        self._waiting.append(envelope)
        self._deliver()
        return envelope.envelope_id

    def ask_to_leave(self, reason: str) -> None:
        """Send every socket a ``disconnect``: the client is to open a new one."""
        for send in tuple(self._sockets):
            send(disconnect(reason))

    def lose_acknowledgements(self, count: int) -> None:
        """Treat the next ``count`` acknowledgements as if they had never arrived."""
        self._to_lose = count

    def receive(self, frame: Frame) -> None:
        """Take what a client sent: an acknowledgement, if it names an envelope."""
        envelope_id = str(frame.get("envelope_id"))
        sent = self._sent.get(envelope_id) or self._past.get(envelope_id)
        if sent is None:
            return
        lost, self._to_lose = self._to_lose > 0, max(0, self._to_lose - 1)
        in_time = envelope_id in self._sent and not lost
        if in_time:
            self._settle(envelope_id)
        payload = frame.get("payload")
        acknowledgement = Acknowledgement(
            envelope=sent.envelope,
            latency=self._clock.real() - sent.at,
            in_time=in_time,
            payload=cast("Frame", payload) if isinstance(payload, dict) else None,
        )
        self.acknowledgements.append(acknowledgement)
        self._tell(EnvelopeAcknowledged(acknowledgement=acknowledgement))

    def stop(self) -> None:
        """Cancel every timer."""
        for sent in self._sent.values():
            sent.deadline.cancel()
        for retry in self._retries.values():
            retry.cancel()
        self._sent.clear()
        self._retries.clear()

    def _deliver(self) -> None:
        while self._sockets and self._waiting:
            self._send(self._waiting.popleft())

    def _send(self, envelope: Envelope) -> None:
        deadline = asyncio.get_running_loop().call_later(
            self._redelivery.deadline, self._time_out, envelope.envelope_id
        )
        self._sent[envelope.envelope_id] = _Sent(envelope=envelope, at=self._clock.real(), deadline=deadline)
        self._sockets.rotate(-1)
        self._sockets[-1](envelope.to_wire())
        self.envelopes.append(envelope)
        self._tell(EnvelopeSent(envelope=envelope))

    def _time_out(self, envelope_id: str) -> None:
        envelope = self._settle(envelope_id).envelope
        again = envelope.type == "events_api" and envelope.attempt < len(self._redelivery.delays)
        self._tell(EnvelopeTimedOut(envelope=envelope, abandoned=not again))
        if again:
            retry = replace(envelope, envelope_id=str(uuid.uuid4()), attempt=envelope.attempt + 1)
            delay = self._redelivery.delays[envelope.attempt]
            timer = asyncio.get_running_loop().call_later(delay, self._retry, retry)
            self._retries[retry.envelope_id] = timer

    def _retry(self, envelope: Envelope) -> None:
        del self._retries[envelope.envelope_id]
        self._waiting.append(envelope)
        self._deliver()

    def _settle(self, envelope_id: str) -> _Sent:
        """Stop waiting for an envelope; it is remembered, so that a late acknowledgement is known."""
        sent = self._sent.pop(envelope_id)
        sent.deadline.cancel()
        self._past[envelope_id] = sent
        return sent


def disconnect(reason: str) -> Frame:
    """The frame that asks a client to leave: "warning", "refresh_requested" or "too_many_websockets"."""
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": "loopback"}}


def _hello(count: int, app: str) -> Frame:
    return {
        "type": "hello",
        "num_connections": count,
        "connection_info": {"app_id": app},
        "debug_info": {"host": "loopback", "approximate_connection_time": 3600},
    }
