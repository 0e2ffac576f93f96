from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from flybridge.probes import offline
from flybridge.probes.messages_api import MessagesApi
from flybridge.runtime.keeper.process import alive, start_time
from tests.harness.waiting import wait_until

SCRIPT = [sys.executable, "-I", "-S", str(offline.__file__)]
ASK = (
    "import sys, urllib.request as r;"
    "print(r.urlopen(f'http://127.0.0.1:{sys.argv[1]}/v1/models', timeout=10).status)"
)


def run(socket: str, port: int, *program: str) -> subprocess.CompletedProcess[bytes]:
    argv = [*SCRIPT, socket, str(port), *program]
    return subprocess.run(argv, capture_output=True, timeout=20)


def cut_off() -> bool:
    return subprocess.run([*SCRIPT, "--check"], timeout=20).returncode == 0


def test_the_port_leads_to_the_socket_outside(short_tmp: Path) -> None:
    socket = str(short_tmp / "api.sock")
    with MessagesApi(unix=socket) as api:
        done = run(socket, api.port, sys.executable, "-c", ASK, str(api.port))
        assert done.stdout == b"200\n", done.stderr
        assert len(api.requests) == 1


def test_the_program_keeps_its_pipes_arguments_and_exit_status() -> None:
    code = "import sys; print(sys.argv[1], sys.stdin.read()); sys.exit(7)"
    argv = [*SCRIPT, "/nowhere", "1", sys.executable, "-c", code, "a word"]
    done = subprocess.run(argv, input=b"said", capture_output=True, timeout=20)
    assert (done.returncode, done.stdout) == (7, b"a word said\n")


def test_there_is_no_network_where_the_check_says_so() -> None:
    show = "print(open('/proc/net/dev').read())"
    done = run("/nowhere", 1, sys.executable, "-c", show)
    names = [row.partition(":")[0].strip() for row in done.stdout.decode().splitlines()[2:]]
    if cut_off():
        assert [name for name in names if name] == ["lo"]
    else:
        assert done.returncode == 0


def test_the_program_dies_with_whoever_started_it() -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    inner = [*SCRIPT, "/nowhere", "1", sys.executable, "-c", code]
    starter = f"import subprocess; subprocess.Popen({inner!r}); input()"
    outer = subprocess.Popen(
        [sys.executable, "-c", starter], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with outer:
        assert outer.stdout is not None
        pid = int(outer.stdout.readline())
        start = start_time(pid) or ""
        outer.kill()
    wait_until(lambda: not alive(pid, start))
