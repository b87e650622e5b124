"""A chat platform in memory, for runners on virtual time: takes its time, enforces its rates, may be made to fail."""

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import anyio

from gateway.access import ANY, Allow
from gateway.adapter import Adapter, Budget, Capabilities, Receive
from gateway.address import Address
from gateway.inbound import Command, CommandReceived, Inbound, MessageDeleted, MessageEdited, MessageReceived
from gateway.operation import (
    Button,
    DeleteMessage,
    EditMessage,
    MarkWaiting,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    Said,
    ShowTyping,
    StartStream,
    TellPrivately,
    ThreadRead,
    UnmarkWaiting,
)
from gateway.platform import Platform

CHANNEL = Budget(name="post", scope="channel", rate=1.0, burst=1)
ACCOUNT = Budget(name="posts", scope="account", rate=4.0, burst=4)
MESSAGE = Budget(name="message", scope="message", rate=1 / 1.2, burst=1)
EDITS = Budget(name="edit", scope="account", rate=0.75, burst=3)

READS = Budget(name="read", scope="account", rate=1000.0, burst=1000)
PRIVATE = Budget(name="private", scope="account", rate=1000.0, burst=1000)
MARK = Budget(name="mark", scope="account", rate=1000.0, burst=1000)

CAPABILITIES = Capabilities(
    surface="edit", unit="cp", bubble=800, post=(CHANNEL, ACCOUNT), edit=(EDITS, MESSAGE), read=(READS,)
)


EVERYBODY = Allow(users=frozenset({ANY}), channels=frozenset({ANY}))


def platform(adapter: Adapter, *, name: str = "chat", allow: Allow = EVERYBODY) -> Platform:
    """A platform that lets everybody in, unless it is told otherwise."""
    return Platform(name=name, adapter=adapter, allow=allow)


def place(channel: str = "C1", thread: str | None = None) -> Address:
    return Address(platform="chat", account="A1", channel=channel, thread=thread)


def message(text: str, *, number: int = 1, address: Address | None = None, user: str = "U1") -> MessageReceived:
    return MessageReceived(
        event_id=f"event {number}",
        message_id=f"message {number}",
        address=address or place(),
        user=user,
        text=text,
        direct=False,
        first=True,
    )


def command(word: Command, *, number: int, address: Address | None = None, user: str = "U1") -> CommandReceived:
    return CommandReceived(
        event_id=f"event {number}",
        message_id=f"message {number}",
        address=address or place(),
        user=user,
        command=word,
        direct=False,
    )


def edited(changed: MessageReceived, text: str, *, number: int) -> MessageEdited:
    """A message that reads otherwise now."""
    event_id = f"event {number}"
    return MessageEdited(event_id=event_id, message=replace(changed, event_id=event_id, text=text))


def deleted(gone: MessageReceived, *, number: int) -> MessageDeleted:
    return MessageDeleted(event_id=f"event {number}", message_id=gone.message_id, address=gone.address)


@dataclass(slots=True)
class Posted:
    """A message on the screen."""

    address: Address
    text: str
    nonce: str = ""
    edits: int = 0
    buttons: tuple[Button, ...] = ()
    deleted: bool = False


@dataclass(slots=True)
class Call:
    """An operation as the platform saw it, from when to when."""

    operation: Operation
    began: float
    ended: float | None = None
    outcome: Outcome | None = None

    @property
    def text(self) -> str:
        """What it was to show, if anything."""
        return getattr(self.operation, "text", "")


@dataclass
class Chat:
    """An adapter with a screen behind it.

    Args:
        capabilities: what it claims; what it enforces is one token more.
        latency: seconds that an operation takes.
        fates: the outcomes of the first operations, which do nothing then; where they run out, all goes well.
    """

    capabilities: Capabilities = CAPABILITIES
    latency: float = 0.1
    time_scale: float = 1.0
    fates: deque[Outcome] = field(default_factory=deque[Outcome])
    inbox: Iterable[Inbound] = ()
    said: list[Said] = field(default_factory=list[Said])
    marked: set[str] = field(default_factory=set[str])
    messages: list[Posted] = field(default_factory=list[Posted])
    calls: list[Call] = field(default_factory=list[Call])
    refusals: int = 0
    _used: dict[tuple[str, str], list[float]] = field(default_factory=dict[tuple[str, str], list[float]])

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        ready()
        for inbound in self.inbox:
            await receive(inbound)
        await anyio.sleep_forever()

    async def perform(self, operation: Operation) -> Outcome:
        call = Call(operation, anyio.current_time())
        self.calls.append(call)
        await anyio.sleep(self.latency)
        call.outcome = self.fates.popleft() if self.fates else self._refused(operation) or self._show(operation)
        call.ended = anyio.current_time()
        return call.outcome

    def texts(self, address: Address | None = None) -> list[str]:
        """What the screen shows, oldest first."""
        return [
            posted.text
            for posted in self.messages
            if not posted.deleted and (address is None or posted.address == address)
        ]

    def _show(self, operation: Operation) -> Outcome:
        match operation:
            case PostMessage() | StartStream():
                buttons = operation.buttons if isinstance(operation, PostMessage) else ()
                self.messages.append(Posted(operation.address, operation.text, operation.nonce, buttons=buttons))
                return Performed(message_id=str(len(self.messages) - 1))
            case EditMessage():
                posted = self.messages[int(operation.message_id)]
                posted.text, posted.edits, posted.buttons = operation.text, posted.edits + 1, operation.buttons
            case DeleteMessage():
                self.messages[int(operation.message_id)].deleted = True
            case ReadThread():
                return ThreadRead(messages=(*self.said, *self._ours(operation.address))[-operation.limit :])
            case MarkWaiting():
                self.marked.add(operation.message_id)
            case UnmarkWaiting():
                self.marked.discard(operation.message_id)
            case ShowTyping() | TellPrivately():
                return Performed(message_id="")
            case _:
                msg = f"no chat of this kind does {operation}"
                raise AssertionError(msg)
        return Performed(message_id=operation.message_id)

    def _ours(self, address: Address) -> Iterable[Said]:
        for number, posted in enumerate(self.messages):
            if posted.address == address and not posted.deleted:
                yield Said(message_id=str(number), user="bot", text=posted.text, ours=True, nonce=posted.nonce)

    def _budgets(self, operation: Operation) -> tuple[Budget, ...]:
        match operation:
            case PostMessage():
                return self.capabilities.post
            case EditMessage():
                return self.capabilities.edit
            case _:
                return ()

    def _refused(self, operation: Operation) -> Outcome | None:
        """Refuse what comes faster than the budgets allow, by counting what came in every window until now."""
        now = anyio.current_time() * self.time_scale
        where = operation.address.channel
        budgets = [each for each in self._budgets(operation) if re.fullmatch(each.channels or ".*", where)]
        used = [self._used.setdefault((budget.name, _scope(budget, operation)), []) for budget in budgets]
        for budget, times in zip(budgets, used, strict=True):
            for first, since in enumerate(times):
                if len(times) - first + 1 > budget.burst + 1 + budget.rate * (now - since):
                    self.refusals += 1
                    return RateLimited(retry_after=1 / budget.rate)
        for times in used:
            times.append(now)
        return None


def _scope(budget: Budget, operation: Operation) -> str:
    match budget.scope, operation:
        case "message", EditMessage(message_id=message_id):
            return message_id
        case "channel", _:
            return operation.address.channel
        case "thread", _:
            return operation.address.key
        case _:
            return ""


def with_surface_post(capabilities: Capabilities = CAPABILITIES) -> Capabilities:
    """The same platform, shown whole chunks only."""
    return replace(capabilities, surface="post")
