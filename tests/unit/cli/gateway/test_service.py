from __future__ import annotations

import subprocess
import sys

from tests.harness.terminal_home import Home


def run(home: Home, *args: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "flybridge", *args]
    return subprocess.run(argv, capture_output=True, text=True, env=home.env, timeout=30)


def test_the_unit_lets_agents_live(home: Home) -> None:
    unit = run(home, "service", "show", "--state", str(home.state)).stdout
    assert "KillMode=process\n" in unit
    assert f"serve --state {home.state}\n" in unit


def test_c10_a_state_directory_that_cannot_exist_is_refused(home: Home) -> None:
    file = home.base / "file"
    file.touch()
    path = home.base / "config" / "systemd" / "user" / "flybridge.service"
    for bad in (file, file / "below", "/proc/nowhere/state"):
        done = run(home, "service", "install", "--state", str(bad))
        assert (done.returncode, "--state" in done.stderr) == (2, True), bad
        assert not path.exists()
    assert run(home, "service", "install", "--state", str(home.base / "a" / "b")).returncode == 0


def test_a_unit_is_written_and_removed(home: Home) -> None:
    path = home.base / "config" / "systemd" / "user" / "flybridge.service"
    assert f"wrote {path}" in run(home, "service", "install").stdout
    assert "[Service]" in path.read_text()
    assert f"removed {path}" in run(home, "service", "remove").stdout
    assert not path.exists()
    assert "there is no" in run(home, "service", "remove").stdout


def test_the_log_of_a_gateway_in_the_background_is_shown(home: Home) -> None:
    assert "no gateway has written" in home.run("logs").stdout
    home.sessions()
    home.run("gateway", "stop")
    shown = home.run("logs").stdout
    assert "ready: generation 1" in shown
    assert len(home.run("logs", "-n", "1").stdout.splitlines()) == 1
