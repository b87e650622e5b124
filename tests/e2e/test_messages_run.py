"""Runs with tools through Anthropic's SDK, against a server that refuses what the real one does."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
import pytest

from gateway.agent import Agent, Answer, Case, Model, Stop, answer
from gateway.event import Event, MessageDiscarded, TextDelta, ToolResult
from gateway.grammar import check_run
from gateway.history import MAY_HAVE_RUN, NOT_BEGUN, Answered, Asked, Entry, Started
from gateway.limit import Limits
from gateway.provider import Call
from gateway.providers.anthropic_messages import PROTOCOL, Settings, create
from gateway.stream import EventStream
from gateway.toolset import Toolset
from tests.e2e.messages_api import serving
from tests.e2e.messages_model import (
    Said,
    Script,
    broken,
    call,
    failed,
    recorded,
    said,
    text,
    thinking,
)
from tests.golden import load
from tests.unit.gateway.model import USER, Fake, Minutes

GOLDENS = {golden.name: golden for golden in load("anthropic")}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_TEST_KEY", "sk-ant-a-key")
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)


@dataclass(slots=True, kw_only=True)
class Talk:
    """A conversation with the server; ``events`` are those of the last run."""

    agent: Agent
    script: Script
    history: list[Entry] = field(default_factory=list[Entry])
    events: list[Event] = field(default_factory=list[Event])

    async def ask(self, words: str = "Well?", *, overwritable: bool = True) -> Answer:
        """One run; whatever the server complained of fails the test."""
        asked, minutes, stream = Asked(speaker="U1", text=words), Minutes(), EventStream("r1")
        case = Case(before=tuple(self.history), said=(asked,), user=USER, overwritable=overwritable)
        with anyio.fail_after(20):
            answered = await answer(self.agent, case, stream, minutes, stop=Stop())
            self.events = [envelope.event async for envelope in stream]
        check_run(self.events)
        assert self.script.complaints == []
        self.history += [asked, *minutes.entries]
        return answered

    @property
    def texts(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def results(self) -> list[tuple[str, str | None]]:
        return [(event.tool_use_id, event.error_type) for event in self.events if isinstance(event, ToolResult)]


@asynccontextmanager
async def talk(answers: Sequence[Said], *tools: Fake, before: Sequence[Entry] = ()) -> AsyncGenerator[Talk]:
    script = Script(answers)
    async with serving(script) as api:
        provider = create(
            Settings(
                provider=PROTOCOL, name="claude-test", max_tokens=100, api_key="env:DRAGOMAN_TEST_KEY", base_url=api.url
            )
        )
        agent = Agent(
            id="agent",
            model=Model(provider=provider, name="claude-test", max_tokens=100),
            system="Be brief.",
            history_characters=100_000,
            tools=Toolset(tools={tool.name: tool for tool in tools}),
            limits=Limits(retries=1),
        )
        yield Talk(agent=agent, script=script, history=list(before))


SIGNED = thinking("Both, I think.", "EqQBCkYIBxgCKkD+sig==")
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tide"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"title": "T", "n": 1.50}]}
FUTURE = {"type": "hologram", "data": {"z": 1, "a": [None, "é 😀"]}}
TWO = (call("toolu_1", "write", {"at": 1}), call("toolu_2", "look", {"at": "é"}))


async def test_two_tools_at_once_have_their_results_in_one_message_in_call_order() -> None:
    answers = [
        said(text("I look."), call("toolu_1", "look", {"seconds": 0.2}), call("toolu_2", "peek", {})),
        said(text("Two.")),
    ]
    async with talk(answers, Fake("look", result="A cat."), Fake("peek", result="A dog.")) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert talking.texts == "I look.Two."
    assert talking.script.requests[1]["messages"][2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A cat.", "is_error": False},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "A dog.", "is_error": False},
        ],
    }


async def test_thinking_with_its_signatures_goes_back_as_it_came_over_turns_and_questions() -> None:
    second = thinking("", "sig-of-thinking-that-was-omitted")
    answers = [
        said(SIGNED, REDACTED, text("I do."), *TWO),
        said(second, text("Again."), call("toolu_3", "look", {})),
        said(thinking("Well.", "sig-3"), text("Done.")),
        said(text("Yes.")),
    ]
    async with talk(answers, Fake("look"), Fake("write", safe=False)) as talking:
        assert await talking.ask() == Answer(reason="complete")
        assert await talking.ask("Sure?") == Answer(reason="complete")
    requests = talking.script.requests
    assert [len(request["messages"]) for request in requests] == [1, 3, 5, 7]
    assert requests[3]["messages"][1]["content"][:2] == [SIGNED, REDACTED]


async def test_blocks_of_the_servers_own_tools_and_unknown_ones_go_back_as_they_came() -> None:
    answers = [said(SEARCH, FOUND, FUTURE, text("So."), call("toolu_1", "look", {})), said(text("Done."))]
    async with talk(answers, Fake("look")) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert talking.script.requests[1]["messages"][1]["content"][:3] == [SEARCH, FOUND, FUTURE]


async def test_tools_are_told_in_one_order_and_the_cache_is_on_in_every_request() -> None:
    answers = [said(call("toolu_1", "look", {})), said(text("Done."))]
    async with talk(answers, Fake("write"), Fake("look"), Fake("beat")) as talking:
        await talking.ask()
    for request in talking.script.requests:
        assert [tool["name"] for tool in request["tools"]] == ["beat", "look", "write"]
        assert request["cache_control"] == {"type": "ephemeral"}


async def test_a_pause_is_sent_back_unchanged_with_nothing_behind_it() -> None:
    golden = GOLDENS["server_tool_pause"]
    found = FOUND | {"tool_use_id": "srvtoolu_02Golden"}
    answers = [recorded(golden.data, golden.native, paused=True), said(found, text("It is six."))]
    async with talk(answers) as talking:
        assert await talking.ask() == Answer(reason="complete")
        assert await talking.ask("Sure?") == Answer(reason="complete")
    assert [each["role"] for each in talking.script.requests[1]["messages"]] == ["user", "assistant"]
    assert talking.script.requests[1]["messages"][1]["content"] == golden.native


async def test_a_pause_of_a_call_of_the_servers_alone_goes_on_too() -> None:
    answers = [said(SEARCH, end="pause_turn"), said(FOUND, text("Six."))]
    async with talk(answers) as talking:
        assert await talking.ask() == Answer(reason="complete")
        assert await talking.ask("Sure?") == Answer(reason="complete")
    assert talking.script.requests[2]["messages"][1]["content"] == [SEARCH, FOUND, text("Six.")]


async def test_a_pause_that_could_not_go_on_makes_no_later_request_illegal() -> None:
    answers = [said(SEARCH, end="pause_turn"), failed(400, "invalid_request_error"), said(text("Yes."))]
    async with talk(answers) as talking:
        assert await talking.ask() == Answer(reason="error", error="invalid_request")
        talking.script.lose()
        assert await talking.ask("And now?") == Answer(reason="complete")
    assert "srvtoolu_1" not in str(talking.script.requests[2]["messages"])


@pytest.mark.parametrize("name", ["max_tokens_in_tool_stop", "max_tokens_in_tool_nostop", "max_tokens_valid_looking"])
async def test_a_message_cut_inside_a_call_runs_nothing_and_the_model_is_told(name: str) -> None:
    golden = GOLDENS[name]
    made = Fake("make_file", safe=False)
    async with talk([recorded(golden.data, golden.native), said(text("Shorter."))], made) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert made.runs == []
    assert [kind for _, kind in talking.results] == ["cut"]
    (result,) = talking.script.requests[1]["messages"][2]["content"]
    assert result["is_error"]
    assert "length limit" in result["content"] or "cut" in result["content"]


async def test_a_refused_message_runs_nothing_and_is_not_replayed() -> None:
    write = Fake("write", safe=False)
    answers = [said(text("I will"), call("toolu_1", "write", {}), end="refusal"), said(text("Hello."))]
    async with talk(answers, write) as talking:
        assert await talking.ask() == Answer(reason="refusal")
        assert await talking.ask("Something else?") == Answer(reason="complete")
    assert write.runs == []
    assert "toolu_1" not in str(talking.script.requests[1])


async def test_an_overload_before_the_first_word_is_tried_again_and_nobody_sees_it() -> None:
    async with talk([broken(), said(text("Six."))]) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert talking.texts == "Six."
    assert not any(isinstance(event, MessageDiscarded) for event in talking.events)


async def test_an_overload_behind_the_first_words_begins_the_turn_anew() -> None:
    async with talk([broken(SIGNED, text("It is")), said(text("Six."))]) as talking:
        assert await talking.ask() == Answer(reason="complete")
        assert await talking.ask("Sure?") == Answer(reason="complete")
    assert talking.script.requests[0] == talking.script.requests[1]
    assert talking.script.requests[2]["messages"][1]["content"] == [text("Six.")]


async def test_an_overload_behind_words_that_stay_shown_ends_the_run_and_the_next_request_is_legal() -> None:
    async with talk([broken(SIGNED, text("It is")), said(text("Six."))]) as talking:
        assert await talking.ask(overwritable=False) == Answer(reason="error", error="overloaded")
        assert await talking.ask("Go on.") == Answer(reason="complete")


async def test_an_overload_behind_a_call_that_began_goes_on_from_what_is_known() -> None:
    look = Fake("look", result="Fur.")
    async with talk(
        [broken(text("I look."), call("toolu_1", "look", {}), text("So")), said(text("A cat."))], look
    ) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert len(look.runs) == 1
    _, answered, heard = talking.script.requests[1]["messages"]
    assert [block["type"] for block in answered["content"]] == ["text", "tool_use"]
    assert [block["type"] for block in heard["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize(("status", "kind"), [(529, "overloaded_error"), (500, "api_error"), (429, "rate_limit_error")])
async def test_a_server_that_is_busy_at_first_is_asked_again(status: int, kind: str) -> None:
    async with talk([failed(status, kind), said(text("Six."))]) as talking:
        assert await talking.ask() == Answer(reason="complete")
    assert talking.texts == "Six."
    assert len(talking.script.requests) == 2


async def test_a_server_that_stays_busy_is_said_to_be() -> None:
    async with talk([failed(529, "overloaded_error")]) as talking:
        assert await talking.ask() == Answer(reason="error", error="overloaded")
    assert len(talking.script.requests) == 2


@pytest.mark.parametrize("begun", [True, False])
async def test_s01_a_history_that_a_crash_left_open_is_legal_and_its_user_gets_answers(begun: bool) -> None:
    tried = Call(tool_use_id="tu_1", name="write", input={})
    before = [
        Asked(speaker="U1", text="check"),
        *([Started(call=tried)] if begun else []),
        Answered(text="", calls=(tried,), places=(0,), reason="continued", stop_reason="tool_use"),
    ]
    async with talk([said(text("Hello."))], Fake("write"), before=before) as talking:
        for words in ("hello?", "still there?"):
            assert await talking.ask(words) == Answer(reason="complete")
    content = MAY_HAVE_RUN if begun else NOT_BEGUN
    for request in talking.script.requests:
        assert request["messages"][1]["content"] == [call("tu_1", "write", {})]
        assert request["messages"][2]["content"] == [
            {"type": "tool_result", "tool_use_id": "tu_1", "content": content, "is_error": True},
            text("<U1> hello?"),
        ]
    assert len(talking.script.requests) == 2


async def test_a_call_that_a_crash_left_open_is_taken_up_with_its_thinking() -> None:
    answers = [said(SIGNED, call("toolu_1", "look", {})), said(text("Done."))]
    async with talk(answers, Fake("look")) as talking:
        await talking.ask()
        upto = next(at for at, each in enumerate(talking.history) if isinstance(each, Answered)) + 1
        asked, *left = [each for each in talking.history[:upto] if not isinstance(each, Started)]
        talking.script.lose()
        minutes, stream = Minutes(), EventStream("r1")
        case = Case(before=(), said=(asked, *left), user=USER)
        with anyio.fail_after(20):
            assert await answer(talking.agent, case, stream, minutes, stop=Stop()) == Answer(reason="complete")
    assert talking.script.complaints == []


async def test_the_server_refuses_what_the_real_one_does() -> None:
    lonely = Answered(text="x", calls=(Call(tool_use_id="bad id", name="no such name!", input={}),))
    async with talk([said(text("Hm."))], replace(Fake("look"), name="not a name")) as talking:
        talking.history += [Asked(speaker="U1", text="check"), lonely]
        with pytest.raises(AssertionError, match="should match pattern"):
            await talking.ask()
    assert len(talking.script.complaints) == 1
