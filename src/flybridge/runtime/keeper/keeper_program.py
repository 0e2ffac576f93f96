# ruff: noqa: PTH100, PTH208
# There is one of these processes per agent, and pathlib would cost each 2 MiB and 10 ms.
"""The keeper: the little process that holds one agent's input and output, its group and its end.

Run by path as ``python -I -S keeper_program.py``, standard library only, one thread, one poll
loop. It outlives the gateway, so the agent keeps working and the next gateway adopts it. What
it promises:

- A numbered line goes to the agent at most once. A number that was taken is never taken again,
  a gap is refused, a torn frame is not taken, and only one line is in flight.
- A newer gateway's HELLO closes the older connection *unread, before* WELCOME is computed:
  what WELCOME calls not taken can never be taken later.
- Output is kept until it is acknowledged: in memory, then in an unnamed file, then the agent
  has to wait. Nothing is skipped: an offset that is gone is refused.
- What a gateway gives it to KEEP is in its memory and nowhere else; the next WELCOME tells it.
- When the agent is over nothing of it is left running, and EXIT says how much of its input was
  read. EXIT follows the last output on every connection until END.
- The agent's stdin and stdout are sockets, not pipes: opening ``/proc/AGENT/fd/0`` or ``/fd/1``
  fails with ENXIO, so another process of the same user cannot write the agent's input or output.

The spec is one JSON document on stdin (see ``start.KeeperSpec``); the answer on stdout is
``ready <agent pid>`` or ``failed <reason>``. Frames are ``!BQI`` (type, number, length) and a
body. The file is long because it must be one file: it runs without the package around it.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from _operator import _compare_digest  # hmac's own, without the 4 MiB that import hmac costs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

PROTO = 1
FRAME = struct.Struct("!BQI")
HELLO, INPUT, EOF, SIGNAL, ACK, END, KEEP = range(1, 8)
WELCOME, OUT, ERR, WROTE, EXIT, REFUSED = range(17, 23)

INPUT_BYTES = 128 * 2**20 + 1  # a line of 128 MiB and its newline
BODY_BYTES = 64 * 2**10  # any other frame
OUT_BYTES = 256 * 2**10  # one OUT frame, one read of the agent's output
STDIN_BUFFER_BYTES = 128 * 2**10  # the kernel doubles it to account for its own overhead
STDOUT_BUFFER_BYTES = 2**20  # the kernel grants net.core.wmem_max at most
STDERR_BYTES = 64 * 2**10
STDERR_PAUSE_S = 0.02  # at most one ERR frame per pause: stderr is a tail, not a stream
SPEC_BYTES = 16 * 2**20
PATH_BYTES = 107  # what a Unix socket address holds
UNCOUNTED = 16  # lines without a number that wait, of BODY_BYTES each
WAITING_PEERS = 8
WAITING_S = 5.0
SWEEP_S = 10.0
MAX_DEPTH = 4096  # of a process tree; deeper is treated as hostile
MARKER = "FLYBRIDGE_INCARNATION"  # in the agent's environment: how its stragglers are found
BOOT_ENV = "FLYBRIDGE_BOOT_ID"
# where this program lies, and where it lay when a keeper that still runs was started
FOLDERS = (b"/flybridge/runtime/keeper", b"/flybridge/runtime")

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
ALIVE, EXITED, SWEEPING, EMPTYING, OVER = range(5)


# ---- what /proc says; process.py uses these too, so both sides mean the same -------------------


def read_file(path: str, limit: int = 4096) -> bytes:
    """Return a small file's bytes, b"" when it is gone or not ours to read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, limit)
    except OSError:
        return b""
    finally:
        os.close(fd)


def boot_id(environ: Mapping[str, str] = os.environ) -> str:
    """Name this boot of the machine. FLYBRIDGE_BOOT_ID overrides it: tests play a reboot."""
    return environ.get(BOOT_ENV) or read_file("/proc/sys/kernel/random/boot_id").decode().strip()


class Process:
    """One line of the process table. ``start`` and the boot id tell a reused pid apart."""

    __slots__ = ("group", "parent", "pid", "start", "state")

    def __init__(self, pid: int, stat: bytes) -> None:
        fields = stat.rpartition(b")")[2].split()  # the name before it may hold anything
        self.pid = pid
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.start = fields[19].decode()

    @property
    def dead(self) -> bool:
        return self.state in "ZXx"


def process(pid: int) -> Process | None:
    """Look one process up; zombies are still there."""
    stat = read_file(f"/proc/{pid}/stat")
    return Process(pid, stat) if stat else None


def processes() -> list[Process]:
    """Return every process that can be seen."""
    found = (process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [one for one in found if one is not None]


def descendants(root: int) -> list[Process]:
    """Return everything below ``root``, as far as one look at a moving tree can tell."""
    children: dict[int, list[Process]] = {}
    for one in processes():
        children.setdefault(one.parent, []).append(one)
    found: list[Process] = []
    todo = [root]
    while todo:
        below = children.pop(todo.pop(), [])
        found += below
        todo += [one.pid for one in below]
    return found


def kill_exactly(victim: Process, signum: int = signal.SIGKILL) -> None:
    """Signal this very process, never one that got its pid since."""
    try:
        pidfd = os.pidfd_open(victim.pid)
    except OSError:
        return
    try:
        now = process(victim.pid)
        if now is not None and now.start == victim.start:
            signal.pidfd_send_signal(pidfd, signum)
    except OSError:  # gone in between, or another user's (a setuid program)
        pass
    finally:
        os.close(pidfd)


def lineage(pid: int) -> list[Process] | None:
    """Return ``pid`` and all above it up to init; None when that cannot be told.

    An ancestor that ends during the walk breaks the chain, so the walk is made again; a tree
    deeper than ``MAX_DEPTH`` is nobody's honest doing. A pid of 0 is a peer outside our pid
    namespace: it has no ancestors here.
    """
    for _ in range(8):
        chain: list[Process] = []
        above = pid
        while above > 0 and len(chain) < MAX_DEPTH:
            one = process(above)
            if one is None:
                break
            chain.append(one)
            above = one.parent
        if above <= 0:
            return chain
    return None


def is_keeper(one: Process) -> bool:
    """Whether a process is a keeper or a keeper starter: all that runs below it is an agent's.

    It does not matter who started it, nor whether from the source or from what was compiled.
    """
    return is_program(one, b"keeper_program.") or is_program(one, b"starter_program.")


def is_program(one: Process, program: bytes) -> bool:
    """Whether a process runs this program of ours (the file's name up to its suffix)."""
    words = read_file(f"/proc/{one.pid}/cmdline").split(b"\0")
    if one.pid != one.group or words[1:3] != [b"-I", b"-S"]:
        return False
    folder, _, name = words[3].rpartition(b"/")
    return folder.removesuffix(b"/__pycache__").endswith(FOLDERS) and name.startswith(program)


def is_from_agent(above: list[Process]) -> bool:
    """Whether this lineage leads through a keeper: us, or another one that is not above us.

    Our own starter is above us, and yet whoever else comes from there is what a killed keeper
    left behind.
    """
    over_us = (lineage(os.getpid()) or [])[1:]
    if over_us and is_program(over_us[0], b"starter_program."):
        del over_us[0]
    ours = {one.pid for one in over_us}
    return any(one.pid == os.getpid() or (one.pid not in ours and is_keeper(one)) for one in above)


def unread_in(fd: int, unknown: int = 0) -> int:
    """Return how many bytes wait to be read from ``fd``, or ``unknown`` if that cannot be read.

    For a socket, ``fd`` must be the receiving end: the sending end always reports 0.
    """
    try:
        raw = fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0")
    except OSError:
        return unknown
    return int(struct.unpack("i", raw)[0])


# ---- what is kept -------------------------------------------------------------------------------


class Output:
    """The agent's output from the first byte nobody acknowledged to the last one read.

    The newer part lies in a ring in memory, the older part in a ring file without a name; an
    offset's place in either is its remainder, so nothing is ever moved and disk use is bounded.
    """

    def __init__(self, memory_bytes: int, spill_bytes: int, directory: int) -> None:
        self.start = 0
        self.end = 0
        self._middle = 0  # before it: in the file; from it on: in memory
        self._size = max(memory_bytes, 4096)
        self._memory = memoryview(mmap.mmap(-1, self._size))  # costs only what was ever used
        self._spill_size = max(spill_bytes, 0)
        self._directory = directory
        self._file = -1

    @property
    def room(self) -> int:
        """How many bytes can be read now; moves older bytes to the file to make room."""
        free = self._size - (self.end - self._middle)
        if free < self._size // 4:
            self._spill()
            free = self._size - (self.end - self._middle)
        return free

    def fill(self, fd: int) -> int:
        """Read once from ``fd`` into the room there is; 0 means the end."""
        at = self.end % self._size
        span = min(self.room, self._size - at, OUT_BYTES)
        if not span:  # reading nothing would look like the end
            raise BlockingIOError
        count = os.readv(fd, [self._memory[at : at + span]])
        self.end += count
        return count

    def piece(self, offset: int, limit: int) -> memoryview | bytes:
        """Return up to ``limit`` of the bytes at ``offset``, without copying where it can."""
        if offset >= self._middle:
            at = offset % self._size
            return self._memory[at : at + min(limit, self.end - offset, self._size - at)]
        at = offset % self._spill_size
        span = min(limit, self._middle - offset, self._spill_size - at)
        data = os.pread(self._file, span, at)
        if not data:
            raise OSError("the spill file is shorter than it was")
        return data

    def release(self, offset: int) -> None:
        """Forget what lies before ``offset``."""
        in_file = self.start < self._middle
        self.start = max(self.start, offset)
        if self.start >= self._middle:
            self._middle = self.start
            if in_file:  # all of the file is done with
                os.ftruncate(self._file, 0)

    def _spill(self) -> None:
        """Move the older half of the memory to the file, as far as it has room."""
        try:
            if self._file < 0:
                self._file = unnamed_file(self._directory)
            goal = min(self._middle + self._size // 2, self.end, self.start + self._spill_size)
            while self._middle < goal:
                at = self._middle % self._spill_size
                span = min(goal - self._middle, self._spill_size - at)
                piece = self.piece(self._middle, span)
                self._middle += os.pwrite(self._file, piece, at)
        except OSError:
            return  # no space: the agent waits, as if the cap were reached


def unnamed_file(directory: int) -> int:
    """Open a file that no name leads to and that is gone with this process."""
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        return os.open(".", flags | os.O_TMPFILE, 0o600, dir_fd=directory)
    except OSError:  # a file system without O_TMPFILE
        name = f".spill-{os.urandom(8).hex()}"
        fd = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=directory)
        os.unlink(name, dir_fd=directory)
        return fd


class Tail:
    """The last bytes of the agent's stderr. It never makes the agent wait."""

    def __init__(self) -> None:
        self.end = 0
        self._kept = bytearray()

    @property
    def start(self) -> int:
        return self.end - len(self._kept)

    def add(self, data: bytes) -> None:
        self.end += len(data)
        self._kept += data
        if len(self._kept) > STDERR_BYTES:
            del self._kept[:-STDERR_BYTES]

    def since(self, offset: int) -> bytes:
        return bytes(self._kept[max(0, offset - self.start) :])


class Input:
    """The agent's stdin: which numbers were taken, written, and read by the agent.

    Number 0 is outside the numbering: such a line is written once, behind the one in flight,
    and forgotten if its gateway goes before it was begun. A line that cannot be finished stays
    in flight for ever, so that no byte follows a torn line and ``wrote`` never claims it.

    ``watch`` is a duplicate of the agent's receiving end and is used only to count unread bytes,
    because the sending end of a socket cannot. The agent shares its file description, so it must
    never be read from or made non-blocking. It also keeps the receiving end open: a line for an
    agent that has closed its stdin is written without an error and stays unread, and EXIT
    reports it as unread.
    """

    def __init__(self, fd: int, watch: int, on_close: Callable[[int], None]) -> None:
        self.took = 0
        self._fd = fd  # -1: there is none
        self._on_close = on_close  # told before a descriptor's number is free for others
        self._watch = watch
        self._shut = fd < 0
        self._queue: list[tuple[int, memoryview | None]] = []  # None: end of input
        self._begun = False  # the first of the queue
        self._written = 0  # bytes
        self._marks: list[tuple[int, int]] = []  # (wrote, bytes written by then), maybe unread
        self._read_upto = 0

    @property
    def wrote(self) -> int:
        return next((number - 1 for number, _ in self._queue if number), self.took)

    @property
    def busy(self) -> bool:
        """Whether a numbered line, or the end, waits to be written."""
        return any(number for number, _ in self._queue)

    @property
    def fd(self) -> int:
        return self._fd

    @property
    def blocked(self) -> bool:
        """Whether something waits for room in the socket."""
        return bool(self._queue) and not self._shut

    @property
    def uncounted(self) -> int:
        return sum(not number for number, _ in self._queue)

    def take_line(self, number: int, body: memoryview) -> None:
        self.took = max(self.took, number)
        self._queue.append((number, body))
        self.push()

    def take_eof(self, number: int) -> None:
        self.took = number
        if self._queue or not self._shut:
            self._queue.append((number, None))
        self.push()
        self._mark()

    def take_done(self, number: int) -> None:
        """Count a number whose work is done: a signal."""
        self.took = number
        self._mark()

    def push(self) -> None:
        """Write what the socket takes now."""
        while self._queue and not self._shut:
            number, body = self._queue[0]
            try:
                count = os.write(self._fd, body) if body is not None else 0
            except BlockingIOError:
                return
            except OSError:  # nobody can read it any more; EXIT will say how far it got
                self._shut = True
                return
            self._written += count
            self._begun = True
            if body is not None and count < len(body):
                self._queue[0] = (number, body[count:])
                continue
            del self._queue[0]
            self._begun = False
            if body is None:
                self.close()
            self._mark()

    def forget_uncounted(self) -> None:
        """Drop lines without a number that were not begun: their gateway is gone."""
        begun, rest = self._queue[: self._begun], self._queue[self._begun :]
        self._queue = begun + [one for one in rest if one[0]]

    def close(self) -> None:
        """Give the agent its end of input; what is in the queue stays unwritten."""
        if self._shut:
            return
        self._shut = True
        self._on_close(self._fd)
        os.close(self._fd)
        self._fd = -1

    @property
    def unread(self) -> int:
        """Return how many written bytes the agent has not read."""
        return unread_in(self._watch, unknown=self._written) if self._watch >= 0 else 0

    def read_upto(self) -> int:
        """Return the highest number up to which the agent has read everything."""
        consumed = self._written - self.unread
        known = 0
        for number, end in self._marks:
            if end > consumed:
                break
            self._read_upto = number
            known += 1
        del self._marks[:known]
        return self._read_upto

    def _mark(self) -> None:
        self._marks.append((self.wrote, self._written))
        if len(self._marks) > 1024:
            self.read_upto()


# ---- the agent ----------------------------------------------------------------------------------


class StartError(Exception):
    """The agent, or the keeper itself, cannot start; the text goes to the gateway."""


def prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise StartError(f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def arm_signals() -> int:
    """Return a descriptor that SIGCHLD and SIGTERM make readable; ignore SIGHUP and the like."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for signum in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(signum, lambda *_: None)
    for signum in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(signum, signal.SIG_IGN)
    return reader


class Channels:
    """Our ends of an agent's stdin, stdout and stderr; -1 where there is none.

    ``stdin_watch`` duplicates the agent's end of stdin, see ``Input``.
    """

    __slots__ = ("stderr", "stdin", "stdin_watch", "stdout")

    def __init__(self, stdin: int, stdin_watch: int, stdout: int, stderr: int) -> None:
        self.stdin = stdin
        self.stdin_watch = stdin_watch
        self.stdout = stdout
        self.stderr = stderr


def one_way_sockets(buffer_bytes: int) -> tuple[int, int]:
    """Return a (receiving, sending) pair of sockets that carries bytes in that direction only."""
    receiving, sending = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    receiving.shutdown(socket.SHUT_WR)  # on both ends: what one may not send the other never gets
    sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
    return receiving.detach(), sending.detach()


def start_agent(spec: Mapping[str, Any]) -> tuple[int, Channels]:
    """Start the agent in its own group; return its pid and our ends of its channels.

    stdin and stdout are sockets, which nobody can open through /proc. stderr is a pipe, because
    programs that open /dev/stderr would fail on a socket; it carries nothing that is obeyed.
    With ``pipes: none`` the agent has no stdin and its stdout is treated like stderr.
    """
    piped = spec.get("pipes", "stdio") == "stdio"
    nothing = os.open("/dev/null", os.O_RDONLY)
    stderr_r, stderr_w = os.pipe()
    stdin_r, stdin_w = one_way_sockets(STDIN_BUFFER_BYTES) if piped else (nothing, -1)
    stdout_r, stdout_w = one_way_sockets(STDOUT_BUFFER_BYTES) if piped else (-1, stderr_w)
    report_r, report_w = os.pipe()
    keeper = os.getpid()
    pid = os.fork()
    if pid == 0:
        become_agent(spec, keeper, (stdin_r, stdout_w, stderr_w), report_w)
    for fd in {nothing, stdout_w, stderr_w, report_w}:
        os.close(fd)
    reason = os.read(report_r, 4096)
    os.close(report_r)
    if reason:
        os.waitpid(pid, 0)
        raise StartError(reason.decode(errors="replace"))
    for fd in (stdin_w, stdout_r, stderr_r):
        if fd >= 0:
            os.set_blocking(fd, False)
    return pid, Channels(stdin_w, stdin_r if piped else -1, stdout_r, stderr_r)


def become_agent(
    spec: Mapping[str, Any], keeper: int, ends: tuple[int, int, int], report: int
) -> None:
    """In the forked child: become the agent, or report why not. Never returns."""
    try:
        signal.set_wakeup_fd(-1)
        os.setpgid(0, 0)
        for signum in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:  # it died before the signal was armed
            os._exit(127)
        for target, fd in enumerate(ends):
            os.dup2(fd, target)
        os.umask(spec["umask"] if spec.get("umask", -1) >= 0 else keeper_umask)
        try:
            os.chdir(spec["cwd"])
        except OSError as error:
            raise StartError(f"{spec['cwd']}: {error.strerror}") from None
        argv = spec["argv"]
        os.execvpe(argv[0], argv, {**spec["env"], MARKER: spec["incarnation"]})
    except StartError as error:
        text = str(error)
    except OSError as error:
        text = f"{spec['argv'][0]}: {error.strerror}"
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
    os.write(report, " ".join(text.split()).encode(errors="replace")[:4096] or b"no reason")
    os._exit(127)


keeper_umask = 0o022


# ---- one gateway, or somebody who says so -------------------------------------------------------


class Peer:
    """One connection: bytes that came, and what is being sent."""

    __slots__ = (
        "deadline", "err_at", "err_sent", "exit_due", "frame_end", "gone", "greeted", "parsed",
        "received", "rest", "sent", "sock", "wrote_due",
    )  # fmt: skip

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.sock = sock
        self.deadline = deadline  # for HELLO
        self.greeted = False
        self.gone = False
        self.received = bytearray()
        self.parsed = 0  # of what was received
        self.rest: memoryview = memoryview(b"")  # of a frame that is half sent
        self.sent = 0  # the agent's output up to here
        self.frame_end = 0  # the OUT frame being sent ends here
        self.err_sent = 0
        self.err_at = 0.0
        self.wrote_due = False
        self.exit_due = False

    def next_frame(self) -> tuple[int, int, memoryview] | None:
        """Cut the next whole frame off what was received.

        Raises:
            ProtocolError: the peer announced a frame nobody may send.
        """
        start = self.parsed + FRAME.size
        if len(self.received) < start:
            return None
        kind, number, length = FRAME.unpack_from(self.received, self.parsed)
        if kind != HELLO and not self.greeted:
            raise ProtocolError("hello_first", "say HELLO first")
        if not HELLO <= kind <= KEEP or length > (INPUT_BYTES if kind == INPUT else BODY_BYTES):
            raise ProtocolError("bad_frame", f"no frame of type {kind} and {length} bytes")
        end = start + length
        if len(self.received) < end:
            return None
        if length <= BODY_BYTES:
            self.parsed = end
            return kind, number, memoryview(bytes(self.received[start:end]))
        # A long line keeps the buffer instead of being copied; what follows moves to a new one.
        whole, self.received, self.parsed = self.received, self.received[end:], 0
        return kind, number, memoryview(whole)[start:end]

    def forget_parsed(self) -> None:
        del self.received[: self.parsed]
        self.parsed = 0


class ProtocolError(Exception):
    """The peer may not do that; it is told so and its connection ends."""

    def __init__(self, code: str, message: str, **more: int) -> None:
        super().__init__(message)
        self.code = code
        self.more = more


def frame(kind: int, number: int = 0, body: bytes = b"") -> bytes:
    return FRAME.pack(kind, number, len(body)) + body


def refusal(error: ProtocolError) -> bytes:
    words = {"code": error.code, "message": str(error), **error.more}
    return frame(REFUSED, 0, json.dumps(words).encode())


# ---- the keeper ---------------------------------------------------------------------------------


class Keeper:
    """One agent, at most one gateway, one loop."""

    def __init__(self, spec: Mapping[str, Any], door: Door) -> None:
        self._incarnation = str(spec["incarnation"])
        self._secret = str(spec["secret"]).encode()
        self._orphan_s = float(spec.get("orphan_s", 900))
        self._drain_s = float(spec.get("drain_s", 2))
        self._grace_s = float(spec.get("grace_s", 5))
        now = time.monotonic()
        self._hello_at = now + float(spec.get("hello_s", 30))
        self._heard_at = now  # the agent's output
        self._left_at = now  # the last gateway
        self._output = Output(
            int(spec.get("memory_bytes", 2**20)),
            int(spec.get("spill_bytes", 256 * 2**20)),
            door.directory,
        )
        self._tail = Tail()
        self._door = door
        self._waiting: list[Peer] = []
        self._gateway: Peer | None = None
        self._generation = -1
        self._phase, self._phase_at = ALIVE, now  # when it gives way, or from EMPTYING: began
        self._stop_step, self._stop_at = 0, 0.0
        self._scan_at = 0.0
        self._status = 0
        self._exit: dict[str, int] | None = None
        self._kept = ""
        self._reaped = False
        self._done = False
        self._poll = select.poll()
        self._handlers: dict[int, tuple[int, Callable[[int], None]]] = {}
        self._wake = arm_signals()
        self.agent, ours = start_agent(spec)
        self._stdout, self._stderr = ours.stdout, ours.stderr
        self._input = Input(ours.stdin, ours.stdin_watch, self._unwatch)
        self._agent_io = "sockets" if ours.stdin >= 0 else "none"
        started = process(self.agent)
        self._agent_start = started.start if started else ""
        self._watch(self._wake, select.POLLIN, self._on_signal)
        self._watch(self._stderr, select.POLLIN, self._on_stderr)

    def run(self) -> None:
        """Serve until END, or until nobody wants this agent any more; leave nothing behind."""
        try:
            while not self._done:
                timeout = self._tick(time.monotonic())
                self._set_interest()
                for fd, events in self._poll.poll(timeout):
                    known = self._handlers.get(fd)
                    if known is not None:
                        known[1](events)
        finally:
            self._kill_all()
            self._door.remove()

    # -- waiting

    def _watch(self, fd: int, mask: int, handler: Callable[[int], None]) -> None:
        known = self._handlers.get(fd)
        if known is None or known[0] != mask:
            self._poll.register(fd, mask)
            self._handlers[fd] = (mask, handler)

    def _unwatch(self, fd: int) -> None:
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _set_interest(self) -> None:
        if self._stdout >= 0:
            if self._output.room:
                self._watch(self._stdout, select.POLLIN, self._on_stdout)
            else:  # not even watched: poll reports a hang-up whether asked or not
                self._unwatch(self._stdout)
        if self._input.blocked:
            self._watch(self._input.fd, select.POLLOUT, self._on_stdin)
        else:
            self._unwatch(self._input.fd)
        knocking = self._door.sock.fileno()
        if len(self._waiting) < WAITING_PEERS:
            self._watch(knocking, select.POLLIN, self._on_knock)
        else:
            self._unwatch(knocking)

    def _tick(self, now: float) -> float | None:
        """Do what is due; return how long, in milliseconds, nothing will be."""
        due: list[float] = []
        for peer in [one for one in self._waiting if one.deadline <= now]:
            self._drop(peer)
        due += [peer.deadline for peer in self._waiting]
        if self._generation < 0:
            due.append(self._hello_at)
            self._done = self._done or now >= self._hello_at
        self._tick_end(now, due)
        self._tick_stop(now, due)
        gateway = self._gateway
        if gateway is not None and gateway.err_sent < self._tail.end:
            if gateway.err_at <= now:
                self._flush(gateway)
            else:
                due.append(gateway.err_at)
        if self._done:
            return 0
        return max(0.0, (min(due) - now) * 1000 + 1) if due else None

    def _tick_end(self, now: float, due: list[float]) -> None:
        """From the agent's exit to its EXIT: drain, kill what is left, take the last bytes."""
        if self._phase == EXITED:
            if self._stdout >= 0 and now < self._phase_at:
                due.append(self._phase_at)
                return
            self._signal_group(signal.SIGKILL)
            self._phase, self._phase_at, self._scan_at = SWEEPING, now + SWEEP_S, now
        if self._phase == SWEEPING:
            if now < self._phase_at and not self._swept(now):
                due.append(self._scan_at)
                return
            self._phase, self._phase_at = EMPTYING, now
        if self._phase == EMPTYING and (self._stdout < 0 or not unread_in(self._stdout)):
            self._settle(now)

    def _tick_stop(self, now: float, due: list[float]) -> None:
        """An agent nobody wants: end of input, then TERM, then KILL. Once begun, it is done."""
        if self._phase == ALIVE and self._stop_step:
            if now >= self._stop_at:
                self._signal_group(signal.SIGTERM if self._stop_step == 1 else signal.SIGKILL)
                self._stop_step += 1
                self._stop_at = now + self._grace_s
            due.append(self._stop_at)
        elif self._gateway is None and self._generation >= 0:
            if self._phase == ALIVE:
                quiet = max(self._heard_at, self._left_at) + self._orphan_s
                if now >= quiet:
                    self._stop(now)
                due.append(self._stop_at if self._stop_step else quiet)
            elif self._phase >= EMPTYING:
                alone = max(self._phase_at, self._left_at) + self._orphan_s
                self._done = self._done or now >= alone
                due.append(alone)

    def _stop(self, now: float) -> None:
        if not self._stop_step:
            self._input.close()
            self._stop_step, self._stop_at = 1, now + self._grace_s

    # -- the agent

    def _on_signal(self, _events: int) -> None:
        try:
            seen = os.read(self._wake, 512)
        except BlockingIOError:
            return
        if signal.SIGTERM in seen and self._phase == ALIVE:
            self._stop(time.monotonic())
        if self._phase == ALIVE:
            self._reap_strays()
        elif self._phase >= EMPTYING:
            self._swept(time.monotonic())

    def _reap_strays(self) -> None:
        """Reap what came back to us; the agent itself stays a zombie, so its pid stays its own."""
        for _ in range(4096):
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if seen is None:
                return
            if seen.si_pid == self.agent:
                exited = seen.si_code == os.CLD_EXITED
                self._status = seen.si_status if exited else -seen.si_status
                self._phase, self._phase_at = EXITED, time.monotonic() + self._drain_s
                return
            os.waitpid(seen.si_pid, 0)

    def _swept(self, now: float) -> bool:
        """Reap, look, kill; true when no child is left, and so, as subreaper, no descendant."""
        try:
            while True:
                pid, _status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                self._reaped = self._reaped or pid == self.agent
        except ChildProcessError:
            return True
        if now >= self._scan_at:
            for one in descendants(os.getpid()):
                if not one.dead:
                    kill_exactly(one)
            self._scan_at = now + 0.02
        return False

    def _settle(self, now: float) -> None:
        """The agent is over: freeze the evidence and say so."""
        if self._stderr >= 0 and unread_in(self._stderr):
            self._on_stderr(select.POLLIN)  # one read takes all that the pipe holds
        self._close_stderr()
        self._close_stdout()
        self._exit = {
            "status": self._status,
            "unread_bytes": self._input.unread,
            "read_upto": self._input.read_upto(),
            "out_to": self._output.end,
        }
        self._input.close()
        self._phase, self._phase_at = OVER, now
        if self._gateway is not None:
            self._gateway.exit_due = True
            self._flush(self._gateway)

    def _signal_group(self, signum: int) -> None:
        if self._reaped:
            return
        try:
            os.killpg(self.agent, signum)
        except ProcessLookupError:  # it left its group; its pid is ours until it is reaped
            try:
                os.kill(self.agent, signum)
            except OSError:
                pass
        except OSError:
            pass

    def _kill_all(self) -> None:
        self._signal_group(signal.SIGKILL)
        deadline = time.monotonic() + SWEEP_S
        while not self._swept(time.monotonic()) and time.monotonic() < deadline:
            time.sleep(0.002)

    def _on_stdout(self, _events: int) -> None:
        try:
            count = self._output.fill(self._stdout)
        except BlockingIOError:
            return
        except OSError as error:  # for example ECONNRESET: all that was sent before has been read
            reason = error.strerror or "unknown error"
            self._tail.add(f"keeper: failed to read the agent's output: {reason}\n".encode())
            count = 0
        if not count:
            return self._close_stdout()
        self._heard_at = time.monotonic()
        if self._gateway is not None:
            self._flush(self._gateway)

    def _close_stdout(self) -> None:
        if self._stdout >= 0:
            self._unwatch(self._stdout)
            os.close(self._stdout)
            self._stdout = -1

    def _on_stderr(self, _events: int) -> None:
        try:
            data = os.read(self._stderr, STDERR_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._tail.add(data)
            self._heard_at = time.monotonic()
        else:
            self._close_stderr()

    def _close_stderr(self) -> None:
        if self._stderr >= 0:
            self._unwatch(self._stderr)
            os.close(self._stderr)
            self._stderr = -1

    def _on_stdin(self, _events: int) -> None:
        self._input.push()
        if not self._input.blocked and self._gateway is not None:
            self._gateway.wrote_due = True
            self._flush(self._gateway)

    # -- peers

    def _on_knock(self, _events: int) -> None:
        try:
            sock, _ = self._door.sock.accept()
        except OSError:  # no descriptor left, or it hung up: try at the next knock
            return
        sock.setblocking(False)
        peer = Peer(sock, time.monotonic() + WAITING_S)
        self._waiting.append(peer)
        pid, uid, _gid = struct.unpack(
            "3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        )
        if uid != os.getuid():
            return self._refuse(peer, ProtocolError("not_allowed", "another user"))
        above = lineage(pid)
        if above is None or is_from_agent(above):
            return self._refuse(peer, ProtocolError("not_allowed", "started by an agent"))
        self._watch(sock.fileno(), select.POLLIN, lambda events: self._on_peer(peer, events))

    def _on_peer(self, peer: Peer, events: int) -> None:
        if events & ~select.POLLOUT:
            self._receive(peer)
        if events & select.POLLOUT and not peer.gone:
            self._flush(peer)

    def _receive(self, peer: Peer) -> None:
        try:
            data = peer.sock.recv(OUT_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self._drop(peer)
        peer.received += data
        try:
            while not peer.gone and (whole := peer.next_frame()) is not None:
                self._handle(peer, *whole)
            peer.forget_parsed()
        except ProtocolError as error:
            return self._refuse(peer, error)
        if peer is self._gateway:
            self._flush(peer)

    def _handle(self, peer: Peer, kind: int, number: int, body: memoryview) -> None:
        if kind == HELLO:
            self._greet(peer, bytes(body))
        elif kind in (INPUT, EOF, SIGNAL):
            self._take(kind, number, body)
            peer.wrote_due = True
        elif kind == ACK:
            if number > peer.sent:
                raise ProtocolError("bad_ack", f"{number} was not sent yet")
            self._output.release(number)
        elif kind == KEEP:
            self._kept = bytes(body).decode("utf-8", "replace")
        else:
            self._done = True

    def _greet(self, peer: Peer, body: bytes) -> None:
        generation, after = self._check_hello(body)
        if peer.greeted:
            raise ProtocolError("bad_frame", "a second HELLO")
        if generation < self._generation:
            raise ProtocolError("stale_generation", f"generation {self._generation} was here")
        # From here on nothing an older gateway sent can be taken any more: what WELCOME calls
        # not taken stays not taken.
        if self._gateway is not None:
            self._drop(self._gateway)
        self._generation = generation
        kept = {"out_from": self._output.start, "out_to": self._output.end}
        if after < self._output.start:
            raise ProtocolError("output_gone", f"output before {kept['out_from']} is gone", **kept)
        if after > self._output.end:
            raise ProtocolError("output_ahead", f"there are {kept['out_to']} bytes", **kept)
        self._waiting.remove(peer)
        self._gateway, peer.greeted = peer, True
        peer.sent = peer.frame_end = after
        peer.err_sent = self._tail.start
        peer.exit_due = self._exit is not None
        welcome = {
            "proto": PROTO,
            "incarnation": self._incarnation,
            "took": self._input.took,
            "wrote": self._input.wrote,
            **kept,
            "agent_pid": self.agent,
            "agent_start": self._agent_start,
            "boot": boot_id(),
            "exit": self._exit,
            "kept": self._kept,
            "agent_io": self._agent_io,
        }
        peer.rest = memoryview(frame(WELCOME, 0, json.dumps(welcome).encode()))

    def _check_hello(self, body: bytes) -> tuple[int, int]:
        try:
            hello = json.loads(body)
            proto, generation, after = (int(hello[x]) for x in ("proto", "generation", "after"))
            secret = str(hello["secret"]).encode()
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise ProtocolError("bad_hello", "this is no HELLO") from None
        if not _compare_digest(secret, self._secret):
            raise ProtocolError("not_allowed", "wrong secret")
        if proto != PROTO:
            raise ProtocolError("proto", f"this keeper speaks protocol {PROTO}")
        if generation < 0 or after < 0:
            raise ProtocolError("bad_hello", "negative numbers")
        return generation, after

    def _take(self, kind: int, number: int, body: memoryview) -> None:
        if 0 < number <= self._input.took or self._phase == OVER:
            return  # a repeat, or too late: WROTE or EXIT says what became of it
        if number > self._input.took + 1:
            raise ProtocolError("gap", f"{number} came after {self._input.took}")
        if kind == SIGNAL:
            signum = bytes(body).decode("ascii", "replace")
            if not signum.isdecimal() or not 0 < int(signum) <= 64:
                raise ProtocolError("bad_signal", f"no signal {signum!r}")
            self._signal_group(int(signum))
            if number:
                self._input.take_done(number)
        elif kind == EOF:
            if not number:
                raise ProtocolError("bad_frame", "EOF without a number")
            self._input.take_eof(number)
        elif number and self._input.busy:
            raise ProtocolError("busy", f"{number} came before the line in flight was written")
        elif not number and (len(body) > BODY_BYTES or self._input.uncounted >= UNCOUNTED):
            raise ProtocolError("busy", "too many lines without a number, or too long a one")
        else:
            self._input.take_line(number, body)

    def _refuse(self, peer: Peer, error: ProtocolError) -> None:
        if not peer.rest and peer.sent >= peer.frame_end:  # never into the middle of a frame
            try:
                peer.sock.send(refusal(error))
            except OSError:
                pass
        self._drop(peer)

    def _drop(self, peer: Peer) -> None:
        """Close a connection unread, whatever it still holds."""
        if peer.gone:
            return
        peer.gone = True
        self._unwatch(peer.sock.fileno())
        peer.sock.close()
        peer.received = bytearray()
        if peer in self._waiting:
            self._waiting.remove(peer)
        if peer is self._gateway:
            self._gateway = None
            self._left_at = time.monotonic()
            self._input.forget_uncounted()

    # -- sending

    def _flush(self, peer: Peer) -> None:
        """Send what the socket takes; the socket's own buffer is the only queue."""
        blocked = False
        try:
            for _ in range(16):  # then others get their turn
                if not self._send_some(peer):
                    break
            else:
                blocked = True
        except BlockingIOError:
            blocked = True
        except OSError:
            return self._drop(peer)
        mask = select.POLLIN | (select.POLLOUT if blocked else 0)
        self._watch(peer.sock.fileno(), mask, lambda events: self._on_peer(peer, events))

    def _send_some(self, peer: Peer) -> bool:
        """Make one send; false when there is nothing to say."""
        if peer.rest:
            peer.rest = peer.rest[peer.sock.send(peer.rest) :]
        elif peer.sent < peer.frame_end:
            piece = self._output.piece(peer.sent, peer.frame_end - peer.sent)
            peer.sent += peer.sock.send(piece)
        elif (control := self._control_frame(peer)) is not None:
            peer.rest = memoryview(control)
        elif peer.sent < self._output.end:
            self._send_out(peer)
        elif peer.exit_due:
            peer.exit_due = False
            peer.rest = memoryview(frame(EXIT, 0, json.dumps(self._exit).encode()))
        else:
            return False
        return True

    def _send_out(self, peer: Peer) -> None:
        start = peer.sent
        piece = self._output.piece(start, OUT_BYTES)
        head = FRAME.pack(OUT, start, len(piece))
        count = peer.sock.sendmsg((head, piece))
        peer.frame_end = start + len(piece)
        peer.sent = start + max(0, count - len(head))
        peer.rest = memoryview(head[count:])

    def _control_frame(self, peer: Peer) -> bytes | None:
        if peer.wrote_due:
            peer.wrote_due = False
            return frame(WROTE, self._input.wrote)
        if peer.err_sent < self._tail.end:
            now = time.monotonic()
            if now >= peer.err_at or self._exit is not None:
                start = max(peer.err_sent, self._tail.start)
                peer.err_sent, peer.err_at = self._tail.end, now + STDERR_PAUSE_S
                return frame(ERR, start, self._tail.since(start))
        return None


# ---- start --------------------------------------------------------------------------------------


class Door:
    """The socket a gateway knocks at. Removes only what it made."""

    def __init__(self, path: str) -> None:
        folder, name = os.path.split(os.path.abspath(path))
        self._name = name
        try:
            self.directory = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise StartError(f"{folder}: {error.strerror}") from None
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.setblocking(False)
        mask = os.umask(0o177)
        try:
            self.sock.bind(short_path(path, self.directory, name))
        except OSError as error:
            raise StartError(f"{path}: {error.strerror or error}") from None
        finally:
            os.umask(mask)
        self._made = self._identity()
        self.sock.listen(128)

    def _identity(self) -> tuple[int, int]:
        found = os.stat(self._name, dir_fd=self.directory, follow_symlinks=False)
        return found.st_dev, found.st_ino

    def remove(self) -> None:
        try:
            if self._identity() == self._made:
                os.unlink(self._name, dir_fd=self.directory)
        except OSError:
            pass
        self.sock.close()


def short_path(path: str, directory: int, name: str) -> str:
    """Return a name of a socket that fits an address: through the open folder if need be."""
    if len(os.fsencode(path)) <= PATH_BYTES:
        return path
    return f"/proc/self/fd/{directory}/{name}"


def read_spec() -> dict[str, Any]:
    document = bytearray()
    while piece := os.read(0, 2**16):
        document += piece
        if len(document) > SPEC_BYTES:
            raise StartError(f"a spec of more than {SPEC_BYTES} bytes")
    try:
        spec = json.loads(document)
        argv, env = spec["argv"], spec["env"]
        words = [spec["cwd"], spec["incarnation"], spec["secret"], spec["socket"]]
        words += [*argv, *env, *env.values()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StartError(f"bad spec: {error}") from None
    if not argv or not spec["secret"] or not all(isinstance(word, str) for word in words):
        raise StartError("bad spec: empty, or not text")
    return dict(spec)


def settle_in() -> None:
    """Leave the gateway's terminal, files, folder and core dumps behind."""
    global keeper_umask
    os.setsid()
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:  # the listing's own
                pass
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl(PR_SET_DUMPABLE, 0)  # the secret is not for the agent's debugger
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    keeper_umask = os.umask(0o077)


def main() -> int:
    door: Door | None = None
    try:
        settle_in()
        spec = read_spec()
        door = Door(spec["socket"])
        os.chdir("/")
        keeper = Keeper(spec, door)
    except (StartError, OSError, ValueError, TypeError) as error:
        if door is not None:
            door.remove()
        say(f"failed {' '.join(str(error).split())}\n")
        return 1
    del spec  # the agent's environment need not stay in our memory
    give_back_memory()
    say(f"ready {keeper.agent}\n")
    nothing = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    keeper.run()
    return 0


def give_back_memory() -> None:
    """Return what compiling this file took: a fifth of the whole process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)


def say(line: str) -> None:
    try:
        os.write(1, line.encode(errors="replace"))
    except OSError:  # the gateway died: no HELLO will come, and that ends us
        pass


if __name__ == "__main__":
    sys.exit(main())
