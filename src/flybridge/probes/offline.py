"""Runs a program where there is no network: nothing but loopback, and on it one port.

    python offline.py SOCKET PORT PROGRAM [ARGUMENT ...]
    python offline.py --check

In a network namespace of its own, 127.0.0.1:PORT leads to the Unix socket SOCKET outside, and
nothing else leads anywhere. Where the system gives no namespace, the program runs as it is:
then the port must be one that answers. ``--check`` exits 0 where it does give one. The program
keeps our pid, pipes and environment, and dies with the process that started it.

Stdlib only, run by its path: it is between a keeper and an agent, and must start fast.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import threading

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
PR_SET_PDEATHSIG = 1
CHUNK = 65536
_libc = ctypes.CDLL(None, use_errno=True)


def can_leave_network() -> bool:
    """Whether the system gives a namespace, all the way.

    Tried in a child: a system that gives one and then forbids to set it up leaves whoever
    asked without even a loopback, and there is no way back.
    """
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if _leave() else 1)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def leave_network() -> bool:
    """Move into a namespace with loopback only; False where that is not allowed."""
    return can_leave_network() and _leave()


def _leave() -> bool:
    if not hasattr(_libc, "unshare"):  # not Linux
        return False
    if _libc.unshare(CLONE_NEWNET) != 0:
        uid, gid = os.getuid(), os.getgid()
        if _libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
            return False
        for name, line in (("setgroups", "deny"), ("uid_map", uid), ("gid_map", gid)):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(line if isinstance(line, str) else f"{line} {line} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name_and_flags = struct.pack("16sh14x", b"lo", 0)
        answer = fcntl.ioctl(any_socket, SIOCGIFFLAGS, name_and_flags)
        (flags,) = struct.unpack("16xh14x", answer)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
    return True


def relay(listener: socket.socket, path: str) -> None:
    """Carry bytes between the port and the socket, for as long as the program lives."""
    while True:
        inside, _ = listener.accept()
        outside = socket.socket(socket.AF_UNIX)
        try:
            outside.connect(path)
        except OSError:
            inside.close()
            outside.close()
            continue
        for source, target in ((inside, outside), (outside, inside)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # one side hung up: so does the other
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def start_relay(path: str, port: int) -> None:
    """A child that dies with us, and holds none of the program's pipes."""
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    parent = os.getpid()
    if os.fork():
        listener.close()
        return
    _die_with(parent)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    try:
        relay(listener, path)
    finally:
        os._exit(1)


def _die_with(parent: int) -> None:
    """Asked for after the namespace: entering one makes the kernel forget it."""
    if hasattr(_libc, "prctl"):
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)


def main(path: str, port: str, *program: str) -> None:
    parent = os.getppid()
    if leave_network():
        start_relay(path, int(port))
    _die_with(parent)
    os.execvp(program[0], program)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if can_leave_network() else 1)
    main(*sys.argv[1:])
