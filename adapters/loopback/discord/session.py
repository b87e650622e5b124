"""What one client is told, and what it has still to be told when it comes back. Pure."""

from dataclasses import dataclass, field
from typing import cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """One event of a session; ``seq`` counts them from 1, and ``text`` is sent in its place."""

    seq: int
    event: str
    data: object = field(repr=False)
    text: str | None = None

    def to_wire(self) -> str | dict[str, object]:
        """The frame: its JSON, or its text."""
        return self.text or {"op": 0, "s": self.seq, "t": self.event, "d": self.data}


class Session:
    """One IDENTIFY, and all dispatches after it.

    Attributes:
        id: what RESUME names.
        intents: what it asked for.
        dispatches: all of them, oldest first, delivered or not.
    """

    def __init__(self, session_id: str, intents: int) -> None:
        self.id = session_id
        self.intents = intents
        self.dispatches: list[Dispatch] = []

    @property
    def seq(self) -> int:
        """The number of the newest dispatch; 0 before the first."""
        return len(self.dispatches)

    def add(self, event: str, data: object, text: str | None = None) -> Dispatch:
        """Number a dispatch and keep it."""
        dispatch = Dispatch(seq=self.seq + 1, event=event, data=data, text=text)
        self.dispatches.append(dispatch)
        return dispatch

    def after(self, seq: int) -> list[Dispatch]:
        """The dispatches that a client which saw that one has missed."""
        return self.dispatches[seq:]

    def last(self, event: str | None = None, identifier: str | None = None) -> Dispatch:
        """The newest dispatch, or the newest of an event, or of what has that id.

        Raises:
            LookupError: there is none.
        """
        found = next(
            (
                each
                for each in reversed(self.dispatches)
                if event in {None, each.event} and identifier in {None, _named(each.data)}
            ),
            None,
        )
        if found is None:
            msg = f"nothing was dispatched as {event}" if event else "nothing was dispatched"
            raise LookupError(msg)
        return found


def _named(data: object) -> object:
    """The id of what a dispatch is about, if it has one."""
    return cast("dict[str, object]", data).get("id") if isinstance(data, dict) else None
