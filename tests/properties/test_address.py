"""The laws of the address's key."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from gateway.address import Address

parts = st.one_of(st.text(max_size=8), st.text("/%2F.~ ", max_size=6))
addresses = st.builds(Address, platform=parts, account=parts, channel=parts, thread=st.one_of(st.none(), parts))


@given(address=addresses)
def test_an_address_survives_its_key(address: Address) -> None:
    assert Address.from_key(address.key) == address


@given(one=addresses, other=addresses)
def test_two_addresses_never_share_a_key(one: Address, other: Address) -> None:
    assert (one.key == other.key) == (one == other)


@given(text=st.one_of(st.text(max_size=12), st.text("a/%2F41", max_size=12)))
def test_no_two_texts_name_one_address(text: str) -> None:
    with suppress(ValueError):
        assert Address.from_key(text).key == text
