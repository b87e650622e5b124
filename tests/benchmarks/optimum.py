"""The fair optimum: how soon text could be shown, by a simulation that shares nothing with the gateway but the numbers.

The same answers as ours, at the same pace, under the budgets that the adapter claims, or that the platform tells.

- A refill of a budget that an account's chats share is one operation. It goes to the chat that has waited longest since
  its last one, of those that have something to show.
- An operation shows all that is written by then, to the end of its bubble. To show more of a bubble that is still
  growing takes an edit. To begin a bubble or to complete it takes a post or an edit, whichever is to be had: that is
  more than a platform allows, and spares the optimum to foresee which bubbles are better begun early.
- An operation takes as long as on our screen; a chat does one at a time, and keeps the distance that its own budgets
  come to.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from gateway.adapter import Budget
from tests.benchmarks.account import Account
from tests.benchmarks.figures import LATENCY, PACE, SAMPLING, THINKING, Figures

STEP = 0.05
BUBBLE = 800
KINDS = ("post", "edit")

Gaps = Mapping[str, Mapping[str, float]]
"""For either kind of operation, the seconds from one use of a chat's budget to the next, by the budget's name."""


def shared(account: Account) -> dict[str, list[Budget]]:
    """What the chats of an account have in common, for either kind of operation."""
    return {kind: [each for each in _budgets(account, kind) if each.scope == "account"] for kind in KINDS}


def gaps(account: Account, channel: str) -> Gaps:
    """What a chat has for itself."""
    own: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        for budget in _budgets(account, kind):
            applies = budget.channels is None or re.fullmatch(budget.channels, channel)
            if budget.scope != "account" and applies:
                told = account.told.get(budget.name) if budget.scope != "message" else None
                own[kind][f"{budget.name} {budget.scope}"] = 1 / (told or budget.rate)
    return own


def _budgets(account: Account, kind: str) -> Iterable[Budget]:
    return account.capabilities.post if kind == "post" else account.capabilities.edit


class Tokens:
    """The budgets that an account's chats share."""

    def __init__(self, account: Account) -> None:
        self._kinds = shared(account)
        self._budgets = {each.name: each for kind in KINDS for each in self._kinds[kind]}
        self._left = {name: budget.burst for name, budget in self._budgets.items()}

    def refill(self) -> None:
        for name, budget in self._budgets.items():
            self._left[name] = min(budget.burst, self._left[name] + budget.rate * STEP)

    def there(self, kind: str) -> bool:
        return all(self._left[each.name] >= 1 for each in self._kinds[kind])

    def take(self, kind: str) -> None:
        for each in self._kinds[kind]:
            self._left[each.name] -= 1


class IdealChat:
    """Its answers are characters; ``shown`` of them are on the screen, in bubbles that are all full but the last."""

    def __init__(self, lengths: Iterable[int], own: Gaps) -> None:
        self.lengths = deque(lengths)
        self.own = own
        self.last = {name: -10.0 for kind in KINDS for name in own[kind]}
        self.served = -1
        self.begin(0.0)

    def begin(self, now: float) -> None:
        self.since = now + THINKING
        self.shown = self.showing = self.bubble = self.operations = 0
        self.until: float | None = None

    def written(self, now: float) -> int:
        return max(0, min(self.lengths[0], int((now - self.since) * PACE)))

    def wants(self, now: float) -> Iterator[str]:
        """The kinds of operation of which any will do; none where there is nothing to show."""
        if self.until is not None or self.written(now) <= self.shown:
            return
        complete = self.written(now) >= min(self.bubble + BUBBLE, self.lengths[0])
        begun = self.shown > self.bubble
        for kind in ("edit",) if begun and not complete else ("edit", "post") if begun else ("post", "edit"):
            if all(now - self.last[name] >= gap for name, gap in self.own[kind].items()):
                yield kind

    def go(self, kind: str, now: float, turn: int) -> None:
        self.last.update(dict.fromkeys(self.own[kind], now))
        self.served, self.until = turn, now + LATENCY
        self.showing = min(self.written(now), self.bubble + BUBBLE)
        self.operations += 1

    def pass_time(self, now: float, figures: Figures) -> None:
        if self.until is None or now < self.until:
            return
        if self.shown == 0:
            figures.first.append(now - self.since)
        self.shown, self.until = self.showing, None
        if self.shown == self.bubble + BUBBLE:
            self.bubble = self.shown
        if self.shown == self.lengths[0]:
            figures.operations.append(self.operations)
            self.lengths.popleft()
            self.begin(now)

    def age(self, now: float) -> float:
        return now - self.since - self.shown / PACE if self.written(now) > self.shown else 0.0


def optimum(account: Account, said: Sequence[Sequence[str]], accounts: int) -> Figures:
    """The fair optimum; see above. ``said`` are the answers in each chat."""
    figures, turns = Figures(), count()
    chats = [IdealChat(map(len, texts), gaps(account, account.channel(number))) for number, texts in enumerate(said)]
    tokens = [Tokens(account) for _ in range(accounts)]
    for step in count():
        now = step * STEP
        for mine in tokens:
            mine.refill()
        live = [(number, each) for number, each in enumerate(chats) if each.lengths]
        if not live:
            return figures
        for number, each in sorted(live, key=lambda pair: pair[1].served):
            each.pass_time(now, figures)
            if not each.lengths:
                continue
            mine = tokens[number % accounts]
            if kind := next((kind for kind in each.wants(now) if mine.there(kind)), None):
                mine.take(kind)
                each.go(kind, now, next(turns))
            if step % round(SAMPLING / STEP) == 0 and each.since <= now:
                figures.staleness.append(each.age(now))
    raise AssertionError
