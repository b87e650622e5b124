"""Discord's REST API on loopback: what any call and any message is held to."""

import math
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import anyio.lowlevel
import pytest
from aiohttp import ClientError, FormData

from adapters.loopback.clock import PlatformClock
from adapters.loopback.discord import Channel, Flag, Limits, LoopbackDiscord, Permission, World, route
from adapters.loopback.discord.change import CallAnswered, Change, MessagePosted, ReactionAdded, TypingStarted
from adapters.loopback.discord.world import (
    ADA,
    ADA_DM,
    BOB,
    BOB_DM,
    BOT,
    FOREIGN_CHANNEL,
    FOREIGN_GUILD,
    GENERAL,
    GUILD,
    PROJECT_THREAD,
    PROJECTS,
    TEAM_ROLE,
    THREAD,
)
from tests.unit.adapters.loopback.discord.caller import Caller, HandClock, Reply, caller_of

QUIET, MUTE, HIDDEN = "1190000000000000901", "1190000000000000902", "1190000000000000903"
WORLD = World(
    channels=(
        *World().channels,
        Channel(id=QUIET, name="quiet", guild=GUILD, denied=Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY),
        Channel(id=MUTE, name="mute", guild=GUILD, denied=Permission.SEND_MESSAGES_IN_THREADS),
        Channel(id=HIDDEN, name="hidden", guild=GUILD, denied=Permission.VIEW_CHANNEL),
        Channel(id="1190000000000000904", name="in mute", type=THREAD, guild=GUILD, parent=MUTE),
        Channel(id="1190000000000000905", name="in quiet", type=THREAD, guild=GUILD, parent=QUIET),
        Channel(id="1190000000000000906", name="no reactions", guild=GUILD, denied=Permission.ADD_REACTIONS),
        Channel(id="1190000000000000907", name="no moderator", guild=GUILD, denied=Permission.MANAGE_MESSAGES),
        Channel(id="1190000000000000908", name="no history", guild=GUILD, denied=Permission.READ_MESSAGE_HISTORY),
    ),
    users=tuple(replace(user, accepts_dms=user.id != BOB) for user in World().users),
)
IN_MUTE, IN_QUIET = "1190000000000000904", "1190000000000000905"
NO_REACTIONS, NO_MODERATOR, NO_HISTORY = "1190000000000000906", "1190000000000000907", "1190000000000000908"


@pytest.fixture
def hand() -> HandClock:
    return HandClock()


@pytest.fixture
async def platform(hand: HandClock) -> AsyncIterator[LoopbackDiscord]:
    with anyio.fail_after(5):
        async with LoopbackDiscord(world=WORLD, clock=PlatformClock(20, source=hand)) as server:
            yield server


@pytest.fixture
async def caller(platform: LoopbackDiscord) -> AsyncIterator[Caller]:
    async with caller_of(platform) as each:
        yield each


def fault_of(reply: Reply) -> tuple[int, int, str]:
    """Status, code, and where in the body the fault is."""
    path, here = list[str](), reply.body.get("errors", {})
    while here and "_errors" not in here:
        name = next(iter(here))
        path.append(name)
        here = here[name]
    return (reply.status, reply.code, ".".join(path))


async def test_a_call_with_the_wrong_token_or_none_is_refused(platform: LoopbackDiscord, caller: Caller) -> None:
    for token in ("wrong", ""):
        reply = await caller.call("GET /users/@me", bot_token=token)
        assert (reply.status, reply.body) == (401, {"message": "401: Unauthorized", "code": 0})
    assert (await caller.call("GET /users/@me")).body["id"] == BOT
    assert [(call.status, call.error) for call in platform.calls] == [(401, "401"), (401, "401"), (200, None)]
    assert platform.invalid_requests == 2


async def test_a_route_that_is_not_there_is_refused_and_its_secrets_are_not_logged(
    platform: LoopbackDiscord, caller: Caller
) -> None:
    for name in ("GET /webhooks/1/secret/invented", "DELETE /users/@me"):
        assert (await caller.call(name)).body == {"message": "404: Not Found", "code": 0}
    assert [call.method for call in platform.calls] == ["GET /webhooks/...", "DELETE /users/..."]
    async with caller.session.get(platform.api_url.replace("v10", "v9") + "/users/@me") as response:
        assert response.status == 404


async def test_a_body_that_is_no_json_is_refused_and_a_form_is_read(platform: LoopbackDiscord, caller: Caller) -> None:
    url = f"{platform.api_url}/channels/{GENERAL}/messages"
    headers = {"Authorization": f"Bot {platform.world.bot_token}"}
    async with caller.session.post(url, data="{", headers=headers) as response:
        assert (response.status, (await response.json())["code"]) == (400, 50109)
    form = FormData({"payload_json": '{"content": "with a file"}'})
    form.add_field("files[0]", b"x", filename="x.txt")
    async with caller.session.post(url, data=form, headers=headers) as response:
        assert response.status == 200
    assert [(message.text, message.content.files) for message in platform.messages()] == [("with a file", 1)]


async def test_answers_are_json_without_a_charset(platform: LoopbackDiscord, caller: Caller) -> None:
    replies = [await caller.call("GET /users/@me"), await caller.post("404"), await caller.call("GET /invented")]
    assert {reply.headers["Content-Type"] for reply in replies} == {"application/json"}


async def test_a_bucket_says_what_is_left_and_refuses_what_is_too_much(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    left = list[tuple[str, str]]()
    for _ in range(6):
        headers = (await caller.post(GENERAL)).headers
        left.append((headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset-After"]))
        hand.seconds += 0.5 / 20
    assert left == [("4", "5.000"), ("3", "4.500"), ("2", "4.000"), ("1", "3.500"), ("0", "3.000"), ("0", "2.500")]
    reply = await caller.post(GENERAL)
    assert reply.status == 429
    assert reply.body == {"message": "You are being rate limited.", "retry_after": 2.0, "global": False}
    assert (reply.headers["Retry-After"], reply.headers["X-RateLimit-Scope"]) == ("2", "user")
    assert (reply.headers["X-RateLimit-Limit"], reply.headers["X-RateLimit-Remaining"]) == ("5", "0")
    assert "X-RateLimit-Bucket" in reply.headers
    assert (await caller.post(PROJECTS)).status == 200
    hand.seconds += 2.0 / 20
    assert (await caller.post(GENERAL)).status == 200
    assert [call.retry_after for call in platform.calls.rate_limited()] == [2.0]
    assert len(platform.messages(GENERAL)) == 7


async def test_every_answer_of_a_bucket_carries_its_headers(platform: LoopbackDiscord, caller: Caller) -> None:
    names = {f"X-RateLimit-{name}" for name in ("Limit", "Remaining", "Reset", "Reset-After", "Bucket")}
    sent, edited = await caller.post(GENERAL), await caller.edit(GENERAL, "404", content="b")
    refused = await caller.post(GENERAL, "")
    for reply in (sent, edited, refused):
        assert names <= reply.headers.keys()
    assert float(sent.headers["X-RateLimit-Reset"]) == pytest.approx(platform.clock.unix() + 5, abs=0.1)
    buckets = [reply.headers["X-RateLimit-Bucket"] for reply in (sent, edited, refused)]
    assert buckets[0] == buckets[2] != buckets[1]


async def test_what_discord_answers_has_a_via_header(caller: Caller) -> None:
    replies = [await caller.post(GENERAL) for _ in range(7)]
    assert {reply.headers["Via"] for reply in replies} == {"1.1 google"}
    assert replies[-1].status == 429


async def test_more_than_fifty_calls_a_second_are_refused_for_all_routes_but_interactions(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    # Each channel and each guild has a window of its own.
    for number in range(51):
        assert (await caller.post(str(number))).status == 404
    reply = await caller.post(GENERAL)
    assert (reply.status, reply.body["global"], reply.headers["X-RateLimit-Scope"]) == (429, True, "global")
    assert reply.headers["X-RateLimit-Global"] == "true"
    followed = await caller.call("POST /webhooks/{application}/{token}", {}, application="1", token="x", bot_token="")
    assert followed.status == 401
    hand.seconds += 1.0 / 20
    assert (await caller.post(GENERAL)).status == 200


async def test_after_too_many_invalid_requests_cloudflare_answers(hand: HandClock) -> None:
    with anyio.fail_after(5):
        async with (
            LoopbackDiscord(clock=PlatformClock(20, source=hand), limits=Limits(invalid_requests=3)) as platform,
            caller_of(platform) as caller,
        ):
            platform.fail_next("GET /users/@me", retry_after=9, scope="shared")
            assert (await caller.call("GET /users/@me")).status == 429
            for _ in range(3):
                assert (await caller.post(FOREIGN_CHANNEL)).status == 403
            reply = await caller.call("GET /users/@me")
            assert (reply.status, reply.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
            assert "Via" not in reply.headers
            assert "X-RateLimit-Scope" not in reply.headers
            assert platform.invalid_requests == 4
            hand.seconds += 601 / 20
            assert (await caller.call("GET /users/@me")).status == 200


@pytest.mark.parametrize(
    ("channel", "body", "fault"),
    [
        ("404", {"content": "a"}, (404, 10003, "")),
        (FOREIGN_CHANNEL, {"content": "a"}, (403, 50001, "")),
        (HIDDEN, {"content": "a"}, (403, 50001, "")),
        (QUIET, {"content": "a"}, (403, 50013, "")),
        (IN_MUTE, {"content": "a"}, (403, 50013, "")),
        (BOB_DM, {"content": "a"}, (403, 50007, "")),
        (GENERAL, {}, (400, 50006, "")),
        (GENERAL, {"content": " \n "}, (400, 50006, "")),
        (GENERAL, {"content": "x" * 2_001}, (400, 50035, "content")),
        (GENERAL, {"content": ["a"]}, (400, 50035, "content")),
        (GENERAL, {"content": "a", "nonce": "n" * 26}, (400, 50035, "nonce")),
        (GENERAL, {"embeds": [{"title": "a"}] * 11}, (400, 50035, "embeds")),
        (GENERAL, {"content": "a", "allowed_mentions": {"parse": ["all"]}}, (400, 50035, "allowed_mentions.parse")),
        (
            GENERAL,
            {"content": "a", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            (400, 50035, "allowed_mentions"),
        ),
        (GENERAL, {"content": "a", "message_reference": {"message_id": "404"}}, (400, 50035, "message_reference")),
    ],
)
async def test_a_post_that_breaks_a_rule_is_refused_and_writes_nothing(
    platform: LoopbackDiscord, caller: Caller, channel: str, body: dict[str, object], fault: tuple[int, int, str]
) -> None:
    reply = await caller.call("POST /channels/{channel}/messages", body, channel=channel)
    assert fault_of(reply) == fault
    assert platform.messages() == []
    assert [(call.target, call.status, call.error) for call in platform.calls] == [(channel, fault[0], str(fault[1]))]


async def test_the_length_is_counted_in_code_points(platform: LoopbackDiscord, caller: Caller) -> None:
    await caller.posted(GENERAL, "\N{GRINNING FACE}" * 2_000)
    assert len(platform.messages()[0].text) == 2_000
    reply = await caller.post(GENERAL, "\N{GRINNING FACE}" * 2_001)
    assert reply.body == {
        "message": "Invalid Form Body",
        "code": 50035,
        "errors": {
            "content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]}
        },
    }


async def test_white_space_round_the_content_is_taken_off(platform: LoopbackDiscord, caller: Caller) -> None:
    await caller.posted(GENERAL, "\n  a b \n")
    assert [message.text for message in platform.messages()] == ["a b"]


async def test_a_thread_asks_its_parent_and_not_for_send_messages(caller: Caller) -> None:
    await caller.posted(PROJECT_THREAD)
    await caller.posted(IN_QUIET)
    await caller.posted(MUTE)


async def test_an_archived_thread_is_opened_by_a_post_and_takes_no_edit(
    platform: LoopbackDiscord, caller: Caller
) -> None:
    message = await caller.posted(PROJECT_THREAD)
    platform.archive(PROJECT_THREAD)
    assert fault_of(await caller.edit(PROJECT_THREAD, message, content="b")) == (400, 50083, "")
    await caller.posted(PROJECT_THREAD)
    assert (await caller.edit(PROJECT_THREAD, message, content="b")).status == 200
    platform.archive(PROJECT_THREAD)
    platform.say(ADA, PROJECT_THREAD, "open again")
    assert not next(each for each in platform.channels if each.id == PROJECT_THREAD).archived
    platform.archive(PROJECT_THREAD, locked=True)
    assert fault_of(await caller.post(PROJECT_THREAD)) == (400, 50083, "")


async def test_direct_messages_are_opened_with_users_who_exist(caller: Caller) -> None:
    reply = await caller.call("POST /users/@me/channels", {"recipient_id": ADA})
    assert (reply.body["id"], reply.body["type"], reply.body["recipients"][0]["id"]) == (ADA_DM, 1, ADA)
    for nobody in ("404", BOT):
        assert fault_of(await caller.call("POST /users/@me/channels", {"recipient_id": nobody})) == (400, 50033, "")


async def test_users_guilds_and_channels_can_be_looked_up(caller: Caller) -> None:
    assert (await caller.call("GET /users/{user}", user=BOB)).body["username"] == "bob"
    assert fault_of(await caller.call("GET /users/{user}", user="404")) == (404, 10013, "")
    assert (await caller.call("GET /guilds/{guild}", guild=GUILD)).body["name"] == "loopback"
    for guild in ("404", FOREIGN_GUILD):
        assert fault_of(await caller.call("GET /guilds/{guild}", guild=guild)) == (404, 10004, "")
    assert (await caller.call("GET /channels/{channel}", channel=GENERAL)).body["name"] == "general"
    assert (await caller.call("GET /gateway")).body["url"].startswith("ws://127.0.0.1:")
    assert (await caller.call("GET /gateway/bot")).body["session_start_limit"]["remaining"] == 1_000


async def test_an_edit_needs_a_message_of_the_bots_own_that_stands_there(
    platform: LoopbackDiscord, caller: Caller
) -> None:
    question = platform.say(ADA, GENERAL, "hi")
    message = await caller.posted(GENERAL)
    assert fault_of(await caller.edit(GENERAL, question.id, content="b")) == (403, 50005, "")
    assert fault_of(await caller.edit(PROJECTS, message, content="b")) == (404, 10008, "")
    assert fault_of(await caller.edit(GENERAL, message, content=" ")) == (400, 50006, "")
    assert fault_of(await caller.edit(GENERAL, message, content="x" * 2_001)) == (400, 50035, "content")
    platform.delete(message)
    assert fault_of(await caller.edit(GENERAL, message, content="b")) == (404, 10008, "")
    assert platform.message(question.id).text == f"<@{BOT}> hi"
    assert platform.message(message).edits == ()


async def test_all_that_a_message_was_is_kept(platform: LoopbackDiscord, caller: Caller) -> None:
    question = platform.say(ADA, GENERAL, "hi")
    silent = {"parse": list[str]()}
    reference = {"message_id": question.id, "fail_if_not_exists": False}
    message = await caller.posted(
        GENERAL, "a", nonce="n1", flags=4, allowed_mentions=silent, message_reference=reference
    )
    for text in ("b", "b", "c"):
        await caller.edit(GENERAL, message, content=text, allowed_mentions=silent)
    kept = platform.message(message)
    assert (kept.author, kept.user, kept.text, kept.nonce, kept.flags) == ("bot", BOT, "c", "n1", Flag.SUPPRESS_EMBEDS)
    assert [(edit.content.text, edit.changed) for edit in kept.edits] == [("b", True), ("b", False), ("c", True)]
    assert kept.reference is not None
    assert (kept.reference.message, kept.reference.fail_if_not_exists) == (question.id, False)
    assert kept.allowed_mentions == kept.original.allowed_mentions == silent
    assert (kept.pings, kept.previews, kept.edited, kept.deleted) == ((), (), True, False)
    assert [(call.method, call.target) for call in platform.calls][:2] == [
        ("POST /channels/{channel}/messages", GENERAL),
        ("PATCH /channels/{channel}/messages/{message}", f"{GENERAL}/{message}"),
    ]


@pytest.mark.parametrize(
    ("allowed", "kinds"),
    [
        (None, ["everyone", "role", "user"]),
        ({"parse": []}, []),
        ({"parse": ["users"]}, ["user"]),
        ({"parse": ["roles", "everyone"]}, ["everyone", "role"]),
        ({"roles": [TEAM_ROLE]}, ["role"]),
        ({"users": [BOB]}, []),
        ({}, []),
    ],
)
async def test_a_post_pings_all_that_it_is_not_forbidden(
    platform: LoopbackDiscord, caller: Caller, allowed: object, kinds: list[str]
) -> None:
    body = {} if allowed is None else {"allowed_mentions": allowed}
    message = await caller.posted(GENERAL, f"@everyone \\<@&{TEAM_ROLE}> <@{ADA}>", **body)
    assert [ping.kind for ping in platform.message(message).pings] == kinds


async def test_every_edit_is_read_with_the_defaults_again(platform: LoopbackDiscord, caller: Caller) -> None:
    message = await caller.posted(GENERAL, "@here", allowed_mentions={"parse": []})
    assert platform.message(message).pings == ()
    await caller.edit(GENERAL, message, content="@here!", allowed_mentions={"parse": []})
    assert platform.message(message).pings == ()
    await caller.edit(GENERAL, message, flags=4)
    assert [ping.kind for ping in platform.message(message).pings] == ["here"]


async def test_a_reply_pings_its_author_unless_that_is_forbidden(platform: LoopbackDiscord, caller: Caller) -> None:
    reference = {"message_id": platform.say(ADA, GENERAL, "hi").id}
    loud = await caller.posted(GENERAL, message_reference=reference)
    quiet = await caller.posted(GENERAL, message_reference=reference, allowed_mentions={"parse": []})
    asked = await caller.posted(
        GENERAL, message_reference=reference, allowed_mentions={"parse": [], "replied_user": True}
    )
    assert [len(platform.message(each).pings) for each in (loud, quiet, asked)] == [1, 0, 1]
    assert platform.message(loud).pings[0].target == ADA


async def test_links_show_previews_until_they_are_suppressed(platform: LoopbackDiscord, caller: Caller) -> None:
    shown = await caller.posted(GENERAL, "see https://example.org and <https://example.com>")
    hidden = await caller.posted(GENERAL, "see https://example.org", flags=4)
    assert platform.message(shown).previews == ("https://example.org",)
    await caller.edit(GENERAL, hidden, content="see https://example.org again")
    assert platform.message(hidden).previews == ()
    await caller.edit(GENERAL, hidden, flags=0)
    assert platform.message(hidden).previews == ("https://example.org",)


async def test_a_reply_to_what_is_gone_needs_fail_if_not_exists(platform: LoopbackDiscord, caller: Caller) -> None:
    question = platform.say(ADA, GENERAL, "never mind")
    platform.delete(question.id)
    reply = await caller.post(GENERAL, message_reference={"message_id": question.id})
    assert reply.body["errors"]["message_reference"]["_errors"][0]["code"] == "REPLIES_UNKNOWN_MESSAGE"
    sent = await caller.posted(GENERAL, message_reference={"message_id": question.id, "fail_if_not_exists": False})
    assert platform.message(sent).reference is None


async def test_a_reply_needs_the_right_to_read_what_was(platform: LoopbackDiscord, caller: Caller) -> None:
    question = platform.say(ADA, NO_HISTORY, "hi")
    reply = await caller.post(NO_HISTORY, message_reference={"message_id": question.id})
    assert fault_of(reply) == (400, 160002, "")
    assert (await caller.call("GET /channels/{channel}/messages", channel=NO_HISTORY)).body == []


async def test_a_nonce_brings_back_the_first_message_for_a_while(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    enforced = {"nonce": "n1", "enforce_nonce": True}
    first = await caller.posted(GENERAL, "a", **enforced)
    assert await caller.posted(GENERAL, "b", **enforced) == first
    platform.delete(first)
    assert await caller.posted(GENERAL, "c", **enforced) == first
    elsewhere = await caller.posted(PROJECTS, "d", **enforced)
    unenforced = await caller.posted(GENERAL, "e", nonce="n1")
    hand.seconds += 181 / 20
    later = await caller.posted(GENERAL, "f", **enforced)
    assert len({first, elsewhere, unenforced, later}) == 4
    assert [message.text for message in platform.messages()] == ["d", "e", "f"]


async def test_a_message_older_than_an_hour_takes_three_edits_in_six_seconds(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    old = await caller.posted(GENERAL)
    hand.seconds += 3_601 / 20
    young = await caller.posted(GENERAL)
    for number in range(4):
        assert (await caller.edit(GENERAL, old, content=str(number))).status == 200
    reply = await caller.edit(GENERAL, old, content="x")
    assert fault_of(reply) == (429, 30046, "")
    assert (reply.body["retry_after"], reply.headers["X-RateLimit-Remaining"]) == (6.0, "0")
    assert (await caller.edit(GENERAL, young, content="x")).status == 200
    hand.seconds += 6 / 20
    assert (await caller.edit(GENERAL, old, content="x")).status == 200


async def test_the_bot_deletes_its_own_and_with_the_right_what_others_wrote(
    platform: LoopbackDiscord, caller: Caller
) -> None:
    async def delete(channel: str, message: str) -> tuple[int, int]:
        reply = await caller.call("DELETE /channels/{channel}/messages/{message}", channel=channel, message=message)
        return (reply.status, 0 if reply.status == 204 else reply.code)

    own, foreign = await caller.posted(GENERAL), platform.say(ADA, GENERAL, "hi").id
    assert [await delete(GENERAL, each) for each in (own, own, foreign)] == [(204, 0), (404, 10008), (204, 0)]
    assert await delete(NO_MODERATOR, platform.say(ADA, NO_MODERATOR, "hi").id) == (403, 50013)
    assert await delete(ADA_DM, platform.say(ADA, ADA_DM, "hi").id) == (403, 50003)
    assert platform.messages(GENERAL) == []
    assert [message.deleted for message in platform.messages(GENERAL, deleted=True)] == [True, True]


async def test_a_reaction_is_an_emoji_and_stands_once(
    platform: LoopbackDiscord, caller: Caller, hand: HandClock
) -> None:
    question, there = platform.say(ADA, GENERAL, "hi"), platform.say(ADA, NO_REACTIONS, "hi")

    async def react(method: str, emoji: str, channel: str = GENERAL, message: str = question.id) -> int:
        hand.seconds += 1 / 20
        name = f"{method} /channels/{{channel}}/messages/{{message}}/reactions/{{emoji}}/@me"
        return (await caller.call(name, channel=channel, message=message, emoji=emoji)).status

    eyes = "\N{EYES}"
    assert [await react("PUT", each) for each in (eyes, eyes, "eyes", "7")] == [204, 204, 400, 400]
    assert platform.message(question.id).reactions == (eyes,)
    assert await react("PUT", eyes, NO_REACTIONS, there.id) == 403
    assert await react("PUT", eyes, message="404") == 404
    listed = await caller.call("GET /channels/{channel}/messages", channel=GENERAL)
    assert listed.body[0]["reactions"][0]["emoji"]["name"] == eyes
    assert [await react("DELETE", eyes), await react("DELETE", eyes)] == [204, 204]
    assert platform.message(question.id).reactions == ()


async def test_typing_is_noted(platform: LoopbackDiscord, caller: Caller, hand: HandClock) -> None:
    hand.seconds += 0.5
    assert (await caller.call("POST /channels/{channel}/typing", channel=GENERAL)).status == 204
    assert dict(platform.typing) == {GENERAL: [10.0]}


async def test_a_listing_hides_what_needs_the_message_content_intent(platform: LoopbackDiscord, caller: Caller) -> None:
    platform.say(ADA, GENERAL, "to nobody", mention=False)
    platform.say(ADA, GENERAL, "to the bot")
    await caller.posted(GENERAL, "by the bot")
    listed = await caller.call("GET /channels/{channel}/messages", channel=GENERAL)
    assert [each["content"] for each in listed.body] == ["by the bot", f"<@{BOT}> to the bot", ""]
    ids = [each["id"] for each in listed.body]
    for query, expected in (
        (f"before={ids[0]}", ids[1:]),
        (f"after={ids[2]}&limit=1", [ids[1]]),
        ("limit=2", ids[:2]),
        ("limit=x", ids),
    ):
        listed = await caller.call("GET /channels/{channel}/messages", channel=GENERAL, query=query)
        assert [each["id"] for each in listed.body] == expected
    one = await caller.call("GET /channels/{channel}/messages/{message}", channel=GENERAL, message=ids[2])
    assert one.body["content"] == ""


async def test_a_planned_failure_has_no_effect_and_costs_nothing(platform: LoopbackDiscord, caller: Caller) -> None:
    platform.fail_next(route.POST_MESSAGE, times=10)
    for _ in range(10):
        reply = await caller.post(GENERAL)
        assert (reply.status, reply.code, reply.headers["X-RateLimit-Remaining"]) == (500, 0, "5")
    platform.fail_next(route.POST_MESSAGE, 10003, status=404)
    assert (await caller.post(GENERAL)).body == {"message": "Unknown Channel", "code": 10003}
    platform.fail_next(route.POST_MESSAGE, retry_after=600)
    reply = await caller.post(GENERAL)
    assert (reply.status, reply.headers["Retry-After"], reply.body["retry_after"]) == (429, "600", 600)
    platform.fail_next(route.POST_MESSAGE, retry_after=3, scope="global")
    assert (await caller.post(GENERAL)).body["global"] is True
    platform.fail_next(route.POST_MESSAGE, retry_after=3, scope="cloudflare")
    assert "Via" not in (await caller.post(GENERAL)).headers
    assert platform.messages() == []
    with pytest.raises(KeyError, match="no route"):
        platform.fail_next("POST /messages")


async def test_an_answer_can_be_lost_after_the_call_took_effect(platform: LoopbackDiscord, caller: Caller) -> None:
    platform.lose_answer_next(route.POST_MESSAGE)
    assert (await caller.post(GENERAL)).status == 500
    platform.lose_answer_next(route.POST_MESSAGE, status=0)
    with pytest.raises(ClientError):
        await caller.post(GENERAL, "b")
    assert [message.text for message in platform.messages()] == ["a", "b"]
    assert [(call.status, call.error) for call in platform.calls] == [(500, "500"), (0, "0")]


@pytest.mark.parametrize("taken", [True, False])
async def test_a_call_can_be_left_lying_before_or_after_it_is_done(
    platform: LoopbackDiscord, caller: Caller, *, taken: bool
) -> None:
    platform.delay_next(route.POST_MESSAGE, math.inf, taken=taken)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(caller.post, GENERAL)
        if taken:
            await platform.until(platform.messages)
        else:
            with anyio.move_on_after(0.1):
                await platform.until(platform.messages)
        tasks.cancel_scope.cancel()
    assert len(platform.messages()) == len(platform.calls) == taken


async def test_observers_see_what_is_not_kept(platform: LoopbackDiscord, caller: Caller) -> None:
    changes = list[Change]()
    end = platform.subscribe(changes.append)
    question = platform.say(ADA, GENERAL, "hi")
    name = "PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me"
    await caller.call(name, channel=GENERAL, message=question.id, emoji="\N{EYES}")
    await caller.call("POST /channels/{channel}/typing", channel=GENERAL)
    end()
    platform.say(ADA, GENERAL, "unseen")
    match changes:
        case [MessagePosted(), ReactionAdded(), CallAnswered(), TypingStarted(channel=channel), CallAnswered()]:
            assert channel == GENERAL
        case other:
            pytest.fail(f"seen {other}")


async def test_a_user_does_only_what_a_user_can(platform: LoopbackDiscord, caller: Caller) -> None:
    message = await caller.posted(GENERAL)
    with pytest.raises(ValueError, match="users edit their own"):
        platform.edit(message, "b")
    for user, channel in ((BOB, FOREIGN_CHANNEL), (ADA, BOB_DM), ("404", GENERAL), (ADA, "404")):
        with pytest.raises(KeyError):
            platform.say(user, channel, "hi")
    with pytest.raises(KeyError):
        platform.message("404")
    for place in (ADA_DM, PROJECT_THREAD):
        with pytest.raises(ValueError, match="takes no threads"):
            platform.start_thread(place)
    with pytest.raises(ValueError, match="no thread"):
        platform.archive(GENERAL)
    with pytest.raises(LookupError):
        platform.press(ADA, message, "button")


async def test_doors_can_be_closed_for_a_while(platform: LoopbackDiscord, caller: Caller) -> None:
    await caller.posted(GENERAL)
    platform.close_doors(0.05)
    with pytest.raises(ClientError):
        await caller.post(GENERAL)
    with anyio.fail_after(2):
        while True:
            try:
                await caller.posted(GENERAL)
            except ClientError:
                await anyio.lowlevel.checkpoint()
            else:
                break


async def test_a_misbehaving_platform_lets_through_who_asks_again() -> None:
    with anyio.fail_after(20):
        async with LoopbackDiscord(time_scale=2_000) as platform, caller_of(platform) as caller:
            platform.misbehave(7)
            for number in range(30):
                while True:
                    try:
                        if (await caller.post(GENERAL, str(number), nonce=str(number))).status == 200:
                            break
                    except ClientError:
                        await anyio.lowlevel.checkpoint()
            platform.behave()
            await caller.posted(PROJECTS)
            said = {message.text for message in platform.messages(GENERAL, deleted=True)}
            assert said == {str(number) for number in range(30)}
            assert any(call.status != 200 for call in platform.calls)
            assert {message.id for message in platform.taken} == {
                message.id for message in platform.messages(deleted=True) if message.deleted
            }
