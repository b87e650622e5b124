"""The address and its key; that it is injective is a law, in tests/properties."""

import pytest

from gateway.address import Address


def test_a_key_can_be_read_by_a_person() -> None:
    address = Address(platform="slack", account="T1", channel="C1", thread="17.5")
    assert address.key == "slack/T1/C1/17.5"
    assert Address.from_key("slack/T1/C1/17.5") == address


def test_a_channel_is_another_address_than_its_threads() -> None:
    channel = Address(platform="slack", account="T1", channel="C1")
    thread = Address(platform="slack", account="T1", channel="C1", thread="")
    assert channel.key == "slack/T1/C1"
    assert thread.key == "slack/T1/C1/"
    assert Address.from_key(thread.key) == thread


def test_what_looks_like_a_part_of_the_key_does_not_end_a_part() -> None:
    address = Address(platform="p", account="a/b", channel="%2F", thread="ü")
    assert address.key == "p/a%2Fb/%252F/%C3%BC"
    assert Address.from_key(address.key) == address


@pytest.mark.parametrize("text", ["", "slack", "slack/T1", "slack/T1/C1/17.5/more", "a/b/c%2", "a/b/%41", "a/b/c d"])
def test_a_text_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        Address.from_key(text)
