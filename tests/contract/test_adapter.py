"""What every adapter must do, shown with the platform's own SDK against the platform on loopback.

Adapters and their judges are found: a new one is a module in ``adapters`` and one of its name in ``adapters.loopback``,
and is tested at once.
"""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

from adapters.loopback.venue import Doing
from gateway.access import Allow, Ids
from gateway.adapter import Capabilities
from gateway.error import AdapterError, ConfigurationError
from gateway.inbound import CommandReceived, Ignored, MessageReceived, from_json, to_json
from gateway.operation import (
    DeleteMessage,
    EditMessage,
    MessageGone,
    NotModified,
    Operation,
    Performed,
    PostMessage,
    RateLimited,
    ReadThread,
    ThreadRead,
    TooLong,
    Unknown,
    Unreachable,
)
from tests.contract.bench import CALLS, LINKS, PATIENCE, PLAIN, Bench, found, open_bench
from tests.contract.manifest import assert_complete, proves


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=found())
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with open_bench(request.param, tmp_path) as there:
        yield there


# What it is.


@proves("found")
async def test_an_adapter_is_a_module_with_settings_and_says_whom_it_allows(bench: Bench) -> None:
    settings = TypeAdapter(bench.module.Settings).validate_python({})
    assert bench.module.allow(settings) == Allow()
    assert isinstance(bench.module.USERS, Ids)
    assert isinstance(bench.module.CHANNELS, Ids)
    configured = TypeAdapter(bench.module.Settings).validate_python(bench.venue.settings(bench.folder))
    assert bench.module.allow(configured).users


@proves("lazy")
async def test_an_adapter_that_is_only_created_loads_no_sdk_and_needs_no_secret(bench: Bench) -> None:
    code = f"""
import sys, sysconfig, gateway.app, markdown_it
before = set(sys.modules)
import adapters.{bench.name} as module
module.create(module.Settings())
files = {{name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}}
installed = {{name.partition(".")[0] for name in files if files[name].startswith(sysconfig.get_path("purelib"))}}
heavy = installed - {{"anyio", "markdown_it", "pydantic", "pydantic_core"}}
assert not heavy, heavy
"""
    done = await anyio.run_process([sys.executable, "-P", "-c", code], check=False, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()


@proves("budgets")
async def test_what_the_capabilities_offer_has_budgets(bench: Bench) -> None:
    given = bench.adapter.capabilities
    guest = [given.guest] if given.guest else []
    for each in (given, *guest):
        assert each.post
        assert each.edit or each.surface == "post"
        assert bool(each.typing) == (each.typing_every is not None)
        assert each.private or not (each.buttons or each.whispers)
        assert each.reconciliation != "read" or each.read
        assert 1 <= each.bubble <= bench.venue.longest


# How it listens.


@proves("ready-once")
async def test_ready_is_told_once_and_then_events_arrive(bench: Bench) -> None:
    async with bench.listening():
        await bench.asked()
        assert bench.ready == 1
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.listeners() > 0)


@proves("refused")
async def test_a_secret_that_is_not_taken_ends_it_with_a_sentence_to_act_on(bench: Bench) -> None:
    bench.venue.refuse()
    with anyio.fail_after(PATIENCE), pytest.raises(AdapterError) as told:
        await bench.adapter.run(bench.inbox.receive, lambda: None)
    assert not [secret for secret in bench.venue.secrets() if secret in str(told.value)]
    assert bench.name in str(told.value).lower()


@proves("missing")
async def test_a_secret_that_is_not_there_is_named(bench: Bench) -> None:
    kept, *_ = [
        Path(str(value).removeprefix("file:"))
        for value in bench.venue.settings(bench.folder).values()
        if str(value).startswith("file:")
    ]
    kept.unlink()
    with anyio.fail_after(PATIENCE), pytest.raises(ConfigurationError, match=str(kept)):
        await bench.adapter.run(bench.inbox.receive, lambda: None)


@proves("cancelled")
async def test_a_run_that_is_cancelled_leaves_nothing_and_can_begin_again(bench: Bench) -> None:
    before = asyncio.all_tasks()
    for round_ in range(2):
        async with bench.listening():
            await bench.asked(f"Question {round_}?")
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.listeners() == 0)
    strange = [task for task in asyncio.all_tasks() - before if _ours(task)]
    assert strange == []


def _ours(task: "asyncio.Task[object]") -> bool:
    """Whether a task is not the judge's."""
    code: Any = getattr(task.get_coro(), "cr_code", None)
    return code is not None and "loopback" not in code.co_filename and "aiohttp/web" not in code.co_filename


@proves("reconnect")
async def test_it_listens_again_where_every_connection_was_cut(bench: Bench) -> None:
    async with bench.listening():
        await bench.asked("Before?")
        bench.venue.drop()
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.listeners() > 0)
        await bench.asked("After?")
        assert bench.ready == 1


@proves("addressed")
async def test_what_is_said_to_the_bot_arrives_as_it_was_said(bench: Bench) -> None:
    text = "What is 2 < 3 & 4 > 1?\n\n```\n*x*\n```\n😀 done"
    async with bench.listening():
        message = await bench.asked(text)
    assert message.text == text
    assert not message.direct
    assert message.address.platform == bench.name
    assert message.address.account
    assert message.own_id
    assert message.user in bench.module.allow(_settings(bench)).users


def _settings(bench: Bench) -> Any:
    return TypeAdapter(bench.module.Settings).validate_python(bench.venue.settings(bench.folder))


@proves("direct")
async def test_what_is_said_to_the_bot_alone_needs_no_mention(bench: Bench) -> None:
    async with bench.listening():
        bench.venue.say("Just us.", where="direct", addressed=False)
        message = await bench.inbox.first()
    assert (message.text, message.direct) == ("Just us.", True)


@proves("not-addressed")
async def test_what_people_say_to_each_other_starts_nothing(bench: Bench) -> None:
    async with bench.listening():
        bench.venue.say("Lunch?", addressed=False)
        await bench.asked("You there?")
    assert [message.text for message in bench.inbox.said()] == ["You there?"]
    assert "Lunch" not in "".join(map(to_json, bench.inbox.kept))


@proves("bots")
async def test_what_bots_say_starts_nothing(bench: Bench) -> None:
    async with bench.listening():
        bench.venue.say("Beep.", who="robot")
        question = await bench.asked("You there?")
        await bench.post("I am.", into=question)
        await bench.asked("Good.")
    assert [message.text for message in bench.inbox.said()] == ["You there?", "Good."]


@proves("once")
async def test_what_is_delivered_again_is_known_by_its_ids(bench: Bench) -> None:
    async with bench.listening():
        first = await bench.asked()
        before = [each.event_id for each in bench.inbox.kept]
        bench.venue.repeat()
        await bench.inbox.until(lambda: len(bench.inbox.kept) > len(before))
        await bench.asked("And?")
    assert bench.inbox.kept[len(before)].event_id in before
    assert [each.text for each in bench.inbox.said()] == [first.text, "And?"]


@proves("kept")
async def test_what_the_store_refuses_is_given_to_it_again(bench: Bench) -> None:
    bench.inbox.refusals = 2
    async with bench.listening():
        with anyio.fail_after(150):  # a platform that has to send it again does so after a minute of its own
            await bench.asked("Is anybody there?")
    assert bench.inbox.refusals == 0


@proves("order")
async def test_what_is_said_arrives_in_its_order(bench: Bench) -> None:
    texts = [f"Number {number}." for number in range(12)]
    async with bench.listening():
        for text in texts:
            bench.venue.say(text)
        await bench.inbox.until(lambda: len(bench.inbox.said()) == len(texts))
    assert [message.text for message in bench.inbox.said()] == texts
    assert len({message.message_id for message in bench.inbox.said()}) == len(texts)
    assert len({message.event_id for message in bench.inbox.said()}) == len(texts)


@proves("round-trip")
async def test_whatever_arrives_can_be_stored_and_read_again(bench: Bench) -> None:
    async with bench.listening():
        bench.venue.say("a", addressed=False)
        bench.venue.say("b", who="bob", where="direct")
        bench.venue.say("c", who="robot")
        asked = bench.venue.say("d")
        bench.venue.edit(asked, "e")
        bench.venue.delete(asked)
        bench.venue.command("status")
        bench.venue.ask("f")
        await bench.inbox.until(lambda: {"d", "f"} <= {message.text for message in bench.inbox.said()})
    assert [from_json(to_json(inbound)) for inbound in bench.inbox.kept] == bench.inbox.kept
    assert all(inbound.event_id.startswith(f"{bench.name}:") for inbound in bench.inbox.kept)
    assert {type(inbound) for inbound in bench.inbox.kept} >= {MessageReceived, CommandReceived}
    assert not [
        inbound for inbound in bench.inbox.kept if isinstance(inbound, Ignored) and "malformed" in inbound.reason
    ]


# What it does.


@proves("post")
async def test_a_post_stands_where_the_question_was_asked(bench: Bench) -> None:
    async with bench.listening():
        here = await bench.asked()
        bench.venue.say("And here?", where="direct")
        there = await bench.inbox.until(lambda: next((each for each in bench.inbox.said() if each.direct), None))
        ids = [await bench.post("In the channel.", into=here), await bench.post("Just us.", into=there)]
    assert [(message.id, message.where) for message in bench.shown()] == list(
        zip(ids, ("channel", "direct"), strict=True)
    )
    assert bench.texts() == ["In the channel.", "Just us."]


@proves("without-run")
async def test_operations_need_no_run(bench: Bench) -> None:
    async with bench.listening():
        question = await bench.asked()
    await bench.post("Still here.", into=question)
    bench.adapter = bench.create()
    await bench.post("So am I.", into=question)
    assert bench.texts() == ["Still here.", "So am I."]


@proves("edit")
async def test_an_edit_replaces_the_text_and_may_be_repeated(bench: Bench) -> None:
    async with bench.listening():
        question = await bench.asked()
        edit = EditMessage(address=question.address, message_id=await bench.post("One.", into=question), text="Two.")
        assert isinstance(await bench.perform(edit), Performed)
        assert isinstance(await bench.patiently(edit), Performed | NotModified)
    assert bench.texts() == ["Two."]


@proves("delete")
async def test_a_message_is_taken_away_once_or_twice(bench: Bench) -> None:
    async with bench.listening():
        question = await bench.asked()
        delete = DeleteMessage(address=question.address, message_id=await bench.post("One.", into=question))
        assert isinstance(await bench.perform(delete), Performed)
        assert isinstance(await bench.perform(delete), Performed | MessageGone | NotModified)
    assert bench.texts() == []


@proves("gone")
async def test_a_message_that_a_reader_took_away_is_gone(bench: Bench) -> None:
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post("One.", into=question)
        bench.venue.delete(message_id)
        edit = EditMessage(address=question.address, message_id=message_id, text="Two.")
        assert await bench.perform(edit) == MessageGone()


@proves("plain")
async def test_without_markup_the_text_is_shown_as_it_stands(bench: Bench) -> None:
    async with bench.listening():
        await bench.post(PLAIN, markup=False)
    (message,) = bench.shown()
    assert (message.text if message.plain is None else message.plain) == PLAIN
    assert not message.entities


CODE = 'def f(x):\n\treturn {"a": x ** 2, "b": "<@U1> *y* _z_ \\\\n &amp;"}\n\n# done\n'


@proves("code")
async def test_code_is_shown_character_by_character(bench: Bench) -> None:
    async with bench.listening():
        await bench.post(f"Here:\n\n```python\n{CODE}```\n\nDone.")
    (text,) = bench.texts()
    assert CODE.strip("\n") in text.replace("\N{WORD JOINER}", "")


@proves("no-ping")
@pytest.mark.parametrize("markup", [True, False])
async def test_nobody_is_called_whatever_a_text_says(bench: Bench, *, markup: bool) -> None:
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post(CALLS, markup=markup, into=question)
        edit = EditMessage(address=question.address, message_id=message_id, text=f"{CALLS}!", markup=markup)
        assert isinstance(await bench.patiently(edit), Performed)
    (message,) = bench.shown()
    assert list(message.pings) == []


@proves("no-preview")
@pytest.mark.parametrize("markup", [True, False])
async def test_no_link_unfolds(bench: Bench, *, markup: bool) -> None:
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post(LINKS, markup=markup, into=question)
        edit = EditMessage(address=question.address, message_id=message_id, text=f"{LINKS}!", markup=markup)
        assert isinstance(await bench.patiently(edit), Performed)
    (message,) = bench.shown()
    assert list(message.previews) == []


TEXTS: Sequence[str] = (
    "w" * 20_000,
    "<" * 20_000,
    "😀" * 20_000,
    "日本" * 10_000,
    "**b** " * 4_000,
    "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 2_000,
    "&<>" * 7_000,
    "- x\n" * 5_000,
    "@here " * 3_000,
)


@proves("fits")
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:6])
@pytest.mark.parametrize("bubble", [None, 800], ids=["longest", "800"])
async def test_what_is_said_to_fit_is_taken(bench: Bench, text: str, bubble: int | None) -> None:
    bench.adapter = bench.create(bubble=bubble or bench.venue.longest)
    given = bench.adapter.capabilities
    cut = text[: given.bubble]
    while not _fits(given, cut):
        cut = cut[: len(cut) * 3 // 4]
    async with bench.listening():
        await bench.post(cut)
    (shown,) = bench.texts()
    assert _length(given, shown) <= given.bubble


def _fits(given: Capabilities, text: str) -> bool:
    return _length(given, text) <= given.bubble and (given.fits is None or given.fits(text))


def _length(given: Capabilities, text: str) -> int:
    units = {"cp": len(text), "utf16": len(text.encode("utf-16-le")) // 2, "utf8": len(text.encode())}
    return units[given.unit]


@proves("too-long")
async def test_what_does_not_fit_is_told_to_be_too_long_and_not_shown(bench: Bench) -> None:
    async with bench.listening():
        question = await bench.asked()
        calls = len(bench.venue.calls())
        for operation in (
            PostMessage(address=question.address, text="word " * 10_000),
            EditMessage(address=question.address, message_id="1", text="word " * 10_000),
            PostMessage(address=question.address, text="word " * 10_000, markup=False),
        ):
            assert await bench.perform(operation) == TooLong()
        assert len(bench.venue.calls()) == calls
    assert bench.shown() == []


@asynccontextmanager
async def _trying(bench: Bench, doing: Doing) -> AsyncGenerator[Operation]:
    """Something to do on the platform."""
    async with bench.listening():
        question = await bench.asked()
        if doing == "post":
            yield PostMessage(address=question.address, text="Two.", nonce="a nonce of ours")
            return
        message_id = await bench.post("One.", into=question)
        if doing == "edit":
            yield EditMessage(address=question.address, message_id=message_id, text="Two.")
        else:
            yield DeleteMessage(address=question.address, message_id=message_id)


@proves("limited")
@pytest.mark.parametrize("doing", ["post", "edit", "delete"])
async def test_a_rate_limit_is_told_and_not_waited_for(bench: Bench, doing: Doing) -> None:
    async with _trying(bench, doing) as operation:
        bench.venue.trouble(doing, "limited")
        calls = len(bench.venue.calls())
        outcome = await bench.perform(operation)
        assert isinstance(outcome, RateLimited)
        assert outcome.retry_after == pytest.approx(7.0, abs=1)  # pyright: ignore[reportUnknownMemberType]  # untyped
        assert len(bench.venue.calls()) == calls + 1
        assert isinstance(await bench.patiently(operation), Performed)


@proves("failed")
@pytest.mark.parametrize("doing", ["post", "edit", "delete"])
async def test_where_the_platform_fails_it_may_be_asked_again(bench: Bench, doing: Doing) -> None:
    async with _trying(bench, doing) as operation:
        bench.venue.trouble(doing, "failed")
        assert isinstance(await bench.perform(operation), Unknown | Unreachable)
        assert isinstance(await bench.perform(operation), Performed)


@proves("lost")
@pytest.mark.parametrize("doing", ["post", "edit", "delete"])
async def test_what_was_done_without_an_answer_is_unknown(bench: Bench, doing: Doing) -> None:
    async with _trying(bench, doing) as operation:
        bench.venue.trouble(doing, "lost")
        calls = len(bench.venue.calls())
        outcome = await bench.perform(operation)
        if doing == "delete":  # an HTTP library may ask once more: that changes nothing
            assert isinstance(outcome, Unknown | MessageGone)
        else:
            assert isinstance(outcome, Unknown)
            assert len(bench.venue.calls()) == calls + 1
    assert bench.texts() == ([] if doing == "delete" else ["Two."])


@proves("nonce")
async def test_a_post_without_an_answer_is_found_again(bench: Bench) -> None:
    async with _trying(bench, "post") as operation:
        bench.venue.trouble("post", "lost")
        assert isinstance(await bench.perform(operation), Unknown)
        (shown,) = bench.shown()
        match bench.adapter.capabilities.reconciliation:
            case "nonce":
                again = await bench.perform(operation)
                assert isinstance(again, Performed)
                assert again.message_id == shown.id
            case "read":
                read = await bench.perform(ReadThread(address=operation.address))
                assert isinstance(read, ThreadRead)
                assert [(each.message_id, each.nonce) for each in read.messages if each.ours] == [
                    (shown.id, "a nonce of ours")
                ]
            case "none":
                pass
    assert len(bench.shown()) == 1


@proves("nobody-there")
@pytest.mark.parametrize("name", found())
async def test_where_nobody_listens_nothing_was_done(name: str, tmp_path: Path) -> None:
    async with open_bench(name, tmp_path) as there:
        async with there.listening():
            question = await there.asked()
        adapter = there.create()
    outcome = await adapter.perform(PostMessage(address=question.address, text="Hello?"))
    assert isinstance(outcome, Unreachable), outcome


@proves("secrets")
async def test_no_secret_is_told(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    async with bench.listening():
        question = await bench.asked()
        for trouble in ("limited", "failed", "cut", "lost"):
            bench.venue.trouble("post", trouble)
            told.append(repr(await bench.perform(PostMessage(address=question.address, text="Hi!", nonce=trouble))))
        bench.venue.drop()
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.listeners() > 0)
        told.append(repr(replace(question, text="")))
    ours = [
        record.getMessage() for record in caplog.records if record.name.partition(".")[0] in ("adapters", "gateway")
    ]
    for secret in bench.venue.secrets():
        assert not [line for line in (*told, *ours) if secret in line]


def test_every_requirement_has_a_test_and_every_test_a_requirement() -> None:
    assert_complete(__name__, "adapter.toml")
