"""What broke other gateways on Slack, played with the real SDK against Slack on loopback; each test has its case's id.

The gateway runs in this process, with a model in memory.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from adapters.loopback.slack import LoopbackSlack, Message, Redelivery
from adapters.slack import Settings, create
from gateway.app import Parts, serve
from gateway.command import HELP
from gateway.conversation import RunEnded
from gateway.error import StoreError
from gateway.event import Envelope
from gateway.notice import MAY_BE_A_REPEAT
from gateway.store import Store
from gateway.stores.database import Row, Statement
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from tests.cases import case
from tests.unit.gateway.chat import platform
from tests.unit.gateway.model import Model, agent, whole

SCALE = 60.0


@pytest.fixture(autouse=True)
def tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-loopback")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-loopback")


@pytest.fixture
async def slack() -> AsyncIterator[LoopbackSlack]:
    async with LoopbackSlack(time_scale=SCALE) as server:
        yield server


class Refusing(MemoryDatabase):
    """A database that does not take the first message."""

    refused = False

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        if not self.refused and any("message_received" in each.parameters for each in statements):
            self.refused = True
            msg = "the disk is full"
            raise StoreError(msg)
        return await super().transaction(statements)


@asynccontextmanager
async def opened(database: MemoryDatabase) -> AsyncGenerator[Store]:
    with database:
        yield await Mailbox.open(database)


@asynccontextmanager
async def gateway(
    slack: LoopbackSlack, model: Model, *, bubble: int = 800, database: MemoryDatabase | None = None
) -> AsyncGenerator[list[RunEnded]]:
    """A gateway that is connected, and the runs that have ended in it; cut off at the end."""
    adapter = create(Settings(base_url=slack.base_url, bubble=bubble))
    parts = Parts(
        store=opened(database or MemoryDatabase()),
        agent=agent(model),
        platforms=(platform(adapter, name="slack"),),
        warnings=(),
        concurrent_runs=5,
        time_scale=SCALE,
    )
    ended: list[RunEnded] = []
    connected = anyio.Event()

    def watch(seen: Envelope | RunEnded) -> None:
        if isinstance(seen, RunEnded):
            ended.append(seen)

    async def run() -> None:
        await serve(parts, watch=watch, ready=connected.set, stop=anyio.Event())

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await connected.wait()
            yield ended
            tasks.cancel_scope.cancel()


async def shown(slack: LoopbackSlack, *texts: str) -> list[Message]:
    """The bot's messages, once they are these."""

    def texts_now() -> list[str]:
        return [message.text for message in slack.messages(author="bot")]

    with anyio.move_on_after(15):
        await slack.until(lambda: texts_now() == list(texts))
    assert texts_now() == list(texts)
    return slack.messages(author="bot")


def mention(said: Message) -> dict[str, object]:
    """An event that says of a message that it names us."""
    return {"type": "app_mention", "user": said.user, "channel": said.channel, "text": "<@UBOT> hi", "ts": said.ts}


async def kept(slack: LoopbackSlack) -> None:
    """Wait until all that was sent is stored."""
    with anyio.fail_after(5):
        await slack.until(lambda: not slack.unacknowledged)


async def test_l08_a_message_that_is_deleted_while_it_grows_is_edited_no_more_and_shown_anew(
    slack: LoopbackSlack,
) -> None:
    assert "message_not_found" in case("L08")["input"]["script"]["edit#4"]
    text = " ".join(f"word{number}" for number in range(100)) + "."
    async with gateway(slack, Model([whole(text)], pace=0.005)):
        slack.say("U1", "C1", "go")
        with anyio.fail_after(10):
            (first,) = await slack.until(
                lambda: [each for each in slack.messages(author="bot") if len(each.edits) == 3]
            )
        slack.delete("C1", first.ts)
        (second,) = await shown(slack, text)
    assert second.ts != first.ts
    gone = [call for call in slack.calls.of("chat.update") if call.error == "message_not_found"]
    assert len(gone) <= 1
    assert not any(call.arguments["ts"] == first.ts for call in slack.calls.of("chat.update")[3 + len(gone) :])


async def test_l09_a_post_whose_answer_is_lost_is_found_and_not_posted_again(slack: LoopbackSlack) -> None:
    slack.lose_answer_next("chat.postMessage", status=0)
    async with gateway(slack, Model([whole("Yes.")])) as ended:
        slack.say("U1", "C1", "go")
        await shown(slack, "Yes.")
        with anyio.fail_after(10):
            await slack.until(lambda: ended or slack.calls.of("conversations.replies"))
    assert len(slack.calls.of("chat.postMessage")) == 1
    assert MAY_BE_A_REPEAT not in [message.text for message in slack.messages()]


async def test_l12_what_is_shown_as_plain_text_is_the_source(slack: LoopbackSlack) -> None:
    source = case("L12")["input"]["source"]
    slack.fail_next("chat.postMessage", "invalid_blocks")
    async with gateway(slack, Model([whole(source)])):
        slack.say("U1", "C1", "go")
        await shown(slack, source)
    first, second, *edits = [*slack.calls.of("chat.postMessage"), *slack.calls.of("chat.update")]
    assert "text" not in first.arguments
    assert not any("markdown_text" in call.arguments for call in (second, *edits))
    assert [second, *edits][-1].arguments["text"] == source


async def test_l13_a_rate_limit_on_an_edit_costs_no_formatting(slack: LoopbackSlack) -> None:
    text = "Some **bold** words, and then `code` to the end."
    slack.fail_next("chat.update", retry_after=4, times=3)
    async with gateway(slack, Model([whole(text)], pace=0.02)):
        slack.say("U1", "C1", "go")
        await shown(slack, text)
    updates = slack.calls.of("chat.update")
    assert [call.status for call in updates[:3]] == [429] * 3
    assert all("markdown_text" in call.arguments for call in updates)


@pytest.mark.parametrize("error", ["msg_too_long", "invalid_blocks"])
async def test_l16_a_text_that_slack_refuses_as_too_long_is_split_and_nothing_is_dropped(
    error: str, slack: LoopbackSlack
) -> None:
    assert case("L16")["input"]["reply"].startswith("'&'*800")
    slack.fail_next("chat.postMessage", error)
    async with gateway(slack, Model([whole("&" * 2000)]), bubble=3000):
        slack.say("U1", "C1", "go")
        with anyio.fail_after(15):
            await slack.until(lambda: "".join(each.display for each in slack.messages(author="bot")) == "&" * 2000)
    assert len(slack.messages(author="bot")) > 1


async def test_l22_what_the_model_writes_wakes_nobody(slack: LoopbackSlack) -> None:
    reply = case("L22")["input"]["reply"]
    async with gateway(slack, Model([whole(reply)])):
        slack.say("U1", "C1", "go")
        (answer,) = await shown(slack, reply.replace("<!", "<\N{WORD JOINER}!").replace("<@", "<\N{WORD JOINER}@"))
    contents = [answer.original, *(edit.content for edit in answer.edits)]
    assert [content.pings for content in contents] == [()] * len(contents)


async def test_l24_a_repeated_event_runs_once_and_one_that_came_as_a_repetition_runs_too(
    slack: LoopbackSlack,
) -> None:
    deliveries = case("L24")["input"]["deliveries"]
    events = {
        name: mention(slack.say("U1", "C1", name, mention=False))
        for name in dict.fromkeys(each["event_id"] for each in deliveries)
    }
    model = Model([whole("Yes.")], pace=0.05)
    async with gateway(slack, model):
        for each in deliveries:
            slack.push(events[each["event_id"]], event_id=each["event_id"], attempt=each["retry"] or 0)
        await kept(slack)
        assert slack.messages(author="bot") == []  # acknowledged before the model has said a word
        await shown(slack, "Yes.", "Yes.")
        slack.redeliver("Ev1")
        await kept(slack)
    assert len(model.requests) == 2
    assert max(each.latency for each in slack.acknowledgements) < 3


async def test_l25_one_message_under_two_events_runs_once(slack: LoopbackSlack) -> None:
    model = Model([whole("Yes.")])
    async with gateway(slack, model):
        event = mention(slack.say("U1", "C1", "hi", mention=False))
        for each in case("L25")["input"]["deliveries"]:
            slack.push(event, event_id=each["event_id"])
        await kept(slack)
        slack.say("U1", "D1", "and in private")
        await shown(slack, "Yes.", "Yes.")
    assert len(model.requests) == 2


async def test_l26_a_mention_that_is_also_a_message_and_is_unfurled_runs_once(slack: LoopbackSlack) -> None:
    model = Model([whole("Yes.")])
    async with gateway(slack, model):
        said = mention(slack.say("U1", "C1", "same text", mention=False))
        for event in case("L26")["input"]["events"]:
            inner = {"message": {**said, "type": "message"}} if "message" in event else {"ts": said["ts"]}
            slack.push(said | event | inner)
        await kept(slack)
        slack.say("U1", "D1", "and in private")
        await shown(slack, "Yes.", "Yes.")
    assert len(model.requests) == 2


async def test_l26_what_was_not_stored_is_released_and_runs_when_it_comes_again() -> None:
    model = Model([whole("Yes.")])
    soon = Redelivery(deadline=0.2, delays=(0.0,))
    async with (
        LoopbackSlack(time_scale=SCALE, redelivery=soon) as slack,
        gateway(slack, model, database=Refusing()),
    ):
        slack.say("U1", "D1", "hello")
        await shown(slack, "Yes.")
    assert len(model.requests) == 1


async def test_l27_the_preview_of_our_own_link_starts_nothing(slack: LoopbackSlack) -> None:
    event = case("L27")["input"]["event"]
    model = Model([whole("see https://docs.example.org")])
    async with gateway(slack, model):
        asked = slack.say("U1", "D1", "where?")
        (answer,) = await shown(slack, event["message"]["text"])
        slack.unfurl("D1", answer.ts, "https://docs.example.org")
        slack.push(event | {"channel": "D1", "channel_type": "im", "ts": answer.ts})
        await kept(slack)
        slack.say("U1", "D1", "again?")
        await shown(slack, event["message"]["text"], event["message"]["text"])
    assert len(model.requests) == 2
    assert asked.ts < answer.ts


async def test_l28_no_bot_is_answered_not_even_where_it_names_us(slack: LoopbackSlack) -> None:
    """The case would answer another bot that mentions us, within a cap. The design answers none."""
    assert "bot B replies to each message of bot A" in case("L28")["input"]["events"]
    model = Model([whole("<@UBOT> a broken answer", "context_window")])
    async with gateway(slack, model) as ended:
        asked = slack.say("U1", "C1", "go")
        with anyio.fail_after(10):
            await slack.until(lambda: len(slack.messages(author="bot")) == 2)
        ours = slack.workspace.bot_user
        for number, author in enumerate(
            [{"user": ours}, {"user": "U9", "bot_id": "B9"}, {"user": "U9", "app_id": "A9"}]
        ):
            event = {"type": "app_mention", "channel": "C1", "text": "<@UBOT> and you?", "thread_ts": asked.ts}
            slack.push(event | author | {"ts": f"9{number}.1"})
        await kept(slack)
        slack.say("U1", "D1", "in private")
        with anyio.fail_after(10):
            await slack.until(lambda: slack.messages("D1", author="bot"))
    assert len(model.requests) == 2
    assert len(ended) >= 1


async def test_l31_a_command_whose_message_is_changed_is_obeyed_once(slack: LoopbackSlack) -> None:
    assert len(case("L31")["input"]["updates"]) == 2
    async with gateway(slack, Model([whole("Yes.")])):
        said = slack.say("U1", "D1", "!help")
        await shown(slack, HELP)
        slack.unfurl("D1", said.ts, "https://example.org")
        slack.edit("D1", said.ts, "!help!")
        await kept(slack)
        slack.say("U1", "D1", "hello")
        await shown(slack, HELP, "Yes.")


async def test_l32_a_message_that_waits_is_answered_as_it_was_edited(slack: LoopbackSlack) -> None:
    before, _ = case("L32")["input"]["steps"]
    model = Model([whole("Yes, a while."), whole("Listed.")], pace=0.1)
    async with gateway(slack, model):
        slack.say("U1", "D1", "one")
        waiting = slack.say("U1", "D1", before)
        await kept(slack)
        slack.edit("D1", waiting.ts, "list the old notes")
        await shown(slack, "Yes, a while.", "Listed.")
    assert len(model.requests) == 2
    assert model.requests[1].messages[-1].text == "<U1> list the old notes"


async def test_o07_what_comes_behind_a_file_does_not_overtake_it(slack: LoopbackSlack) -> None:
    _, text = case("O07")["input"]["updates"]
    model = Model([whole("A file."), whole("Nothing.")])
    async with gateway(slack, model):
        photo = {"type": "message", "subtype": "file_share", "user": "U1", "channel": "D1", "channel_type": "im"}
        slack.push(photo | {"ts": "17.1", "text": "", "files": [{"name": "photo.jpg"}]})
        slack.say("U1", "D1", text["text"])
        await shown(slack, "A file.", "Nothing.")
    assert "photo.jpg" in model.requests[0].messages[-1].text
    assert model.requests[1].messages[-1].text.endswith(text["text"])
