"""Slack's Web API on loopback, called by the real SDK."""

import math
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import pytest
from aiohttp import ServerDisconnectedError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.loopback.clock import PlatformClock
from adapters.loopback.slack import Channel, LoopbackSlack, Workspace
from adapters.loopback.slack.change import Change, EphemeralPosted, MessagePosted, ReactionAdded, StatusSet

WORKSPACE = Workspace(
    channels=(
        Channel(id="C1", name="general"),
        Channel(id="C2", name="elsewhere", joined=False),
        Channel(id="C3", name="without-bob", absent=("U2",)),
        Channel(id="D1", name="ada", type="im", user="U1"),
    )
)


class HandClock:
    """Real seconds that pass only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
async def slack(hand: HandClock) -> AsyncIterator[LoopbackSlack]:
    with anyio.fail_after(5):
        async with LoopbackSlack(workspace=WORKSPACE, clock=PlatformClock(20, source=hand)) as server:
            yield server


def client_of(slack: LoopbackSlack, token: str) -> Any:
    """The real SDK; its own types are full of holes, so here it has none."""
    return AsyncWebClient(token=token, base_url=slack.base_url)


@pytest.fixture
def client(slack: LoopbackSlack) -> Any:
    return client_of(slack, slack.workspace.bot_token)


async def refusal_of(client: Any, method: str, **arguments: object) -> Any:
    """The answer to a call that must be refused."""
    with pytest.raises(SlackApiError) as raised:
        await client.api_call(method, json=arguments)
    error: Any = raised.value
    return error.response


async def error_of(client: Any, method: str, **arguments: object) -> str:
    return str((await refusal_of(client, method, **arguments))["error"])


async def post(client: Any, text: str = "a", channel: str = "C1", **arguments: object) -> str:
    answer = await client.api_call("chat.postMessage", json={"channel": channel, "markdown_text": text, **arguments})
    return str(answer["ts"])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C404", "text": "a"}, "channel_not_found"),
        ({"text": "a"}, "channel_not_found"),
        ({"channel": "C2", "text": "a"}, "not_in_channel"),
        ({"channel": "C1"}, "no_text"),
        ({"channel": "C1", "markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"channel": "C1", "markdown_text": "a", "text": "b"}, "markdown_text_conflict"),
        ({"channel": "C1", "text": "a", "thread_ts": "yesterday"}, "invalid_thread_ts"),
        ({"channel": "C1", "text": "a", "thread_ts": "7"}, "invalid_thread_ts"),
        ({"channel": "C1", "text": "a", "thread_ts": "7.x"}, "invalid_thread_ts"),
        ({"channel": "C1", "text": "a", "thread_ts": "x.7"}, "invalid_thread_ts"),
        ({"channel": "C1", "text": "a", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
    ],
)
async def test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing(
    slack: LoopbackSlack, client: Any, arguments: dict[str, object], error: str
) -> None:
    assert await error_of(client, "chat.postMessage", **arguments) == error
    assert slack.messages() == []
    assert [(call.method, call.status, call.error) for call in slack.calls] == [("chat.postMessage", 200, error)]


async def test_an_update_needs_a_message_of_the_bots_own(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    gone = await post(client)
    slack.delete("C1", gone)
    for method, foreign in (("chat.update", "cant_update_message"), ("chat.delete", "cant_delete_message")):
        assert await error_of(client, method, channel="C1", ts="1.000001", text="b") == "message_not_found"
        assert await error_of(client, method, channel="C1", ts=gone, text="b") == "message_not_found"
        assert await error_of(client, method, channel="C1", ts=question.ts, text="b") == foreign
        assert await error_of(client, method, channel="C404", ts=gone, text="b") == "channel_not_found"
    assert slack.message("C1", question.ts).text == "<@UBOT> hi"


async def test_text_of_4001_characters_can_be_posted_but_not_updated(slack: LoopbackSlack, client: Any) -> None:
    answer = await client.chat_postMessage(channel="C1", text="x" * 4_001)
    ts = str(answer["ts"])
    assert await error_of(client, "chat.update", channel="C1", ts=ts, text="y" * 4_001) == "msg_too_long"
    assert slack.message("C1", ts).text == "x" * 4_001


async def test_long_text_is_cut_with_a_warning(slack: LoopbackSlack, client: Any) -> None:
    answer = await client.chat_postMessage(channel="C1", text="x" * 40_001)
    assert answer["warning"] == "message_truncated"
    assert slack.message("C1", str(answer["ts"])).text == "x" * 40_000


async def test_all_that_a_message_was_is_kept(slack: LoopbackSlack, client: Any) -> None:
    metadata = {"event_type": "reply", "event_payload": {"chunk": 1}}
    ts = await post(client, "a", unfurl_links=False, unfurl_media=False, metadata=metadata)
    for text in ("b", "b", "c"):
        await client.chat_update(channel="C1", ts=ts, markdown_text=text, parse="none", link_names=False)
    message = slack.message("C1", ts)
    assert (message.id, message.author, message.user, message.text, message.edited) == (ts, "bot", "UBOT", "c", True)
    assert (message.original.unfurl_links, message.original.unfurl_media) == (False, False)
    assert (message.content.parse, message.content.link_names) == ("none", False)
    assert [(edit.content.text, edit.changed) for edit in message.edits] == [("b", True), ("b", False), ("c", True)]
    assert message.content.metadata == metadata


async def test_metadata_stays_until_it_is_replaced_by_nothing(slack: LoopbackSlack, client: Any) -> None:
    ts = await post(client, metadata={"event_type": "reply", "event_payload": {}})
    await client.api_call("chat.update", json={"channel": "C1", "ts": ts, "markdown_text": "b", "metadata": {}})
    assert slack.message("C1", ts).content.metadata is None


async def test_a_reply_to_a_message_that_is_gone_comes_back_without_its_thread(
    slack: LoopbackSlack, client: Any
) -> None:
    question = slack.say("U1", "C1", "hi")
    answer = await client.chat_postMessage(channel="C1", thread_ts=question.ts, markdown_text="a")
    assert answer["message"]["thread_ts"] == question.ts
    other = slack.say("U1", "C1", "never mind")
    slack.delete("C1", other.ts)
    answer = await client.chat_postMessage(channel="C1", thread_ts=other.ts, markdown_text="b")
    assert "thread_ts" not in answer["message"]
    assert slack.message("C1", str(answer["ts"])).unthreaded


async def test_a_user_id_reaches_that_users_direct_messages(slack: LoopbackSlack, client: Any) -> None:
    await post(client, channel="U1")
    assert [message.channel for message in slack.messages()] == ["D1"]


async def test_pings_of_every_version_are_reported(slack: LoopbackSlack, client: Any) -> None:
    ts = await post(client, "ask <!here>")
    await client.chat_update(channel="C1", ts=ts, markdown_text="ask &lt;!here&gt; or @channel", parse="none")
    assert [ping.kind for ping in slack.message("C1", ts).pings] == ["here"]


@pytest.mark.parametrize(
    ("token", "error"), [("xoxb-wrong", "invalid_auth"), ("xapp-loopback", "not_allowed_token_type")]
)
async def test_a_wrong_token_is_refused(slack: LoopbackSlack, token: str, error: str) -> None:
    client = client_of(slack, token)
    assert await error_of(client, "chat.postMessage", channel="C1", text="a") == error
    with pytest.raises(SlackApiError, match=error):
        await client.auth_test()


@pytest.mark.parametrize(
    ("token", "error"), [("xapp-wrong", "invalid_auth"), ("xoxb-loopback", "not_allowed_token_type")]
)
async def test_a_wrong_app_token_opens_no_socket(client: Any, token: str, error: str) -> None:
    with pytest.raises(SlackApiError, match=error):
        await client.apps_connections_open(app_token=token)


async def test_a_method_that_does_not_exist_is_refused(client: Any) -> None:
    assert await error_of(client, "chat.invent") == "unknown_method"


async def test_the_token_tells_who_it_is_and_what_it_may(client: Any) -> None:
    answer = await client.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T1", "UBOT", "B1")
    headers = answer.headers
    assert "chat:write" in {name.lower(): value for name, value in headers.items()}["x-oauth-scopes"]


async def test_too_many_posts_in_a_channel_are_told_to_wait_in_platform_seconds(
    slack: LoopbackSlack, client: Any, hand: HandClock
) -> None:
    for _ in range(3):
        await post(client)
    response = await refusal_of(client, "chat.postMessage", channel="C1", text="a")
    assert (response.status_code, response["error"], response.headers["Retry-After"]) == (429, "ratelimited", "1")
    await post(client, channel="D1")
    hand.seconds += 1 / 20
    await post(client)
    assert [(call.t, call.status, call.retry_after) for call in slack.calls][3:] == [
        (0.0, 429, 1),
        (0.0, 200, None),
        (1.0, 200, None),
    ]
    assert len(slack.messages(author="bot")) == 5


async def test_updates_are_counted_by_workspace(client: Any, hand: HandClock) -> None:
    messages = [("C1", await post(client)), ("D1", await post(client, channel="D1"))]
    for number in range(6):
        channel, ts = messages[number % 2]
        await client.chat_update(channel=channel, ts=ts, markdown_text=str(number))
    for channel, ts in messages:
        assert await error_of(client, "chat.update", channel=channel, ts=ts, text="x") == "ratelimited"
    hand.seconds += 1.2 / 20
    await client.chat_update(channel="C1", ts=messages[0][1], markdown_text="x")


async def test_a_planned_failure_has_no_effect_and_costs_nothing(slack: LoopbackSlack, client: Any) -> None:
    slack.fail_next("chat.postMessage", "internal_error", times=20)
    for _ in range(20):
        assert await error_of(client, "chat.postMessage", channel="C1", text="a") == "internal_error"
    slack.fail_next("chat.postMessage", retry_after=600)
    response = await refusal_of(client, "chat.postMessage", channel="C1", text="a")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "600")
    assert slack.calls.rate_limited()[0].retry_after == 600
    slack.fail_next("chat.postMessage", status=503)
    assert (await refusal_of(client, "chat.postMessage", channel="C1", text="a")).status_code == 503
    assert slack.messages() == []
    for _ in range(3):
        await post(client)


async def test_an_answer_can_be_lost_after_the_call_took_effect(slack: LoopbackSlack, client: Any) -> None:
    slack.lose_answer_next("chat.postMessage")
    assert await error_of(client, "chat.postMessage", channel="C1", text="a") == "internal_error"
    assert [message.text for message in slack.messages()] == ["a"]


async def test_the_sdk_repeats_a_call_whose_connection_was_cut(slack: LoopbackSlack, client: Any) -> None:
    slack.lose_answer_next("chat.postMessage", status=0)
    await post(client, "twice")
    assert [message.text for message in slack.messages()] == ["twice", "twice"]
    assert [call.status for call in slack.calls] == [0, 200]


METHODS = [
    "chat.delete",
    "chat.postMessage",
    "chat.update",
    "conversations.history",
    "reactions.add",
    "reactions.remove",
]


async def in_place(client: Any, method: str) -> dict[str, object]:
    """Good arguments for a method, and the message that they are about."""
    ts = await post(client)
    await client.reactions_add(channel="C1", timestamp=ts, name="tada")
    arguments: dict[str, dict[str, object]] = {
        "chat.delete": {"ts": ts},
        "chat.postMessage": {"text": "new"},
        "chat.update": {"ts": ts, "text": "b"},
        "conversations.history": {},
        "reactions.add": {"timestamp": ts, "name": "eyes"},
        "reactions.remove": {"timestamp": ts, "name": "tada"},
    }
    return {"channel": "C1"} | arguments[method]


def screen(slack: LoopbackSlack) -> list[object]:
    return [(message.text, message.reactions, message.deleted) for message in slack.messages(deleted=True)]


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_can_be_taken_and_never_answered(slack: LoopbackSlack, client: Any, method: str) -> None:
    arguments = await in_place(client, method)
    before, calls = screen(slack), len(slack.calls)
    slack.delay_next(method, math.inf, taken=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(client.api_call, method, json=arguments))
        await slack.until(lambda: len(slack.calls) > calls)
        tasks.cancel_scope.cancel()
    assert [(call.method, call.error) for call in slack.calls][calls:] == [(method, None)]
    assert (screen(slack) != before) is (method != "conversations.history")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["refused", "cut", "left lying"])
async def test_a_call_can_go_wrong_before_it_is_taken(slack: LoopbackSlack, client: Any, method: str, way: str) -> None:
    arguments = await in_place(client, method)
    before = screen(slack)
    match way:
        case "refused":
            slack.fail_next(method, "fatal_error")
            assert await error_of(client, method, **arguments) == "fatal_error"
        case "cut":
            slack.fail_next(method, status=0, times=2)  # for the SDK tries a second time
            with pytest.raises(ServerDisconnectedError):
                await client.api_call(method, json=arguments)
        case _:
            slack.delay_next(method, math.inf)
            with anyio.move_on_after(0.1):
                await client.api_call(method, json=arguments)
                pytest.fail("answered")
    assert screen(slack) == before


async def test_a_taken_call_is_answered_late_and_done_at_once(slack: LoopbackSlack, client: Any) -> None:
    slack.delay_next("chat.postMessage", 0.1, taken=True)
    start = time.monotonic()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(post, client)
        await slack.until(slack.messages)
        assert time.monotonic() - start < 0.1
    assert time.monotonic() - start >= 0.1


async def test_a_delayed_call_takes_its_time(slack: LoopbackSlack, client: Any) -> None:
    slack.delay_next("chat.postMessage", 0.1)
    start = time.monotonic()
    await post(client)
    assert time.monotonic() - start >= 0.1
    assert [message.text for message in slack.messages()] == ["a"]


async def test_a_thread_can_be_read_back_with_its_metadata(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    metadata = {"event_type": "reply", "event_payload": {"nonce": "n1"}}
    ts = await post(client, "a", thread_ts=question.ts, metadata=metadata)
    await post(client, "elsewhere")
    for anchor in (question.ts, ts):
        answer = await client.conversations_replies(channel="C1", ts=anchor, include_all_metadata=True)
        found = answer["messages"]
        assert [message["ts"] for message in found] == [question.ts, ts]
        assert found[1]["metadata"] == metadata
    answer = await client.conversations_replies(channel="C1", ts=question.ts)
    assert all("metadata" not in message for message in answer["messages"])
    with pytest.raises(SlackApiError, match="thread_not_found"):
        await client.conversations_replies(channel="C1", ts="1.000001")


async def test_a_deleted_message_has_a_thread_only_if_it_had_replies(slack: LoopbackSlack, client: Any) -> None:
    alone, question = slack.say("U1", "C1", "never mind"), slack.say("U1", "C1", "hi")
    ts = await post(client, "a", thread_ts=question.ts)
    for message in (alone, question):
        slack.delete("C1", message.ts)
    with pytest.raises(SlackApiError, match="thread_not_found"):
        await client.conversations_replies(channel="C1", ts=alone.ts)
    answer = await client.conversations_replies(channel="C1", ts=question.ts)
    assert [(message["ts"], message.get("subtype")) for message in answer["messages"]] == [
        (question.ts, "tombstone"),
        (ts, None),
    ]
    answer = await client.conversations_history(channel="C1")
    assert [message["ts"] for message in answer["messages"]] == [question.ts]


async def test_a_channels_history_is_newest_first_without_replies(slack: LoopbackSlack, client: Any) -> None:
    first = slack.say("U1", "C1", "one")
    await post(client, "reply", thread_ts=first.ts)
    second = slack.say("U2", "C1", "two")

    async def listed(**arguments: object) -> list[object]:
        answer = await client.api_call("conversations.history", params={"channel": "C1", **arguments})
        return [message["ts"] for message in answer["messages"]]

    assert await listed() == [second.ts, first.ts]
    assert await listed(limit=1) == [second.ts]
    assert await listed(oldest=first.ts) == [second.ts]
    assert await listed(oldest=first.ts, inclusive="true") == [second.ts, first.ts]
    assert await listed(latest=second.ts) == [first.ts]


async def test_a_thread_is_paged_behind_its_root(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    replies = [slack.say("U1", "C1", f"{number}", question.ts).ts for number in range(5)]
    pages = list[list[str]]()
    cursor: Any = None
    while cursor != "":
        answer = await client.conversations_replies(channel="C1", ts=question.ts, limit=2, cursor=cursor)
        pages.append([message["ts"] for message in answer["messages"]])
        cursor = answer.data.get("response_metadata", {"next_cursor": ""})["next_cursor"]
        assert answer["has_more"] is bool(cursor)
    assert pages == [[question.ts, *replies[start : start + 2]] for start in (0, 2, 4)]
    for argument, error in (("cursor", "invalid_cursor"), ("oldest", "invalid_ts_oldest")):
        with pytest.raises(SlackApiError, match=error):
            await client.conversations_replies(channel="C1", ts=question.ts, **{argument: "?"})


async def test_a_thread_is_not_asked_for_in_json(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    assert await error_of(client, "conversations.replies", channel="C1", ts=question.ts) == "channel_not_found"


async def test_metadata_stays_over_an_edit_and_can_be_read(slack: LoopbackSlack, client: Any) -> None:
    ts = await post(client, metadata={"event_type": "dragoman", "event_payload": {"nonce": "n1"}})
    await client.chat_update(channel="C1", ts=ts, markdown_text="b")
    answer = await client.conversations_history(channel="C1", include_all_metadata=True)
    assert answer["messages"][0]["metadata"]["event_payload"] == {"nonce": "n1"}
    assert slack.message("C1", ts).nonce == "n1"


async def test_what_the_bot_deletes_is_gone(slack: LoopbackSlack, client: Any) -> None:
    ts = await post(client)
    await client.chat_delete(channel="C1", ts=ts)
    assert slack.messages() == []
    assert [(message.ts, message.deleted) for message in slack.messages(deleted=True)] == [(ts, True)]
    assert await error_of(client, "chat.delete", channel="C1", ts=ts) == "message_not_found"


async def test_a_reaction_is_put_once_and_taken_away_once(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    arguments = {"channel": "C1", "timestamp": question.ts, "name": "eyes"}
    assert await error_of(client, "reactions.remove", **arguments) == "no_reaction"
    await client.reactions_add(**arguments)
    assert await error_of(client, "reactions.add", **arguments) == "already_reacted"
    assert [(each.name, each.user) for each in slack.message("C1", question.ts).reactions] == [("eyes", "UBOT")]
    answer = await client.conversations_history(channel="C1")
    assert answer["messages"][0]["reactions"] == [{"name": "eyes", "users": ["UBOT"], "count": 1}]
    await client.reactions_remove(**arguments)
    assert await error_of(client, "reactions.remove", **arguments) == "no_reaction"
    assert slack.message("C1", question.ts).reactions == ()


@pytest.mark.parametrize("method", ["reactions.add", "reactions.remove"])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"name": None}, "invalid_name"),
        ({"name": ":eyes:"}, "invalid_name"),
        ({"timestamp": None}, "no_item_specified"),
        ({"channel": None}, "no_item_specified"),
        ({"channel": "C404"}, "channel_not_found"),
        ({"channel": "C2"}, "not_in_channel"),
        ({"timestamp": "yesterday"}, "bad_timestamp"),
        ({"timestamp": "1.000001"}, "message_not_found"),
    ],
)
async def test_a_reaction_that_breaks_a_rule_is_refused(
    slack: LoopbackSlack, client: Any, method: str, changes: dict[str, object], error: str
) -> None:
    question = slack.say("U1", "C1", "hi")
    arguments: dict[str, object] = {"channel": "C1", "timestamp": question.ts, "name": "eyes"}
    assert await error_of(client, method, **(arguments | changes)) == error


async def test_a_reaction_to_what_is_gone_is_refused(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    slack.delete("C1", question.ts)
    for method in ("reactions.add", "reactions.remove"):
        refused = await error_of(client, method, channel="C1", timestamp=question.ts, name="eyes")
        assert refused == "message_not_found"


async def test_channels_and_users_can_be_looked_up(client: Any) -> None:
    channel = (await client.conversations_info(channel="D1"))["channel"]
    assert (channel["is_im"], channel["user"]) == (True, "U1")
    user = (await client.users_info(user="U2"))["user"]
    assert (user["name"], user["is_bot"]) == ("bob", False)
    with pytest.raises(SlackApiError, match="user_not_found"):
        await client.users_info(user="U404")


async def test_observers_see_what_is_not_kept(slack: LoopbackSlack, client: Any) -> None:
    changes = list[Change]()
    ts = await post(client)
    slack.subscribe(changes.append)
    await client.chat_postEphemeral(channel="C1", user="U1", text="psst")
    await client.reactions_add(channel="C1", timestamp=ts, name="eyes")
    await client.assistant_threads_setStatus(channel_id="C1", thread_ts=ts, status="thinking")
    match [change for change in changes if isinstance(change, EphemeralPosted | ReactionAdded | StatusSet)]:
        case [
            EphemeralPosted(user="U1", message=message, seen=True),
            ReactionAdded(name="eyes"),
            StatusSet(text="thinking"),
        ]:
            assert message.text == "psst"
        case other:
            pytest.fail(f"seen {other}")
    assert [message.ts for message in slack.messages()] == [ts]
    assert not any(isinstance(change, MessagePosted) for change in changes)
    assert [call.target for call in slack.calls] == ["C1", "C1", f"C1/{ts}", "C1"]


async def test_a_user_edits_only_what_a_user_wrote(slack: LoopbackSlack, client: Any) -> None:
    ts = await post(client)
    with pytest.raises(ValueError, match="users edit their own"):
        slack.edit("C1", ts, "b")
    with pytest.raises(KeyError):
        slack.edit("C1", "1.000001", "b")
    for user, channel in (("U404", "C1"), ("U1", "C404")):
        with pytest.raises(KeyError):
            slack.say(user, channel, "hi")


BUTTONS: list[dict[str, Any]] = [
    {"type": "markdown", "text": "**May I?**"},
    {
        "type": "actions",
        "elements": [
            {"type": "button", "text": {"type": "plain_text", "text": "Yes"}, "action_id": "a", "value": "yes"}
        ],
    },
]


async def test_blocks_are_kept_and_bad_ones_refused(slack: LoopbackSlack, client: Any) -> None:
    posted = await client.chat_postMessage(channel="C1", blocks=BUTTONS, text="May I?")
    message = slack.message("C1", posted["ts"])
    assert (message.display, message.text, posted["message"]["blocks"]) == ("**May I?**", "May I?", BUTTONS)
    assert [(button.label, button.value) for button in slack.buttons("C1", message.ts)] == [("Yes", "yes")]
    bad: list[dict[str, object]] = [{"type": "actions", "elements": list[object]()}]
    for method, more in (
        ("chat.postMessage", {}),
        ("chat.update", {"ts": message.ts}),
        ("chat.postEphemeral", {"user": "U1"}),
    ):
        assert await error_of(client, method, channel="C1", blocks=bad, text="a", **more) == "invalid_blocks"


async def test_an_update_leaves_the_blocks_that_it_does_not_name(slack: LoopbackSlack, client: Any) -> None:
    ts = (await client.chat_postMessage(channel="C1", blocks=BUTTONS, text="May I?"))["ts"]
    await client.chat_update(channel="C1", ts=ts, text="Done.")
    assert slack.message("C1", ts).display == "**May I?**"
    assert slack.buttons("C1", ts)
    await client.chat_update(channel="C1", ts=ts, text="Done.", blocks=[])
    assert (slack.message("C1", ts).display, slack.buttons("C1", ts)) == ("Done.", [])
    await client.chat_update(channel="C1", ts=ts, blocks=BUTTONS, text="Again?")
    await client.chat_update(channel="C1", ts=ts, markdown_text="**Done.**")
    assert (slack.message("C1", ts).display, slack.buttons("C1", ts)) == ("**Done.**", [])


async def test_a_private_word_is_seen_by_one_and_kept_nowhere(slack: LoopbackSlack, client: Any) -> None:
    changes = list[Change]()
    slack.subscribe(changes.append)
    answer = await client.chat_postEphemeral(channel="C1", user="U2", markdown_text="Not **yours**.")
    assert [(each.ts, each.display) for each in slack.whispers("U2")] == [(answer["message_ts"], "Not **yours**.")]
    assert (slack.whispers("U1"), slack.messages(deleted=True), slack.envelopes) == ([], [], [])
    assert (await client.conversations_history(channel="C1"))["messages"] == []
    refused = await error_of(client, "chat.update", channel="C1", ts=answer["message_ts"], text="a")
    assert refused == "message_not_found"


async def test_a_private_word_needs_a_reader_who_is_in_the_channel(slack: LoopbackSlack, client: Any) -> None:
    for channel, user in (("C3", "U2"), ("D1", "U2")):
        refused = await error_of(client, "chat.postEphemeral", channel=channel, user=user, text="psst")
        assert refused == "user_not_in_channel"
    await client.chat_postEphemeral(channel="C3", user="U1", text="psst")
    assert (len(slack.whispers("U1")), slack.whispers("U2")) == (1, [])


async def test_a_private_word_in_a_thread_without_replies_is_not_seen(slack: LoopbackSlack, client: Any) -> None:
    question = slack.say("U1", "C1", "hi")
    await client.chat_postEphemeral(channel="C1", user="U1", thread_ts=question.ts, text="one")
    assert slack.whispers("U1") == []
    await client.chat_postMessage(channel="C1", thread_ts=question.ts, text="hello")
    await client.chat_postEphemeral(channel="C1", user="U1", thread_ts=question.ts, text="two")
    assert [(each.text, each.thread_ts) for each in slack.whispers("U1")] == [("two", question.ts)]
