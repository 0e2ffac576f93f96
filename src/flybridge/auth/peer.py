"""Who is at the other end of a Unix socket, as the kernel tells it.

A peer of another user gets nothing. A peer that descends from a keeper is an agent or one
of its tools: it may look and talk, but never approve, open or administer. A person at a
terminal may do everything; a program of the same user may open sessions and decides in the
ones it opened itself. On one Unix user this is friction, not a wall: docs/explanation says so.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

import msgspec

from flybridge.errors import NotAllowedError
from flybridge.runtime.keeper import keeper_program
from flybridge.runtime.keeper.keeper_program import Process, lineage
from flybridge.runtime.keeper.process import boot_id, descends_from, start_time
from flybridge.session.authorisation import Caller, Scope, Verdict

_CREDENTIALS = struct.Struct("iII")
SO_PEERPIDFD = 77  # since Linux 6.5; the socket module does not name it
TALK: frozenset[Scope] = frozenset({"view", "input", "interrupt"})
OF_AGENT: frozenset[Scope] = TALK | {"control"}  # and what a team lets it do by that is little
OPEN: frozenset[Scope] = TALK | {"spawn"}
ALL: frozenset[Scope] = OPEN | {"approve", "admin"}


def caller_of(connection: socket.socket, keepers: Iterable[tuple[int, str]]) -> Caller:
    """Identify the peer of an accepted Unix connection.

    Raises:
        NotAllowedError: it belongs to another user.
    """
    size = _CREDENTIALS.size
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    if uid != os.geteuid():
        raise NotAllowedError("view", why="this gateway belongs to another user")
    of_agent = descends_from(pid, keepers) or _below_a_keeper(pid)
    of_person = ALL if has_terminal(pid) else OPEN
    # Asked last: a process that still runs had its pid during everything that was read above.
    of_agent = of_agent or not _still_runs(connection)
    scopes = TALK if of_agent else of_person
    return Caller(
        principal=agent_of(f"uid:{uid}") if of_agent else f"uid:{uid}",
        scopes=scopes,
        process=f"{pid}:{start_time(pid) or ''}:{boot_id()}",
        of_agent=of_agent,
    )


def _still_runs(connection: socket.socket) -> bool:
    """Return whether the process that connected still runs.

    A process can connect and end, and its pid can then belong to a person's program. Kernels
    before Linux 6.5 do not know the peer's pidfd; there the answer is always yes.
    """
    try:
        pidfd = connection.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
    except OSError as error:
        return error.errno == errno.ENOPROTOOPT
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True


def agent_of(principal: str) -> str:
    """In whose name an agent acts that somebody let in: never in theirs."""
    return f"agent:{principal}"


def restricted(caller: Caller, verdict: Verdict) -> Caller:
    """Return the caller with the scopes that hold on a connection that was judged like this.

    An agent acts in a name of its own. On a forwarded connection nobody can tell which program
    asks: only a login that was made for that holds there in full.
    """
    caller = msgspec.structs.replace(caller, peer=verdict)
    if verdict == "agent":
        return msgspec.structs.replace(
            caller,
            principal=agent_of(caller.principal),
            of_agent=True,
            scopes=caller.scopes & OF_AGENT,
        )
    if verdict == "forwarded" and not caller.forwarding:
        withheld = caller.scopes - OF_AGENT
        return msgspec.structs.replace(caller, scopes=caller.scopes & OF_AGENT, withheld=withheld)
    return caller


def _below_a_keeper(pid: int) -> bool:
    """Whether this runs below a keeper that we have not written down: one that is just being
    started, or another gateway's."""
    chain = lineage(pid)
    return chain is None or any(is_keeper(one) for one in chain)


def is_keeper(one: Process, above_us: Iterable[Process] | None = None) -> bool:
    """Whether a process is a keeper, whoever started it. One that we run below ourselves is
    none to us: whoever comes from there is on our side of it."""
    if not keeper_program.is_keeper(one):
        return False
    above = lineage(os.getpid()) or [] if above_us is None else above_us
    return (one.pid, one.start) not in [(us.pid, us.start) for us in above]


def has_terminal(pid: int) -> bool:
    """Whether the process runs at a controlling terminal: somebody sits there."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    fields = stat.rpartition(")")[2].split()
    return fields[4] != "0"  # tty_nr
