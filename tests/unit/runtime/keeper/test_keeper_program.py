"""The keeper as a process: what it takes, keeps, refuses, kills and leaves behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.runtime.keeper import keeper_program as program
from flybridge.runtime.keeper.keeper_program import ACK, END, EOF, FRAME, INPUT, SIGNAL, Output
from flybridge.runtime.keeper.process import start_time
from tests.harness.keeper_bench import SECRET, Bench, Peer, py, sh, stop
from tests.harness.processes import is_gone
from tests.harness.waiting import wait_until

CAT = ["/bin/cat"]
DEAF = sh("echo deaf; exec sleep 1000")  # never reads its input


def noise(size: int) -> bytes:
    """Bytes in which every offset can be told from its neighbours."""
    return b"".join(b"%08d" % n for n in range(size // 8))


NOISE = (
    "import os\n"
    "for n in range({count}):\n"
    "  os.write(1, b''.join(b'%08d' % (n * 512 + i) for i in range(512)))\n"
)
PATIENT = py(  # reads nothing until SIGUSR2, says so when it is nudged
    "import os, signal, socket\n"
    "stdin = socket.socket(fileno=0)\n"
    "def save(data):\n"
    "  with open('reading', 'wb') as file: file.write(data)\n"
    "  os.rename('reading', 'read')\n"
    "def drain(*_):\n"
    "  data = b''\n"
    "  try:\n"
    "    while piece := stdin.recv(2**16, socket.MSG_DONTWAIT): data += piece\n"
    "  except BlockingIOError: pass\n"
    "  save(data)\n"
    "def read_all(*_):\n"
    "  data = b''\n"
    "  while piece := stdin.recv(2**16): data += piece\n"
    "  save(data)\n"
    "signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b'nudged'))\n"
    "signal.signal(signal.SIGUSR2, read_all)\n"
    "signal.signal(signal.SIGHUP, drain)\n"
    "os.write(1, b'armed ')\n"
    "while True: signal.pause()\n"
)


def buffered_bytes() -> int:
    """Return how much of one long line an agent's stdin takes while nobody reads it."""
    receiving, sending = program.one_way_sockets(program.STDIN_BUFFER_BYTES)
    os.set_blocking(sending, False)
    count = os.write(sending, b"x" * 2**20)
    os.close(receiving)
    os.close(sending)
    return count


def readable(pid: int, name: str) -> bytes:
    """Return what this user can read there: only root can read a keeper's environment."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except PermissionError:
        return b""


def process_state(pid: int) -> str:
    found = program.process(pid)
    return found.state if found else ""


def read_by_patient(bench: Bench, agent: int, signum: int = signal.SIGUSR2) -> bytes:
    """Have PATIENT read its input, to the end (SIGUSR2) or what there is (SIGHUP)."""
    os.kill(agent, signum)
    read = bench.folder / "read"
    wait_until(read.exists, "the agent has read its input")
    data = read.read_bytes()
    read.unlink()
    return data


# ---- starting -----------------------------------------------------------------------------------


def test_an_agent_starts_clean(bench: Bench) -> None:
    agent = py(
        "import os, resource, signal\n"
        "print(*os.environ)\n"
        "print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))\n"
        "print([s for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN"
        " and s not in (signal.SIGPIPE, signal.SIGXFSZ)])\n"  # Python's own doing
        "print(resource.getrlimit(resource.RLIMIT_CORE), os.getpgrp() == os.getpid())\n"
        "print(os.getcwd(), os.getsid(0) == os.getppid(), flush=True)\n"
    )
    kept = bench.start(agent)
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    environ, files, ignored, core, place = peer.output.decode().splitlines()
    assert set(environ.split()) - {"LC_CTYPE"} == {"FLYBRIDGE_INCARNATION", "PATH"}
    assert files == "['0', '1', '2'] 4"
    assert ignored == "[]"
    assert core == "(0, 0) True"
    assert place == f"{bench.folder} True"


def test_the_keeper_says_who_its_agent_is(bench: Bench) -> None:
    kept = bench.start(CAT)
    welcome = bench.meet(kept).welcome
    assert welcome == {
        "proto": 1,
        "incarnation": kept.incarnation,
        "took": 0,
        "wrote": 0,
        "out_from": 0,
        "out_to": 0,
        "agent_pid": kept.agent,
        "agent_start": start_time(kept.agent),
        "boot": program.boot_id(),
        "exit": None,
        "kept": "",
        "agent_io": "sockets",
    }


def test_a_keeper_that_holds_an_agent_is_small(bench: Bench) -> None:
    kept = bench.start(CAT)
    bench.meet(kept)
    assert kept.rss_kib <= 15 * 1024


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"argv": ["/no/such/agent"]}, "/no/such/agent: No such file"),
        ({"argv": ["no-such-agent"]}, "no-such-agent: No such file"),
        ({"cwd": "/no/such/folder"}, "/no/such/folder: No such file"),
        ({"socket": "/no/such/folder/k.sock"}, "/no/such/folder: No such file"),
        ({"argv": []}, "bad spec"),
        ({"env": {"A": 1}}, "bad spec"),
        ({"secret": ""}, "bad spec"),
        ({"orphan_s": "long"}, "could not convert"),
    ],
)
def test_a_start_that_fails_says_why_and_leaves_nothing(
    bench: Bench, changed: dict[str, object], reason: str
) -> None:
    kept = bench.start(**{"argv": CAT, **changed})  # type: ignore[arg-type]
    assert kept.answer.startswith("failed ")
    assert reason in kept.answer
    assert kept.process.wait() == 1
    assert list(bench.folder.iterdir()) == []


def test_a_socket_that_is_there_already_is_not_taken_over(bench: Bench) -> None:
    first = bench.start(CAT)
    second = bench.start(CAT, socket=first.socket)
    assert "Address already in use" in second.answer
    assert bench.meet(first).welcome["incarnation"] == first.incarnation


def test_the_socket_is_private_and_a_long_path_is_no_obstacle(bench: Bench) -> None:
    folder = bench.folder / ("d" * 100)
    folder.mkdir()
    path = folder / "k.sock"
    kept = bench.start(CAT, socket=str(path))
    assert path.stat().st_mode & 0o777 == 0o600
    peer = bench.meet(kept)
    peer.send(END)
    peer.until_over()
    assert list(folder.iterdir()) == []


def test_the_secret_is_nowhere_but_in_memory(bench: Bench) -> None:
    kept = bench.start(CAT)
    for pid in (kept.pid, kept.agent):
        for name in ("cmdline", "environ"):
            assert SECRET.encode() not in readable(pid, name)
    assert [one.name for one in bench.folder.iterdir()] == [Path(kept.socket).name]


def test_what_is_given_to_keep_is_told_to_the_next_gateway_and_to_no_file(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    assert peer.welcome["kept"] == ""
    peer.send(program.KEEP, 0, b"first")
    peer.send(program.KEEP, 0, "the canary \u00e9".encode())
    peer.line(1, b"x\n")
    peer.until(lambda: peer.output == b"x\n")
    assert bench.meet(kept, generation=2, after=2).welcome["kept"] == "the canary \u00e9"
    for pid in (kept.pid, kept.agent):
        for name in ("cmdline", "environ"):
            assert b"canary" not in readable(pid, name)
    assert [one.name for one in bench.folder.iterdir()] == [Path(kept.socket).name]


def test_the_terminal_signals_of_a_gateway_do_not_reach_the_keeper(bench: Bench) -> None:
    kept = bench.start(CAT)
    assert os.getsid(kept.pid) == kept.pid
    for signum in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        os.kill(kept.pid, signum)
    assert bench.meet(kept).welcome["exit"] is None


# ---- who may come in ----------------------------------------------------------------------------


def test_a_stranger_is_refused_and_the_gateway_stays(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    assert bench.refused(kept, generation=9, secret="guess") == "not_allowed"
    assert bench.refused(kept, generation=9, secret="é\ud800") == "bad_hello"
    assert bench.refused(kept, generation="many") == "bad_hello"
    assert bench.refused(kept, generation=9, proto=2) == "proto"
    peer.line(1, b"still here\n")
    peer.until(lambda: peer.output == b"still here\n")


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (program.frame(INPUT, 1, b"x\n"), "hello_first"),
        (FRAME.pack(INPUT, 1, 2**27), "hello_first"),
        (program.frame(END), "hello_first"),
        (program.frame(program.KEEP, 0, b"x"), "hello_first"),
        (FRAME.pack(program.HELLO, 0, 2**17), "bad_frame"),
        (program.frame(program.HELLO, 0, b"[" * 60_000), "bad_hello"),
        (program.frame(program.HELLO, 0, b"\xff"), "bad_hello"),
    ],
)
def test_nothing_runs_before_hello(bench: Bench, frame: bytes, code: str) -> None:
    kept = bench.start(CAT)
    peer = bench.knock(kept)
    peer.sock.sendall(frame)
    peer.until_over()
    assert peer.refused["code"] == code
    assert bench.meet(kept).welcome["took"] == 0


def test_silent_peers_wait_outside_and_the_gateway_gets_in_after_them(bench: Bench) -> None:
    kept = bench.start(CAT)
    silent = [bench.knock(kept) for _ in range(program.WAITING_PEERS + 3)]
    peer = bench.knock(kept)
    peer.hello()
    for one in silent:
        one.close()
    peer.until(lambda: peer.welcome)


def test_a_child_of_the_agent_is_refused_even_with_the_secret(bench: Bench) -> None:
    name = bench.folder / "own.sock"
    hello = {"proto": 1, "generation": 5, "secret": SECRET, "after": 0}
    agent = py(
        "import os, socket, sys, struct\n"
        "os.fork() or os.setsid()\n"  # both of them: a plain child, and one that left
        "s = socket.socket(socket.AF_UNIX)\n"
        f"s.connect({str(name)!r})\n"
        f"try: s.sendall({program.frame(program.HELLO, 0, json.dumps(hello).encode())!r})\n"
        "except OSError: pass\n"
        "os.write(1, s.recv(999)[13:] + b'\\n')\n"
        "sys.stdin.read()\n"
    )
    kept = bench.start(agent, socket=str(name))
    peer = bench.meet(kept)
    peer.until(lambda: peer.output.count(b"\n") == 2)
    for answer in peer.output.splitlines():
        assert json.loads(answer)["code"] == "not_allowed"


# ---- numbers ------------------------------------------------------------------------------------


def test_a_line_is_written_once_and_reported(bench: Bench) -> None:
    peer = bench.meet(bench.start(CAT))
    peer.line(1, b"one\n")
    peer.until(lambda: peer.wrote == 1 and peer.output == b"one\n")


def test_a_number_that_was_taken_is_dropped_and_answered(bench: Bench) -> None:
    peer = bench.meet(bench.start(CAT))
    peer.line(1, b"one\n")
    peer.until(lambda: peer.wrote == 1)
    peer.wrote = -1
    peer.line(1, b"again\n")
    peer.until(lambda: peer.wrote == 1)
    peer.line(2, b"two\n")
    peer.until(lambda: peer.output == b"one\ntwo\n")


def test_a_gap_in_the_numbers_is_refused(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    peer.line(2, b"too soon\n")
    peer.until_over()
    assert peer.refused["code"] == "gap"
    peer = bench.meet(kept)
    assert peer.welcome["took"] == 0
    peer.line(1, b"now\n")
    peer.until(lambda: peer.output == b"now\n")


@pytest.mark.parametrize("cut", [1, FRAME.size - 1, FRAME.size, FRAME.size + 3])
def test_half_a_frame_is_not_taken(bench: Bench, cut: int) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    peer.sock.sendall(program.frame(INPUT, 1, b"half\n")[:cut])
    peer.close()
    peer = bench.meet(kept)
    assert peer.welcome["took"] == 0
    peer.line(1, b"whole\n")
    peer.until(lambda: peer.output == b"whole\n")


def test_frames_may_come_byte_by_byte_or_all_at_once(bench: Bench) -> None:
    peer = bench.meet(bench.start(CAT))
    for byte in program.frame(INPUT, 1, b"slow\n"):
        peer.sock.sendall(bytes([byte]))
    peer.until(lambda: peer.wrote == 1)
    burst = b"".join(program.frame(INPUT, n, b"%d\n" % n) for n in range(2, 150))
    peer.sock.sendall(burst)
    peer.until(lambda: peer.output.endswith(b"\n149\n"))
    assert peer.output.splitlines()[1:] == [b"%d" % n for n in range(2, 150)]


def test_a_line_of_many_megabytes_goes_through(bench: Bench) -> None:
    peer = bench.meet(bench.start(CAT))
    line = noise(16 * 2**20) + b"\n"
    sender = threading.Thread(target=peer.line, args=(1, line))
    sender.start()
    peer.until(lambda: len(peer.output) == len(line))
    sender.join()
    assert peer.output == line


def test_a_second_line_in_flight_is_refused_and_the_first_stays(bench: Bench) -> None:
    kept = bench.start(DEAF)
    peer = bench.meet(kept)
    peer.line(1, b"x" * 2**20)
    peer.line(2, b"pushy\n")
    peer.until_over()
    assert peer.refused["code"] == "busy"
    welcome = bench.meet(kept).welcome
    assert (welcome["took"], welcome["wrote"]) == (1, 0)


def test_a_signal_passes_a_line_that_is_stuck(bench: Bench) -> None:
    peer = bench.meet(bench.start(DEAF))
    peer.until(lambda: peer.output == b"deaf\n")
    peer.line(1, b"x" * 2**20)
    peer.send(SIGNAL, 2, b"15")
    peer.until(lambda: peer.exit)
    assert peer.exit["status"] == -15
    assert peer.exit["read_upto"] == 0
    assert 0 < peer.exit["unread_bytes"] < 2**20
    assert peer.wrote == 0


def test_the_end_of_input_waits_for_the_line_in_flight(bench: Bench) -> None:
    kept = bench.start(PATIENT)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"armed ")
    line = b"x" * 2**20 + b"\n"
    peer.line(1, line)
    peer.send(EOF, 2)
    peer.until(lambda: peer.wrote == 0)
    assert read_by_patient(bench, kept.agent) == line
    peer.until(lambda: peer.wrote == 2)


@pytest.mark.parametrize("with_eof", [False, True])
def test_a_keeper_with_nothing_to_do_sleeps(bench: Bench, with_eof: bool) -> None:
    kept = bench.start(PATIENT)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"armed ")
    taken = buffered_bytes()
    peer.line(1, b"x" * taken + b"\n")  # one byte more than the socket takes
    peer.until(lambda: peer.wrote == 0)
    stop(kept.pid)  # the socket gets room while the keeper cannot see it
    assert len(read_by_patient(bench, kept.agent, signal.SIGHUP)) == taken
    peer.line(0, b"pushes the line in flight\n")
    if with_eof:
        peer.send(EOF, 2)
    os.kill(kept.pid, signal.SIGCONT)
    peer.until(lambda: peer.wrote == 1 + with_eof)

    def sleeps() -> bool:
        return all(process_state(kept.pid) == "S" for _ in range(50))

    wait_until(sleeps)


@pytest.mark.parametrize("body", [b"", b"0", b"65", b"-9", b"9x", "²".encode()])
def test_a_signal_that_does_not_exist_is_refused(bench: Bench, body: bytes) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    peer.send(SIGNAL, 1, body)
    peer.until_over()
    assert peer.refused["code"] == "bad_signal"
    assert bench.meet(kept).welcome["took"] == 0


def test_a_line_the_agent_refuses_to_receive_is_never_reported_written(bench: Bench) -> None:
    agent = py(
        "import os, signal, socket\n"
        "socket.socket(fileno=0).shutdown(socket.SHUT_RD)\n"
        "os.write(1, b'closed'); signal.pause()\n"
    )
    kept = bench.start(agent)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"closed")
    peer.line(1, b"lost\n")
    peer.until(lambda: peer.wrote == 0)
    peer.send(SIGNAL, 2, b"9")
    peer.until(lambda: peer.exit)
    assert peer.exit["read_upto"] == 0
    assert bench.meet(kept).welcome["wrote"] == 0


def test_number_zero_is_outside_the_numbering(bench: Bench) -> None:
    kept = bench.start(sh("trap 'echo usr1' USR1; while read x; do echo $x; done"))
    peer = bench.meet(kept)
    peer.line(0, b"urgent\n")
    peer.line(1, b"first\n")
    peer.until(lambda: peer.output == b"urgent\nfirst\n")
    peer.send(SIGNAL, 0, b"%d" % signal.SIGUSR1)
    peer.until(lambda: peer.output.endswith(b"usr1\n"))
    assert bench.meet(kept).welcome["took"] == 1


def test_an_uncounted_line_that_waits_is_forgotten_with_its_gateway(bench: Bench) -> None:
    kept = bench.start(PATIENT)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"armed ")
    peer.line(1, b"x" * 2**20 + b"\n")
    peer.line(0, b"stale\n")
    peer.send(SIGNAL, 2, b"%d" % signal.SIGUSR1)
    peer.until(lambda: peer.output == b"armed nudged")
    peer = bench.meet(kept)
    peer.line(0, b"fresh\n")
    peer.send(EOF, 3)
    peer.until(lambda: peer.wrote == 0)
    assert read_by_patient(bench, kept.agent)[2**20 + 1 :] == b"fresh\n"


# ---- generations --------------------------------------------------------------------------------


def test_a_newer_gateway_adopts_and_the_older_is_shut_out(bench: Bench) -> None:
    kept = bench.start(CAT)
    old = bench.meet(kept, generation=1)
    old.line(1, b"one\n")
    old.until(lambda: old.wrote == 1)
    new = bench.meet(kept, generation=2)
    assert (new.welcome["took"], new.welcome["wrote"]) == (1, 1)
    old.until_over()
    new.line(2, b"two\n")
    new.until(lambda: new.output == b"one\ntwo\n")


def test_an_older_gateway_is_refused_and_disturbs_nobody(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept, generation=5)
    assert bench.refused(kept, generation=4) == "stale_generation"
    peer.line(1, b"one\n")
    peer.until(lambda: peer.output == b"one\n")


def test_what_welcome_calls_not_taken_is_never_taken(bench: Bench) -> None:
    kept = bench.start(CAT)
    old = bench.meet(kept, generation=1)
    whole = program.frame(INPUT, 1, b"old" * 2**20 + b"\n")
    old.sock.sendall(whole[:-1])
    new = bench.meet(kept, generation=2)
    assert new.welcome["took"] == 0
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        old.sock.sendall(whole[-1:])  # the missing byte comes too late
    new.line(1, b"new\n")
    new.until(lambda: new.output == b"new\n")


def test_frames_and_hello_that_arrive_together_leave_one_truth(bench: Bench) -> None:
    kept = bench.start(CAT)
    old = bench.meet(kept, generation=1)
    stop(kept.pid)
    old.line(1, b"old\n")
    new = bench.knock(kept)
    new.hello(generation=2)
    os.kill(kept.pid, signal.SIGCONT)
    new.until(lambda: new.welcome)
    took = new.welcome["took"]
    new.line(took + 1, b"new\n")
    new.until(lambda: new.output.endswith(b"new\n"))
    assert new.output == (b"old\nnew\n" if took else b"new\n")


# ---- output -------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory_bytes", [4096, 2**20])
def test_kept_output_is_replayed_byte_exact_from_any_offset(
    bench: Bench, memory_bytes: int
) -> None:
    size = 3 * 2**20
    kept = bench.start(
        py(NOISE.format(count=size // 4096)), memory_bytes=memory_bytes, spill_bytes=2**23
    )
    whole = noise(size)
    for after in (0, 1, 4095, 4097, size // 2, size - 1, size):
        peer = bench.knock(kept)
        wait_until(lambda: is_gone(kept.agent))
        peer.hello(after=after)
        peer.until(lambda peer=peer: peer.exit)  # type: ignore[misc]
        assert peer.output == whole[after:]
        assert peer.exit["out_to"] == size
        peer.close()


def test_acknowledged_output_is_forgotten_and_never_skipped_in_silence(bench: Bench) -> None:
    kept = bench.start(py(NOISE.format(count=16) + "import signal; signal.pause()"))
    peer = bench.meet(kept)
    peer.until(lambda: len(peer.output) == 65536)
    peer.send(ACK, 1000)
    peer.close()
    refused = bench.knock(kept)
    refused.hello(after=999)
    refused.until_over()
    assert refused.refused["code"] == "output_gone"
    assert (refused.refused["out_from"], refused.refused["out_to"]) == (1000, 65536)
    assert bench.refused(kept, after=65537) == "output_ahead"
    peer = bench.meet(kept, after=1000)
    peer.until(lambda: peer.output == noise(65536)[1000:])
    peer.send(ACK, 65537)
    peer.until_over()
    assert peer.refused["code"] == "bad_ack"


def test_an_agent_waits_when_nobody_takes_its_output(bench: Bench) -> None:
    cap = 4096 + 65536
    kept = bench.start(py(NOISE.format(count=256)), memory_bytes=4096, spill_bytes=65536)

    def kept_bytes() -> int:
        peer = bench.meet(kept)
        peer.close()
        return int(peer.welcome["out_to"])

    wait_until(lambda: kept_bytes() == cap)
    assert not is_gone(kept.agent)
    peer = bench.meet(kept)
    while not peer.exit:
        peer.read()
        peer.send(ACK, len(peer.output))
    assert peer.output == noise(2**20)


def test_an_agent_that_ends_at_the_cap_loses_no_byte(bench: Bench) -> None:
    size = 4096 + 65536 + 32768  # the last part waits in the pipe when the agent is gone
    script = NOISE.format(count=size // 4096)
    kept = bench.start(py(script), memory_bytes=4096, spill_bytes=65536, drain_s=0.05)
    peer = bench.meet(kept)
    wait_until(lambda: start_time(kept.agent) is None)  # reaped: the drain deadline is past
    while not peer.exit:
        peer.read()
        peer.send(ACK, len(peer.output))
    assert peer.output == noise(size)
    assert peer.exit["out_to"] == size


def test_stderr_is_a_tail_that_never_makes_the_agent_wait(bench: Bench) -> None:
    flood = "import os\nfor _ in range(1024): os.write(2, b'e' * 4096)\nos.write(2, b'the end')\n"
    kept = bench.start(py(flood + "os.write(1, b'done')\nimport signal; signal.pause()"))
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"done" and peer.stderr.endswith(b"the end"))
    peer = bench.meet(kept, after=4)
    peer.until(lambda: peer.stderr.endswith(b"the end"))
    assert len(peer.stderr) == program.STDERR_BYTES


def test_without_pipes_everything_the_agent_says_is_stderr(bench: Bench) -> None:
    kept = bench.start(sh("cat; echo out; echo err >&2"), pipes="none")
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    assert peer.stderr == b"out\nerr\n"
    assert peer.exit == {"status": 0, "unread_bytes": 0, "read_upto": 0, "out_to": 0}


chunks = st.lists(
    st.one_of(
        st.integers(1, 9000).map(lambda n: ("write", n)),
        st.integers(0, 100).map(lambda n: ("ack", n)),
    ),
    max_size=60,
)


@given(steps=chunks)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_output_is_what_was_written_from_any_offset_kept(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        reader, writer = os.pipe()
        output = Output(4096, 20_000, directory)
        whole = b""
        for what, amount in steps:
            if what == "ack":
                output.release(output.start + (output.end - output.start) * amount // 100)
            else:
                os.write(writer, noise(amount))
                whole += noise(amount)
                left = len(noise(amount))
                while left and output.room:
                    left -= output.fill(reader)
                whole = whole[: len(whole) - left]
                while left:
                    left -= len(os.read(reader, left))
            assert output.end == len(whole)
            assert output.end - output.start <= 4096 + 20_000
            at, seen = output.start, b""
            while at < output.end:
                piece = bytes(output.piece(at, 7000))
                seen, at = seen + piece, at + len(piece)
            assert seen == whole[output.start :]
        for fd in (reader, writer, directory):
            os.close(fd)


# ---- the end of an agent ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reads", "read_upto", "unread"), [(0, 0, 3000), (1500, 1, 1500), (2000, 2, 1000), (3000, 4, 0)]
)
@pytest.mark.parametrize("with_eof", [False, True])
def test_exit_tells_how_much_was_read(
    bench: Bench, reads: int, read_upto: int, unread: int, with_eof: bool
) -> None:
    agent = py(
        f"import os, signal\nleft = {reads}\n"
        "while left: left -= len(os.read(0, left))\n"
        "os.write(1, b'read'); signal.pause()"
    )
    kept = bench.start(agent)
    peer = bench.meet(kept)
    for number in (1, 2, 3):
        peer.line(number, b"x" * 999 + b"\n")
    if with_eof:
        peer.send(EOF, 4)
    peer.until(lambda: peer.output == b"read" and peer.wrote == 3 + with_eof)
    peer.send(SIGNAL, 4 + with_eof, b"15")
    peer.until(lambda: peer.exit)
    expected = {
        "status": -15,
        "unread_bytes": unread,
        "read_upto": 4 + with_eof if reads == 3000 else read_upto,
        "out_to": 4,
    }
    assert peer.exit == expected
    assert bench.meet(kept).welcome["exit"] == expected


def test_exit_comes_after_all_output_and_again_until_end(bench: Bench) -> None:
    kept = bench.start(sh("echo last words; exit 3"))
    for after in (0, 5):
        peer = bench.meet(kept, after=after)
        peer.until(lambda peer=peer: peer.exit)  # type: ignore[misc]
        assert peer.output == b"last words\n"[after:]
        assert peer.exit["status"] == 3
        peer.close()


def test_input_after_the_end_is_not_taken(bench: Bench) -> None:
    kept = bench.start(["/bin/true"])
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    peer.line(1, b"late\n")
    peer.until(lambda: peer.wrote == 0)
    assert bench.meet(kept).welcome["took"] == 0


def test_a_grandchild_that_holds_stdout_is_cut_off_at_the_drain_deadline(bench: Bench) -> None:
    kept = bench.start(sh("sleep 1000 & echo $!; exit 7"), drain_s=0.1)
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    assert peer.exit["status"] == 7
    assert is_gone(int(peer.output))


def test_a_child_that_forked_away_twice_is_killed_with_its_agent(bench: Bench) -> None:
    agent = py(
        "import os, signal, sys\n"
        "if os.fork() == 0:\n"
        "  os.setsid()\n"
        "  if os.fork(): os._exit(0)\n"
        "  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "  os.write(1, b'%d\\n' % os.getpid()); os.close(0); os.close(1); os.close(2)\n"
        "  while True: signal.pause()\n"
        "os.wait(); sys.stdin.read()\n"
    )
    kept = bench.start(agent)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output.endswith(b"\n"))
    stray = int(peer.output)
    assert not is_gone(stray)
    assert Path(f"/proc/{stray}/stat").read_text().rpartition(")")[2].split()[1] == str(kept.pid)
    peer.send(EOF, 1)
    peer.until(lambda: peer.exit)
    assert start_time(stray) is None  # not even a zombie


def test_end_kills_everything_and_leaves_no_file_and_no_zombie(bench: Bench) -> None:
    kept = bench.start(sh("trap '' TERM; setsid sleep 1000 & echo $!; wait"), memory_bytes=4096)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output.endswith(b"\n"))
    peer.send(END)
    peer.until_over()
    assert kept.process.wait() == 0
    assert list(bench.folder.iterdir()) == []
    for pid in (kept.agent, int(peer.output)):
        assert start_time(pid) is None


def test_an_agent_that_ignores_everything_is_killed_by_the_stop(bench: Bench) -> None:
    agent = sh("trap '' TERM; echo armed; while :; do sleep 0.02; done")
    kept = bench.start(agent, grace_s=0.05)
    peer = bench.meet(kept)
    peer.until(lambda: peer.output == b"armed\n")
    os.kill(kept.pid, signal.SIGTERM)
    peer.until(lambda: peer.exit)
    assert peer.exit["status"] == -9


def test_a_stop_is_polite_first(bench: Bench) -> None:
    kept = bench.start(sh("cat; echo bye"))
    peer = bench.meet(kept)
    os.kill(kept.pid, signal.SIGTERM)
    peer.until(lambda: peer.exit)
    assert (peer.exit["status"], peer.output) == (0, b"bye\n")


def test_when_the_keeper_is_killed_its_agent_dies(bench: Bench) -> None:
    kept = bench.start(sh("trap '' TERM HUP; while :; do sleep 0.02; done"))
    kept.process.kill()
    wait_until(lambda: is_gone(kept.agent))


# ---- nobody there -------------------------------------------------------------------------------


def test_a_keeper_nobody_greets_ends_itself(bench: Bench) -> None:
    kept = bench.start(sh("trap '' TERM; while :; do sleep 0.02; done"), hello_s=0.1)
    assert kept.process.wait(timeout=20) == 0
    assert is_gone(kept.agent)
    assert list(bench.folder.iterdir()) == []


@pytest.mark.parametrize("agent", ["cat", "trap '' TERM; while :; do sleep 0.02; done"])
def test_an_agent_nobody_wants_is_stopped_and_then_the_keeper_goes(
    bench: Bench, agent: str
) -> None:
    kept = bench.start(sh(agent), orphan_s=0.2, grace_s=0.05)
    bench.meet(kept).close()
    assert kept.process.wait(timeout=20) == 0
    assert is_gone(kept.agent)
    assert list(bench.folder.iterdir()) == []


def test_an_agent_goes_on_working_without_a_gateway_while_it_has_something_to_say(
    bench: Bench,
) -> None:
    script = "for i in 1 2 3 4 5 6 7; do echo $i; sleep 0.2; done; sleep 1000"
    kept = bench.start(sh(script), orphan_s=1, grace_s=0.05)
    bench.meet(kept).close()
    wait_until(lambda: is_gone(kept.agent))
    peer = bench.meet(kept)
    peer.until(lambda: peer.exit)
    assert peer.output.split() == [b"%d" % n for n in range(1, 8)]


def test_a_keeper_removes_only_the_socket_it_made(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer = bench.meet(kept)
    Path(kept.socket).unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(kept.socket)
        peer.send(END)
        peer.until_over()
        assert kept.process.wait() == 0
        assert Path(kept.socket).exists()


def test_frames_nobody_knows_are_refused(bench: Bench) -> None:
    kept = bench.start(CAT)
    for frame in (FRAME.pack(99, 0, 0), FRAME.pack(INPUT, 1, 2**31), program.frame(EOF, 0)):
        peer = bench.meet(kept)
        peer.sock.sendall(frame)
        peer.until_over()
        assert peer.refused["code"] == "bad_frame"


def test_a_second_hello_on_one_connection_is_refused(bench: Bench) -> None:
    kept = bench.start(CAT)
    peer: Peer = bench.meet(kept)
    peer.hello(generation=2)
    peer.until_over()
    assert peer.refused["code"] == "bad_frame"
