import anyio

from adapters.loopback.feed import Feed


def test_every_observer_sees_every_change_in_order_until_it_leaves() -> None:
    feed, first, second = Feed[int](), list[int](), list[int]()
    leave = feed.subscribe(first.append)
    feed.subscribe(second.append)
    feed.publish(1)
    leave()
    feed.publish(2)
    assert (first, second) == ([1], [1, 2])


async def test_a_condition_is_asked_at_once_and_after_every_change() -> None:
    feed, seen = Feed[int](), list[int]()
    feed.subscribe(seen.append)

    async def publish() -> None:
        for change in (1, 2, 3):
            feed.publish(change)
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(5):
        assert await feed.until(lambda: "at once") == "at once"
        async with anyio.create_task_group() as group:
            group.start_soon(publish)
            assert await feed.until(lambda: seen[1:2]) == [2]
