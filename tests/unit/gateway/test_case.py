"""What broke other gateways, played on virtual time against the centre; each test has the id of its case."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from gateway.adapter import UnknownOutcome
from gateway.address import Address
from gateway.command import HELP
from gateway.delivery import Delivery
from gateway.event import (
    AgentEnd,
    Event,
    MessageEnd,
    TextDelta,
    ToolResult,
    ToolStart,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from gateway.history import Answered
from gateway.notice import ENDINGS, MAY_BE_A_REPEAT, MAY_BE_MISSING
from gateway.operation import (
    AppendText,
    EditMessage,
    Expired,
    FinishStream,
    NotModified,
    Operation,
    Outcome,
    Performed,
    PostMessage,
    RateLimited,
    StartStream,
    Unknown,
    Unreachable,
)
from gateway.place import Place
from gateway.provider import UserMessage
from gateway.reply import Reply
from gateway.stores.mailbox import DEDUPE_SECONDS, Mailbox
from gateway.stores.sqlite import MemoryDatabase, Settings, create
from tests.cases import case
from tests.unit.gateway.chat import CAPABILITIES, MARK, Chat, command, edited, message, place, platform
from tests.unit.gateway.house import asked, finish, house, kill
from tests.unit.gateway.model import Model, native, whole

virtual = pytest.mark.virtual_time

READS = replace(CAPABILITIES, reconciliation="read")
END = AgentEnd(reason="complete", final_response="", turn_count=1, message_count=1, usage=Usage())
MESSAGE_END = MessageEnd(message_id="m", stop_reason="end", usage=Usage())


def said(*texts: str) -> list[Event]:
    return [TextDelta(block_id="b0", text=text) for text in texts]


def called(number: int, *, name: str = "look") -> list[Event]:
    """A tool call from its first word to its result."""
    call = f"t{number}"
    return [
        ToolUseStart(block_id=f"b{number}", tool_use_id=call, tool_name=name),
        ToolUseEnd(tool_use_id=call, input={}),
        ToolStart(tool_use_id=call, input={}),
        ToolResult(tool_use_id=call, content="ok", content_length=2),
    ]


async def shown(chat: Chat, events: Sequence[Event], *, pace: float = 0.0) -> Reply:
    """A reply that is told these events, one each ``pace`` seconds, when it is on the screen."""
    reply = Reply(place=Place(address=place(), capabilities=chat.capabilities, seed="m1"), run_id="r1")
    delivery = Delivery()
    with anyio.fail_after(10_000):
        async with anyio.create_task_group() as around:
            around.start_soon(delivery.run)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(delivery.show, reply, chat)
                for event in events:
                    delivery.feed(reply, event)
                    await anyio.sleep(pace)
            around.cancel_scope.cancel()
    assert reply.failure is None
    return reply


def words(texts: Sequence[str]) -> list[str]:
    return " ".join(texts).split()


def posts(chat: Chat) -> list[PostMessage]:
    return [call.operation for call in chat.calls if isinstance(call.operation, PostMessage)]


def edits(chat: Chat) -> list[EditMessage]:
    return [call.operation for call in chat.calls if isinstance(call.operation, EditMessage)]


# On the screen.


@dataclass
class Refusing(Chat):
    """Refuses edits from the fourth on for five minutes."""

    until: float = 0.0

    async def perform(self, operation: Operation) -> Outcome:
        if isinstance(operation, EditMessage) and len(edits(self)) >= 3:
            self.until = self.until or anyio.current_time() + 300
            if anyio.current_time() < self.until:
                self.fates.append(RateLimited(retry_after=30.0))
        return await super().perform(operation)


@virtual
async def test_l03_edits_that_are_refused_freeze_nothing_and_double_nothing() -> None:
    assert case("L03")["input"]["script"]["editMessageText"] == "429 (30 s) from the 4th edit on"
    text = " ".join(f"word{number}" for number in range(100))
    chat = Refusing(latency=0.1)
    await shown(chat, [*said(*(f"{word} " for word in text.split())), MESSAGE_END, END], pace=0.5)
    assert words(chat.texts()) == text.split()
    assert len(chat.texts()) == 1
    assert sum(isinstance(call.outcome, RateLimited) for call in chat.calls) >= 9


@virtual
async def test_l04_a_text_that_outgrows_the_platform_rolls_over_once_and_its_first_part_is_touched_no_more() -> None:
    limit = case("L04")["input"]["platform_limit"]
    text = "".join(f"Sentence {number:04}. " for number in range(333))[:5000]
    chat = Chat(latency=0.1, capabilities=replace(CAPABILITIES, unit="utf16", bubble=limit))
    deltas = [text[at : at + 10] for at in range(0, len(text), 10)]
    await shown(chat, [*said(*deltas), MESSAGE_END, END], pace=0.05)
    assert len(posts(chat)) == 2
    second = next(at for at, call in enumerate(chat.calls) if call.operation is posts(chat)[1])
    assert {edit.message_id for edit in edits(chat)} == {"0", "1"}
    assert all(getattr(call.operation, "message_id", "1") == "1" for call in chat.calls[second:])
    assert words(chat.texts()) == text.split()


@dataclass
class Unmoved(Chat):
    """Says of every edit that nothing would change."""

    async def perform(self, operation: Operation) -> Outcome:
        if isinstance(operation, EditMessage):
            self.fates.append(NotModified())
        return await super().perform(operation)


@virtual
async def test_l07_a_word_that_stands_there_already_is_one_message_and_no_error() -> None:
    chat = Unmoved(latency=0.1)
    await shown(chat, [*said(*case("L07")["input"]["stream"]), MESSAGE_END, END], pace=2.0)
    assert chat.texts() == ["Yep."]


@dataclass
class Deaf(Chat):
    """Takes the first post, and its answer is lost."""

    lost: int = 0

    async def perform(self, operation: Operation) -> Outcome:
        outcome = await super().perform(operation)
        if isinstance(operation, PostMessage) and not self.lost:
            self.lost += 1
            return Unknown(reason="read timeout")
        return outcome


@virtual
@pytest.mark.parametrize(
    ("unknown_outcome", "texts"),
    [("skip", ["Yes.", MAY_BE_MISSING]), ("repeat", ["Yes.", MAY_BE_A_REPEAT, "Yes."])],
)
async def test_l09_a_post_whose_answer_is_lost_goes_once_or_once_more_and_marked(
    unknown_outcome: UnknownOutcome, texts: list[str]
) -> None:
    """The case wants it never repeated. The design lets the operator choose; ``repeat`` is exactly one more, marked."""
    assert "response lost" in case("L09")["input"]["script"]["sendMessage#1"]
    chat = Deaf(latency=0.1, capabilities=replace(CAPABILITIES, unknown_outcome=unknown_outcome))
    await shown(chat, [*said("Yes."), MESSAGE_END, END])
    assert chat.texts() == texts
    assert all(post.markup for post in posts(chat))


@virtual
async def test_l09_where_it_can_be_read_whether_it_arrived_it_goes_once() -> None:
    chat = Deaf(latency=0.1, capabilities=READS)
    await shown(chat, [*said("Yes."), MESSAGE_END, END])
    assert chat.texts() == ["Yes."]
    assert len(posts(chat)) == 1


@virtual
async def test_l09_a_post_that_was_certainly_not_sent_may_go_again() -> None:
    chat = Chat(latency=0.1)
    chat.fates.append(Unreachable(reason="no connection"))
    await shown(chat, [*said("Yes."), MESSAGE_END, END])
    assert chat.texts() == ["Yes."]
    assert len(posts(chat)) == 2


@virtual
async def test_l13_a_rate_limit_on_the_last_edit_costs_no_formatting() -> None:
    wait = case("L13")["input"]["script"]["editMessageText(final)"][0]["parameters"]["retry_after"]
    chat = Chat(latency=0.1)

    async def refuse_the_last() -> None:
        await anyio.sleep(1.0)
        chat.fates.append(RateLimited(retry_after=wait))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(refuse_the_last)
        await shown(chat, [*said("Some **bold** "), *said("words."), MESSAGE_END, END], pace=2.0)
    assert chat.texts() == ["Some **bold** words."]
    refused = next(at for at, call in enumerate(chat.calls) if isinstance(call.outcome, RateLimited))
    assert [call.operation for call in chat.calls[refused:]] == [edits(chat)[-1]] * 2
    assert edits(chat)[-1].markup


@dataclass
class Streaming(Chat):
    """Streams that expire with the sixth append, without a word before."""

    appends: list[AppendText] = field(default_factory=list[AppendText])
    expired: bool = False

    def _show(self, operation: Operation) -> Outcome:
        if not isinstance(operation, AppendText | FinishStream):
            return super()._show(operation)
        if isinstance(operation, AppendText):
            self.appends.append(operation)
            self.expired = self.expired or len(self.appends) == 6
        if self.expired:
            return Expired()
        self.messages[int(operation.message_id)].text += operation.text
        return Performed(message_id=operation.message_id)


@virtual
async def test_l15_a_stream_that_expires_loses_nothing_of_what_was_not_sent() -> None:
    assert "chat.appendStream#6" in case("L15")["input"]["script"]
    append = replace(CAPABILITIES, surface="append", bubble=9000, append=CAPABILITIES.edit)
    chat = Streaming(latency=1.0, capabilities=append)
    text = "".join(f"Sentence {number:04}. " for number in range(200))
    deltas = [text[at : at + 20] for at in range(0, len(text), 20)]
    await shown(chat, [*said(*deltas), MESSAGE_END, END], pace=0.2)
    assert words(chat.texts()) == text.split()
    assert len(chat.texts()) == 1
    assert len(chat.appends) == 6
    assert sum(isinstance(call.operation, StartStream) for call in chat.calls) == 1
    assert edits(chat)


@virtual
async def test_l40_all_chunks_of_an_answer_stand_together_where_it_was_asked_for() -> None:
    here = place("C1", "T1")
    text = "".join(f"Sentence {number:04}. " for number in range(case("L40")["input"]["chunks"] * 40))
    chat = Chat(latency=0.1)
    inbox = [message("Go!", address=here), message("And I?", number=2, address=place("C1", "T2"))]
    async with house(Model([whole(text)], pace=0.01), chat, inbox=inbox) as (rooms, _):
        await finish(rooms)
    assert words(chat.texts(here)) == words(chat.texts(place("C1", "T2"))) == text.split()
    assert len(chat.texts(here)) >= 3
    assert {posted.address for posted in chat.messages} == {here, place("C1", "T2")}


@dataclass
class Uneven(Chat):
    """Takes two seconds for the first post, and nothing for all else."""

    async def perform(self, operation: Operation) -> Outcome:
        self.latency = 0.0 if self.calls else case("O02")["input"]["latency_s"][0]
        return await super().perform(operation)


@virtual
async def test_o02_what_tools_do_and_what_is_said_stand_in_their_order_and_hold_up_nobody_elsewhere() -> None:
    """A tool that posts into the conversation itself comes with the tools; here it is the line about them."""
    chat = Uneven()
    events = [*said("text A"), *called(1, name="send_file"), *said("text C"), MESSAGE_END, END]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shown, chat, events)
        other = Chat(latency=0.0)
        began = anyio.current_time()
        await shown(other, [*said("Elsewhere."), MESSAGE_END, END])
        assert anyio.current_time() - began < 1
    assert chat.texts() == ["text A", "_Used `send_file`_", "text C"]


@virtual
async def test_o03_the_answer_stands_below_what_was_said_and_done_before_it() -> None:
    """The case wants a notice for each tool. The design has one line, which tells of all of them."""
    first, _, answer = case("O03")["input"]["stream"]
    chat = Chat(latency=0.1)
    events = [*said(first), *called(1), *called(2), *called(3), *said(answer), MESSAGE_END, END]
    await shown(chat, events, pace=1.0)
    assert chat.texts() == [first, "_Used `look` (3 times)_", answer]
    assert {edit.message_id for edit in edits(chat)} <= {"1", "2"}


@dataclass
class Sluggish(Chat):
    """Takes five seconds for its first edit, and nothing for all else."""

    async def perform(self, operation: Operation) -> Outcome:
        first = isinstance(operation, EditMessage) and not edits(self)
        self.latency = case("O04")["input"]["edits"][0]["latency_s"] if first else 0.0
        return await super().perform(operation)


@virtual
async def test_o04_the_last_edit_waits_for_the_one_in_flight() -> None:
    chat = Sluggish()
    await shown(chat, [*said("ha"), *said("lf"), *said(", then whole"), MESSAGE_END, END], pace=2.0)
    assert chat.texts() == ["half, then whole"]
    assert [edit.text for edit in edits(chat)] == ["half", "half, then whole"]
    first, last = [call for call in chat.calls if isinstance(call.operation, EditMessage)]
    assert first.ended is not None
    assert last.began >= first.ended


@dataclass
class Late(Chat):
    """Does its first edit after five seconds, when nobody waits for it any more."""

    in_flight: anyio.Event = field(default_factory=anyio.Event)

    async def perform(self, operation: Operation) -> Outcome:
        if not isinstance(operation, EditMessage) or edits(self):
            return await super().perform(operation)
        self.fates.append(Unknown(reason="timeout"))
        self.in_flight.set()
        self.latency, latency = case("O04")["input"]["edits"][0]["client_timeout_s"], self.latency
        outcome = await super().perform(operation)
        self.latency = latency
        return outcome

    async def land(self) -> None:
        """Let the first edit take effect."""
        await self.in_flight.wait()
        await anyio.sleep(case("O04")["input"]["edits"][0]["latency_s"])
        first = edits(self)[0]
        self.messages[int(first.message_id)].text = first.text


@virtual
async def test_o04_an_edit_that_nobody_waits_for_any_more_does_not_bring_the_old_text_back() -> None:
    chat = Late(latency=0.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(chat.land)
        await shown(chat, [*said("ha"), *said("lf"), *said(", then whole"), MESSAGE_END, END], pace=2.0)
    assert chat.texts() == ["half, then whole"]


@virtual
async def test_o06_what_comes_behind_the_last_preview_is_in_the_closing_edit() -> None:
    given = case("O06")["input"]
    chat = Chat(latency=5.0)
    await shown(chat, [*said("A"), *said(" B"), *said(" C D"), MESSAGE_END, END], pace=3.0)
    assert chat.texts() == [given["turn_text"]]
    assert given["last_preview"] in [edit.text for edit in edits(chat)]


# In the mailboxes.


@virtual
async def test_l24_a_delivery_is_known_again_long_after_its_last_repetition() -> None:
    assert any("more than 5 min; keep 10" in wanted for wanted in case("L24")["assert"])
    now = 1000.0
    with MemoryDatabase(lambda: now) as database:
        store = await Mailbox.open(database)
        await store.ingest(message("Hi!"))
        await store.claim(1)
        work = await store.load(place().key)
        assert work is not None
        await store.finish(work, [])
        now += 600
        await store.prune(DEDUPE_SECONDS)
        assert await store.ingest(message("Hi!")) is None
        assert await store.ingest(replace(message("Hi!"), event_id="another delivery")) is None


@virtual
async def test_l29_a_command_that_comes_again_after_a_restart_is_not_obeyed_again() -> None:
    assert case("L29")["input"]["steps"][1] == "restart"
    chat = Chat(latency=0.1, capabilities=READS)
    with MemoryDatabase() as database:
        async with house(Model([whole("Hello.")]), chat, database=database) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await rooms.receive(command("help", number=500))
            await anyio.sleep(5)
            await kill(rooms, tasks)
        async with house(Model([whole("Hello.")]), chat, database=database) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await rooms.receive(command("help", number=500))
            await rooms.receive(message("Hi!", number=501))
            await anyio.sleep(5)
    assert chat.texts() == [HELP, "Hello."]


@virtual
async def test_l30_a_crash_between_the_models_answer_and_its_post_loses_and_doubles_nothing() -> None:
    assert "between model answer and sendMessage" in case("L30")["input"]["steps"][1]
    model, chat = Model([whole("Hello.")]), Chat(latency=0.0, capabilities=READS)
    chat.fates.append(RateLimited(retry_after=60))
    with MemoryDatabase() as database:
        async with house(model, chat, database=database, inbox=[message("Hi!", number=700)]) as (rooms, tasks):
            tasks.start_soon(rooms.conversations.run)
            await anyio.sleep(10)
            await kill(rooms, tasks)
        assert chat.texts() == []
        async with house(model, chat, database=database) as (rooms, _):
            assert await rooms.store.ingest(message("Hi!", number=700)) is None
            await finish(rooms)
    assert chat.texts() == ["Hello."]
    assert len(model.requests) == 1


@virtual
async def test_l32_a_message_that_waits_is_answered_as_it_was_corrected_and_no_other_way() -> None:
    first, _ = case("L32")["input"]["steps"]
    model = Model([whole("Done.")], pace=10.0)
    async with house(model, inbox=[message("Before.", number=9)]) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(waiting := message(first))
        await anyio.sleep(5)
        await rooms.receive(edited(waiting, "list the old notes", number=2))
        await anyio.sleep(300)
        assert rooms.chat.texts() == ["Done."] * 2
    assert model.requests[1].messages[-1] == UserMessage(text="<U1> list the old notes")


@virtual
async def test_l32_a_correction_that_comes_too_late_is_said_to_be_so_and_starts_nothing() -> None:
    model = Model([whole("Done.")], pace=10.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(running := message("delete the old notes"))
        await anyio.sleep(5)
        await rooms.receive(edited(running, "list the old notes", number=2))
        await anyio.sleep(300)
        told, answer = rooms.chat.texts()
        assert "as you first wrote it" in told
        assert answer == "Done."
    assert len(model.requests) == 1


@virtual
async def test_o07_the_order_of_arrival_is_fixed_before_anything_waits_and_others_go_on() -> None:
    updates = case("O07")["input"]["updates"]
    photo, text = message("[a file]"), message(updates[1]["text"], number=2)
    model = Model([whole("Yes.")], pace=5.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(photo)
        await anyio.sleep(updates[1]["t"])
        await rooms.receive(text)
        await rooms.receive(message("And I?", number=3, address=place("C2")))
        await anyio.sleep(40)
        assert rooms.chat.texts(place("C2")) == ["Yes."]
        await anyio.sleep(100)
        assert await rooms.said(place()) == [
            entry
            for number, words in ((1, photo.text), (2, text.text))
            for entry in (asked(words, number), Answered(text="Yes.", native=native("Yes.")))
        ]


@virtual
async def test_o08_what_is_said_while_the_bot_is_busy_is_answered_in_order_however_that_ends() -> None:
    assert case("O08")["input"]["steps"][0] == "A starts (600 s)"
    model = Model([whole("long " * 150), whole("To B."), whole("To C.")], pace=1.0)
    chat = Chat(latency=0.0, capabilities=replace(READS, mark=(MARK,)))
    async with house(model, chat) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("A"))
        await anyio.sleep(10)
        await rooms.receive(message("B", number=2))
        await rooms.receive(message("C", number=3))
        await anyio.sleep(1)
        assert chat.marked == {"message 2", "message 3"}
        await anyio.sleep(50)
        await rooms.receive(command("stop", number=4))
        await anyio.sleep(100)
        assert chat.texts()[-3:] == [ENDINGS["stopped"], "To B.", "To C."]
        assert chat.marked == set()


# In the histories.


async def test_s04_a_crash_at_any_byte_of_a_write_leaves_the_history_as_it_was_before_or_after_it(
    tmp_path: Path,
) -> None:
    """The full disk of the case is in ``tests/e2e/test_store_crash.py``, and so is a real ``kill -9``."""
    assert "at every write call" in case("S04")["input"]["steps"][0]
    lines = [f'"{number} {"x" * 3000}"' for number in range(4)]
    async with create(Settings(path=str(tmp_path / "store.db"))) as store:
        for number, line in enumerate(lines):
            await store.ingest(message("Hi!", number=number))
            await store.claim(1)
            work = await store.load(place().key)
            assert work is not None
            await store.finish(work, [line])
        for name in ("store.db", "store.db-wal"):
            shutil.copy(tmp_path / name, tmp_path / f"copy-{name}")
    log, crashed = (tmp_path / "copy-store.db-wal").read_bytes(), tmp_path / "crashed.db"
    kept: list[int] = []
    for cut in [*range(0, len(log), 1013), len(log)]:
        shutil.copy(tmp_path / "copy-store.db", crashed)
        crashed.with_name("crashed.db-wal").write_bytes(log[:cut])
        history = bodies(crashed)
        assert history == lines[: len(history)]
        kept.append(len(history))
    assert kept == sorted(kept)
    assert set(kept) == set(range(len(lines) + 1))


def bodies(path: Path) -> list[str]:
    """The history in a file whose last writer has died, which is then removed."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma synchronous = off")
        there = database.execute("select 1 from sqlite_master where name = 'gw_history'").fetchall()
        found = database.execute("select body from gw_history order by seq").fetchall() if there else []
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    return [body for (body,) in found]


@virtual
async def test_s06_two_messages_at_once_are_answered_one_behind_the_other_and_both_are_remembered() -> None:
    first, _ = case("S06")["input"]["updates"]
    model = Model([whole("To A."), whole("To B.")], pace=1.0)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message(first))
        await anyio.sleep(0.01)
        await rooms.receive(message("B", number=2))
        await rooms.receive(message("C", number=3, address=place("C2")))
        await anyio.sleep(5.5)
        assert len(rooms.chat.texts(place("C2"))) == 1
        await anyio.sleep(60)
        entries = await rooms.said(place())
    assert [getattr(entry, "text", "") for entry in entries][::2] == ["A", "B"]
    assert len(entries) == 4


@virtual
async def test_s07_a_slow_answer_holds_up_no_other_conversation() -> None:
    assert case("S07")["input"]["chat 1"] == "run of 120 s"
    model = Model([whole("word " * 100), whole("Hello.")], pace=0.96)
    async with house(model) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        await rooms.receive(message("One?"))
        await anyio.sleep(1)
        await rooms.receive(message("Two?", number=2, address=place("C2")))
        await anyio.sleep(10)
        assert rooms.chat.texts(place("C2")) == ["Hello."]
        assert [ended.conversation for ended in rooms.ended] == [place("C2").key]


@virtual
async def test_s08_no_two_places_share_a_history() -> None:
    keys = case("S08")["input"]["keys"]
    places = [
        Address(platform=name, account=account, channel=channel, thread=thread or None)
        for name, account, channel, thread in keys
    ]
    assert len({address.key for address in places}) == len(keys)
    model, chat = Model([whole("Yes.")]), Chat(latency=0.0)
    platforms = {name: platform(chat, name=name) for name in ("slack", "tg", "x")}
    async with house(model, chat, platforms=platforms) as (rooms, tasks):
        tasks.start_soon(rooms.conversations.run)
        for turn in range(2):
            for number, address in enumerate(places):
                await rooms.receive(message(f"secret {number}", number=10 * turn + number, address=address))
            await anyio.sleep(60)
    second = [[each.text for each in request.messages] for request in model.requests[len(places) :]]
    assert sorted(second) == sorted([f"<U1> secret {n}", "Yes.", f"<U1> secret {n}"] for n in range(len(places)))
