from __future__ import annotations

from tests.cli.at_terminal import Home
from tests.cli.test_serve import serving


def test_a_person_gets_a_link_and_a_program_does_not(home: Home) -> None:
    with serving(home) as address:
        terminal = home.at_terminal("open", "--print", "--scope", "view", "--for", "Ada")
        assert terminal.wait_end() == 0
        assert f"{address}/login#" in terminal.seen
        done = home.run("open", "--print")
        assert done.returncode == 1
        assert done.stderr.endswith("(not_allowed)\n")


def test_a_scope_that_is_none_is_refused(home: Home) -> None:
    assert home.run("open", "--scope", "everything").returncode == 2
