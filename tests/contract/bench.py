"""What every adapter is tried with: the adapter, its platform on loopback, and what arrives from there."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

import anyio
from pydantic import TypeAdapter

import adapters
from adapters.loopback.venue import Shown, Venue
from gateway.adapter import Adapter
from gateway.error import StoreError
from gateway.inbound import Inbound, MessageReceived, PressReceived
from gateway.operation import Button, Operation, Outcome, Performed, PostMessage, RateLimited

SCALE = 20.0
PATIENCE = 20
"""Real seconds round every wait: SDKs reconnect in their own time."""

ValueT = TypeVar("ValueT")

CALLS = (
    "@everyone @here <!channel> <!here> <!everyone> <@U1> <@101> <@&7> <#C1> <!subteam^S1> @ada @bob "
    "[ada](tg://user?id=101) **@everyone** `@here` ||<@U1>|| <@!101> @admin @channel"
)
LINKS = "See https://example.com/a?b=1 and [this](https://example.com/c), http://example.org."
PLAIN = "**not bold** _x_ `c` # no heading\n- a < b & c > d\n1. [no](https://x.y) ||z|| ~~q~~ \\*"


def found() -> list[str]:
    return [module.name for module in iter_modules(adapters.__path__) if module.name != "loopback"]


@dataclass
class Inbox:
    """Keeps what arrives, but refuses as often as it is told to, and holds presses back while it is told to."""

    reason: str = "the disk is full"
    refusals: int = 0
    offered: int = 0
    holding: anyio.Event | None = None
    kept: list[Inbound] = field(default_factory=list[Inbound])
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def receive(self, inbound: Inbound) -> bool:
        self.offered += 1
        if self.refusals and isinstance(inbound, MessageReceived):
            self.refusals -= 1
            raise StoreError(self.reason)
        if self.holding is not None and isinstance(inbound, PressReceived):
            self._change()
            await self.holding.wait()
        self.kept.append(inbound)
        self._change()
        return True

    def _change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, condition: Callable[[], ValueT | None]) -> ValueT:
        with anyio.fail_after(PATIENCE):
            while not (value := condition()):
                await self._changed.wait()
        return value

    def said(self) -> list[MessageReceived]:
        """As a store has it: a message is known by its id, in however many events it comes."""
        messages = {each.message_id: each for each in reversed(self.kept) if isinstance(each, MessageReceived)}
        return [*reversed(messages.values())]

    def presses(self) -> list[PressReceived]:
        """All that arrived, repetitions too."""
        return [each for each in self.kept if isinstance(each, PressReceived)]

    async def first(self) -> MessageReceived:
        return (await self.until(self.said))[0]


@dataclass
class Bench:
    """An adapter, its platform, and what arrives from there."""

    name: str
    module: ModuleType
    venue: Venue
    folder: Path
    inbox: Inbox = field(default_factory=Inbox)
    ready: int = 0

    def __post_init__(self) -> None:
        self.adapter: Adapter = self.create()

    def create(self, **more: Any) -> Adapter:
        settings = TypeAdapter(self.module.Settings).validate_python({**self.venue.settings(self.folder), **more})
        return self.module.create(settings)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        """The adapter runs, and events can arrive."""
        connected = anyio.Event()

        def ready() -> None:
            self.ready += 1
            connected.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.adapter.run, self.inbox.receive, ready)
            with anyio.fail_after(PATIENCE):
                await connected.wait()
            yield
            tasks.cancel_scope.cancel()

    async def asked(self, text: str = "Hello?") -> MessageReceived:
        """What arrives when ada says something to the bot in the channel."""
        self.venue.say(text)
        return await self.inbox.until(lambda: next((each for each in self.inbox.said() if each.text == text), None))

    async def perform(self, operation: Operation) -> Outcome:
        with anyio.fail_after(PATIENCE + 40):
            return await self.adapter.perform(operation)

    async def patiently(self, operation: Operation) -> Outcome:
        """Perform it; where a rate limit is in its way, once more when that is said to be over."""
        outcome = await self.perform(operation)
        if isinstance(outcome, RateLimited):
            await anyio.sleep(outcome.retry_after / SCALE)
            outcome = await self.perform(operation)
        return outcome

    async def post(
        self,
        text: str,
        *,
        markup: bool = True,
        nonce: str = "",
        into: MessageReceived | None = None,
        buttons: tuple[Button, ...] = (),
    ) -> str:
        """Show something where ada has asked; the message's id."""
        question = into or await self.asked()
        outcome = await self.perform(
            PostMessage(address=question.address, text=text, markup=markup, nonce=nonce or text[:20], buttons=buttons)
        )
        assert isinstance(outcome, Performed), outcome
        return outcome.message_id

    def shown(self) -> list[Shown]:
        return [message for message in self.venue.messages() if message.author == "bot"]

    def seen(self, message: Shown) -> str:
        undo = getattr(self.module, "undo", None)
        return undo(message.text) if undo else message.text

    def texts(self) -> list[str]:
        return [self.seen(message) for message in self.shown()]


@asynccontextmanager
async def open_bench(name: str, folder: Path) -> AsyncGenerator[Bench]:
    """The adapter of that name and its platform, which listens while the context lasts."""
    judge = import_module(f"adapters.loopback.{name}")
    async with judge.open_venue(SCALE) as venue:
        yield Bench(name=name, module=import_module(f"adapters.{name}"), venue=venue, folder=folder)
