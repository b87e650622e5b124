"""Delivery on virtual time, onto a platform that enforces its rates."""

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import anyio
import pytest
from anyio.abc import TaskGroup

from gateway.adapter import Budget
from gateway.address import Address
from gateway.delivery import BACK_OFF, CLOSING, Delivery
from gateway.event import AgentEnd, TextDelta, TurnStart, Usage
from gateway.notice import MAY_BE_A_REPEAT, NO_ANSWER
from gateway.operation import (
    EditMessage,
    Forbidden,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    Unknown,
    Unreachable,
)
from gateway.place import Place
from gateway.reply import DOUBTS, LATE, Reply
from tests.unit.gateway.chat import ACCOUNT, CAPABILITIES, EDITS, MESSAGE, Chat, place, with_surface_post
from tests.unit.gateway.model import Bug

pytestmark = pytest.mark.virtual_time

END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())
HOUR = 3600.0


def reply_at(address: Address, chat: Chat) -> Reply:
    return Reply(place=Place(address=address, capabilities=chat.capabilities), run_id="r1")


def answered(text: str, address: Address, chat: Chat) -> Reply:
    """A reply whose run is over already."""
    reply = reply_at(address, chat)
    reply.feed(TextDelta(block_id="b0", text=text))
    reply.feed(END)
    return reply


@asynccontextmanager
async def delivering(time_scale: float = 1.0) -> AsyncGenerator[tuple[Delivery, TaskGroup]]:
    """A delivery at work; what is started beside it must end before it does."""
    delivery = Delivery(time_scale=time_scale)
    async with anyio.create_task_group() as around:
        around.start_soon(delivery.run)
        async with anyio.create_task_group() as tasks:
            yield delivery, tasks
        around.cancel_scope.cancel()


async def write(reply: Reply, delivery: Delivery, text: str, pace: float) -> None:
    """A model that writes four characters at a time, and then ends."""
    for at in range(0, len(text), 4):
        delivery.feed(reply, TextDelta(block_id="b0", text=text[at : at + 4]))
        await anyio.sleep(pace)
    delivery.feed(reply, END)


async def test_a_long_answer_is_shown_whole_and_never_refused() -> None:
    chat, text = Chat(), " ".join(f"word{number}" for number in range(4000))
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            tasks.start_soon(write, reply, delivery, text, 0.01)
    assert " ".join(chat.texts()).split() == text.split()
    assert chat.refusals == 0
    assert max(map(len, chat.texts())) <= 800
    assert reply.done


async def test_twenty_conversations_at_once_never_meet_a_rate_limit() -> None:
    chat, text = Chat(), " ".join(f"word{number}" for number in range(500))
    places = [place(f"C{number % 7}", thread=str(number)) for number in range(20)]
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for address in places:
                reply = reply_at(address, chat)
                tasks.start_soon(delivery.show, reply, chat)
                tasks.start_soon(write, reply, delivery, text, 0.02)
    assert chat.refusals == 0
    for address in places:
        assert " ".join(chat.texts(address)).split() == text.split()


async def test_text_that_comes_while_an_operation_is_in_flight_goes_together_in_the_next() -> None:
    chat = Chat(latency=10.0)
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            tasks.start_soon(write, reply, delivery, "one two three four five six.", 0.5)
    assert [call.text for call in chat.calls][-1] == "one two three four five six."
    assert len(chat.calls) == 2


async def test_one_operation_of_a_reply_is_in_flight_at_a_time_and_several_replies_go_beside_each_other() -> None:
    chat = Chat(latency=5.0)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for number in range(3):
                text = "word " * 500
                tasks.start_soon(delivery.show, answered(text, place(f"C{number}"), chat), chat)
    for number in range(3):
        mine = [call for call in chat.calls if call.operation.address.channel == f"C{number}"]
        assert len(mine) > 2
        assert all(one.ended is not None and one.ended <= other.began for one, other in pairwise(mine))
    assert len({call.began for call in chat.calls[:3]}) == 1


@pytest.mark.parametrize("time_scale", [1.0, 20.0])
async def test_a_refusal_is_waited_out_however_long(time_scale: float) -> None:
    chat = Chat(latency=0.0, fates=deque([RateLimited(retry_after=HOUR)]), time_scale=time_scale)
    began = anyio.current_time()
    with anyio.fail_after(2 * HOUR):
        async with delivering(time_scale) as (delivery, _):
            await delivery.show(answered("Hello.", place(), chat), chat)
    assert chat.texts() == ["Hello."]
    assert anyio.current_time() - began == pytest.approx(HOUR / time_scale)


async def test_a_channel_that_refuses_holds_up_no_other() -> None:
    chat = Chat(latency=0.0, fates=deque([RateLimited(retry_after=HOUR)]))
    began = anyio.current_time()
    ended: dict[str, float] = {}

    async def show(delivery: Delivery, channel: str) -> None:
        await delivery.show(answered("Hello.", place(channel), chat), chat)
        ended[channel] = anyio.current_time() - began

    with anyio.fail_after(2 * HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(show, delivery, "C1")
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(show, delivery, "C2")
    assert ended["C1"] == pytest.approx(HOUR)
    assert ended["C2"] < 1


async def test_a_platform_that_cannot_be_reached_is_tried_ever_more_slowly() -> None:
    tries = len(BACK_OFF) + 3
    chat = Chat(latency=0.0, fates=deque([Unreachable(reason="no connection")] * tries))
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(answered("Hello.", place(), chat), chat)
    waits = [later.began - earlier.began for earlier, later in pairwise(chat.calls)]
    assert waits == pytest.approx([*BACK_OFF, *[BACK_OFF[-1]] * 3])
    assert chat.texts() == ["Hello."]


async def test_a_post_in_doubt_is_repeated_ever_more_slowly_and_then_given_up() -> None:
    chat = Chat(latency=0.0, fates=deque([Unknown(reason="no answer")] * DOUBTS))
    reply = answered("Hello.", place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(reply, chat)
    waits = [later.began - earlier.began for earlier, later in pairwise(chat.calls)]
    assert waits == pytest.approx([*BACK_OFF, *[BACK_OFF[-1]] * (DOUBTS - 1 - len(BACK_OFF))])
    assert [call.text for call in chat.calls] == ["Hello.", *[MAY_BE_A_REPEAT] * (DOUBTS - 1)]
    assert reply.failure is not None


@pytest.mark.parametrize("outcome", [Unreachable(reason="the token is bad"), Unknown(reason="the token is bad")])
async def test_what_did_not_go_is_logged_each_time_with_its_reason(
    outcome: Outcome, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Chat(latency=0.0, fates=deque([outcome] * 3))
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(answered("Hello.", place(), chat), chat)
    assert caplog.messages == [f"{place().key}: tried again soon: the token is bad"] * 3


async def test_an_edit_in_doubt_is_repeated_ever_more_slowly_and_never_given_up() -> None:
    chat = Chat(latency=0.0, capabilities=replace(CAPABILITIES, edit=()))
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            delivery.feed(reply, TextDelta(block_id="b0", text="Hel"))
            tasks.start_soon(delivery.show, reply, chat)
            await anyio.wait_all_tasks_blocked()
            chat.fates.extend([Unknown(reason="no answer")] * (len(BACK_OFF) + 3))
            delivery.feed(reply, TextDelta(block_id="b0", text="lo."))
            delivery.feed(reply, END)
    waits = [later.began - earlier.began for earlier, later in pairwise(chat.calls[1:])]
    assert waits == pytest.approx([*BACK_OFF, *[BACK_OFF[-1]] * 3, LATE])
    assert chat.texts() == ["Hello."]


async def test_the_waiting_begins_anew_after_a_success() -> None:
    down = Unreachable(reason="no connection")
    done = Performed(message_id="0")
    chat = Chat(latency=0.0, fates=deque[Outcome]([down, down, done, down]), capabilities=with_surface_post())
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(answered("one " * 300, place(), chat), chat)
    waits = [later.began - earlier.began for earlier, later in pairwise(chat.calls)]
    assert waits == pytest.approx([BACK_OFF[0], BACK_OFF[1], 1.0, BACK_OFF[0]])


async def test_a_conversation_that_cannot_be_reached_holds_up_no_other() -> None:
    chat = Chat(latency=0.0, fates=deque([Unreachable(reason="no connection")] * 6))
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, answered("one", place("C1"), chat), chat)
            await anyio.sleep(40)
            with anyio.fail_after(1):
                chat.fates, fates = deque(), chat.fates
                await delivery.show(answered("two", place("C2"), chat), chat)
                chat.fates = fates
            assert chat.texts() == ["two"]


async def test_a_reply_that_may_not_speak_ends_and_the_next_goes() -> None:
    chat = Chat(latency=0.0, fates=deque([Forbidden(reason="channel_not_found")]))
    forbidden = answered("one", place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(forbidden, chat)
            await delivery.show(answered("two", place(), chat), chat)
    assert forbidden.failure == "channel_not_found"
    assert chat.texts() == ["two"]


async def test_final_text_goes_before_live_updates_of_others() -> None:
    chat = Chat(latency=0.0)
    final = reply_at(place("final"), chat)
    ended: list[float] = []

    async def show(delivery: Delivery) -> None:
        await delivery.show(final, chat)
        ended.append(anyio.current_time())

    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for number in range(8):
                live = reply_at(place(f"C{number}"), chat)
                tasks.start_soon(delivery.show, live, chat)
                tasks.start_soon(write, live, delivery, "word " * 200, 0.1)
            tasks.start_soon(show, delivery)
            await write(final, delivery, "word " * 40, 0.1)
            began = anyio.current_time()
    assert ended[0] - began <= 1 / EDITS.rate + 0.01
    assert chat.refusals == 0


async def test_an_operation_in_flight_ends_though_delivery_is_cancelled() -> None:
    chat = Chat(latency=5.0)
    reply = answered("Hello.", place(), chat)
    delivery = Delivery()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(delivery.run)
            tasks.start_soon(delivery.show, reply, chat)
            await anyio.sleep(1)
            tasks.cancel_scope.cancel()
    assert chat.texts() == ["Hello."]
    assert reply.done
    assert [bubble.text for bubble in reply.bubbles] == ["Hello."]


async def test_whoever_gives_up_a_reply_waits_for_its_operation_in_flight_but_for_nothing_more() -> None:
    chat = Chat(latency=5.0, capabilities=replace(CAPABILITIES, post=()))
    replies = [answered("word " * 500, place(f"C{number}"), chat) for number in range(3)]
    began = anyio.current_time()
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            async with anyio.create_task_group() as given_up:
                for reply in replies:
                    given_up.start_soon(delivery.show, reply, chat)
                await anyio.sleep(1)
                given_up.cancel_scope.cancel()
            assert anyio.current_time() - began == pytest.approx(5.0)
            await anyio.sleep(100)
    assert [len(reply.bubbles) for reply in replies] == [1, 1, 1]
    assert len(chat.calls) == 3


async def test_whoever_gives_up_a_reply_without_an_operation_in_flight_waits_for_nothing() -> None:
    chat = Chat()
    began = anyio.current_time()
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            with anyio.move_on_after(1):
                await delivery.show(reply_at(place(), chat), chat)
    assert anyio.current_time() - began == pytest.approx(1.0)


async def test_a_reply_that_was_given_up_is_followed_by_the_next_as_usual() -> None:
    chat = Chat(latency=5.0, fates=deque([Unreachable(reason="no connection")]))
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            with anyio.move_on_after(1):
                await delivery.show(answered("one", place(), chat), chat)
            began = anyio.current_time()
            await delivery.show(answered("two", place(), chat), chat)
            assert anyio.current_time() - began == pytest.approx(5.0)
    assert chat.texts() == ["two"]


async def test_on_a_surface_without_edits_only_whole_chunks_are_posted() -> None:
    chat = Chat(capabilities=with_surface_post())
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            tasks.start_soon(write, reply, delivery, "word " * 400, 0.1)
    assert all(isinstance(call.operation, PostMessage) for call in chat.calls)
    assert len(chat.texts()) == 3


async def test_a_live_message_is_edited_no_faster_than_its_budget() -> None:
    chat = Chat(latency=0.0)
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            tasks.start_soon(write, reply, delivery, "word " * 100, 0.1)
    edits = [call.began for call in chat.calls if isinstance(call.operation, EditMessage)]
    assert len(edits) > 5
    assert all(later - earlier >= 1.2 - 1e-6 for earlier, later in pairwise(edits))


class Faulty(Reply):
    """A reply that fails when it is asked for an operation, or told what came of one: what nobody thought of."""

    fails_at = "next_operation"

    def next_operation(self) -> Operation | None:
        if self.fails_at == "next_operation":
            raise Bug(self.fails_at)
        return super().next_operation()

    def settle(self, outcome: Outcome) -> None:
        if self.fails_at == "settle":
            raise Bug(self.fails_at)
        super().settle(outcome)


def faulty(fails_at: str, address: Address, chat: Chat) -> Reply:
    reply = Faulty(place=Place(address=address, capabilities=chat.capabilities), run_id="r1")
    reply.fails_at = fails_at
    reply.feed(TextDelta(block_id="b0", text="one " * 500))
    return reply


@pytest.mark.parametrize(("fails_at", "shown"), [("next_operation", 0), ("settle", 1)])
async def test_a_reply_that_fails_ends_only_where_it_is_shown(fails_at: str, shown: int) -> None:
    chat = Chat(latency=5.0)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, answered("two " * 500, place("C2"), chat), chat)
            began = anyio.current_time()
            with pytest.raises(Bug, match=fails_at):
                await delivery.show(faulty(fails_at, place("C1"), chat), chat)
            assert anyio.current_time() - began == pytest.approx(5.0 * shown)
            await anyio.sleep(100)
            assert len(chat.texts(place("C1"))) == shown
            await delivery.show(answered("three", place("C1"), chat), chat)
    assert chat.texts(place("C1"))[shown:] == ["three"]
    assert " ".join(chat.texts(place("C2"))).split() == ["two"] * 500


@dataclass
class Crashing(Chat):
    """An adapter that does what it is asked, and then fails."""

    crashes: int = 1

    async def perform(self, operation: Operation) -> Outcome:
        outcome = await super().perform(operation)
        if self.crashes:
            self.crashes -= 1
            msg = "oops"
            raise Bug(msg)
        return outcome


async def test_what_an_adapter_did_that_failed_is_in_doubt() -> None:
    chat = Crashing(latency=0.0)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            await delivery.show(answered("Hello.", place(), chat), chat)
    assert chat.texts() == ["Hello.", MAY_BE_A_REPEAT, "Hello."]


async def test_a_reply_may_be_fed_before_it_is_shown() -> None:
    chat = Chat()
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            delivery.feed(reply, TextDelta(block_id="b0", text="Hello."))
            delivery.feed(reply, END)
            await delivery.show(reply, chat)
    assert chat.texts() == ["Hello."]


async def test_a_reply_whose_end_changes_nothing_on_the_screen_is_done_with_it() -> None:
    chat = Chat()
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            delivery.feed(reply, TextDelta(block_id="b0", text="Hello."))
            await anyio.sleep(10)
            assert chat.texts() == ["Hello."]
            delivery.feed(reply, END)
    assert len(chat.calls) == 1


async def test_an_event_that_shows_nothing_asks_nobody() -> None:
    chat = Chat()
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            delivery.feed(reply, TurnStart(turn_number=1))
            await anyio.sleep(10)
            assert chat.calls == []
            delivery.feed(reply, END)
    assert chat.texts() == [NO_ANSWER]


async def test_no_more_bubbles_are_begun_early_than_edits_can_close() -> None:
    """Each of the many writes slowly, so that no bubble is whole before the end: what is posted is begun early."""
    chat = Chat(capabilities=replace(CAPABILITIES, post=()))
    text, seconds = "word " * 100, 20.0
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for number in range(40):
                reply = reply_at(place(f"C{number}"), chat)
                tasks.start_soon(delivery.show, reply, chat)
                tasks.start_soon(write, reply, delivery, text, 0.5)
            await anyio.sleep(seconds)
            begun = len(chat.messages)
    assert EDITS.burst < begun <= EDITS.burst + CLOSING * EDITS.rate * seconds
    assert chat.refusals == 0
    assert all(shown.split() == text.split() for shown in chat.texts())


async def test_a_bubble_that_is_whole_waits_for_no_edit() -> None:
    chat = Chat(capabilities=replace(CAPABILITIES, post=()))
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for number in range(40):
                tasks.start_soon(delivery.show, answered("Hello.", place(f"C{number}"), chat), chat)
            await anyio.sleep(1)
            assert chat.texts() == ["Hello."] * 40


async def test_who_has_nothing_on_the_screen_begins_before_who_goes_on() -> None:
    chat = Chat(capabilities=replace(CAPABILITIES, post=()))
    asked: dict[str, float] = {}

    def start(tasks: TaskGroup, delivery: Delivery, channel: str, text: str, pace: float) -> None:
        reply, asked[channel] = reply_at(place(channel), chat), anyio.current_time()
        tasks.start_soon(delivery.show, reply, chat)
        tasks.start_soon(write, reply, delivery, text, pace)

    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            for number in range(10):  # each fills a bubble in eight seconds: together more than edits can close
                start(tasks, delivery, f"old {number}", "word " * 2000, 0.04)
            await anyio.sleep(30)
            for number in range(10):
                start(tasks, delivery, f"new {number}", "Hello, here I am.", 2.0)
                await anyio.sleep(4)
    first = {call.operation.address.channel: call.began for call in reversed(chat.calls)}
    assert all(first[f"new {number}"] - asked[f"new {number}"] < 0.5 for number in range(10))


BOTH = Budget(name="write", scope="channel", rate=1.0, burst=2)


@pytest.mark.parametrize(
    ("post", "edit"),
    [
        pytest.param(CAPABILITIES.post, (replace(BOTH, name="edit"), MESSAGE), id="edits of the channel's own"),
        pytest.param((BOTH,), (BOTH, MESSAGE), id="one budget of the channel's for all it does"),
        pytest.param((ACCOUNT,), (ACCOUNT, MESSAGE), id="one budget of the account's for all it does"),
        pytest.param((ACCOUNT,), (replace(EDITS, burst=1), MESSAGE), id="edits that are counted one by one"),
    ],
)
async def test_where_edits_suffice_each_bubble_is_begun_before_it_is_whole(
    post: tuple[Budget, ...], edit: tuple[Budget, ...]
) -> None:
    chat, text = Chat(capabilities=replace(CAPABILITIES, post=post, edit=edit)), "word " * 600
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            tasks.start_soon(write, reply, delivery, text, 0.04)
    posts = [call.text for call in chat.calls if isinstance(call.operation, PostMessage)]
    assert len(posts) == len(chat.texts()) >= 4
    assert all(len(begun) < 400 for begun in posts[:-1])
    assert chat.refusals == 0


@pytest.mark.parametrize("fails", ["need", "next_operation", "settle", "lines"])
async def test_whatever_of_a_reply_fails_harms_no_other(monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    chat = Chat(latency=0.0)
    bad, good = answered("Bad.", place("C1"), chat), answered("Good. " * 200, place("C2"), chat)
    whole: Callable[..., object] = getattr(Reply, fails)

    def stumble(self: Reply, *given: object) -> object:
        if self is bad:
            raise Bug(fails)
        return whole(self, *given)

    monkeypatch.setattr(Reply, fails, stumble)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, good, chat)
            with pytest.raises(Bug):
                await delivery.show(bad, chat)
    assert good.done
    assert good.failure is None


async def test_a_reply_that_needs_a_slot_and_has_no_use_for_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Chat(latency=0.0)

    def nothing(self: Reply) -> None:
        """Nothing, though it needs a slot."""

    monkeypatch.setattr(Reply, "next_operation", nothing)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, _):
            with pytest.raises(RuntimeError, match="nothing to do with it"):
                await delivery.show(answered("Hello.", place(), chat), chat)


async def test_what_is_sent_again_behind_an_edit_that_nobody_heard_of_rests_first_whenever_the_end_comes() -> None:
    chat = Chat(latency=0.0)
    reply = reply_at(place(), chat)
    with anyio.fail_after(HOUR):
        async with delivering() as (delivery, tasks):
            tasks.start_soon(delivery.show, reply, chat)
            delivery.feed(reply, TextDelta(block_id="b0", text="one two "))
            await anyio.sleep(5)
            chat.fates.append(Unknown(reason="no answer"))
            delivery.feed(reply, TextDelta(block_id="b0", text="three."))
            await anyio.sleep(4)
            delivery.feed(reply, END)
    last, again = chat.calls[-2:]
    assert (again.text, last.text) == ("one two three.", "one two three.")
    assert last.ended is not None
    assert again.began - last.ended >= LATE


async def test_where_edits_are_parked_bubbles_are_posted_when_they_are_whole() -> None:
    chat = Chat(latency=0.0)
    parked, other = reply_at(place("C1"), chat), reply_at(place("C2"), chat)
    began = anyio.current_time()
    async with delivering() as (delivery, tasks):
        tasks.start_soon(delivery.show, parked, chat)
        delivery.feed(parked, TextDelta(block_id="b0", text="first words "))
        await anyio.sleep(3)
        chat.fates.append(RateLimited(retry_after=600))
        delivery.feed(parked, TextDelta(block_id="b0", text="more."))
        await anyio.sleep(3)
        delivery.feed(other, TextDelta(block_id="b0", text="I begin, "))
        tasks.start_soon(delivery.show, other, chat)
        await anyio.sleep(2)
        delivery.feed(other, TextDelta(block_id="b0", text="and am whole."))
        for reply in (other, parked):
            delivery.feed(reply, END)
        await anyio.sleep(10)
        assert other.done
        assert anyio.current_time() - began < 30
        assert chat.texts(place("C2")) == ["I begin, and am whole."]
        await anyio.sleep(700)
    assert parked.done


async def _times(chat: Chat, *addresses: Address) -> list[float]:
    """When an answer was shown at each address, all having been there at once."""
    async with delivering() as (delivery, tasks):
        began = anyio.current_time()
        for address in addresses:
            tasks.start_soon(delivery.show, answered("Hello.", address, chat), chat)
    return sorted(round(call.began - began, 1) for call in chat.calls)


async def test_threads_share_the_budget_of_their_channel_or_have_their_own() -> None:
    threads = [place("C1", "t1"), place("C1", "t2"), place("C1")]
    slow = Budget(name="post", scope="channel", rate=0.1, burst=1)
    shared = Chat(capabilities=replace(CAPABILITIES, post=(slow,)), latency=0.0)
    assert await _times(shared, *threads) == [0.0, 10.0, 20.0]
    own = Chat(capabilities=replace(CAPABILITIES, post=(replace(slow, scope="thread"),)), latency=0.0)
    assert await _times(own, *threads) == [0.0, 0.0, 0.0]


async def test_a_budget_is_for_the_channels_that_its_pattern_names() -> None:
    groups = Budget(name="post", scope="account", rate=0.1, burst=1, channels="-.*")
    people = Budget(name="post", scope="account", rate=0.5, burst=1, channels="[0-9]+")
    chat = Chat(capabilities=replace(CAPABILITIES, post=(groups, people)), latency=0.0)
    assert await _times(chat, place("-1"), place("-2")) == [0.0, 10.0]
    chat = Chat(capabilities=chat.capabilities, latency=0.0)
    assert await _times(chat, place("1"), place("2")) == [0.0, 2.0]
