"""``dragoman pair`` beside a gateway that runs, and a stranger in a Slack in this process."""

import re
import signal
import subprocess
from pathlib import Path

import anyio
import pytest

from adapters.loopback.slack import Channel, LoopbackSlack, Message, Workspace
from gateway.pairing import STRANGER
from tests.e2e.command import dragoman, running, write_configuration

BOB = Channel(id="D2", name="bob", type="im", user="U2")
WORKSPACE = Workspace(channels=(*Workspace().channels, BOB))
YES = '[[turn]]\ntext = "Yes."\n'


async def shown(slack: LoopbackSlack, channel: str, count: int) -> list[Message]:
    """The bot's messages in a channel, once there are so many."""
    with anyio.fail_after(20):
        await slack.until(lambda: len(slack.messages(channel, author="bot")) == count)
    return slack.messages(channel, author="bot")


async def acknowledged(slack: LoopbackSlack, count: int) -> None:
    """Wait until the gateway has that many events, and none is left over."""
    with anyio.fail_after(20):
        await slack.until(lambda: len(slack.acknowledgements) >= count and not slack.unacknowledged)


async def pair(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return await anyio.to_thread.run_sync(lambda: dragoman("pair", *arguments, cwd=folder))


def code_in(message: Message) -> str:
    found = re.search(r"[A-Z0-9]{4}-[A-Z0-9]{4}", message.text)
    assert found is not None
    assert message.text == STRANGER.format(found.group())
    return found.group()


async def test_a_stranger_who_is_paired_while_the_gateway_runs_is_answered_also_after_a_restart(tmp_path: Path) -> None:
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=20) as slack:
        write_configuration(tmp_path, slack, YES)
        async with running(tmp_path, slack):
            slack.say("U2", "D2", "the first message")
            (told,) = await shown(slack, "D2", 1)
            code = code_in(told)
            slack.say("U2", "D2", "once more")
            await acknowledged(slack, 2)
            assert f"slack U2 (T1): {code}, good for 59 minutes" in (await pair(tmp_path, "--list")).stdout
            paired = await pair(tmp_path, code.lower())
            assert (paired.returncode, paired.stderr) == (0, "")
            assert paired.stdout.startswith("slack U2 (T1) is paired")
            again = await pair(tmp_path, code)
            assert (again.returncode, again.stdout) == (1, "")
            assert f"dragoman: nobody has the code {code} (any more)" in again.stderr
            slack.say("U2", "D2", "and now?")
            *_, answer = await shown(slack, "D2", 2)
            assert answer.text == "Yes."
        async with running(tmp_path, slack):
            slack.say("U2", "D2", "still?")
            assert [message.text for message in await shown(slack, "D2", 3)][1:] == ["Yes.", "Yes."]
            assert "slack U2 (T1): paired for" in (await pair(tmp_path, "--list")).stdout
            assert (await pair(tmp_path, "--revoke", "Slack", "U2")).stdout == "slack U2 (T1) is paired no more\n"
            slack.say("U2", "D2", "no more?")
            code_in((await shown(slack, "D2", 4))[-1])


async def test_who_is_not_paired_is_not_revoked_and_an_unknown_platform_is_named_with_what_was_meant(
    tmp_path: Path,
) -> None:
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=20) as slack:
        write_configuration(tmp_path, slack, YES)
        async with running(tmp_path, slack):
            for platform, status, said in (
                ("discrod", 2, "'discrod' is no platform, did you mean 'discord'?"),
                ("irc", 2, "'irc' is no platform; known are slack, discord, telegram"),
                ("Slack", 1, "U2 is not paired on slack: --list shows who is"),
            ):
                done = await pair(tmp_path, "--revoke", platform, "U2")
                assert (done.returncode, done.stdout, done.stderr) == (status, "", f"dragoman: {said}\n")


async def test_a_kill_between_the_code_and_its_confirmation_changes_nothing(tmp_path: Path) -> None:
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=20) as slack:
        write_configuration(tmp_path, slack, YES)
        async with running(tmp_path, slack) as process:
            slack.say("U2", "D2", "the first message")
            (told,) = await shown(slack, "D2", 1)
            process.send_signal(signal.SIGKILL)
        assert (await pair(tmp_path, code_in(told))).returncode == 0  # while nothing runs
        async with running(tmp_path, slack) as process:
            await acknowledged(slack, 1)
            process.send_signal(signal.SIGKILL)
        async with running(tmp_path, slack):
            slack.say("U2", "D2", "and now?")
            assert [message.text for message in await shown(slack, "D2", 2)] == [told.text, "Yes."]


async def test_in_a_channel_nobody_is_paired_and_who_is_paired_is_not_answered_there(tmp_path: Path) -> None:
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=20) as slack:
        write_configuration(tmp_path, slack, YES)
        async with running(tmp_path, slack):
            slack.say("U2", "C1", "in the channel")
            slack.say("U1", "C1", "a friend")
            await shown(slack, "C1", 1)
            assert "no code is open" in (await pair(tmp_path, "--list")).stdout
            slack.say("U2", "D2", "in private")
            (told,) = await shown(slack, "D2", 1)
            await pair(tmp_path, code_in(told))
            slack.say("U2", "C1", "and now, in the channel?")
            slack.say("U2", "D2", "and now, in private?")
            await shown(slack, "D2", 2)
            assert len(slack.messages("C1", author="bot")) == 1


async def test_where_pairing_is_off_a_stranger_hears_nothing_and_the_operator_is_told(tmp_path: Path) -> None:
    async with LoopbackSlack(workspace=WORKSPACE, time_scale=20) as slack:
        write_configuration(tmp_path, slack, YES)
        with (tmp_path / "dragoman.toml").open("a", encoding="utf-8") as configuration:
            configuration.write("[agent]\npairing = false\n")
        async with running(tmp_path, slack):
            slack.say("U2", "D2", "in private")
            slack.say("U1", "D1", "a friend")
            await shown(slack, "D1", 1)
            listed = await pair(tmp_path, "--list")
        assert slack.messages("D2", author="bot") == []
        assert (listed.returncode, listed.stdout) == (0, "nobody is paired, and no code is open\n")
        assert "pairing is off" in listed.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "name a code, or --list, or --revoke PLATFORM USER"),
        (("CDFG-HJKM", "--list"), 2, "name a code, or --list"),
        (("ABCD",), 2, "'ABCD' is no pairing code: they are 8 of CDFG"),
        (("CDFG-HJKM",), 1, "dragoman.db: the store is not there: the gateway has to have run once; ask as"),
        (("--list", "--config", "absent.toml"), 2, "absent.toml: cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_mend(
    arguments: tuple[str, ...], status: int, said: str, tmp_path: Path
) -> None:
    done = dragoman("pair", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
