"""What passes the queues, on virtual time: commands, marks at messages that wait, what was said before."""

from dataclasses import dataclass, replace

import anyio
import pytest

from gateway import context
from gateway.adapter import Adapter, Budget
from gateway.aside import CONTEXT_PATIENCE
from gateway.command import HELP, NEW, NOTHING_TO_STOP, TOO_LATE
from gateway.delivery import Deliverable, Delivery, Record, no_record
from gateway.inbound import Command, MessageReceived
from gateway.notice import ENDINGS
from gateway.operation import (
    Forbidden,
    MarkWaiting,
    Operation,
    Outcome,
    RateLimited,
    ReadThread,
    Said,
    ThreadRead,
    Unknown,
    UnmarkWaiting,
)
from gateway.provider import UserMessage
from gateway.stores.sqlite import MemoryDatabase
from tests.unit.gateway.chat import CAPABILITIES, MARK, Chat, command, deleted, edited, message, place
from tests.unit.gateway.house import finish, house, kill
from tests.unit.gateway.model import Bug, Model, whole

pytestmark = pytest.mark.virtual_time

READS = replace(CAPABILITIES, reconciliation="read")
MARKS = replace(READS, mark=(MARK,))
THREAD = place("C1", "T1")
SLOW = [whole("A long answer.")]


def marks(chat: Chat) -> list[tuple[str, str]]:
    """Which messages were marked and unmarked, in order."""
    kinds = {MarkWaiting: "+", UnmarkWaiting: "-"}
    return [
        (kinds[type(call.operation)], call.operation.message_id)
        for call in chat.calls
        if isinstance(call.operation, MarkWaiting | UnmarkWaiting)
    ]


# Commands.


@pytest.mark.parametrize(("word", "said"), [("help", HELP), ("new", NEW), ("stop", NOTHING_TO_STOP)])
async def test_a_command_where_nothing_runs_is_answered_and_closed(word: Command, said: str) -> None:
    async with house(Model(SLOW)) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(command(word, number=1))
        await anyio.sleep(5)
        assert rooms.chat.texts() == [said]
        assert await rooms.store.open_commands() == []


async def test_status_where_nothing_runs_names_the_model() -> None:
    async with house(Model(SLOW)) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(command("status", number=1))
        await anyio.sleep(5)
        assert rooms.chat.texts() == ["(I am not answering anything here. Model: model-1.)"]


async def test_status_says_for_how_long_an_answer_is_being_given_and_how_many_messages_wait() -> None:
    async with house(Model(SLOW, pace=100.0), inbox=[message("One?")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(65)
        for number in (2, 3):
            await rooms.receive(message("And?", number=number))
        await rooms.receive(command("status", number=4))
        await rooms.receive(command("status", number=5, address=place("C2")))
        await anyio.sleep(1)
        working = "I have been working on an answer for 1 minute. 2 messages wait in line."
        assert rooms.chat.texts(place()) == [f"({working} Model: model-1.)"]
        assert rooms.chat.texts(place("C2")) == ["(I am not answering anything here. Model: model-1.)"]


@pytest.mark.parametrize(("seconds", "told"), [(59, False), (3600, True)])
async def test_status_tells_of_a_channel_that_lets_nothing_through_for_a_minute(seconds: float, *, told: bool) -> None:
    chat = Chat(latency=0.0)
    chat.fates.append(RateLimited(retry_after=seconds))
    async with house(Model([whole("Hello.")]), chat, inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(1)
        await rooms.receive(command("status", number=2))
        await anyio.sleep(seconds + 60)
        (status,) = [text for text in chat.texts() if "Model: " in text]
        assert ("The chat lets nothing more through for 59 minutes." in status) is told
        assert ("lets nothing more" in status) is told
        assert "I have been working on an answer" in status


async def test_commands_pass_the_queue_while_a_run_is_busy() -> None:
    async with house(Model([whole("Hello, you there.")], pace=100.0), inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(50)
        await rooms.receive(message("And me?", number=2))
        await rooms.receive(command("help", number=3))
        await anyio.sleep(1)
        assert rooms.chat.texts() == [HELP]
        assert len(rooms.ended) == 0


async def test_several_commands_at_once_are_answered_beside_each_other() -> None:
    async with house(Model(SLOW)) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for number in range(1, 4):
            await rooms.receive(command("help", number=number))
        await anyio.sleep(10)
        assert rooms.chat.texts() == [HELP] * 3
        assert await rooms.store.open_commands() == []


async def test_the_same_command_that_arrives_twice_is_answered_once() -> None:
    async with house(Model(SLOW)) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(command("help", number=1))
        await rooms.receive(command("help", number=1))
        await anyio.sleep(10)
        assert rooms.chat.texts() == [HELP]


async def test_a_command_that_may_not_be_answered_is_logged_closed_and_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat = Chat(latency=0.0)
    chat.fates.append(Forbidden(reason="is_archived"))
    async with house(Model([whole("Hello.")]), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(command("help", number=1))
        await anyio.sleep(5)
        assert await rooms.store.open_commands() == []
        await rooms.receive(message("Hi!", number=2))
        await anyio.sleep(5)
        assert chat.texts() == ["Hello."]
    assert f"command c1: not answered in {place().key}: is_archived" in caplog.text


async def test_a_command_that_comes_while_those_left_open_are_read_is_answered_once() -> None:
    async with house(Model(SLOW)) as (rooms, tasks):
        await rooms.receive(command("help", number=1))
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(10)
        assert rooms.chat.texts() == [HELP]


@pytest.mark.parametrize("posted", [False, True], ids=["before it was posted", "behind its post"])
async def test_a_command_that_a_crash_left_open_is_answered_once(*, posted: bool) -> None:
    chat = Chat(capabilities=READS, latency=10.0)
    with MemoryDatabase() as database:
        async with house(Model(SLOW), chat, database=database) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(1)
            await rooms.receive(command("help", number=1))
            await anyio.sleep(5 if posted else 0)
            await kill(rooms, tasks)
        assert chat.texts() == [HELP] * posted
        async with house(Model(SLOW), chat, database=database) as (rooms, tasks):
            assert len(await rooms.store.open_commands()) == 1
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(60)
            assert await rooms.store.open_commands() == []
    assert chat.texts() == [HELP]


async def test_a_command_of_a_platform_that_is_not_configured_waits_for_it() -> None:
    chat = Chat(latency=0.0, capabilities=READS)
    with MemoryDatabase() as database:
        async with house(Model(SLOW), chat, database=database, platforms={}) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await rooms.receive(command("help", number=1))
            await anyio.sleep(60)
        async with house(Model(SLOW), chat, database=database) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(60)
    assert chat.texts() == [HELP]


class Stumbling(Delivery):
    """A delivery that fails the first time it is to show something."""

    stumbles = 1

    async def show(
        self, reply: Deliverable, adapter: Adapter, *, record: Record = no_record, name: str | None = None
    ) -> None:
        if self.stumbles:
            self.stumbles -= 1
            msg = "oops"
            raise Bug(msg)
        await super().show(reply, adapter, record=record, name=name)


@pytest.mark.parametrize("left", [False, True], ids=["a new one", "one that was left open"])
async def test_a_command_that_breaks_is_logged_and_harms_nobody(left: bool, caplog: pytest.LogCaptureFixture) -> None:
    async with house(Model([whole("Hello.")]), delivery=Stumbling()) as (rooms, tasks):
        if left:
            await rooms.store.ingest(command("help", number=1))
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(1)
        await rooms.receive(command("help", number=1))
        await anyio.sleep(5)
        await rooms.receive(message("Hi!", number=2))
        await anyio.sleep(5)
        assert rooms.chat.texts() == ["Hello."]
        assert len(await rooms.store.open_commands()) == 1
    assert "something beside the queue failed, and is let be" in caplog.text


# Marks.


async def test_a_message_that_waits_is_marked_until_its_turn_has_come() -> None:
    chat = Chat(latency=0.0, capabilities=MARKS)
    async with house(Model([whole("Hello.")], pace=10.0), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for number in (1, 2, 3):
            await rooms.receive(message("Hi!", number=number))
        await anyio.sleep(1)
        assert chat.marked == {"message 2", "message 3"}
        await anyio.sleep(60)
        assert chat.marked == {"message 3"}
        await anyio.sleep(300)
        assert chat.marked == set()
    assert sorted(marks(chat)[:2]) == [("+", "message 2"), ("+", "message 3")]
    assert marks(chat)[2:] == [("-", "message 2"), ("-", "message 3")]


async def test_where_marks_are_unknown_nothing_is_marked() -> None:
    chat = Chat(latency=0.0)
    async with house(Model([whole("Hello.")]), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for number in (1, 2):
            await rooms.receive(message("Hi!", number=number))
        await anyio.sleep(60)
    assert marks(chat) == []
    assert chat.texts() == ["Hello."] * 2


async def test_a_mark_that_a_crash_left_is_taken_away_when_the_turn_has_come() -> None:
    chat = Chat(latency=0.0, capabilities=MARKS)
    model = Model([whole("Hello.")], pace=10.0)
    with MemoryDatabase() as database:
        async with house(model, chat, database=database) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            for number in (1, 2):
                await rooms.receive(message("Hi!", number=number))
            await anyio.sleep(5)
            await kill(rooms, tasks)
        assert chat.marked == {"message 2"}
        async with house(model, chat, database=database) as (rooms, _):
            await finish(rooms)
    assert chat.marked == set()


async def test_a_mark_that_is_refused_holds_up_no_answer() -> None:
    chat = Chat(latency=0.0, capabilities=MARKS)
    async with house(Model([whole("Hello.")], pace=10.0), chat, inbox=[message("Hi!")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(1)
        chat.fates.append(Forbidden(reason="not_reactable"))
        await rooms.receive(message("Hi?", number=2))
        await anyio.sleep(200)
        assert chat.texts() == ["Hello."] * 2


async def test_a_message_that_waits_is_answered_as_it_was_edited() -> None:
    model = Model([whole("Hello.")], pace=10.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("One?"))
        await anyio.sleep(1)
        await rooms.receive(waiting := message("Delete them.", number=2))
        await rooms.receive(edited(waiting, "List them.", number=3))
        await anyio.sleep(300)
        assert rooms.chat.texts() == ["Hello."] * 2
    assert model.requests[1].messages[-1] == UserMessage(text="<U1> List them.")
    assert len(model.requests) == 2


async def test_a_message_that_was_deleted_while_it_waited_is_not_answered_and_not_marked_any_more() -> None:
    chat = Chat(latency=0.0, capabilities=MARKS)
    model = Model([whole("Hello.")], pace=10.0)
    async with house(model, chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("One?"))
        await anyio.sleep(1)
        await rooms.receive(waiting := message("Two?", number=2))
        await anyio.sleep(1)
        await rooms.receive(deleted(waiting, number=3))
        await anyio.sleep(300)
        assert chat.texts() == ["Hello."]
        assert chat.marked == set()
        assert await rooms.store.open_messages() == 0
    assert len(model.requests) == 1


async def test_an_edit_of_what_is_being_answered_changes_nothing_but_is_told_once() -> None:
    model = Model([whole("Hello, you there.")], pace=10.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(asked := message("Delete them."))
        await anyio.sleep(1)
        for number in (2, 3):
            await rooms.receive(edited(asked, "List them.", number=number))
        await anyio.sleep(300)
        assert rooms.chat.texts() == [TOO_LATE, "Hello, you there."]
        await rooms.receive(edited(asked, "List some.", number=4))
        await anyio.sleep(300)
        assert rooms.chat.texts() == [TOO_LATE, "Hello, you there."]
    assert len(model.requests) == 1


# What was said before.


def said(*texts: str, user: str = "U2") -> list[Said]:
    return [Said(message_id=f"said {at}", user=user, text=text, ours=False) for at, text in enumerate(texts)]


async def asked_in_a_thread(chat: Chat, *, seconds: float = 60) -> str:
    """What the model is told where somebody speaks to it in a thread."""
    model = Model([whole("Hello.")])
    asked = replace(message("And you?", address=THREAD), first=False)
    async with house(model, chat, inbox=[asked]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(seconds)
    (request,) = model.requests
    return request.messages[-1].text


async def test_what_was_said_in_a_thread_goes_with_the_question() -> None:
    chat = Chat(latency=0.0, said=said("I am for it.", "Me too.\n\nReally."))
    told = await asked_in_a_thread(chat)
    assert told.splitlines()[1:] == ["> <U2> I am for it.", "> <U2> Me too.", "> ", "> Really.", "", "<U1> And you?"]
    (look,) = [call.operation for call in chat.calls if isinstance(call.operation, ReadThread)]
    assert look == ReadThread(address=THREAD, before="message 1", limit=2 * context.MESSAGES)


async def test_only_the_newest_messages_go_with_it() -> None:
    told = await asked_in_a_thread(Chat(latency=0.0, said=said(*(f"No {number}." for number in range(40)))))
    assert [line for line in told.splitlines() if line.startswith(">")] == [
        f"> <U2> No {number}." for number in range(40 - context.MESSAGES, 40)
    ]


async def test_only_so_many_characters_go_with_it() -> None:
    half = "x" * (context.CHARACTERS // 2)
    told = await asked_in_a_thread(Chat(latency=0.0, said=said("Short.", half, half)))
    assert "Short." not in told
    assert told.count("x") == context.CHARACTERS


async def test_blank_messages_do_not_go_with_it() -> None:
    assert await asked_in_a_thread(Chat(latency=0.0, said=said("", " \n"))) == "<U1> And you?"


@pytest.mark.parametrize("outcome", [Forbidden(reason="missing_scope"), Unknown(reason="no answer")])
async def test_a_thread_that_cannot_be_read_holds_up_no_answer(
    outcome: Outcome, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Chat(latency=0.0, said=said("I am for it."))
    chat.fates.extend([outcome] * (1 if isinstance(outcome, Forbidden) else 9))
    assert await asked_in_a_thread(chat) == "<U1> And you?"
    assert "asked without what was said there before" in caplog.text


async def test_a_thread_that_is_read_slowly_holds_up_no_answer() -> None:
    model, chat = Model([whole("Hello.")]), Slow(latency=0.0, said=said("I am for it."))
    asked = replace(message("And you?", address=THREAD), first=False)
    async with house(model, chat, inbox=[asked]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(CONTEXT_PATIENCE + 1)
        assert chat.texts() == ["Hello."]
    assert model.requests[0].messages[-1].text == "<U1> And you?"


@pytest.mark.parametrize("direct", [True, False], ids=["in private", "in a channel"])
async def test_an_answer_of_the_bots_that_a_thread_is_about_goes_with_its_first_question(direct: bool) -> None:
    root = Said(message_id="T1", user="BOT", text="Yes, three.", ours=True)
    model, chat = Model([whole("Because.")]), Chat(latency=0.0, said=[root])
    async with house(model, chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for number in (1, 2):
            await rooms.receive(replace(message("Why?", number=number, address=THREAD), first=False, direct=direct))
            await anyio.sleep(60)
    first, second = (request.messages[-1].text for request in model.requests)
    assert first.splitlines()[1:] == ["> <BOT> Yes, three.", "", "<U1> Why?"]
    assert second == "<U1> Why?"
    assert sum(isinstance(call.operation, ReadThread) for call in chat.calls) == (1 if direct else 2)


@dataclass
class Slow(Chat):
    """A chat that takes a minute to say what was said."""

    async def perform(self, operation: Operation) -> Outcome:
        if isinstance(operation, ReadThread):
            await anyio.sleep(60)
        return await super().perform(operation)


async def test_only_what_was_said_since_the_bots_last_word_goes_with_the_next_question() -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0, said=said("I am for it."))
    first, second = (
        replace(message("And you?", number=number, address=THREAD), first=False, message_id=f"m:{number}")
        for number in (1, 2)
    )
    async with house(model, chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(first)
        await anyio.sleep(60)
        await rooms.receive(second)
        await anyio.sleep(60)
    assert "I am for it." in model.requests[0].messages[-1].text
    assert model.requests[1].messages[-1].text == "<U1> And you?"


@dataclass
class Earlier(Chat):
    """A chat where all that the bot says stands behind the question."""

    async def perform(self, operation: Operation) -> Outcome:
        outcome = await super().perform(operation)
        return ThreadRead(messages=tuple(self.said)) if isinstance(operation, ReadThread) else outcome


async def test_a_question_that_was_answered_is_not_quoted_again() -> None:
    """It stood in front of the bot's last word when it was asked, and behind it on the screen."""
    model, chat = Model([whole("Hello.")], pace=1.0), Earlier(latency=0.0)
    first, second = (
        replace(
            message(f"No {number}?", number=number, address=THREAD), first=False, message_id=f"slack:T1:C1:{number}"
        )
        for number in (1, 2)
    )
    chat.said = [Said(message_id="1", user="U1", text="No 1?", ours=False), *said("Hm.")]
    async with house(model, chat, inbox=[replace(first, first=True), second]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(60)
    assert "> <U2> Hm." in model.requests[1].messages[-1].text
    assert "No 1?" not in model.requests[1].messages[-1].text


@pytest.mark.parametrize(
    "asked",
    [
        message("Hi!", address=THREAD),
        replace(message("Hi!"), first=False),
        replace(message("Hi!", address=place("D1")), first=False, direct=True),
    ],
    ids=["it began its thread", "no thread", "in private"],
)
async def test_where_nothing_was_said_before_nothing_is_read(asked: MessageReceived) -> None:
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0, said=said("I am for it."))
    async with house(model, chat, inbox=[asked]) as (rooms, _):
        await finish(rooms)
    assert [call for call in chat.calls if isinstance(call.operation, ReadThread)] == []
    assert model.requests[0].messages == (UserMessage(text="<U1> Hi!"),)


async def test_a_stop_waits_for_no_thread_to_be_read() -> None:
    chat = Chat(latency=100.0, capabilities=READS)
    began = anyio.current_time()
    asked = replace(message("Well?", address=place(thread="t")), first=False)
    async with house(Model([whole("Hello.")]), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(asked)
        await anyio.sleep(0.5)
        await rooms.receive(command("stop", number=2, address=place(thread="t")))
        await anyio.sleep(0.2)
        (closing,) = [call for call in chat.calls if call.text]
        assert closing.text == ENDINGS["stopped"]
        assert closing.began - began <= 0.7
        await anyio.sleep(300)


async def test_a_mark_is_taken_away_though_the_gateway_ends_while_it_waits_for_its_turn() -> None:
    slow = Budget(name="mark", scope="account", rate=1 / 3, burst=1)
    chat = Chat(latency=0.0, capabilities=replace(MARKS, mark=(slow,)))
    async with house(Model([whole("Hello.")], pace=1.0), chat) as (rooms, _):
        async with anyio.create_task_group() as run:
            run.start_soon(rooms.conversations.run)
            await rooms.receive(message("One?"))
            await anyio.sleep(0.5)
            await rooms.receive(message("Two?", number=2))
            await anyio.sleep(6)
            assert len(rooms.ended) == 1
            rooms.conversations.stop()
        assert len(rooms.ended) == 2
        assert chat.marked == set()


async def test_a_mark_goes_before_live_text() -> None:
    one = Budget(name="all", scope="account", rate=1.0, burst=1)
    chat = Chat(latency=0.0, capabilities=replace(MARKS, mark=(one,), edit=(one,), post=(one,)))
    async with house(Model([whole("Hello, you there. " * 5)], pace=0.1), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("One?"))
        await anyio.sleep(3)
        before = len(chat.calls)
        await rooms.receive(message("Two?", number=2))
        await anyio.sleep(1)
        assert isinstance(chat.calls[before].operation, MarkWaiting)
        await anyio.sleep(300)
