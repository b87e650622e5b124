"""How much a run may use up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a run ends though the model would go on.

    Attributes:
        turns: model calls.
        tokens: of all of them together, read and written.
        deadline: seconds; what a person takes to decide is not counted.
        retries: how often a failed model call is made again before the fallback is asked.
    """

    turns: int = 40
    tokens: int = 1_000_000
    deadline: float = 1800.0
    retries: int = 3
