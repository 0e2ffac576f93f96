# ruff: noqa: PTH100, PTH108, PTH120
# It stays in memory for as long as any agent lives, and pathlib would cost 2 MiB.
"""The keeper starter: the parent of every keeper of one state directory.

Run by path as ``python -I -S starter_program.py SOCKET``, standard library only, one thread, one
poll loop. It outlives the gateway, and the next gateway finds it by its socket. What it promises:

- It is a child subreaper. When a keeper is killed, everything that ran below that keeper becomes
  a descendant of the starter, whatever session, terminal or environment it gave itself, and is
  killed. Until it is dead the starter is among its ancestors, so that it counts as an agent.
- It kills no keeper, and nothing below a living keeper.
- A keeper that dies by a signal is reported to the gateway, or to the next one.
- It ends by itself when it has had no keeper and no gateway for ``idle_s`` seconds, and removes
  its socket and its key then. Files that are left over tell the next gateway that it was killed.

The gateway writes one JSON document to stdin: ``secret`` and ``idle_s``; the answer on stdout is
``ready`` or ``failed <reason>``. On the socket both sides send JSON objects, one a line:

- ``{"type": "hello", "proto": 1, "secret": …}`` is answered by ``welcome`` (``pid``, ``start``,
  ``died``: what was not reported yet), anything else by ``refused`` (``code``) and the end.
- ``{"type": "spawn", "ref": …, "argv": […], "env": {…}}`` with two descriptors (the keeper's
  stdin and stdout) is answered by ``spawned`` (``ref``, ``pid``, ``start``) or ``failed``
  (``ref``, ``reason``).
- ``{"type": "bye"}``: the gateway ends on purpose; the starter ends with its last keeper, unless
  another gateway comes before that.
- ``died`` (``pid``, ``start``, ``signal``) is sent when a keeper dies by a signal.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from _operator import _compare_digest  # hmac's own, without the 4 MiB that import hmac costs

TYPE_CHECKING = False
if __name__ == "__main__":  # run by path, outside the package: the keeper's file lies beside it
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, _folder.removesuffix("/__pycache__"))
    sys.dont_write_bytecode = True
    import keeper_program as kp  # type: ignore[import-not-found]
else:
    from flybridge.runtime.keeper import keeper_program as kp

if TYPE_CHECKING:
    from typing import Any

PROTO = 1
LINE_BYTES = 256 * 2**10
MAX_KEEPERS = 4096
MAX_DIED = 64  # reports that wait for a gateway
WAITING_PEERS = 8
WAITING_S = 5.0
SWEEP_S = 0.005  # between two looks while strays are left
STUCK_S = 1.0  # between two looks at strays that cannot be killed
STUCK_AFTER = 200  # looks without success
SPEC_BYTES = 64 * 2**10


class Peer:
    """One connection: bytes and descriptors that came."""

    __slots__ = ("deadline", "fds", "received", "sock")

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.sock = sock
        self.deadline = deadline  # for hello
        self.received = b""
        self.fds: list[int] = []


class Starter:
    """All keepers of a state directory, at most one gateway, one loop."""

    def __init__(self, secret: str, idle_s: float, door: kp.Door, key: str) -> None:
        self._secret = secret.encode()
        self._key = key
        self._idle_s = idle_s
        self._door = door
        self._keepers: dict[int, str] = {}  # pid → start time
        self._died: list[dict[str, object]] = []
        self._waiting: list[Peer] = []
        self._gateway: Peer | None = None
        self._idle_since = time.monotonic()
        self._sweep_at = 0.0  # 0: no strays are known
        self._looks = 0
        self._done = False
        self._ending = False
        self._wake = kp.arm_signals()
        ours = kp.process(os.getpid())
        self._start = ours.start if ours else ""

    def run(self) -> None:
        """Serve until nobody needs this process any more."""
        try:
            while not self._done:
                timeout = self._tick(time.monotonic())
                if self._done:
                    break
                poll = select.poll()
                handlers = {self._wake: self._on_signal, self._door.sock.fileno(): self._on_knock}
                if len(self._waiting) >= WAITING_PEERS:
                    del handlers[self._door.sock.fileno()]
                for peer in [*self._waiting, *([self._gateway] if self._gateway else [])]:
                    handlers[peer.sock.fileno()] = lambda peer=peer: self._on_peer(peer)  # type: ignore[misc]
                for fd in handlers:
                    poll.register(fd, select.POLLIN)
                for fd, _ in poll.poll(timeout):
                    handlers[fd]()
        finally:
            self._door.remove()
        self._remove_key()

    def _remove_key(self) -> None:
        """Remove our key, unless another starter's has taken its place."""
        try:
            if self._secret in kp.read_file(self._key):
                os.unlink(self._key)
        except OSError:
            pass

    def _tick(self, now: float) -> float | None:
        """Do what is due; return how long, in milliseconds, nothing will be."""
        due: list[float] = []
        for peer in [one for one in self._waiting if one.deadline <= now]:
            self._drop(peer)
        due += [peer.deadline for peer in self._waiting]
        if self._sweep_at:
            if now >= self._sweep_at:
                self._sweep(now)
            if self._sweep_at:
                due.append(self._sweep_at)
        if self._keepers or self._gateway is not None or self._sweep_at:
            self._idle_since = now
        elif self._ending or now >= self._idle_since + self._idle_s:
            self._done = True
        else:
            due.append(self._idle_since + self._idle_s)
        return max(0.0, (min(due) - now) * 1000 + 1) if due else None

    # -- children

    def _on_signal(self) -> None:
        try:
            seen = os.read(self._wake, 512)
        except BlockingIOError:
            return
        if signal.SIGTERM in seen:  # the machine goes down: end when the last keeper has ended
            self._ending = True
        self._sweep(time.monotonic())

    def _sweep(self, now: float) -> None:
        """Reap what has ended; kill every child that is no keeper, and all below it."""
        self._reap()
        strays = [one for one in self._strays() if not one.dead]
        for one in strays:
            kp.kill_exactly(one)
        self._looks = self._looks + 1 if strays else 0
        pause = SWEEP_S if self._looks < STUCK_AFTER else STUCK_S
        self._sweep_at = now + pause if strays else 0.0

    def _reap(self) -> None:
        for _ in range(MAX_KEEPERS * 4):
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            start = self._keepers.pop(pid, None)
            if start is not None and os.WIFSIGNALED(status):
                self._report(pid, start, os.WTERMSIG(status))

    def _strays(self) -> list[kp.Process]:
        """Return what runs below us and not below a living keeper."""
        children: dict[int, list[kp.Process]] = {}
        for one in kp.processes():
            children.setdefault(one.parent, []).append(one)
        found: list[kp.Process] = []
        todo = [one for one in children.pop(os.getpid(), []) if one.pid not in self._keepers]
        while todo:
            one = todo.pop()
            found.append(one)
            todo += children.pop(one.pid, [])
        return found

    def _report(self, pid: int, start: str, signum: int) -> None:
        self._died.append({"pid": pid, "start": start, "signal": signum})
        del self._died[:-MAX_DIED]
        if self._gateway is not None:
            died, self._died = self._died, []
            for one in died:
                self._say(self._gateway, {"type": "died", **one})

    # -- peers

    def _on_knock(self) -> None:
        try:
            sock, _ = self._door.sock.accept()
        except OSError:
            return
        sock.setblocking(False)
        peer = Peer(sock, time.monotonic() + WAITING_S)
        self._waiting.append(peer)
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid, uid, _gid = struct.unpack("3i", raw)
        above = kp.lineage(pid) if uid == os.getuid() else None
        if above is None or kp.is_from_agent(above):
            self._refuse(peer, "not_allowed")

    def _on_peer(self, peer: Peer) -> None:
        try:
            data, ancillary, flags, _ = peer.sock.recvmsg(
                2**16, socket.CMSG_SPACE(8 * 4), socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return
        except OSError:
            data, ancillary, flags = b"", [], 0
        for level, kind, body in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(body[: len(body) - len(body) % fds.itemsize])
                peer.fds += fds
        peer.received += data
        if not data or flags & socket.MSG_CTRUNC or len(peer.received) > LINE_BYTES:
            return self._drop(peer)
        *lines, peer.received = peer.received.split(b"\n")
        for line in lines:
            if peer.sock.fileno() >= 0:
                self._handle(peer, line)

    def _handle(self, peer: Peer, line: bytes) -> None:
        try:
            message = json.loads(line)
            kind = message["type"]
            if kind == "hello":
                return self._greet(peer, message)
            if peer is not self._gateway:
                return self._refuse(peer, "hello_first")
            if kind == "spawn":
                answer = self._spawn(message, peer.fds)
                return self._say(peer, {**answer, "ref": message["ref"]})
            if kind == "bye":
                self._ending = True
                return self._drop(peer)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass
        self._refuse(peer, "bad_message")

    def _greet(self, peer: Peer, message: dict[str, Any]) -> None:
        if not _compare_digest(str(message["secret"]).encode(), self._secret):
            return self._refuse(peer, "not_allowed")
        if message["proto"] != PROTO:
            return self._refuse(peer, "proto")
        if self._gateway is not None:
            self._drop(self._gateway)
        self._waiting.remove(peer)
        self._gateway, self._ending = peer, False
        died, self._died = self._died, []
        welcome = {"type": "welcome", "proto": PROTO, "pid": os.getpid(), "start": self._start}
        self._say(peer, {**welcome, "died": died})

    def _spawn(self, message: dict[str, Any], fds: list[int]) -> dict[str, object]:
        try:
            if len(fds) != 2 or len(self._keepers) >= MAX_KEEPERS:
                return {"type": "failed", "reason": "not two descriptors, or too many keepers"}
            argv, env = [str(word) for word in message["argv"]], dict(message["env"])
            stdin, stdout = fds
            pid = os.posix_spawn(
                argv[0],
                argv,
                env,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, stdin, 0),
                    (os.POSIX_SPAWN_DUP2, stdout, 1),
                    (os.POSIX_SPAWN_DUP2, stdout, 2),  # a traceback is an answer, too
                ],
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT),
            )
        except OSError as error:
            return {"type": "failed", "reason": error.strerror or str(error)}
        finally:
            while fds:
                os.close(fds.pop())
        started = kp.process(pid)  # a child that we have not reaped: it is still there
        self._keepers[pid] = started.start if started else ""
        return {"type": "spawned", "pid": pid, "start": self._keepers[pid]}

    def _say(self, peer: Peer, message: dict[str, object]) -> None:
        try:
            peer.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError:  # gone, or it does not read
            self._drop(peer)

    def _refuse(self, peer: Peer, code: str) -> None:
        self._say(peer, {"type": "refused", "code": code})
        self._drop(peer)

    def _drop(self, peer: Peer) -> None:
        peer.sock.close()
        while peer.fds:
            os.close(peer.fds.pop())
        if peer in self._waiting:
            self._waiting.remove(peer)
        if peer is self._gateway:
            self._gateway = None


def read_spec() -> tuple[str, float]:
    document = bytearray()
    while piece := os.read(0, 2**16):
        document += piece
        if len(document) > SPEC_BYTES:
            raise kp.StartError(f"a spec of more than {SPEC_BYTES} bytes")
    try:
        spec = json.loads(document)
        secret, idle_s = spec["secret"], float(spec["idle_s"])
    except (ValueError, KeyError, TypeError) as error:
        raise kp.StartError(f"bad spec: {error}") from None
    if not isinstance(secret, str) or not secret:
        raise kp.StartError("bad spec: no secret")
    return secret, idle_s


def main() -> int:
    try:
        kp.settle_in()
        secret, idle_s = read_spec()
        path = os.path.abspath(sys.argv[1])
        door = kp.Door(path)
        os.chdir("/")
        starter = Starter(secret, idle_s, door, path.removesuffix(".sock") + ".key")
    except (kp.StartError, OSError, ValueError, IndexError) as error:
        kp.say(f"failed {' '.join(str(error).split())}\n")
        return 1
    kp.give_back_memory()
    kp.say("ready\n")
    nothing = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    starter.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
