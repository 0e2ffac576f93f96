"""Find the socket at the other end of a TCP connection, if that end is on this machine.

The kernel answers for one connection at a time by netlink (``sock_diag``), in microseconds. Its
tables under ``/proc/net`` take milliseconds to read and are the second source: for a kernel without
``sock_diag``, and for a socket that is bound to a device, which an exact query does not find.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
MAX_TABLE_BYTES = 32 << 20
ESTABLISHED = 1
REPLY_BYTES = 8192
TIMEOUT_S = 1.0

_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_ROUTE = 0  # NETLINK_ROUTE
_BY_FAMILY, _GET_ROUTE, _NEW_ROUTE = 20, 26, 24  # message types
_LOCAL_ROUTE = 2  # RTN_LOCAL: the address is one of this machine's
_HEADER = struct.Struct("=IHHII")  # nlmsghdr
_REQUEST = struct.Struct("=BBBxI")  # inet_diag_req_v2, up to its socket id
_SOCKET_ID = struct.Struct("!HH16s16s")  # and 12 bytes: interface and cookie
_NO_COOKIE = b"\xff" * 8
_FOUND = struct.Struct("=BBxx48s12xII")  # inet_diag_msg
_IP_FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}

Address: TypeAlias = tuple[str, int]
Ends: TypeAlias = tuple[Address, Address]  # a socket's own address, and its peer's
Ip: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class TcpSocket(NamedTuple):
    """One socket of this machine, as the kernel lists it."""

    uid: int
    inode: int  # 0: no process has it open any more
    state: int


def find_socket(local: Address, remote: Address) -> TcpSocket | None:
    """Return the socket with these two ends, or None if there is none that is bound to no device.

    Raises:
        OSError: the kernel does not answer such queries.
        ValueError: an address is not one.
    """
    ours, theirs = _ip(local[0]), _ip(remote[0])
    family = _IP_FAMILY[ours.version]
    ends = _SOCKET_ID.pack(
        local[1], remote[1], ours.packed.ljust(16, b"\0"), theirs.packed.ljust(16, b"\0")
    )
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0xFFFFFFFF)
    interface = struct.pack("=I", _interface(local[0]))
    body = _query(_SOCK_DIAG, _BY_FAMILY, request + ends + interface + _NO_COOKIE, _BY_FAMILY)
    if body is None:
        return None
    _, state, sock_id, uid, inode = _FOUND.unpack_from(body)
    if sock_id[2:4] != ends[2:4]:  # a listener with that port, if no connection has these ends
        return None
    return TcpSocket(uid, inode, state)


def uid_of(client: Address, server: Address) -> int | None:
    """Return the uid of the socket at ``client`` that is connected to ``server``.

    None if it is not on this machine, is gone, or the kernel does not answer such queries.
    """
    try:
        found = find_socket(client, server)
    except (OSError, ValueError, struct.error):
        return None
    return None if found is None else found.uid


def find_in_tables(wanted: Iterable[Ends]) -> dict[Ends, TcpSocket]:
    """Return those of the wanted sockets that the kernel's tables list.

    Raises:
        OSError: there are no such tables.
        ValueError: an address is not one.
    """
    written = {ends: _forms(ends) for ends in wanted}
    found: dict[Ends, TcpSocket] = {}
    for table in TABLES:
        try:
            with Path(table).open("rb") as file:
                data = file.read(MAX_TABLE_BYTES)
        except FileNotFoundError:
            if table == TABLES[0]:
                raise
            continue  # a machine without IPv6
        for ends, forms in written.items():
            for form in forms:
                at = data.find(form)
                if at >= 0 and ends not in found:
                    line = data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at)]
                    fields = line.split()
                    found[ends] = TcpSocket(int(fields[7]), int(fields[9]), int(fields[3], 16))
    return found


def is_local(host: str) -> bool:
    """Return whether an address belongs to this machine; True if the kernel does not say.

    Raises:
        ValueError: it is not an address.
    """
    address = _ip(host)
    if address.is_loopback:
        return True
    family, bits = _IP_FAMILY[address.version], address.max_prefixlen
    body = struct.pack("=BBBBBBBBI", family, bits, 0, 0, 0, 0, 0, 0, 0)
    body += struct.pack("=HH", 4 + len(address.packed), 1) + address.packed  # RTA_DST
    interface = _interface(host)
    if interface:
        body += struct.pack("=HHI", 8, 4, interface)  # RTA_OIF
    try:
        reply = _query(_ROUTE, _GET_ROUTE, body, _NEW_ROUTE)
    except OSError as error:  # without a route to it, the address cannot be one of ours
        return error.errno not in (errno.ENETUNREACH, errno.EHOSTUNREACH)
    return reply is not None and reply[7] == _LOCAL_ROUTE


# ---- inside --------------------------------------------------------------------------------------


def _ip(host: str) -> Ip:
    """Parse an address; IPv4 that came in over an IPv6 socket becomes IPv4 again."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def _interface(host: str) -> int:
    """Return the interface's number in an address with a zone, else 0."""
    zone = host.partition("%")[2]
    try:
        return int(zone) if zone.isdecimal() else socket.if_nametoindex(zone) if zone else 0
    except OSError:
        return 0


def _query(protocol: int, kind: int, body: bytes, reply_kind: int) -> bytes | None:
    """Send one netlink message and return the body of its reply; None: there is no such thing.

    Raises:
        OSError: the kernel refused the query, or did not answer.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol) as link:
        link.settimeout(TIMEOUT_S)
        link.bind((0, 0))
        link.send(_HEADER.pack(_HEADER.size + len(body), kind, 1, 1, 0) + body)
        reply = link.recv(REPLY_BYTES)
    _, got, _, _, _ = _HEADER.unpack_from(reply)
    if got == reply_kind:
        return reply[_HEADER.size :]
    code = -struct.unpack_from("=i", reply, _HEADER.size)[0]
    if code == errno.ENOENT:
        return None
    raise OSError(code, "netlink")


def _forms(ends: Ends) -> list[bytes]:
    """Return how the tables may write a socket's two ends: as IPv4, as IPv6, or both."""
    (local, port), (remote, other) = ends
    return [
        f" {_written(mine, port)} {_written(theirs, other)} ".encode()
        for mine, theirs in zip(_packed(local), _packed(remote), strict=False)
    ]


def _packed(host: str) -> list[bytes]:
    address = _ip(host)
    if address.version == 6:
        return [address.packed]
    return [address.packed, b"\0" * 10 + b"\xff\xff" + address.packed]


def _written(packed: bytes, port: int) -> str:
    """Write an address as the kernel does: words in the machine's own order."""
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
