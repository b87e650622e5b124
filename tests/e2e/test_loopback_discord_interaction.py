"""Commands and buttons of Discord's on loopback: registering, answering in time, and what a token can do after that."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
import pytest

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord import Flag, Interaction, Limits, LoopbackDiscord, route
from adapters.loopback.discord.world import (
    ADA,
    ADA_DM,
    APPLICATION,
    BOB,
    BOT,
    FOREIGN_CHANNEL,
    FOREIGN_GUILD,
    GENERAL,
    GUILD,
    PROJECT_THREAD,
    TEAM_ROLE,
)
from tests.unit.adapters.loopback.discord.caller import Caller, HandClock, Reply, caller_of

PUT = "PUT /applications/{application}/commands"
PUT_IN_GUILD = "PUT /applications/{application}/guilds/{guild}/commands"
ASK: Mapping[str, Any] = {
    "name": "ask",
    "description": "ask the agent",
    "options": [
        {"name": "prompt", "type": 3, "description": "what", "required": True},
        {"name": "times", "type": 4, "description": "how often"},
    ],
    "integration_types": [0, 1],
}


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
async def platform(hand: HandClock) -> AsyncIterator[LoopbackDiscord]:
    with anyio.fail_after(5):
        async with LoopbackDiscord(clock=PlatformClock(20, source=hand)) as server:
            yield server


@pytest.fixture
async def caller(platform: LoopbackDiscord) -> AsyncIterator[Caller]:
    async with caller_of(platform) as each:
        assert (await each.call(PUT, [ASK], application=APPLICATION)).status == 200
        yield each


def ask(platform: LoopbackDiscord, channel: str = GENERAL) -> Interaction:
    return platform.command(ADA, channel, "ask", {"prompt": "hi"})


async def respond(caller: Caller, asked: Interaction, kind: int, query: str = "", **data: object) -> Reply:
    body = {"type": kind, "data": data}
    return await caller.call(
        route.CALLBACK_ROUTE, body, interaction=asked.id, token=asked.token, query=query, bot_token=""
    )


async def at(caller: Caller, name: str, asked: Interaction, message: str = "", **body: object) -> Reply:
    """Call a route of the interaction's token."""
    return await caller.call(name, body, application=APPLICATION, token=asked.token, message=message, bot_token="")


async def test_a_command_is_deferred_edited_and_followed_up(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    reply = await respond(caller, asked, 5, "with_response=true")
    about = reply.body["interaction"]
    assert (about["response_message_loading"], about["response_message_ephemeral"]) == (True, False)
    message = platform.message(about["response_message_id"])
    assert (message.loading, message.text, platform.interaction(asked.id).state) == (True, "", "deferred")
    assert (await at(caller, route.PATCH_ORIGINAL, asked, content="partial")).body["content"] == "partial"
    assert (platform.message(message.id).loading, platform.interaction(asked.id).state) == (False, "answered")
    followed = (await at(caller, route.FOLLOW_UP, asked, content="more")).body["id"]
    assert (await at(caller, route.PATCH_FOLLOW_UP, asked, followed, content="more!")).status == 200
    assert (await at(caller, route.GET_FOLLOW_UP, asked, followed)).body["content"] == "more!"
    assert (await at(caller, route.GET_ORIGINAL, asked)).body["content"] == "partial"
    assert [each.text for each in platform.messages(GENERAL)] == ["partial", "more!"]
    assert platform.interaction(asked.id).follow_ups == (followed,)
    assert all(each.interaction == asked.id for each in platform.messages())


async def test_the_log_names_what_a_call_is_about_and_no_token(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    await respond(caller, asked, 5)
    await at(caller, route.PATCH_ORIGINAL, asked, content="a")
    await at(caller, route.FOLLOW_UP, asked, content="b")
    original = platform.interaction(asked.id).response
    assert [(call.method, call.target) for call in platform.calls][1:] == [
        (route.CALLBACK_ROUTE, asked.id),
        (route.PATCH_ORIGINAL, f"{GENERAL}/{original}"),
        (route.FOLLOW_UP, GENERAL),
    ]
    shown = repr([(call, dict(call.arguments)) for call in platform.calls]) + repr(platform.interactions)
    assert asked.token not in shown
    assert platform.world.bot_token not in shown


async def test_the_first_response_comes_in_three_real_seconds(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    in_time, late = ask(platform), ask(platform)
    hand.seconds += 2.9
    assert (await respond(caller, in_time, 5)).status == 204
    assert platform.interaction(in_time.id).latency == pytest.approx(2.9)
    hand.seconds += 0.2
    reply = await respond(caller, late, 5)
    assert (reply.status, reply.code) == (404, 10062)
    other = ask(platform)
    wrong = await caller.call(route.CALLBACK_ROUTE, {"type": 5}, interaction=other.id, token="wrong", bot_token="")
    assert wrong.code == 10062
    assert platform.messages(author="bot")[0].loading


async def test_what_nobody_answers_is_lost() -> None:
    limits = Limits(first_response=0.02)
    with anyio.fail_after(5):
        async with LoopbackDiscord(time_scale=20, limits=limits) as platform, caller_of(platform) as caller:
            await caller.call(PUT, [ASK], application=APPLICATION)
            asked = ask(platform)
            await platform.until(lambda: platform.interaction(asked.id).state == "lost")
            assert (await respond(caller, asked, 5)).code == 10062
            assert (await at(caller, route.PATCH_ORIGINAL, asked, content="a")).code == 10015


async def test_an_interaction_is_answered_once(platform: LoopbackDiscord, caller: Caller, hand: HandClock) -> None:
    asked = ask(platform)
    await respond(caller, asked, 4, content="a")
    for seconds in (0, 10):
        hand.seconds += seconds
        reply = await respond(caller, asked, 5)
        assert (reply.status, reply.code) == (400, 40060)
    assert [each.text for each in platform.messages()] == ["a"]


async def test_a_response_is_of_a_type_that_fits(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    for kind in (1, 6, 7, 9):
        reply = await respond(caller, asked, kind)
        assert (reply.status, reply.code, list(reply.body["errors"])) == (400, 50035, ["type"])
    assert (await respond(caller, asked, 4)).code == 50006
    assert (await respond(caller, asked, 4, content="x" * 2_001)).code == 50035
    assert platform.interaction(asked.id).state == "waiting"


async def test_before_the_first_response_there_is_nothing_to_edit(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    for name in (route.PATCH_ORIGINAL, route.GET_ORIGINAL, route.FOLLOW_UP):
        reply = await at(caller, name, asked, content="a")
        assert (reply.status, reply.code) == (404, 10015)


async def test_a_token_lives_fifteen_platform_minutes(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    asked, cut_short = ask(platform), ask(platform)
    for each in (asked, cut_short):
        await respond(caller, each, 5)
    hand.seconds += 899 / 20
    assert (await at(caller, route.PATCH_ORIGINAL, asked, content="a")).status == 200
    platform.expire(cut_short.id)
    reply = await at(caller, route.PATCH_ORIGINAL, cut_short, content="a")
    assert (reply.status, reply.body) == (401, {"message": "Invalid Webhook Token", "code": 50027})
    hand.seconds += 1 / 20
    for name in (route.PATCH_ORIGINAL, route.FOLLOW_UP):
        assert (await at(caller, name, asked, content="b")).code == 50027
    elsewhere = await caller.call(route.FOLLOW_UP, {}, application="404", token=asked.token, bot_token="")
    assert elsewhere.code == 50027
    assert platform.invalid_requests == 4


async def test_an_original_that_was_deleted_cannot_be_edited(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    await respond(caller, asked, 5)
    platform.delete(platform.messages(author="bot")[0].id)
    assert (await at(caller, route.PATCH_ORIGINAL, asked, content="a")).code == 10008
    other = ask(platform)
    await respond(caller, other, 4, content="a")
    assert (await at(caller, route.DELETE_ORIGINAL, other)).status == 204
    assert (await at(caller, route.GET_ORIGINAL, other)).code == 10008


async def test_a_token_reaches_the_messages_of_its_interaction_only(platform: LoopbackDiscord, caller: Caller) -> None:
    mine, other = ask(platform), ask(platform)
    for each in (mine, other):
        await respond(caller, each, 4, content="a")
    foreign = platform.interaction(other.id).response or ""
    for name in (route.PATCH_FOLLOW_UP, route.GET_FOLLOW_UP, route.DELETE_FOLLOW_UP):
        assert (await at(caller, name, mine, foreign, content="b")).code == 10008
    assert [each.text for each in platform.messages()] == ["a", "a"]


async def test_where_the_app_is_only_user_installed_five_follow_ups_are_taken(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    abroad, at_home = ask(platform, FOREIGN_CHANNEL), ask(platform)
    assert (abroad.user_installed, at_home.user_installed) == (True, False)
    for each in (abroad, at_home):
        await respond(caller, each, 4, content="a")
        for number in range(5):
            hand.seconds += 5 / 20
            assert (await at(caller, route.FOLLOW_UP, each, content=str(number))).status == 200
    reply = await at(caller, route.FOLLOW_UP, abroad, content="x")
    assert (reply.status, reply.code) == (400, 40094)
    assert (await at(caller, route.PATCH_ORIGINAL, abroad, content="b")).status == 200
    assert (await at(caller, route.FOLLOW_UP, at_home, content="x")).status == 200
    assert (await caller.post(FOREIGN_CHANNEL)).code == 50001


async def test_a_follow_up_to_what_is_loading_becomes_that_message(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    await respond(caller, asked, 5, flags=64)
    first = (await at(caller, route.FOLLOW_UP, asked, content="a")).body["id"]
    second = (await at(caller, route.FOLLOW_UP, asked, content="b")).body["id"]
    kept = platform.interaction(asked.id)
    assert (kept.state, kept.response, kept.follow_ups) == ("answered", first, (first, second))
    assert [each.ephemeral for each in platform.messages()] == [True, False]


async def test_what_only_the_user_sees_is_settled_by_the_deferral(platform: LoopbackDiscord, caller: Caller) -> None:
    private, public = ask(platform), ask(platform)
    await respond(caller, private, 5, flags=64 | 4, content="not taken")
    await respond(caller, public, 5)
    for each in (private, public):
        await at(caller, route.PATCH_ORIGINAL, each, content="a", flags=64)
    assert [each.flags for each in platform.messages()] == [Flag.EPHEMERAL, Flag.NONE]
    assert [each.original.text for each in platform.messages()] == ["", ""]
    assert [each.ephemeral for each in platform.interactions] == [True, False]


async def test_what_is_ephemeral_is_not_there_for_the_channel(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    await respond(caller, asked, 4, content="psst", flags=64)
    message = platform.interaction(asked.id).response or ""
    assert (await caller.edit(GENERAL, message, content="b")).code == 10008
    assert (await caller.call(route.GET_MESSAGES, channel=GENERAL)).body == []
    public = ask(platform)
    await respond(caller, public, 4, content="a")
    assert (await caller.edit(GENERAL, platform.interaction(public.id).response or "", content="b")).status == 200


async def test_a_callback_is_answered_only_on_demand(platform: LoopbackDiscord, caller: Caller) -> None:
    silent, told = ask(platform), ask(platform)
    reply = await respond(caller, silent, 5)
    assert (reply.status, reply.body) == (204, "")
    reply = await respond(caller, told, 4, "with_response=1", content="a")
    assert reply.body["resource"]["message"]["content"] == "a"
    assert reply.body["interaction"]["response_message_loading"] is False
    assert (reply.body["resource"]["message"]["webhook_id"], reply.body["resource"]["message"]["author"]["id"]) == (
        APPLICATION,
        BOT,
    )


async def test_an_answer_that_says_nothing_of_it_pings_users_only(platform: LoopbackDiscord, caller: Caller) -> None:
    asked = ask(platform)
    await respond(caller, asked, 5)
    text = f"@everyone <@&{TEAM_ROLE}> <@{ADA}>"
    await at(caller, route.PATCH_ORIGINAL, asked, content=text)
    await at(caller, route.FOLLOW_UP, asked, content=text)
    await at(caller, route.FOLLOW_UP, asked, content=text, allowed_mentions={"parse": []})
    assert [[ping.kind for ping in each.pings] for each in platform.messages()] == [["user"], ["user"], []]


async def test_a_tokens_calls_have_a_bucket_of_their_own(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    one, other = ask(platform), ask(platform)
    for each in (one, other):
        await respond(caller, each, 5)
    for number in range(6):
        assert (await at(caller, route.PATCH_ORIGINAL, one, content=str(number))).status == 200
    refused = await at(caller, route.FOLLOW_UP, one, content="x")
    assert (refused.status, refused.body["retry_after"]) == (429, 5.0)
    assert (await at(caller, route.PATCH_ORIGINAL, other, content="a")).status == 200
    hand.seconds += 5 / 20
    assert (await at(caller, route.FOLLOW_UP, one, content="x")).status == 200


async def test_a_button_is_pressed_and_its_message_updated(platform: LoopbackDiscord, caller: Caller) -> None:
    button = {"type": 2, "style": 3, "label": "Approve", "custom_id": "ap:1:y"}
    row = [{"type": 1, "components": [button, button | {"custom_id": "off", "disabled": True}]}]
    message = await caller.posted(GENERAL, "Approve?", components=row)
    pressed = platform.press(BOB, message, "ap:1:y")
    assert (pressed.user, pressed.name, pressed.source) == (BOB, "ap:1:y", message)
    await respond(caller, pressed, 7, content="approved", components=[])
    assert (platform.message(message).text, list(platform.message(message).components)) == ("approved", [])
    for gone in ("ap:1:y", "off"):
        with pytest.raises(LookupError, match="no button"):
            platform.press(BOB, message, gone)
    again = await caller.posted(GENERAL, "Again?", components=row)
    quiet = platform.press(ADA, again, "ap:1:y")
    assert (await respond(caller, quiet, 6)).status == 204
    assert (await at(caller, route.PATCH_ORIGINAL, quiet, content="done")).body["id"] == again
    loud = platform.press(ADA, again, "ap:1:y")
    await respond(caller, loud, 4, content="not yours", flags=64)
    assert [each.text for each in platform.messages()] == ["approved", "done", "not yours"]


async def test_commands_are_registered_and_overwritten(platform: LoopbackDiscord, caller: Caller) -> None:
    assert (platform.commands.names(), platform.commands.puts) == (("ask",), 1)
    first = platform.commands.registered[""][0]["id"]
    new = {"name": "new", "description": "begin anew"}
    written = (await caller.call(PUT, [ASK, new], application=APPLICATION)).body
    assert [each["name"] for each in written] == ["ask", "new"]
    assert written[0]["id"] == first != written[1]["id"]
    await caller.call(PUT, [new], application=APPLICATION)
    await caller.call(PUT_IN_GUILD, [ASK], application=APPLICATION, guild=GUILD)
    assert (platform.commands.names(), platform.commands.names(GUILD), platform.commands.puts) == (
        ("new",),
        ("ask",),
        4,
    )
    listed = await caller.call("GET /applications/{application}/commands", application=APPLICATION)
    assert [each["name"] for each in listed.body] == ["new"]
    refused = await caller.call(PUT_IN_GUILD, [ASK], application=APPLICATION, guild=FOREIGN_GUILD)
    assert refused.code == 50001
    assert (await caller.call(PUT, [ASK], application="404")).code == 10002


async def test_two_hundred_commands_are_created_a_day(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    async def put(prefix: str) -> Reply:
        many = [{"name": f"{prefix}{number}", "description": "a"} for number in range(100)]
        return await caller.call(PUT, many, application=APPLICATION)

    assert (await put("a")).status == (await put("a")).status == 200
    reply = await put("b")
    assert (reply.status, reply.code) == (429, 30034)
    hand.seconds += 86_401 / 20
    assert (await put("b")).status == 200


async def test_a_user_is_offered_what_is_registered_where_it_is_offered(
    platform: LoopbackDiscord, caller: Caller
) -> None:
    for channel in (GENERAL, PROJECT_THREAD, ADA_DM, FOREIGN_CHANNEL):
        assert ask(platform, channel).channel == channel
    with pytest.raises(LookupError, match="nobody is offered /stop"):
        platform.command(ADA, GENERAL, "stop")
    options: list[Mapping[str, object]] = [
        {},
        {"prompt": "a", "no": "such"},
        {"prompt": 7},
        {"prompt": "a", "times": True},
    ]
    for filled in options:
        with pytest.raises(ValueError, match="option"):
            platform.command(ADA, GENERAL, "ask", filled)
    assert platform.command(ADA, GENERAL, "ask", {"prompt": "a", "times": 2}).data["options"] == [
        {"name": "prompt", "type": 3, "value": "a"},
        {"name": "times", "type": 4, "value": 2},
    ]
    restricted = dict(ASK) | {"contexts": [0], "integration_types": [0]}
    await caller.call(PUT, [restricted], application=APPLICATION)
    for channel in (ADA_DM, FOREIGN_CHANNEL):
        with pytest.raises(LookupError, match="nobody is offered /ask"):
            ask(platform, channel)
    with pytest.raises(KeyError):
        platform.interaction("404")
