"""Which names of a host mean this machine, and can mean no other."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine is behind that name or address; not, if in doubt."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    # an IPv4 address that came in over an IPv6 socket
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
