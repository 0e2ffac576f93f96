from __future__ import annotations

import re

import pytest

from tests.harness.relay import ask, relaying
from tests.harness.terminal_home import Home
from tests.unit.cli.gateway.test_serve import serving


@pytest.mark.sample
def test_a_person_gets_a_link_and_a_program_does_not(home: Home) -> None:
    with serving(home) as address:
        terminal = home.at_terminal("open", "--print", "--scope", "view", "--for", "Ada")
        assert terminal.wait_end() == 0
        assert f"{address}/login#" in terminal.seen
        done = home.run("open", "--print")
        assert done.returncode == 1
        assert done.stderr.endswith("(not_allowed)\n")


@pytest.mark.parametrize("arguments", [("--remote",), ("--print",), ("--for", "Ada")])
def test_a03_a_link_that_is_printed_is_never_passed_to_a_browser(
    home: Home, arguments: tuple[str, ...]
) -> None:
    opened = home.base / "opened"
    browser = home.base / "browser"
    browser.write_text(f"#!/bin/sh\ntouch {opened}\n")
    browser.chmod(0o755)
    with serving(home) as address:
        terminal = home.at_terminal("open", *arguments, env={"BROWSER": str(browser)})
        assert terminal.wait_end() == 0
        assert f"{address}/login#" in terminal.seen
    assert not opened.exists()


def test_a03_a_link_that_is_passed_to_a_browser_works_for_a_person_here(home: Home) -> None:
    opened = home.base / "opened"
    browser = home.base / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    with serving(home) as address:
        terminal = home.at_terminal("open", env={"BROWSER": str(browser)})
        assert terminal.wait_end() == 0
        assert "/login#" not in terminal.seen
        terminal.wait_until(lambda _: opened.exists(), "a browser")
        ticket = opened.read_text().strip().partition("#")[2]
        port = int(re.findall(r"\d+", address)[-1])
        with relaying(port) as relay:
            status, _, _ = ask(relay, port, "POST", "/login", {"ticket": ticket})
            assert status == 403
        status, _, _ = ask(port, port, "POST", "/login", {"ticket": ticket})
        assert status == 200


def test_a_scope_that_is_none_is_refused(home: Home) -> None:
    assert home.run("open", "--scope", "everything").returncode == 2
