"""Which addresses are somebody's on the public internet. Pure.

Rule 1: what is not known to be public is not: all of RFC 6890's registries, documentation, multicast, what is yet to be
        assigned, and the addresses at which clouds tell their machines secrets.
Rule 2: an address that holds another one (IPv4 in IPv6, 6to4, NAT64, Teredo) is not public, whichever it holds: a
        gateway on the way would take it for that other one, and no page is published at one.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_NOT_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network; Linux takes 0.0.0.0 for itself
            "10.0.0.0/8",
            "100.64.0.0/10",  # of providers' own networks; Alibaba's metadata stand there
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure speaks to its machines there, though the address looks public
            "169.254.0.0/16",  # link-local; most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments; Oracle's metadata
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",  # relays of 6to4
            "192.168.0.0/16",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)

_IPV6 = IPv6Network("2000::/3")
"""All that was ever assigned to somebody; loopback, link-local, private, mapped and NAT64 lie outside."""

_NOT_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks
            "2001:db8::/32",
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)


def is_public(address: Address) -> bool:
    """Whether it is an address of the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_IPV4)
    return address.scope_id is None and address in _IPV6 and not any(address in network for network in _NOT_IPV6)
