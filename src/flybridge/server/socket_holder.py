"""Which process on this machine holds the other end of a connection.

A ticket stands in a command line, which every user of the machine can read: so it counts only
in the hands of the process it was made for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from flybridge.runtime.keeper_program import Process, processes
from flybridge.server.tcp_peer import MAX_FILES, Address, _find_socket, _target


def holder_of(client: Address, server: Address, some: Iterable[Process] | None) -> Process | None:
    """The process among ``some`` (None: any of this user's) that is connected to us like that."""
    try:
        found = _find_socket(client, server)
    except (OSError, ValueError):
        return None
    if found is None or found[0] != os.geteuid() or not found[1]:
        return None
    wanted, left = f"socket:[{found[1]}]", MAX_FILES
    for one in processes() if some is None else some:
        if one.pid == os.getpid():
            continue
        try:
            names = [file.name for file in os.scandir(f"/proc/{one.pid}/fd")]
        except OSError:  # gone, or another user's
            continue
        left -= len(names)
        if left < 0:
            return None
        if any(_target(f"/proc/{one.pid}/fd/{name}") == wanted for name in names):
            return one
    return None
