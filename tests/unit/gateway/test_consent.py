"""What somebody may try so that a tool runs which nobody allowed. On virtual time; each attempt runs nothing."""

import pytest

from gateway import grammar
from tests.unit.gateway.chat import message
from tests.unit.gateway.house import house
from tests.unit.gateway.model import Fake, Model, called, whole
from tests.unit.gateway.test_approvals import chat, press, rest, waiting

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize("between", [0, 1, 2], ids=["in the next turn", "a turn later", "two turns later"])
@pytest.mark.parametrize("tool", ["write", "erase"])
async def test_what_was_allowed_of_a_call_allows_no_other_that_the_model_gives_its_id(tool: str, between: int) -> None:
    looks = [called((f"look {number}", "look", {})) for number in range(between)]
    model = Model([called(("u1", "write", {"to": "the pier"})), *looks, called(("u1", tool, {})), whole("Done.")])
    write, erase = Fake("write", safe=False, approval=True), Fake("erase", safe=False, approval=True)
    async with house(model, chat(), inbox=[message("Go!")], tools=[write, erase, Fake("look")]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        approval = await waiting(rooms)
        await press(rooms, f"approve:{approval.id}")
        await rest(rooms)
        assert (len(write.runs), len(erase.runs)) == (1, 0)
        assert [ended.reason for ended in rooms.ended] == ["error"]
        for events in rooms.events.values():
            grammar.check_run(each.event for each in events)


async def test_of_two_calls_with_one_id_in_a_message_nothing_is_asked_and_nothing_runs() -> None:
    model = Model([called(("u1", "write", {"to": "the pier"}), ("u1", "erase", {})), whole("Done.")])
    write, erase = Fake("write", safe=False, approval=True), Fake("erase", safe=False)
    async with house(model, chat(), inbox=[message("Go!")], tools=[write, erase]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rest(rooms)
        assert (write.runs, erase.runs) == ([], [])
        assert await rooms.query("select id from gw_approval") == []
        for events in rooms.events.values():
            grammar.check_run(each.event for each in events)
