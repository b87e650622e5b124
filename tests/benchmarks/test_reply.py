"""What a delta costs between the model and the adapter: reply, chunker, pacer and journal together.

Answers are fed in deltas of four characters, fifty a second; operations go as often as Slack's budgets allow, and what
is to be written down becomes JSON. Beside it, in the same run: the chunker alone over the same deltas, and the whole
way through ``Delivery`` with its tasks, on virtual time, less what it costs to wait for the same time.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

import anyio
import trio
from pytest_benchmark.fixture import BenchmarkFixture
from trio.testing import MockClock

from adapters.slack import Settings, create
from chunker import Chunker
from gateway.adapter import Budget, Receive
from gateway.address import Address
from gateway.delivery import Delivery
from gateway.event import AgentEnd, TextDelta, Usage
from gateway.journal import Line, to_json
from gateway.need import Need
from gateway.operation import EditMessage, Operation, Outcome, Performed, PostMessage
from gateway.pacer import Candidate, Key, Pacer
from gateway.place import Place
from gateway.reply import Reply
from tests.properties.markdown import model_document

DELTA = 4
PAUSE = 0.02
TOGETHER = 5
"""Deltas that come with one packet."""
ANSWERS = [model_document(Random(seed)).text for seed in range(40)]
DELTAS = [[text[at : at + DELTA] for at in range(0, len(text), DELTA)] for text in ANSWERS]
COUNT = sum(map(len, DELTAS))

ADDRESS = Address(platform="slack", account="T1", channel="C1", thread="1700000000.000100")
END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())


CAPABILITIES = create(Settings()).capabilities


def reply_to(number: int) -> Reply:
    return Reply(place=Place(address=ADDRESS, capabilities=CAPABILITIES, seed=str(number)), run_id="r")


def performed(operation: Operation) -> Performed:
    assert isinstance(operation, PostMessage | EditMessage)
    return Performed(message_id=operation.message_id if isinstance(operation, EditMessage) else operation.nonce)


# -- the machines alone -------------------------------------------------------------------------------------------


@dataclass
class Machines:
    """They are asked what ``Delivery`` would ask them, by nobody's tasks."""

    now: float = 0.0
    again: float = 0.0
    asked: Need | None = None
    operations: int = 0
    pacer: Pacer = field(default_factory=Pacer)

    def answer(self, number: int) -> None:
        reply = reply_to(number)
        for words in DELTAS[number]:
            self.now += PAUSE
            reply.feed(TextDelta(block_id="b", text=words))
            self.serve(reply)
        reply.feed(END)
        while not reply.done:
            self.serve(reply)
            self.now = max(self.now, self.again)

    def serve(self, reply: Reply) -> None:
        need = reply.need()
        if need is None or (need == self.asked and self.now < self.again):
            return
        chosen, wait = self.pacer.choose([candidate(need)], self.now)
        self.asked, self.again = need, self.now + wait
        if chosen is not None and (operation := reply.next_operation()) is not None:
            self.pacer.take(chosen, self.now)
            write(reply.lines())
            reply.settle(performed(operation))
            write(reply.lines())
            self.asked = None
            self.operations += 1


def candidate(need: Need) -> Candidate:
    budgets: tuple[Budget, ...] = getattr(CAPABILITIES, need.draws)
    places = {"account": "", "channel": "C1", "message": f"C1/{need.message_id}"}
    keys = {Key("slack", "T1", each.name, places[each.scope]): each for each in budgets}
    return Candidate(name="C1", urgency=need.priority, budgets=keys)


def write(lines: Mapping[int, Line]) -> None:
    for line in lines.values():
        to_json(line)


def machines() -> int:
    ours = Machines()
    for number in range(len(DELTAS)):
        ours.answer(number)
    return ours.operations


# -- the whole way ------------------------------------------------------------------------------------------------


class Anything:
    """A workspace where all that is asked for has been done at once."""

    capabilities = CAPABILITIES

    def __init__(self) -> None:
        self.operations = 0

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        await anyio.sleep_forever()

    async def perform(self, operation: Operation) -> Outcome:
        self.operations += 1
        return performed(operation)


async def record(lines: Mapping[int, Line]) -> None:
    write(lines)


async def answer(delivery: Delivery, adapter: Anything, number: int) -> None:
    reply = reply_to(number)
    async with anyio.create_task_group() as showing:
        showing.start_soon(lambda: delivery.show(reply, adapter, record=record))
        for at, words in enumerate(DELTAS[number]):
            if at % TOGETHER == 0:
                await anyio.sleep(PAUSE * TOGETHER)
            delivery.feed(reply, TextDelta(block_id="b", text=words))
        delivery.feed(reply, END)


async def deliver() -> int:
    delivery, adapter = Delivery(), Anything()
    async with anyio.create_task_group() as around:
        around.start_soon(delivery.run)
        for number in range(len(DELTAS)):
            await answer(delivery, adapter, number)
        around.cancel_scope.cancel()
    return adapter.operations


async def wait() -> None:
    """As long as the answers take, with nobody to write them."""
    for _ in range(COUNT // TOGETHER):
        await anyio.sleep(PAUSE * TOGETHER)


def whole_way() -> int:
    return trio.run(deliver, clock=MockClock(autojump_threshold=0))


def waiting() -> None:
    trio.run(wait, clock=MockClock(autojump_threshold=0))


def chunker_alone() -> None:
    for deltas in DELTAS:
        chunker = Chunker(800)
        for words in deltas:
            chunker.feed(words)
        chunker.flush()


def microseconds(work: Callable[[], object]) -> float:
    """Processor time of a delta, in the best of three runs."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best / COUNT * 1e6


def test_the_machines(benchmark: BenchmarkFixture) -> None:
    benchmark(machines)  # pyright: ignore[reportUnknownMemberType]  # the plugin is untyped


def test_a_delta_costs_little_more_than_it_must() -> None:
    alone, ours, way = microseconds(chunker_alone), microseconds(machines), microseconds(whole_way)
    way -= microseconds(waiting)
    print(f"\n{COUNT} deltas, {machines()} operations; microseconds a delta:")  # noqa: T201 - the figures
    print(f"{alone:.1f} the chunker, {ours:.1f} all machines, {way:.1f} with the tasks")  # noqa: T201 - the figures
    assert ours < 40 * alone
