"""What passes the queues: answers to commands, marks at messages that wait, looks at what was said before.

Rule 1: a command is closed in the store when its answer is on the screen. One that an earlier process left open is
        looked for on the screen first.
Rule 2: a mark is taken away when its message's turn comes, by whichever process that is, and never before it was put.
Rule 3: nothing here holds up an answer; where it fails, that is logged and let be.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import anyio

from gateway import approval, command, context
from gateway.address import Address
from gateway.delivery import Delivery
from gateway.errand import TRIES, Errand, draws
from gateway.history import Asked, Entry, Quoted
from gateway.inbound import CommandReceived, Inbound, MessageDeleted, MessageReceived, PressReceived
from gateway.journal import Line
from gateway.need import Priority
from gateway.operation import (
    MarkWaiting,
    Operation,
    Outcome,
    ReadThread,
    ShowTyping,
    TellPrivately,
    ThreadRead,
    UnmarkWaiting,
)
from gateway.patience import patiently
from gateway.place import Place
from gateway.platform import Platform, platform_of
from gateway.reply import Reply
from gateway.store import Store, Stored

log = logging.getLogger(__name__)

TYPING_MOST = 30
"""How often in a row: behind that, something is wrong, and nobody should go on waiting for it."""

UNMARK_TRIES = 100
"""How often a mark is tried to be taken away: one that stays says what is not so."""

FAREWELL = 5.0
"""Real seconds that what is being done here may take to end, once all answers have."""

CONTEXT_PATIENCE = 5.0
"""Real seconds that reading it may take; a question without it is better than an answer that does not come."""


class Aside:
    """Does what passes the queues.

    Args:
        store: holds the commands.
        delivery: shows the answers.
        platforms: where commands come from, by name.
        model: what answers, as ``status`` names it.
        running_since: since when a conversation is being answered, by the loop's clock; none where it is not.
    """

    def __init__(
        self,
        *,
        store: Store,
        delivery: Delivery,
        platforms: Mapping[str, Platform],
        model: str,
        running_since: Callable[[str], float | None],
    ) -> None:
        self._store = store
        self._delivery = delivery
        self._platforms = platforms
        self._model = model
        self._running_since = running_since
        self._marked: dict[str, anyio.Event] = {}
        self._obeyed: set[int] = set()
        self._tasks: deque[Callable[[], Awaitable[None]]] = deque()
        self._busy = 0
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Do what comes, until cancelled, beginning with what an earlier process left."""
        async with anyio.create_task_group() as tasks:
            for sequence, asked in await patiently("commands", self._store.open_commands):
                self._begin(sequence, partial(self._obey_again, sequence, asked))
            while True:
                changed = self._changed
                while self._tasks:
                    self._busy += 1
                    tasks.start_soon(self._call, self._tasks.popleft())
                await changed.wait()

    async def rest(self) -> None:
        """Return when nothing is being done, or after a while."""
        with anyio.move_on_after(FAREWELL):
            while self._tasks or self._busy:
                await self._changed.wait()

    def take(self, inbound: Inbound, stored: Stored, sentence: str = "") -> None:
        """Do what was just stored, if it is not for the queue; what it decided is answered with that sentence."""
        match inbound:
            case CommandReceived(command="approve" | "deny"):
                self._begin(stored.sequence, partial(self._tell_decided, stored.sequence, inbound, sentence))
            case CommandReceived():
                self._begin(stored.sequence, partial(self._obey, stored.sequence, inbound, behind=stored.behind))
            case PressReceived():
                self.tell_privately(inbound, sentence)
            case MessageReceived() if stored.behind:
                if stored.asked is not None:
                    self.tell(inbound, approval.waiting(stored.asked, self._sign(inbound)))
                self._marked[inbound.message_id] = anyio.Event()
                self._put(partial(self._mark, inbound, self._marked[inbound.message_id]))
            case MessageDeleted():
                if inbound.message_id in self._marked:
                    self.turn(inbound)
            case _:
                pass

    def turn(self, message: MessageReceived | MessageDeleted) -> None:
        """A message that waited does so no more."""
        self._put(partial(self._unmark, message, self._marked.pop(message.message_id, None)))

    def tell_privately(self, inbound: PressReceived | CommandReceived, sentence: str) -> None:
        """Answer a press, with a sentence for nobody but who pressed; or say one to who gave a command."""
        press = inbound.press if isinstance(inbound, PressReceived) else None
        told = TellPrivately(
            address=inbound.address, user=inbound.user, text=sentence, press=press, ticket=inbound.ticket
        )
        self._put(partial(self._do_quietly, told))

    def tell(self, message: MessageReceived | CommandReceived, sentence: str) -> None:
        """Say something of our own about a message; once is enough, so nobody says it again after a crash."""
        self._put(partial(self._tell, message, sentence))

    def _begin(self, sequence: int, task: Callable[[], Awaitable[None]]) -> None:
        """Obey a command, unless that has begun: what comes while the first ones are read is found there, too."""
        if sequence not in self._obeyed:
            self._obeyed.add(sequence)
            self._put(task)

    def _put(self, task: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(task)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _call(self, task: Callable[[], Awaitable[None]]) -> None:
        """What fails beside the queue is logged and let be."""
        try:
            await task()
        except Exception:
            log.exception("something beside the queue failed, and is let be")
        finally:
            self._busy -= 1
            self._wake()

    async def context(self, message: MessageReceived, before: Sequence[Entry], stop: anyio.Event) -> tuple[Quoted, ...]:
        """What was said in the thread between our last word and the question; nothing where it cannot be read.

        Args:
            message: the question.
            before: what the history holds.
            stop: nobody needs it any more.
        """
        quotation = message.quotation
        if quotation is not None and quotation.text.strip():
            return (Quoted(speaker=quotation.user, text=quotation.text),)
        if message.first or message.address.thread is None or (message.direct and before):
            return ()  # nobody said anything there that is not in the history
        if not self._reads(message.address):
            return ()
        look = ReadThread(address=message.address, before=message.own_id, limit=2 * context.MESSAGES)
        outcome = await self._look(look, stop)
        if stop.is_set():
            return ()
        if not isinstance(outcome, ThreadRead):
            why = f"reading took longer than {CONTEXT_PATIENCE:g} s" if outcome is None else outcome
            log.warning("%s: asked without what was said there before: %s", message.address.key, why)
            return ()
        known = frozenset(entry.message_id.rpartition(":")[2] for entry in before if isinstance(entry, Asked))
        return context.quoted(outcome.messages, root=message.address.thread, known=known)

    def _reads(self, address: Address) -> bool:
        platform = platform_of(address.key, self._platforms)
        return platform is not None and bool(platform.adapter.capabilities.read)

    async def show_typing(self, reply: Reply, shown: anyio.Event) -> None:
        """Show that an answer is being written while nothing of it is there to be seen, until it is ``shown``."""
        every = reply.capabilities.typing_every
        async with anyio.create_task_group() as tasks:

            async def repeat(pause: float) -> None:
                for _ in range(TYPING_MOST):
                    if reply.visible:
                        return
                    await self._do(ShowTyping(address=reply.address), Priority.STATUS, tries=1)
                    await anyio.sleep(pause)

            if every is not None:
                tasks.start_soon(repeat, every / self._delivery.time_scale)
                await shown.wait()
                tasks.cancel_scope.cancel()

    async def _look(self, look: ReadThread, stop: anyio.Event) -> Outcome | None:
        """What comes of it, if it comes soon. It goes on by itself: what was begun is let end, and nobody waits."""
        outcomes, over = list[Outcome | None](), anyio.Event()

        async def read() -> None:
            try:
                outcomes.append(await self._do(look, Priority.STATUS))
            finally:
                over.set()

        self._put(read)
        with anyio.move_on_after(CONTEXT_PATIENCE):
            await _either(over, stop)
        return outcomes[0] if outcomes else None

    async def _obey(self, sequence: int, asked: CommandReceived, *, behind: bool, lines: Sequence[Line] = ()) -> None:
        """Answer a command."""
        conversation = asked.address.key
        if (platform := platform_of(conversation, self._platforms)) is None:
            return
        revoked = asked.command == "revoke" and await self._revoke(conversation, asked.argument)
        sentence = command.text(
            asked.command,
            await self._status(conversation),
            behind=behind,
            slash=platform.adapter.capabilities.slash,
            argument=asked.argument,
            revoked=revoked,
        )
        if sentence or asked.ticket:  # what waits there for an answer is taken away where there is none
            name = f"{conversation}!{sequence}"
            failure = await self._say(sentence, _place(asked, platform), platform, name, lines)
            if failure is not None:
                log.error("command c%d: not answered in %s: %s", sequence, conversation, failure)
        await patiently(conversation, lambda: self._store.close(sequence))
        self._obeyed.discard(sequence)

    async def _tell_decided(self, sequence: int, asked: CommandReceived, sentence: str) -> None:
        """Answer who decided something by a command; before nobody else, where the platform has that."""
        platform = platform_of(asked.address.key, self._platforms)
        if platform is not None and sentence and asked.ticket is None and platform.adapter.capabilities.whispers:
            self.tell_privately(asked, sentence)
            sentence = ""
        if platform is not None and (sentence or asked.ticket):
            name = f"{asked.address.key}!{sequence}"
            failure = await self._say(sentence, _place(asked, platform), platform, name)
            if failure is not None:
                log.error("command c%d: not answered in %s: %s", sequence, asked.address.key, failure)
        await patiently(asked.address.key, lambda: self._store.close(sequence))
        self._obeyed.discard(sequence)

    def _sign(self, message: MessageReceived) -> str:
        """What stands in front of commands where somebody wrote."""
        platform = platform_of(message.address.key, self._platforms)
        slash = platform is not None and platform.adapter.capabilities.slash
        return "/" if slash else "!" if message.direct else ""

    async def _do_quietly(self, operation: Operation) -> None:
        await self._do(operation)

    async def _obey_again(self, sequence: int, asked: CommandReceived) -> None:
        """Answer a command that may have been answered before."""
        perhaps = Line(number=0, draft=0, state="open", kind="notice", tries=1)
        await self._obey(sequence, asked, behind=True, lines=[] if asked.ticket else [perhaps])

    async def _tell(self, message: MessageReceived | CommandReceived, sentence: str) -> None:
        conversation = message.address.key
        if (platform := platform_of(conversation, self._platforms)) is None:
            return
        name = f"{conversation}?{message.event_id}"
        place = replace(_place(message, platform), seed=f"{message.event_id}:{message.own_id}")
        await self._say(sentence, place, platform, name)

    async def _say(
        self, sentence: str, place: Place, platform: Platform, name: str, lines: Sequence[Line] = ()
    ) -> str | None:
        """Say something of our own beside the queue; what kept it off the screen, if anything did."""
        reply = Reply(place=place, run_id=name, lines=lines)
        reply.tell(sentence)
        await self._delivery.show(reply, platform.adapter, name=name)
        return reply.failure

    async def _status(self, conversation: str) -> command.Status:
        since = self._running_since(conversation)
        return command.Status(
            model=self._model,
            running=None if since is None else anyio.current_time() - since,
            open=await patiently(conversation, lambda: self._store.waiting(conversation)),
            held=self._delivery.delay(conversation),
            asked=tuple(await patiently(conversation, lambda: self._store.approvals.open(conversation))),
            allowed=tuple(await patiently(conversation, lambda: self._store.approvals.grants(conversation))),
        )

    async def _revoke(self, conversation: str, tool: str) -> bool:
        return await patiently(conversation, lambda: self._store.approvals.revoke(conversation, tool.strip()))

    async def _mark(self, message: MessageReceived, marked: anyio.Event) -> None:
        """Mark a message, if it still waits."""
        try:
            if message.message_id in self._marked:
                await self._do(MarkWaiting(address=message.address, message_id=message.own_id))
        finally:
            marked.set()

    async def _unmark(self, message: MessageReceived | MessageDeleted, marked: anyio.Event | None) -> None:
        """Take a mark away. Where this process put it there, not before it has."""
        if marked is not None:
            await marked.wait()
        await self._do(UnmarkWaiting(address=message.address, message_id=message.own_id), tries=UNMARK_TRIES)

    async def _do(
        self, operation: Operation, priority: Priority = Priority.ACKNOWLEDGEMENT, *, tries: int = TRIES
    ) -> Outcome | None:
        """Do something beside the queue, if the platform knows it."""
        conversation = operation.address.key
        platform = platform_of(conversation, self._platforms)
        if platform is None or not getattr(platform.adapter.capabilities, draws(operation)):
            return None
        errand = Errand(operation, platform.adapter.capabilities, priority, tries=tries)
        await self._delivery.show(errand, platform.adapter, name=f"{conversation}~{id(errand)}")
        return errand.outcome


def _place(asked: MessageReceived | CommandReceived, platform: Platform) -> Place:
    """Where what is about a message stands; it need not show to which it belongs."""
    return replace(Place.of(asked, platform.adapter.capabilities), refers=False)


async def _either(one: anyio.Event, other: anyio.Event) -> None:
    """Wait for one of two."""
    async with anyio.create_task_group() as tasks:

        async def wait(event: anyio.Event) -> None:
            await event.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait, one)
        tasks.start_soon(wait, other)
