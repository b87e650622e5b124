"""The laws of the event stream, with a producer and a consumer of any pace."""

from collections.abc import Sequence
from itertools import groupby

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.event import (
    ContentBlockEnd,
    ContentBlockStart,
    Envelope,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    TurnEnd,
)
from gateway.stream import MERGED_CHARACTERS, ConsumerStalledError, EventStream

pytestmark = pytest.mark.virtual_time

blocks = st.sampled_from(["b0", "b1"])
texts = st.one_of(
    st.sampled_from(["", "a", "bc", "def"]), st.text(max_size=5), st.integers(1000, 5000).map(lambda size: "x" * size)
)
deltas: st.SearchStrategy[Event] = st.one_of(
    st.builds(TextDelta, block_id=blocks, text=texts), st.builds(ThinkingDelta, block_id=blocks, text=texts)
)
others: st.SearchStrategy[Event] = st.one_of(
    st.builds(ToolInputDelta, tool_use_id=blocks, json_delta=st.text(max_size=5)),
    st.builds(ContentBlockStart, block_id=blocks, block_type=st.just("text")),
    st.builds(ContentBlockEnd, block_id=blocks, block_type=st.just("text")),
)
events = st.one_of(deltas, others)
runs = st.one_of(  # a block that goes on and on, as models do, or anything
    st.lists(texts, min_size=2, max_size=5).map(lambda texts: [TextDelta(block_id="b0", text=text) for text in texts]),
    st.lists(events, max_size=5),
)
pauses = st.sampled_from([0.0, 0.0, 0.0, 0.1, 1.0, 7.0])
paced_events = st.lists(st.tuples(runs, pauses), max_size=8).map(
    lambda paced: [(event, pause) for run, pause in paced for event in run]
)
paces = st.lists(pauses, min_size=1, max_size=10)
capacities = st.sampled_from([1, 2, 5, 256])


async def transfer(stream: EventStream, given_in: Sequence[tuple[Event, float]], paces: Sequence[float]) -> list[Event]:
    """All that comes out, while one task puts in and another takes at its own pace."""
    taken: list[Event] = []

    async def consume() -> None:
        async for envelope in stream:
            taken.append(envelope.event)
            await anyio.sleep(paces[len(taken) % len(paces)])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consume)
        for event, pause in given_in:
            await stream.put(event)
            assert stream.statistics().waiting <= stream.statistics().capacity
            await anyio.sleep(pause)
        stream.close()
    return taken


def kind(event: Event) -> object:
    """What two deltas share that may be merged; every other event is one of its own."""
    return (type(event), event.block_id) if isinstance(event, TextDelta | ThinkingDelta) else id(event)


def merged(events: Sequence[Event]) -> list[object]:
    """The events with all that may be merged merged."""
    return [
        (key, "".join(event.text for event in group if isinstance(event, TextDelta | ThinkingDelta)))
        if isinstance(key, tuple)
        else next(group)
        for key, group in groupby(events, key=kind)
    ]


@given(given_in=paced_events, paces=paces, capacity=capacities)
async def test_nothing_is_lost_doubled_or_moved(
    given_in: list[tuple[Event, float]], paces: list[float], capacity: int
) -> None:
    stream = EventStream("r1", capacity=capacity, patience=1e6)
    taken = await transfer(stream, given_in, paces)
    assert merged(taken) == merged([event for event, _ in given_in])


@given(given_in=st.lists(st.tuples(events, st.booleans()), max_size=20))
async def test_what_comes_out_is_what_was_put_and_not_cancelled(given_in: list[tuple[Event, bool]]) -> None:
    stream = EventStream("r1")
    kept: list[Event] = []
    for event, cancelled in given_in:
        with anyio.CancelScope() as scope:
            if cancelled:
                scope.cancel()
            await stream.put(event)
            kept.append(event)
        assert cancelled or not scope.cancelled_caught
    stream.close()
    assert merged([envelope.event async for envelope in stream]) == merged(kept)


@given(given_in=paced_events, paces=paces, capacity=capacities)
async def test_only_deltas_are_merged_and_never_beyond_their_length(
    given_in: list[tuple[Event, float]], paces: list[float], capacity: int
) -> None:
    stream = EventStream("r1", capacity=capacity, patience=1e6)
    taken = await transfer(stream, given_in, paces)
    whole = [event for event, _ in given_in]
    for event in taken:
        assert event in whole or (isinstance(event, TextDelta | ThinkingDelta) and len(event.text) <= MERGED_CHARACTERS)


@given(given_in=paced_events)
async def test_a_consumer_that_keeps_up_sees_every_delta_as_it_was(given_in: list[tuple[Event, float]]) -> None:
    stream = EventStream("r1")
    taken = await transfer(stream, [(event, 1.0) for event, _ in given_in], [0.0])
    assert taken == [event for event, _ in given_in]


@given(given_in=paced_events, last=st.lists(events, max_size=3), capacity=capacities)
async def test_the_sequence_has_no_gap_and_the_last_events_find_their_place(
    given_in: list[tuple[Event, float]], last: list[Event], capacity: int
) -> None:
    stream = EventStream("r7", capacity=capacity, patience=1.0)
    try:
        for event, _ in given_in:
            await stream.put(event)
    except ConsumerStalledError:
        assert stream.statistics().waiting == capacity
    stream.close(*last)
    envelopes: list[Envelope] = [envelope async for envelope in stream]
    assert [(envelope.run_id, envelope.seq) for envelope in envelopes] == [("r7", at) for at in range(len(envelopes))]
    assert [envelope.event for envelope in envelopes][len(envelopes) - len(last) :] == last


@given(pause=st.floats(min_value=0.1, max_value=60), patience=st.floats(min_value=0.1, max_value=60))
async def test_the_producer_waits_for_room_as_long_as_its_patience_lasts(pause: float, patience: float) -> None:
    stream = EventStream("r1", capacity=1, patience=patience)
    await stream.put(TurnEnd(turn_number=1, has_tool_calls=False))
    began = anyio.current_time()

    async def consume() -> None:
        await anyio.sleep(pause)
        await anext(aiter(stream))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(consume)
        try:
            await stream.put(TurnEnd(turn_number=2, has_tool_calls=False))
        except ConsumerStalledError:
            assert pause >= patience * (1 - 1e-9)
            assert anyio.current_time() - began == pytest.approx(patience)
        else:
            assert pause <= patience * (1 + 1e-9)
            assert anyio.current_time() - began == pytest.approx(pause)
    assert stream.statistics().stalls == 1
