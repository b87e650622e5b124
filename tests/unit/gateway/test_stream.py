"""The event stream, one behaviour at a time; its laws are in tests/properties."""

from datetime import timedelta

import anyio
import pytest

from gateway.event import ContentBlockEnd, TextDelta, ThinkingDelta, TurnEnd, TurnStart
from gateway.stream import MERGED_CHARACTERS, ConsumerStalledError, EventStream

pytestmark = pytest.mark.virtual_time


def text(words: str, block: str = "b0") -> TextDelta:
    return TextDelta(block_id=block, text=words)


async def rest_of(stream: EventStream) -> list[object]:
    with anyio.fail_after(5):
        return [envelope.event async for envelope in stream]


async def test_deltas_of_one_block_merge_while_they_wait() -> None:
    stream = EventStream("r1")
    for event in (text("Hel"), text("lo"), text("!", "b1"), ThinkingDelta(block_id="b1", text="hm"), text("?", "b1")):
        await stream.put(event)
    stream.close()
    assert await rest_of(stream) == [
        text("Hello"),
        text("!", "b1"),
        ThinkingDelta(block_id="b1", text="hm"),
        text("?", "b1"),
    ]


async def test_no_delta_grows_beyond_its_length_by_merging() -> None:
    stream = EventStream("r1")
    await stream.put(text("x" * MERGED_CHARACTERS))
    await stream.put(text("y"))
    stream.close()
    assert await rest_of(stream) == [text("x" * MERGED_CHARACTERS), text("y")]


async def test_deltas_that_merge_need_no_room() -> None:
    stream = EventStream("r1", capacity=1, patience=5)
    with anyio.fail_after(1):
        for _ in range(100):
            await stream.put(text("more "))
    assert stream.statistics().waiting == 1
    assert stream.statistics().stalls == 0


async def test_deltas_that_merge_are_felt_in_the_end_when_nobody_reads() -> None:
    stream = EventStream("r1", capacity=2, patience=5)
    for _ in range(2):
        await stream.put(text("x" * MERGED_CHARACTERS))
    with pytest.raises(ConsumerStalledError, match="r1 stood still for 5 s"):
        await stream.put(text("x" * MERGED_CHARACTERS))
    assert stream.statistics().stalls == 1


async def test_an_envelope_tells_the_run_the_place_and_a_time_in_utc() -> None:
    stream = EventStream("r1")
    stream.close(TurnStart(turn_number=1), TurnEnd(turn_number=1, has_tool_calls=False))
    with anyio.fail_after(5):
        envelopes = [envelope async for envelope in stream]
    assert [(envelope.run_id, envelope.seq) for envelope in envelopes] == [("r1", 0), ("r1", 1)]
    assert all(envelope.timestamp.utcoffset() == timedelta(0) for envelope in envelopes)


async def test_a_consumer_that_waits_is_woken_by_an_event() -> None:
    stream = EventStream("r1")
    async with anyio.create_task_group() as tasks:
        taken: list[object] = []

        async def consume() -> None:
            taken.append((await anext(aiter(stream))).event)

        tasks.start_soon(consume)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            await stream.put(text("Hello"))
            await anyio.wait_all_tasks_blocked()
        assert taken == [text("Hello")]


async def test_a_consumer_that_waits_is_woken_by_the_end() -> None:
    stream = EventStream("r1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rest_of, stream)
            await anyio.wait_all_tasks_blocked()
            stream.close()


async def test_a_producer_that_waits_goes_on_when_there_is_room() -> None:
    stream = EventStream("r1", capacity=1, patience=1e6)
    end = ContentBlockEnd(block_id="b0", block_type="text")
    await stream.put(text("Hello"))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.put, end)
            await anyio.wait_all_tasks_blocked()
            assert (await anext(aiter(stream))).event == text("Hello")
        assert (await anext(aiter(stream))).event == end


async def test_a_closed_stream_refuses_what_nobody_would_take() -> None:
    stream = EventStream("r1")
    await stream.put(text("Hello"))
    stream.close()
    with pytest.raises(anyio.ClosedResourceError):
        await stream.put(text(" and more"))
    assert await rest_of(stream) == [text("Hello")]


async def test_reading_can_be_left_and_taken_up_again() -> None:
    stream = EventStream("r1")
    stream.close(text("one"), TurnStart(turn_number=1))
    async for envelope in stream:
        assert envelope.event == text("one")
        break
    assert await rest_of(stream) == [TurnStart(turn_number=1)]


async def test_a_stalled_producer_has_lost_nothing_but_its_last_event() -> None:
    stream = EventStream("r1", capacity=1, patience=30)
    await stream.put(TurnStart(turn_number=1))
    with pytest.raises(ConsumerStalledError):
        await stream.put(TurnStart(turn_number=2))
    stream.close(TurnEnd(turn_number=1, has_tool_calls=False))
    assert await rest_of(stream) == [TurnStart(turn_number=1), TurnEnd(turn_number=1, has_tool_calls=False)]


async def test_an_event_whose_put_was_cancelled_is_not_in_the_stream() -> None:
    stream = EventStream("r1")
    await stream.put(TurnStart(turn_number=1))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await stream.put(text("Hello"))
    assert scope.cancelled_caught
    stream.close()
    assert await rest_of(stream) == [TurnStart(turn_number=1)]


async def test_an_event_that_was_cancelled_while_it_waited_for_room_is_not_in_the_stream() -> None:
    stream = EventStream("r1", capacity=1)
    await stream.put(TurnStart(turn_number=1))
    with anyio.move_on_after(5) as scope:
        await stream.put(text("Hello"))
    assert scope.cancelled_caught
    stream.close()
    assert await rest_of(stream) == [TurnStart(turn_number=1)]
