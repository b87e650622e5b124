"""What the gateway asks of its store: a mailbox a conversation, the history, and the journal of what is on the screen.

A conversation is a mailbox. Its oldest open message is its run; a process owns the conversation while it works on it;
its history is the checkpoint, and the journal says how far its answer was shown. Everything here is one transaction.

Rule 1: what ``ingest`` has returned for survives a power cut.
Rule 2: an event and a message are stored once, however often and under however many event ids they arrive.
Rule 3: the messages of a conversation are handed out in the order in which they were stored, one at a time.
Rule 4: a process that lost a conversation cannot write to it any more.
Rule 5: history and journal are lines of JSON that the store does not read.
Rule 6: a ticket is kept apart from what came with it, and erased when it has expired or is not needed any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway.inbound import CommandReceived, Inbound, MessageReceived
from gateway.tool import Memory

ApprovalState = Literal["open", "approved", "denied", "expired", "withdrawn"]
"""``expired``: nobody answered in time. ``withdrawn``: there is nothing left to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What arrived is kept, as number ``sequence``.

    ``behind``: another message of its conversation is open in front of it. Of an edit or a deletion, whether the
    message was still waiting, and so was changed. ``decided``: it decided an approval, which was open until then.
    ``asked`` is the approval on which its conversation waits, for the first message that is queued behind it.
    """

    sequence: int
    behind: bool
    decided: bool = False
    asked: "Approval | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A call that waits, or waited, for a person's decision.

    ``asker`` is who asked for the run; ``by`` who decided, where a person did. ``may_stand``: its tool can be allowed
    for the whole conversation with it, and was where it is ``standing``.
    """

    id: str
    conversation: str
    tool_use_id: str
    tool_name: str
    asker: str
    state: ApprovalState = "open"
    by: str | None = None
    may_stand: bool = True
    standing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody who may do so decides about an approval. ``standing``: for all later calls of its tool here."""

    approval_id: str
    granted: bool
    standing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A tool that needs no approval in a conversation any more, and who allowed that."""

    conversation: str
    tool_name: str
    by: str


class Approvals(Protocol):
    """What people are asked to allow, and what they have allowed for good.

    Raises:
        StoreError: from any method, where the database refuses; nothing was changed then.
    """

    async def find(self, approval_id: str) -> Approval | None:
        """The approval of that id, open or decided, as long as its message is known."""
        ...

    async def open(self, conversation: str) -> list[Approval]:
        """Those on which a conversation waits, oldest first."""
        ...

    async def grants(self, conversation: str) -> list[Grant]:
        """What is allowed there for good, by the tools' names."""
        ...

    async def revoke(self, conversation: str, tool_name: str) -> bool:
        """Allow it no more; whether it was."""
        ...

    async def expire(self) -> float | None:
        """Let those expire whose time is over, and make their conversations due; in how many seconds the next will be.

        None where there is none. The time is the store's, from when they were asked; until this was called they are
        open, and can be decided.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A conversation's oldest open message, for the process that owns the conversation.

    ``attempt`` counts from 1. ``history`` holds what was appended for the messages before it, oldest first, as it was
    given, from the last ``new`` on; ``said`` what was appended for this one, and ``journal`` its lines by number, from
    an attempt that was cut short. ``stopped``: somebody asked for its end. ``waited``: it stood behind another when it
    came. ``age`` is how many seconds ago that was, by the store's clock. The message has its ticket while that lives.
    ``approvals`` are those of its run, oldest first; ``grants`` the tools that are allowed here for good.
    """

    conversation: str
    sequence: int
    message: MessageReceived
    attempt: int
    history: tuple[str, ...]
    said: tuple[str, ...] = ()
    journal: tuple[str, ...] = ()
    stopped: bool = False
    waited: bool = False
    age: float = 0.0
    approvals: tuple[Approval, ...] = ()
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of one account of a platform."""

    platform: str
    account: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """A person who has a code, which is good for ``seconds`` more; or, without one, who is let in since so many."""

    person: Person
    code: str | None
    seconds: float


class Pairings(Protocol):
    """Who is let in beside the configuration, and the codes of those who ask for it.

    Raises:
        StoreError: from any method, where the database refuses; nothing was changed then.
    """

    async def offer(self, person: Person, code: str, *, lifetime: float, most: int) -> str | None:
        """The code by which a person can be let in: the one that they have, else this one, for ``lifetime`` seconds.

        None where ``most`` persons of the account have one, where somebody has this one, and for who is let in.
        """
        ...

    async def has(self, person: Person) -> bool:
        """Whether a person is let in."""
        ...

    async def confirm(self, code: str) -> Person | None:
        """Let in whose code this is, and take the code; none where nobody has it (any more)."""
        ...

    async def everyone(self) -> list[Pairing]:
        """Those with a code first; by platform, account and user."""
        ...

    async def revoke(self, platform: str, user: str) -> list[Person]:
        """Let a user in no more, in whichever account, and take their code; whom that concerned."""
        ...


class Store(Protocol):
    """A database that keeps the mailboxes. A module of ``stores`` makes one: ``async with create(settings) as store``.

    Raises:
        StoreError: from any method, where the database refuses; nothing was changed then.
        OwnershipLostError: from ``load``, ``record``, ``append``, ``ask``, ``withdraw``, ``park``,
            ``finish``, ``reject``, ``postpone`` and ``release``, where the conversation is not ours (any more) or the
            message is closed already.
    """

    @property
    def pairings(self) -> Pairings:
        """Who is let in. The module that makes the store also has ``pairings(settings)``, which opens these alone.

        That takes a store that was opened once, and is possible while another process has the store open.
        """
        ...

    @property
    def approvals(self) -> Approvals:
        """What people are asked to allow."""
        ...

    def memory(self, conversation: str) -> Memory:
        """What tools keep for a conversation."""
        ...

    async def ingest(self, inbound: Inbound, decision: Decision | None = None) -> Stored | None:
        """Keep what arrived, and let it have its effect, in one step; none where it was known already.

        A press or a command may bring a ``decision``: the approval is decided by it if it is open and of the inbound's
        own conversation, which is due then. The first one counts.

        A message makes its conversation due. An edit or a deletion changes a message that no attempt has begun on, and
        no other; an attempt that was postponed with nothing recorded or appended has not begun. ``stop`` and ``new``
        mark the conversation's oldest open message as stopped; after ``new``, what was appended for the messages before
        it belongs to no history any more, and no tool is allowed for good; either makes the conversation due, and
        withdraws (``new``: denies) the approval on which it waits. A command is open until ``close``. An edited message
        keeps its ticket.
        """
        ...

    async def open_commands(self) -> list[tuple[int, CommandReceived]]:
        """The commands that nobody has answered, oldest first, by their numbers, with those tickets that live.

        One that no version of Dragoman that we know wrote is left out, and stays open.
        """
        ...

    async def close(self, sequence: int) -> None:
        """A command was answered. Nothing happens where it was closed already."""
        ...

    async def claim(self, limit: int) -> list[str]:
        """Become the owner of up to ``limit`` conversations that are due and have none, longest due first."""
        ...

    async def load(self, conversation: str) -> Work | None:
        """What to do in a conversation of ours, counting the attempt; none where nothing is open.

        Raises:
            UnreadableError: something is open, but not to be read: no version of Dragoman that we know wrote it.
        """
        ...

    async def record(self, work: Work, lines: Mapping[int, str]) -> None:
        """Write lines of the message's journal, each over the one of its number."""
        ...

    async def append(self, work: Work, entries: Sequence[str]) -> None:
        """Append to the history; the message stays open."""
        ...

    async def ask(self, work: Work, approval: Approval, *, lifetime: float | None) -> None:
        """Keep an open approval of the message's run, for so many seconds. Nothing happens where it is known.

        Where the message was stopped, it is withdrawn at once: the stop may have come in just this moment.
        """
        ...

    async def withdraw(self, work: Work, approval_id: str) -> None:
        """There is nothing left to decide about an approval of the message's run, if it is still open."""
        ...

    async def park(self, work: Work) -> None:
        """Give a conversation back whose run waits for approval; the attempt is not counted.

        It is due again as soon as no approval of the message is open: at once, where none is.
        """
        ...

    async def waiting(self, conversation: str) -> int:
        """How many messages of a conversation are stored and not finished."""
        ...

    async def finish(self, work: Work, entries: Sequence[str]) -> None:
        """Append to the history, close the message and give the conversation back, in one step.

        As with ``reject``, an approval of the message that is still open is withdrawn.
        """
        ...

    async def reject(self, conversation: str, sequence: int) -> None:
        """Close a message that cannot be read, without an answer, and give the conversation back."""
        ...

    async def postpone(self, work: Work) -> None:
        """Give a conversation back as it was before ``load``: the attempt was stopped in good order, and is not one."""
        ...

    async def release(self, conversation: str) -> None:
        """Give a conversation back with its messages as they are: due again where one is open, also if it has asked."""
        ...

    async def wait_due(self) -> None:
        """Return when a conversation may have become due since the last ``claim``; at once where one may be."""
        ...

    async def forget_tickets(self) -> float | None:
        """Erase the tickets that have expired; in how many seconds the next one will, or none where there is none.

        A ticket lives for its lifetime from when it was stored, by the store's clock.
        """
        ...

    async def prune(self, older_than: float) -> int:
        """Forget finished events that are older than so many seconds (25 hours at least), with journals and approvals.

        Returns how many there were.

        A platform may deliver an event again for a day, and must find it known.
        """
        ...
