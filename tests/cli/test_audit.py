from __future__ import annotations

from tests.cli.at_terminal import Home


def test_what_was_done_and_refused_is_shown_and_a_change_is_found(home: Home) -> None:
    assert home.run("audit", "show").stdout == "nothing was written down yet\n"
    assert home.run("audit", "verify").stdout == "nothing was written down yet\n"
    home.run("token", "create", "ci")
    home.run("gateway", "stop")
    shown = home.run("audit", "show").stdout
    assert "refused   token.create" in shown
    assert "code=not_allowed" in shown
    assert home.run("audit", "show", "-n", "1", "--json").stdout.startswith("{")
    assert "none changed" in home.run("audit", "verify").stdout
    log = home.state / "audit.log"
    data = bytearray(log.read_bytes())
    data[data.index(b"token.create")] ^= 1
    log.write_bytes(data)
    done = home.run("audit", "verify")
    assert done.returncode == 1
    assert "was changed" in done.stderr
