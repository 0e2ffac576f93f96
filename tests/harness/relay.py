"""A program that passes connections on, as sshd does for `ssh -L`: nobody sees what it holds.

Run by root, it becomes another user, who is listed as a forwarder: root could look into it.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flybridge.auth.tcp_peer import PeerRules

FORWARDER = 65534
RULES = PeerRules(forwarders=frozenset({FORWARDER}))

RELAY = r"""
import ctypes, os, socket, sys, threading
target, uid, listen = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
if uid >= 0:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
if listen >= 0:
    assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE

def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass

def both(client):
    gateway = socket.create_connection(("127.0.0.1", target))
    threading.Thread(target=copy, args=(gateway, client), daemon=True).start()
    copy(client, gateway)

server = socket.create_server(("127.0.0.1", max(listen, 0)))
print(server.getsockname()[1], flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    threading.Thread(target=both, args=(server.accept()[0],), daemon=True).start()
"""


@contextmanager
def relaying(
    target: int, *, uid: int | None = None, command: tuple[str, ...] = (), seen: bool = False
) -> Iterator[int]:
    """Yield the port of a relay to ``target``; ``seen``: everybody may see what it holds."""
    if uid is None:
        uid = FORWARDER if os.geteuid() == 0 and not command else -1
    argv = [*command, sys.executable, "-c", RELAY, str(target), str(uid), "-1" if seen else "0"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, cwd="/", **pipes) as program:  # type: ignore[call-overload]
        try:
            yield int(program.stdout.readline())
        finally:
            program.communicate(b"", timeout=60)


def ask(
    through: int,
    gateway: int,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Any, http.client.HTTPMessage]:
    """Send one request to a port, in the name of the gateway's own; status, JSON and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", through, timeout=60)
    data = None if body is None else json.dumps(body).encode()
    given = {"host": f"127.0.0.1:{gateway}", **(headers or {})}
    if data is not None:
        given["content-type"] = "application/json"
    try:
        connection.request(method, f"/api/v1{path}", body=data, headers=given)
        found = connection.getresponse()
        return found.status, json.loads(found.read() or b"null"), found.headers
    finally:
        connection.close()
