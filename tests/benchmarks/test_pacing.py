"""How soon text is shown where many chats share few operations: the whole way to the screen, on virtual time.

All chats are written to at the same time, at the pace of a model, one answer after the other until ten minutes of
writing have come out in each. What delivers is what ships. The judge is the loopback server's own rate limit; it
refuses nothing. The same figures come out on every machine.

Sixty chats in one workspace have more to say than all its posts can hold, so they wait for each other; ten have room to
post, and too few edits to show each bubble as it grows; sixty in sixty workspaces share nothing.

Beside each figure stands the fair optimum, by a simulation that shares nothing with the gateway but the numbers: the
same answers, at the same pace, under the budgets that the adapter claims.

- A refill of a workspace's budget is one operation. It goes to the chat that has waited longest since its last one, of
  those that have something to show.
- An operation shows all that is written by then, to the end of its bubble of 800 characters. To show more of a bubble
  that is still growing takes an edit. To begin a bubble or to complete it takes either: that is more than Slack
  allows, and spares the optimum to foresee which bubbles are better begun early.
- An operation takes as long as on our screen; a chat does one at a time, and keeps the platform's distance.

A figure below the optimum is no contradiction: it is fair to all, and somebody else may be served better than that.
"""

import random
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import anyio
import pytest

from adapters.loopback.bucket import TokenBucket, take_all
from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack.limit import LIMITS
from adapters.slack import Settings, create
from adapters.slack.adapter import EDIT, POST
from gateway.adapter import Receive
from gateway.address import Address
from gateway.delivery import Delivery
from gateway.event import AgentEnd, TextDelta, Usage
from gateway.operation import EditMessage, Operation, Outcome, Performed, PostMessage, RateLimited
from gateway.place import Place
from gateway.reply import Reply
from tests.properties.markdown import WORD, model_document

WRITING = 600.0
"""Seconds of model output in each chat."""
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

END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())


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


def answers(seed: int) -> list[str]:
    """What the model says in one chat."""
    rnd, texts = random.Random(seed), list[str]()
    while sum(map(len, texts)) < WRITING * PACE:
        texts.append(model_document(rnd).text)
    return texts


# -- ours ---------------------------------------------------------------------------------------------------------


class Answer:
    """One answer, and how much of it the screen shows: each of its words is there once, and tells which it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(WORD.finditer(text))
        self._ends = [match.end() + 1 for match in found]
        self._index = {match[0]: index for index, match in enumerate(found)}
        self._said: list[float] = []
        self._shown = 0
        self.first: float | None = None
        self.operations = 0

    def say(self, length: int, now: float) -> None:
        """The model has written so much of it."""
        complete = bisect_left(self._ends, length + 1)
        self._said += [now] * (complete - len(self._said))

    def show(self, text: str, now: float) -> None:
        """A message shows this."""
        numbers = [self._index[word] for word in WORD.findall(text)]
        self._shown = max([self._shown, *(number + 1 for number in numbers)])
        if numbers and self.first is None:
            self.first = now - self._said[0]

    def age(self, now: float) -> float:
        """Of the oldest word that is not shown."""
        return now - self._said[self._shown] if self._shown < len(self._said) else 0.0


class Screen:
    """A workspace on Slack, as its rate limits and its distance go."""

    def __init__(self, seed: int) -> None:
        self.capabilities = create(Settings()).capabilities
        self.refused = 0
        self.answers: dict[Address, Answer] = {}
        self._rnd = random.Random(seed)
        self._clock = PlatformClock(source=anyio.current_time, epoch=0.0)
        self._buckets: dict[tuple[str, str], TokenBucket] = {}

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        await anyio.sleep_forever()

    async def perform(self, operation: Operation) -> Outcome:
        assert isinstance(operation, PostMessage | EditMessage)
        await anyio.sleep(LATENCY * self._rnd.uniform(0.2, 0.8))
        wait = take_all(self._budgets(operation), self._clock.now())
        await anyio.sleep(LATENCY * self._rnd.uniform(0.2, 0.8))
        if wait > 0:
            self.refused += 1
            return RateLimited(retry_after=wait)
        answer = self.answers[operation.address]
        answer.operations += 1
        answer.show(operation.text, anyio.current_time())
        return Performed(message_id=operation.message_id if isinstance(operation, EditMessage) else operation.nonce)

    def _budgets(self, operation: PostMessage | EditMessage) -> list[TokenBucket]:
        """See ``adapters.loopback.slack.gate.Gate``, which asks for tokens and scopes first."""
        method = "chat.postMessage" if isinstance(operation, PostMessage) else "chat.update"
        limits = LIMITS[method]
        buckets = [self._buckets.setdefault((method, ""), TokenBucket(limits.workspace))]
        if limits.channel is not None:
            key = method, operation.address.channel
            buckets.append(self._buckets.setdefault(key, TokenBucket(limits.channel)))
        return buckets


async def chat(delivery: Delivery, screen: Screen, address: Address, texts: Iterable[str], figures: Figures) -> None:
    """One answer after the other; the next begins when the last is on the screen."""
    for number, text in enumerate(texts):
        answer = screen.answers[address] = Answer(text)
        reply = Reply(
            place=Place(address=address, capabilities=screen.capabilities, seed=f"{address.key} {number}"), run_id="r"
        )
        async with anyio.create_task_group() as showing:
            showing.start_soon(delivery.show, reply, screen)
            await anyio.sleep(THINKING)
            for at in range(0, len(text), DELTA):
                answer.say(at + DELTA, anyio.current_time())
                delivery.feed(reply, TextDelta(block_id="b", text=text[at : at + DELTA]))
                await anyio.sleep(DELTA / PACE)
            delivery.feed(reply, END)
        assert answer.first is not None
        assert answer.age(anyio.current_time()) == 0
        figures.first.append(answer.first)
        figures.operations.append(answer.operations)
        del screen.answers[address]


async def watch(screens: Sequence[Screen], figures: Figures) -> None:
    while True:
        await anyio.sleep(SAMPLING)
        now = anyio.current_time()
        figures.staleness += [answer.age(now) for screen in screens for answer in screen.answers.values()]


async def ours(chats: int, workspaces: int) -> tuple[Figures, int]:
    """What ships, measured; and how many operations the platform refused."""
    delivery, figures = Delivery(), Figures()
    screens = [Screen(seed) for seed in range(workspaces)]
    async with anyio.create_task_group() as around:
        around.start_soon(delivery.run)
        around.start_soon(watch, screens, figures)
        async with anyio.create_task_group() as writing:
            for number in range(chats):
                workspace = number % workspaces
                address = Address(platform="slack", account=f"T{workspace}", channel=f"D{number}")
                writing.start_soon(chat, delivery, screens[workspace], address, answers(number), figures)
        around.cancel_scope.cancel()
    return figures, sum(screen.refused for screen in screens)


# -- the optimum --------------------------------------------------------------------------------------------------

STEP = 0.05
BUBBLE = 800
POSTS, EDITS = POST[1], EDIT[0]
GAPS = {"post": 1 / POST[0].rate, "edit": 1 / EDIT[1].rate}
"""Seconds from one operation of a chat to its next of that kind."""


class IdealChat:
    """Its answers are characters; ``shown`` of them are on the screen, in bubbles that are all full but the last."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self.lengths = deque(lengths)
        self.last = dict.fromkeys(GAPS, -10.0)
        self.served = -1
        self.begin(0.0)

    def begin(self, now: float) -> None:
        self.since = now + THINKING
        self.shown = self.showing = self.bubble = self.operations = 0
        self.until: float | None = None

    def written(self, now: float) -> int:
        return max(0, min(self.lengths[0], int((now - self.since) * PACE)))

    def wants(self, now: float) -> tuple[str, ...]:
        """The budgets of which any will do; none where there is nothing to show."""
        if self.until is not None or self.written(now) <= self.shown:
            return ()
        complete = self.written(now) >= min(self.bubble + BUBBLE, self.lengths[0])
        begun = self.shown > self.bubble
        kinds = ("edit",) if begun and not complete else ("edit", "post") if begun else ("post", "edit")
        return tuple(kind for kind in kinds if now - self.last[kind] >= GAPS[kind])

    def go(self, kind: str, now: float, turn: int) -> None:
        self.last[kind], self.served, self.until = now, turn, now + LATENCY
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


def optimum(number_of_chats: int, workspaces: int) -> Figures:
    """The fair optimum; see above."""
    figures, turns = Figures(), count()
    chats = [IdealChat(map(len, answers(number))) for number in range(number_of_chats)]
    tokens = [{"post": POSTS.burst, "edit": EDITS.burst} for _ in range(workspaces)]
    for step in count():
        now = step * STEP
        for mine in tokens:
            mine["post"] = min(POSTS.burst, mine["post"] + POSTS.rate * STEP)
            mine["edit"] = min(EDITS.burst, mine["edit"] + EDITS.rate * STEP)
        live = [(number, each) for number, each in enumerate(chats) if each.lengths]
        if not live:
            return figures
        for number, each in sorted(live, key=lambda pair: pair[1].served):
            each.pass_time(now, figures)
            if not each.lengths:
                continue
            mine = tokens[number % workspaces]
            if kind := next((kind for kind in each.wants(now) if mine[kind] >= 1), None):
                mine[kind] -= 1
                each.go(kind, now, next(turns))
            if step % round(SAMPLING / STEP) == 0 and each.since <= now:
                figures.staleness.append(each.age(now))
    raise AssertionError


@pytest.fixture(autouse=True)
def same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that could run now do so in an order that trio draws: let it draw the same each time."""
    monkeypatch.setattr("trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING", True)
    monkeypatch.setattr("trio._core._run._r", random.Random(0))


@pytest.mark.virtual_time
@pytest.mark.parametrize(("chats", "workspaces"), [(60, 1), (10, 1), (60, 60)])
async def test_text_is_shown_almost_as_soon_as_the_budgets_allow(chats: int, workspaces: int) -> None:
    (figures, refused), best = await ours(chats, workspaces), optimum(chats, workspaces).row()
    print(f"\n{f'{chats} chats, {workspaces} workspaces':26}{'ours':>8}{'optimum':>9}{'ratio':>7}")  # noqa: T201 - the table
    for name, value in figures.row().items():
        print(f"{name:26}{value:>8.2f}{best[name]:>9.2f}{value / best[name]:>7.2f}")  # noqa: T201 - the table
    assert refused == 0
    assert mean(figures.first) < 1.5 * best["first text, mean (s)"]
    assert mean(figures.staleness) < 1.5 * best["staleness, mean (s)"]
