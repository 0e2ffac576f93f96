"""An agent's stdin and stdout are sockets: nobody else opens them, and unread input is counted."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.runtime.keeper import keeper_program as program
from flybridge.runtime.keeper.keeper_program import EOF, SIGNAL
from tests.harness.keeper_bench import SECRET, Bench, Kept, Peer, py, sh

CAT = ["/bin/cat"]
DEAF = sh("echo deaf; exec sleep 1000")  # never reads its input

# The keeper's program with stdin and stdout swapped for plain socket pairs, open in both
# directions, with a byte that the agent never reads: closing such an end resets the other.
LOOSE_KEEPER = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
import keeper_program

def loose(buffer_bytes):
    receiving, sending = socket.socketpair()
    receiving.send(b"x")
    return receiving.detach(), sending.detach()

keeper_program.one_way_sockets = loose
sys.exit(keeper_program.main())
"""


def ended(peer: Peer) -> tuple[int, int]:
    """Return what EXIT reports as read, and how many bytes as unread."""
    peer.until(lambda: peer.exit)
    return peer.exit["read_upto"], peer.exit["unread_bytes"]


# ---- how much of its input an agent has read ----------------------------------------------------


def test_a01_an_agent_that_never_reads_and_dies_has_read_nothing(bench: Bench) -> None:
    peer = bench.meet(bench.start(DEAF))
    peer.until(lambda: peer.output == b"deaf\n")
    peer.line(1, b"never read\n")
    peer.until(lambda: peer.wrote == 1)
    peer.send(SIGNAL, 2, b"9")
    assert ended(peer) == (0, 11)


def test_a01_half_a_line_counts_as_unread(bench: Bench) -> None:
    agent = py("import os, signal\nos.write(1, os.read(0, 6)); signal.pause()")
    peer = bench.meet(bench.start(agent))
    peer.line(1, b"half a line\n")
    peer.until(lambda: peer.output == b"half a")
    peer.send(SIGNAL, 2, b"9")
    assert ended(peer) == (0, 6)


def test_a01_a_line_for_an_agent_that_closed_stdin_stays_unread(bench: Bench) -> None:
    kept = bench.start(sh("exec <&-; echo closed; exec sleep 1000"))
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"closed\n")
    for number in (1, 2):
        peer.line(number, b"lost\n")
        peer.until(lambda number=number: peer.wrote == number)  # type: ignore[misc]
    peer.send(SIGNAL, 3, b"9")
    assert ended(peer) == (0, 10)
    assert bench.meet(kept, after=7).welcome["exit"] == peer.exit


def test_a01_input_left_after_the_end_of_input_counts_as_unread(bench: Bench) -> None:
    agent = py(
        "import os, signal\n"
        "signal.signal(signal.SIGUSR1, lambda *_: os._exit(5))\n"
        "os.write(1, os.read(0, 6))\n"
        "while True: signal.pause()\n"
    )
    peer = bench.meet(bench.start(agent))
    peer.line(1, b"first\n")
    peer.until(lambda: peer.output == b"first\n")
    peer.line(2, b"second\n")
    peer.send(EOF, 3)
    peer.until(lambda: peer.wrote == 3)
    peer.send(SIGNAL, 4, b"%d" % signal.SIGUSR1)
    assert ended(peer) == (1, 7)
    assert peer.exit["status"] == 5


def test_a01_an_agent_may_make_its_stdin_and_stdout_non_blocking(bench: Bench) -> None:
    agent = py(
        "import os, select\n"
        "os.set_blocking(0, False); os.set_blocking(1, False)\n"
        "data = b''\n"
        "while len(data) < 300_000:\n"
        "  select.select([0], [], [])\n"
        "  data += os.read(0, 65536)\n"
        "while data:\n"
        "  select.select([], [1], [])\n"
        "  data = data[os.write(1, data):]\n"
    )
    peer = bench.meet(bench.start(agent))
    line = b"".join(b"%07d\n" % n for n in range(37_500))
    peer.line(1, line)
    assert ended(peer) == (1, 0)
    assert peer.output == line


def test_a01_the_keeper_leaves_the_agents_ends_in_blocking_mode(bench: Bench) -> None:
    agent = py(
        "import os\nos.write(1, b'%d %d ' % (os.get_blocking(0), os.get_blocking(1)))\n"
        "os.write(1, os.read(0, 5)); os.write(1, os.read(0, 5) or b'the end')\n"
    )
    peer = bench.meet(bench.start(agent))
    peer.until(lambda: peer.output == b"1 1 ")
    peer.line(1, b"line\n")
    peer.send(EOF, 2)
    assert ended(peer) == (2, 0)
    assert peer.output == b"1 1 line\nthe end"


# ---- nobody else speaks for the agent, or to it -------------------------------------------------


@pytest.mark.parametrize("fd", [0, 1])
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
def test_a01_another_process_cannot_open_stdin_or_stdout_through_proc(
    bench: Bench, fd: int, flags: int
) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    with pytest.raises(OSError, match="No such device or address"):
        os.open(f"/proc/{kept.agent}/fd/{fd}", flags | os.O_NONBLOCK)
    peer.line(1, b"still works\n")
    peer.until(lambda: peer.output == b"still works\n")


def test_a01_a_tool_of_the_agent_cannot_open_its_stdin_or_stdout(bench: Bench) -> None:
    tool = """
import os
for fd in (0, 1):
    try:
        os.write(os.open(f"/proc/{os.getppid()}/fd/{fd}", os.O_WRONLY), b"forged")
        print("forged")
    except OSError as error:
        print(error.errno)
"""
    agent = f"""
import os, subprocess, sys
done = subprocess.run([sys.executable, "-I", "-S", "-c", {tool!r}], capture_output=True)
os.write(1, done.stdout + done.stderr + b"done")
sys.stdin.read()
"""
    peer = bench.meet(bench.start(py(agent)))
    peer.until(lambda: peer.output.endswith(b"done"))
    assert peer.output.split() == [b"%d" % errno.ENXIO, b"%d" % errno.ENXIO, b"done"]


def test_a01_stdin_and_stdout_carry_bytes_in_one_direction_only(bench: Bench) -> None:
    agent = py(
        "import os, signal\n"
        "try: os.write(0, b'back'); result = b'written'\n"
        "except OSError as error: result = b'%d' % error.errno\n"
        "os.write(1, result + b' ' + (os.read(1, 9) or b'nothing'))\n"
    )
    peer = bench.meet(bench.start(agent))
    peer.until(lambda: peer.exit)
    assert peer.output == b"%d nothing" % errno.EPIPE


def test_a01_stderr_can_still_be_opened_by_its_name(bench: Bench) -> None:
    peer = bench.meet(bench.start(sh("echo noted > /dev/stderr; echo $?")))
    peer.until(lambda: peer.exit)
    assert (peer.output, peer.stderr) == (b"0\n", b"noted\n")


# ---- output -------------------------------------------------------------------------------------


def test_a01_many_short_writes_arrive_whole(bench: Bench) -> None:
    agent = py("import os\nfor n in range(20_000): os.write(1, b'%059d\\n' % n)")
    peer = bench.meet(bench.start(agent))
    peer.until(lambda: peer.exit)
    assert peer.output == b"".join(b"%059d\n" % n for n in range(20_000))


def test_a01_the_agents_end_of_stdout_has_the_largest_buffer_the_system_grants() -> None:
    receiving, sending = program.one_way_sockets(program.STDOUT_BUFFER_BYTES)
    os.close(receiving)
    with socket.socket(fileno=sending) as agents_end:
        granted = agents_end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    most = int(Path("/proc/sys/net/core/wmem_max").read_text())
    assert granted == 2 * min(most, program.STDOUT_BUFFER_BYTES)


def test_a01_an_error_while_reading_output_ends_the_output_and_not_the_keeper(
    bench: Bench,
) -> None:
    folder = Path(program.__file__).parent
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LOOSE_KEEPER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    name = bench.incarnation()
    kept = Kept(
        process,
        {
            "argv": sh("echo last words"),
            "env": {"PATH": os.environ["PATH"]},
            "cwd": str(bench.folder),
            "incarnation": name,
            "secret": SECRET,
            "socket": str(bench.folder / "loose.sock"),
        },
    )
    bench.add(kept)
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    assert peer.output == b"last words\n"
    assert b"failed to read the agent's output: Connection reset by peer" in peer.stderr
