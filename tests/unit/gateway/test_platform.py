import pytest

from gateway.address import Address
from gateway.platform import platform_of
from tests.unit.gateway.chat import Chat, platform

CHAT = platform(Chat())
KEY = Address(platform="chat", account="A1", channel="C/1", thread="T 1").key


def test_the_platform_of_a_conversation_is_found_by_its_name(caplog: pytest.LogCaptureFixture) -> None:
    assert platform_of(KEY, {"other": platform(Chat(), name="other"), "chat": CHAT}) is CHAT
    assert caplog.messages == []


def test_one_that_is_not_configured_is_none_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert platform_of(KEY, {"other": CHAT}) is None
    assert caplog.messages == [f"{KEY}: its platform is not configured; its messages wait"]


@pytest.mark.parametrize("key", ["", "nonsense", "chat/A1", "chat/A1/%zz", "chat/A1/C1/T1/more"])
def test_a_name_that_nobody_can_read_is_none_and_logged(key: str, caplog: pytest.LogCaptureFixture) -> None:
    assert platform_of(key, {"chat": CHAT}) is None
    assert caplog.messages[0].startswith(f"{key}: its messages wait: not an address")
