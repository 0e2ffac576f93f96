"""Whether the program at the other end of a TCP connection is an agent, or one of its tools.

An agent has a shell, and could have read a cookie from a browser's profile. Where its program
runs on this machine, the kernel knows which: the connection's other socket is open in a process
below a keeper. Then it may look and talk, whatever it brought along. Whoever is on another
machine is told by nobody; on one Unix user this is friction, not a wall.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from flybridge.model.loopback import is_loopback
from flybridge.runtime.keeper_program import Process, processes
from flybridge.server.peer import is_keeper

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
MAX_TABLE_BYTES = 32 << 20
MAX_FILES = 100_000
MAX_KNOWN = 4096
Address: TypeAlias = tuple[str, int]
Keepers: TypeAlias = Callable[[], Iterable[tuple[int, str]]]


class TcpPeers:
    """Judges each connection once. A connection is known by the very tuple its door has for
    the client's address: it makes one for each connection."""

    def __init__(self, keepers: Keepers) -> None:
        self._keepers = keepers
        self._known: OrderedDict[int, tuple[object, bool]] = OrderedDict()

    async def of_agent(self, client: Address | None, server: Address | None) -> bool:
        """Whether a peer descends from a keeper. One that cannot be judged does."""
        keepers = set(self._keepers())
        if client is None or server is None:
            return bool(keepers)
        known = self._known.get(id(client))
        if known is not None and known[0] is client:
            return known[1]
        verdict = await asyncio.to_thread(is_of_agent, client, server, keepers)
        self._known[id(client)] = (client, verdict)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return verdict


def is_of_agent(client: Address, server: Address, keepers: set[tuple[int, str]]) -> bool:
    """Whether the socket at ``client``, connected to ``server``, is held below a keeper."""
    try:
        found = _find_socket(client, server)
    except (OSError, ValueError):
        return True
    if found is None:  # on another machine; or here, and gone already
        return is_loopback(client[0])
    uid, inode = found
    return inode == 0 or _is_held(inode, uid, _below(keepers))


# ---- the kernel's list of sockets ------------------------------------------------------------


def _find_socket(client: Address, server: Address) -> tuple[int, int] | None:
    """(uid, inode) of the client's own socket, if it is on this machine."""
    wanted = [
        f" {_written(local, client[1])} {_written(remote, server[1])} ".encode()
        for local, remote in zip(_forms(client[0]), _forms(server[0]), strict=True)
    ]
    for table in TABLES:
        try:
            with Path(table).open("rb") as file:
                data = file.read(MAX_TABLE_BYTES)
        except FileNotFoundError:  # a machine without IPv6
            continue
        for one in wanted:
            at = data.find(one)
            if at >= 0:
                line = data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at)]
                fields = line.split()
                return int(fields[7]), int(fields[9])
    return None


def _forms(host: str) -> tuple[bytes, bytes]:
    """An address as IPv4 and as IPv6 writes it; the same twice where there is only one."""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        short = address.ipv4_mapped
        return (short.packed if short else address.packed), address.packed
    return address.packed, b"\0" * 10 + b"\xff\xff" + address.packed


def _written(packed: bytes, port: int) -> str:
    """As the kernel writes it: words in the machine's own order."""
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


# ---- who holds it ----------------------------------------------------------------------------


def _below(keepers: set[tuple[int, str]]) -> list[Process]:
    """All keepers, ours and others', and every process below them, as far as one look can
    tell."""
    children: dict[int, list[Process]] = {}
    todo: list[Process] = []
    for one in processes():
        children.setdefault(one.parent, []).append(one)
        if (one.pid, one.start) in keepers or is_keeper(one):
            todo.append(one)
    found: list[Process] = []
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.pop(one.pid, [])
    return found


def _is_held(inode: int, uid: int, some: list[Process]) -> bool:
    """Whether one of these has that socket open. Where we may not look, as with a program that
    runs for another user, the socket's owner decides."""
    wanted, left = f"socket:[{inode}]", MAX_FILES
    for one in some:
        folder = f"/proc/{one.pid}/fd"
        try:
            names = [one.name for one in os.scandir(folder)]
        except FileNotFoundError:
            continue
        except PermissionError:
            if _owner(one.pid) == uid:
                return True
            continue
        left -= len(names)
        if left < 0 or any(_target(f"{folder}/{name}") == wanted for name in names):
            return True
    return False


def _target(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""


def _owner(pid: int) -> int:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return -1
