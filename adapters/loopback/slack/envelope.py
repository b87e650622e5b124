"""What goes through a Socket Mode connection, and when it goes again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from adapters.loopback.slack import rule

EnvelopeType = Literal["events_api", "interactive", "slash_commands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivery:
    """When an unacknowledged envelope goes again; real seconds, never scaled.

    Attributes:
        deadline: how long an acknowledgement may take.
        delays: how long after the deadline each further attempt goes.
    """

    deadline: float = float(rule.ACKNOWLEDGE_IN_TIME.limit)
    delays: tuple[float, ...] = (0.0, 60.0, 300.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One delivery of a payload.

    Attributes:
        envelope_id: new for every attempt.
        event_id: the same for every attempt; empty where the payload is no event.
        type: what kind of payload it is.
        payload: what the app's listener is given.
        attempt: 0 is the first delivery.
    """

    envelope_id: str
    event_id: str
    type: EnvelopeType
    payload: Mapping[str, object] = field(repr=False)
    attempt: int

    def to_wire(self) -> dict[str, object]:
        """The frame's JSON; the retry fields belong to events only, empty and 0 on the first attempt."""
        wire: dict[str, object] = {
            "envelope_id": self.envelope_id,
            "type": self.type,
            "payload": dict(self.payload),
            "accepts_response_payload": self.type != "events_api",
        }
        if self.type == "events_api":
            wire |= {"retry_attempt": self.attempt, "retry_reason": "timeout" if self.attempt else ""}
        return wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """An answer to an envelope.

    Attributes:
        envelope: what it answers.
        latency: real seconds since the envelope went.
        in_time: it counts; otherwise it came late, twice, or was lost on purpose.
        payload: what the app answered with.
    """

    envelope: Envelope
    latency: float
    in_time: bool
    payload: Mapping[str, object] | None = None
