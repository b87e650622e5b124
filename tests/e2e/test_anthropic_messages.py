"""The provider as it runs: Anthropic's SDK against a server on this machine that speaks its protocol."""

import asyncio
import json
import logging
from typing import Any

import anyio
import pytest

from gateway.event import Error, MessageEnd, to_object
from gateway.grammar import check_message
from gateway.provider import AssistantMessage, Item, Message, Native, Provider, Request, UserMessage
from gateway.providers.anthropic_messages import PROTOCOL, Settings, create, decode
from tests.e2e.messages_api import STREAM, Answer, Api, dropped_after, refused, serving, stalled_after, stream_of, write
from tests.golden import Golden, load

KEY = "sk-ant-a-key-that-nobody-may-see-0123456789"
GOLDENS = {golden.name: golden for golden in load("anthropic")}
TEXT_ONLY = GOLDENS["text_only"].data


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DRAGOMAN_TEST_KEY", KEY)
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    return KEY


def provider(url: str, timeout: float = 5.0) -> Provider:
    return create(
        Settings(
            provider=PROTOCOL,
            name="claude-test",
            max_tokens=100,
            api_key="env:DRAGOMAN_TEST_KEY",
            base_url=url,
            timeout=timeout,
        )
    )


def request(*messages: Message, system: str = "Be brief.") -> Request:
    return Request(
        model="claude-test", max_tokens=100, system=system, messages=messages or (UserMessage(text="Hello?"),)
    )


async def ask(url: str, asked: Request | None = None, timeout: float = 5.0) -> list[Item]:  # noqa: ASYNC109 - a setting of the provider
    with anyio.fail_after(5):
        async with provider(url, timeout).stream(asked or request()) as stream:
            items = [item async for item in stream]
    check_message(items)
    return items


async def failure(answer: Answer, timeout: float = 5.0) -> Error:  # noqa: ASYNC109 - a setting of the provider
    async with serving(answer) as api:
        error = (await ask(api.url, timeout=timeout))[-1]
        assert len(api.bodies) <= 1  # nothing is retried here
    assert isinstance(error, Error)
    assert KEY not in error.error_message
    return error


@pytest.mark.parametrize("golden", GOLDENS.values(), ids=str)
async def test_a_golden_stream_arrives_as_it_was_meant_in_any_writes(golden: Golden) -> None:
    for size in (7, 100_000):
        async with serving(stream_of(golden.data, size)) as api:
            items = await ask(api.url)
        events = [item for item in items if not isinstance(item, Native)]
        assert [{"seq": seq, **to_object(event)} for seq, event in enumerate(events)] == golden.events


async def test_the_request_is_what_the_protocol_asks_for() -> None:
    async with serving(stream_of(TEXT_ONLY)) as api:
        await ask(api.url)
    assert json.loads(api.bodies[0]) == {
        "model": "claude-test",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello?"}],
        "cache_control": {"type": "ephemeral"},
        "stream": True,
    }
    assert api.headers[0].startswith(b"POST /v1/messages HTTP/1.1\r\n")
    assert b"Authorization: Bearer " + KEY.encode() in api.headers[0]


async def test_a_request_without_a_system_prompt_has_none() -> None:
    async with serving(stream_of(TEXT_ONLY)) as api:
        await ask(api.url, request(system=""))
    assert "system" not in json.loads(api.bodies[0])


@pytest.mark.parametrize("name", ["thinking", "server_tool_pause", "unknown_events", "compaction_beta", "unicode"])
async def test_an_answer_of_the_same_protocol_is_replayed_unchanged(name: str) -> None:
    async with serving(stream_of(GOLDENS[name].data)) as api:
        native = next(item for item in await ask(api.url) if isinstance(item, Native))
        answered = AssistantMessage(text="not this", native=native)
        behind = [] if name == "server_tool_pause" else [UserMessage(text="two")]  # it is sent back to go on
        await ask(api.url, request(UserMessage(text="one"), answered, *behind))
    assert json.loads(api.bodies[1])["messages"][1] == {"role": "assistant", "content": GOLDENS[name].native}
    for block in GOLDENS[name].native or []:
        assert json.dumps(block, ensure_ascii=False, separators=(",", ":")).encode() in api.bodies[1]


@pytest.mark.parametrize(
    "native", [None, Native(protocol="other", blocks=({"type": "x"},)), Native(protocol=PROTOCOL, blocks=())]
)
async def test_any_other_answer_is_replayed_as_text(native: Native | None) -> None:
    answered = AssistantMessage(text="I said this.", native=native)
    async with serving(stream_of(TEXT_ONLY)) as api:
        await ask(api.url, request(UserMessage(text="one"), answered, UserMessage(text="two")))
    assert json.loads(api.bodies[0])["messages"][1] == {"role": "assistant", "content": "I said this."}


def body_of(kind: str) -> str:
    return json.dumps({"type": "error", "error": {"type": kind, "message": f"No, {KEY}."}, "request_id": "req_7"})


@pytest.mark.parametrize(
    ("status", "body", "error_type", "retryable"),
    [
        (400, body_of("invalid_request_error"), "invalid_request", False),
        (400, body_of("billing_error"), "authentication", False),
        (401, body_of("authentication_error"), "authentication", False),
        (403, body_of("permission_error"), "authentication", False),
        (404, body_of("not_found_error"), "invalid_request", False),
        (408, "", "timeout", True),
        (413, body_of("request_too_large"), "invalid_request", False),
        (418, "teapot", "invalid_request", False),
        (429, body_of("rate_limit_error"), "rate_limited", True),
        (429, "slow down", "rate_limited", True),
        (500, body_of("api_error"), "server", True),
        (500, body_of("overloaded_error"), "overloaded", True),
        (502, "<html>", "server", True),
        (504, "", "timeout", True),
        (529, body_of("overloaded_error"), "overloaded", True),
        (529, "", "overloaded", True),
    ],
)
async def test_a_refused_request_is_an_error_of_its_kind(
    status: int, body: str, error_type: str, retryable: bool
) -> None:
    error = await failure(refused(status, body))
    assert (error.error_type, error.retryable) == (error_type, retryable)
    assert f"HTTP {status}" in error.error_message
    assert "(request req_7)" in error.error_message


async def test_a_wrong_key_is_named_with_the_place_to_get_one() -> None:
    error = await failure(refused(401, body_of("authentication_error")))
    assert "env:DRAGOMAN_TEST_KEY" in error.error_message
    assert "https://platform.claude.com/settings/keys" in error.error_message
    assert "[key]" in error.error_message


async def test_a_key_that_a_stream_repeats_is_not_passed_on() -> None:
    error = await failure(stream_of(f"event: error\ndata: {body_of('api_error')}\n\n".encode()))
    assert error.error_message == "api_error: No, [key]. (request req_7)"


async def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await failure(refused(401, body_of("authentication_error")))
    async with serving(stream_of(TEXT_ONLY)) as api:
        await ask(api.url)
    assert "POST" in caplog.text  # the SDK does log
    assert KEY not in caplog.text.replace(f"No, {KEY}.", "")  # what our server repeats is its own doing


async def test_a_stream_that_just_stops_is_incomplete() -> None:
    error = await failure(stream_of(TEXT_ONLY[:700]))
    assert error.error_type == "incomplete_stream"


@pytest.mark.parametrize("size", [0, 5, 700])
async def test_a_dropped_connection_is_an_incomplete_stream(size: int) -> None:
    error = await failure(dropped_after(TEXT_ONLY[:size]))
    assert (error.error_type, error.retryable) == ("incomplete_stream", True)
    assert "RemoteProtocolError" in error.error_message


async def test_what_was_said_before_the_connection_dropped_is_kept() -> None:
    whole = GOLDENS["text_two_tools"].data
    cut = whole.index(b'th\\": ')
    async with serving(dropped_after(whole[:cut])) as api:
        items = await ask(api.url)
    assert items[:-1] == list(decode([whole[:cut]]))[:-1]


async def test_no_server_is_a_servers_error() -> None:
    async with serving(stream_of(TEXT_ONLY)) as api:
        url = api.url
    error = (await ask(url))[-1]
    assert isinstance(error, Error)
    assert (error.error_type, error.retryable) == ("server", True)
    assert "the connection failed: ConnectError" in error.error_message


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "nowhere", "http://[", "http://127.0.0.1:99999"])
async def test_an_address_that_is_none_is_an_error(url: str) -> None:
    assert isinstance((await ask(url))[-1], Error)


async def test_a_text_that_cannot_be_sent_is_an_error() -> None:
    async with serving(stream_of(TEXT_ONLY)) as api:
        error = (await ask(api.url, request(UserMessage(text="\ud83d"))))[-1]
    assert isinstance(error, Error)
    assert (error.error_type, error.retryable) == ("invalid_request", False)


PING = b'event: ping\ndata: {"type": "ping"}\n\n'


@pytest.mark.parametrize("data", [b"", TEXT_ONLY[:700]])
async def test_a_stalled_stream_times_out(data: bytes) -> None:
    error = await failure(stalled_after(data), timeout=0.3)
    assert (error.error_type, error.retryable) == ("timeout", True)
    assert error.error_message == "no progress for 0.3 seconds"


async def test_pings_and_comments_are_no_progress() -> None:
    async def answer(_api: Api, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM)
        while True:
            await write(writer, PING + b": still here\n\n")
            await anyio.sleep(0.02)  # the server's own beat; nobody waits for it

    assert (await failure(answer, timeout=0.5)).error_type == "timeout"


async def test_leaving_early_closes_the_connection() -> None:
    async with serving(stalled_after(TEXT_ONLY[:900])) as api:
        with anyio.fail_after(5):
            async with provider(api.url).stream(request()) as stream:
                async for _ in stream:
                    break
            await api.hung_up.wait()


@pytest.mark.parametrize("data", [b"", TEXT_ONLY[:900]])
async def test_being_cancelled_closes_the_connection(data: bytes) -> None:
    async def read(url: str) -> None:
        async with provider(url).stream(request()) as stream:
            async for _ in stream:
                pass

    async with serving(stalled_after(data)) as api:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read, api.url)
                await api.waiting.wait()
                tasks.cancel_scope.cancel()
            await api.hung_up.wait()


async def test_an_error_of_the_reader_goes_through_and_closes_the_connection() -> None:
    async def read(url: str) -> None:
        async with provider(url).stream(request()) as stream:
            await anext(stream)
            raise LookupError

    async with serving(stalled_after(TEXT_ONLY[:900])) as api:
        with anyio.fail_after(5):
            with pytest.raises(LookupError):
                await read(api.url)
            await api.hung_up.wait()


async def test_nothing_is_asked_for_behind_the_end_of_the_message() -> None:
    async with serving(stalled_after(TEXT_ONLY)) as api:
        items = await ask(api.url)
    assert isinstance(items[-1], MessageEnd)


async def test_one_provider_answers_many_at_once() -> None:
    async def read(shared: Provider, answers: list[list[Any]]) -> None:
        async with shared.stream(request()) as stream:
            answers.append([item async for item in stream])

    answers: list[list[Any]] = []
    async with serving(stream_of(TEXT_ONLY, 7)) as api:
        shared = provider(api.url)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(read, shared, answers)
    assert answers == [list(decode([TEXT_ONLY]))] * 8
