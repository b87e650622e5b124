"""Discord's gateway on loopback, with the real discord.py on the other end."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import discord
import pytest
import yarl
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.loopback.discord import Limits, LoopbackDiscord, World, route
from adapters.loopback.discord.change import Change, Dispatched, SessionResumed, SessionStarted, SocketClosed
from adapters.loopback.discord.event import Intent
from adapters.loopback.discord.world import ADA, ADA_DM, BOB, BOT, FOREIGN_CHANNEL, GENERAL, GUILD, PROJECT_THREAD

INTENTS = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)
Payload = dict[str, Any]


class Bot(discord.Client):
    """The real client, which notes what it is told, and identifies again without waiting."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            intents=options.pop("intents", INTENTS),
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=0.0,
            **options,
        )
        self.tree = app_commands.CommandTree(self)
        self.said: list[discord.Message] = []

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        pass

    async def on_message(self, message: discord.Message) -> None:
        self.said.append(message)


@pytest.fixture
async def platform(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LoopbackDiscord]:
    with anyio.fail_after(5):
        async with LoopbackDiscord(time_scale=20) as server:
            point(monkeypatch, server)
            yield server


def point(monkeypatch: pytest.MonkeyPatch, platform: LoopbackDiscord) -> None:
    """Lead the SDK to the server: two class attributes, for the whole process."""
    monkeypatch.setattr(Route, "BASE", platform.api_url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(platform.gateway_url))


@asynccontextmanager
async def connected(platform: LoopbackDiscord, bot: Bot | None = None) -> AsyncGenerator[Bot]:
    bot = bot or Bot()
    async with bot, anyio.create_task_group() as tasks:
        await bot.login(platform.world.bot_token)
        tasks.start_soon(bot.connect)
        await bot.wait_until_ready()
        yield bot
        await bot.close()


async def assert_login_fails(token: str) -> None:
    async with Bot() as bot:
        with pytest.raises(discord.LoginFailure):
            await bot.login(token)


@asynccontextmanager
async def socket(platform: LoopbackDiscord) -> AsyncGenerator[ClientWebSocketResponse]:
    """A bare socket, for what the SDK would never do."""
    async with ClientSession() as session, session.ws_connect(f"{platform.gateway_url}?v=10") as link:
        yield link


async def frame_of(link: ClientWebSocketResponse) -> Payload:
    return cast("Payload", await link.receive_json())


async def identify(link: ClientWebSocketResponse, platform: LoopbackDiscord, **data: object) -> Payload:
    """Read HELLO, identify, and give READY's data."""
    assert (await frame_of(link))["op"] == 10
    properties = {"os": "linux", "browser": "test", "device": "test"}
    sent = {"token": platform.world.bot_token, "intents": INTENTS.value, "properties": properties, **data}
    await link.send_json({"op": 2, "d": sent})
    frame = await frame_of(link)
    assert (frame["t"], frame["s"]) == ("READY", 1)
    return cast("Payload", frame["d"])


async def close_code_of(link: ClientWebSocketResponse) -> int:
    """With which code the server closes."""
    while (message := await link.receive()).type not in {WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR}:
        pass
    assert message.type is WSMsgType.CLOSE
    return cast("int", message.data)


def noted(platform: LoopbackDiscord) -> list[Change]:
    changes = list[Change]()
    platform.subscribe(changes.append)
    return changes


async def test_the_real_client_logs_in_and_knows_where_it_is(platform: LoopbackDiscord) -> None:
    async with connected(platform) as bot:
        assert bot.user is not None
        assert (str(bot.user.id), [str(guild.id) for guild in bot.guilds]) == (BOT, [GUILD])
        guild = bot.guilds[0]
        assert {channel.name for channel in guild.text_channels} == {"general", "projects"}
        assert [thread.name for thread in guild.threads] == ["dragoman"]
        assert guild.me.guild_permissions.manage_messages
        assert platform.open_sockets == len(platform.sessions) == 1
    # The SDK's close says 4000, so that its session could be resumed.
    await platform.until(lambda: platform.open_sockets == 0)
    assert len(platform.sessions) == 1
    assert [call.method for call in platform.calls] == ["GET /users/@me", "GET /oauth2/applications/@me"]


async def test_the_real_client_is_told_who_members_are_with_their_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(privileged=int(Intent.GUILD_MEMBERS))
    with anyio.fail_after(5):
        async with LoopbackDiscord(world=world, time_scale=20) as platform:
            point(monkeypatch, platform)
            intents = discord.Intents(guilds=True, members=True, guild_messages=True)
            async with connected(platform, Bot(intents=intents, chunk_guilds_at_startup=True)) as bot:
                assert {member.name for member in bot.guilds[0].members} == {"ada", "bob", "dragoman"}
                platform.say(ADA, GENERAL, "hi")
                await platform.until(lambda: platform.sessions[0].last("MESSAGE_CREATE"))
                said = cast("Payload", platform.sessions[0].last("MESSAGE_CREATE").data)
                assert cast("Payload", said["member"])["flags"] == 0


async def test_the_real_client_answers_a_message(platform: LoopbackDiscord) -> None:
    async with connected(platform) as bot:
        question = platform.say(ADA, GENERAL, "what is a dragoman?")
        await platform.until(lambda: len(platform.sessions[0].dispatches) == 3)
        with anyio.fail_after(2):
            while not bot.said:
                await anyio.lowlevel.checkpoint()
        message = await bot.said[0].reply("an interpreter", nonce="n1", mention_author=False, suppress_embeds=True)
        await message.edit(content="an interpreter.", suppress=True)
        await message.add_reaction("\N{EYES}")
        async with message.channel.typing():
            pass
    kept = platform.message(str(message.id))
    assert (kept.text, kept.nonce, kept.pings, kept.previews) == ("an interpreter.", "n1", (), ())
    assert kept.reference is not None
    assert kept.reference.message == question.id
    assert platform.typing.keys() == {GENERAL}
    assert platform.calls.rate_limited() == []


@pytest.mark.parametrize("channel", [GENERAL, PROJECT_THREAD, ADA_DM, FOREIGN_CHANNEL])
async def test_the_real_client_answers_a_command(platform: LoopbackDiscord, channel: str) -> None:
    bot = Bot()

    @bot.tree.command(name="ask", description="ask the agent")
    @app_commands.allowed_installs(guilds=True, users=True)
    async def ask(interaction: discord.Interaction, prompt: str) -> None:
        answer = await interaction.response.defer(thinking=True)
        assert answer is not None
        assert str(answer.message_id) == platform.interactions[0].response
        await interaction.edit_original_response(content=f"final: {prompt}")
        await interaction.followup.send("more", wait=True)

    assert ask.name == "ask"
    async with connected(platform, bot):
        await bot.tree.sync()
        asked = platform.command(ADA, channel, "ask", {"prompt": "hi"})
        await platform.until(lambda: len(platform.messages(channel)) == 2)
    assert [message.text for message in platform.messages(channel)] == ["final: hi", "more"]
    kept = platform.interaction(asked.id)
    assert (kept.state, kept.user_installed) == ("answered", channel == FOREIGN_CHANNEL)
    assert kept.latency is not None
    assert 0 < kept.latency < 3


async def test_the_real_client_updates_the_message_of_a_button(platform: LoopbackDiscord) -> None:
    class Approval(discord.ui.View):
        @discord.ui.button(label="Approve", custom_id="ap:1:y")
        async def approve(self, interaction: discord.Interaction, _: discord.ui.Button["Approval"]) -> None:
            await interaction.response.edit_message(content="approved", view=None)

    async with connected(platform) as bot:
        channel = bot.get_channel(int(GENERAL))
        assert isinstance(channel, discord.TextChannel)
        message = await channel.send("Approve?", view=Approval(timeout=None))
        platform.press(BOB, str(message.id), "ap:1:y")
        await platform.until(lambda: platform.message(str(message.id)).edited)
    assert (platform.message(str(message.id)).text, platform.interactions[0].state) == ("approved", "answered")


async def test_the_real_client_sees_rate_limits_and_failures(platform: LoopbackDiscord) -> None:
    async with connected(platform) as bot:
        bot.http.max_ratelimit_timeout = 1e-6
        there = Route("POST", "/channels/{channel_id}/messages", channel_id=int(GENERAL))
        platform.fail_next(route.POST_MESSAGE, retry_after=600)
        with pytest.raises(discord.RateLimited) as told:
            await bot.http.request(there, json={"content": "a"})
        assert told.value.retry_after == 600
        platform.fail_next(route.POST_MESSAGE, retry_after=600, scope="cloudflare")
        with pytest.raises(discord.HTTPException) as banned:
            await bot.http.request(there, json={"content": "a"})
        assert banned.value.status == 429
        with pytest.raises(discord.HTTPException) as refused:
            await bot.http.request(there, json={"content": "x" * 2_001})
        assert (refused.value.status, refused.value.code) == (400, 50035)
        assert "Must be 2000 or fewer" in str(refused.value)


async def test_a_wrong_token_opens_nothing(platform: LoopbackDiscord) -> None:
    await assert_login_fails("wrong")
    async with socket(platform) as link:
        await frame_of(link)
        await link.send_json({"op": 2, "d": {"token": "wrong", "intents": 0}})
        assert await close_code_of(link) == 4004
    assert platform.sessions == []


async def test_an_intent_that_the_app_does_not_have_is_refused(platform: LoopbackDiscord) -> None:
    with pytest.raises(BaseExceptionGroup) as raised:
        async with connected(platform, Bot(intents=discord.Intents(guilds=True, message_content=True))):
            pass
    assert raised.group_contains(discord.PrivilegedIntentsRequired)


async def test_without_the_intent_a_client_reads_what_is_meant_for_it_only(platform: LoopbackDiscord) -> None:
    async with connected(platform) as bot:
        channel = bot.get_channel(int(GENERAL))
        assert isinstance(channel, discord.TextChannel)
        own = await channel.send("by the bot")
        platform.say(ADA, GENERAL, "to nobody", mention=False)
        platform.say(ADA, GENERAL, "to the bot")
        platform.say(ADA, GENERAL, "to its message", mention=False, reply_to=str(own.id))
        platform.say(ADA, GENERAL, "not to it", mention=False, reply_to=str(own.id), ping=False)
        platform.say(ADA, ADA_DM, "direct")
        with anyio.fail_after(2):
            while len(bot.said) < 6:
                await anyio.lowlevel.checkpoint()
    assert [message.content for message in bot.said] == [
        "by the bot",
        "",
        f"<@{BOT}> to the bot",
        "to its message",
        "",
        "direct",
    ]


async def test_edits_deletions_and_threads_are_told(platform: LoopbackDiscord) -> None:
    async with socket(platform) as link:
        await identify(link, platform)
        message = platform.say(ADA, GENERAL, "hi")
        platform.edit(message.id, f"<@{BOT}> never mind")
        platform.delete(message.id)
        thread = platform.start_thread(GENERAL, "begun", message=message.id)
        platform.archive(thread.id)
        frames = [await frame_of(link) for _ in range(6)]
    assert [frame["t"] for frame in frames] == [
        "GUILD_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "MESSAGE_DELETE",
        "THREAD_CREATE",
        "THREAD_UPDATE",
    ]
    assert [frame["s"] for frame in frames] == [2, 3, 4, 5, 6, 7]
    assert (frames[2]["d"]["content"], frames[2]["d"]["edited_timestamp"] is None) == (f"<@{BOT}> never mind", False)
    assert frames[3]["d"] == {"id": message.id, "channel_id": GENERAL, "guild_id": GUILD}
    assert (frames[4]["d"]["id"], frames[5]["d"]["thread_metadata"]["archived"]) == (message.id, True)


async def test_heartbeats_are_acknowledged_until_the_connection_is_a_zombie(monkeypatch: pytest.MonkeyPatch) -> None:
    with anyio.fail_after(5):
        async with LoopbackDiscord(time_scale=20, limits=Limits(heartbeat_interval=0.05)) as platform:
            point(monkeypatch, platform)
            changes = noted(platform)
            async with connected(platform, Bot(heartbeat_timeout=0.3)) as bot:
                with anyio.move_on_after(0.5):
                    await platform.until(lambda: any(isinstance(change, SocketClosed) for change in changes))
                    pytest.fail("a live connection was given up")
                platform.zombify()
                platform.say(ADA, GENERAL, "kept for you")
                await platform.until(lambda: any(isinstance(change, SessionResumed) for change in changes))
                with anyio.fail_after(2):
                    while not bot.said:
                        await anyio.lowlevel.checkpoint()
    assert [message.content for message in bot.said] == [f"<@{BOT}> kept for you"]


@pytest.mark.parametrize("way", ["reconnect", "invalid", "4000", "1001", "dropped"])
async def test_a_client_that_is_cut_off_resumes_and_misses_nothing(platform: LoopbackDiscord, way: str) -> None:
    changes = noted(platform)
    async with connected(platform) as bot:
        session = platform.sessions[0]
        match way:
            case "reconnect":
                platform.ask_to_reconnect()
            case "invalid":
                platform.invalidate(resumable=True)
            case "dropped":
                assert platform.drop_sockets() == 1
            case code:
                platform.disconnect(int(code))
        platform.say(ADA, GENERAL, "meanwhile")
        await platform.until(lambda: any(isinstance(change, SessionResumed) for change in changes))
        platform.say(ADA, GENERAL, "afterwards")
        with anyio.fail_after(2):
            while len(bot.said) < 2:
                await anyio.lowlevel.checkpoint()
        assert platform.sessions == [session]
    assert [message.content for message in bot.said][-1] == f"<@{BOT}> afterwards"
    assert {message.content for message in bot.said} == {f"<@{BOT}> meanwhile", f"<@{BOT}> afterwards"}


async def test_a_session_that_is_over_is_begun_anew(platform: LoopbackDiscord) -> None:
    changes = noted(platform)
    async with connected(platform):
        before = platform.sessions[0].id
        platform.invalidate()
        await platform.until(lambda: [type(change) for change in changes].count(SessionStarted) == 2)
        assert [session.id != before for session in platform.sessions] == [True]


async def test_resuming_replays_in_order_what_was_missed(platform: LoopbackDiscord) -> None:
    async with socket(platform) as link:
        ready = await identify(link, platform)
        assert (await frame_of(link))["s"] == 2
        assert ready["resume_gateway_url"] == platform.gateway_url
        await link.close(code=4000)
    for text in ("one", "two"):
        platform.say(ADA, ADA_DM, text)
    resume = {"token": platform.world.bot_token, "session_id": ready["session_id"], "seq": 2}
    async with socket(platform) as link:
        await frame_of(link)
        await link.send_json({"op": 6, "d": resume})
        frames = [await frame_of(link) for _ in range(3)]
        assert [(frame["t"], frame["s"]) for frame in frames] == [
            ("MESSAGE_CREATE", 3),
            ("MESSAGE_CREATE", 4),
            ("RESUMED", 5),
        ]
        assert [frame["d"]["content"] for frame in frames[:2]] == ["one", "two"]
        platform.redeliver("MESSAGE_CREATE")
        assert await frame_of(link) == frames[1]


@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_client_that_says_goodbye_cannot_resume(platform: LoopbackDiscord, code: int) -> None:
    async with socket(platform) as link:
        ready = await identify(link, platform)
        await link.close(code=code)
    await platform.until(lambda: platform.open_sockets == 0)
    async with socket(platform) as link:
        await frame_of(link)
        resume = {"token": platform.world.bot_token, "session_id": ready["session_id"], "seq": 1}
        await link.send_json({"op": 6, "d": resume})
        assert await frame_of(link) == {"op": 9, "d": False}


async def push_into_client(platform: LoopbackDiscord) -> None:
    async with connected(platform):
        platform.push("MESSAGE_CREATE", {"not": "a message"})
        await anyio.sleep_forever()


async def test_any_dispatch_can_be_pushed_and_a_malformed_one_ends_the_sdks_connection(
    platform: LoopbackDiscord,
) -> None:
    async with socket(platform) as link:
        await identify(link, platform)
        platform.push("MESSAGE_CREATE", {"not": "a message"})
        assert [(await frame_of(link))["t"] for _ in range(2)] == ["GUILD_CREATE", "MESSAGE_CREATE"]
    with pytest.raises(BaseExceptionGroup) as raised:
        await push_into_client(platform)
    assert raised.group_contains(KeyError)


async def test_an_interaction_is_told_whatever_the_intents(platform: LoopbackDiscord) -> None:
    async with ClientSession() as session, socket(platform) as link:
        await identify(link, platform, intents=0)
        url = f"{platform.api_url}/applications/{BOT}/commands"
        headers = {"Authorization": f"Bot {platform.world.bot_token}"}
        async with session.put(url, json=[{"name": "new", "description": "a"}], headers=headers) as response:
            assert response.status == 200
        platform.say(ADA, GENERAL, "unheard")
        platform.command(ADA, ADA_DM, "new")
        frame = await frame_of(link)
    assert (frame["t"], frame["d"]["context"], frame["d"]["user"]["id"]) == ("INTERACTION_CREATE", 1, ADA)
    assert frame["d"]["authorizing_integration_owners"] == {"0": "0"}


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("no json", 4002),
        ("[]", 4002),
        (json.dumps({"op": 1, "d": "x" * 4_096}), 4002),
        (json.dumps({"op": 99}), 4001),
        (json.dumps({"op": 3, "d": {}}), 4003),
    ],
)
async def test_a_payload_that_breaks_a_rule_closes_the_connection(
    platform: LoopbackDiscord, payload: str, code: int
) -> None:
    async with socket(platform) as link:
        await frame_of(link)
        await link.send_str(payload)
        assert await close_code_of(link) == code


async def test_too_many_payloads_close_the_connection(platform: LoopbackDiscord) -> None:
    async with socket(platform) as link:
        await frame_of(link)
        start = time.monotonic()
        for _ in range(121):
            await link.send_json({"op": 1, "d": None})
        assert time.monotonic() - start < 60
        assert await close_code_of(link) == 4008


async def test_a_reset_token_opens_nothing_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with anyio.fail_after(5):
        async with LoopbackDiscord(time_scale=20, limits=Limits(identifies=1)) as platform:
            async with socket(platform) as link:
                await identify(link, platform)
            async with socket(platform) as link:
                await frame_of(link)
                await link.send_json({"op": 2, "d": {"token": platform.world.bot_token, "intents": 0}})
                assert await close_code_of(link) == 4004
            point(monkeypatch, platform)
            await assert_login_fails(platform.world.bot_token)


async def test_observers_see_dispatches(platform: LoopbackDiscord) -> None:
    changes = noted(platform)
    async with connected(platform):
        platform.say(ADA, GENERAL, "hi")
    events = [change.event for change in changes if isinstance(change, Dispatched)]
    assert events == ["READY", "GUILD_CREATE", "MESSAGE_CREATE"]
