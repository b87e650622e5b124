"""The Slack adapter with the real SDK, against Slack on loopback."""

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp.web
import anyio
import pytest
from anyio.abc import TaskGroup

from adapters.loopback.slack import Change, Channel, LoopbackSlack, Redelivery, Workspace
from adapters.loopback.slack.change import SocketOpened
from adapters.loopback.slack.envelope import EnvelopeType
from adapters.slack import Settings, create, ingress, reading, web
from adapters.slack.outcome import TABLE, Answer
from gateway.adapter import Adapter
from gateway.address import Address
from gateway.error import AdapterError, StoreError
from gateway.inbound import (
    CommandReceived,
    Ignored,
    Inbound,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    PressReceived,
)
from gateway.operation import (
    AppendText,
    Button,
    DeleteMessage,
    EditMessage,
    EditRefused,
    FinishStream,
    Forbidden,
    MarkupRejected,
    MarkWaiting,
    MessageGone,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    Said,
    StartStream,
    TellPrivately,
    ThreadRead,
    TooLong,
    Unknown,
    UnmarkWaiting,
    Unreachable,
)

BOT, APP = "xoxb-loopback", "xapp-loopback"
ROOT = Path(__file__).parents[2]
CHANNEL = Address(platform="slack", account="T1", channel="C1")
DIRECT = Address(platform="slack", account="T1", channel="D1")


class Inbox:
    """A store that can be closed for a while, and can refuse."""

    def __init__(self) -> None:
        self.received: list[Inbound] = []
        self.refusals = 0
        self.arrived = anyio.Event()
        self.open = anyio.Event()
        self.open.set()

    async def receive(self, inbound: Inbound) -> bool:
        self.received.append(inbound)
        self.arrived.set()
        await self.open.wait()
        if self.refusals:
            self.refusals -= 1
            msg = "the disk is full"
            raise StoreError(msg)
        return True

    async def keep(self, body: object) -> None:
        pytest.fail(f"nothing was sent, but this came: {body}")

    @property
    def messages(self) -> list[MessageReceived]:
        return [inbound for inbound in self.received if isinstance(inbound, MessageReceived)]

    @property
    def reasons(self) -> list[str]:
        return [inbound.reason for inbound in self.received if isinstance(inbound, Ignored)]


def ours(before: set[asyncio.Task[object]]) -> list[asyncio.Task[object]]:
    """The tasks that are new, without the servers' and the test's."""
    others = ("adapters/loopback", "aiohttp/web", "tests/e2e", "tests.e2e")
    return [task for task in asyncio.all_tasks() - before if not any(other in repr(task) for other in others)]


async def socket_address(slack: LoopbackSlack) -> str:
    opened = await web.ask(web.web_client(BOT, slack.base_url), "apps.connections.open", token=APP)
    assert isinstance(opened, Answer)
    return str(opened.body["url"])


@asynccontextmanager
async def silent_socket() -> AsyncGenerator[int]:
    """A server that opens sockets, and then neither says nor hears anything."""
    over = anyio.Event()

    async def open_socket(request: aiohttp.web.Request) -> aiohttp.web.WebSocketResponse:
        await (socket := aiohttp.web.WebSocketResponse()).prepare(request)
        await over.wait()
        return socket

    app = aiohttp.web.Application()
    app.router.add_get("/", open_socket)
    runner = aiohttp.web.AppRunner(app)
    await runner.setup()
    await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        over.set()
        await runner.cleanup()


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", BOT)
    monkeypatch.setenv("SLACK_APP_TOKEN", APP)


def granted() -> tuple[str, ...]:
    """The scopes that our manifest asks for."""
    lines = (ROOT / "config" / "slack-manifest.yaml").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip().removeprefix("- ") for line in lines if "- " in line and ":" in line)


@pytest.fixture
async def slack() -> AsyncIterator[LoopbackSlack]:
    """With the scopes of our manifest and no others."""
    elsewhere = Channel(id="C9", name="elsewhere", joined=False)
    workspace = Workspace(scopes=granted(), channels=(*Workspace().channels, elsewhere))
    async with LoopbackSlack(workspace=workspace, time_scale=20) as server:
        yield server


@pytest.fixture
def adapter(slack: LoopbackSlack) -> Adapter:
    return create(Settings(base_url=slack.base_url))


@asynccontextmanager
async def running(adapter: Adapter, inbox: Inbox) -> AsyncGenerator[TaskGroup]:
    ready = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(adapter.run, inbox.receive, ready.set)
            await ready.wait()
            yield tasks
            tasks.cancel_scope.cancel()


async def refusal(adapter: Adapter) -> str:
    """Why the adapter does not run."""
    with anyio.fail_after(5), pytest.raises(AdapterError) as caught:
        await adapter.run(Inbox().receive, lambda: pytest.fail("ready, though refused"))
    return str(caught.value)


def thread_of(ts: str) -> Address:
    return Address(platform="slack", account="T1", channel="C1", thread=ts)


async def posted(adapter: Adapter, text: str = "hello") -> str:
    outcome = await adapter.perform(PostMessage(address=CHANNEL, text=text))
    assert isinstance(outcome, Performed), outcome
    return outcome.message_id


# What comes in.


async def test_a_mention_is_received_under_each_event_as_one_message(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        said = slack.say("U1", "C1", "what <is> a dragoman?")
        await slack.until(lambda: not slack.unacknowledged)
    assert [message.event_id for message in inbox.messages] == [f"slack:T1:{id_}" for id_ in slack.event_ids(said.ts)]
    assert {message.message_id for message in inbox.messages} == {f"slack:T1:C1:{said.ts}"}
    assert {message.text for message in inbox.messages} == {"what <is> a dragoman?"}
    assert {message.address.thread for message in inbox.messages} == {said.ts}
    assert all(acknowledgement.latency < 1 for acknowledgement in slack.acknowledgements)


async def test_a_direct_message_is_received_once(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.say("U1", "D1", "hello")
        await slack.until(lambda: not slack.unacknowledged)
    (message,) = inbox.messages
    assert (message.text, message.direct, message.address.thread) == ("hello", True, None)


async def test_an_event_is_acknowledged_when_it_is_stored_and_not_before(
    slack: LoopbackSlack, adapter: Adapter
) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    async with running(adapter, inbox):
        slack.say("U1", "D1", "hello")
        await inbox.arrived.wait()
        await posted(adapter, "time passes")
        assert slack.acknowledgements == []
        inbox.open.set()
        await slack.until(lambda: not slack.unacknowledged)


async def test_what_was_not_stored_comes_again(caplog: pytest.LogCaptureFixture) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with LoopbackSlack(redelivery=Redelivery(deadline=0.2, delays=(0.0,))) as slack:
        async with running(create(Settings(base_url=slack.base_url)), inbox):
            slack.say("U1", "D1", "hello")
            await slack.until(lambda: slack.acknowledgements)
        assert [envelope.attempt for envelope in slack.envelopes] == [0, 1]
    assert [message.text for message in inbox.messages] == ["hello", "hello"]
    assert len({message.event_id for message in inbox.messages}) == 1
    assert "was not stored, so Slack will send it again: the disk is full" in caplog.text


async def test_l24_an_event_whose_first_delivery_was_lost_is_received(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    event = {"type": "app_mention", "user": "U1", "channel": "C1", "text": "<@UBOT> hello", "ts": "17.1"}
    async with running(adapter, inbox):
        slack.push(event, event_id="Ev2", attempt=2)
        await slack.until(lambda: not slack.unacknowledged)
    assert [message.event_id for message in inbox.messages] == ["slack:T1:Ev2"]


async def test_what_nobody_listens_for_is_acknowledged_and_ignored(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.push({"type": "reaction_added", "user": "U1"})
        slack.push_payload({"command": "/ask", "text": "x", "user_id": "U1"}, "slash_commands")
        slack.push_payload({"type": "block_actions", "user": {"id": "U1"}}, "interactive")
        await slack.until(lambda: not slack.unacknowledged)
    assert inbox.reasons == [
        "not a message: reaction_added",
        "not a message: unknown",
        "a press below a message that is not ours",
    ]


async def test_what_bolt_cannot_read_is_acknowledged_and_ignored(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.push_payload({"authorizations": 5, "event": "?"}, "events_api")
        slack.push_payload({"type": "event_callback", "event": {"message": "?"}, "enterprise": 5}, "events_api")
        await slack.until(lambda: not slack.unacknowledged)
    assert inbox.reasons == ["not a message: unknown", "not a message: unknown"]


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ({"type": "block_actions", "actions": [], "user": {"id": "U1"}}, "interactive"),
        ({"type": "block_actions", "actions": None}, "interactive"),
        ({"type": "view_submission", "view": []}, "interactive"),
        ({"type": "shortcut", "team": "?"}, "interactive"),
        ({}, "interactive"),
        ({"type": "event_callback", "event": []}, "events_api"),
        ({"event": None, "is_enterprise_install": "true"}, "events_api"),
        ({"command": [], "team_id": {}}, "slash_commands"),
    ],
    ids=str,
)
async def test_what_bolt_answers_before_it_asks_us_is_stored_and_acknowledged_all_the_same(
    slack: LoopbackSlack, adapter: Adapter, payload: dict[str, object], kind: EnvelopeType
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.push_payload(payload, kind)
        await slack.until(lambda: not slack.unacknowledged)
    assert len(inbox.received) == 1


async def test_what_bolt_cannot_read_and_was_not_stored_is_not_acknowledged(
    slack: LoopbackSlack, adapter: Adapter
) -> None:
    inbox = Inbox()
    inbox.refusals = 1
    async with running(adapter, inbox):
        slack.push_payload({"type": "block_actions", "actions": []}, "interactive")
        await inbox.arrived.wait()
        slack.push({"type": "reaction_added"})
        await slack.until(lambda: slack.acknowledgements)
    assert (len(slack.envelopes), len(slack.acknowledgements)) == (2, 1)


async def test_our_own_messages_are_stored_too(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        await posted(adapter)
        await slack.until(lambda: slack.acknowledgements)
    assert inbox.reasons == ["our own message"]


async def test_events_are_received_in_the_order_of_their_arrival(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        for number in range(30):
            slack.say("U1", "D1", f"{number}")
        await slack.until(lambda: not slack.unacknowledged)
    assert [message.text for message in inbox.messages] == [f"{number}" for number in range(30)]


async def test_bolts_environment_does_not_matter(
    slack: LoopbackSlack, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SLACK_CLIENT_ID", "1.2")
    monkeypatch.setenv("SLACK_CLIENT_SECRET", "s")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "s")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.say("U1", "D1", "hello")
        await slack.until(lambda: not slack.unacknowledged)
    assert len(inbox.messages) == 1
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


async def test_edits_and_deletions_are_received_and_previews_are_not(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked, aside = slack.say("U1", "C1", "hi"), slack.say("U1", "C1", "lunch?", mention=False)
        slack.unfurl("C1", asked.ts, "https://example.org")
        slack.edit("C1", asked.ts, "<@UBOT> hi & bye")
        slack.edit("C1", aside.ts, "dinner?")
        for ts in (asked.ts, aside.ts):
            slack.delete("C1", ts)
        await slack.until(lambda: not slack.unacknowledged)
    changed = [inbound for inbound in inbox.received if isinstance(inbound, MessageEdited | MessageDeleted)]
    name, place = f"slack:T1:C1:{asked.ts}", thread_of(asked.ts)
    match changed:
        case [MessageEdited(message=message), MessageDeleted() as gone]:
            assert (message.message_id, message.text, message.address) == (name, "hi & bye", place)
            assert (gone.message_id, gone.address) == (name, place)
        case _:
            pytest.fail(f"received {changed}")
    assert len({inbound.event_id for inbound in inbox.received}) == len(inbox.received)
    assert inbox.reasons[1:] == ["changed, but not in its words", *["not addressed to the bot"] * 2]


async def test_the_deletion_of_a_question_that_was_answered_is_received(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = slack.say("U1", "C1", "hi")
        await adapter.perform(PostMessage(address=thread_of(asked.ts), text="hi"))
        slack.delete("C1", asked.ts)
        await slack.until(lambda: not slack.unacknowledged)
    (gone,) = [inbound for inbound in inbox.received if isinstance(inbound, MessageDeleted)]
    assert (gone.message_id, gone.address) == (f"slack:T1:C1:{asked.ts}", thread_of(asked.ts))


async def test_what_we_edit_and_delete_ourselves_is_ignored(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        ts = await posted(adapter)
        await adapter.perform(EditMessage(address=CHANNEL, message_id=ts, text="more"))
        await adapter.perform(DeleteMessage(address=CHANNEL, message_id=ts))
        await slack.until(lambda: len(slack.acknowledgements) == 3)
    assert inbox.reasons == ["our own message"] * 3


async def test_a_command_is_received_where_it_was_given(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        asked = slack.say("U1", "C1", "tell me a story")
        slack.say("U1", "C1", "Stop!", asked.ts)
        slack.say("U1", "D1", "!new")
        slack.say("U1", "D1", "new")
        await slack.until(lambda: not slack.unacknowledged)
    given = [inbound for inbound in inbox.received if isinstance(inbound, CommandReceived)]
    assert [(command.command, command.address) for command in given] == [
        *[("stop", thread_of(asked.ts))] * 2,
        ("new", DIRECT),
    ]
    assert [message.text for message in inbox.messages] == ["tell me a story"] * 2 + ["new"]


# The connection.


@pytest.mark.parametrize("asked", [True, False], ids=["asked to", "cut off"])
async def test_a_lost_socket_is_opened_again(
    slack: LoopbackSlack, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    monkeypatch.setattr(ingress, "PING", 0.5)
    inbox, opened = Inbox(), list[Change]()
    slack.subscribe(lambda change: opened.append(change) if isinstance(change, SocketOpened) else None)
    async with running(adapter, inbox):
        if asked:
            slack.disconnect()
        else:
            slack.drop_sockets()
        await slack.until(lambda: len(opened) == 2)
        slack.say("U1", "D1", "hello")
        await slack.until(lambda: not slack.unacknowledged)
    assert [message.text for message in inbox.messages] == ["hello"]


async def test_an_address_that_does_not_work_any_more_is_not_tried_for_ever(
    slack: LoopbackSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingress, "PING", 0.05)
    client, ready = web.web_client(BOT, slack.base_url), anyio.Event()
    stale = slack.base_url.replace("http", "ws").replace("/api/", "/link/?ticket=stale")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ingress.listen, client, APP, stale, Inbox().keep, ready.set)
            await ready.wait()
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        (
            "SLACK_BOT_TOKEN",
            "xoxb-wrong",
            ["bot token (xoxb-...)", "env:SLACK_BOT_TOKEN", "invalid_auth", "OAuth & Perm"],
        ),
        (
            "SLACK_APP_TOKEN",
            "xapp-wrong",
            ["app-level token (xapp-...)", "env:SLACK_APP_TOKEN", "invalid_auth", "Basic Inf"],
        ),
        ("SLACK_BOT_TOKEN", APP, ["should hold the Slack bot token", "env:SLACK_BOT_TOKEN", "holds a app-level token"]),
        ("SLACK_APP_TOKEN", BOT, ["should hold the Slack app-level token", "env:SLACK_APP_TOKEN", "holds a bot token"]),
    ],
    ids=["wrong bot token", "wrong app token", "app token for bot token", "bot token for app token"],
)
async def test_a_wrong_token_is_named_with_the_place_to_get_one(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: list[str]
) -> None:
    monkeypatch.setenv(variable, value)
    message = await refusal(adapter)
    assert all(part in message for part in [*expected, "https://api.slack.com/apps"]), message
    assert value not in message


async def test_a_slack_that_is_not_there_is_said() -> None:
    message = await refusal(create(Settings(base_url="http://127.0.0.1:1/api/")))
    assert "cannot be reached at http://127.0.0.1:1/api/" in message


async def test_a_token_that_is_revoked_ends_it(slack: LoopbackSlack, adapter: Adapter) -> None:
    ready = anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                with pytest.raises(AdapterError, match=r"app-level token .*SLACK_APP_TOKEN.*token_revoked"):
                    await adapter.run(Inbox().receive, ready.set)

            tasks.start_soon(run)
            await ready.wait()
            slack.fail_next("apps.connections.open", "token_revoked")
            slack.disconnect()
    assert slack.open_sockets == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while storing"])
async def test_cancellation_leaves_nothing(slack: LoopbackSlack, adapter: Adapter, busy: bool) -> None:
    inbox = Inbox()
    inbox.open = anyio.Event()
    before = asyncio.all_tasks()
    async with running(adapter, inbox):
        if busy:
            slack.say("U1", "D1", "hello")
            await inbox.arrived.wait()
    assert not ours(before)
    with anyio.fail_after(5):
        await slack.until(lambda: not slack.open_sockets)
    assert slack.acknowledgements == []


async def test_what_breaks_because_the_socket_is_left_is_not_told(
    slack: LoopbackSlack, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The event is stored while the socket closes, so that its acknowledgement finds none."""
    stored, ready, arrived = anyio.Event(), anyio.Event(), anyio.Event()
    close = ingress.SocketModeClient.close

    async def close_and_store(socket: ingress.SocketModeClient) -> None:
        await close(socket)
        stored.set()
        await anyio.wait_all_tasks_blocked()

    async def keep(body: object) -> None:
        arrived.set()
        with anyio.CancelScope(shield=True):
            await stored.wait()

    monkeypatch.setattr(ingress.SocketModeClient, "close", close_and_store)
    client, url = web.web_client(BOT, slack.base_url), await socket_address(slack)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ingress.listen, client, APP, url, keep, ready.set)
            await ready.wait()
            slack.say("U1", "D1", "hello")
            await arrived.wait()
            tasks.cancel_scope.cancel()
    assert stored.is_set()
    assert [record for record in caplog.records if record.levelno > logging.INFO] == []


async def test_what_breaks_before_the_socket_is_left_is_told(
    slack: LoopbackSlack, adapter: Adapter, caplog: pytest.LogCaptureFixture
) -> None:
    inbox = Inbox()
    async with running(adapter, inbox):
        slack.fail_next("apps.connections.open", "internal_error")
        slack.disconnect()
        await slack.until(lambda: len(slack.calls.of("apps.connections.open")) == 2)
    told = {record.name for record in caplog.records if record.levelno > logging.INFO}
    assert told == {"adapters.slack.ingress.socket"}


async def test_a_socket_that_does_not_say_goodbye_is_left_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingress, "FAREWELL", 0.1)
    before, left, ready = asyncio.all_tasks(), list[object](), anyio.Event()

    async def listen(port: int) -> None:
        client = web.web_client(BOT, f"http://127.0.0.1:{port}/api/")
        try:
            await ingress.listen(client, APP, f"ws://127.0.0.1:{port}/", Inbox().keep, ready.set)
        finally:
            left.extend(ours(before))

    with anyio.fail_after(5):
        async with silent_socket() as port, anyio.create_task_group() as tasks:
            tasks.start_soon(listen, port)
            await ready.wait()
            tasks.cancel_scope.cancel()
    assert left == []
    gc.collect()  # what was left open complains now


# What goes out.


async def test_a_message_is_posted_and_edited_without_pings_or_previews(slack: LoopbackSlack, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        ts = await posted(adapter, "**hi** <!channel>")
        edited = await adapter.perform(EditMessage(address=CHANNEL, message_id=ts, text="**hi** <@U1> @channel"))
    assert edited == Performed(message_id=ts)
    message = slack.message("C1", ts)
    for content in (message.original, message.content):
        assert (content.markup, content.pings) == ("markdown", ())
    assert (message.original.unfurl_links, message.original.unfurl_media) == (False, False)


async def test_a_reply_stands_in_its_thread(slack: LoopbackSlack, adapter: Adapter) -> None:
    said = slack.say("U1", "C1", "hello")
    address = Address(platform="slack", account="T1", channel="C1", thread=said.ts)
    with anyio.fail_after(5):
        await adapter.perform(PostMessage(address=address, text="hi"))
    assert [message.author for message in slack.messages("C1", said.ts)] == ["user", "bot"]


async def test_a_post_whose_answer_was_lost_is_found_by_its_nonce(slack: LoopbackSlack, adapter: Adapter) -> None:
    asked = slack.say("U1", "C1", "what is &lt; here?")
    place = thread_of(asked.ts)
    slack.lose_answer_next("chat.postMessage", status=0)
    with anyio.fail_after(5):
        lost = await adapter.perform(PostMessage(address=place, text="**less** than", nonce="n1"))
        assert isinstance(lost, Unknown)
        found = await adapter.perform(ReadThread(address=place))
    (reply,) = slack.messages("C1", author="bot")
    assert found == ThreadRead(
        messages=(
            Said(message_id=asked.ts, user="U1", text="what is &lt; here?", ours=False),
            Said(message_id=reply.ts, user="UBOT", text="**less** than", ours=True, nonce="n1"),
        )
    )
    assert reply.nonce == "n1"


async def test_an_edit_leaves_the_nonce(slack: LoopbackSlack, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        post = await adapter.perform(PostMessage(address=CHANNEL, text="a", nonce="n1"))
        assert isinstance(post, Performed)
        await adapter.perform(EditMessage(address=CHANNEL, message_id=post.message_id, text="b"))
        found = await adapter.perform(ReadThread(address=CHANNEL))
    assert isinstance(found, ThreadRead)
    assert [(said.text, said.nonce) for said in found.messages] == [("b", "n1")]


@pytest.mark.parametrize("threaded", [True, False])
async def test_the_newest_messages_between_two_are_read_over_pages(
    slack: LoopbackSlack, adapter: Adapter, monkeypatch: pytest.MonkeyPatch, threaded: bool
) -> None:
    monkeypatch.setattr(reading, "PAGE", 5)
    root = slack.say("U1", "C1", "root")
    said = [slack.say("U1", "C1", f"{number}", root.ts if threaded else None).ts for number in range(10)]
    address = thread_of(root.ts) if threaded else CHANNEL

    async def read(after: str | None = None, before: str | None = None, limit: int = 100) -> list[str]:
        found = await adapter.perform(ReadThread(address=address, after=after, before=before, limit=limit))
        assert isinstance(found, ThreadRead), found
        return [message.message_id for message in found.messages]

    with anyio.fail_after(5):
        assert await read() == [root.ts, *said]
        assert await read(after=said[1], before=said[8], limit=5) == said[3:8]
        assert await read(before=said[0]) == [root.ts]
        assert await read(after=said[9]) == []
    assert not slack.calls.rate_limited()


async def test_a_direct_conversation_is_read_with_and_without_a_thread(slack: LoopbackSlack, adapter: Adapter) -> None:
    asked = slack.say("U1", "D1", "hi")
    inside = slack.say("U1", "D1", "psst", asked.ts)
    with anyio.fail_after(5):
        top = await adapter.perform(ReadThread(address=DIRECT))
        below = await adapter.perform(
            ReadThread(address=Address(platform="slack", account="T1", channel="D1", thread=asked.ts))
        )
    assert isinstance(top, ThreadRead)
    assert isinstance(below, ThreadRead)
    assert [said.message_id for said in top.messages] == [asked.ts]
    assert [said.message_id for said in below.messages] == [asked.ts, inside.ts]


async def test_a_thread_whose_beginning_is_gone_is_read_without_it(slack: LoopbackSlack, adapter: Adapter) -> None:
    asked, alone = slack.say("U1", "C1", "hi"), slack.say("U1", "C1", "never mind")
    with anyio.fail_after(5):
        await adapter.perform(PostMessage(address=thread_of(asked.ts), text="hi"))
        slack.delete("C1", asked.ts)
        slack.delete("C1", alone.ts)
        found = await adapter.perform(ReadThread(address=thread_of(asked.ts)))
        nothing = await adapter.perform(ReadThread(address=thread_of(alone.ts)))
    assert isinstance(found, ThreadRead)
    assert [said.ours for said in found.messages] == [True]
    assert nothing == ThreadRead(messages=())


async def test_who_we_are_is_asked_once(slack: LoopbackSlack, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        slack.fail_next("auth.test", "ratelimited", status=429, retry_after=7)
        assert await adapter.perform(ReadThread(address=CHANNEL)) == RateLimited(retry_after=7)
        for _ in range(2):
            assert await adapter.perform(ReadThread(address=CHANNEL)) == ThreadRead(messages=())
    async with running(adapter, Inbox()):
        assert await adapter.perform(ReadThread(address=CHANNEL)) == ThreadRead(messages=())
    assert [call.error for call in slack.calls.of("auth.test")] == ["ratelimited", None, None]


async def test_a_reading_whose_answer_is_lost_may_be_done_again(slack: LoopbackSlack, adapter: Adapter) -> None:
    slack.lose_answer_next(
        "conversations.history", status=0, times=2
    )  # aiohttp asks twice where nothing can be done twice
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(ReadThread(address=CHANNEL)), Unreachable)


async def test_a_scope_that_is_missing_is_told_with_its_mend() -> None:
    scopes = tuple(scope for scope in granted() if scope not in ("channels:history", "reactions:write"))
    async with LoopbackSlack(workspace=Workspace(scopes=scopes)) as slack:
        adapter = create(Settings(base_url=slack.base_url))
        asked = slack.say("U1", "C1", "hi")
        with anyio.fail_after(5):
            for operation in (
                ReadThread(address=thread_of(asked.ts)),
                MarkWaiting(address=CHANNEL, message_id=asked.ts),
            ):
                refused = await adapter.perform(operation)
                assert isinstance(refused, Forbidden)
                assert "missing_scope: add the scopes of config/slack-manifest.yaml" in refused.reason


async def test_a_message_is_deleted_once(slack: LoopbackSlack, adapter: Adapter) -> None:
    asked = slack.say("U1", "C1", "hi")
    with anyio.fail_after(5):
        ts = await posted(adapter)
        delete = DeleteMessage(address=CHANNEL, message_id=ts)
        assert await adapter.perform(delete) == Performed(message_id=ts)
        assert await adapter.perform(delete) == MessageGone()
        refused = await adapter.perform(DeleteMessage(address=CHANNEL, message_id=asked.ts))
    assert isinstance(refused, EditRefused)
    assert [message.ts for message in slack.messages()] == [asked.ts]


async def test_a_message_is_marked_once_and_unmarked_once(slack: LoopbackSlack, adapter: Adapter) -> None:
    asked = slack.say("U1", "C1", "hi")
    mark = MarkWaiting(address=thread_of(asked.ts), message_id=asked.ts)
    unmark = UnmarkWaiting(address=thread_of(asked.ts), message_id=asked.ts)
    with anyio.fail_after(5):
        assert await adapter.perform(unmark) == NotModified()
        assert await adapter.perform(mark) == Performed(message_id=asked.ts)
        assert await adapter.perform(mark) == NotModified()
        (reaction,) = slack.message("C1", asked.ts).reactions
        assert (reaction.name, reaction.user) == ("hourglass_flowing_sand", "UBOT")
        assert await adapter.perform(unmark) == Performed(message_id=asked.ts)
        assert slack.message("C1", asked.ts).reactions == ()
        slack.delete("C1", asked.ts)
        assert [await adapter.perform(operation) for operation in (mark, unmark)] == [NotModified()] * 2


@pytest.mark.parametrize(
    ("method", "operation"),
    [
        ("chat.delete", DeleteMessage(address=CHANNEL, message_id="17.1")),
        ("conversations.history", ReadThread(address=CHANNEL)),
        ("conversations.replies", ReadThread(address=thread_of("17.1"))),
        ("reactions.add", MarkWaiting(address=CHANNEL, message_id="17.1")),
        ("reactions.remove", UnmarkWaiting(address=CHANNEL, message_id="17.1")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_every_operation_hands_on_its_rate_limit(
    slack: LoopbackSlack, adapter: Adapter, method: str, operation: Operation
) -> None:
    slack.fail_next(method, retry_after=9)
    with anyio.fail_after(5):
        assert await adapter.perform(operation) == RateLimited(retry_after=9)
    assert len(slack.calls.of(method)) == 1


async def test_an_edit_that_is_refused_is_told_from_a_place_that_is_closed(
    slack: LoopbackSlack, adapter: Adapter
) -> None:
    slack.fail_next("chat.update", "edit_window_closed")
    with anyio.fail_after(5):
        edit = EditMessage(address=CHANNEL, message_id=await posted(adapter), text="more")
        refused = await adapter.perform(edit)
    assert isinstance(refused, EditRefused)
    assert "late edits" in refused.reason


@pytest.mark.parametrize(
    "operation",
    [
        StartStream(address=CHANNEL, text="a"),
        AppendText(address=CHANNEL, message_id="17.1", text="a"),
        FinishStream(address=CHANNEL, message_id="17.1", text=""),
    ],
    ids=lambda operation: type(operation).__name__,
)
async def test_streams_are_not_offered_and_refused(
    slack: LoopbackSlack, adapter: Adapter, operation: Operation
) -> None:
    refused = await adapter.perform(operation)
    assert isinstance(refused, Forbidden)
    assert "streams are not used yet" in refused.reason
    assert len(slack.calls) == 0


@pytest.mark.parametrize("wait", [1, 10_072])
async def test_a_rate_limit_is_handed_on_at_once_and_without_a_cap(
    slack: LoopbackSlack, adapter: Adapter, wait: int
) -> None:
    slack.fail_next("chat.postMessage", retry_after=wait)
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=CHANNEL, text="hi"))
    assert outcome == RateLimited(retry_after=wait)
    assert len(slack.calls.of("chat.postMessage")) == 1


async def test_slacks_own_budget_is_told_too(adapter: Adapter) -> None:
    with anyio.fail_after(5):
        outcomes = [await adapter.perform(PostMessage(address=CHANNEL, text=f"{number}")) for number in range(8)]
    assert any(isinstance(outcome, RateLimited) and outcome.retry_after >= 1 for outcome in outcomes)


async def test_a_message_that_was_deleted_is_gone(slack: LoopbackSlack, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        ts = await posted(adapter)
        slack.delete("C1", ts)
        assert await adapter.perform(EditMessage(address=CHANNEL, message_id=ts, text="more")) == MessageGone()


@pytest.mark.parametrize(
    ("text", "markup"),
    [("a" * 12_001, True), ("<!" * 5_000, True), ("&" * 801, False)],
    ids=["long", "grown", "escaped"],
)
async def test_what_is_too_long_is_not_even_sent(
    slack: LoopbackSlack, adapter: Adapter, text: str, markup: bool
) -> None:
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=CHANNEL, text=text, markup=markup))
    assert outcome == TooLong()
    assert not slack.calls.of("chat.postMessage")


async def test_z08_nothing_is_never_sent(slack: LoopbackSlack, adapter: Adapter) -> None:
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(PostMessage(address=CHANNEL, text=" \n")), MarkupRejected)
        assert isinstance(await adapter.perform(PostMessage(address=CHANNEL, text="", markup=False)), Forbidden)
    assert not slack.calls.of("chat.postMessage")


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        ("msg_too_long", 200, TooLong()),
        ("invalid_blocks", 200, MarkupRejected(reason="invalid_blocks")),
        ("internal_error", 500, Unknown(reason="Slack says internal_error")),
        ("fatal_error", 200, Unknown(reason="Slack says fatal_error")),
        ("token_revoked", 200, TABLE["token_revoked"]),
    ],
)
async def test_what_slack_says_is_the_outcome(
    slack: LoopbackSlack, adapter: Adapter, error: str, status: int, expected: Outcome
) -> None:
    slack.fail_next("chat.postMessage", error, status=status)
    with anyio.fail_after(5):
        assert await adapter.perform(PostMessage(address=CHANNEL, text="hi")) == expected
    assert len(slack.calls.of("chat.postMessage")) == 1


async def test_a_channel_that_we_are_not_in_says_how_to_get_in(adapter: Adapter) -> None:
    elsewhere = Address(platform="slack", account="T1", channel="C9")
    with anyio.fail_after(5):
        outcome = await adapter.perform(PostMessage(address=elsewhere, text="hi"))
    assert isinstance(outcome, Forbidden)
    assert "not_in_channel: invite the bot" in outcome.reason


@pytest.mark.parametrize("connected", [True, False])
async def test_a_cut_connection_leaves_it_unknown_and_nothing_is_sent_twice(
    slack: LoopbackSlack, adapter: Adapter, connected: bool
) -> None:
    slack.lose_answer_next("chat.postMessage", status=0)
    post = PostMessage(address=CHANNEL, text="hi")
    if connected:
        async with running(adapter, Inbox()):
            outcome = await adapter.perform(post)
    else:
        with anyio.fail_after(5):
            outcome = await adapter.perform(post)
    assert isinstance(outcome, Unknown)
    assert len(slack.messages("C1", author="bot")) == 1
    assert len(slack.calls.of("chat.postMessage")) == 1


async def test_an_answer_that_does_not_come_leaves_it_unknown(
    slack: LoopbackSlack, adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "TIMEOUT", 0.2)
    slack.delay_next("chat.postMessage", 0.6)
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(PostMessage(address=CHANNEL, text="hi")), Unknown)


async def test_where_nobody_listens_nothing_was_sent() -> None:
    adapter = create(Settings(base_url="http://127.0.0.1:1/api/"))
    with anyio.fail_after(5):
        assert isinstance(await adapter.perform(PostMessage(address=CHANNEL, text="hi")), Unreachable)


async def test_what_is_not_slack_is_no_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = pages.pop(0)
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % body)
        await writer.drain()
        writer.close()

    def page(status: bytes, kind: bytes, body: bytes) -> tuple[bytes, bytes, int, bytes]:
        return status, kind, len(body), body

    pages = [
        page(b"200 OK", b"text/html", b"<html>log in</html>"),
        page(b"200 OK", b"text/plain", b"log in"),
        page(b"200 OK", b"application/json", b"{not json"),
        page(b"200 OK", b"application/json", b"[]"),
        page(b"502 Bad Gateway", b"text/plain", b"no"),
        page(b"503 Unavailable", b"application/json", b"{not json"),
        page(b"429 Slow Down\r\nRetry-After: 9", b"text/html", b"<html>"),
        page(b"404 Not Found", b"text/html", b"<html>"),
    ]
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    adapter = create(Settings(base_url=f"http://127.0.0.1:{address[1]}/api/"))
    with anyio.fail_after(5):
        outcomes = [await adapter.perform(PostMessage(address=CHANNEL, text="hi")) for _ in range(len(pages))]
    server.close()
    await server.wait_closed()
    assert [type(outcome) for outcome in outcomes] == [*[Unknown] * 6, RateLimited, Forbidden]
    assert outcomes[6] == RateLimited(retry_after=9)


async def test_cancelling_an_operation_is_no_outcome(slack: LoopbackSlack, adapter: Adapter) -> None:
    slack.delay_next("chat.postMessage", 0.6)
    with anyio.fail_after(5), anyio.move_on_after(0.2) as scope:
        outcome = await adapter.perform(PostMessage(address=CHANNEL, text="hi"))
        pytest.fail(f"cancelled, but {outcome}")
    assert scope.cancelled_caught


async def test_without_a_token_nothing_is_performed_and_the_reason_says_which(
    adapter: Adapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN")
    outcome = await adapter.perform(PostMessage(address=CHANNEL, text="hi"))
    assert isinstance(outcome, Forbidden)
    assert "SLACK_BOT_TOKEN" in outcome.reason


async def test_z05_no_token_is_written_anywhere(
    slack: LoopbackSlack, adapter: Adapter, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    outcomes: list[object] = []
    async with running(adapter, Inbox()):
        slack.say("U1", "D1", "hello")
        await slack.until(lambda: not slack.unacknowledged)
        for status, error in ((0, None), (500, None), (200, "invalid_auth"), (429, "ratelimited")):
            slack.fail_next("chat.postMessage", error, status=status)
            outcomes.append(await adapter.perform(PostMessage(address=CHANNEL, text="hi")))
        slack.fail_next("apps.connections.open", "internal_error")
        slack.disconnect()
        await slack.until(lambda: len(slack.calls.of("apps.connections.open")) == 2)
    slack.fail_next("auth.test", "invalid_auth")
    outcomes.append(await refusal(adapter))
    written = "".join([caplog.text, *capfd.readouterr(), repr(adapter), repr(outcomes), repr(vars(adapter))])
    assert "Sending a request" in written
    assert BOT not in written
    assert APP not in written


YES = (Button(label="Yes", data="approve:abcdefg2", style="go"),)


async def test_a_press_that_was_not_stored_is_not_acknowledged(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    asked = await adapter.perform(PostMessage(address=CHANNEL, text="May I?", buttons=YES))
    assert isinstance(asked, Performed)
    async with running(adapter, inbox):
        await slack.until(lambda: not slack.unacknowledged)
        inbox.refusals = 1
        slack.press("U1", "C1", asked.message_id, "approve:abcdefg2")
        await slack.until(lambda: any(isinstance(each, PressReceived) for each in inbox.received))
        slack.press("U1", "C1", asked.message_id, "approve:abcdefg2")
        await slack.until(lambda: slack.unanswered_presses == 1)
    assert sum(isinstance(each, PressReceived) for each in inbox.received) == 2


async def test_buttons_of_others_are_ignored(slack: LoopbackSlack, adapter: Adapter) -> None:
    inbox = Inbox()
    client: Any = web.web_client(BOT, slack.base_url)
    foreign = await client.api_call(
        "chat.postMessage",
        json={
            "channel": "C1",
            "text": "Pizza?",
            "blocks": [
                {
                    "type": "actions",
                    "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Yes"}, "value": "yes"}],
                }
            ],
        },
    )
    async with running(adapter, inbox):
        slack.press("U1", "C1", foreign["ts"], "yes")
        await slack.until(lambda: not slack.unacknowledged)
    assert inbox.reasons[-1] == "a press of a button that is not ours"


async def test_with_nothing_to_say_to_who_pressed_slack_is_not_asked(slack: LoopbackSlack, adapter: Adapter) -> None:
    told = TellPrivately(address=CHANNEL, user="U1", text="", press="19.3")
    assert await adapter.perform(told) == Performed(message_id="19.3")
    assert not list(slack.calls)


async def test_a_private_word_for_who_is_not_there_is_forbidden(slack: LoopbackSlack, adapter: Adapter) -> None:
    refused = await adapter.perform(TellPrivately(address=DIRECT, user="U2", text="psst"))
    assert isinstance(refused, Forbidden)
    assert refused.reason.startswith("Slack says user_not_in_channel: only members")
    assert await adapter.perform(TellPrivately(address=CHANNEL, user="U1", text="x" * 12_001)) == TooLong()


async def test_what_stands_above_buttons_is_read_back_as_it_was_written(slack: LoopbackSlack, adapter: Adapter) -> None:
    text = "**May I** call `<!here>` & run <b>?"
    post = PostMessage(address=CHANNEL, text=text, nonce="n1", buttons=YES)
    assert isinstance(await adapter.perform(post), Performed)
    read = await adapter.perform(ReadThread(address=CHANNEL))
    assert isinstance(read, ThreadRead)
    assert [(each.text, each.nonce) for each in read.messages] == [(text, "n1")]
    assert slack.messages("C1")
