"""The gateway's side of the keeper starter: find it or start it, and have it start keepers.

The starter itself is ``starter_program.py``; what it promises stands there. There is one for each
state directory. Its secret lies in a file beside its socket, so that the next gateway finds it.
"""

from __future__ import annotations

import array
import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import msgspec

from flybridge.errors import KeeperError
from flybridge.runtime.keeper import starter_program
from flybridge.runtime.keeper.keeper_program import short_path
from flybridge.runtime.keeper.process import alive, boot_id
from flybridge.runtime.keeper.programs import (
    channel,
    command,
    kill_child,
    read_all,
    reap_when_over,
    spawn,
    write_all,
)
from flybridge.runtime.keeper.starter_program import LINE_BYTES, PROTO

ANSWER_S, AGAIN_S, DYING_S = 10.0, 0.02, 5.0
IDLE_S = 2.0
TRIES = 3
KEY_BYTES = 4096
MAX_EXPECTED = 1024

AlarmCode = Literal["keeper_killed", "starter_killed"]


class StarterAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """A keeper, or the starter itself, died by a signal that this gateway did not send."""

    code: AlarmCode
    pid: int
    start: str
    signal: int = 0  # 0: not known


class _Key(msgspec.Struct, frozen=True, kw_only=True):
    """What the next gateway needs to know of a starter."""

    secret: str
    boot: str
    pid: int = 0
    start: str = ""


class _Died(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    start: str
    signal: int


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Any line from the starter."""

    type: Literal["welcome", "refused", "spawned", "failed", "died"]
    ref: int = 0
    pid: int = 0
    start: str = ""
    signal: int = 0
    code: str = ""
    reason: str = ""
    died: list[_Died] = []


class KeeperStarter:
    """Starts keepers through the starter of one state directory. Used by one gateway at a time."""

    def __init__(self, folder: Path, *, idle_s: float = IDLE_S) -> None:
        self._socket = folder / f"starter-{PROTO}.sock"
        self._key = folder / f"starter-{PROTO}.key"
        self._idle_s = idle_s
        self._connection: _Connection | None = None
        self._one_at_a_time = asyncio.Lock()
        self._expected: dict[tuple[int, str], None] = {}  # keepers that we are ending ourselves
        self._tasks: set[asyncio.Task[None]] = set()
        self.observers: list[Callable[[StarterAlarm], None]] = []

    @property
    def pid(self) -> int:
        """The starter's process, 0 while there is no connection to it."""
        return self._connection.pid if self._connection is not None else 0

    async def find(self) -> bool:
        """Connect to a starter that an earlier gateway left; return whether there is one.

        A starter that was killed in the meantime is reported to the observers.
        """
        async with self._one_at_a_time:
            return await self._find()

    async def spawn(
        self, argv: list[str], env: dict[str, str], fds: tuple[int, int]
    ) -> tuple[int, str]:
        """Have a keeper started with these descriptors as stdin and stdout; return its pid and
        start time.

        Raises:
            KeeperError: there is no starter and none could be started, or it could not start it.
        """
        async with self._one_at_a_time:
            for _ in range(TRIES):
                connection = self._connection or await self._connect()
                answer = await connection.request({"type": "spawn", "argv": argv, "env": env}, fds)
                if answer is None:  # it went away before it answered
                    self._lost(connection)
                    continue
                if answer.type != "spawned":
                    raise KeeperError(f"the keeper starter failed: {answer.reason or answer.code}")
                return answer.pid, answer.start
        raise KeeperError("the keeper starter does not answer; see the gateway's log")

    def expect_end(self, pid: int, start: str) -> None:
        """Note that this gateway itself kills a keeper: that is no alarm."""
        self._expected[pid, start] = None
        while len(self._expected) > MAX_EXPECTED:
            del self._expected[next(iter(self._expected))]

    async def close(self) -> None:
        """Let go of the starter; it ends when it has no keepers."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.say({"type": "bye"})
            connection.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- connecting ----------------------------------------------------------------------------

    async def _connect(self) -> _Connection:
        if not await self._find():
            await self._start()
            if not await self._find():
                raise KeeperError("the keeper starter was started and cannot be reached")
        assert self._connection is not None
        return self._connection

    async def _find(self) -> bool:
        if self._connection is not None:
            return True
        deadline = asyncio.get_running_loop().time() + ANSWER_S
        while True:
            key = self._read_key()
            if key is None:
                return False
            connection = _Connection(self._died, self._lost)
            welcome = await connection.open(self._socket, key.secret)
            if welcome is not None:
                break
            if not key.pid or not alive(key.pid, key.start):
                self._gone(key)
                return False
            if asyncio.get_running_loop().time() > deadline:
                why = f"the keeper starter (process {key.pid}) does not answer"
                raise KeeperError(f"{why}; end that process and try again")
            await asyncio.sleep(AGAIN_S)  # it is just ending, or very busy
        self._connection = connection
        if not key.pid:
            self._write_key(msgspec.structs.replace(key, pid=welcome.pid, start=welcome.start))
        for died in welcome.died:
            self._report("keeper_killed", died.pid, died.start, died.signal)
        return True

    def _gone(self, key: _Key) -> None:
        """Report a starter that ended without removing its key: it was killed."""
        self._forget_files()
        if key.pid and key.boot == boot_id():
            self._report("starter_killed", key.pid, key.start, 0)

    def _forget_files(self) -> None:
        self._key.unlink(missing_ok=True)
        self._socket.unlink(missing_ok=True)

    async def _start(self) -> None:
        """Start a starter; it lives on when this process ends."""
        key = _Key(secret=secrets.token_hex(32), boot=boot_id())
        spec = msgspec.json.encode({"secret": key.secret, "idle_s": self._idle_s})
        argv = command(starter_program.__file__, sys.executable, str(self._socket))
        pid = 0
        try:
            self._socket.unlink(missing_ok=True)
            self._write_key(key)
            with ExitStack() as files:
                spec_r, spec_w = channel(files)
                answer_r, answer_w = channel(files)
                pid = spawn(argv, spec_r.fileno(), answer_w.fileno())
                reap_when_over(pid)
                spec_r.close()
                answer_w.close()
                async with asyncio.timeout(ANSWER_S):
                    await write_all(spec_w, spec)
                    answer = await read_all(answer_r)
        except OSError as error:
            raise KeeperError(f"the keeper starter cannot be started: {error}") from error
        except TimeoutError:
            kill_child(pid)
            raise KeeperError(f"the keeper starter was not ready after {ANSWER_S:g} s") from None
        if answer.strip() != b"ready":
            reason = " ".join(answer.decode(errors="replace").split())[-400:]
            raise KeeperError(f"the keeper starter did not start: {reason or 'no reason given'}")

    def _read_key(self) -> _Key | None:
        try:
            return msgspec.json.decode(self._key.read_bytes()[:KEY_BYTES], type=_Key)
        except (OSError, msgspec.DecodeError):
            return None

    def _write_key(self, key: _Key) -> None:
        """Replace the key file in one step; it is for this user alone."""
        new = self._key.with_suffix(".new")
        new.unlink(missing_ok=True)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(msgspec.json.encode(key))
        new.replace(self._key)

    # ---- what the starter says -----------------------------------------------------------------

    def _died(self, answer: _Answer) -> None:
        self._report("keeper_killed", answer.pid, answer.start, answer.signal)

    def _lost(self, connection: _Connection) -> None:
        """Let go of a starter that hung up, and find out whether it was killed."""
        connection.close()
        if connection is self._connection:
            self._connection = None
            task = asyncio.ensure_future(self._report_if_dead(connection.pid, connection.start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _report_if_dead(self, pid: int, start: str) -> None:
        """Report a starter that is dead; its descriptors are closed a moment before it is."""
        deadline = asyncio.get_running_loop().time() + DYING_S
        while alive(pid, start):
            if asyncio.get_running_loop().time() > deadline:
                return  # another gateway has taken our place
            await asyncio.sleep(AGAIN_S)
        self._report("starter_killed", pid, start, 0)

    def _report(self, code: AlarmCode, pid: int, start: str, signum: int) -> None:
        if self._expected.pop((pid, start), 0) is None:
            return
        if code == "starter_killed":
            self.expect_end(pid, start)  # it is reported once
        alarm = StarterAlarm(code=code, pid=pid, start=start, signal=signum)
        for observer in self.observers:
            observer(alarm)


class _Connection:
    """One authenticated connection to a starter."""

    def __init__(
        self, died: Callable[[_Answer], None], lost: Callable[[_Connection], None]
    ) -> None:
        self.pid, self.start = 0, ""
        self._on_died, self._on_lost = died, lost
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.setblocking(False)
        self._rest = b""
        self._ref = 0
        self._answer: asyncio.Future[_Answer | None] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self, path: Path, secret: str) -> _Answer | None:
        """Connect and authenticate; None when nobody answers there, or refuses."""
        loop = asyncio.get_running_loop()
        folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            address = short_path(str(path), folder, path.name)
            async with asyncio.timeout(ANSWER_S):
                await loop.sock_connect(self._sock, address)
        except (OSError, TimeoutError):
            self.close()
            return None
        finally:
            os.close(folder)
        self._reading = asyncio.ensure_future(self._read())
        welcome = await self.request({"type": "hello", "proto": PROTO, "secret": secret})
        if welcome is None or welcome.type != "welcome":
            self.close()
            return None
        self.pid, self.start = welcome.pid, welcome.start
        return welcome

    async def request(
        self, message: Mapping[str, object], fds: tuple[int, ...] = ()
    ) -> _Answer | None:
        """Send a message and return its answer; None when the starter is gone or too slow."""
        self._answer = asyncio.get_running_loop().create_future()
        self._ref += 1
        if not self.say({**message, "ref": self._ref}, fds):
            return None
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._answer
        except TimeoutError:
            return None
        finally:
            self._answer = None

    def say(self, message: Mapping[str, object], fds: tuple[int, ...] = ()) -> bool:
        """Send a message; false when that cannot be done."""
        data = msgspec.json.encode(message) + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        if len(data) > LINE_BYTES:
            raise KeeperError(f"a message of {len(data)} bytes for the keeper starter")
        try:  # the socket's buffer is empty: there is one request at a time
            return self._sock.sendmsg([data], rights) == len(data)
        except OSError:
            return False

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        self._sock.close()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                data = await loop.sock_recv(self._sock, 2**16)
            except OSError:
                data = b""
            self._rest += data
            if not data or len(self._rest) > LINE_BYTES:
                break
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._heard(line)
        self._sock.close()
        self._settle(None)
        self._on_lost(self)

    def _heard(self, line: bytes) -> None:
        try:
            answer = msgspec.json.decode(line, type=_Answer)
        except msgspec.DecodeError:
            return
        if answer.type == "died":
            self._on_died(answer)
        elif answer.ref in (0, self._ref):  # not the late answer to a request that was given up
            self._settle(answer)

    def _settle(self, answer: _Answer | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
