"""What goes with an answer beside its words: typing, what the question quotes, the message that waits for them."""

from collections import deque
from dataclasses import replace

import anyio
import pytest

from gateway.adapter import Budget
from gateway.command import HELP, NEW
from gateway.inbound import Command, Quotation, Ticket
from gateway.notice import ENDINGS, LEFT_OUT
from gateway.operation import EditMessage, PostMessage, RateLimited, ReadThread, ShowTyping
from gateway.provider import UserMessage
from tests.unit.gateway.chat import CAPABILITIES, MARK, Chat, Posted, command, message, place
from tests.unit.gateway.house import finish, house
from tests.unit.gateway.model import Model, whole

pytestmark = pytest.mark.virtual_time

TYPES = replace(
    CAPABILITIES,
    typing_every=4.5,
    typing=(Budget(name="typing", scope="channel", rate=1.0, burst=1),),
    mark=(MARK,),
)


def typed(chat: Chat) -> list[float]:
    """When typing was shown, in seconds since the first time."""
    times = [call.began for call in chat.calls if isinstance(call.operation, ShowTyping)]
    return [round(time - times[0], 1) for time in times]


async def test_typing_is_shown_until_the_first_words_are_there() -> None:
    chat = Chat(capabilities=TYPES, latency=0.0)
    async with house(Model([whole("Hi.")], pace=10.0), chat, inbox=[message("?")]) as (rooms, _):
        await finish(rooms)
    assert typed(chat) == [0.0, 4.5, 9.0, 13.5, 18.0]  # the words are the model's second item
    assert isinstance(chat.calls[len(typed(chat))].operation, PostMessage)


async def test_typing_ends_some_time_whatever_the_model_does() -> None:
    chat = Chat(capabilities=TYPES, latency=0.0)
    async with house(Model([whole("Hi.")], pace=10_000.0), chat, inbox=[message("?")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(5_000)
        assert len(typed(chat)) == 30
        tasks.cancel_scope.cancel()


async def test_typing_that_the_platform_refuses_holds_up_no_answer() -> None:
    chat = Chat(capabilities=TYPES, latency=0.0, fates=deque([RateLimited(retry_after=3_600)]))
    async with house(Model([whole("Hi.")], pace=10.0), chat, inbox=[message("?")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(60)
        assert chat.texts() == ["Hi."]
        assert await rooms.store.waiting(place().key) == 0
        assert typed(chat) == [0.0]
        tasks.cancel_scope.cancel()


async def test_where_a_platform_knows_no_typing_none_is_shown() -> None:
    chat = Chat(latency=0.0)
    async with house(Model([whole("Hi.")], pace=10.0), chat, inbox=[message("?")]) as (rooms, _):
        await finish(rooms)
    assert not [call for call in chat.calls if isinstance(call.operation, ShowTyping)]


async def test_what_a_question_quotes_goes_with_it_and_nothing_is_read() -> None:
    asked = replace(message("Is that so?", address=place(thread="t")), quotation=Quotation(user="U2", text="It rains."))
    model, chat = Model([whole("Yes.")]), Chat(latency=0.0)
    async with house(model, chat, inbox=[asked]) as (rooms, _):
        await finish(rooms)
    (request,) = model.requests[0].messages
    assert isinstance(request, UserMessage)
    assert "> <U2> It rains." in request.text
    assert request.text.endswith("<U1> Is that so?")
    assert not [call for call in chat.calls if isinstance(call.operation, ReadThread)]


async def test_where_a_platform_cannot_be_read_nobody_tries() -> None:
    chat = Chat(capabilities=replace(CAPABILITIES, read=()), latency=0.0)
    async with house(Model([whole("Yes.")]), chat, inbox=[message("?", address=place(thread="t"))]) as (rooms, _):
        await finish(rooms)
    assert not [call for call in chat.calls if isinstance(call.operation, ReadThread)]


async def test_the_first_message_shows_what_it_answers_where_others_talk_too() -> None:
    chat = Chat(latency=0.0)
    here = replace(message("?"), message_id="chat:A1:7")
    direct = replace(message("?", number=2, address=place("D1")), message_id="chat:A1:8", direct=True)
    async with house(Model([whole("word " * 300)]), chat, inbox=[here, direct]) as (rooms, _):
        await finish(rooms)
    posts = [call.operation for call in chat.calls if isinstance(call.operation, PostMessage)]
    shown = [(post.address.channel, post.answers) for post in posts]
    assert sorted(shown, key=lambda each: each[0]) == [("C1", "7"), ("C1", None), ("D1", None), ("D1", None)]


WAITING = Ticket(secret="s", lifetime=900.0, opening="0", guest=False)
GUEST = replace(WAITING, guest=True)


def opened() -> Chat:
    """A chat where the platform has put a message for us already, which is the first."""
    capabilities = replace(TYPES, guest=replace(TYPES, messages=6))
    chat = Chat(capabilities=capabilities, latency=0.0)
    chat.messages.append(Posted(place(), "", ""))
    return chat


async def test_an_answer_with_a_ticket_is_shown_in_the_message_that_waits_for_it_and_nobody_types() -> None:
    chat = opened()
    asked = replace(message("?"), ticket=WAITING)
    async with house(Model([whole("Hi.")], pace=10.0), chat, inbox=[asked]) as (rooms, _):
        await finish(rooms)
    assert chat.texts() == ["Hi."]
    assert all(isinstance(call.operation, EditMessage) for call in chat.calls)


@pytest.mark.parametrize(("word", "said"), [("status", "(I am not answering"), ("help", HELP), ("new", NEW)])
async def test_a_command_with_a_ticket_is_answered_in_the_message_that_waits(word: Command, said: str) -> None:
    chat = opened()
    asked = replace(command(word, number=1), ticket=WAITING)
    async with house(Model([whole("Hi.")]), chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(asked)
        await anyio.sleep(5)
        (text,) = chat.texts()
        assert text.startswith(said)
        tasks.cancel_scope.cancel()


async def test_a_stop_with_a_ticket_that_needs_no_answer_leaves_nothing_waiting() -> None:
    chat, model = opened(), Model([whole("Hi.")], pace=10.0)
    async with house(model, chat, inbox=[message("?")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(5)
        await rooms.receive(replace(command("stop", number=2), ticket=WAITING))
        await anyio.sleep(5)
        assert chat.texts() == [ENDINGS["stopped"]]
        tasks.cancel_scope.cancel()


async def test_a_guests_answer_is_closed_before_its_ticket_expires_and_kept_whole_in_the_history() -> None:
    chat, model = opened(), Model([whole("word " * 40)], pace=40.0)
    asked = replace(message("?"), ticket=GUEST)
    async with house(model, chat, inbox=[asked]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await anyio.sleep(899)
        assert chat.texts()[-1] == LEFT_OUT
        shown = "".join(chat.texts()[:-1])
        assert 0 < len(shown) < 200
        await anyio.sleep(3_000)
        assert chat.texts()[-1] == LEFT_OUT
        await rooms.receive(message("And?", number=2))
        await anyio.sleep(3_000)
        assert "word " * 40 in str(model.requests[1].messages)
        tasks.cancel_scope.cancel()
