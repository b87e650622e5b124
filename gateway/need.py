"""What somebody who has something to show asks of the pacer."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

Budgets = Literal["post", "edit", "delete", "append", "read", "mark", "typing", "private"]
"""The field of ``Capabilities`` that lists what an operation draws on."""


class Priority(IntEnum):
    """What goes first when slots are scarce."""

    ACKNOWLEDGEMENT = 0
    FINAL = 1
    APPROVAL = 2
    STATUS = 3
    LIVE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a reply would do if it got a slot: draw on those budgets, for the message of that id, if it has one yet.

    ``rest`` is how many platform seconds are to pass first since its last operation.
    """

    priority: Priority
    draws: Budgets
    message_id: str | None = None
    rest: float = 0.0
