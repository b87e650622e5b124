"""Which addresses are public: every registry's special ones, at both of their ends."""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.reach import is_public

NOT_PUBLIC = {
    "this network": "0.0.0.0/8",
    "private, large": "10.0.0.0/8",
    "of providers": "100.64.0.0/10",
    "loopback": "127.0.0.0/8",
    "Azure's wire server": "168.63.129.16/32",
    "link-local": "169.254.0.0/16",
    "private, medium": "172.16.0.0/12",
    "protocol assignments": "192.0.0.0/24",
    "documentation 1": "192.0.2.0/24",
    "6to4 relays": "192.88.99.0/24",
    "private, small": "192.168.0.0/16",
    "benchmarks": "198.18.0.0/15",
    "documentation 2": "198.51.100.0/24",
    "documentation 3": "203.0.113.0/24",
    "multicast": "224.0.0.0/4",
    "reserved, broadcast": "240.0.0.0/4",
    "unspecified, loopback, IPv4-compatible": "::/96",
    "IPv4-mapped": "::ffff:0:0/96",
    "IPv4-translated": "::ffff:0:0:0/96",
    "NAT64": "64:ff9b::/96",
    "NAT64, local": "64:ff9b:1::/48",
    "discard": "100::/64",
    "Teredo": "2001::/32",
    "ORCHID": "2001:20::/28",
    "documentation": "2001:db8::/32",
    "6to4": "2002::/16",
    "documentation, new": "3fff::/20",
    "segment routing": "5f00::/16",
    "unique local": "fc00::/7",
    "link-local 6": "fe80::/10",
    "site-local": "fec0::/10",
    "multicast 6": "ff00::/8",
}
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001:82b::200e",
]
SECRETS = ["169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]


@pytest.mark.parametrize("network", [pytest.param(net, id=name) for name, net in NOT_PUBLIC.items()])
def test_a_special_network_is_not_public_from_its_first_address_to_its_last(network: str) -> None:
    whole = ip_network(network)
    assert not is_public(whole[0])
    assert not is_public(whole[-1])


@pytest.mark.parametrize("address", PUBLIC)
def test_what_belongs_to_somebody_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", SECRETS)
def test_where_clouds_tell_their_machines_secrets_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


def test_an_address_of_one_interface_is_not_public() -> None:
    assert not is_public(ip_address("fe80::1%eth0"))
    assert not is_public(ip_address("2606:4700::1111%eth0"))


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_what_the_standard_library_knows_not_to_be_global_is_not_public(address: object) -> None:
    found = ip_address(str(address))
    if not found.is_global or found.is_multicast or found.is_reserved:
        assert not is_public(found)


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_one_is_not_public_whichever_it_is(inner: object) -> None:
    number = int(ip_address(str(inner)))
    for prefix in ("::", "::ffff:0:0", "64:ff9b::"):
        assert not is_public(IPv6Network(f"{prefix}/96")[number])
    assert not is_public(ip_address((0x2002 << 112) | (number << 80)))
    assert not is_public(ip_address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)))
    assert IPv4Network("0.0.0.0/0")[number] == ip_address(str(inner))
