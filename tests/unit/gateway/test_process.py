"""Programs that are run for a tool, for real: what they say, and that nothing of them is left."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from gateway import process

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 2:
    subprocess.Popen([sys.executable, "-c", open(sys.argv[1] + "/program.py").read(), sys.argv[1]])
    sys.argv[2] == "leave" and sys.exit(time.sleep(0.5))
else:
    import os
    open(sys.argv[1] + "/new", "w").write(str(os.getpid()))
    os.rename(sys.argv[1] + "/new", sys.argv[1] + "/grandchild")
time.sleep(600)
"""
"""Starts one like itself, which writes down who it is; neither hears TERM."""


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def lives(pid: int) -> bool:
    """Whether it still does something: one that is dead and not buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def grandchild(folder: Path) -> int:
    place = folder / "grandchild"
    while not place.exists():  # noqa: ASYNC110 - another process makes it
        await anyio.sleep(0.01)
    return int(place.read_text())


async def gone(pid: int) -> None:
    while lives(pid):  # noqa: ASYNC110 - it is no child of ours
        await anyio.sleep(0.01)


async def test_what_a_program_reads_writes_and_ends_with_is_known(tmp_path: Path) -> None:
    code = "import sys, os; print(os.getcwd()); print(sys.stdin.read().upper()); print('bad', file=sys.stderr); exit(3)"
    with anyio.fail_after(20):
        done = await process.run(python(code), folder=tmp_path, given=b"hello")
    assert done.output.decode().splitlines() == [str(tmp_path), "HELLO"]
    assert done.errors == b"bad\n"
    assert (done.code, done.omitted) == (3, 0)


async def test_errors_may_go_where_the_output_goes(tmp_path: Path) -> None:
    code = "import sys; print('one', flush=True); print('two', file=sys.stderr)"
    with anyio.fail_after(20):
        done = await process.run(python(code), folder=tmp_path, together=True)
    assert (done.output, done.errors) == (b"one\ntwo\n", b"")


async def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        done = await process.run(python("import sys; print(sys.argv[1])", "$(id); `id` > x"), folder=tmp_path)
    assert done.output == b"$(id); `id` > x\n"
    assert not list(tmp_path.iterdir())  # noqa: ASYNC240 - nobody else waits


async def test_our_secrets_are_not_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb")
    with anyio.fail_after(20):
        code = "import os; print(os.environ.get('SLACK_BOT_TOKEN'), os.environ['MINE'], 'PATH' in os.environ)"
        done = await process.run(python(code), folder=tmp_path, environment={"MINE": "1"})
    assert done.output == b"None 1 True\n"


async def test_one_that_writes_without_end_is_not_held_up_and_what_is_not_kept_is_counted(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        done = await process.run(python("print('x' * 3_000_000, end='')"), folder=tmp_path, limit=1_000)
    assert done.output == b"x" * 1_000
    assert done.omitted == 2_999_000


async def test_one_that_does_not_read_what_it_is_given_ends_all_the_same(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        done = await process.run(python("pass"), folder=tmp_path, given=b"x" * 3_000_000)
    assert done.code == 0


async def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await process.run(["no-such-program"], folder=tmp_path)


async def test_one_that_kills_itself_has_the_signal_for_a_code(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        done = await process.run(python("import os; os.kill(os.getpid(), 9)"), folder=tmp_path)
    assert done.code == -signal.SIGKILL


async def test_a_stop_ends_the_whole_group_also_who_does_not_hear_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STUBBORN)
    seen: list[int] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: process.run(python(STUBBORN, str(tmp_path), "stay"), folder=tmp_path))
            seen.append(await grandchild(tmp_path))
            assert lives(*seen)
            assert os.getpgid(*seen) != os.getpgid(0)
            tasks.cancel_scope.cancel()
        await gone(*seen)
    assert seen


async def test_a_time_limit_ends_it_too(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        with anyio.move_on_after(0.5) as clock:
            await process.run(python("import time; time.sleep(600)"), folder=tmp_path)
        assert clock.cancelled_caught


async def test_what_a_program_leaves_running_ends_with_it_and_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STUBBORN)
    seen: list[int] = []
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: process.run(python(STUBBORN, str(tmp_path), "leave"), folder=tmp_path))
            seen.append(await grandchild(tmp_path))
        await gone(*seen)
    assert seen
