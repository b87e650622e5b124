import copy
import json
from itertools import pairwise
from typing import Any

import anyio
import pytest

from adapters.discord.command import COMMANDS, PAUSES, register, register_yet
from adapters.discord.outcome import Answer, NoAnswer
from adapters.discord.render import Call

pytestmark = pytest.mark.virtual_time

PATH = "/applications/900/commands"


class Discord:
    """Where commands are registered."""

    def __init__(self, registered: object, put: Answer | NoAnswer | None = None) -> None:
        self.registered = registered
        self.put = put or Answer(status=200)
        self.calls: list[Call] = []

    async def ask(self, call: Call) -> Answer | NoAnswer:
        self.calls.append(call)
        return self.put if call.method == "PUT" else Answer(status=200, body=self.registered)


def registered() -> list[dict[str, Any]]:
    """As Discord gives them back: in another order, with more fields, and without what is the default."""
    commands = [json.loads(json.dumps(command)) for command in reversed(COMMANDS)]
    for command in commands:
        command |= {"id": "1", "version": "2", "contexts": [2, 0, 1], "nsfw": False}
    return commands


async def test_commands_that_are_there_are_left() -> None:
    discord = Discord(registered())
    await register(discord.ask, "900")
    assert [call.method for call in discord.calls] == ["GET"]


async def test_commands_that_are_new_or_changed_are_sent_all_at_once() -> None:
    changed, more = registered(), registered()
    changed[0]["description"] = "Something else"
    more.append(copy.deepcopy(more[0]) | {"name": "more"})
    optional = registered()
    optional[-1]["options"][0]["required"] = False
    for before in ([], changed, more, optional, registered()[1:], None, {"code": 0}):
        discord = Discord(before)
        await register(discord.ask, "900")
        assert [(call.method, call.path) for call in discord.calls] == [("GET", PATH), ("PUT", PATH)]
        assert discord.calls[1].body == COMMANDS


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=429, body={"code": 30034}), "HTTP 429, code 30034"),
        (NoAnswer(sent=True, reason="TimeoutError"), "TimeoutError"),
    ],
    ids=["refused", "lost"],
)
async def test_a_failure_is_logged_and_ends_nothing(
    answer: Answer | NoAnswer, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    await register(Discord([], answer).ask, "900")
    assert why in caplog.text


async def test_what_fails_for_the_moment_is_tried_ever_more_seldom_and_no_sooner_than_is_told() -> None:
    answers = [NoAnswer(sent=False, reason="ConnectError"), Answer(status=429, body={"retry_after": 40.0})]
    answers += [Answer(status=500)] * 4
    times: list[float] = []

    async def ask(_: Call) -> Answer | NoAnswer:
        times.append(anyio.current_time())
        return answers.pop(0) if answers else Answer(status=200, body=registered())

    began = anyio.current_time()
    await register_yet(ask, "900", 7.0)
    assert [round(after - before) for before, after in pairwise([began, *times])] == [7, 15, 60, 300, *PAUSES[-1:] * 3]


async def test_where_discord_says_no_it_is_not_tried_again() -> None:
    assert await register(Discord([], Answer(status=400, body={"code": 50035})).ask, "900") is None


def test_the_commands_are_within_what_discord_takes() -> None:
    assert [command["name"] for command in COMMANDS] == [
        *("ask", "new", "stop", "status", "approve", "deny", "approvals", "revoke", "help"),
    ]
    for command in COMMANDS:
        assert len(str(command["description"])) <= 100


@pytest.mark.parametrize("known", [Answer(status=503), Answer(status=429), NoAnswer(sent=True, reason="TimeoutError")])
async def test_where_nobody_says_which_there_are_they_stay_as_they_are(known: Answer | NoAnswer) -> None:
    asked: list[str] = []

    async def ask(call: Call) -> Answer | NoAnswer:
        asked.append(call.method)
        return known

    await register(ask, "900")
    assert asked == ["GET"]
