"""Commands, marks and waiting messages: the whole gateway as a process, Slack's own SDK, and Slack on loopback."""

from pathlib import Path

import anyio

from adapters.loopback.slack import LoopbackSlack, Message
from gateway.command import HELP, NEW
from gateway.notice import ENDINGS
from tests.e2e.command import running, write_configuration

LONG = "[[turn]]\ntext = '''" + " ".join(f"word{number}" for number in range(2000)) + "'''\n"


async def until(slack: LoopbackSlack, *endings: str) -> list[Message]:
    """The bot's messages, once the last of them end like this."""
    with anyio.fail_after(20):
        await slack.until(lambda: _ends(slack.messages(author="bot"), endings))
    return slack.messages(author="bot")


def _ends(messages: list[Message], endings: tuple[str, ...]) -> bool:
    last = messages[-len(endings) :]
    return len(last) == len(endings) and all(map(str.endswith, (message.text for message in last), endings))


async def test_a_stop_ends_the_answer_and_what_waits_is_answered_next(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, LONG, pace=20)
        async with running(tmp_path, slack):
            question = slack.say("U1", "C1", "tell me all")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.messages(author="bot"))
            waiting = slack.say("U1", "C1", "and then?", thread=question.ts)
            withdrawn = slack.say("U1", "C1", "no, never mind that", thread=question.ts)
            with anyio.fail_after(10):
                await slack.until(lambda: slack.message("C1", withdrawn.ts).reactions)
            assert slack.message("C1", waiting.ts).reactions
            slack.delete("C1", withdrawn.ts)
            slack.say("U1", "C1", "stop", thread=question.ts)
            stopped = await until(slack, ENDINGS["stopped"])
            assert all("word1999" not in message.text for message in stopped)
            with anyio.fail_after(10):
                await slack.until(lambda: not slack.message("C1", waiting.ts).reactions)
                await slack.until(lambda: len(slack.messages(author="bot")) > len(stopped))
            slack.say("U1", "C1", "stop", thread=question.ts)
            ended = await until(slack, ENDINGS["stopped"])
    assert sum(message.text == ENDINGS["stopped"] for message in ended) == 2


async def test_commands_pass_the_answer_that_is_being_given(tmp_path: Path) -> None:
    async with LoopbackSlack(time_scale=20) as slack:
        write_configuration(tmp_path, slack, LONG, pace=20)
        async with running(tmp_path, slack):
            slack.say("U1", "D1", "tell me all")
            with anyio.fail_after(10):
                await slack.until(lambda: slack.messages(author="bot"))
            slack.say("U1", "D1", "!help")
            await until(slack, HELP)
            slack.say("U1", "D1", "!status")
            told = (await until(slack, "Model: scripted.)"))[-1].text
            assert told.startswith("(I have been working on an answer for")
            slack.say("U1", "D1", "!new")
            with anyio.fail_after(20):
                await slack.until(
                    lambda: {NEW, ENDINGS["stopped"]} <= {message.text for message in slack.messages(author="bot")}
                )
