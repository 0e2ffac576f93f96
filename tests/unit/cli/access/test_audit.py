from __future__ import annotations

import pytest

from tests.harness.terminal_home import Home


@pytest.mark.sample
def test_what_was_done_and_refused_is_shown_and_a_change_is_found(home: Home) -> None:
    assert home.run("audit", "show").stdout == "No records have been written yet.\n"
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


def test_c07_a_state_directory_that_does_not_exist_is_no_clean_bill(home: Home) -> None:
    done = home.run("audit", "verify")
    assert done.returncode == 2
    assert f"State directory {home.state} does not exist." in done.stderr
    home.state.mkdir(mode=0o700)
    done = home.run("audit", "verify")
    assert (done.returncode, done.stdout) == (0, "No records have been written yet.\n")


def test_c07_a_log_that_was_deleted_is_found(home: Home) -> None:
    home.run("token", "create", "ci")
    home.run("gateway", "stop")
    log, head = home.state / "audit.log", home.state / "audit.head"
    records, end = log.read_bytes(), head.read_bytes()
    log.unlink()
    done = home.run("audit", "verify")
    words = "audit.log is missing but audit.head exists: records were deleted.\n"
    assert (done.returncode, done.stderr) == (1, words)
    head.unlink()
    done = home.run("audit", "verify")
    words = "audit.log is missing but records were written here: they were deleted.\n"
    assert (done.returncode, done.stderr) == (1, words)
    log.write_bytes(records[: records.index(b"\n") + 1])
    done = home.run("audit", "verify")
    assert (done.returncode, "audit.head is missing" in done.stderr) == (1, True)
    log.write_bytes(records)
    head.write_bytes(end)
    log.chmod(0o600)
    head.chmod(0o600)
    assert home.run("audit", "verify").returncode == 0
    log.unlink()
    head.unlink()
    home.run("sessions", "list")
    home.run("gateway", "stop")
    done = home.run("audit", "verify")
    assert (done.returncode, "deleted" in done.stderr) == (1, True), "a new gateway hides it"


def test_c07_the_log_of_what_was_sent_is_missed_too(home: Home) -> None:
    home.run("chat", "--agent", "demo", stdin="hello")
    home.run("control", "send", home.session(), "x", "--sender", "nobody")
    verified = home.run("audit", "verify", "--sent")
    assert (verified.returncode, "none changed" in verified.stdout) == (0, True)
    log, head = home.state / "sent.log", home.state / "sent.head"
    log.unlink()
    done = home.run("audit", "verify", "--sent")
    words = "sent.log is missing but sent.head exists: records were deleted.\n"
    assert (done.returncode, done.stderr) == (1, words)
    head.unlink()
    assert home.run("audit", "verify", "--sent").returncode == 1
    home.run("control", "send", home.session(), "x", "--sender", "nobody")
    assert home.run("audit", "verify", "--sent").returncode == 1
