"""What is measured of many chats, and what is said in them: the same for ours and for the optimum."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.properties.markdown import model_document

PACE = 200
"""Characters a second: fifty tokens."""
DELTA = 20
"""Characters that a provider sends at once."""
THINKING = 1.0
"""Seconds before the model writes."""
LATENCY = 0.1
"""Seconds that an operation takes on average: half of them until it is judged."""
SAMPLING = 1.0
"""Seconds from one look at all chats to the next."""


@dataclass
class Figures:
    """What was measured: seconds each, and operations of each answer."""

    first: list[float] = field(default_factory=list[float])
    staleness: list[float] = field(default_factory=list[float])
    operations: list[int] = field(default_factory=list[int])

    def row(self) -> dict[str, float]:
        return {
            "first text, mean (s)": mean(self.first),
            "first text, p95 (s)": p95(self.first),
            "staleness, mean (s)": mean(self.staleness),
            "staleness, p95 (s)": p95(self.staleness),
            "operations an answer": mean(self.operations),
        }


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def answers(seed: int, seconds: float) -> list[str]:
    """What the model says in one chat, writing for so long."""
    rnd, texts = random.Random(seed), list[str]()
    while sum(map(len, texts)) < seconds * PACE:
        texts.append(model_document(rnd).text)
    return texts
