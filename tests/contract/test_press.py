"""What every adapter must do with buttons, presses, words to one person alone and typed decisions.

An adapter whose capabilities have no buttons meets all of it by having none; whispers are asked for by themselves.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import get_args

import anyio
import pytest

from adapters.loopback.venue import Trouble
from gateway.adapter import Capabilities
from gateway.inbound import CommandReceived, MessageReceived, PressReceived, from_json, to_json
from gateway.operation import (
    Button,
    EditMessage,
    NotModified,
    Outcome,
    Performed,
    RateLimited,
    TellPrivately,
    Unknown,
    Unreachable,
)
from tests.contract.bench import CALLS, LINKS, PATIENCE, PLAIN, Bench, found, open_bench
from tests.contract.manifest import assert_complete, proves

BUTTONS = (
    Button(label="Allow", data="approve:abcdefg2", style="go"),
    Button(label="Always here", data="always:abcdefg2"),
    Button(label="Deny", data="deny:abcdefg2", style="stop"),
)
OFFERED = [(button.label, button.data) for button in BUTTONS]
LONGEST = "".join(map(chr, range(0x21, 0x61)))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=found())
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with open_bench(request.param, tmp_path) as there:
        yield there


async def _pressed(bench: Bench, number: int = 1) -> PressReceived:
    """The newest press, when so many have arrived."""
    return (await bench.inbox.until(lambda: bench.inbox.presses()[number - 1 :]))[-1]


def _answer(press: PressReceived, text: str) -> TellPrivately:
    return TellPrivately(address=press.address, user=press.user, text=text, press=press.press, ticket=press.ticket)


# What arrives.


@proves("press")
async def test_a_press_arrives_once_with_its_data_and_who_pressed(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post("May I?", into=question, buttons=BUTTONS)
        bench.venue.press("ada", message_id, "deny:abcdefg2")
        press = await _pressed(bench)
        bench.venue.repeat("press")
        again = await _pressed(bench, 2)
        bench.venue.press("bob", message_id, "approve:abcdefg2")
        other = await _pressed(bench, 3)
    assert (press.user, press.data, press.direct) == (question.user, "deny:abcdefg2", False)
    assert press.address == question.address
    assert press.message_id.rpartition(":")[2] == message_id
    assert press.event_id.startswith(f"{bench.name}:")
    assert (again.event_id, again.data, again.user) == (press.event_id, press.data, press.user)
    assert (other.message_id, other.data) == (press.message_id, "approve:abcdefg2")
    assert other.user != press.user
    assert other.event_id != press.event_id
    assert [from_json(to_json(each)) for each in bench.inbox.kept] == bench.inbox.kept


@proves("press-direct")
async def test_a_press_where_two_talk_alone_says_so(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        bench.venue.say("Just us.", where="direct", addressed=False)
        question = await bench.inbox.first()
        message_id = await bench.post("May I?", into=question, buttons=BUTTONS)
        bench.venue.press("ada", message_id, "approve:abcdefg2")
        press = await _pressed(bench)
    assert (press.direct, press.address, press.user) == (True, question.address, question.user)


@proves("press-kept")
async def test_a_press_is_stored_before_the_platform_hears_that_we_have_it(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    held = bench.inbox.holding = anyio.Event()
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post("May I?", into=question, buttons=BUTTONS)
        before = bench.inbox.offered
        bench.venue.press("ada", message_id, "approve:abcdefg2")
        await bench.inbox.until(lambda: bench.inbox.offered > before)
        await bench.post("A moment, please.", into=question)
        assert bench.venue.waiting() == 1
        held.set()
        press = await _pressed(bench)
        await bench.perform(_answer(press, ""))
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.waiting() == 0)
    assert bench.venue.whispers("ada") == []


@proves("press-stale")
async def test_a_press_of_a_button_that_is_not_there_any_more_arrives(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post("May I?", into=question, buttons=BUTTONS)
        edit = EditMessage(address=question.address, message_id=message_id, text="Denied.")
        assert isinstance(await bench.patiently(edit), Performed)
        with pytest.raises(LookupError):
            bench.venue.press("ada", message_id, "approve:abcdefg2")
        bench.venue.press("ada", message_id, "approve:abcdefg2", stale=True)
        press = await _pressed(bench)
    assert (press.data, press.message_id.rpartition(":")[2]) == ("approve:abcdefg2", message_id)


@proves("button-data")
async def test_data_of_64_bytes_comes_back_whole(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    assert len(LONGEST.encode()) == 64
    async with bench.listening():
        message_id = await bench.post("May I?", buttons=(Button(label="Yes", data=LONGEST),))
        assert bench.venue.buttons(message_id) == [("Yes", LONGEST)]
        bench.venue.press("ada", message_id, LONGEST)
        assert (await _pressed(bench)).data == LONGEST


# What is said to one person.


@proves("press-answered")
async def test_the_answer_to_a_press_is_for_who_pressed_alone(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        message_id = await bench.post("May I?", buttons=BUTTONS)
        bench.venue.press("bob", message_id, "approve:abcdefg2")
        press = await _pressed(bench)
        assert isinstance(await bench.perform(_answer(press, "Only ada may decide this.")), Performed)
        with anyio.fail_after(PATIENCE):
            await bench.venue.until(lambda: bench.venue.waiting() == 0)
    assert bench.venue.whispers("bob") == ["Only ada may decide this."]
    assert bench.venue.whispers("ada") == []
    assert bench.texts() == ["May I?"]
    assert bench.venue.buttons(message_id) == OFFERED


@proves("press-unanswered")
@pytest.mark.parametrize("trouble", ["limited", "failed", "cut", "lost", "late", "twice"])
async def test_a_press_that_cannot_be_answered_is_an_outcome(bench: Bench, trouble: Trouble | str) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        message_id = await bench.post("May I?", buttons=BUTTONS)
        bench.venue.press("ada", message_id, "approve:abcdefg2")
        answer = _answer(await _pressed(bench), "Too late.")
        match trouble:
            case "limited" | "failed" | "cut" | "lost":
                bench.venue.trouble("tell", trouble)
                expected = RateLimited if trouble == "limited" else Unknown | Unreachable
                assert isinstance(await bench.perform(answer), expected)
            case "late":
                bench.venue.outdate()
            case _:
                assert isinstance(await bench.perform(answer), Performed)
        assert isinstance(await bench.perform(answer), get_args(Outcome))
    assert set(bench.venue.whispers("ada")) <= {"Too late."}


@proves("whisper")
async def test_something_is_said_to_somebody_alone_who_pressed_nothing(bench: Bench) -> None:
    if not bench.adapter.capabilities.whispers:
        return
    async with bench.listening():
        question = await bench.asked()
        await bench.post("Let me see.", into=question)
        told = TellPrivately(address=question.address, user=question.user, text="Your text waits.")
        assert isinstance(await bench.perform(told), Performed)
    assert bench.venue.whispers("ada") == ["Your text waits."]
    assert bench.venue.whispers("bob") == []
    assert bench.texts() == ["Let me see."]


# What is shown.


@proves("buttons")
async def test_buttons_come_with_a_post_and_go_with_an_edit_without_them(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post("**May I?**", into=question, buttons=BUTTONS)
        without = await bench.post("**May I?**", nonce="another", into=question)
        with_them, plain = bench.texts()
        assert with_them == plain
        assert bench.venue.buttons(message_id) == OFFERED
        assert bench.venue.buttons(without) == []
        for text, buttons in (("Or that?", BUTTONS[1:]), ("Done.", ()), ("Again?", BUTTONS), ("Done.", ())):
            edit = EditMessage(address=question.address, message_id=message_id, text=text, buttons=buttons)
            assert isinstance(await bench.patiently(edit), Performed)
            assert bench.venue.buttons(message_id) == [(button.label, button.data) for button in buttons]
            assert bench.texts()[0] == text
            assert isinstance(await bench.patiently(edit), Performed | NotModified)


@proves("buttons-plain")
async def test_text_without_markup_stands_above_buttons_as_it_is(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post(PLAIN, markup=False, into=question, buttons=BUTTONS)
        (message,) = bench.shown()
        assert (message.text if message.plain is None else message.plain) == PLAIN
        assert bench.venue.buttons(message_id) == OFFERED
        edit = EditMessage(address=question.address, message_id=message_id, text="*Done.*", markup=False)
        assert isinstance(await bench.patiently(edit), Performed)
        assert bench.venue.buttons(message_id) == []
        (message,) = bench.shown()
        assert (message.text if message.plain is None else message.plain) == "*Done.*"


@proves("buttons-no-ping")
@pytest.mark.parametrize("markup", [True, False])
async def test_with_buttons_too_nobody_is_called_and_no_link_unfolds(bench: Bench, *, markup: bool) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        text = f"{CALLS}\n\n{LINKS}"
        message_id = await bench.post(text, markup=markup, into=question, buttons=BUTTONS)
        edit = EditMessage(
            address=question.address, message_id=message_id, text=f"{text}!", markup=markup, buttons=BUTTONS
        )
        assert isinstance(await bench.patiently(edit), Performed)
    (message,) = bench.shown()
    assert list(message.pings) == []
    assert list(message.previews) == []


@proves("buttons-fit")
@pytest.mark.parametrize("text", ["word " * 4_000, "<" * 20_000, "😀" * 20_000], ids=["words", "<", "😀"])
async def test_what_fits_is_taken_with_buttons_too(bench: Bench, text: str) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    bench.adapter = bench.create(bubble=bench.venue.longest)
    cut = text[: bench.adapter.capabilities.bubble]
    while not _fits(bench.adapter.capabilities, cut):
        cut = cut[: len(cut) * 3 // 4]
    async with bench.listening():
        question = await bench.asked()
        message_id = await bench.post(cut, into=question, buttons=BUTTONS)
        edit = EditMessage(address=question.address, message_id=message_id, text=f"{cut[:-1]}.", buttons=BUTTONS)
        assert isinstance(await bench.patiently(edit), Performed)
    assert bench.venue.buttons(message_id) == OFFERED


def _fits(given: Capabilities, text: str) -> bool:
    units = {"cp": len(text), "utf16": len(text.encode("utf-16-le")) // 2, "utf8": len(text.encode())}
    return units[given.unit] <= given.bubble and (given.fits is None or given.fits(text))


# What is typed.


@proves("typed")
@pytest.mark.parametrize(
    ("command", "argument"),
    [
        ("approve", "abcdefg2"),
        ("deny", "abcdefg2"),
        ("approve", ""),
        ("deny", ""),
        ("approvals", ""),
        ("revoke", "read_url"),
    ],
)
async def test_a_typed_decision_is_a_command_with_its_argument(bench: Bench, command: str, argument: str) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    async with bench.listening():
        question = await bench.asked()
        bench.venue.command(command, argument, beside=question.own_id)
        given = await bench.inbox.until(
            lambda: next((each for each in bench.inbox.kept if isinstance(each, CommandReceived)), None)
        )
    assert (given.command, given.argument, given.user) == (command, argument, question.user)
    assert given.address == question.address


@proves("not-typed")
async def test_what_only_begins_like_a_command_is_a_message(bench: Bench) -> None:
    if not bench.adapter.capabilities.buttons:
        return
    texts = ["approve the plan please", "Deny everything.", "approve of it", "revoke it all", "approvals are hard"]
    async with bench.listening():
        for text in texts:
            bench.venue.say(text)
        await bench.inbox.until(lambda: len(bench.inbox.said()) == len(texts))
        for text in texts:
            bench.venue.say(text, where="direct", addressed=False)
        await bench.inbox.until(lambda: len(bench.inbox.said()) == 2 * len(texts))
    assert [message.text for message in bench.inbox.said()] == texts * 2
    assert not [each for each in bench.inbox.kept if not isinstance(each, MessageReceived) and "command" in each.type]


def test_every_requirement_has_a_test_and_every_test_a_requirement() -> None:
    assert_complete(__name__, "press.toml")
