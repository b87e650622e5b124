import pytest

from adapters.loopback.telegram import outbound
from adapters.loopback.telegram.answer import RefusedError
from adapters.loopback.telegram.argument import Arguments
from adapters.loopback.telegram.gate import Gate
from adapters.loopback.telegram.limit import Limits
from adapters.loopback.telegram.world import World


def refusal_of(gate: Gate, method: str, chat: int = 101, now: float = 0.0) -> RefusedError | None:
    try:
        gate.admit(method, Arguments({"chat_id": chat}), now)
    except RefusedError as refusal:
        return refusal
    return None


def gate_of() -> Gate:
    return Gate(World(), Limits())


def allowed_at_once(gate: Gate, method: str, *chats: int) -> int:
    count = 0
    while refusal_of(gate, method, chats[count % len(chats)]) is None:
        count += 1
    return count


@pytest.mark.parametrize(
    ("token", "rule"),
    [
        ("7000001:other", outbound.WRONG_TOKEN),
        ("7000001", outbound.MALFORMED_TOKEN),
        ("", outbound.MALFORMED_TOKEN),
    ],
)
def test_the_wrong_token_is_refused(token: str, rule: object) -> None:
    with pytest.raises(RefusedError) as raised:
        gate_of().authenticate(token)
    assert raised.value.rule is rule


def test_the_right_token_is_let_in() -> None:
    gate_of().authenticate(World().bot.token)


def test_a_token_can_be_taken_back() -> None:
    gate = gate_of()
    gate.revoke()
    with pytest.raises(RefusedError, match="Unauthorized"):
        gate.authenticate(World().bot.token)


@pytest.mark.parametrize(
    ("method", "chat", "capacity", "retry_after"),
    [
        ("sendMessage", 101, 3, 1),
        ("editMessageText", -200, 3, 3),
        ("sendChatAction", 101, 4, 1),
        ("deleteMessage", 101, 4, 1),
        ("setWebhook", 101, 2, 1),
        ("getMe", 101, 31, 1),
    ],
)
def test_a_burst_ends_at_the_capacity_and_is_told_whole_seconds_to_wait(
    method: str, chat: int, capacity: int, retry_after: int
) -> None:
    gate = gate_of()
    assert allowed_at_once(gate, method, chat) == capacity
    refusal = refusal_of(gate, method, chat)
    assert refusal is not None
    assert refusal.parameters == {"retry_after": retry_after}
    assert str(refusal) == f"Too Many Requests: retry after {retry_after}"
    assert refusal_of(gate, method, chat, now=float(retry_after)) is None


@pytest.mark.parametrize(("chat", "a_minute"), [(101, 60), (-200, 20), (-1_000_000_000_300, 20)])
def test_who_waits_as_told_gets_the_published_rate(chat: int, a_minute: int) -> None:
    gate = gate_of()
    allowed_at_once(gate, "sendMessage", chat)
    now, granted = 0.0, 0
    while now < 60:
        refusal = refusal_of(gate, "editMessageText" if granted % 2 else "sendMessage", chat, now)
        if refusal is None:
            granted += 1
        else:
            wait = refusal.parameters["retry_after"]
            assert isinstance(wait, int)
            now += wait
    assert granted == pytest.approx(a_minute, abs=2)


def test_sends_and_edits_of_a_chat_wait_together_and_others_do_not() -> None:
    gate = gate_of()
    gate.hold("editMessageText", Arguments({"chat_id": 101}), 30.0)
    refusal = refusal_of(gate, "sendMessage", now=10.5)
    assert refusal is not None
    assert (refusal.rule, refusal.parameters) == (outbound.FLOOD_HOLDS, {"retry_after": 20})
    assert refusal_of(gate, "deleteMessage") is None
    assert refusal_of(gate, "sendMessage", 102) is None
    assert refusal_of(gate, "sendMessage", now=30.0) is None
    gate.hold("sendMessage", Arguments({"chat_id": 101}), 600.0)
    gate.release()
    assert refusal_of(gate, "sendMessage", now=31.0) is None


def test_all_chats_share_what_the_bot_may_send() -> None:
    gate = gate_of()
    assert allowed_at_once(gate, "sendMessage", *range(1, 31)) == 6


def test_nobody_is_told_to_poll_less() -> None:
    gate = gate_of()
    assert all(refusal_of(gate, "getUpdates") is None for _ in range(500))
