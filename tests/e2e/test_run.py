"""The gateway as a process of its own, talking to a Slack in this one: duplicates, restarts, signals, access."""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import anyio.abc
import pytest
from anyio.streams.text import TextReceiveStream

from adapters.loopback.slack import Channel, LoopbackSlack, Message, Workspace
from gateway.notice import MAY_BE_A_REPEAT
from tests.e2e.command import DRAGOMAN, environment, running, write_configuration

WORKSPACE = Workspace()


async def logged(process: anyio.abc.Process, words: str) -> None:
    """Wait until the gateway has logged these words."""
    assert process.stderr is not None
    said = ""
    try:
        with anyio.fail_after(20):
            async for text in TextReceiveStream(process.stderr):
                said += text
                if words in said:
                    return
    except TimeoutError:
        pass
    pytest.fail(f"not logged: {words!r}, but {said}")


def turn(text: str) -> str:
    return f'[[turn]]\ntext = "{text}"\n'


async def shown(slack: LoopbackSlack, *texts: str) -> list[Message]:
    """The bot's messages, once they are these."""

    def texts_now() -> list[str]:
        return [message.text for message in slack.messages(author="bot")]

    try:
        with anyio.fail_after(20):
            await slack.until(lambda: texts_now() == list(texts))
    except TimeoutError:
        pytest.fail(f"shown are {texts_now()}")
    return slack.messages(author="bot")


async def test_a_mention_is_answered_in_its_thread_and_a_direct_message_at_top_level(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        async with running(tmp_path, slack):
            asked = slack.say("U1", "C1", "in the channel")
            (first,) = await shown(slack, "Yes.")
            assert first.thread_ts == asked.ts
            slack.say("U1", "D1", "in private")
            _, second = await shown(slack, "Yes.", "Yes.")
            assert (second.channel, second.thread_ts) == ("D1", None)
            inside = slack.say("U1", "D1", "in a thread of it", thread=second.ts)
            *_, third = await shown(slack, "Yes.", "Yes.", "Yes.")
            assert third.thread_ts == inside.thread_ts == second.ts


async def test_a_conversation_remembers_and_others_do_not(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("First.") + turn("Second."))
        async with running(tmp_path, slack):
            asked = slack.say("U1", "C1", "one")
            await shown(slack, "First.")
            slack.say("U1", "C1", "two", thread=asked.ts)
            await shown(slack, "First.", "Second.")
            slack.say("U1", "C1", "another thread")
            await shown(slack, "First.", "Second.", "First.")


async def test_what_arrives_again_is_answered_once(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("First.") + turn("Second."))
        async with running(tmp_path, slack):
            asked = slack.say("U1", "C1", "a mention, which is also a message")
            await shown(slack, "First.")
            for event_id in slack.event_ids(asked.ts):
                slack.redeliver(event_id)
            slack.push({"type": "app_mention", "user": "U1", "text": "<@UBOT> again", "channel": "C1", "ts": asked.ts})
            slack.say("U1", "C1", "a second one", thread=asked.ts)
            await shown(slack, "First.", "Second.")
            with anyio.fail_after(5):
                await slack.until(lambda: slack.unacknowledged == 0)


async def test_every_event_is_acknowledged_within_a_second_also_those_that_start_nothing(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        async with running(tmp_path, slack):
            slack.push(
                {"type": "reaction_added", "user": "U1", "item": {"type": "message", "channel": "C1", "ts": "1.1"}}
            )
            slack.push({"type": "never_heard_of"})
            slack.say("U1", "C1", "not for the bot", mention=False)
            slack.say("U1", "C1", "for the bot")
            await shown(slack, "Yes.")
            with anyio.fail_after(5):
                await slack.until(lambda: slack.unacknowledged == 0)
        assert max(acknowledgement.latency for acknowledgement in slack.acknowledgements) < 1


async def test_nobody_else_is_answered(tmp_path: Path) -> None:
    channels = (*WORKSPACE.channels, Channel(id="C9", name="elsewhere"))
    async with LoopbackSlack(workspace=Workspace(channels=channels), time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        async with running(tmp_path, slack):
            slack.say("U2", "C1", "a stranger in an allowed channel")
            slack.say("U1", "C9", "a friend in another channel")
            slack.say("U1", "C1", "a friend in an allowed channel")
            await shown(slack, "Yes.")
        assert "U2 is not allowed" in (tmp_path / "log").read_text(encoding="utf-8")


async def test_what_was_stored_and_not_answered_is_answered_after_the_next_start(tmp_path: Path) -> None:
    """Killed while the first answer has not begun to show, with more messages behind it."""
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(
            tmp_path, slack, turn("First.") + turn("Second.") + turn("Third."), pace=0.001, surface="post"
        )
        async with running(tmp_path, slack) as process:
            asked = slack.say("U1", "C1", "one")
            slack.say("U1", "C1", "<@UBOT> two", thread=asked.ts)
            slack.say("U1", "C1", "<@UBOT> three", thread=asked.ts)
            with anyio.fail_after(10):
                await slack.until(lambda: len(slack.acknowledgements) >= 6)
            process.send_signal(signal.SIGKILL)
        assert slack.messages(author="bot") == []
        write_configuration(tmp_path, slack, turn("First.") + turn("Second.") + turn("Third."))
        async with running(tmp_path, slack):
            await shown(slack, "First.", "Second.", "Third.")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=str)
async def test_a_run_in_progress_ends_after_the_signal_and_the_process_with_status_0(
    number: signal.Signals, tmp_path: Path
) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("The whole of the answer."), pace=10)
        async with running(tmp_path, slack) as process:
            slack.say("U1", "C1", "begin")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.messages(author="bot"))
            process.send_signal(number)
            await shown(slack, "The whole of the answer.")
            with anyio.fail_after(10):
                assert await process.wait() == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
async def test_an_idle_gateway_ends_at_once(number: signal.Signals, status: int, tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        async with running(tmp_path, slack) as process:
            process.send_signal(number)
            with anyio.fail_after(10):
                assert await process.wait() == status
        assert "Traceback" not in (tmp_path / "log").read_text(encoding="utf-8")


async def test_a_second_gateway_on_the_same_store_is_refused(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        async with running(tmp_path, slack):
            second = await anyio.run_process([str(DRAGOMAN), "run"], cwd=tmp_path, env=environment(), check=False)
            assert second.returncode == 1
            assert b"dragoman.db" in second.stderr
            assert b"Traceback" not in second.stderr


@pytest.mark.parametrize(("name", "said"), [("bot", "bot token"), ("app", "app")])
async def test_a_wrong_token_is_named_with_where_to_get_one(name: str, said: str, tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        (tmp_path / name).write_text("xoxb-wrong" if name == "bot" else "xapp-wrong", encoding="utf-8")
        with anyio.fail_after(20):
            done = await anyio.run_process([str(DRAGOMAN), "run"], cwd=tmp_path, env=environment(), check=False)
        assert done.returncode == 1
        assert said in done.stderr.decode()
        assert b"-wrong" not in done.stderr
        assert b"Traceback" not in done.stderr


async def test_a_rate_limit_that_the_budgets_did_not_foresee_is_waited_out(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=60) as slack:
        write_configuration(tmp_path, slack, turn("Whole, in the end."), pace=20)
        slack.fail_next("chat.postMessage", retry_after=30)
        slack.fail_next("chat.update", retry_after=45, times=2)
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "go")
            await shown(slack, "Whole, in the end.")


async def test_the_answer_to_a_question_that_was_deleted_does_not_come_up_in_the_channel(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Nobody needs this any more."), pace=2)
        slack.fail_next("chat.postMessage", "ratelimited", status=429, retry_after=10)
        slack.fail_next("chat.delete", retry_after=1)
        async with running(tmp_path, slack):
            asked = slack.say("U1", "C1", "never mind")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.calls.of("chat.postMessage"))
            slack.delete("C1", asked.ts)
            with anyio.fail_after(10):
                await slack.until(lambda: len(slack.calls.of("chat.delete")) == 2)
            assert slack.messages("C1", author="bot") == []
            slack.say("U1", "C1", "another one")
            await shown(slack, "Nobody needs this any more.")


async def test_a_message_that_its_reader_deletes_while_it_grows_is_shown_anew(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Some words that take a while to say."), pace=10)
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "go")
            with anyio.fail_after(10):
                (first,) = await slack.until(lambda: slack.messages(author="bot"))
            slack.delete("C1", first.ts)
            (second,) = await shown(slack, "Some words that take a while to say.")
            assert second.ts != first.ts


async def test_a_channel_that_slack_parks_for_an_hour_keeps_no_direct_message_waiting(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        slack.fail_next("chat.postMessage", retry_after=3600)
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "the first of sixty")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.calls.of("chat.postMessage"))
            for number in range(59):
                slack.say("U1", "C1", f"another thread {number}")
            with anyio.fail_after(20):
                await slack.until(lambda: len(slack.acknowledgements) >= 60 and not slack.unacknowledged)
            slack.say("U1", "D1", "in private")
            with anyio.fail_after(20):
                (answer,) = await slack.until(lambda: slack.messages("D1", author="bot"))
            assert answer.text == "Yes."
            # One more may have been on its way when Slack refused the first.
            assert len(slack.messages("C1", author="bot")) <= 1


async def test_a_store_that_another_program_locks_while_an_answer_ends_doubles_nothing_and_ends_nothing(
    tmp_path: Path,
) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("The first answer.") + turn("The second."), pace=4)
        async with running(tmp_path, slack, listen=True) as process:
            asked = slack.say("U1", "C1", "one")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.messages(author="bot"))
            with closing(sqlite3.connect(tmp_path / "dragoman.db", isolation_level=None)) as intruder:
                intruder.execute("begin immediate")
                await shown(slack, "The first answer.")
                await logged(process, "the store refuses, tried again in 1 s")
                intruder.execute("rollback")
            slack.say("U1", "C1", "two", thread=asked.ts)
            await shown(slack, "The first answer.", "The second.")
            assert process.returncode is None


async def test_a_post_whose_answer_is_lost_is_found_in_the_thread_and_not_repeated(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."), surface="post")
        slack.lose_answer_next("chat.postMessage", status=0)
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "go")
            with anyio.fail_after(20):
                await slack.until(lambda: slack.calls.of("conversations.replies"))
            slack.say("U1", "C1", "once more")
            await shown(slack, "Yes.", "Yes.")


async def test_a_post_of_which_nobody_can_tell_whether_it_arrived_is_repeated_behind_a_notice(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."), surface="post")
        slack.lose_answer_next("chat.postMessage", status=0)
        slack.fail_next("conversations.replies", "missing_scope")
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "go")
            await shown(slack, "Yes.", MAY_BE_A_REPEAT, "Yes.")


async def test_a_message_waits_for_a_token_that_slack_does_not_take_at_the_moment(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."))
        slack.fail_next("chat.postMessage", "token_revoked", times=2)
        async with running(tmp_path, slack):
            slack.say("U1", "C1", "go")
            await shown(slack, "Yes.")
        assert "token_revoked: make or reinstall the app" in (tmp_path / "log").read_text(encoding="utf-8")


async def test_a_token_that_is_refused_at_a_reconnect_ends_the_gateway_behind_the_answer_in_progress(
    tmp_path: Path,
) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("The whole of the answer."), pace=4)
        async with running(tmp_path, slack) as process:
            slack.say("U1", "C1", "begin")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.messages(author="bot"))
            slack.fail_next("apps.connections.open", "token_revoked")
            slack.disconnect()
            await shown(slack, "The whole of the answer.")
            with anyio.fail_after(10):
                assert await process.wait() == 1
        log = (tmp_path / "log").read_text(encoding="utf-8")
        assert "ExceptionGroup" not in log
        last = log.splitlines()[-1]
        assert last.startswith("dragoman: Slack does not accept the Slack app-level token (xapp-...) in file:")


async def test_who_is_taken_off_the_list_while_the_gateway_is_down_gets_no_answer(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, turn("Yes."), pace=0.001, surface="post")
        async with running(tmp_path, slack) as process:
            slack.say("U1", "C1", "go")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.acknowledgements and not slack.unacknowledged)
            process.send_signal(signal.SIGKILL)
        write_configuration(tmp_path, slack, turn("Yes."))
        configuration = tmp_path / "dragoman.toml"
        text = configuration.read_text(encoding="utf-8").replace('["U1"]', '["U2"]')
        configuration.write_text(text, encoding="utf-8")
        async with running(tmp_path, slack):
            slack.say("U2", "C1", "and I?")
            (answer,) = await shown(slack, "Yes.")
            assert answer.thread_ts == slack.messages("C1", author="user")[-1].ts
        assert "U1 is no longer allowed" in (tmp_path / "log").read_text(encoding="utf-8")
