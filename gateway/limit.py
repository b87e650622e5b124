"""What a run may use up. Data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one run.

    Attributes:
        turns: model calls, retries not counted.
        tokens: that it may be billed for, in and out.
        deadline: seconds that it may work; time in which it waits for approval does not count.
        retries: how often a model call that failed before its first word is made again.
    """

    turns: int = 40
    tokens: int = 1_000_000
    deadline: float = 1800.0
    retries: int = 3
