import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from adapters.loopback.telegram.limit import Limits
from adapters.telegram import CHANNELS, USERS, Settings, Webhook, allow, create
from adapters.telegram.adapter import DELETE, EDIT, POST, PRIVATE, TYPING
from gateway.access import Allow, warnings
from gateway.adapter import Budget

ROOT = Path(__file__).parents[4]


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
        {"allow_users": [1]},
        {"bubble": 0},
        {"bubble": 4_001},
        {"surface": "append"},
        {"bot_token": "123:abc"},
        {"base_url": "ftp://api.telegram.org"},
        {"webhook": {}},
        {"webhook": {"url": "https://x.org", "port": 0}},
        {"webhook": {"url": "https://x.org", "secret": "word"}},
        {"webhook": {"url": "https://x.org", "hots": "a"}},
    ],
    ids=str,
)
def test_a_wrong_table_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read(table)


def test_the_allow_lists_are_what_the_table_says() -> None:
    settings = read({"allow_users": ["101"], "allow_groups": ["*"]})
    assert allow(settings) == Allow(users=frozenset({"101"}), channels=frozenset({"*"}))


@pytest.mark.parametrize(
    ("users", "groups", "strange"),
    [
        ({"101"}, {"-200", "-1000000000300"}, set[str]()),
        ({"@ada", "ada", " 101", "-101"}, {"*"}, {"@ada", "ada", " 101", "-101"}),
        ({"*"}, {"Harbour", "200", "@harbour"}, {"Harbour", "200", "@harbour"}),
    ],
    ids=["ids", "users", "groups"],
)
def test_what_is_no_id_of_telegrams_is_said_at_start(users: set[str], groups: set[str], strange: set[str]) -> None:
    told = warnings(Allow(users=frozenset(users), channels=frozenset(groups)), users=USERS, channels=CHANNELS)
    assert {line.split('"')[1] for line in told if line.startswith('"')} == strange


def test_the_capabilities_are_the_settings() -> None:
    capabilities = create(Settings(surface="post", bubble=900, unknown_outcome="skip")).capabilities
    assert (capabilities.surface, capabilities.unit, capabilities.bubble) == ("post", "utf16", 900)
    assert (capabilities.reconciliation, capabilities.unknown_outcome) == ("none", "skip")
    assert (capabilities.mark, capabilities.read, capabilities.append) == ((), (), ())
    assert (capabilities.post, capabilities.edit, capabilities.delete) == (POST, EDIT, DELETE)
    assert (capabilities.typing, capabilities.typing_every) == (TYPING, 4.5)
    assert (capabilities.buttons, capabilities.whispers, capabilities.private) == (True, False, PRIVATE)
    assert capabilities.fits is not None
    assert capabilities.fits("a b" * 300)
    assert not capabilities.fits("@a " * 300)


def of(budgets: tuple[Budget, ...], channel: str) -> dict[str, tuple[str, float, float]]:
    """The budgets that are for a channel, in their order."""
    mine = [budget for budget in budgets if budget.channels is None or re.fullmatch(budget.channels, channel)]
    return {budget.name: (budget.scope, round(budget.rate, 3), budget.burst) for budget in mine}


def test_chats_and_groups_have_budgets_of_their_own_and_the_first_is_the_chats() -> None:
    bot = {"bot": ("account", 25.0, 5)}
    assert of(POST, "101") == {"private chat": ("channel", 1.0, 2)} | bot
    assert of(POST, "-200") == {"group": ("channel", 0.3, 2)} | bot
    assert of(EDIT, "101") == {"private chat": ("channel", 1.0, 2), "edit": ("message", 0.909, 1)} | bot
    assert of(EDIT, "-200") == {"group": ("channel", 0.3, 2), "edit in a group": ("message", 0.323, 1)} | bot
    for budgets in (POST, EDIT):
        assert [next(iter(of(budgets, channel))) for channel in ("101", "-200")] == ["private chat", "group"]


def test_no_budget_is_larger_than_the_judges() -> None:
    limits = Limits()
    for budgets, judged in (((POST[0],), limits.private), ((POST[1],), limits.group), (DELETE[:1], limits.deletion)):
        assert all(budget.rate <= judged.rate and budget.burst < judged.capacity for budget in budgets)
    assert TYPING[0].rate <= limits.action.rate
    assert TYPING[0].burst < limits.action.capacity
    assert POST[2].rate <= limits.overall.rate
    assert PRIVATE[0].rate <= limits.other.rate
    assert PRIVATE[0].burst < limits.other.capacity


def test_the_tables_in_the_readme_are_configurations() -> None:
    readme = (ROOT / "adapters" / "telegram" / "README.md").read_text(encoding="utf-8")
    first, second = (textwrap.dedent(part.split("```")[0]) for part in readme.split("```toml\n")[1:3])
    settings = read(tomllib.loads(first)["telegram"])
    assert not warnings(allow(settings), users=USERS, channels=CHANNELS)
    assert (settings.allow_users, settings.allow_groups) == (("123456789",), ("-1001234567890",))
    hook = read(tomllib.loads(second)["telegram"]).webhook
    assert hook == Webhook(url="https://bot.example.org/telegram", host="0.0.0.0", port=8443)  # noqa: S104 - as the page says


def test_making_an_adapter_loads_no_sdk() -> None:
    program = (
        "import sys; from adapters.telegram import Settings, create; create(Settings()).capabilities.fits('a|b');"
        "print([name for name in ('aiohttp', 'httpx', 'telegram') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
