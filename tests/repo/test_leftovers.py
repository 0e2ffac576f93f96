from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.harness import leftovers
from tests.harness.waiting import WAIT_S, wait_until

HERE = Path(__file__).parents[1]

pytestmark = pytest.mark.needs("linux")


def run_pytest(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """A whole run of its own, with our conftest, over one test module."""
    (folder / "test_inner.py").write_text(source)
    shutil.copy(HERE / "conftest.py", folder / "conftest.py")
    env = os.environ | {"PYTHONPATH": str(HERE.parent), "TMPDIR": "/tmp"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    return subprocess.run(
        [*command, "--rootdir", str(folder), str(folder)],
        env=env,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )


def wait_for_ends(pids: Iterable[int]) -> None:
    """Wait until these processes have ended: one that was killed may take a moment."""
    wait_until(lambda: all(leftovers._state(pid) in "ZX" for pid in pids), f"the end of {pids}")


def kept(output: str) -> Path:
    found = re.search(r"kept in (\S+)", output)
    assert found, output
    return Path(found[1])


def test_a_clean_run_says_so_and_leaves_no_folder(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import pathlib\n"
        "def test_x(tmp_path, short_tmp):\n"
        "    assert len(str(short_tmp)) < 40\n"
        f"    pathlib.Path({str(tmp_path)!r}, 'base').write_text(str(short_tmp.parent))\n",
    )
    assert done.returncode == 0, done.stdout
    assert "could not run: 0 tests\n" in done.stdout
    assert "kept in" not in done.stdout
    assert not Path((tmp_path / "base").read_text()).exists()


def test_what_could_not_run_is_counted_by_want(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import pytest, conftest\n"
        "conftest.NEEDS['moon'] = lambda: False\n"
        "@pytest.mark.needs('moon')\n"
        "def test_a(): ...\n"
        "@pytest.mark.needs('moon')\n"
        "def test_b(): ...\n"
        "def test_c(): pytest.skip('no mood')\n",
    )
    assert done.returncode == 0, done.stdout
    assert "could not run: 3 tests (moon: 2, other: 1)\n" in done.stdout


def test_an_unknown_need_is_a_failure_and_not_a_skip(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "import pytest\n@pytest.mark.needs('stracee')\ndef test_a(): ...\n")
    assert done.returncode == 1
    assert "needs('stracee')" in done.stdout


def test_processes_left_behind_are_named_killed_and_fail_the_run(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import socket, subprocess\n"
        "KEEP = []\n"
        "def start(*command, **more):\n"
        "    KEEP.append(subprocess.Popen([*command, 'sleep', '90'], **more))\n"
        "def test_mark(): start('setsid', '--fork')\n"
        "def test_folder(tmp_path): start(env={}, cwd=tmp_path)\n"
        "def test_home(tmp_path): start(env={'HOME': str(tmp_path)}, cwd='/')\n"
        "def test_argument(tmp_path):\n"
        "    start('sh', '-c', '\"$@\"; :', str(tmp_path), env={}, cwd='/')\n"
        "def test_file(tmp_path): start(env={}, cwd='/', stdout=open(tmp_path / 'f', 'w'))\n"
        "def test_socket(short_tmp):\n"
        "    with socket.socket(socket.AF_UNIX) as one:\n"
        "        one.bind(str(short_tmp / 'a.sock'))\n"
        "        start(env={}, cwd='/', stdin=one)\n",
    )
    assert done.returncode == 1, done.stdout
    found = re.findall(r"left over: process (\d+) (\w+)", done.stdout)
    assert sorted(why for _, why in found) == [
        *["carries", "holds", "holds", "holds", "lives", "named", "started"]
    ]
    wait_for_ends(int(pid) for pid, _ in found)
    shutil.rmtree(kept(done.stdout))


# A process that does not let other processes of its user look into it, as keepers do not. Only its
# arguments can be read. It listens on a socket if it is given one, and says when it is so far.
HIDDEN = """
import ctypes, os, socket, sys, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
os.chdir("/")
if sys.argv[1] == "listen":
    door = socket.socket(socket.AF_UNIX)
    door.bind(sys.stdin.readline().strip())
    door.listen()
print(os.getpid(), flush=True)
time.sleep(90)
"""


def start_hidden(*args: str, stdin: str = "") -> int:
    """Start a hidden process without our environment, and without us above it."""
    argv = ["setsid", "--fork", sys.executable, "-I", "-S", "-c", HIDDEN, *args]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env={}, stdin=pipe, stdout=pipe, text=True, cwd="/") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{stdin}\n")
        process.stdin.flush()
        return int(process.stdout.readline())


@pytest.mark.needs("ordinary-user")  # nothing is hidden from root
def test_a_process_that_cannot_be_looked_into_is_found_by_its_arguments_or_its_socket(
    short_tmp: Path,
) -> None:
    named = start_hidden("named", str(short_tmp / "x"))
    listens = start_hidden("listen", stdin=str(short_tmp / "a.sock"))
    elsewhere = start_hidden("neither")
    try:
        found = leftovers.find_processes("none", short_tmp, own=True)
        assert {one.pid: one.why for one in found} == {
            named: "named after the run's folder",
            listens: f"listens on {short_tmp / 'a.sock'}",
        }
    finally:
        for pid in (named, listens, elsewhere):
            leftovers.kill(pid)
    assert leftovers.wait_until_gone("none", short_tmp, WAIT_S, own=True) == []
    assert leftovers.find_sockets(short_tmp, WAIT_S) == []


def test_own_means_what_shows_that_it_belongs_and_its_descendants(tmp_path: Path) -> None:
    nested = ["sh", "-c", f"cd / && env -i sleep 90 & echo $!; : {tmp_path}; wait"]
    ours = subprocess.Popen(["sleep", "90"], cwd="/")
    theirs = subprocess.Popen(nested, stdout=subprocess.PIPE, text=True, cwd="/", env={})
    try:
        assert theirs.stdout is not None
        below = int(theirs.stdout.readline())
        found = {one.pid for one in leftovers.find_processes("none", tmp_path, own=True)}
        assert found == {theirs.pid, below}
        found = {one.pid for one in leftovers.find_processes("none", tmp_path)}
        assert found >= {ours.pid, theirs.pid, below}
    finally:
        leftovers.kill(below)
        for process in (ours, theirs):
            process.kill()
            process.communicate()


def test_a_socket_that_is_still_listened_on_fails_the_run(tmp_path: Path) -> None:
    done = run_pytest(
        tmp_path,
        "import socket\nKEEP = socket.socket(socket.AF_UNIX)\n"
        "def test_x(tmp_path):\n    KEEP.bind(str(tmp_path / 'a.sock'))\n    KEEP.listen()\n",
    )
    assert done.returncode == 1, done.stdout
    assert re.search(r"left over: socket /tmp/fb-\S+/a\.sock", done.stdout)
    shutil.rmtree(kept(done.stdout))


def test_a_test_sees_neither_the_users_home_nor_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path.home().parent.name.startswith("fb-")
    assert os.environ["XDG_STATE_HOME"].startswith(str(Path.home()))
    assert not [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE"))]
    ours = [name for name in os.environ if name.startswith("FLYBRIDGE_")]
    assert ours == [leftovers.MARK]
