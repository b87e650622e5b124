"""How the gateway is put together from its configuration, and how it begins and ends."""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from gateway import app
from gateway.access import Allow, Ids
from gateway.adapter import Receive
from gateway.app import GRACE, TICKET_PAUSE, Parts, assemble, configure, serve
from gateway.command import HELP
from gateway.configuration import Configuration, Document
from gateway.conversation import RunEnded
from gateway.error import AdapterError, ConfigurationError, StoreError
from gateway.event import Envelope
from gateway.inbound import Command, Ignored, Inbound, MessageEdited, MessageReceived, Ticket
from gateway.limit import Limits
from gateway.notice import ENDINGS
from gateway.operation import Operation, Outcome, RateLimited
from gateway.store import Person, Store
from gateway.stores.database import Database, Row, Statement
from gateway.stores.mailbox import APPEND, KEEP, Mailbox
from gateway.stores.pairing import SqlPairings
from gateway.stores.sqlite import MemoryDatabase
from tests.unit.gateway.chat import EVERYBODY, Chat, command, message, place, platform
from tests.unit.gateway.model import Model, agent, whole

SLACK = "[slack]\nbot_token = 'env:BOT'\napp_token = 'env:APP'\n"
SCRIPTED = "[model]\nprovider = 'scripted'\nname = 's'\nmax_tokens = 10\nscript = '{script}'\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with nothing in it but a script for the scripted model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answer.md").write_text("Hello.", encoding="utf-8")
    return tmp_path


def written(folder: Path, text: str) -> Configuration:
    path = folder / "dragoman.toml"
    path.write_text(text, encoding="utf-8")
    return configure(path)


def refusal(configuration: Configuration) -> str:
    with pytest.raises(ConfigurationError) as caught:
        assemble(configuration)
    return str(caught.value)


def scripted(folder: Path) -> str:
    return SCRIPTED.format(script=folder / "answer.md")


def test_the_built_in_configuration_lies_where_it_is_looked_for() -> None:
    assert (app.data_folder() / "defaults.toml").is_file()
    assert Document.open(app.data_folder() / "defaults.toml").tables.keys() == set(app.OURS)


def test_the_configuration_of_the_working_folder_is_used_where_none_is_named(folder: Path) -> None:
    assert configure(None).value("agent", "id") == "dragoman"
    (folder / "dragoman.toml").write_text("[agent]\nid = 'mine'\n", encoding="utf-8")
    assert configure(None).value("agent", "id") == "mine"
    (folder / "other.toml").write_text("[agent]\nid = 'other'\n", encoding="utf-8")
    assert configure(Path("other.toml")).value("agent", "id") == "other"


def test_a_configuration_that_is_named_must_be_there(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.toml: cannot be read"):
        configure(folder / "absent.toml")


def test_a_platform_and_a_model_make_a_gateway(folder: Path) -> None:
    parts = assemble(written(folder, SLACK + "allow_users = ['U1']\nallow_channels = ['*']\n" + scripted(folder)))
    assert [platform.name for platform in parts.platforms] == ["slack"]
    assert parts.platforms[0].allow == Allow(users=frozenset({"U1"}), channels=frozenset({"*"}))
    assert (parts.concurrent_runs, parts.time_scale) == (50, 1.0)
    assert (parts.agent.id, parts.agent.model.name, parts.agent.model.max_tokens) == ("dragoman", "s", 10)
    assert parts.agent.history_characters == 200_000
    assert parts.agent.system.startswith("You are an assistant")


def test_tools_roles_limits_and_a_fallback_are_parts_of_it(folder: Path) -> None:
    tables = "[tools]\nenable = ['clock']\n[roles]\nadmins = ['slack:U1']\n"
    tables += "[approvals]\napprovers = ['admins']\ntimeout = 60\n"
    limits = "[agent]\nturns = 2\ntokens = 3\ndeadline = 4\nretries = 0\n"
    fallback = scripted(folder).replace("[model]", "[fallback]").replace("'s'", "'other'")
    parts = assemble(written(folder, SLACK + tables + limits + scripted(folder) + fallback))
    assert [*parts.agent.tools.tools] == ["clock"]
    assert parts.terms.roles.is_approver("slack", "U1")
    assert parts.terms.patience == 60
    assert parts.agent.limits == Limits(turns=2, tokens=3, deadline=4, retries=0)
    assert parts.agent.fallback is not None
    assert (parts.agent.model.name, parts.agent.fallback.name, parts.agent.fallback.max_tokens) == ("s", "other", 10)


def test_what_is_built_in_has_no_fallback_and_ends_no_run_early(folder: Path) -> None:
    parts = assemble(written(folder, SLACK + scripted(folder)))
    assert (parts.agent.fallback, parts.terms.patience, parts.agent.limits) == (None, None, Limits())
    assert sorted(parts.agent.tools.tools) == ["clock", "notes", "read_output", "read_url"]


def test_without_a_platform_the_file_that_lacks_it_is_named(folder: Path) -> None:
    said = refusal(written(folder, scripted(folder)))
    assert said.startswith(f"{folder / 'dragoman.toml'}: no platform is configured; add the table [")
    assert "[slack]" in said


def test_without_any_file_nobody_is_sent_to_mend_the_built_in_one(folder: Path) -> None:
    said = refusal(configure(None))
    assert "defaults.toml" not in said
    assert "dragoman.toml" in said
    assert not (folder / "dragoman.toml").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[model]\nprovider = 'antropic'\n", ":5: provider in [model] must be one of anthropic_messages, scripted"),
        ("[store]\nkind = 'mailbox'\n", ":5: kind in [store] must be one of sqlite, not 'mailbox'"),
        ("[store]\npath = 'x'\n", ":4: [store] needs the key 'kind'"),
        ("[fallback]\nprovider = 'x'\n", ":5: provider in [fallback] must be one of anthropic_messages, scripted"),
        ("[fallback]\nname = 'x'\n", ":4: [fallback] needs the key 'provider'"),
        ("[approvals]\napprovers = ['telegram:@ann']\n", ":5: 'telegram:@ann' in approvers is no id"),
        ("[roles]\na = ['loopback:1']\n", ":5: 'loopback:1' in a is on no platform: there is no 'loopback'"),
        ("[agent]\nturns = 0\n", ":5: turns in [agent]"),
        ("[slak]\n", ":4: unknown table [slak], did you mean 'slack'?"),
        ("[loopback]\n", ":4: unknown table [loopback]"),
        ("[pacing]\ntime_scale = 0\n", ":5: time_scale in [pacing]"),
    ],
)
def test_what_cannot_be_chosen_is_named_with_its_line_and_what_can(folder: Path, table: str, said: str) -> None:
    text = refusal(written(folder, SLACK + table + ("" if "[model]" in table else scripted(folder))))
    assert text.startswith(f"{folder / 'dragoman.toml'}{said}")


def test_a_system_prompt_is_looked_for_beside_the_configuration_and_missed_with_its_line(folder: Path) -> None:
    table = "[agent]\nid = 'mine'\nsystem_prompt = 'prompt.md'\nconcurrent_runs = 2\nhistory_characters = 9\n"
    configuration = written(folder, SLACK + table + scripted(folder))
    assert refusal(configuration).startswith(f"{folder / 'dragoman.toml'}:6: the system prompt cannot be read")
    (folder / "prompt.md").write_text("Be brief.", encoding="utf-8")
    mine = assemble(configuration).agent
    assert (mine.system, mine.history_characters) == ("Be brief.", 9)


@dataclass
class Closed(Chat):
    """A platform that does not let us in."""

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        del receive, ready
        await anyio.sleep(1)
        msg = "the token was revoked: get another one"
        raise AdapterError(msg)


@dataclass
class Refused(Chat):
    """A platform that takes us out after some seconds, and still does what it is asked."""

    refused_after: float = 1.0

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        with anyio.move_on_after(self.refused_after):
            await super().run(receive, ready)
        msg = "the token was revoked: get another one"
        raise AdapterError(msg)


@dataclass
class Late(Chat):
    """A platform on which somebody writes after the gateway was told to stop."""

    stop: anyio.Event = field(default_factory=anyio.Event)

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        ready()
        await self.stop.wait()
        await receive(message("Too late?"))


@dataclass
class Connected(Chat):
    """A platform that is reached over a connection, which ``run`` holds."""

    connected: bool = False
    cut_off: int = 0

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        self.connected = True
        try:
            await super().run(receive, ready)
        finally:
            self.connected = False

    async def perform(self, operation: Operation) -> Outcome:
        outcome = await super().perform(operation)
        self.cut_off += not self.connected
        return outcome


@asynccontextmanager
async def opened(database: Database) -> AsyncGenerator[Store]:
    yield await Mailbox.open(database)


class Full:
    """A database that has no room for something, what was said for example, for some seconds."""

    def __init__(self, database: MemoryDatabase, seconds: float, *, sql: str = APPEND) -> None:
        self.database = database
        self.sql = sql
        self.until = anyio.current_time() + seconds
        self.name = database.name
        self.dialect = database.dialect

    async def transaction(self, statements: Sequence[Statement]) -> list[list[Row]] | None:
        if anyio.current_time() < self.until and any(statement.sql.startswith(self.sql) for statement in statements):
            msg = "no room"
            raise StoreError(msg)
        return await self.database.transaction(statements)


def gateway(
    database: MemoryDatabase, model: Model, *chats: Chat, allow: Allow = EVERYBODY, pairing: bool = False
) -> Parts:
    names = ["chat", *(f"chat{number}" for number in range(2, 9))]
    platforms = [platform(chat, name=name, allow=allow) for name, chat in zip(names, chats, strict=False)]
    return Parts(
        store=opened(database),
        agent=agent(model),
        platforms=tuple(platforms),
        warnings=(),
        concurrent_runs=5,
        time_scale=1.0,
        pairing=pairing,
    )


async def served(parts: Parts, seconds: float, *, stop: anyio.Event | None = None) -> list[Envelope | RunEnded]:
    """All that was seen of a gateway that was told to stop after so many seconds."""
    seen: list[Envelope | RunEnded] = []
    stop = stop or anyio.Event()
    ready: list[float] = []
    with anyio.fail_after(1000):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                await serve(parts, watch=seen.append, ready=lambda: ready.append(anyio.current_time()), stop=stop)

            tasks.start_soon(run)
            await anyio.sleep(seconds)
            stop.set()
    assert len(ready) == 1
    return seen


async def stored(database: MemoryDatabase) -> int:
    return len(await query(database, "select seq from gw_open"))


async def query(database: MemoryDatabase, sql: str) -> list[Row]:
    rows = await database.transaction([Statement(sql=sql)])
    assert rows is not None
    return rows[0]


@pytest.mark.virtual_time
async def test_what_arrives_is_answered() -> None:
    chat = Chat(latency=0.0, inbox=[message("Hi!")])
    with MemoryDatabase() as database:
        seen = await served(gateway(database, Model([whole("Hello.")]), chat), 5)
        assert await stored(database) == 0
    assert chat.texts() == ["Hello."]
    assert isinstance(seen[-1], RunEnded)


@pytest.mark.virtual_time
async def test_who_is_not_allowed_gets_no_answer_and_is_not_stored_with_his_words() -> None:
    chat = Chat(latency=0.0, inbox=[message("Hi!"), Ignored(event_id="e9", reason="a bot")])
    with MemoryDatabase() as database:
        assert await served(gateway(database, Model([whole("Hello.")]), chat, allow=Allow()), 5) == []
        assert await stored(database) == 0
        assert not await (await Mailbox.open(database)).ingest(message("Hi!"))
    assert chat.texts() == []


@pytest.mark.virtual_time
async def test_an_event_that_arrives_twice_is_answered_once() -> None:
    inbox: Sequence[Inbound] = [message("Hi!"), message("Hi!")]
    chat = Chat(latency=0.0, inbox=inbox)
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat), 30)
    assert chat.texts() == ["Hello."]


@pytest.mark.virtual_time
async def test_it_is_ready_when_all_platforms_are() -> None:
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), Chat(), Chat(), Chat()), 5)


@pytest.mark.virtual_time
async def test_a_run_in_progress_is_let_end_and_nothing_more_begun() -> None:
    chat = Chat(latency=0.0, inbox=[message("One?"), message("Two?", number=2)])
    began = anyio.current_time()
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")], pace=2.0), chat), 1)
        assert await stored(database) == 1
    assert chat.texts() == ["Hello."]
    assert anyio.current_time() - began < 1 + GRACE


@pytest.mark.virtual_time
async def test_a_run_that_does_not_end_is_left_after_the_grace_and_begins_again_at_the_next_start() -> None:
    chat = Chat(latency=0.0, inbox=[message("One?")])
    began = anyio.current_time()
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello. " * 50)], pace=1.0), chat), 1)
        assert anyio.current_time() - began == pytest.approx(1 + GRACE)
        assert await stored(database) == 1
        again = Chat(latency=0.0, messages=chat.messages)
        await served(gateway(database, Model([whole("Hello again.")]), again), 5)
        assert again.texts() == ["Hello again."]


@pytest.mark.virtual_time
async def test_what_arrives_after_the_stop_is_kept_for_the_next_start() -> None:
    stop = anyio.Event()
    slow = Chat(latency=0.0, inbox=[message("Hi!", number=5, address=place("C5"))])
    with MemoryDatabase() as database:
        model = Model([whole("Hello.")], pace=1.0)
        await served(gateway(database, model, slow, Late(latency=0.0, stop=stop)), 2, stop=stop)
        assert await stored(database) == 1
        assert slow.texts() == ["Hello."]
        assert len(model.requests) == 1
        again = Chat(latency=0.0)
        await served(gateway(database, Model([whole("No.")]), again), 5)
        assert again.texts() == ["No."]


@pytest.mark.virtual_time
@pytest.mark.parametrize(("words", "grace"), [(3, False), (50, True)])
async def test_an_operation_in_flight_ends_before_the_connection_that_it_needs(words: int, *, grace: bool) -> None:
    chat = Connected(latency=8.0, inbox=[message("Hi!")])
    began = anyio.current_time()
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello. " * words)], pace=1.0), chat), 1)
        assert (anyio.current_time() - began > 1 + GRACE) == grace
        assert await stored(database) == grace
    assert chat.calls
    assert all(call.ended is not None for call in chat.calls)
    assert chat.cut_off == 0
    assert not chat.connected


@pytest.mark.virtual_time
async def test_a_store_that_is_full_for_ten_minutes_doubles_nothing_and_ends_nothing() -> None:
    chat = Chat(latency=0.0, inbox=[message("Hi!"), message("Hi?", number=2)])
    model = Model([whole("Hello."), whole("And again.")])
    with MemoryDatabase() as database:
        parts = replace(gateway(database, model, chat), store=opened(Full(database, 600)))
        await served(parts, 700)
        assert await stored(database) == 0
    assert chat.texts() == ["Hello.", "And again."]
    assert len(model.requests) == 2


@pytest.mark.virtual_time
async def test_a_platform_that_does_not_let_us_in_ends_the_gateway_with_its_own_error() -> None:
    stop = anyio.Event()
    with MemoryDatabase() as database, anyio.fail_after(100):
        parts = gateway(database, Model([whole("Hello.")]), Chat(), Closed())
        with pytest.raises(AdapterError, match="token was revoked"):
            await serve(parts, watch=lambda _: None, ready=lambda: None, stop=stop)
    assert stop.is_set()


@pytest.mark.virtual_time
async def test_a_platform_that_takes_us_out_lets_the_answers_in_progress_end_on_every_platform() -> None:
    refused = Refused(latency=0.0, inbox=[message("Hi!"), message("Hi?", number=2)])
    elsewhere = replace(place("C5"), platform="chat2")
    other = Connected(latency=0.0, inbox=[message("Hi!", number=5, address=elsewhere)])
    began = anyio.current_time()
    with MemoryDatabase() as database, anyio.fail_after(100):
        parts = gateway(database, Model([whole("Hello, you.")], pace=2.0), refused, other)
        with pytest.raises(AdapterError, match="token was revoked"):
            await serve(parts, watch=lambda _: None, ready=lambda: None, stop=anyio.Event())
        assert refused.texts() == other.texts() == ["Hello, you."]
        assert other.cut_off == 0
        assert await stored(database) == 1
    assert anyio.current_time() - began < 1 + GRACE


@pytest.mark.virtual_time
async def test_of_several_platforms_that_take_us_out_the_first_one_is_named() -> None:
    with MemoryDatabase() as database, anyio.fail_after(100):
        chats = Refused(refused_after=5.0, inbox=[message("Hi!")]), Closed()
        parts = gateway(database, Model([whole("Hello, you.")], pace=2.0), *chats)
        with pytest.raises(AdapterError, match="token was revoked"):
            await serve(parts, watch=lambda _: None, ready=lambda: None, stop=anyio.Event())
    assert chats[0].texts() == ["Hello, you."]


@pytest.mark.virtual_time
async def test_three_stops_in_good_order_do_not_set_a_message_aside() -> None:
    with MemoryDatabase() as database:
        for inbox in ([message("Hi!")], [], [], []):
            parked = Chat(latency=0.0, inbox=inbox, fates=deque([RateLimited(retry_after=3600)]))
            await served(gateway(database, Model([whole("Hello.")]), parked), 1)
            assert parked.texts() == []
            assert await stored(database) == 1
        again = Chat(latency=0.0)
        await served(gateway(database, Model([whole("Hello.")]), again), 5)
        assert again.texts() == ["Hello."]


@pytest.mark.virtual_time
async def test_who_lost_the_right_to_ask_while_the_gateway_was_stopped_gets_no_answer() -> None:
    with MemoryDatabase() as database:
        await (await Mailbox.open(database)).ingest(message("Hi!"))
        chat = Chat(latency=0.0)
        assert await served(gateway(database, Model([whole("Hello.")]), chat, allow=Allow()), 5) == []
        assert await stored(database) == 0
    assert chat.calls == []


@pytest.mark.virtual_time
async def test_what_the_operator_should_know_is_logged_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    with MemoryDatabase() as database:
        await served(replace(gateway(database, Model([whole("Hello.")]), Chat()), warnings=("[chat] Mind 100 %s.",)), 1)
    assert "[chat] Mind 100 %s." in caplog.messages


def test_a_platform_that_answers_nobody_or_not_everywhere_is_warned_of_by_its_table(folder: Path) -> None:
    def warned(allowed: str) -> tuple[str, ...]:
        return assemble(written(folder, SLACK + allowed + scripted(folder))).warnings

    assert warned("allow_users = ['U1']\nallow_channels = ['*']\n") == ()
    (nobody,) = warned("[agent]\npairing = false\n")
    assert nobody.startswith("[slack] Nobody may talk to the bot: allow_users is empty")
    (strangers,) = warned("")
    assert strangers.startswith("[slack] Nobody may talk to the bot but strangers whom you pair")
    (private,) = warned("allow_users = ['U1']\n")
    assert private.startswith("[slack] Only direct messages are answered: allow_channels is empty")


def test_the_ids_of_a_platforms_spaces_are_looked_at_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = Ids(name="allow_teams", pattern="T[0-9]+", find="Look at the team.")
    allow = Allow(users=frozenset({"U1"}), spaces=frozenset({"our team"}))
    monkeypatch.setattr("adapters.slack.SPACES", spaces, raising=False)

    def allowed(_: object) -> Allow:
        return allow

    monkeypatch.setattr("adapters.slack.allow", allowed)
    (told,) = assemble(written(folder, SLACK + scripted(folder))).warnings
    assert told.startswith('[slack] "our team" in allow_teams is not an id')


@pytest.mark.virtual_time
async def test_a_rate_limit_does_not_outlast_the_grace() -> None:
    chat = Chat(latency=0.0, inbox=[message("Hi!")], fates=deque([RateLimited(retry_after=3600)]))
    began = anyio.current_time()
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat), 1)
        assert await stored(database) == 1
    assert anyio.current_time() - began == pytest.approx(1 + GRACE)


# What an adapter gives its events to.

SOME = Allow(users=frozenset({"U1"}), channels=frozenset({"C1"}))


@dataclass
class Typing(Chat):
    """A platform on which people write now and then: seconds to wait, and what they write."""

    script: Sequence[tuple[float, Inbound]] = ()
    admitted: list[bool] = field(default_factory=list[bool])

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        ready()
        for seconds, inbound in self.script:
            await anyio.sleep(seconds)
            self.admitted.append(await receive(inbound))
        await anyio.sleep_forever()


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("word", "where", "who", "answered"),
    [("help", "C1", "U1", True), ("help", "C1", "U2", False), ("new", "C2", "U1", False), ("stop", "C1", "", False)],
)
async def test_x02_a_command_is_obeyed_for_whom_a_message_would_be_answered(
    word: Command, where: str, who: str, answered: bool, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Chat(latency=0.0, inbox=[command(word, number=1, address=place(where), user=who)])
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat, allow=SOME), 5)
        assert await (await Mailbox.open(database)).open_commands() == []
    assert chat.texts() == [HELP] * answered
    assert (f"{who} is not allowed to use the bot" in caplog.text) is not answered


@pytest.mark.virtual_time
async def test_an_adapter_hears_whether_something_will_come_of_what_it_received() -> None:
    script = [(1.0, message("Hi!")), (1.0, message("Hi!", number=2, user="U2")), (1.0, command("help", number=3))]
    chat = Typing(latency=0.0, script=script)
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat, allow=SOME), 5)
    assert chat.admitted == [True, False, True]


@pytest.mark.virtual_time
async def test_a_stranger_stops_nobodys_answer() -> None:
    script = [(1.0, message("Hi!")), (2.0, command("stop", number=2, user="U2"))]
    chat = Typing(latency=0.0, script=script)
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello, you.")], pace=1.0), chat, allow=SOME), 60)
    assert chat.texts() == ["Hello, you."]


@pytest.mark.virtual_time
async def test_a_command_takes_effect_when_it_is_stored() -> None:
    script = [(1.0, message("Hi!")), (2.0, command("stop", number=2)), (0.0, message("And now?", number=3))]
    chat = Typing(latency=0.0, script=script)
    model = Model([whole("Hello, you."), whole("Yes.")], pace=1.0)
    with MemoryDatabase() as database:
        await served(gateway(database, model, chat, allow=SOME), 60)
        assert await stored(database) == 0
    assert chat.texts()[-2:] == [ENDINGS["stopped"], "Yes."]


@pytest.mark.virtual_time
@pytest.mark.parametrize(("who", "asked"), [("U1", "Good."), ("U2", "Bad.")], ids=["a friend", "a stranger"])
async def test_x02_an_edit_counts_only_from_whom_a_message_would(who: str, asked: str) -> None:
    waiting = message("Bad.", number=2)
    edit = MessageEdited(event_id="event 3", message=replace(waiting, event_id="event 3", text="Good.", user=who))
    chat = Typing(latency=0.0, script=[(1.0, message("Hi!")), (0.1, waiting), (0.1, edit)])
    model = Model([whole("Hello.")], pace=1.0)
    with MemoryDatabase() as database:
        await served(gateway(database, model, chat, allow=SOME), 60)
    assert [request.messages[-1].text for request in model.requests] == ["<U1> Hi!", f"<U1> {asked}"]


@pytest.mark.virtual_time
async def test_a_stop_ends_an_answer_also_while_the_gateway_ends() -> None:
    stop = anyio.Event()
    chat = Typing(latency=0.0, script=[(1.0, message("Hi!")), (3.0, command("stop", number=2))])
    began = anyio.current_time()
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello. " * 50)], pace=1.0), chat), 2, stop=stop)
        assert await stored(database) == 0
        assert len(await (await Mailbox.open(database)).open_commands()) == 0
        assert anyio.current_time() - began < GRACE
        assert chat.texts()[-1] == ENDINGS["stopped"]
        again = Chat(latency=0.0)
        await served(gateway(database, Model([whole("No.")]), again), 5)
        assert again.texts() == []  # what a stop does, it has done


@pytest.mark.virtual_time
async def test_what_the_store_refuses_is_not_acted_upon_and_the_platform_hears_of_it() -> None:
    refused: list[StoreError] = []

    @dataclass
    class Repeating(Chat):
        async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
            ready()
            while True:
                try:
                    await receive(command("help", number=1))
                except StoreError as error:
                    refused.append(error)
                    await anyio.sleep(1)
                else:
                    break
            await anyio.sleep_forever()

    chat = Repeating(latency=0.0)
    with MemoryDatabase() as database:
        parts = gateway(database, Model([whole("Hello.")]), chat)
        await served(replace(parts, store=opened(Full(database, 3, sql=KEEP.partition("{")[0]))), 60)
    assert len(refused) == 3
    assert chat.texts() == [HELP]


# Strangers, and what lives for a while only.


def stranger(text: str, *, number: int, user: str = "U2", channel: str = "D2") -> MessageReceived:
    return replace(message(text, number=number, address=place(channel), user=user), direct=True)


@dataclass
class Visited(Typing):
    """A platform beside which an operator confirms every code after some seconds."""

    database: MemoryDatabase = field(kw_only=True)
    confirmed_after: float = 5.0

    async def run(self, receive: Receive, ready: Callable[[], None]) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(super().run, receive, ready)
            await anyio.sleep(self.confirmed_after)
            operator = SqlPairings(self.database)
            for known in await operator.everyone():
                await operator.confirm(known.code or "")


@pytest.mark.virtual_time
async def test_a_stranger_is_given_a_code_and_answered_from_the_next_message_on_when_it_is_confirmed() -> None:
    script: list[tuple[float, Inbound]] = [
        (1.0, stranger("Let me in!", number=1)),
        (0.0, stranger("Let me in!", number=1)),  # delivered again
        (1.0, stranger("Hello?", number=2)),
        (8.0, stranger("And now?", number=3)),
        (5.0, message("In the channel?", number=4, user="U2")),
        (5.0, stranger("Let me in!", number=1)),  # and again
    ]
    model = Model([whole("Hello.")])
    with MemoryDatabase() as database:
        chat = Visited(latency=0.0, script=script, database=database)
        await served(gateway(database, model, chat, allow=Allow(), pairing=True), 60)
        assert await stored(database) == 0
        assert await query(database, "select seq from gw_event where body like '%Let me in%'") == []
    code, answer = chat.texts(place("D2"))
    assert code.startswith("(I do not know you yet. Give the operator this code: ")
    assert answer == "Hello."
    assert chat.texts() == [code, answer]
    assert [request.messages[-1].text for request in model.requests] == ["<U2> And now?"]


@pytest.mark.virtual_time
async def test_a_stranger_is_given_a_code_by_a_command_too_but_not_by_an_edit_nor_in_a_channel() -> None:
    edit = MessageEdited(event_id="event 9", message=stranger("Bad.", number=9, user="U3", channel="D3"))
    asked = replace(command("help", number=1, address=place("D2"), user="U2"), direct=True)
    chat = Chat(latency=0.0, inbox=[edit, message("Hi!", number=2, user="U4"), asked])
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat, allow=SOME, pairing=True), 5)
        assert [each.person.user for each in await SqlPairings(database).everyone()] == ["U2"]
    assert len(chat.texts()) == len(chat.texts(place("D2"))) == 1


@pytest.mark.virtual_time
async def test_where_pairing_is_off_a_stranger_hears_nothing() -> None:
    chat = Chat(latency=0.0, inbox=[stranger("Let me in!", number=1)])
    with MemoryDatabase() as database:
        await served(gateway(database, Model([whole("Hello.")]), chat, allow=SOME), 5)
        assert await SqlPairings(database).everyone() == []
    assert chat.calls == []


@pytest.mark.virtual_time
async def test_whose_pairing_is_taken_back_while_he_waits_gets_no_answer() -> None:
    with MemoryDatabase() as database:
        pairings = SqlPairings(database)
        await (await Mailbox.open(database)).ingest(stranger("Hi!", number=1))
        chat = Chat(latency=0.0)
        person = Person(platform="chat", account="A1", user="U2")
        await pairings.offer(person, "code", lifetime=60, most=1)
        await pairings.confirm("code")
        await pairings.revoke("chat", "U2")
        assert await served(gateway(database, Model([whole("Hello.")]), chat, allow=SOME, pairing=True), 5) == []
        assert await stored(database) == 0
    assert chat.calls == []


@pytest.mark.virtual_time
@pytest.mark.parametrize("refused_for", [0, 930])
async def test_tickets_are_erased_soon_after_they_have_expired_also_where_the_store_refuses_for_a_while(
    refused_for: float,
) -> None:
    with MemoryDatabase(anyio.current_time) as database:
        ticket = Ticket(secret="swordfish", lifetime=900.0, opening="77", guest=False)
        waiting = replace(message("Hi!"), address=replace(place(), platform="elsewhere"), ticket=ticket)
        await (await Mailbox.open(database)).ingest(waiting)
        left: list[int] = []

        async def look() -> None:
            for seconds in (899, TICKET_PAUSE + 2):
                await anyio.sleep(seconds)
                left.append(len(await query(database, "select seq from gw_event where ticket is not null")))

        full = Full(database, refused_for, sql="update gw_event set ticket = null")
        parts = replace(gateway(database, Model([whole("Hello.")]), Chat()), store=opened(full))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await served(parts, 970)
    assert left == [1, 0]
