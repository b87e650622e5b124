"""Conversations on virtual time: the real mailbox in memory, a model and a chat platform in memory."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import anyio
import pytest
from anyio.abc import TaskGroup

from gateway import history
from gateway.adapter import Adapter
from gateway.address import Address
from gateway.conversation import ATTEMPTS, STORE_PATIENCE, STORE_TRIES, Conversations, RunEnded
from gateway.delivery import Delivery
from gateway.error import OwnershipLostError, StoreError
from gateway.event import Envelope
from gateway.grammar import check_run
from gateway.history import Answered, Asked
from gateway.inbound import Inbound
from gateway.operation import Forbidden, Unknown
from gateway.provider import UserMessage
from gateway.reply import DOUBTS, ENDINGS, FAILURES, Reply
from gateway.store import Work
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from tests.unit.gateway.chat import Chat, message, place
from tests.unit.gateway.model import Bug, Model, agent, broken, native, spoken, whole

pytestmark = pytest.mark.virtual_time


@dataclass
class Reluctant:
    """A store that refuses to finish as often as it is told to, and knows when it was asked."""

    store: Mailbox
    refusals: list[StoreError] = field(default_factory=list[StoreError])
    load_refusals: list[StoreError] = field(default_factory=list[StoreError])
    finishing: list[float] = field(default_factory=list[float])

    async def ingest(self, inbound: Inbound) -> bool:
        return await self.store.ingest(inbound)

    async def claim(self, limit: int) -> list[str]:
        return await self.store.claim(limit)

    async def load(self, conversation: str) -> Work | None:
        if self.load_refusals:
            raise self.load_refusals.pop()
        return await self.store.load(conversation)

    async def finish(self, work: Work, entries: Sequence[str]) -> None:
        self.finishing.append(anyio.current_time())
        if self.refusals:
            raise self.refusals.pop()
        await self.store.finish(work, entries)

    async def reject(self, conversation: str, sequence: int) -> None:
        await self.store.reject(conversation, sequence)

    async def release(self, conversation: str) -> None:
        await self.store.release(conversation)

    async def open_messages(self) -> int:
        return await self.store.open_messages()

    async def wait_due(self) -> None:
        await self.store.wait_due()

    async def prune(self, older_than: float) -> int:
        return await self.store.prune(older_than)


@dataclass
class House:
    """All that conversations need, and what was seen of their runs."""

    store: Reluctant
    chat: Chat
    conversations: Conversations
    events: dict[str, list[Envelope]] = field(default_factory=dict[str, list[Envelope]])
    ended: list[RunEnded] = field(default_factory=list[RunEnded])

    async def said(self, address: Address) -> list[history.Entry]:
        """The history of a conversation."""
        await self.store.ingest(message("?", number=999, address=address))
        await self.store.claim(9)
        work = await self.store.load(address.key)
        assert work is not None
        return [history.from_json(entry) for entry in work.history]


@asynccontextmanager
async def house(
    model: Model,
    chat: Chat | None = None,
    *,
    limit: int = 10,
    inbox: Sequence[Inbound] = (),
    adapters: dict[str, Adapter] | None = None,
    delivery: Delivery | None = None,
    history_characters: int = 100_000,
) -> AsyncGenerator[tuple[House, TaskGroup]]:
    """A gateway without its edges. Inside the context conversations are not running yet."""
    chat = chat or Chat(latency=0.0)
    with MemoryDatabase() as database:
        store, delivery = Reluctant(await Mailbox.open(database)), delivery or Delivery()

        def watch(seen: Envelope | RunEnded) -> None:
            if isinstance(seen, RunEnded):
                rooms.ended.append(seen)
            else:
                rooms.events.setdefault(seen.run_id, []).append(seen)

        conversations = Conversations(
            store=store,
            agent=agent(model, history_characters),
            delivery=delivery,
            adapters=adapters or {"chat": chat},
            watch=watch,
            limit=limit,
        )
        rooms = House(store, chat, conversations)
        for inbound in inbox:
            await store.ingest(inbound)
        with anyio.fail_after(10_000):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(delivery.run)
                yield rooms, tasks
                tasks.cancel_scope.cancel()


async def finish(rooms: House) -> None:
    """Run until nothing is open any more, and then to the end."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rooms.conversations.run)
        while await rooms.store.open_messages():  # noqa: ASYNC110 - the clock is virtual, and the store tells nobody
            await anyio.sleep(1)
        rooms.conversations.stop()


async def test_a_message_is_answered_and_the_answer_remembered() -> None:
    async with house(Model([whole("Hello, you.")]), inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello, you."]
        assert await rooms.said(place()) == [
            Asked(speaker="U1", text="Hi!"),
            Answered(text="Hello, you.", native=native("Hello, you.")),
        ]


async def test_a_run_is_watched_from_its_first_event_to_its_end() -> None:
    async with house(Model([whole("Hello, you.")]), inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
    ((run_id, envelopes),) = rooms.events.items()
    check_run([envelope.event for envelope in envelopes])
    assert [envelope.seq for envelope in envelopes] == list(range(len(envelopes)))
    (ended,) = rooms.ended
    assert (ended.run_id, ended.conversation, ended.reason, ended.failure) == (run_id, place().key, "complete", None)
    assert [bubble.text for bubble in ended.bubbles] == ["Hello, you."]


async def test_the_messages_of_a_conversation_are_answered_one_at_a_time_in_their_order() -> None:
    model = Model([whole(f"Answer {number}.") for number in range(3)], pace=1.0)
    inbox = [message(f"Question {number}?", number=number) for number in range(3)]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Answer 0.", "Answer 1.", "Answer 2."]
    assert model.most_open == 1
    assert model.requests[2].messages[0] == UserMessage(text="<U1> Question 0?")
    assert len(model.requests[2].messages) == 5


async def test_conversations_go_on_beside_each_other() -> None:
    model = Model([whole("Answer.")], pace=1.0)
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in range(4)]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Answer."] * 4
    assert model.most_open == 4


async def test_no_more_runs_go_on_at_once_than_allowed() -> None:
    model = Model([whole("Answer.")], pace=1.0)
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in range(7)]
    async with house(model, inbox=inbox, limit=2) as (rooms, _):
        await finish(rooms)
        assert len(rooms.chat.texts()) == 7
    assert model.most_open == 2


async def test_a_message_that_comes_later_wakes_its_conversation() -> None:
    async with house(Model([whole("Hello.")])) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        await rooms.store.ingest(message("Hi!"))
        await anyio.sleep(5)
        assert rooms.chat.texts() == ["Hello."]


async def test_a_store_that_refuses_the_end_is_asked_again_and_the_answer_given_once() -> None:
    model = Model([whole("Hello.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals = [StoreError("disk full")] * 3
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello."]
        assert len(await rooms.said(place())) == 2
    first, *_, last = rooms.store.finishing
    assert last - first == pytest.approx(3 * STORE_PATIENCE)
    assert len(model.requests) == 1


async def test_a_store_that_refuses_the_end_for_long_stops_the_gateway() -> None:
    model = Model([whole("Hello.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals = [StoreError("disk full")] * STORE_TRIES
        with pytest.raises(ExceptionGroup) as caught:
            await rooms.conversations.run()
        assert caught.group_contains(StoreError, match="disk full")
        assert rooms.chat.texts() == ["Hello."]
        assert await rooms.store.open_messages() == 1
    first, *_, last = rooms.store.finishing
    assert len(rooms.store.finishing) == STORE_TRIES
    assert last - first == pytest.approx((STORE_TRIES - 1) * STORE_PATIENCE)
    assert len(model.requests) == 1


async def test_a_store_that_takes_the_end_at_the_last_try_is_not_given_up() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals = [StoreError("disk full")] * (STORE_TRIES - 1)
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello."]
        assert len(await rooms.said(place())) == 2


async def test_who_lost_a_conversation_leaves_it_alone() -> None:
    model = Model([whole("Hello.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, tasks):
        rooms.store.refusals = [OwnershipLostError("taken over")]
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        assert len(rooms.store.finishing) == 1
        await rooms.store.ingest(message("Hi!", number=2, address=place("C2")))
        await anyio.sleep(10)
        assert rooms.chat.texts(place("C2")) == ["Hello."]


async def test_a_store_that_cannot_be_read_stops_the_gateway() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.load_refusals = [StoreError("gone")]
        with pytest.raises(ExceptionGroup) as caught:
            await rooms.conversations.run()
        assert caught.group_contains(StoreError)


async def test_a_message_that_cannot_be_read_is_set_aside_and_the_conversation_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Model([whole("Hello.")])
    unreadable = replace(message("Hi!"), user=cast("str", None))
    inbox = [unreadable, message("Hi?", number=2), message("Hi?", number=3, address=place("C2"))]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts(place()) == rooms.chat.texts(place("C2")) == ["Hello."]
        assert await rooms.said(place()) == [
            Asked(speaker="U1", text="Hi?"),
            Answered(text="Hello.", native=native("Hello.")),
        ]
    assert len(model.requests) == 2
    assert "run r1: set aside unanswered: event 1 cannot be read" in caplog.text


async def test_a_run_that_crashes_is_tried_again_and_logged_under_its_id(caplog: pytest.LogCaptureFixture) -> None:
    model = Model([[Bug("oops")], [Bug("oops")], whole("Hello.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello."]
        assert [ended.run_id for ended in rooms.ended] == ["r1"]
    assert len(model.requests) == ATTEMPTS
    assert caplog.messages == [f"run r1: failed in {place().key}; its message is tried again"] * 2


async def test_a_run_that_crashes_is_not_tried_again_before_its_operation_in_flight_has_ended() -> None:
    model, chat = Model([[*spoken("Half"), Bug("oops")], whole("Hello.")], pace=0.1), Chat(latency=10.0)
    async with house(model, chat, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
    assert chat.texts() == ["Half", "Hello."]
    assert all(one.ended is not None and one.ended <= other.began for one, other in pairwise(chat.calls))


class Stumbling(Delivery):
    """A delivery that shows the first reply half, and then fails; others as they should be."""

    stumbles = 1

    async def show(self, reply: Reply, adapter: Adapter) -> None:
        if not self.stumbles:
            return await super().show(reply, adapter)
        self.stumbles -= 1
        with anyio.move_on_after(5):
            await super().show(reply, adapter)
        msg = "oops"
        raise Bug(msg)


async def test_a_reply_that_fails_ends_its_run_which_is_tried_again_and_harms_no_other() -> None:
    model = Model([whole("Hello, you there.")], pace=1.0)
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in (1, 2)]
    async with house(model, inbox=inbox, delivery=Stumbling()) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts(place("C1"))[-1] == rooms.chat.texts(place("C2"))[-1] == "Hello, you there."
        assert len(rooms.ended) == 2
    assert len(model.requests) == 3
    assert model.open == 0


async def test_a_message_that_crashes_every_run_is_set_aside_and_its_sender_told() -> None:
    model = Model([*[[*spoken(""), Bug("oops")]] * ATTEMPTS, whole("Better.")])
    inbox = [message("Hi!"), message("And this?", number=2)]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        told, answered = rooms.chat.texts()
        assert told == f"{FAILURES['unknown']} Reference: {rooms.ended[0].run_id})"
        assert answered == "Better."
        assert rooms.ended[0].reason == "error"
    assert len(model.requests) == ATTEMPTS + 1
    assert model.requests[-1].messages == (UserMessage(text="<U1> Hi!\n\n<U1> And this?"),)


async def test_a_crash_in_one_conversation_harms_no_other() -> None:
    model = Model([[Bug("oops")], whole("Hello.")], pace=1.0)
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in range(3)]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello."] * 3


async def test_a_text_that_the_store_cannot_hold_is_not_shown_twice() -> None:
    model = Model([whole("Half a pair: \ud83d.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert len(rooms.chat.texts()) == 1
    assert len(model.requests) == 1


async def test_an_error_is_told_in_a_sentence_and_the_half_answer_remembered() -> None:
    async with house(Model([broken("Half an answ")]), inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        half, sentence = rooms.chat.texts()
        assert half == "Half an answ"
        assert sentence == f"{FAILURES['overloaded']} Reference: {rooms.ended[0].run_id})"
        assert "secret" not in sentence
        assert await rooms.said(place()) == [Asked(speaker="U1", text="Hi!"), Answered(text="Half an answ")]


async def test_a_reply_that_may_not_be_shown_ends_the_run_and_the_next_message_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    chat.fates.append(Forbidden(reason="is_archived"))
    async with house(model, chat, inbox=[message("Hi!"), message("Hi?", number=2)]) as (rooms, _):
        await finish(rooms)
        assert [ended.failure for ended in rooms.ended] == ["is_archived", None]
        assert chat.texts() == ["Hello."]
    assert model.requests[1].messages == (UserMessage(text="<U1> Hi!\n\n<U1> Hi?"),)
    assert f"run r1: not shown in {place().key}: is_archived" in caplog.text


async def test_a_reply_that_may_not_be_shown_stops_the_model() -> None:
    model, chat = Model([whole("word " * 1000)], pace=1.0), Chat(latency=0.0)
    chat.fates.append(Forbidden(reason="is_archived"))
    async with house(model, chat, inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(5)
        (ended,) = rooms.ended
        assert (ended.reason, ended.failure) == ("error", "is_archived")
        check_run([envelope.event for envelope in rooms.events[ended.run_id]])
        assert model.open == 0
        assert await rooms.said(place()) == [Asked(speaker="U1", text="Hi!")]


async def test_an_answer_whose_post_stays_in_doubt_is_given_up_and_not_remembered() -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    chat.fates.extend([Unknown(reason="no answer")] * DOUBTS)
    async with house(model, chat, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.ended[0].failure is not None
        assert len(chat.calls) == DOUBTS
        assert await rooms.said(place()) == [Asked(speaker="U1", text="Hi!")]
    assert len(model.requests) == 1


async def test_an_answer_that_is_whole_on_the_screen_is_not_taken_for_one_that_nobody_sees() -> None:
    model = Model([whole("Hello.")], linger=50)
    async with house(model, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.ended[0].reason == "complete"
        assert len(await rooms.said(place())) == 2


async def test_the_model_is_given_no_more_of_the_history_than_there_is_room_for() -> None:
    model = Model([whole(f"Answer {number}.") for number in range(4)])
    inbox = [message(f"Question {number}?", number=number) for number in range(4)]
    async with house(model, inbox=inbox, history_characters=30) as (rooms, _):
        await finish(rooms)
        assert len(await rooms.said(place())) == 8
    assert [message.text for message in model.requests[3].messages] == ["<U1> Question 3?"]
    assert [message.text for message in model.requests[1].messages] == ["<U1> Question 1?"]


async def test_a_conversation_that_is_too_long_for_the_model_is_told_to_begin_anew() -> None:
    async with house(Model([whole("Well", "context_window")]), inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Well", ENDINGS["context_window"]]
        assert rooms.ended[0].reason == "context_window"


async def test_stopping_lets_end_what_began_and_begins_nothing_more() -> None:
    model = Model([whole("Hello.")], pace=10.0)
    inbox = [message("Hi!"), message("Hi?", number=2)]
    async with house(model, inbox=inbox) as (rooms, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(15)
            rooms.conversations.stop()
        assert rooms.chat.texts() == ["Hello."]
        assert await rooms.store.open_messages() == 1
    assert len(model.requests) == 1


async def test_stopped_before_it_began_it_begins_nothing() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        rooms.conversations.stop()
        await rooms.conversations.run()
        assert await rooms.store.open_messages() == 1


async def test_messages_of_a_platform_that_is_not_configured_wait() -> None:
    other: dict[str, Adapter] = {"other": Chat()}
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")], adapters=other) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        assert await rooms.store.open_messages() == 1
        assert rooms.ended == []


async def test_messages_that_waited_for_their_platform_are_answered_however_often_the_gateway_began() -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    other: dict[str, Adapter] = {"other": Chat()}
    with MemoryDatabase() as database, anyio.fail_after(1000):
        await (await Mailbox.open(database)).ingest(message("Hi!"))
        for adapters in [*[other] * (ATTEMPTS + 1), {"chat": chat}]:
            delivery = Delivery()
            conversations = Conversations(
                store=await Mailbox.open(database),
                agent=agent(model),
                delivery=delivery,
                adapters=adapters,
                watch=lambda _: None,
                limit=1,
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(delivery.run)
                tasks.start_soon(conversations.run)
                await anyio.sleep(10)
                tasks.cancel_scope.cancel()
    assert chat.texts() == ["Hello."]
