import json
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from adapters.loopback.slack.limit import LIMITS
from adapters.slack import CHANNELS, USERS, Settings, allow, create
from adapters.slack.adapter import DELETE, EDIT, MARK, POST, PRIVATE, READ
from gateway.access import Allow, warnings

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
        {"alow_users": ["U1"]},
        {"bubble": 0},
        {"bubble": 11_501},
        {"surface": "append"},
        {"bot_token": "xoxb-1"},
        {"bot_token": "env:xoxb-1"},
        {"base_url": "http://[::1"},
        {"base_url": "ftp://slack.com"},
    ],
    ids=str,
)
def test_a_wrong_table_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        read(table)


def test_the_allow_lists_are_what_the_table_says() -> None:
    settings = read({"allow_users": ["U1"], "allow_channels": ["*"]})
    assert allow(settings) == Allow(users=frozenset({"U1"}), channels=frozenset({"*"}))


@pytest.mark.parametrize(
    ("users", "channels", "strange"),
    [
        ({"U1", "W0123ABCD"}, {"C1", "G1"}, set[str]()),
        ({"@ada", "ada", " U1", "u1"}, {"*"}, {"@ada", "ada", " U1", "u1"}),
        ({"*"}, {"#general", "general", "D1"}, {"#general", "general", "D1"}),
    ],
    ids=["ids", "users", "channels"],
)
def test_what_is_no_id_of_slacks_is_said_at_start(users: set[str], channels: set[str], strange: set[str]) -> None:
    told = warnings(Allow(users=frozenset(users), channels=frozenset(channels)), users=USERS, channels=CHANNELS)
    assert {line.split('"')[1] for line in told if line.startswith('"')} == strange


def test_the_capabilities_are_the_settings() -> None:
    capabilities = create(Settings(surface="post", bubble=900)).capabilities
    assert (capabilities.surface, capabilities.unit, capabilities.bubble) == ("post", "cp", 900)
    budgets = {
        (budget.name, budget.scope): (budget.rate * 60, budget.burst)
        for budget in (
            *capabilities.post,
            *capabilities.edit,
            *capabilities.delete,
            *capabilities.read,
            *capabilities.mark,
        )
    }
    assert budgets == {
        ("chat.postMessage", "channel"): (60, 2),
        ("chat.postMessage", "account"): (240, 20),
        ("chat.update", "account"): (45, 5),
        ("chat.update", "message"): (50, 1),
        ("chat.delete", "account"): (45, 5),
        ("conversations", "account"): (45, 5),
        ("reactions", "account"): (18, 5),
    }
    assert (capabilities.reconciliation, bool(capabilities.mark), capabilities.append) == ("read", True, ())


def test_the_table_in_the_readme_is_a_configuration() -> None:
    readme = (ROOT / "adapters" / "slack" / "README.md").read_text(encoding="utf-8")
    table = textwrap.dedent(readme.split("```toml\n")[1].split("```")[0])
    settings = read(tomllib.loads(table)["slack"])
    assert (settings.allow_users, settings.allow_channels) == (("U0123ABCD",), ("C0123ABCD",))
    assert not warnings(allow(settings), users=USERS, channels=CHANNELS)


def test_making_an_adapter_loads_no_sdk() -> None:
    program = (
        "import sys; from adapters.slack import Settings, create; create(Settings());"
        "print([name for name in ('aiohttp', 'slack_bolt', 'slack_sdk') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_manifest_asks_for_what_the_adapter_uses_and_for_no_more() -> None:
    lines = (ROOT / "config" / "slack-manifest.yaml").read_text(encoding="utf-8").splitlines()
    items = {line.strip().removeprefix("- ") for line in lines if line.strip().startswith("- ")}
    reads = {"channels:history", "groups:history", "im:history", "mpim:history"}
    events = {"app_mention", "message.channels", "message.groups", "message.im", "message.mpim"}
    assert items == {"app_mentions:read", "chat:write", "reactions:write"} | reads | events
    assert "  socket_mode_enabled: true" in lines
    assert lines[lines.index("  interactivity:") + 1] == "    is_enabled: true"
    assert "    messages_tab_read_only_enabled: false" in lines


def test_the_readme_says_what_each_scope_of_the_manifest_is_for() -> None:
    manifest = (ROOT / "config" / "slack-manifest.yaml").read_text(encoding="utf-8")
    readme = (ROOT / "adapters" / "slack" / "README.md").read_text(encoding="utf-8")
    rows = "".join(line for line in readme.splitlines() if line.startswith("| `"))
    scopes = [line.strip().removeprefix("- ") for line in manifest.splitlines() if ":" in line and "- " in line]
    assert len(scopes) == 7
    assert all(f"`{scope}`" in rows for scope in scopes)


BUDGETS = {
    "chat.postMessage": POST,
    "chat.update": EDIT,
    "chat.delete": DELETE,
    "chat.postEphemeral": PRIVATE,
    "conversations.replies": READ,
    "conversations.history": READ,
    "reactions.add": MARK,
    "reactions.remove": MARK,
}


@pytest.mark.parametrize("method", BUDGETS)
def test_each_budget_is_within_what_the_judge_allows_and_leaves_it_a_token(method: str) -> None:
    limits = LIMITS[method]
    allowed = {"account": limits.workspace, "channel": limits.channel}
    for budget in BUDGETS[method]:
        judge = allowed.get(budget.scope)
        if judge is not None:
            assert budget.rate <= judge.rate
            assert budget.burst + 1 <= judge.capacity
