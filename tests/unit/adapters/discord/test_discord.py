import json
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from pydantic import TypeAdapter, ValidationError

from adapters.discord import CHANNELS, SPACES, USERS, Settings, allow, create
from adapters.discord.ingress import Openings
from adapters.discord.interaction import SEND_MESSAGES, SEND_MESSAGES_IN_THREADS, VIEW_CHANNEL
from gateway.access import Allow, warnings

ROOT = Path(__file__).parents[4]
README = ROOT / "adapters" / "discord" / "README.md"


def read(table: dict[str, object]) -> Settings:
    return TypeAdapter(Settings).validate_json(json.dumps(table), strict=True)


def test_an_empty_table_is_a_whole_configuration_that_lets_nobody_in() -> None:
    settings = read({})
    assert settings == Settings()
    assert allow(settings) == Allow()


@pytest.mark.parametrize(
    "table",
    [
        {"alow_users": ["1"]},
        {"bubble": 0},
        {"bubble": 1_951},
        {"surface": "append"},
        {"bot_token": "MTE5.x.y"},
        {"base_url": "ftp://discord.com"},
        {"gateway_url": "https://discord.com"},
    ],
    ids=str,
)
def test_a_wrong_table_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read(table)


def test_the_allow_lists_are_what_the_table_says() -> None:
    settings = read({"allow_users": ["1"], "allow_channels": ["2"], "allow_guilds": ["*"]})
    assert allow(settings) == Allow(users=frozenset({"1"}), channels=frozenset({"2"}), spaces=frozenset({"*"}))


def test_what_is_no_id_of_discords_is_said_at_start() -> None:
    users = frozenset({"ada", "ada#1234", "<@690000000000000001>", "690000000000000001"})
    told = warnings(Allow(users=users, channels=frozenset({"*"})), users=USERS, channels=CHANNELS)
    assert {line.split('"')[1] for line in told} == users - {"690000000000000001"}
    assert SPACES.name == "allow_guilds"


def test_the_capabilities_are_the_settings() -> None:
    capabilities = create(Settings(surface="post", bubble=900)).capabilities
    assert (capabilities.surface, capabilities.unit, capabilities.bubble) == ("post", "cp", 900)
    assert (capabilities.reconciliation, bool(capabilities.mark), capabilities.typing_every) == ("nonce", True, 8.0)
    assert (capabilities.read, capabilities.append, capabilities.messages) == ((), (), None)
    assert (capabilities.buttons, capabilities.whispers, len(capabilities.private)) == (True, False, 1)
    assert capabilities.fits is not None
    assert capabilities.fits("x" * 900)
    assert not capabilities.fits("a||b" * 225)


def test_a_guest_has_six_long_messages_and_no_way_to_ask() -> None:
    guest = create(Settings()).capabilities.guest
    assert guest is not None
    assert (guest.bubble, guest.messages, guest.reconciliation, guest.mark) == (1_950, 6, "none", ())
    assert (guest.typing, guest.typing_every, guest.mark, guest.guest) == ((), None, (), None)
    assert guest.fits is not None
    assert guest.fits("*a* " * 100 + "x" * 1_550)
    assert not guest.fits("x" * 1_951)


def test_no_budget_overruns_a_window_of_five_in_five_seconds() -> None:
    capabilities = create(Settings()).capabilities
    assert capabilities.guest is not None
    for each in (capabilities, capabilities.guest):
        budgets = (*each.post[:1], *each.edit[:1], *each.delete[:1], *each.typing[:1])
        assert (each.buttons, each.private) == (True, capabilities.private)
        assert all(budget.scope == "thread" and budget.burst + 5 * budget.rate <= 5 for budget in budgets)
    for budgets in (capabilities.post, capabilities.edit, capabilities.delete, capabilities.mark, capabilities.typing):
        assert (budgets[-1].scope, budgets[-1].burst + budgets[-1].rate) == ("account", 48)


def test_the_table_in_the_readme_is_a_configuration() -> None:
    table = textwrap.dedent(README.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0])
    settings = read(tomllib.loads(table)["discord"])
    assert settings.allow_users
    assert settings.allow_guilds
    assert not warnings(allow(settings), users=USERS, channels=CHANNELS, spaces=SPACES)


def test_the_link_in_the_readme_asks_for_what_the_adapter_needs_and_for_no_more() -> None:
    reactions, history = 1 << 6, 1 << 16
    needed = VIEW_CHANNEL | SEND_MESSAGES | SEND_MESSAGES_IN_THREADS | reactions | history
    text = README.read_text(encoding="utf-8")
    assert f"scope=bot+applications.commands&permissions={needed}" in text


def test_making_an_adapter_loads_no_sdk() -> None:
    program = (
        "import sys; from adapters.discord import Settings, create; create(Settings());"
        "print([name for name in ('aiohttp', 'discord', 'yarl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_whoever_waits_for_a_first_answer_goes_on_though_it_came_twice() -> None:
    openings = Openings()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            with openings.underway("@1"):
                tasks.start_soon(openings.settled, "@1")
                await anyio.lowlevel.checkpoint()
                with openings.underway("@1"):
                    tasks.start_soon(openings.settled, "@1")
                    await anyio.lowlevel.checkpoint()
        await openings.settled("@1")
