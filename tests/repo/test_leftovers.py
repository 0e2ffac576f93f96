from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import leftovers

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
        timeout=50,
    )


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
        "    KEEP.append(subprocess.Popen([*command, 'sleep', '50'], **more))\n"
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
    assert {leftovers._state(int(pid)) for pid, _ in found} <= {"Z", "X"}
    shutil.rmtree(kept(done.stdout))


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
