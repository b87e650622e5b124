"""What broke other gateways on Telegram, played with the real SDK against Telegram on loopback; each test has its
case's id.

The gateway runs in this process, with a model in memory.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import pytest

from adapters.loopback.telegram import LoopbackTelegram, Message, World
from adapters.telegram import Settings, create
from adapters.telegram.prose import rendered
from gateway.app import Parts, serve
from gateway.command import SLASH_HELP
from gateway.conversation import RunEnded
from gateway.event import Envelope
from gateway.notice import MAY_BE_A_REPEAT
from gateway.store import Store
from gateway.stores.mailbox import Mailbox
from gateway.stores.sqlite import MemoryDatabase
from gateway.terms import Terms
from gateway.tool import Tool
from tests.cases import case
from tests.unit.gateway.chat import platform
from tests.unit.gateway.model import Fake, Model, agent, called, whole

SCALE = 60.0
ADA, GROUP, FORUM = 101, -200, -1_000_000_000_300


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", World().bot.token)


@pytest.fixture
async def telegram() -> AsyncIterator[LoopbackTelegram]:
    async with LoopbackTelegram(time_scale=SCALE) as server:
        yield server


@asynccontextmanager
async def opened(database: MemoryDatabase) -> AsyncGenerator[Store]:
    with database:
        yield await Mailbox.open(database)


@asynccontextmanager
async def gateway(
    telegram: LoopbackTelegram, model: Model, *, bubble: int = 800, tools: Sequence[Tool] = ()
) -> AsyncGenerator[list[RunEnded]]:
    """A gateway that is connected, and the runs that have ended in it; cut off at the end."""
    adapter = create(Settings(base_url=telegram.base_url, bubble=bubble))
    parts = Parts(
        store=opened(MemoryDatabase()),
        agent=agent(model, tools=tools),
        platforms=(platform(adapter, name="telegram"),),
        warnings=(),
        concurrent_runs=5,
        time_scale=SCALE,
        terms=Terms(files=Path("nowhere")),
    )
    ended: list[RunEnded] = []
    connected = anyio.Event()

    def watch(seen: Envelope | RunEnded) -> None:
        if isinstance(seen, RunEnded):
            ended.append(seen)

    async def run() -> None:
        await serve(parts, watch=watch, ready=connected.set, stop=anyio.Event())

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await connected.wait()
            yield ended
            tasks.cancel_scope.cancel()


async def shown(telegram: LoopbackTelegram, *texts: str) -> list[Message]:
    """The bot's messages, once they are these."""

    def texts_now() -> list[str]:
        return [message.text for message in telegram.messages(author="bot")]

    with anyio.move_on_after(20):
        await telegram.until(lambda: texts_now() == list(texts))
    assert texts_now() == list(texts)
    return telegram.messages(author="bot")


NEXT = "Well"


async def at_rest(telegram: LoopbackTelegram, *texts: str, chat: int = ADA) -> list[Message]:
    """The bot's messages, when a further question has been answered behind these; without that answer."""
    await shown(telegram, *texts)
    telegram.say(ADA, chat, "and?", mention=True)
    *before, _ = await shown(telegram, *texts, NEXT)
    return before


def answering(*texts: str, pace: float = 0.0) -> Model:
    """A model that says these, and then always the same."""
    return Model([*map(whole, texts), whole(NEXT)], pace=pace)


async def test_l07_an_answer_of_one_word_is_shown_once(telegram: LoopbackTelegram) -> None:
    """Nothing is edited that stands there already, so that there is nothing to refuse."""
    refusal = case("L07")["input"]["script"]["editMessageText"]
    telegram.fail_next("editMessageText", refusal["description"], error_code=refusal["error_code"])
    async with gateway(telegram, answering(case("L07")["input"]["stream"][0])):
        telegram.say(ADA, ADA, "go")
        await shown(telegram, "Yep.")
        assert telegram.calls.of("editMessageText") == []
        await at_rest(telegram, "Yep.")


@pytest.mark.parametrize("error_code", [0, 500])
async def test_l07_an_edit_that_is_refused_since_it_was_made_before_is_no_error(
    telegram: LoopbackTelegram, error_code: int
) -> None:
    """Nobody heard of the first one, so it is sent once more."""
    refusal = case("L07")["input"]["script"]["editMessageText"]["description"]
    text = " ".join(f"word{number}" for number in range(40)) + "."
    async with gateway(telegram, answering(text, pace=0.02)):
        telegram.lose_answer_next("editMessageText", error_code=error_code)
        telegram.say(ADA, ADA, "go")
        await shown(telegram, text)
        await telegram.until(
            lambda: [call for call in telegram.calls.of("editMessageText") if refusal in str(call.error)]
        )
        await at_rest(telegram, text)


async def test_l08_a_message_that_is_deleted_while_it_grows_is_edited_no_more_and_shown_anew(
    telegram: LoopbackTelegram,
) -> None:
    assert "message to edit not found" in case("L08")["input"]["script"]["edit#4"]
    text = " ".join(f"word{number}" for number in range(100)) + "."
    async with gateway(telegram, answering(text, pace=0.005)):
        telegram.say(ADA, ADA, "go")
        (first,) = await telegram.until(
            lambda: [each for each in telegram.messages(author="bot") if len(each.edits) == 2]
        )
        telegram.delete(ADA, first.id)
        (second,) = await at_rest(telegram, text)
    assert second.id != first.id
    assert len([call for call in telegram.calls.of("editMessageText") if call.error]) <= 1


async def test_l09_a_post_whose_answer_is_lost_is_repeated_and_marked(telegram: LoopbackTelegram) -> None:
    """The case would not repeat it. On Telegram nobody can say whether it arrived, so the design does, and says so."""
    telegram.lose_answer_next("sendMessage", error_code=0)
    async with gateway(telegram, answering("Yes.")):
        telegram.say(ADA, ADA, "go")
        await at_rest(telegram, "Yes.", MAY_BE_A_REPEAT, "Yes.")


async def test_l12_what_is_shown_as_plain_text_is_the_source(telegram: LoopbackTelegram) -> None:
    source = f"**{case('L12')['input']['source']}**"
    telegram.fail_next("sendMessage", "Bad Request: can't parse entities: nothing")
    async with gateway(telegram, Model([whole(source)])):
        telegram.say(ADA, ADA, "go")
        (message,) = await shown(telegram, source)
    assert all(version.parse_mode is None for version in message.versions)
    assert message.content.entities == ()


async def test_l13_a_rate_limit_on_an_edit_costs_no_formatting(telegram: LoopbackTelegram) -> None:
    text = "Some **bold** words, and then `code` to the end."
    telegram.fail_next("editMessageText", retry_after=4, times=2)
    async with gateway(telegram, Model([whole(text)], pace=0.02)):
        telegram.say(ADA, ADA, "go")
        (message,) = await shown(telegram, "Some bold words, and then code to the end.")
    assert [each.type for each in message.entities] == ["bold", "code"]
    assert len([call for call in telegram.calls.of("editMessageText") if call.retry_after]) >= 1


async def test_l20_the_answer_to_a_question_that_was_deleted_is_shown(telegram: LoopbackTelegram) -> None:
    async with gateway(telegram, answering("Yes.", pace=0.2)):
        asked = telegram.say(ADA, GROUP, "go", mention=True)
        await telegram.until(lambda: not telegram.pending)
        telegram.delete(GROUP, asked.id)
        await at_rest(telegram, "Yes.", chat=GROUP)


async def test_l31_a_command_whose_message_is_changed_is_obeyed_once(telegram: LoopbackTelegram) -> None:
    assert len(case("L31")["input"]["updates"]) == 2
    help_ = rendered(SLASH_HELP).text
    async with gateway(telegram, Model([whole("Yes.")])):
        said = telegram.say(ADA, ADA, "/help")
        await shown(telegram, help_)
        telegram.edit(ADA, said.id)
        telegram.edit(ADA, said.id, "/help me")
        await telegram.until(lambda: not telegram.pending)
        telegram.say(ADA, ADA, "hello")
        await shown(telegram, help_, "Yes.")


async def test_l32_a_message_that_waits_is_answered_as_it_was_edited(telegram: LoopbackTelegram) -> None:
    before, _ = case("L32")["input"]["steps"]
    model = Model([whole("Yes, a while."), whole("Listed."), whole(NEXT)], pace=0.1)
    async with gateway(telegram, model):
        telegram.say(ADA, ADA, "one")
        waiting = telegram.say(ADA, ADA, before)
        await telegram.until(lambda: not telegram.pending)
        telegram.edit(ADA, waiting.id, "list the old notes")
        await at_rest(telegram, "Yes, a while.", "Listed.")
    assert len(model.requests) == 3
    assert model.requests[1].messages[-1].text == f"<{ADA}> list the old notes"


async def test_l34_a_paste_is_answered_once(telegram: LoopbackTelegram) -> None:
    model = answering("Long.")
    async with gateway(telegram, model):
        telegram.paste(ADA, ADA, "🙂" * 2048 + "and so on")
        await at_rest(telegram, "Long.")
    assert len(model.requests) == 2
    assert model.requests[0].messages[-1].text.endswith("🙂and so on")


async def test_l36_an_answer_to_general_names_no_topic(telegram: LoopbackTelegram) -> None:
    async with gateway(telegram, Model([whole("Yes.")])):
        telegram.say(ADA, FORUM, "in general?", mention=True, topic=1)
        await shown(telegram, "Yes.")
    assert [call.target for call in telegram.calls.of("sendMessage")] == [str(FORUM)]
    assert "message_thread_id" not in telegram.calls.of("sendMessage")[0].arguments


async def test_l37_the_answer_to_a_topic_that_was_deleted_is_shown_beside_it(telegram: LoopbackTelegram) -> None:
    text = " ".join(f"word{number}" for number in range(400)) + "."
    async with gateway(telegram, Model([whole(text)], pace=0.001)):
        telegram.say(ADA, FORUM, "and saffron?", mention=True, topic=5)
        await telegram.until(lambda: not telegram.pending)
        telegram.delete_topic(FORUM, 5)
        await telegram.until(lambda: drawn(telegram).endswith("word399."))
    assert drawn(telegram).split() == text.split()
    assert {message.thread for message in telegram.messages(author="bot")} == {None}
    assert {message.chat for message in telegram.messages(author="bot")} == {FORUM}


async def test_m04_an_album_is_answered_once(telegram: LoopbackTelegram) -> None:
    model = answering("Three.")
    async with gateway(telegram, model):
        telegram.album(ADA, ADA, ["compare these", "", "this one is new"])
        await at_rest(telegram, "Three.")
    assert len(model.requests) == 2
    said = model.requests[0].messages[-1].text
    assert said.count("[photo") == 3
    assert said.index("compare these") < said.index("photo 2") < said.index("photo 3") < said.index("this one is new")


async def test_o07_what_comes_behind_a_picture_does_not_overtake_it(telegram: LoopbackTelegram) -> None:
    _, text = case("O07")["input"]["updates"]
    model = Model([whole("A picture."), whole("Nothing.")])
    async with gateway(telegram, model):
        telegram.album(ADA, ADA, ["look", ""])
        telegram.say(ADA, ADA, text["text"])
        await shown(telegram, "A picture.", "Nothing.")
    assert "[photo 2" in model.requests[0].messages[-1].text
    assert model.requests[1].messages[-1].text.endswith(text["text"])


async def test_r16_a_table_that_grows_when_it_is_drawn_is_split_and_nothing_is_lost(telegram: LoopbackTelegram) -> None:
    rows = [f"|a{number}|b{number}|c{number}|" for number in range(55)]
    table = "\n".join([f"|{'x' * 40}|{'y' * 40}|z|", "|-|-|-|", *rows])
    async with gateway(telegram, Model([whole(table)]), bubble=4_000):
        telegram.say(ADA, ADA, "go")
        await telegram.until(
            lambda: (
                all(row[1:-1].split("|")[0] + " " in drawn(telegram) for row in rows[:-1]) and "c54" in drawn(telegram)
            )
        )
    assert len(telegram.messages(author="bot")) > 1
    assert not [call for call in telegram.calls.of("sendMessage") if call.error]
    assert not [message for message in telegram.messages(author="bot") if message.flaws or message.over_utf16]


def drawn(telegram: LoopbackTelegram) -> str:
    return "\n".join(message.text for message in telegram.messages(author="bot"))


def data_of(message: Message) -> list[str]:
    """What is behind a message's buttons."""
    rows = (message.reply_markup or {}).get("inline_keyboard", [])
    return [button["callback_data"] for row in cast("list[list[dict[str, str]]]", rows) for button in row]


async def asked(telegram: LoopbackTelegram) -> Message:
    """The message that asks, once it does."""
    found = await telegram.until(lambda: [each for each in telegram.messages(author="bot") if data_of(each)])
    return found[0]


async def ended(runs: list[RunEnded]) -> RunEnded:
    """The run, once it has ended."""
    while not runs:  # noqa: ASYNC110 - a list tells nobody that it grew; who waits is bound by the gateway's own end
        await anyio.sleep(0.01)
    return runs[0]


LONG_ID = case("A08")["input"]["tool_call_id"]


async def test_a08_however_long_the_id_of_a_call_is_its_buttons_have_short_names_and_work(
    telegram: LoopbackTelegram,
) -> None:
    write = Fake("write", safe=False, approval=True)
    model = Model([called((LONG_ID, "write", {})), whole("Done.")])
    async with gateway(telegram, model, tools=[write]) as runs:
        telegram.say(ADA, ADA, "go")
        question = await asked(telegram)
        assert all(len(data.encode()) <= 64 for data in data_of(question))
        telegram.press(ADA, ADA, question.id, data_of(question)[0])
        assert (await ended(runs)).reason == "complete"
    assert len(write.runs) == 1


async def test_a08_where_the_question_cannot_be_shown_nothing_runs_and_nothing_hangs(
    telegram: LoopbackTelegram,
) -> None:
    write = Fake("write", safe=False, approval=True)
    telegram.fail_next("sendMessage", "Bad Request: BUTTON_DATA_INVALID", times=100)
    async with gateway(telegram, Model([called((LONG_ID, "write", {})), whole("Done.")]), tools=[write]) as runs:
        telegram.say(ADA, ADA, "go")
        await ended(runs)
    assert write.runs == []


@pytest.mark.parametrize("error_code", [0, 400, 500])
async def test_a11_a_press_that_cannot_be_answered_counts_and_the_buttons_go(
    telegram: LoopbackTelegram, error_code: int
) -> None:
    refusal = case("A11")["input"]["script"]["answerCallbackQuery"]
    write = Fake("write", safe=False, approval=True)
    async with gateway(telegram, Model([called(("u1", "write", {})), whole("Done.")]), tools=[write]) as runs:
        telegram.say(ADA, ADA, "go")
        question = await asked(telegram)
        if error_code == refusal["error_code"]:
            telegram.presses.outdate()
            telegram.fail_next("answerCallbackQuery", refusal["description"], times=100)
        else:
            telegram.fail_next("answerCallbackQuery", error_code=error_code, times=100)
        telegram.press(ADA, ADA, question.id, data_of(question)[0])
        assert (await ended(runs)).reason == "complete"
        assert data_of(telegram.message(ADA, question.id)) == []
        assert "Approved" in telegram.message(ADA, question.id).text
    assert len(write.runs) == 1
