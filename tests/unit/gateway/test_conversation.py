"""Conversations on virtual time: the real mailbox in memory, a model and a chat platform in memory."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

import anyio
import pytest

from gateway import history
from gateway.access import ANY, Allow
from gateway.adapter import Adapter
from gateway.command import NEW, NOTHING_TO_STOP
from gateway.conversation import ATTEMPTS, LAST_ATTEMPT, RETRY_PAUSE, Conversations
from gateway.delivery import Deliverable, Delivery, Record, no_record
from gateway.error import OwnershipLostError, StoreError
from gateway.event import TextDelta
from gateway.grammar import check_run
from gateway.history import INTERRUPTED, STOPPED, Answered, Unseen
from gateway.inbound import Inbound
from gateway.notice import ENDINGS, FAILURES
from gateway.operation import Forbidden, PostMessage, RateLimited, Unknown
from gateway.patience import STORE_PAUSES
from gateway.provider import AssistantMessage, Item, UserMessage
from gateway.reply import DOUBTS, Reply
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from gateway.terms import Terms
from tests.unit.gateway.chat import CAPABILITIES, Chat, command, message, place, platform
from tests.unit.gateway.house import House, admits, asked, finish, house, kill
from tests.unit.gateway.model import Bug, Model, agent, broken, native, spoken, whole

pytestmark = pytest.mark.virtual_time

READS = replace(CAPABILITIES, reconciliation="read")


async def test_a_message_is_answered_and_the_answer_remembered() -> None:
    async with house(Model([whole("Hello, you.")]), inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts() == ["Hello, you."]
        assert await rooms.said(place()) == [
            asked("Hi!"),
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


async def test_answers_that_wait_for_a_parked_channel_hold_up_nobody_elsewhere() -> None:
    model, chat = Model([whole("Answer.")]), Chat(latency=0.0)
    chat.fates.append(RateLimited(retry_after=3600))
    mentions = [message("?", number=number, address=place("C1", str(number))) for number in range(60)]
    async with house(model, chat, inbox=mentions, limit=2) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(5)
        assert len(model.requests) == 60
        await rooms.store.ingest(message("?", number=60, address=place("D1")))
        await anyio.sleep(5)
        assert chat.texts() == chat.texts(place("D1")) == ["Answer."]
        assert await rooms.store.open_messages() == 60
        await anyio.sleep(3600 + 60)
        assert chat.texts() == ["Answer."] * 61
        assert await rooms.store.open_messages() == 0
    assert chat.refusals == 0


async def test_a_message_that_is_set_aside_in_a_parked_channel_holds_up_nobody_elsewhere() -> None:
    model, chat = Model([*[[Bug("oops")]] * ATTEMPTS, whole("Answer.")]), Chat(latency=0.0)
    chat.fates.append(RateLimited(retry_after=3600))
    async with house(model, chat, inbox=[message("?")], limit=1) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(RETRY_PAUSE * (1 + 2 + 3) + 5)
        await rooms.store.ingest(message("?", number=2, address=place("D1")))
        await anyio.sleep(5)
        assert chat.texts() == ["Answer."]


async def test_a_slot_is_given_back_once_however_a_run_ends() -> None:
    model = Model([[Bug("oops")], whole("Answer."), broken("Half")], pace=1.0)
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in range(2, 7)]
    async with house(model, inbox=[UNREADABLE, *inbox], limit=1) as (rooms, _):
        await finish(rooms)
        assert len(rooms.ended) == 5
    assert model.most_open == 1
    assert len(model.requests) == 6


async def test_a_message_that_comes_later_wakes_its_conversation() -> None:
    async with house(Model([whole("Hello.")])) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        await rooms.store.ingest(message("Hi!"))
        await anyio.sleep(5)
        assert rooms.chat.texts() == ["Hello."]


UNREADABLE = replace(message("Hi!"), user=cast("str", None))
REFUSED = 12


@pytest.mark.parametrize(
    ("method", "first", "answers"),
    [
        ("claim", message("Hi!"), [whole("Hello.")]),
        ("load", message("Hi!"), [whole("Hello.")]),
        ("finish", message("Hi!"), [whole("Hello.")]),
        ("release", message("Hi!"), [[Bug("oops")], whole("Hello.")]),
        ("reject", UNREADABLE, [whole("Hello.")]),
    ],
)
async def test_a_store_that_refuses_for_minutes_is_asked_ever_more_slowly_until_it_takes_it(
    method: str, first: Inbound, answers: Sequence[Sequence[Item | Bug]]
) -> None:
    model = Model(answers)
    async with house(model, inbox=[first]) as (rooms, _):
        rooms.store.refusals[method] = [StoreError("disk full")] * REFUSED
        await finish(rooms)
        readable = first is not UNREADABLE
        assert rooms.chat.texts() == ["Hello."] * readable
        assert len(await rooms.said(place())) == 2 * readable
        waits = [later - earlier for earlier, later in pairwise(rooms.store.asked[method][: REFUSED + 1])]
    slowest = STORE_PAUSES[-1]
    assert waits == pytest.approx([*STORE_PAUSES, *[slowest] * (REFUSED - len(STORE_PAUSES))])
    assert sum(waits) > 180
    assert len(model.requests) == len(answers) * readable


async def test_a_conversation_without_work_is_given_back_by_a_store_that_refuses_at_first() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, tasks):
        await rooms.query("update gw_event set done = 1")
        rooms.store.refusals["release"] = [StoreError("disk full")] * 3
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        await rooms.store.ingest(message("Hi?", number=2))
        await anyio.sleep(10)
        assert rooms.chat.texts() == ["Hello."]


async def test_a_store_that_refuses_is_logged_with_the_reason_and_the_wait(caplog: pytest.LogCaptureFixture) -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals["finish"] = [StoreError("disk full")]
        await finish(rooms)
    assert caplog.messages == [f"{place().key}: the store refuses, tried again in 1 s: disk full"]


async def test_a_store_that_refuses_in_one_conversation_holds_up_no_other() -> None:
    inbox = [message("?", number=number, address=place(f"C{number}")) for number in (1, 2)]
    async with house(Model([whole("Hello.")]), inbox=inbox) as (rooms, tasks):
        rooms.store.refusals["load"] = [StoreError("disk full")]
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(0.5)
        assert rooms.chat.texts() == ["Hello."]
        await anyio.sleep(5)
        assert rooms.chat.texts() == ["Hello.", "Hello."]


async def test_a_gateway_can_be_stopped_while_its_store_refuses() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals["claim"] = [StoreError("disk full")] * 10_000
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(100)
            rooms.conversations.stop()
        assert await rooms.store.open_messages() == 1


async def test_who_lost_a_conversation_leaves_it_alone() -> None:
    model = Model([whole("Hello.")])
    async with house(model, inbox=[message("Hi!")]) as (rooms, tasks):
        rooms.store.refusals["finish"] = [OwnershipLostError("taken over")]
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        assert len(rooms.store.asked["finish"]) == 1
        await rooms.store.ingest(message("Hi!", number=2, address=place("C2")))
        await anyio.sleep(10)
        assert rooms.chat.texts(place("C2")) == ["Hello."]


async def test_a_message_that_cannot_be_read_is_set_aside_and_the_conversation_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Model([whole("Hello.")])
    inbox = [UNREADABLE, message("Hi?", number=2), message("Hi?", number=3, address=place("C2"))]
    async with house(model, inbox=inbox) as (rooms, _):
        await finish(rooms)
        assert rooms.chat.texts(place()) == rooms.chat.texts(place("C2")) == ["Hello."]
        assert await rooms.said(place()) == [
            asked("Hi?", 2),
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
    assert chat.texts() == ["Hello."]
    assert all(one.ended is not None and one.ended <= other.began for one, other in pairwise(chat.calls))


class Stumbling(Delivery):
    """A delivery that shows the first reply half, and then fails; others as they should be."""

    stumbles = 1

    async def show(
        self, reply: Deliverable, adapter: Adapter, *, record: Record = no_record, name: str | None = None
    ) -> None:
        if not self.stumbles:
            return await super().show(reply, adapter, record=record, name=name)
        self.stumbles -= 1
        with anyio.move_on_after(5):
            await super().show(reply, adapter, record=record, name=name)
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
        half = Answered(text="Half an answ", reason="error", error="overloaded")
        assert await rooms.said(place()) == [asked("Hi!"), half]


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
        first, half, unseen = await rooms.said(place())
        assert (first, unseen) == (asked("Hi!"), Unseen())
        assert isinstance(half, Answered)
        assert half.reason == "error"


async def test_an_answer_whose_post_stays_in_doubt_is_given_up_and_not_remembered() -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    chat.fates.extend([Unknown(reason="no answer")] * DOUBTS)
    async with house(model, chat, inbox=[message("Hi!")]) as (rooms, _):
        await finish(rooms)
        assert rooms.ended[0].failure is not None
        assert len(chat.calls) == DOUBTS
        said = await rooms.said(place())
        assert said == [asked("Hi!"), Answered(text="Hello.", native=native("Hello.")), Unseen()]
        assert history.messages([*said, asked("?")], room=100) == (UserMessage(text="<U1> Hi!\n\n<U1> ?"),)
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
    other = {"other": platform(Chat(), name="other")}
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")], platforms=other) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(100)
        assert await rooms.store.open_messages() == 1
        assert rooms.ended == []


async def test_messages_that_waited_for_their_platform_are_answered_however_often_the_gateway_began() -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    other = {"other": platform(Chat(), name="other")}
    with MemoryDatabase() as database, anyio.fail_after(1000):
        await (await Mailbox.open(database)).ingest(message("Hi!"))
        for platforms in [*[other] * (ATTEMPTS + 1), {"chat": platform(chat)}]:
            delivery = Delivery()
            conversations = Conversations(
                store=await Mailbox.open(database),
                agent=agent(model),
                delivery=delivery,
                platforms=platforms,
                admits=admits,
                watch=lambda _: None,
                terms=Terms(),
                limit=1,
            )
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(delivery.run)
                tasks.start_soon(conversations.run)
                await anyio.sleep(10)
                tasks.cancel_scope.cancel()
    assert chat.texts() == ["Hello."]


@pytest.mark.parametrize("key", ["nonsense", "chat/A1", "chat/A1/%zz", ""])
async def test_a_conversation_whose_name_nobody_can_read_is_left_alone_and_harms_no_other(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, tasks):
        await rooms.query("update gw_event set conv = $1", key)
        await rooms.query("update gw_conv set id = $1", key)
        tasks.start_soon(rooms.conversations.run)
        await rooms.store.ingest(message("Hi?", number=2, address=place("C2")))
        await anyio.sleep(1000)
        assert rooms.chat.texts() == ["Hello."]
        assert await rooms.query("select attempts from gw_event where conv = $1 and done is null", key) == [(0,)]
        assert len(rooms.store.asked["claim"]) < 9
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"{key}: its messages wait")


async def test_a_platform_that_is_not_configured_is_logged_once_and_asked_for_in_no_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")], platforms={}) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(1000)
        assert len(rooms.store.asked["claim"]) < 9
        assert rooms.store.asked["load"] == []
    assert caplog.messages == [f"{place().key}: its platform is not configured; its messages wait"]


@pytest.mark.parametrize(
    "allow",
    [
        Allow(),
        Allow(users=frozenset({"U2"}), channels=frozenset({ANY})),
        Allow(users=frozenset({ANY}), channels=frozenset({"C2"})),
    ],
    ids=["nobody", "another user", "another channel"],
)
async def test_who_is_not_allowed_any_more_when_his_turn_has_come_gets_no_answer(
    allow: Allow, caplog: pytest.LogCaptureFixture
) -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    closed = {"chat": platform(chat, allow=allow)}
    async with house(model, chat, inbox=[message("Hi!")], platforms=closed) as (rooms, _):
        await finish(rooms)
        assert (chat.calls, rooms.ended, rooms.events) == ([], [], {})
        assert await rooms.said(place()) == []
    assert model.requests == []
    assert caplog.messages == ["run r1: not answered, U1 is no longer allowed"]


async def test_behind_whom_is_not_allowed_any_more_the_next_is_answered() -> None:
    allow = Allow(users=frozenset({"U2"}), channels=frozenset({ANY}))
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0)
    inbox = [message("Hi!"), message("Hi?", number=2, user="U2")]
    async with house(model, chat, inbox=inbox, platforms={"chat": platform(chat, allow=allow)}) as (rooms, _):
        await finish(rooms)
        assert chat.texts() == ["Hello."]
    (request,) = model.requests
    assert request.messages == (UserMessage(text="<U2> Hi?"),)


async def stopped_at(rooms: House, seconds: float) -> None:
    """Run, and be cancelled after so many seconds: the grace is over."""
    with anyio.move_on_after(seconds) as scope:
        await rooms.conversations.run()
    assert scope.cancelled_caught


@pytest.mark.parametrize("fate", [None, RateLimited(retry_after=3600)], ids=["the model writes", "it is not shown"])
async def test_a_run_that_is_cancelled_in_good_order_is_no_attempt(fate: RateLimited | None) -> None:
    model, chat = Model([whole("Hello.")], pace=0.0 if fate else 60.0), Chat(latency=0.0)
    chat.fates.extend([fate] if fate else [])
    async with house(model, chat, inbox=[message("Hi!")]) as (rooms, _):
        await stopped_at(rooms, 10)
        assert await rooms.query("select attempts, done from gw_event") == [(0, None)]
        assert await rooms.query("select owner from gw_conv where due is not null") == [(None,)]


async def test_a_store_that_refuses_to_postpone_holds_up_no_end() -> None:
    async with house(Model([whole("Hello.")], pace=60.0), inbox=[message("Hi!")]) as (rooms, _):
        rooms.store.refusals["postpone"] = [StoreError("disk full")]
        began = anyio.current_time()
        await stopped_at(rooms, 10)
        assert anyio.current_time() - began == pytest.approx(10)
        assert await rooms.query("select attempts, done from gw_event") == [(1, None)]


# Stop and new.

LONG = " ".join(f"word{number:03}" for number in range(300)) + "."


def words(texts: Sequence[str]) -> list[str]:
    return " ".join(texts).split()


async def test_a_stop_closes_the_model_at_once_and_the_closing_update_goes_next() -> None:
    model, chat = Model([whole(LONG), whole("Next.")], pace=0.1), Chat(latency=0.1)
    async with house(model, chat, inbox=[message("Go on!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(20)
        said = [envelope for envelope in rooms.events["r1"] if isinstance(envelope.event, TextDelta)]
        calls = len(chat.calls)
        await rooms.receive(command("stop", number=2))
        await anyio.sleep(0.2)
        assert model.open == 0
        await anyio.sleep(60)
        written = "".join(
            envelope.event.text for envelope in rooms.events["r1"] if isinstance(envelope.event, TextDelta)
        )
        assert len(written) <= sum(len(getattr(envelope.event, "text", "")) for envelope in said) + 8
        assert words(chat.texts()) == [*written.split(), *ENDINGS["stopped"].split()]
        assert chat.texts()[-1] == ENDINGS["stopped"]
        assert chat.calls[calls].text.endswith(written.split()[-1])
        assert rooms.ended[0].reason == "stopped"
        check_run([envelope.event for envelope in rooms.events["r1"]])
        await rooms.receive(message("And now?", number=3))
        await anyio.sleep(60)
        assert chat.texts()[-1] == "Next."
        assert await rooms.store.open_commands() == []
    assert [type(each) for each in model.requests[1].messages] == [UserMessage, AssistantMessage, UserMessage]
    assert model.requests[1].messages[1].text == written
    assert model.requests[1].messages[2].text == f"{STOPPED}\n\n<U1> And now?"
    assert chat.refusals == 0


async def test_an_answer_that_was_stopped_is_kept_as_such() -> None:
    async with house(Model([whole("Hello, you.")], pace=1.0), inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(2.5)
        await rooms.receive(command("stop", number=2))
        await anyio.sleep(60)
        assert rooms.chat.texts() == ["Hell", ENDINGS["stopped"]]
        assert await rooms.said(place()) == [asked("Hi!"), Answered(text="Hell", reason="stopped")]


async def test_a_stop_before_the_model_has_said_anything_is_told_too() -> None:
    async with house(Model([whole("Hello.")], pace=60.0), inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(10)
        await rooms.receive(command("stop", number=2))
        await anyio.sleep(5)
        assert rooms.chat.texts() == [ENDINGS["stopped"]]
        assert await rooms.store.open_messages() == 0


async def test_a_stop_ends_the_answer_being_given_and_not_those_behind_it_or_elsewhere() -> None:
    model = Model([whole("Hello, you.")], pace=10.0)
    async with house(model, inbox=[message("Hi!", number=9, address=place("C2"))]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for number in (1, 2):
            await rooms.receive(message("Hi!", number=number))
        await anyio.sleep(5)
        await rooms.receive(command("stop", number=3))
        await anyio.sleep(300)
        assert rooms.chat.texts(place()) == [ENDINGS["stopped"], "Hello, you."]
        assert rooms.chat.texts(place("C2")) == ["Hello, you."]


async def test_a_stop_that_comes_before_the_run_has_begun_stops_it() -> None:
    async with house(Model([whole("Hello.")]), inbox=[message("Hi!")]) as (rooms, _):
        await rooms.receive(command("stop", number=2))
        await finish(rooms)
        assert rooms.chat.texts() == [ENDINGS["stopped"]]


async def test_a_stop_where_the_model_has_finished_leaves_out_what_has_not_begun_to_be_shown() -> None:
    chat = Chat(latency=0.0)
    chat.fates.append(RateLimited(retry_after=60))
    async with house(Model([whole("Hello.")]), chat, inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(10)
        await rooms.receive(command("stop", number=2))
        await anyio.sleep(100)
        assert chat.texts() == [ENDINGS["stopped"]]


async def test_a_stop_where_all_has_begun_to_be_shown_is_told_so() -> None:
    async with house(Model([whole("Hello.")]), Chat(latency=20.0), inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(10)
        await rooms.receive(command("stop", number=2))
        await anyio.sleep(100)
        assert sorted(rooms.chat.texts()) == sorted(["Hello.", NOTHING_TO_STOP])


async def test_a_run_that_shows_what_was_written_and_fails_each_time_is_given_up_and_the_next_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumble(self: Reply) -> None:
        msg = "oops"
        raise Bug(msg)

    model = Model([whole("Hello.")])
    async with house(model, inbox=[message("Hi!"), message("Hi?", number=2, address=place("C2"))]) as (rooms, tasks):
        with monkeypatch.context() as patch:
            patch.setattr(Reply, "next_operation", stumble)
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(3600)
        assert await rooms.store.open_messages() == 0
        assert rooms.chat.texts() == []
        await rooms.receive(message("Well?", number=3))
        await anyio.sleep(10)
        assert rooms.chat.texts() == ["Hello."]
    assert sum("given up" in line for line in caplog.messages) == 2
    assert sum("is tried again" in line for line in caplog.messages) == 2 * LAST_ATTEMPT


async def test_a_stop_that_a_crash_overtook_holds_after_the_restart() -> None:
    model, chat = Model([whole("Hello, you.")], pace=10.0), Chat(capabilities=READS, latency=0.0)
    with MemoryDatabase() as database:
        async with house(model, chat, database=database, inbox=[message("Hi!")]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(25)
            await rooms.store.ingest(command("stop", number=2))
            await kill(rooms, tasks)
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
    assert chat.texts() == [ENDINGS["stopped"]]
    assert model.open == 0


async def test_new_stops_the_answer_and_begins_the_history_anew() -> None:
    model = Model([whole("First answer."), whole("Second answer."), whole("Third.")], pace=1.0)
    async with house(model, inbox=[message("One?")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(30)
        await rooms.receive(message("Two?", number=2))
        await anyio.sleep(2.5)
        await rooms.receive(command("new", number=3))
        await anyio.sleep(30)
        await rooms.receive(message("Three?", number=4))
        await anyio.sleep(30)
        first, half, *rest = rooms.chat.texts()
        assert (first, half) == ("First answer.", "Seco")
        assert sorted(rest[:2]) == sorted([ENDINGS["stopped"], NEW])
        assert rest[2:] == ["Third."]
        assert await rooms.said(place()) == [asked("Three?", 4), Answered(text="Third.", native=native("Third."))]
    assert [len(request.messages) for request in model.requests] == [1, 3, 1]


async def test_a_message_that_waited_when_new_came_begins_the_new_history() -> None:
    model = Model([whole("First answer."), whole("Second.")], pace=10.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("One?"))
        await rooms.receive(message("Two?", number=2))
        await anyio.sleep(5)
        await rooms.receive(command("new", number=3))
        await anyio.sleep(300)
        assert rooms.chat.texts()[-1] == "Second."
    assert model.requests[1].messages == (UserMessage(text="<U1> Two?"),)


# Crashes.

PROSE = " ".join(f"This is sentence number {number}." for number in range(60))
OTHER = " ".join(f"These are other words, line {number}." for number in range(60))


async def test_after_a_crash_in_mid_answer_the_model_goes_on_behind_what_was_sealed() -> None:
    chat = Chat(capabilities=READS, latency=0.1)
    with MemoryDatabase() as database:
        async with house(Model([whole(PROSE)], pace=0.1), chat, database=database, inbox=[message("Go!")]) as (
            rooms,
            tasks,
        ):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(35)
            await kill(rooms, tasks)
        *sealed, half = chat.texts()
        assert sealed
        model = Model([whole(OTHER), whole("Next.")])
        inbox = [message("And?", number=2)]
        async with house(model, chat, database=database, inbox=inbox) as (rooms, _):
            await finish(rooms)
    shown = chat.texts()
    assert shown[: len(sealed)] == sealed
    assert words(shown[len(sealed) :]) == [*OTHER.split(), "Next."]
    assert half not in shown
    before, interrupted, note = model.requests[0].messages
    assert before == UserMessage(text="<U1> Go!")
    assert words([interrupted.text]) == words(sealed)
    assert note == UserMessage(text=INTERRUPTED)
    last = model.requests[1].messages
    assert [type(each) for each in last] == [UserMessage, AssistantMessage] * 2 + [UserMessage]
    assert words([last[1].text]) == words(sealed)
    assert last[3].text == OTHER


async def test_after_a_crash_before_anything_was_sealed_the_model_begins_anew_in_the_same_message() -> None:
    chat = Chat(capabilities=READS, latency=0.1)
    with MemoryDatabase() as database:
        async with house(Model([whole(PROSE)], pace=0.1), chat, database=database, inbox=[message("Go!")]) as (
            rooms,
            tasks,
        ):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(5)
            await kill(rooms, tasks)
        assert len(chat.texts()) == 1
        model = Model([whole("Other words.")])
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
    assert chat.texts() == ["Other words."]
    assert len(chat.messages) == 1
    assert model.requests[0].messages == (UserMessage(text="<U1> Go!"),)


async def test_after_a_crash_behind_the_models_end_the_rest_is_shown_and_the_model_not_asked_again() -> None:
    model, chat = Model([whole(PROSE)]), Chat(capabilities=READS, latency=3.0)
    with MemoryDatabase() as database:
        async with house(model, chat, database=database, inbox=[message("Go!")]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(4)
            await kill(rooms, tasks)
        assert len(words(chat.texts())) < len(PROSE.split())
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
            assert [ended.reason for ended in rooms.ended] == ["complete"]
            assert len(await rooms.said(place())) == 2
    assert words(chat.texts()) == PROSE.split()
    assert len(model.requests) == 1


async def test_after_a_crash_behind_a_broken_answer_its_end_is_told_as_it_was() -> None:
    model, chat = Model([broken("Half an answ")]), Chat(capabilities=READS, latency=3.0)
    with MemoryDatabase() as database:
        async with house(model, chat, database=database, inbox=[message("Go!")]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(1)
            await kill(rooms, tasks)
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
    assert chat.texts() == ["Half an answ", f"{FAILURES['overloaded']} Reference: r1)"]
    assert len(model.requests) == 1


@pytest.mark.parametrize("seconds", range(1, 40, 3))
async def test_however_often_it_crashes_the_answer_reads_as_one(seconds: int) -> None:
    chat = Chat(capabilities=READS, latency=0.5)
    with MemoryDatabase() as database:
        for crash in range(ATTEMPTS - 1):
            inbox = [] if crash else [message("Go!")]
            model = Model([whole(PROSE.replace("number", f"number{crash}"))], pace=0.05)
            async with house(model, chat, database=database, inbox=inbox) as (rooms, tasks):
                tasks.start_soon(rooms.conversations.run)
                await anyio.sleep(seconds)
                await kill(rooms, tasks)
        model = Model([whole(OTHER)])
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
            assert await rooms.store.open_messages() == 0
    written = {call.text for call in chat.calls if call.outcome is not None and isinstance(call.operation, PostMessage)}
    assert written
    last = model.requests[-1].messages if model.requests else ()
    sealed = words([each.text for each in last if isinstance(each, AssistantMessage)])
    if last:
        assert words(chat.texts()) == [*sealed, *OTHER.split()]


async def test_a_conversation_that_is_retried_is_stopped_by_its_attempts_not_by_its_restarts_in_good_order() -> None:
    chat = Chat(capabilities=READS, latency=0.0)
    with MemoryDatabase() as database:
        for crash in range(ATTEMPTS):
            inbox = [] if crash else [message("Go!")]
            async with house(Model([whole("No.")], pace=60.0), chat, database=database, inbox=inbox) as (rooms, tasks):
                tasks.start_soon(rooms.conversations.run)
                await anyio.sleep(1)
                await kill(rooms, tasks)
        async with house(Model([whole("No.")]), chat, database=database) as (rooms, _):
            await finish(rooms)
    assert chat.texts() == [f"{FAILURES['unknown']} Reference: r1)"]
