"""Slack's Socket Mode on loopback, with the real bolt on the other end."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.loopback.slack import LoopbackSlack, Redelivery
from adapters.loopback.slack.change import (
    CallAnswered,
    Change,
    EnvelopeSent,
    EnvelopeTimedOut,
    MessagePosted,
    SocketClosed,
    SocketOpened,
)

# Short enough to be waited for, long enough for a busy machine to acknowledge in time.
SHORT = Redelivery(deadline=0.25, delays=(0.0, 0.01))
Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """A bolt app that notes all events, and the retry number of each."""

    bodies: list[Body] = field(default_factory=list[Body])
    retries: list[str] = field(default_factory=list[str])

    def kinds(self) -> list[str]:
        return [str(body["event"].get("subtype") or body["event"]["type"]) for body in self.bodies]


def client_of(slack: LoopbackSlack) -> Any:
    """The real SDK; its own types are full of holes, so here it has none."""
    return AsyncWebClient(token=slack.workspace.bot_token, base_url=slack.base_url)


@asynccontextmanager
async def bolt(slack: LoopbackSlack, *, acknowledges: bool = True) -> AsyncGenerator[Bot]:
    """Connect an app, which acknowledges everything or nothing."""
    bot = Bot()
    app: Any = AsyncApp(client=client_of(slack), ignoring_self_events_enabled=False)

    @app.middleware
    async def note(body: Body, request: Any, next: Any) -> None:  # noqa: A002 - bolt passes by name
        bot.bodies.append(body)
        bot.retries.append(request.headers["x-slack-retry-num"][0])
        if acknowledges:
            await next()

    @app.event({"type": "message"})
    @app.event({"type": "message", "subtype": "message_changed"})
    @app.event({"type": "message", "subtype": "message_deleted"})
    @app.event("app_mention")
    async def listen() -> None:
        pass

    handler: Any = AsyncSocketModeHandler(app, slack.workspace.app_token, ping_interval=0.05)
    await handler.connect_async()
    try:
        yield bot
    finally:
        await handler.close_async()


@pytest.fixture
async def slack() -> AsyncIterator[LoopbackSlack]:
    with anyio.fail_after(5):
        async with LoopbackSlack(time_scale=20) as server:
            yield server


@pytest.fixture
async def impatient() -> AsyncIterator[LoopbackSlack]:
    """A Slack that sends again after a quarter of a second."""
    with anyio.fail_after(5):
        async with LoopbackSlack(time_scale=20, redelivery=SHORT) as server:
            yield server


async def address_of(slack: LoopbackSlack) -> str:
    answer = await client_of(slack).apps_connections_open(app_token=slack.workspace.app_token)
    return str(answer["url"])


@asynccontextmanager
async def socket(slack: LoopbackSlack) -> AsyncGenerator[ClientWebSocketResponse]:
    """A bare socket, for what bolt would never do."""
    url = await address_of(slack)
    async with ClientSession() as session, session.ws_connect(url) as link:
        yield link


async def frame_of(link: ClientWebSocketResponse) -> Body:
    return cast("Body", await link.receive_json())


async def test_a_mention_arrives_twice_under_one_ts_and_is_acknowledged(slack: LoopbackSlack) -> None:
    async with bolt(slack) as bot:
        message = slack.say("U1", "C1", "what is <this>?")
        await slack.until(lambda: len(slack.acknowledgements) == 2)
    assert bot.kinds() == ["app_mention", "message"]
    assert {body["event"]["ts"] for body in bot.bodies} == {message.ts}
    assert {body["event"]["text"] for body in bot.bodies} == {"<@UBOT> what is &lt;this&gt;?"}
    assert [body["event_id"] for body in bot.bodies] == slack.event_ids(message.ts)
    assert len(set(slack.event_ids(message.ts))) == 2
    assert all(acknowledgement.in_time for acknowledgement in slack.acknowledgements)
    assert all(0 < acknowledgement.latency < 3 for acknowledgement in slack.acknowledgements)
    assert slack.unacknowledged == 0


@pytest.mark.parametrize(
    ("text", "mention", "sent"),
    [
        ("hi", True, "<@UBOT> hi"),
        ("hi", False, "hi"),
        ("", True, "<@UBOT>"),
        ("ask <@UBOT>", True, "ask <@UBOT>"),
        ("ask <@UBOT|dragoman>", True, "ask <@UBOT|dragoman>"),
    ],
)
async def test_a_mention_is_written_unless_it_is_there(text: str, *, mention: bool, sent: str) -> None:
    slack = LoopbackSlack()
    assert slack.say("U1", "C1", text, mention=mention).text == sent
    assert len(slack.event_ids(slack.messages()[0].ts)) == (2 if "UBOT" in sent else 1)
    assert slack.clock.scale == 1.0


async def test_a_direct_message_arrives_once(slack: LoopbackSlack) -> None:
    async with bolt(slack) as bot:
        slack.say("U1", "D1", "hi")
        await slack.until(lambda: len(slack.acknowledgements) == 1)
    (body,) = bot.bodies
    assert (body["event"]["type"], body["event"]["channel_type"], body["event"]["text"]) == ("message", "im", "hi")


async def test_edits_deletions_and_previews_arrive(slack: LoopbackSlack) -> None:
    async with bolt(slack) as bot:
        message = slack.say("U1", "C1", "see https://example.org", mention=False)
        slack.unfurl("C1", message.ts, "https://example.org")
        slack.edit("C1", message.ts, "never mind")
        slack.delete("C1", message.ts)
        await slack.until(lambda: len(slack.acknowledgements) == 4)
    assert bot.kinds() == ["message", "message_changed", "message_changed", "message_deleted"]
    preview, edit, deletion = (body["event"] for body in bot.bodies[1:])
    assert preview["message"]["text"] == preview["previous_message"]["text"]
    assert (edit["message"]["text"], edit["message"]["edited"]["user"]) == ("never mind", "U1")
    assert deletion["deleted_ts"] == message.ts
    assert len(slack.event_ids(message.ts)) == 4


async def test_what_the_bot_writes_comes_back_to_it(slack: LoopbackSlack) -> None:
    client = client_of(slack)
    async with bolt(slack) as bot:
        ts = str((await client.chat_postMessage(channel="C1", markdown_text="a"))["ts"])
        await client.chat_update(channel="C1", ts=ts, markdown_text="b")
        await slack.until(lambda: len(slack.acknowledgements) == 2)
    assert bot.kinds() == ["message", "message_changed"]
    assert bot.bodies[0]["event"]["bot_id"] == "B1"


async def test_what_is_not_acknowledged_comes_again_on_schedule(impatient: LoopbackSlack) -> None:
    timed_out = list[bool]()

    def note(change: Change) -> None:
        if isinstance(change, EnvelopeTimedOut):
            timed_out.append(change.abandoned)

    impatient.subscribe(note)
    async with bolt(impatient, acknowledges=False) as bot:
        message = impatient.say("U1", "D1", "hi")
        await impatient.until(lambda: len(timed_out) == 3)
    assert timed_out == [False, False, True]
    assert bot.retries == ["0", "1", "2"]
    assert [body["event_id"] for body in bot.bodies] == impatient.event_ids(message.ts) * 3
    assert len({envelope.envelope_id for envelope in impatient.envelopes}) == 3
    assert (impatient.acknowledgements, impatient.unacknowledged) == ([], 0)


def test_slacks_schedule_is_three_seconds_then_at_once_one_and_five_minutes() -> None:
    assert Redelivery() == Redelivery(deadline=3.0, delays=(0.0, 60.0, 300.0))


async def test_an_acknowledged_event_does_not_come_again(slack: LoopbackSlack) -> None:
    async with bolt(slack):
        slack.say("U1", "D1", "hi")
        assert slack.unacknowledged == 1
        await slack.until(lambda: slack.acknowledgements)
        assert slack.unacknowledged == 0


async def test_the_deadline_is_the_clients_time_and_not_the_platforms() -> None:
    with anyio.fail_after(5):
        async with LoopbackSlack(time_scale=1e6) as slack, bolt(slack):
            slack.say("U1", "D1", "hi")
            acknowledgement = (await slack.until(lambda: slack.acknowledgements))[0]
    assert acknowledgement.in_time


async def test_a_lost_acknowledgement_brings_the_event_again(impatient: LoopbackSlack) -> None:
    impatient.lose_acknowledgements(2)
    async with bolt(impatient) as bot:
        impatient.say("U1", "D1", "hi")
        await impatient.until(lambda: len(impatient.acknowledgements) == 3)
    assert [acknowledgement.in_time for acknowledgement in impatient.acknowledgements] == [False, False, True]
    assert bot.retries == ["0", "1", "2"]


async def test_a_late_acknowledgement_does_not_count(impatient: LoopbackSlack) -> None:
    async with socket(impatient) as link:
        assert (await frame_of(link))["type"] == "hello"
        impatient.say("U1", "D1", "hi")
        first, second = await frame_of(link), await frame_of(link)
        assert (first["retry_attempt"], first["retry_reason"]) == (0, "")
        assert (second["retry_attempt"], second["retry_reason"]) == (1, "timeout")
        assert first["envelope_id"] != second["envelope_id"]
        assert first["payload"]["event_id"] == second["payload"]["event_id"]
        await link.send_json({"envelope_id": first["envelope_id"]})
        await link.send_json({"envelope_id": second["envelope_id"], "payload": {"text": "ok"}})
        await impatient.until(lambda: len(impatient.acknowledgements) == 2)
    late, in_time = impatient.acknowledgements
    assert (late.in_time, late.envelope.attempt) == (False, 0)
    assert (in_time.in_time, in_time.envelope.attempt, in_time.payload) == (True, 1, {"text": "ok"})
    assert late.latency > SHORT.deadline


async def test_an_acknowledgement_of_nothing_is_ignored(slack: LoopbackSlack) -> None:
    async with socket(slack) as link:
        await link.send_json({"envelope_id": "unheard of"})
        await link.send_json(["no", "object"])
        slack.say("U1", "D1", "hi")
        await frame_of(link)
        envelope = await frame_of(link)
        await link.send_json({"envelope_id": envelope["envelope_id"]})
        await slack.until(lambda: slack.acknowledgements)
    assert len(slack.acknowledgements) == 1


async def test_events_wait_while_no_socket_is_open(slack: LoopbackSlack) -> None:
    slack.say("U1", "D1", "first")
    slack.say("U1", "D1", "second")
    assert (slack.envelopes, slack.unacknowledged) == ([], 2)
    async with bolt(slack) as bot:
        await slack.until(lambda: len(slack.acknowledgements) == 2)
    assert [body["event"]["text"] for body in bot.bodies] == ["first", "second"]
    assert bot.retries == ["0", "0"]


async def test_an_event_goes_to_one_of_the_sockets(slack: LoopbackSlack) -> None:
    async with bolt(slack) as left, bolt(slack) as right:
        await slack.until(lambda: slack.open_sockets == 2)
        for number in range(6):
            slack.say("U1", "D1", str(number))
        await slack.until(lambda: len(slack.acknowledgements) == 6)
        texts = [{body["event"]["text"] for body in bot.bodies} for bot in (left, right)]
    assert texts == [{"0", "2", "4"}, {"1", "3", "5"}]


async def test_what_a_dropped_socket_held_goes_to_the_next(impatient: LoopbackSlack) -> None:
    async with socket(impatient):
        impatient.say("U1", "D1", "hi")
        await impatient.until(lambda: impatient.envelopes)
    await impatient.until(lambda: impatient.open_sockets == 0)
    async with bolt(impatient) as bot:
        await impatient.until(lambda: impatient.acknowledgements)
    assert (bot.retries, impatient.acknowledgements[0].envelope.attempt) == (["1"], 1)


async def test_an_eleventh_socket_is_sent_away(slack: LoopbackSlack) -> None:
    async with anyio.create_task_group() as group:

        async def hold() -> None:
            async with socket(slack):
                await anyio.sleep_forever()

        for _ in range(10):
            group.start_soon(hold)
        await slack.until(lambda: slack.open_sockets == 10)
        async with socket(slack) as link:
            frame = await frame_of(link)
            assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")
            assert (await link.receive()).type is WSMsgType.CLOSE
        assert slack.open_sockets == 10
        group.cancel_scope.cancel()


async def test_a_sockets_address_works_once(slack: LoopbackSlack) -> None:
    url = await address_of(slack)
    async with ClientSession() as session:
        async with session.ws_connect(url) as link:
            assert (await frame_of(link))["num_connections"] == 1
        for used in (url, url.replace("ticket=", "ticket=made-up-")):
            with pytest.raises(WSServerHandshakeError):
                await session.ws_connect(used)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_an_app_asked_to_leave_comes_back(slack: LoopbackSlack, reason: str) -> None:
    async with bolt(slack) as bot:
        slack.disconnect(reason)
        await slack.until(lambda: len(slack.calls.of("apps.connections.open")) == 2 and slack.open_sockets)
        slack.say("U1", "D1", "still there?")
        await slack.until(lambda: slack.acknowledgements)
    assert len(bot.bodies) >= 1


async def test_an_app_whose_socket_broke_comes_back(slack: LoopbackSlack) -> None:
    async with bolt(slack) as bot:
        assert slack.drop_sockets() == 1
        await slack.until(lambda: slack.open_sockets == 0)
        slack.say("U1", "D1", "still there?")
        await slack.until(lambda: slack.acknowledgements)
    assert bot.retries == ["0"]


async def test_an_event_can_be_pushed_raw_and_delivered_again(slack: LoopbackSlack) -> None:
    event = {"type": "app_mention", "user": "U1", "text": "<@UBOT> hi", "ts": "7.000001", "channel": "C1"}
    async with bolt(slack) as bot:
        first = slack.push(event)
        await slack.until(lambda: len(slack.acknowledgements) == 1)
        slack.redeliver(first)
        await slack.until(lambda: len(slack.acknowledgements) == 2)
        slack.push(event, event_id="EvLate", attempt=2)
        await slack.until(lambda: len(slack.acknowledgements) == 3)
    assert [body["event_id"] for body in bot.bodies] == [first, first, "EvLate"]
    assert bot.retries == ["0", "1", "2"]
    assert all(body["event"] == event for body in bot.bodies)
    assert slack.event_ids("7.000001") == [first, "EvLate"]


async def test_other_payloads_carry_no_retry_and_are_not_repeated(impatient: LoopbackSlack) -> None:
    abandoned = list[bool]()

    def note(change: Change) -> None:
        if isinstance(change, EnvelopeTimedOut):
            abandoned.append(change.abandoned)

    impatient.subscribe(note)
    async with socket(impatient) as link:
        await frame_of(link)
        payload: Mapping[str, object] = {"type": "block_actions", "user": {"id": "U1"}}
        envelope_id = impatient.push_payload(payload, "interactive")
        frame = await frame_of(link)
        await impatient.until(lambda: abandoned)
    assert frame == {
        "envelope_id": envelope_id,
        "type": "interactive",
        "payload": payload,
        "accepts_response_payload": True,
    }
    assert abandoned == [True]


async def test_observers_see_a_message_before_its_events(slack: LoopbackSlack) -> None:
    changes = list[Change]()
    async with bolt(slack):
        slack.subscribe(changes.append)
        slack.say("U1", "C1", "hi")
        assert [type(change) for change in changes] == [MessagePosted, EnvelopeSent, EnvelopeSent]
        await slack.until(lambda: len(slack.acknowledgements) == 2)


async def test_observers_see_sockets_come_and_go(slack: LoopbackSlack) -> None:
    changes = list[Change]()
    slack.subscribe(changes.append)
    async with socket(slack):
        await slack.until(lambda: slack.open_sockets)
    await slack.until(lambda: not slack.open_sockets)
    assert [change for change in changes if not isinstance(change, CallAnswered)] == [
        SocketOpened(count=1),
        SocketClosed(count=0),
    ]


async def test_what_waits_for_its_next_attempt_is_counted_until_the_server_stops() -> None:
    with anyio.fail_after(5):
        async with LoopbackSlack(redelivery=Redelivery(deadline=0.05, delays=(60.0,))) as slack, socket(slack):
            timed_out = list[Change]()
            slack.subscribe(timed_out.append)
            slack.say("U1", "D1", "hi")
            await slack.until(lambda: isinstance(timed_out[-1], EnvelopeTimedOut))
            assert slack.unacknowledged == 1
            await slack.stop()
            assert slack.unacknowledged == 0


async def test_a_failing_address_is_asked_for_again(slack: LoopbackSlack) -> None:
    async with bolt(slack):
        slack.fail_next("apps.connections.open", "internal_error")
        slack.drop_sockets()
        await slack.until(lambda: slack.open_sockets == 0)
        await slack.until(lambda: slack.open_sockets == 1)
    assert [call.error for call in slack.calls.of("apps.connections.open")] == [None, "internal_error", None]


async def test_a_server_stands_on_this_machine_only_at_a_port_that_can_be_chosen() -> None:
    with anyio.fail_after(5):
        async with LoopbackSlack() as slack:
            address = slack.base_url
        port = int(address.removeprefix("http://127.0.0.1:").removesuffix("/api/"))
        assert port > 1023
        async with LoopbackSlack(port=port) as slack:
            assert slack.base_url == address


async def test_a_stopped_server_waits_for_nothing(slack: LoopbackSlack) -> None:
    async with socket(slack):
        slack.say("U1", "D1", "hi")
        await slack.until(lambda: slack.envelopes)
        await slack.stop()
        assert (slack.unacknowledged, slack.open_sockets) == (0, 0)


def buttons(*values: str) -> list[dict[str, object]]:
    """A block of buttons with these values."""
    text = {"type": "plain_text", "text": "Yes"}
    elements = [{"type": "button", "text": text, "action_id": value, "value": value} for value in values]
    return [{"type": "actions", "block_id": "b", "elements": elements}]


async def test_a_press_arrives_as_slack_tells_of_it(slack: LoopbackSlack) -> None:
    question = slack.say("U1", "C1", "hi")
    posted: Any = await client_of(slack).chat_postMessage(
        channel="C1", thread_ts=question.ts, blocks=buttons("yes"), text="May I?"
    )
    async with socket(slack) as link:
        await frame_of(link)
        await slack.until(lambda: len(slack.envelopes) == 3)
        for _ in range(3):
            await frame_of(link)
        slack.press("U2", "C1", posted["ts"], "yes")
        frame = await frame_of(link)
        assert slack.unanswered_presses == 1
        await link.send_json({"envelope_id": frame["envelope_id"]})
        await slack.until(lambda: slack.unanswered_presses == 0)
        slack.repeat_press()
        again = await frame_of(link)
    payload = cast("Body", frame["payload"])
    (action,) = payload["actions"]
    assert (frame["type"], frame["accepts_response_payload"], payload["type"]) == ("interactive", True, "block_actions")
    assert (payload["user"]["id"], payload["channel"]["id"], payload["team"]["id"]) == ("U2", "C1", "T1")
    assert payload["container"] == {
        "type": "message",
        "message_ts": posted["ts"],
        "channel_id": "C1",
        "is_ephemeral": False,
        "thread_ts": question.ts,
    }
    assert payload["message"] == posted["message"]
    assert {name: action[name] for name in ("type", "action_id", "block_id", "value")} == {
        "type": "button",
        "action_id": "yes",
        "block_id": "b",
        "value": "yes",
    }
    assert float(action["action_ts"]) > float(posted["ts"])
    assert again["payload"] == payload
    assert again["envelope_id"] != frame["envelope_id"]


async def test_two_presses_are_told_apart(slack: LoopbackSlack) -> None:
    ts: Any = (await client_of(slack).chat_postMessage(channel="C1", blocks=buttons("yes"), text="May I?"))["ts"]
    first, second = (cast("Any", slack.press("U1", "C1", ts, "yes")) for _ in range(2))
    assert first["actions"][0]["action_ts"] < second["actions"][0]["action_ts"]
    assert first["trigger_id"] != second["trigger_id"]


async def test_only_a_button_that_is_there_is_pressed_and_by_who_sees_it(slack: LoopbackSlack) -> None:
    client = client_of(slack)
    ts: Any = (await client.chat_postMessage(channel="D1", blocks=buttons("yes", "no"), text="May I?"))["ts"]
    for user, value in (("U1", "maybe"), ("U2", "yes")):
        with pytest.raises(LookupError):
            slack.press(user, "D1", ts, value)
    slack.press("U1", "D1", ts, "no")
    await client.chat_update(channel="D1", ts=ts, blocks=[], text="Done.")
    with pytest.raises(LookupError):
        slack.press("U1", "D1", ts, "no")
    assert cast("Any", slack.press("U1", "D1", ts, "no", stale=True))["channel"]["name"] == "directmessage"
    with pytest.raises(LookupError):
        slack.press("U1", "D1", ts, "maybe", stale=True)
    await client.chat_delete(channel="D1", ts=ts)
    with pytest.raises(LookupError):
        slack.press("U1", "D1", ts, "no", stale=True)
