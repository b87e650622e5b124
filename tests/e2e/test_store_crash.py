"""The store under ``kill -9`` and full disks, in processes of its own. Run as a program, this file is such a process.

The process tells its parent what was acknowledged, a line each, after the store has returned. What the parent has read
must be there afterwards; what it has not read may be.
"""

import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Container, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import anyio
import pytest

from gateway.address import Address
from gateway.error import StoreError
from gateway.inbound import MessageReceived
from gateway.store import Store, Work
from gateway.stores.sqlite import Settings, create

ROOT = Path(__file__).parents[2]
KILLS = 10 * int(os.environ.get("DRAGOMAN_SOAK") or 1)
CONVERSATIONS = 5
AT_ONCE = 8


def message(number: int) -> MessageReceived:
    address = Address(platform="p", account="a", channel=str(number % CONVERSATIONS))
    return MessageReceived(
        event_id=f"e{number}", message_id=f"m{number}", address=address, user="u", text=str(number), direct=False
    )


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


async def deliver(store: Store, start: int) -> None:
    for number in range(start, sys.maxsize, AT_ONCE):
        await store.ingest(message(number))
        tell("stored", number)


async def answer(store: Store, work: Work, tell: Callable[..., None]) -> None:
    """Go on where the attempt before was cut short: the question is appended once."""
    if not work.said:
        await store.append(work, [f"{work.sequence} {work.message.text} question"])
    await store.record(work, {0: "posted"})
    await store.record(work, {1: "edited", 0: "settled"})
    tell("shown", work.message.text)
    await store.finish(work, [f"{work.sequence} answer"])


async def work(store: Store) -> None:
    while True:
        await store.wait_due()
        for conversation in await store.claim(2):
            work = await store.load(conversation)
            assert work is not None
            await answer(store, work, tell)
            tell("finished", work.message.text)


async def busy(path: str, start: str) -> None:
    """Store messages from ``start`` on, several at once, and finish them, until somebody kills us."""
    async with create(Settings(path=path)) as store, anyio.create_task_group() as group:
        for lane in range(AT_ONCE):
            group.start_soon(deliver, store, int(start) + lane)
        group.start_soon(work, store)


async def cramped(path: str) -> None:
    """Store messages on a disk that gets full, is emptied, and takes more."""
    async with create(Settings(path=path)) as store:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
        number = 0
        try:
            while True:
                await store.ingest(message(number))
                tell("stored", number)
                number += 1
        except StoreError as error:
            tell("refused", error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        await store.ingest(message(number))
        tell("stored", number)


async def opened(path: str) -> None:
    """Open the store, if we may."""
    try:
        async with create(Settings(path=path)):
            tell("opened")
    except StoreError as error:
        tell("refused", error)


@contextmanager
def process(*arguments: object) -> Generator[tuple[subprocess.Popen[str], IO[str]]]:
    command = [sys.executable, __file__, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        try:
            yield child, child.stdout
        finally:
            child.kill()


def acknowledged_until_killed(path: Path, start: int, lines: int) -> dict[str, set[int]]:
    """What a busy process has stored, shown and finished for certain, when it was killed after so many lines."""
    with process("busy", path, start) as (child, output):
        heard = [output.readline() for _ in range(lines)]
        child.send_signal(signal.SIGKILL)
        heard += output.readlines()
        assert child.wait(30) == -signal.SIGKILL
    told = [line.split() for line in heard if line.endswith("\n")]
    assert len(told) >= lines
    return {kind: {int(number) for word, number in told if word == kind} for kind in ("stored", "shown", "finished")}


async def drain(store: Store, shown: Container[int] = ()) -> set[int]:
    """Finish what is open, and say what that was. What was shown must be known to have been."""
    drained: list[int] = []
    while claimed := await store.claim(99):
        for conversation in claimed:
            work = await store.load(conversation)
            assert work is not None
            drained.append(int(work.message.text))
            if drained[-1] in shown:
                assert work.journal == ("settled", "edited")
                assert len(work.said) == 1
            await answer(store, work, lambda *_: None)
    assert len(drained) == len(set(drained))
    return set(drained)


async def histories(store: Store, number: int) -> list[tuple[int, int]]:
    """(sequence, message) of all histories, each conversation's in its order; pairs are proved whole."""
    found: list[tuple[int, int]] = []
    for conversation in range(CONVERSATIONS):
        probe = number - number % CONVERSATIONS + CONVERSATIONS + conversation
        assert await store.ingest(message(probe))
        (key,) = await store.claim(1)
        work = await store.load(key)
        assert work is not None
        entries = [entry.split() for entry in work.history]
        pairs = list(zip(entries[::2], entries[1::2], strict=True))
        assert all(answer == [question[0], "answer"] for question, answer in pairs)
        sequences = [int(question[0]) for question, _ in pairs]
        assert sequences == sorted(set(sequences))
        found += [(int(question[0]), int(question[1])) for question, _ in pairs]
    return found


@pytest.mark.parametrize("seed", [1])
async def test_what_was_acknowledged_survives_kills_at_any_moment_exactly_once(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    path = tmp_path / "store.db"
    stored: set[int] = set()
    shown: set[int] = set()
    finished: set[int] = set()
    for _ in range(KILLS):
        start = max(stored, default=-1) + 1
        told = acknowledged_until_killed(path, start, dice.randrange(1, 300))
        assert not finished & told["finished"]
        stored |= told["stored"]
        shown |= told["shown"]
        finished |= told["finished"]
    with anyio.fail_after(60):
        async with create(Settings(path=str(path))) as store:
            for number in stored:
                assert not await store.ingest(message(number))
            assert not await drain(store, shown) & finished
            kept = await histories(store, max(stored) + AT_ONCE * CONVERSATIONS)
    numbers = [number for _, number in kept]
    assert len(numbers) == len(set(numbers))
    assert stored <= set(numbers)
    # What nobody acknowledged is at most what was under way at the kills.
    assert len(numbers) - len(stored) <= KILLS * AT_ONCE


async def test_a_disk_that_was_full_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with process("cramped", path) as (child, output):
        *first, refused, last = output.readlines()
        assert child.wait(30) == 0
    assert refused.startswith(f"refused {path}: the disk")
    assert [*first, last] == [f"stored {number}\n" for number in range(len(first) + 1)]
    with anyio.fail_after(10):
        async with create(Settings(path=str(path))) as store:
            assert await drain(store) == set(range(len(first) + 1))


async def test_a_second_process_is_refused_and_told_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with create(Settings(path=str(path))):
        with process("opened", path) as (child, output):
            (line,) = output.readlines()
            assert child.wait(30) == 0
    assert line.startswith(f"refused {path} is in use by process {os.getpid()}")
    assert f"{path}.lock" in line
    with process("opened", path) as (_, output):
        assert output.readlines() == ["opened\n"]


PROGRAMS: dict[str, Callable[..., Awaitable[None]]] = {"busy": busy, "cramped": cramped, "opened": opened}

if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    anyio.run(lambda: PROGRAMS[name](*rest))
