"""A program that connects to a port and holds the socket, openly or by one of several tricks."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flybridge.auth.peer_socket import Address

HOLD = r"""
import array, ctypes, os, socket, sys, threading, time
how, port, host = sys.argv[1], int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)

def connect():
    sock = socket.socket()
    if how == "device":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
    sock.connect((host, port))
    return sock

def wait():
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)

def own_table():
    assert libc.unshare(0x400) == 0  # CLONE_FILES
    sock = connect()
    wait()

def without_leader():
    while open("/proc/self/stat").read().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.005)
    sock = connect()
    wait()

if how in ("plain", "device"):
    sock = connect()
    wait()
elif how == "thread":
    thread = threading.Thread(target=own_table)
    thread.start()
    thread.join()
elif how == "leader":
    threading.Thread(target=without_leader).start()
    libc.pthread_exit(None)
elif how == "flight":
    sock = connect()
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    rights = array.array("i", [sock.fileno()])
    first.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    sock.close()
    wait()
elif how == "undumpable":
    assert libc.prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE
    sock = connect()
    wait()
"""
WAYS = ("plain", "device", "thread", "leader", "flight", "undumpable")


@contextmanager
def holding(
    how: str, *, command: tuple[str, ...] = (), host: str = "127.0.0.1", **more: Any
) -> Iterator[tuple[Address, Address, int]]:
    """Yield the two ends of the connection, the program's first, and the program's pid.

    ``command`` is put before the program's own: what starts it.
    """
    with socket.create_server((host, 0)) as server:
        port = server.getsockname()[1]
        argv = [*command, sys.executable, "-c", HOLD, how, str(port), host]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(argv, **pipes, **more) as program:
            server.settimeout(60)
            accepted, client = server.accept()
            assert program.stdout is not None
            assert program.stdout.readline() == b"ready\n"
            try:
                with accepted:
                    yield client, (host, port), program.pid
            finally:
                program.communicate(b"", timeout=60)
