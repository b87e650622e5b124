"""What broke other gateways on Discord, played with the real SDK against Discord on loopback; each test that plays a
case has its id.

The gateway runs in this process, with a model in memory.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from adapters.discord import Settings, create
from adapters.discord.capability import GUEST_BUBBLE, GUEST_MESSAGES
from adapters.discord.interaction import ASK, QUESTION
from adapters.loopback.discord import LoopbackDiscord, Message, World
from adapters.loopback.discord.world import ADA, ADA_DM, FOREIGN_CHANNEL, GENERAL
from gateway.app import Parts, serve
from gateway.notice import FOR, LEFT_OUT
from gateway.store import Store
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from tests.cases import case
from tests.unit.gateway.chat import platform
from tests.unit.gateway.model import Model, agent, whole

SCALE = 60.0
PATCH = "PATCH /channels/{channel}/messages/{message}"
EDIT_FIRST = "PATCH /webhooks/{application}/{token}/messages/@original"
DELETE_FIRST = "DELETE /webhooks/{application}/{token}/messages/@original"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_BOT_TOKEN", World().bot_token)


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(time_scale=SCALE) as server:
        yield server


@asynccontextmanager
async def opened(database: MemoryDatabase) -> AsyncGenerator[Store]:
    with database:
        yield await Mailbox.open(database)


@asynccontextmanager
async def gateway(discord: LoopbackDiscord, model: Model) -> AsyncGenerator[None]:
    """A gateway that is connected; cut off at the end."""
    adapter = create(Settings(base_url=discord.api_url, gateway_url=discord.gateway_url))
    parts = Parts(
        store=opened(MemoryDatabase()),
        agent=agent(model),
        platforms=(platform(adapter, name="discord"),),
        warnings=(),
        concurrent_runs=5,
        time_scale=SCALE,
    )
    connected = anyio.Event()

    async def run() -> None:
        await serve(parts, watch=lambda _: None, ready=connected.set, stop=anyio.Event())

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await connected.wait()
            yield
            tasks.cancel_scope.cancel()


async def shown(discord: LoopbackDiscord, *texts: str) -> list[Message]:
    """The bot's messages, once they are these."""

    def texts_now() -> list[str]:
        return [message.text for message in discord.messages(author="bot")]

    with anyio.move_on_after(20):
        await discord.until(lambda: texts_now() == list(texts))
    assert texts_now() == list(texts)
    return discord.messages(author="bot")


def ask(discord: LoopbackDiscord, way: str, channel: str = GENERAL) -> str:
    """Let ada ask something in a message or by a slash command; the question's id."""
    if way == "said":
        return discord.say(ADA, channel, "go").id
    return discord.command(ADA, channel, ASK, {QUESTION: "go"}).id


async def grown(discord: LoopbackDiscord, edits: int) -> Message:
    """A message of the bot's that has been edited so often, and has words."""
    (message,) = await discord.until(
        lambda: [
            each
            for each in discord.messages(author="bot")
            if len(each.edits) >= edits and each.text and not each.loading
        ]
    )
    return message


TEXT = " ".join(f"word{number}" for number in range(100)) + "."


@pytest.mark.parametrize("way", ["said", "command"])
async def test_l08_a_message_that_is_deleted_while_it_grows_is_edited_no_more_and_shown_anew(
    discord: LoopbackDiscord, way: str
) -> None:
    assert "discord 404 code 10008" in case("L08")["input"]["script"]["edit#4"]
    async with gateway(
        discord,
        Model(
            [
                whole(
                    TEXT,
                ),
                whole("Yes."),
            ],
            pace=0.01,
        ),
    ):
        ask(discord, way)
        first = await grown(discord, 3)
        discord.delete(first.id)
        (second,) = await shown(discord, TEXT)
        assert second.id != first.id
        discord.say(ADA, GENERAL, "and?")
        await shown(discord, TEXT, "Yes.")
    gone = [call for call in discord.calls if call.error == "10008"]
    assert len(gone) <= 1


async def test_l19_where_a_token_ends_in_the_middle_of_an_answer_that_goes_on_in_the_channel_and_names_who_asked(
    discord: LoopbackDiscord,
) -> None:
    assert case("L19")["input"]["script"]["webhook calls after 900 s"]["json"]["code"] == 50027
    async with gateway(discord, Model([whole(TEXT), whole("Yes.")], pace=0.01)):
        asked = ask(discord, "command")
        await grown(discord, 2)
        discord.expire(asked)
        await shown(discord, FOR.format(f"<@{ADA}>"), TEXT)
        discord.say(ADA, GENERAL, "and?")
        named, *_ = await shown(discord, FOR.format(f"<@{ADA}>"), TEXT, "Yes.")
    assert named.interaction is None
    refused = [call for call in discord.calls if call.status >= 400]
    assert {(call.status, call.error) for call in refused} == {(401, "50027")}
    assert sorted(call.method for call in refused) in ([EDIT_FIRST], [DELETE_FIRST, EDIT_FIRST])  # neither again


async def test_l23_where_a_message_is_too_old_for_edits_the_answer_is_delivered_whole_in_a_new_one(
    discord: LoopbackDiscord,
) -> None:
    assert case("L23")["input"]["script"]["PATCH after 3600 s"]["json"]["code"] == 30046
    async with gateway(discord, Model([whole(TEXT), whole("Yes.")], pace=0.01)):
        ask(discord, "said")
        first = await grown(discord, 2)
        discord.fail_next(PATCH, 30046, status=429, retry_after=5)
        (second,) = await shown(discord, TEXT)
        assert second.id != first.id
        discord.say(ADA, GENERAL, "and?")
        await shown(discord, TEXT, "Yes.")
    assert [call.error for call in discord.calls if call.status >= 400] == ["30046"]


async def test_l32_a_message_that_waits_is_answered_as_it_was_edited(discord: LoopbackDiscord) -> None:
    before, _ = case("L32")["input"]["steps"]
    model = Model([whole("Yes, a while."), whole("Listed."), whole("No more.")], pace=0.1)
    async with gateway(discord, model):
        discord.say(ADA, ADA_DM, "one")
        waiting = discord.say(ADA, ADA_DM, before)
        await discord.until(lambda: discord.message(waiting.id).reactions)  # it is stored, and waits
        discord.edit(waiting.id, "list the old notes")
        await shown(discord, "Yes, a while.", "Listed.")
        discord.say(ADA, ADA_DM, "and?")
        await shown(discord, "Yes, a while.", "Listed.", "No more.")
    assert len(model.requests) == 3
    assert model.requests[1].messages[-1].text == f"<{ADA}> list the old notes"


async def test_a_guests_answer_of_any_length_keeps_within_its_messages_and_says_what_it_leaves_out(
    discord: LoopbackDiscord,
) -> None:
    text = " ".join(f"word{number}" for number in range(2_000))[:20_000]
    async with gateway(discord, Model([whole(text), whole("Yes.")], pace=0.0001)):
        asked = ask(discord, "command", FOREIGN_CHANNEL)
        await discord.until(
            lambda: any(each.text.endswith(LEFT_OUT) for each in discord.messages(FOREIGN_CHANNEL, author="bot"))
        )
        ask(discord, "command", FOREIGN_CHANNEL)
        *messages, _ = await discord.until(
            lambda: [
                each
                for each in discord.messages(FOREIGN_CHANNEL, author="bot")
                if discord.messages(author="bot")[-1].text == "Yes."
            ]
        )
    assert 1 < len(messages) <= GUEST_MESSAGES == 6
    assert max(len(message.text) for message in messages) <= GUEST_BUBBLE == 1_950
    *parts, last = [message.text for message in messages]
    words, said, rest = last.partition(f"\n\n{LEFT_OUT}")
    assert (said.strip(), rest) == (LEFT_OUT, "")
    told = " ".join([*parts, words])
    assert len(told) > 11_000
    assert text.startswith(told)
    assert [call for call in discord.calls if call.status >= 400] == []
    assert len(discord.interaction(asked).follow_ups) == len(messages) - 1
