"""``kill -9`` and what Telegram hands out again: each update is answered once, and none is lost."""

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from adapters.loopback.telegram import LoopbackTelegram
from gateway.notice import MAY_BE_A_REPEAT
from tests.cases import case
from tests.e2e.command import configure, connected
from tests.e2e.ground import Ground, open_ground

TURNS = "".join(f"[[turn]]\ntext = 'Answer {number}.'\n" for number in range(1, 4))


@asynccontextmanager
async def telegram(folder: Path) -> AsyncGenerator[tuple[Ground, LoopbackTelegram]]:
    async with open_ground("telegram", 20) as ground:
        configure(folder, ground.venue, ground.scale, TURNS)
        assert isinstance(ground.server, LoopbackTelegram)
        yield ground, ground.server


def texts(server: LoopbackTelegram) -> list[str]:
    return [message.text for message in server.messages(author="bot")]


async def until(server: LoopbackTelegram, *expected: str) -> None:
    """Wait until just this stands there."""
    with anyio.move_on_after(20):
        await server.until(lambda: texts(server) == list(expected))
    assert texts(server) == list(expected)


async def confirmed(server: LoopbackTelegram) -> None:
    with anyio.fail_after(10):
        await server.until(lambda: not server.pending)


async def test_l29_what_is_handed_out_again_after_a_restart_is_not_answered_again(tmp_path: Path) -> None:
    assert case("L29")["input"]["steps"][1] == "restart"
    async with telegram(tmp_path) as (ground, server):
        async with connected(tmp_path, ground.venue):
            ground.ask("update 500", "said")
            await until(server, "Answer 1.")
            await confirmed(server)
        ground.ask("update 501", "said")
        for update in server.updates:
            server.redeliver(int(str(update["update_id"])))
        async with connected(tmp_path, ground.venue):
            await until(server, "Answer 1.", "Answer 2.")
            await confirmed(server)
            ground.ask("once more", "said")
            await until(server, "Answer 1.", "Answer 2.", "Answer 3.")


async def test_l30_a_kill_in_front_of_the_post_loses_no_answer_and_doubles_none(tmp_path: Path) -> None:
    assert "between model answer and sendMessage" in case("L30")["input"]["steps"][1]
    async with telegram(tmp_path) as (ground, server):
        server.fail_next("sendMessage", retry_after=600)
        async with connected(tmp_path, ground.venue):
            ground.ask("update 700", "said")
            await confirmed(server)
            with anyio.fail_after(10):
                await server.until(lambda: server.calls.of("sendMessage"))
                typed = len(server.actions)  # it goes on while the refusal is known, and the post waits
                await server.until(lambda: len(server.actions) > typed + 1)
        assert texts(server) == []
        server.behave()
        async with connected(tmp_path, ground.venue):
            await until(server, "Answer 1.")
            ground.ask("and then?", "said")
            await until(server, "Answer 1.", "Answer 2.")


async def test_l30_a_kill_while_the_post_is_unheard_shows_it_again_and_says_so(tmp_path: Path) -> None:
    async with telegram(tmp_path) as (ground, server):
        server.delay_next("sendMessage", math.inf, taken=True)
        async with connected(tmp_path, ground.venue):
            ground.ask("update 700", "said")
            with anyio.fail_after(10):
                await server.until(lambda: server.calls.of("sendMessage"))
            await confirmed(server)
        first = texts(server)
        assert len(first) == 1
        server.behave()
        async with connected(tmp_path, ground.venue):
            await until(server, *first, MAY_BE_A_REPEAT, "Answer 1.")


async def test_a_kill_while_an_album_is_held_back_loses_nothing_and_it_stays_one_message(tmp_path: Path) -> None:
    async with telegram(tmp_path) as (ground, server):
        ada = server.world.users[0].id
        async with connected(tmp_path, ground.venue):
            polls = len(server.polls)
            server.album(ada, ada, ["the first", "", "the third"])
            with anyio.fail_after(10):
                await server.until(lambda: len(server.polls) > polls)
            pending = len(server.pending)
        assert pending == 3
        assert texts(server) == []
        async with connected(tmp_path, ground.venue):
            await until(server, "Answer 1.")
            await confirmed(server)
            ground.ask("and then?", "said")
            await until(server, "Answer 1.", "Answer 2.")
