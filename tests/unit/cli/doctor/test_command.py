"""``flybridge doctor`` as people run it: nothing is started, nothing changed, nothing hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness import small
from tests.harness.terminal_home import FAST, Home
from tests.harness.waiting import WAIT_S, wait_until


def configure(home: Home, text: str) -> Path:
    file = home.base / "config" / "flybridge" / "config.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def small_claude(home: Home, *faults: str) -> None:
    program = json.dumps(small.program(*faults))
    configure(home, f"agents:\n  claude:\n    program: {program}\n")


@pytest.fixture(autouse=True)
def _working_agent(home: Home) -> None:
    small_claude(home)


def checks(home: Home) -> dict[str, dict[str, Any]]:
    done = home.run("doctor", "--json")
    said = json.loads(done.stdout)
    found = {one["area"]: one for one in said["checks"]}
    problems = [one for one in found.values() if one["status"] == "problem"]
    assert said["problems"] == len(problems)
    assert done.returncode == (1 if problems else 0), done.stderr
    return found


def files(home: Home) -> list[Path]:
    return sorted(home.base.rglob("*"))


# ---- what is there -----------------------------------------------------------------------------


def test_without_a_gateway_all_is_well_and_nothing_is_made(home: Home) -> None:
    before = files(home)
    done = home.run("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok       flybridge      0.")
    assert f"ok       configuration  {home.base}/config/flybridge/config.yaml" in lines
    assert any(line.startswith("ok       agent claude   2.1.325, measured, ") for line in lines)
    assert "ok       agent demo     comes with Flybridge, needs no key" in lines
    assert "ok       journal        none yet" in lines
    assert "ok       gateway        none runs; the next command starts one" in lines
    assert "ok       keepers        none" in lines
    assert lines[-1].startswith("no problems")
    assert files(home) == before


def test_a_missing_agent_is_a_problem_when_it_is_the_default(home: Home) -> None:
    gone = "agents:\n  claude: {program: [nowhere-claude]}\n"
    configure(home, gone)
    assert checks(home)["agent claude"]["status"] == "problem"
    configure(home, f"default_agent: demo\n{gone}")
    assert checks(home)["agent claude"]["status"] == "note"


@pytest.mark.sample
def test_a_running_gateway_answers_for_itself(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    found = checks(home)
    assert found["gateway"]["data"]["pid"] == home.gateway_pid()
    assert found["journal"]["text"] == "held by the gateway, 1 session"
    assert found["keepers"]["text"] == "1 holds an agent"
    home.run("gateway", "stop")
    found = checks(home)
    assert found["gateway"]["text"] == "none runs; the next command starts one"
    assert found["journal"]["data"]["sessions"] == 1
    assert found["keepers"]["text"].startswith("1 holds an agent without a gateway")


def test_what_a_killed_gateway_left_is_noted(home: Home) -> None:
    home.sessions()
    os.kill(home.gateway_pid(), signal.SIGKILL)
    found = checks(home)
    assert (found["gateway"]["status"], found["journal"]["status"]) == ("note", "ok")
    assert found["gateway"]["data"] == {"stale_socket": True}
    assert (home.state / "gateway.sock").exists()


def test_a_gateway_that_does_not_answer_is_named_in_bounded_time(home: Home) -> None:
    home.sessions()
    pid = home.gateway_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        found = checks(home)["gateway"]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert found["status"] == "problem"
    assert found["text"] == f"process {pid} holds gateway.lock and does not answer"
    assert f"kill {pid}" in found["fix"]


def test_a_broken_configuration_is_shown_and_the_rest_is_looked_at(home: Home) -> None:
    configure(home, "log_levl: debug\n")
    done = home.run("doctor")
    assert done.returncode == 1
    assert "log_levl: unknown key; did you mean 'log_level'?" in done.stdout
    assert "note     agents         not looked at while" in done.stdout
    assert "gateway        none runs" in done.stdout


def test_no_value_of_the_environment_is_shown(home: Home) -> None:
    home.env["ANTHROPIC_API_KEY"] = "sk-a-real-secret"
    home.env["FLYBRIDGE_LOG_LEVEL"] = "debug"
    done = home.run("doctor")
    assert "set in the environment: FLYBRIDGE_LOG_LEVEL" in done.stdout
    assert "sk-a-real-secret" not in done.stdout + home.run("doctor", "--json").stdout


def test_a_removed_folder_is_no_reason_to_fail(home: Home) -> None:
    gone = home.base / "gone"
    gone.mkdir()
    argv = ["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), *home.argv("doctor")]
    done = subprocess.run(argv, cwd=gone, env=home.env, capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (0, "")


# ---- probes ------------------------------------------------------------------------------------


def left(home: Home) -> list[Path]:
    return list(Path(home.env["TMPDIR"]).glob("flybridge-probe-*"))


@pytest.mark.sample
def test_a_probe_of_an_agent_that_is_as_it_was(home: Home) -> None:
    done = home.run("doctor", "--probe", "claude")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("claude 2.1.325 (")
    assert "compared with 2.1.325" in lines[0]
    assert sum(line.startswith("same ") for line in lines) == 29
    assert lines[-1] == "everything that Flybridge relies on works"
    assert left(home) == []
    assert not home.state.exists()


def test_a_probe_of_one_that_runs_what_was_denied_exits_with_1(home: Home) -> None:
    small_claude(home, "runs-denied")
    done = home.run("doctor", "--probe", "claude", "--json")
    assert done.returncode == 1
    said = json.loads(done.stdout)
    found = {one["probe"]: one for one in said["findings"]}
    assert found["deny"]["verdict"] == "broken"
    assert found["deny"]["found"] == "ran although it was denied"
    assert found["text"]["verdict"] == "same"
    assert said["summary"][0] == "what changed against 2.1.325:"
    assert said["summary"][1].startswith("- a tool that is denied: ran although it was denied")
    assert "system/init" in said["fields"]


def test_another_program_can_be_named(home: Home) -> None:
    script = home.base / "claude-next"
    words = " ".join(small.program("does-not-start"))
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o700)
    done = home.run("doctor", "--probe", "claude", "--program", str(script))
    assert done.returncode == 1
    assert f"({script})" in done.stdout
    assert "status 1: error: unknown option" in done.stdout
    assert "- 27 more things could not be tried" in done.stdout
    assert len(done.stdout.splitlines()) < 15


def test_what_cannot_be_probed_is_said_in_one_line(home: Home) -> None:
    demo = home.run("doctor", "--probe", "demo")
    assert demo.returncode == 1
    assert demo.stderr == (
        "flybridge: agents of the kind 'demo' have no probe, so demo cannot be tried; "
        "kinds that have one: claude (invalid_request)\n"
    )
    nobody = home.run("doctor", "--probe", "nobody")
    assert nobody.stderr.startswith("flybridge: Unknown agent 'nobody'. Available: claude, demo")
    assert nobody.stderr.endswith(". (agent_not_found)\n")
    nowhere = home.run("doctor", "--probe", "claude", "--program", "nowhere")
    assert nowhere.stderr.endswith("/nowhere' not found (agent_not_found)\n")
    alone = home.run("doctor", "--program", "nowhere")
    assert alone.returncode == 2


def test_a_machine_on_which_nothing_can_be_tried_gives_one_line(home: Home) -> None:
    limited = [
        "sh",
        "-c",
        'ulimit -n 8; exec "$@"',
        "sh",
        *home.argv("doctor", "--probe", "claude"),
    ]
    done = subprocess.run(
        limited, cwd=home.work, env=home.env, capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 1
    assert done.stderr.startswith("flybridge: ")
    assert done.stderr.endswith("Too many open files (internal)\n")
    assert left(home) == []


@pytest.fixture
def probing(home: Home) -> Iterator[subprocess.Popen[str]]:
    """A probe that waits for an agent which says nothing."""
    code = "import sys, time; '--version' in sys.argv or time.sleep(600)"
    program = json.dumps(["python3", "-c", code])
    configure(home, f"agents:\n  claude:\n    program: {program}\n")
    process = home.start("doctor", "--probe", "claude")
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("claude of an unknown version")
        yield process


@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_probe_that_is_ended_leaves_nothing(
    home: Home, probing: subprocess.Popen[str], signum: int, status: int
) -> None:
    wait_until(lambda: left(home))
    probing.send_signal(signum)
    assert probing.wait(WAIT_S) == status
    assert left(home) == []
