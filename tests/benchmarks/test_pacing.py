"""How soon text is shown where many chats share few operations: the whole way to the screen, on virtual time.

All chats are written to at the same time, at the pace of a model, one answer after the other until some minutes of
writing have come out in each. What delivers is what ships. The judge is the loopback server's own rate limit; it
refuses nothing. The same figures come out in every run on one machine.

Slack: sixty chats in one workspace have more to say than all its posts can hold, so they wait for each other; ten have
room to post, and too few edits to show each bubble as it grows. Discord and Telegram: sixty chats would like to show
more often than one bot may do anything at all; in groups of Telegram's each chat is slower than that by itself. Where
there are as many accounts as chats nothing is shared.

Beside each figure stands the fair optimum, see ``optimum``. A figure below it is no contradiction: it is fair to all,
and somebody else may be served better than that.
"""

import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import anyio
import pytest

from adapters.loopback.clock import PlatformClock
from gateway.adapter import Receive
from gateway.address import Address
from gateway.delivery import Delivery
from gateway.event import AgentEnd, TextDelta, Usage
from gateway.operation import EditMessage, Operation, Outcome, Performed, PostMessage, RateLimited
from gateway.place import Place
from gateway.reply import Reply
from tests.benchmarks.account import ACCOUNTS, Account
from tests.benchmarks.figures import DELTA, LATENCY, PACE, SAMPLING, THINKING, Figures, answers, mean
from tests.benchmarks.optimum import optimum
from tests.properties.markdown import WORD

END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())


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
    """An account on a platform, as its rate limits and its distance go."""

    def __init__(self, account: Account, seed: int) -> None:
        self.capabilities = account.capabilities
        self.refused: list[str] = []
        self.answers: dict[Address, Answer] = {}
        self._rnd = random.Random(seed)
        self._clock = PlatformClock(source=anyio.current_time, epoch=0.0)
        self._judge = account.judge()

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        await anyio.sleep_forever()

    async def perform(self, operation: Operation) -> Outcome:
        assert isinstance(operation, PostMessage | EditMessage)
        await anyio.sleep(LATENCY * self._rnd.uniform(0.2, 0.8))
        told = self._judge.ask(operation, self._clock.now())
        await anyio.sleep(LATENCY * self._rnd.uniform(0.2, 0.8))
        if isinstance(told, RateLimited):
            self.refused.append(f"{type(operation).__name__} in {operation.address.channel}: {told}")
            return told
        answer = self.answers[operation.address]
        answer.operations += 1
        answer.show(operation.text, anyio.current_time())
        name = operation.message_id if isinstance(operation, EditMessage) else operation.nonce
        return Performed(message_id=name, quota=told)


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


async def ours(account: Account, said: Sequence[Sequence[str]], accounts: int) -> tuple[Figures, list[str]]:
    """What ships, measured; and which operations the platform refused. ``said`` are the answers in each chat."""
    delivery, figures = Delivery(), Figures()
    screens = [Screen(account, seed) for seed in range(accounts)]
    async with anyio.create_task_group() as around:
        around.start_soon(delivery.run)
        around.start_soon(watch, screens, figures)
        async with anyio.create_task_group() as writing:
            for number, texts in enumerate(said):
                which = number % accounts
                address = Address(platform=account.platform, account=f"A{which}", channel=account.channel(number))
                writing.start_soon(chat, delivery, screens[which], address, texts, figures)
        around.cancel_scope.cancel()
    return figures, [refusal for screen in screens for refusal in screen.refused]


@pytest.fixture(autouse=True)
def same_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks that could run now do so in an order that trio draws: let it draw the same each time."""
    monkeypatch.setattr("trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING", True)
    monkeypatch.setattr("trio._core._run._r", random.Random(0))


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("name", "chats", "accounts", "minutes"),
    [
        ("slack", 60, 1, 10),
        ("slack", 10, 1, 10),
        ("slack", 60, 60, 10),
        ("discord", 60, 1, 2),
        ("discord", 60, 60, 2),
        ("telegram", 60, 1, 2),
        ("telegram", 60, 60, 2),
        ("telegram groups", 60, 1, 2),
        ("telegram groups", 60, 60, 2),
    ],
)
async def test_text_is_shown_almost_as_soon_as_the_budgets_allow(
    name: str, chats: int, accounts: int, minutes: int
) -> None:
    account, said = ACCOUNTS[name], [answers(number, 60.0 * minutes) for number in range(chats)]
    (figures, refused), best = await ours(account, said, accounts), optimum(account, said, accounts).row()
    title = f"{name}: {chats} chats, {accounts} {account.name}"
    print(f"\n{title:44}{'ours':>8}{'optimum':>9}{'ratio':>7}")  # noqa: T201 - the table
    for what, value in figures.row().items():
        print(f"{what:44}{value:>8.2f}{best[what]:>9.2f}{value / best[what]:>7.2f}")  # noqa: T201 - the table
    assert refused == []
    assert mean(figures.first) < 1.5 * best["first text, mean (s)"]
    assert mean(figures.staleness) < 1.5 * best["staleness, mean (s)"]
