"""A gateway without its edges, on virtual time: the real mailbox in memory, a model and a chat platform in memory."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from gateway import access, history
from gateway.adapter import Capabilities, Receive
from gateway.address import Address
from gateway.conversation import Conversations, RunEnded
from gateway.delivery import Delivery
from gateway.error import StoreError
from gateway.event import Envelope, Usage
from gateway.history import Asked
from gateway.inbound import CommandReceived, Inbound, MessageReceived
from gateway.operation import Operation, Outcome, Unknown
from gateway.platform import Platform
from gateway.store import Approval, Approvals, Decision, Pairings, Stored, Work
from gateway.stores.database import Row, Statement
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from gateway.terms import Terms
from gateway.tool import Memory, Tool
from gateway.toolset import Policy
from tests.unit.gateway.chat import Chat, message, platform
from tests.unit.gateway.model import Model, agent


@dataclass
class Reluctant:
    """A store that refuses what it is told to, as often as it is told to, and knows when it was asked for what."""

    store: Mailbox
    database: MemoryDatabase
    refusals: defaultdict[str, list[StoreError]] = field(default_factory=lambda: defaultdict(list))
    asked: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def pairings(self) -> Pairings:
        return self.store.pairings

    @property
    def approvals(self) -> Approvals:
        return self.store.approvals

    def memory(self, conversation: str) -> Memory:
        return self.store.memory(conversation)

    async def ingest(self, inbound: Inbound, decision: Decision | None = None) -> Stored | None:
        return await self.store.ingest(inbound, decision)

    async def open_commands(self) -> list[tuple[int, CommandReceived]]:
        return await self.store.open_commands()

    async def close(self, sequence: int) -> None:
        self._hear("close")
        await self.store.close(sequence)

    async def record(self, work: Work, lines: Mapping[int, str]) -> None:
        self._hear("record")
        await self.store.record(work, lines)

    async def append(self, work: Work, entries: Sequence[str]) -> None:
        self._hear("append")
        await self.store.append(work, entries)

    async def ask(self, work: Work, approval: Approval, *, lifetime: float | None) -> None:
        self._hear("ask")
        await self.store.ask(work, approval, lifetime=lifetime)

    async def withdraw(self, work: Work, approval_id: str) -> None:
        self._hear("withdraw")
        await self.store.withdraw(work, approval_id)

    async def park(self, work: Work) -> None:
        self._hear("park")
        await self.store.park(work)

    async def waiting(self, conversation: str) -> int:
        return await self.store.waiting(conversation)

    async def claim(self, limit: int) -> list[str]:
        self._hear("claim")
        return await self.store.claim(limit)

    async def load(self, conversation: str) -> Work | None:
        self._hear("load")
        return await self.store.load(conversation)

    async def finish(self, work: Work, entries: Sequence[str]) -> None:
        self._hear("finish")
        await self.store.finish(work, entries)

    async def reject(self, conversation: str, sequence: int) -> None:
        self._hear("reject")
        await self.store.reject(conversation, sequence)

    async def postpone(self, work: Work) -> None:
        self._hear("postpone")
        await self.store.postpone(work)

    async def release(self, conversation: str) -> None:
        self._hear("release")
        await self.store.release(conversation)

    async def open_messages(self) -> int:
        """How many there are that somebody waits for."""
        rows = await self.database.transaction([Statement(sql="select count(*) from gw_open")])
        assert rows is not None
        return rows[0][0][0]

    async def forget_tickets(self) -> float | None:
        return await self.store.forget_tickets()

    async def wait_due(self) -> None:
        await self.store.wait_due()

    async def prune(self, older_than: float) -> int:
        return await self.store.prune(older_than)

    def _hear(self, what: str) -> None:
        self.asked[what].append(anyio.current_time())
        if self.refusals[what]:
            raise self.refusals[what].pop()


def asked(text: str, number: int = 1) -> Asked:
    """What the history holds of a ``message``."""
    return Asked(speaker="U1", text=text, message_id=f"message {number}")


@dataclass
class Link:
    """A process's way to its platform: cut where the process is killed, whatever it would still do."""

    chat: Chat
    cut: bool = False

    @property
    def capabilities(self) -> Capabilities:
        return self.chat.capabilities

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        await self.chat.run(receive, ready)

    async def perform(self, operation: Operation) -> Outcome:
        return Unknown(reason="killed") if self.cut else await self.chat.perform(operation)


@dataclass
class House:
    """All that conversations need, and what was seen of their runs."""

    database: MemoryDatabase
    store: Reluctant
    chat: Chat
    conversations: Conversations
    link: Link
    events: dict[str, list[Envelope]] = field(default_factory=dict[str, list[Envelope]])
    ended: list[RunEnded] = field(default_factory=list[RunEnded])
    approvers: set[str] = field(default_factory=set[str])

    def approver(self, _platform: str, user: str) -> bool:
        """Whether the configuration lets somebody decide for others."""
        return user in self.approvers

    async def owned(self, address: Address) -> bool:
        """Whether a process works in a conversation."""
        ((owner,),) = await self.query("select owner from gw_conv where id = $1", address.key)
        return owner is not None

    async def receive(self, inbound: Inbound) -> None:
        """What a platform does with what arrives: stored first, and then told."""
        if (stored := await self.store.ingest(inbound)) is not None:
            self.conversations.take(inbound, stored)

    async def query(self, sql: str, *parameters: str) -> list[Row]:
        """What the database says."""
        rows = await self.database.transaction([Statement(sql=sql, parameters=parameters)])
        assert rows is not None
        return rows[0]

    async def said(self, address: Address) -> list[history.Entry]:
        """The history of a conversation."""
        await self.store.ingest(message("?", number=999, address=address))
        await self.store.claim(9)
        work = await self.store.load(address.key)
        assert work is not None
        return [_plain(history.from_json(entry)) for entry in work.history]


def _plain(entry: history.Entry) -> history.Entry:
    """The entry without what the model was billed for it, and why it stopped: that is the agent's business."""
    if isinstance(entry, history.Answered):
        return replace(entry, usage=Usage(), stop_reason="end")
    return entry


@asynccontextmanager
async def house(
    model: Model,
    chat: Chat | None = None,
    *,
    limit: int = 10,
    inbox: Sequence[Inbound] = (),
    platforms: dict[str, Platform] | None = None,
    delivery: Delivery | None = None,
    history_characters: int = 100_000,
    database: MemoryDatabase | None = None,
    tools: Sequence[Tool] = (),
    policy: Mapping[str, Policy] | None = None,
    terms: Terms | None = None,
) -> AsyncGenerator[tuple[House, TaskGroup]]:
    """A gateway without its edges. Inside the context conversations are not running yet.

    A ``database`` of an earlier house makes this one its restart.
    """
    chat = chat or Chat(latency=0.0)
    link = Link(chat)
    with MemoryDatabase() if database is None else nullcontext(database) as kept:
        store, delivery = Reluctant(await Mailbox.open(kept), kept), delivery or Delivery()

        def watch(seen: Envelope | RunEnded) -> None:
            if isinstance(seen, RunEnded):
                rooms.ended.append(seen)
            else:
                rooms.events.setdefault(seen.run_id, []).append(seen)

        conversations = Conversations(
            store=store,
            agent=agent(model, history_characters, tools=tools, policy=policy),
            delivery=delivery,
            platforms={"chat": platform(link)} if platforms is None else platforms,
            admits=admits,
            watch=watch,
            terms=terms or Terms(),
            limit=limit,
        )
        rooms = House(kept, store, chat, conversations, link)
        for inbound in inbox:
            await store.ingest(inbound)
        with anyio.fail_after(10_000):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(delivery.run)
                yield rooms, tasks
                tasks.cancel_scope.cancel()


async def admits(platform: Platform, message: MessageReceived) -> bool:
    """As the configuration says, and nobody else."""
    return access.admits(platform.allow, message)


async def finish(rooms: House) -> None:
    """Run until nothing is open any more, and then to the end."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rooms.conversations.run)
        while await rooms.store.open_messages():  # noqa: ASYNC110 - the clock is virtual, and the store tells nobody
            await anyio.sleep(1)
        rooms.conversations.stop()


async def kill(rooms: House, tasks: TaskGroup) -> None:
    """End it as ``kill -9`` does: it says nothing more, and writes nothing more, as its node is dead."""
    rooms.link.cut = True
    await Mailbox.open(rooms.database)
    tasks.cancel_scope.cancel()
