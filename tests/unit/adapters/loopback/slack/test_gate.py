import pytest

from adapters.loopback.slack import limit, rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.gate import Gate
from adapters.loopback.slack.rule import Rule
from adapters.loopback.slack.workspace import Channel, Workspace

BOT, APP = "xoxb-loopback", "xapp-loopback"


def refusal_of(
    gate: Gate, method: str, channel: str = "C1", *, token: str = BOT, now: float = 0.0
) -> RefusedError | None:
    try:
        gate.admit(method, token, Arguments({"channel": channel}), now)
    except RefusedError as refusal:
        return refusal
    return None


def allowed_at_once(gate: Gate, method: str, *channels: str) -> int:
    count = 0
    while refusal_of(gate, method, channels[count % len(channels)]) is None:
        count += 1
    return count


@pytest.mark.parametrize(
    ("method", "token", "broken"),
    [
        ("chat.postMessage", "", rule.NO_TOKEN),
        ("chat.postMessage", "xoxb-other", rule.INVALID_TOKEN),
        ("chat.postMessage", APP, rule.TOKEN_TYPE),
        ("auth.test", "xoxb-other", rule.INVALID_TOKEN),
        ("apps.connections.open", "xapp-other", rule.INVALID_TOKEN),
        ("apps.connections.open", BOT, rule.TOKEN_TYPE),
        ("chat.invent", BOT, rule.UNKNOWN_METHOD),
    ],
)
def test_the_wrong_token_or_method_is_refused(method: str, token: str, broken: Rule) -> None:
    refusal = refusal_of(Gate(Workspace()), method, token=token)
    assert refusal is not None
    assert refusal.rule is broken


def test_the_right_token_is_let_in() -> None:
    assert refusal_of(Gate(Workspace()), "chat.postMessage", token=BOT) is None
    assert refusal_of(Gate(Workspace()), "apps.connections.open", token=APP) is None


def test_a_missing_scope_is_named() -> None:
    refusal = refusal_of(Gate(Workspace(scopes=("users:read",))), "chat.postMessage")
    assert refusal is not None
    assert refusal.rule is rule.MISSING_SCOPE
    assert refusal.details == {"needed": "chat:write", "provided": "users:read"}


@pytest.mark.parametrize(
    ("method", "capacity", "retry_after"),
    [
        ("chat.postMessage", 3, 1),
        ("chat.update", 6, 2),
        ("chat.delete", 6, 2),
        ("chat.postEphemeral", 16, 1),
        ("conversations.replies", 6, 2),
        ("conversations.history", 6, 2),
        ("conversations.info", 16, 2),
        ("reactions.add", 6, 2),
        ("reactions.remove", 6, 3),
    ],
)
def test_a_burst_ends_at_the_capacity_and_is_told_whole_seconds_to_wait(
    method: str, capacity: int, retry_after: int
) -> None:
    gate = Gate(Workspace())
    assert allowed_at_once(gate, method, "C1") == capacity
    refusal = refusal_of(gate, method)
    assert refusal is not None
    assert (refusal.rule, refusal.retry_after) == (rule.RATE_LIMITED, retry_after)
    assert refusal_of(gate, method, now=float(retry_after)) is None


@pytest.mark.parametrize(
    ("method", "a_minute"),
    [
        ("chat.postMessage", 60),
        ("chat.update", 50),
        ("reactions.remove", 20),
        ("chat.postEphemeral", 100),
        ("auth.test", 300),
    ],
)
def test_in_the_long_run_the_published_rate_holds(method: str, a_minute: int) -> None:
    gate = Gate(Workspace())
    allowed_at_once(gate, method, "C1")
    granted = sum(refusal_of(gate, method, now=tick / 50) is None for tick in range(1, 60 * 50 + 1))
    assert granted == pytest.approx(a_minute, abs=1)


def test_posts_are_counted_by_channel_and_by_workspace() -> None:
    channels = [Channel(id=f"C{number}", name=f"room-{number}") for number in range(30)]
    gate = Gate(Workspace(channels=tuple(channels)))
    for channel in channels[:7]:
        assert allowed_at_once(gate, "chat.postMessage", channel.id) == 3
    refusal = refusal_of(gate, "chat.postMessage", channels[7].id)
    assert refusal is not None
    assert refusal.rule is rule.RATE_LIMITED
    assert refusal_of(gate, "chat.postMessage", channels[7].id, now=0.2) is None


def test_a_channel_is_one_channel_by_whatever_name_it_is_called() -> None:
    assert allowed_at_once(Gate(Workspace()), "chat.postMessage", "C1", "general", "#general") == 3
    assert allowed_at_once(Gate(Workspace()), "chat.postMessage", "D1", "U1") == 3


def test_methods_do_not_share_budgets() -> None:
    gate = Gate(Workspace())
    allowed_at_once(gate, "chat.update", "C1")
    assert refusal_of(gate, "chat.delete") is None
    assert refusal_of(gate, "chat.postMessage") is None


def test_every_scope_is_of_a_method_that_exists() -> None:
    assert limit.SCOPES.keys() | limit.READS <= limit.LIMITS.keys()


@pytest.mark.parametrize(
    ("channel", "needed"), [("C1", "channels:history"), ("G1", "groups:history"), ("D1", "im:history")]
)
@pytest.mark.parametrize("method", sorted(limit.READS))
def test_reading_needs_the_scope_of_the_conversations_type(method: str, channel: str, needed: str) -> None:
    workspace = Workspace(
        scopes=tuple(set(limit.READ_SCOPES.values()) - {needed}),
        channels=(*Workspace().channels, Channel(id="G1", name="private", type="group")),
    )
    refusal = refusal_of(Gate(workspace), method, channel)
    assert refusal is not None
    assert (refusal.rule.error, refusal.details["needed"]) == ("missing_scope", needed)
    others = {"C1", "G1", "D1"} - {channel}
    assert [refusal_of(Gate(workspace), method, other) for other in others] == [None, None]
