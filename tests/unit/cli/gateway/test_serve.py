from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.harness.terminal_home import FAST, Home, Terminal
from tests.harness.waiting import WAIT_S, wait_until


@contextmanager
def serving(home: Home, *args: str) -> Iterator[str]:
    """A server on a port of its own; its address."""
    process = home.start("serve", "--port", "0", *args)
    assert process.stdout is not None
    first = process.stdout.readline()
    found = re.fullmatch(r"Flybridge is at (\S+)\n", first)
    if found is None:
        raise AssertionError((first, *process.communicate(timeout=WAIT_S)))
    try:
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, said


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.sample
def test_a_server_says_where_it_is_and_prints_no_secret_to_a_log(home: Home) -> None:
    with serving(home) as address:
        assert get(f"{address}/api/v1/health")[0] == 200
        assert get(f"{address}/api/v1/sessions")[0] == 401
        status = home.run("status")
        assert status.returncode == 0
        assert address in json.loads(home.run("status", "--json").stdout)["address"]


def at_a_terminal(home: Home) -> tuple[Terminal, str]:
    terminal = home.at_terminal("serve", "--port", "0")
    seen = terminal.wait_for("Ctrl-C stops")
    found = re.search(r"https?://\S+/login#\S+", seen)
    assert found, seen
    return terminal, found[0]


def test_at_a_terminal_it_prints_a_link_that_logs_in_once(home: Home) -> None:
    terminal, link = at_a_terminal(home)
    page, _, ticket = link.partition("#")
    address = page.removesuffix("/login")
    assert get(page)[0] == 200

    def login() -> int:
        body = json.dumps({"ticket": ticket}).encode()
        request = urllib.request.Request(
            f"{address}/api/v1/login", body, {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert "HttpOnly" in answer.headers["set-cookie"]
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    assert login() in (200, 204)
    assert login() == 401
    terminal.type("\x03")
    assert terminal.wait_end() == 0


def test_it_opens_a_browser_that_is_logged_in_where_there_is_one(home: Home) -> None:
    opened = home.base / "opened"
    browser = home.base / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    terminal = home.at_terminal("serve", "--port", "0", "--open", env={"BROWSER": str(browser)})
    seen = terminal.wait_for("Ctrl-C stops")
    assert "/login#" not in seen
    terminal.wait_until(lambda _: opened.exists(), "a browser")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/login#[\w-]+\n", opened.read_text())
    terminal.type("\x03")
    assert terminal.wait_end() == 0


def test_where_there_is_no_screen_the_link_is_printed(home: Home) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        home.env.pop(name, None)
    terminal = home.at_terminal("serve", "--port", "0", "--open")
    assert re.search(r"/login#[\w-]+", terminal.wait_for("Ctrl-C stops"))
    terminal.type("\x03")
    assert terminal.wait_end() == 0


def test_a_server_takes_over_from_a_gateway_without_a_port_and_agents_do_not_notice(
    home: Home,
) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    before = home.gateway_pid()
    session = home.session()
    with serving(home):
        assert home.gateway_pid() != before
        assert home.sessions()[0]["status"] == "idle"
        exits = [one for one in home.events(session) if one["event"]["type"] == "agent.exited"]
        assert exits == []


def test_two_servers_do_not_fight(home: Home) -> None:
    with serving(home) as address:
        second = home.run("serve", "--port", "0")
        assert second.returncode == 1
        assert second.stderr.endswith(f"a gateway serves already, at {address} (gateway_running)\n")


def test_abuse_8_an_address_that_others_reach_is_refused_without_tls(home: Home) -> None:
    done = home.run("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "--tls-cert" in done.stderr
    assert not home.state.exists()


def test_abuse_9_a_port_that_somebody_has_is_an_error(home: Home) -> None:
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        done = home.run("serve", "--port", str(squatter.getsockname()[1]))
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1" in done.stderr
    assert home.run("status").returncode == 1


@pytest.fixture
def kill() -> signal.Signals:
    return signal.SIGKILL


def test_a_server_that_is_killed_is_followed_by_the_next(home: Home, kill: signal.Signals) -> None:
    process = home.start("serve", "--port", "0")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(kill)
    process.communicate(timeout=WAIT_S)
    with serving(home) as address:
        assert get(f"{address}/api/v1/health")[0] == 200


def test_a_gateway_without_a_port_gives_no_links(home: Home) -> None:
    home.sessions()
    terminal = home.at_terminal("open", "--print")
    assert terminal.wait_end() == 1
    assert "flybridge serve" in terminal.seen


def test_a_restart_leaves_time_for_nobody_to_be_lost(home: Home) -> None:
    """Clients of a server that stops for another one come back by themselves."""
    with serving(home):
        chat = home.demo()
    chat.say("hello")
    wait_until(lambda: "hello" in chat.seen)
    assert isinstance(chat.process, subprocess.Popen)
    assert chat.process.poll() is None
