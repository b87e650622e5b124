"""Runs that ask before they act, on virtual time: from the model's call over people's decisions to what came of it."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import approval
from gateway.app import decide
from gateway.approval import NOT_YOURS
from gateway.clerk import Clerk
from gateway.delivery import Delivery
from gateway.inbound import CommandReceived, PressReceived
from gateway.operation import Expired, Forbidden, PostMessage, TellPrivately
from gateway.provider import UserMessage
from gateway.store import Approval
from gateway.stores.sqlite import MemoryDatabase
from gateway.terms import Terms
from tests.unit.gateway.chat import CAPABILITIES, PRIVATE, Chat, command, message, place
from tests.unit.gateway.house import House, house, kill
from tests.unit.gateway.model import Fake, Model, called, whole

pytestmark = pytest.mark.virtual_time

BUTTONS = replace(CAPABILITIES, buttons=True, private=(PRIVATE,), whispers=True)


def writer() -> tuple[Model, Fake]:
    """A model that reads, writes, and is done; and the tool that asks."""
    model = Model([called(("u1", "write", {"to": "the pier"}), text="I write."), whole("It is written.")])
    return model, Fake("write", safe=False, approval=True)


def chat() -> Chat:
    return Chat(capabilities=BUTTONS, latency=0.0)


async def waiting(rooms: House, channel: str = "C1") -> Approval:
    """The approval on which a conversation waits, once it does."""
    while True:
        found = await rooms.store.approvals.open(place(channel).key)
        if found and not await rooms.owned(place(channel)):
            return found[0]
        await anyio.sleep(0.1)


async def press(rooms: House, what: str, user: str = "U1", number: int = 100, channel: str = "C1") -> None:
    """Let somebody press a button, as an adapter tells it."""
    pressed = PressReceived(
        event_id=f"event {number}",
        press=f"press {number}",
        message_id="m",
        address=place(channel),
        user=user,
        data=what,
        direct=False,
    )
    await decide(pressed, Clerk(rooms.store.approvals, rooms.approver), rooms.store, rooms.conversations)


async def typed(rooms: House, word: CommandReceived) -> None:
    """Let somebody give a command, as an adapter tells it."""
    await decide(word, Clerk(rooms.store.approvals, rooms.approver), rooms.store, rooms.conversations)


async def rest(rooms: House) -> None:
    """Run until nothing is open any more."""
    while await rooms.store.open_messages():  # noqa: ASYNC110 - the clock is virtual, and the store tells nobody
        await anyio.sleep(1)


def buttons(rooms: House) -> Sequence[str]:
    """The buttons that are on the screen, by their data."""
    return [button.data for posted in rooms.chat.messages if not posted.deleted for button in posted.buttons]


def private(rooms: House) -> list[tuple[str, str]]:
    """What people were told alone."""
    return [
        (call.operation.user, call.operation.text)
        for call in rooms.chat.calls
        if isinstance(call.operation, TellPrivately)
    ]


async def test_a_call_that_asks_runs_when_the_asker_allows_it_and_the_answer_goes_on_below() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        assert write.runs == []
        assert buttons(rooms) == [f"approve:{asked.id}", f"always:{asked.id}", f"deny:{asked.id}"]
        await press(rooms, f"approve:{asked.id}")
        await rest(rooms)
        assert len(write.runs) == 1
        assert buttons(rooms) == []
        first, question, *_, last = rooms.chat.texts()
        assert (first, last) == ("I write.", "It is written.")
        assert "the pier" in question
        assert [ended.reason for ended in rooms.ended] == ["complete"]
        assert private(rooms) == [("U1", "")]


async def test_a06_a_second_press_and_a_press_that_is_delivered_again_do_nothing() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        for number in (100, 101, 100, 102):
            await press(rooms, f"approve:{asked.id}", number=number)
        await rest(rooms)
        assert len(write.runs) == 1
        assert len(model.requests) == 2


async def test_a_stranger_is_refused_alone_and_nothing_runs() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        await press(rooms, f"approve:{asked.id}", user="U2")
        await press(rooms, f"deny:{asked.id}", user="U2", number=101)
        await anyio.sleep(10)
        assert write.runs == []
        assert private(rooms) == [("U2", NOT_YOURS), ("U2", NOT_YOURS)]
        assert (await waiting(rooms)).state == "open"


async def test_an_approver_of_the_configuration_may_decide_for_others() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        rooms.approvers.add("U2")
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        await press(rooms, f"approve:{asked.id}", user="U2")
        await rest(rooms)
        assert len(write.runs) == 1


async def test_a_denied_call_does_not_run_and_the_model_is_told() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        await press(rooms, f"deny:{asked.id}")
        await rest(rooms)
        assert write.runs == []
        heard = model.requests[1].messages[-1]
        assert isinstance(heard, UserMessage)
        assert [(each.is_error, "denied" in each.content.lower()) for each in heard.results] == [(True, True)]


@pytest.mark.parametrize("argument", ["", "{id}", "{id} always"])
async def test_a02_a_typed_approval_passes_the_queue_within_a_second(argument: str) -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        began = anyio.current_time()
        await typed(rooms, replace(command("approve", number=5), argument=argument.format(id=asked.id)))
        while not write.runs:  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)
        assert anyio.current_time() - began < 1
        await rest(rooms)


async def test_a03_other_words_are_no_consent_and_are_answered_behind_the_decision() -> None:
    model, write = writer()
    model.answers = [*model.answers, whole("The north gate.")]
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        for number, text in ((5, "wait, which gate is that?"), (6, "yes")):
            said = message(text, number=number)
            stored = await rooms.store.ingest(said)
            assert stored is not None
            rooms.conversations.take(said, stored)
        await anyio.sleep(60)
        assert write.runs == []
        told = [text for text in rooms.chat.texts() if f"approve {asked.id}" in text]
        assert len(told) == 2  # the question itself, and once to who wrote meanwhile
        await press(rooms, f"deny:{asked.id}")
        await rest(rooms)
        assert len(model.requests) == 4


async def test_a04_a_button_decides_its_own_approval_and_no_other() -> None:
    model = Model([called(("u1", "write", {"to": "one"})), called(("u1", "write", {"to": "two"})), whole("Done.")])
    write = Fake("write", safe=False, approval=True)
    inbox = [message("Go!"), message("Go!", number=2, address=place("C2"))]
    async with house(model, chat(), inbox=inbox, tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        first, second = await waiting(rooms), await waiting(rooms, "C2")
        await press(rooms, f"approve:{second.id}", channel="C1")
        await press(rooms, f"approve:{'a' * 7}2", number=101)
        await anyio.sleep(10)
        assert write.runs == []
        await press(rooms, f"approve:{second.id}", channel="C2", number=102)
        while not write.runs:  # noqa: ASYNC110 - as above
            await anyio.sleep(0.1)
        await anyio.sleep(10)
        assert len(write.runs) == 1
        assert (await waiting(rooms)).id == first.id


async def test_a05_a_press_behind_the_time_out_runs_nothing_and_the_message_says_expired() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write], terms=Terms(patience=300)) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        await rooms.query("update gw_approval set expires = expires - 310")
        await rooms.store.approvals.expire()
        await press(rooms, f"approve:{asked.id}")
        await rest(rooms)
        assert write.runs == []
        assert buttons(rooms) == []
        assert any("expired" in text.lower() for text in rooms.chat.texts())


async def test_a12_while_an_approval_is_open_nothing_is_typed_and_other_chats_go_on() -> None:
    model, write = writer()
    model.answers = [model.answers[0], whole("Hello.")]
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await waiting(rooms)
        calls = len(rooms.chat.calls)
        await anyio.sleep(1800)
        assert len(rooms.chat.calls) == calls
        await rooms.store.ingest(message("Hi!", number=2, address=place("C2")))
        while "Hello." not in rooms.chat.texts(place("C2")):  # noqa: ASYNC110 - as above
            await anyio.sleep(1)
        status = command("status", number=3)
        stored = await rooms.store.ingest(status)
        assert stored is not None
        rooms.conversations.take(status, stored)
        await anyio.sleep(5)
        assert any("approv" in text for text in rooms.chat.texts()[-1:])


@pytest.mark.parametrize("word", ["stop", "new"])
async def test_a_stop_ends_a_run_that_waits_and_withdraws_what_it_asked(word: str) -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        stop = command("stop" if word == "stop" else "new", number=5)
        stored = await rooms.store.ingest(stop)
        assert stored is not None
        rooms.conversations.take(stop, stored)
        await rest(rooms)
        await press(rooms, f"approve:{asked.id}")
        await anyio.sleep(10)
        assert write.runs == []
        assert buttons(rooms) == []
        assert [ended.reason for ended in rooms.ended] == ["stopped"]


async def test_what_is_allowed_for_good_is_not_asked_again_until_it_is_revoked() -> None:
    model = Model([called(("u1", "write", {})), whole("Done."), called(("u2", "write", {})), whole("Again.")])
    write = Fake("write", safe=False, approval=True)
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        await press(rooms, f"always:{asked.id}")
        await rest(rooms)
        await rooms.store.ingest(message("Go!", number=2))
        await rest(rooms)
        assert len(write.runs) == 2
        assert await rooms.store.approvals.revoke(place().key, "write")
        await rooms.store.ingest(message("Go!", number=3))
        model.answers = [*model.answers, called(("u3", "write", {})), whole("No.")]
        assert (await waiting(rooms)).tool_use_id == "u3"


async def test_a10_an_approval_waits_over_a_kill_and_the_run_goes_on_once() -> None:
    model, write = writer()
    with MemoryDatabase() as database:
        screen = chat()
        async with house(model, screen, database=database, inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            asked = await waiting(rooms)
            await kill(rooms, tasks)
        async with house(model, screen, database=database, tools=[write]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(5)
            assert write.runs == []
            await press(rooms, f"approve:{asked.id}")
            await rest(rooms)
    assert len(write.runs) == 1
    assert len(model.requests) == 2
    assert [text for text in screen.texts() if text in ("I write.", "It is written.")] == ["I write.", "It is written."]
    posts = [call.text for call in screen.calls if isinstance(call.operation, PostMessage)]
    assert len(posts) == len(set(posts))


@pytest.mark.parametrize("moment", [0.05 * step for step in range(1, 40)])
async def test_wherever_a_run_with_tools_is_killed_nothing_runs_twice_and_the_answer_is_whole(moment: float) -> None:
    model = Model(
        [called(("u1", "look", {}), ("u2", "write", {}), text="Let me look."), whole("All is well.")], pace=0.05
    )
    look, write = Fake("look", seconds=0.3, result="A cat."), Fake("write", seconds=0.3, safe=False)
    screen = Chat(capabilities=BUTTONS, latency=0.03)
    with MemoryDatabase() as database:
        async with house(model, screen, database=database, inbox=[message("Go!")], tools=[look, write]) as (
            rooms,
            tasks,
        ):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(moment)
            await kill(rooms, tasks)
        begun = len(write.runs)
        async with house(model, screen, database=database, tools=[look, write], delivery=Delivery()) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await rest(rooms)
            assert [ended.reason for ended in rooms.ended] == ["complete"]
    assert len(write.runs) <= max(1, begun + 1)
    texts = [text for text in screen.texts() if not text.startswith("_")]
    assert texts[-1] == "All is well."


async def test_s11_approvals_and_words_of_two_conversations_stay_in_their_own() -> None:
    model = Model([called(("u1", "write", {}), text="One."), called(("u1", "write", {}), text="Two."), whole("End.")])
    write = Fake("write", safe=False, approval=True)
    inbox = [message("Go!"), message("Go!", number=2, address=place("C2"))]
    async with house(model, chat(), inbox=inbox, tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        first, second = await waiting(rooms), await waiting(rooms, "C2")
        assert first.id != second.id
        for channel, mine, others in (("C1", first, second), ("C2", second, first)):
            shown = " ".join(rooms.chat.texts(place(channel)))
            assert mine.id in shown
            assert others.id not in shown
        await press(rooms, f"approve:{first.id}")
        await press(rooms, f"deny:{second.id}", number=101, channel="C2")
        await rest(rooms)
        assert len(write.runs) == 1


@given(seed=st.text(), call=st.text(), may_stand=st.booleans())
@settings(deadline=None)
def test_a08_the_data_of_a_button_is_short_whatever_the_ids_are(seed: str, call: str, *, may_stand: bool) -> None:
    for button in approval.buttons(approval.identifier(seed, call), may_stand=may_stand):
        assert button.data.isascii()
        assert len(button.data) <= 64


async def test_a08_where_nobody_can_be_asked_nothing_runs_and_the_run_ends() -> None:
    model, write = writer()
    screen = chat()
    screen.fates.extend([Forbidden(reason="archived")] * 3)
    async with house(model, screen, inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rest(rooms)
        assert write.runs == []
        assert [ended.failure for ended in rooms.ended] == ["archived"]
        assert await rooms.store.approvals.open(place().key) == []


async def test_a11_a_press_that_cannot_be_answered_counts_all_the_same() -> None:
    model, write = writer()
    async with house(model, chat(), inbox=[message("Go!")], tools=[write]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        asked = await waiting(rooms)
        rooms.chat.fates.append(Expired())  # query is too old
        await press(rooms, f"approve:{asked.id}")
        await rest(rooms)
        assert len(write.runs) == 1
        assert buttons(rooms) == []
