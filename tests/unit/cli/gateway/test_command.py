from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import FAST, Home


def test_without_a_gateway_it_is_said_so_and_none_is_started(home: Home) -> None:
    status = home.run("gateway", "status")
    assert status.returncode == 1
    text = f"no gateway runs for {home.state}"
    assert status.stderr == f"flybridge: {text} (gateway_unreachable)\n"
    stop = home.run("gateway", "stop")
    assert (stop.returncode, stop.stdout) == (0, f"{text}: nothing to stop\n")
    assert not home.state.exists()


@pytest.mark.sample
def test_status_says_how_it_is(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    done = home.run("gateway", "status")
    assert done.returncode == 0
    assert f"state directory: {home.state}\n" in done.stdout
    assert "agents: 1, sessions: 1, clients: 0\n" in done.stdout
    said = json.loads(home.run("gateway", "status", "--json").stdout)
    assert f"process {said['pid']}," in done.stdout


@pytest.mark.sample
def test_stop_says_that_agents_go_on_and_the_next_gateway_finds_them(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    first = home.gateway_pid()
    done = home.run("gateway", "stop")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "the gateway is stopped\n1 agent is still running; the next gateway will reattach to it.\n"
    )
    assert home.run("gateway", "status").returncode == 1
    assert home.sessions()[0]["status"] == "idle"
    assert home.gateway_pid() != first


def test_a_second_gateway_says_that_there_is_one(home: Home) -> None:
    home.sessions()
    done = home.run("gateway", "run")
    assert done.returncode == 1
    assert done.stderr.startswith("flybridge: another gateway holds ")
    assert done.stderr.endswith("(gateway_running)\n")
