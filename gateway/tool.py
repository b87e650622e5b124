"""What the gateway asks of a tool that a model may call.

Rule 1: whatever a tool does wrong is a result for the model, never a crash: it may raise what it likes.
Rule 2: what it says of an input (safe, to be asked for) is about that very input, and asked anew for each.
Rule 3: it runs only after ``permits``, and after a person allowed it where it needs approval.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gateway.event import JsonObject

LONGEST = 100_000
"""Bytes of UTF-8 up to which a result is whole; a longer one is cut in the middle, and kept in a file to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who asked for the run. ``roles`` are those that the configuration gives them."""

    platform: str
    id: str
    roles: frozenset[str] = frozenset()


Report = Callable[[str, float | None, float | None], None]
"""How far a call is: a few words, and how much of how much is done. May be called from any thread."""


class Memory(Protocol):
    """What a tool keeps for one conversation: texts by name. ``/new`` does not erase it, ``/forget`` does.

    Raises:
        StoreError: the database refuses; nothing was changed then.
    """

    async def texts(self) -> dict[str, str]:
        """All of them, by name."""
        ...

    async def keep(self, name: str, text: str | None) -> None:
        """Keep a text under a name, in the place of the one before; with none, no text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a call knows of where it runs.

    ``report`` says how far it is.
    ``folder`` is the conversation's own, for files that the model may read.
    """

    user: User
    conversation: str
    run_id: str
    tool_use_id: str
    memory: Memory
    folder: Path
    report: Report


class Tool(Protocol):
    """Something that a model may call."""

    @property
    def name(self) -> str:
        """Letters, digits, ``_`` and ``-``, 64 at most; no two tools share one."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model."""
        ...

    @property
    def input_schema(self) -> JsonObject:
        """JSON Schema of an object."""
        ...

    @property
    def cascades(self) -> bool:
        """Whether its failure makes later calls of such tools pointless (a shell)."""
        ...

    @property
    def time_limit(self) -> float | None:
        """Seconds that a call may take; none for the configured number."""
        ...

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the field's word
        """Why an input does not satisfy the schema, in a sentence for the model; none where it does."""
        ...

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether this user may have it do this at all."""
        ...

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether it changes nothing with this input, so that it may run beside others and be repeated."""
        ...

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether a person has to allow this first."""
        ...

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - as above
        """Do it; what came of it, for the model. Cancelled at the time limit, and when the run is stopped.

        Raises:
            Exception: it failed; the message is for the model.
        """
        ...
