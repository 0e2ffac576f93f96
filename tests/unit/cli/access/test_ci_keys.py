"""Keys for CI: made by a person at a terminal, used by a program without one."""

from __future__ import annotations

import json
import shutil

import pytest

from flybridge.cli.runs.session import CI_KEY_ENV
from tests.harness.run_script import finished
from tests.harness.terminal_home import Home

EDIT = ("adhoc", "--agent", "demo", "--model", "flybridge-demo-fast")


def make(home: Home, *args: str) -> str:
    made = home.at_terminal("ci-key", "create", "nightly", "--agent", "demo", *args, columns=200)
    assert made.wait_end() == 0, made.seen
    key = made.seen.strip()
    assert key.startswith("fbc_")
    return key


@pytest.mark.parametrize("mode", ["plan", "default", "dontAsk"])
def test_c03_a_mode_that_grants_nothing_needs_no_terminal(home: Home, mode: str) -> None:
    script = finished(home, prompt="hello", agent="demo", permission_mode=mode)
    assert script.types[-1] == "run.completed"
    assert script.frames[0]["payload"]["config"]["permission_mode"] == mode
    done = home.run(*EDIT, "--permission-mode", mode, "hello")
    assert done.returncode == 0, done.stderr


def test_c03_a_mode_that_asks_less_is_refused_with_a_code_and_a_way_out(home: Home) -> None:
    text = (
        '--permission-mode acceptEdits needs an interactive terminal or a CI key (see "Run in CI").'
    )
    done = home.run(*EDIT, "--permission-mode", "acceptEdits", "edit")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"flybridge: {text} (not_allowed)\n"
    script = finished(home, prompt="edit", agent="demo", permission_mode="acceptEdits")
    assert script.terminal[0]["payload"] == {"code": "not_allowed", "message": text}
    assert home.sessions() == []


@pytest.mark.sample
def test_c03_with_a_key_a_job_chooses_the_mode(home: Home) -> None:
    key = make(home, "--mode", "acceptEdits")
    kept = home.base / "ci.key"
    kept.write_text(f"{key}\n")
    given = ("--ci-key-file", str(kept), "--permission-mode", "acceptEdits")
    done = home.run(*EDIT, *given, "edit")
    assert done.returncode == 0, done.stderr
    assert "Changed, on disk." in done.stdout
    script = finished(
        home, prompt="edit", agent="demo", permission_mode="acceptEdits", env={CI_KEY_ENV: key}
    )
    assert script.types[-1] == "run.completed"
    wrong = home.run(*EDIT, *given[:2], "--permission-mode", "bypassPermissions", "edit")
    assert "allows acceptEdits, but not bypassPermissions. (not_allowed)" in wrong.stderr
    used = [one for one in audit(home) if one["event"] == "ci_key.use"]
    assert [one["detail"] for one in used] == ["acceptEdits", "acceptEdits"]
    secret = key.rpartition(".")[2].encode()
    files = [path for path in home.state.rglob("*") if path.is_file()]
    assert [path for path in files if secret in path.read_bytes()] == []


def audit(home: Home) -> list[dict[str, str]]:
    lines = (home.state / "audit.log").read_text().splitlines()
    return [{**one, **one.get("record", {})} for one in map(json.loads, lines)]


def test_c03_a_revoked_or_unknown_key_is_refused(home: Home) -> None:
    key = make(home, "--mode", "acceptEdits", "--days", "0")
    listed = home.at_terminal("ci-key", "list", columns=200)
    assert listed.wait_end() == 0
    assert "nightly  demo    acceptEdits  never" in listed.seen
    assert key not in listed.seen
    gone = home.at_terminal("ci-key", "revoke", "nightly", columns=200)
    assert gone.wait_end() == 0
    home.env[CI_KEY_ENV] = key
    done = home.run(*EDIT, "--permission-mode", "acceptEdits", "edit")
    assert "The CI key is unknown, expired or revoked. (not_allowed)" in done.stderr
    empty = home.at_terminal("ci-key", "list", columns=200)
    assert empty.wait_end() == 0
    assert "There are no CI keys." in empty.seen


def test_c03_a_program_makes_no_keys(home: Home) -> None:
    for args in (("create", "mine", "--mode", "acceptEdits"), ("list",), ("revoke", "x")):
        done = home.run("ci-key", *args)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith("(not_allowed)\n")
    assert home.run("ci-key", "create", "mine").returncode == 2


def test_c03_the_file_of_keys_can_be_put_into_an_image(home: Home) -> None:
    home.env[CI_KEY_ENV] = make(home, "--mode", "acceptEdits")
    assert home.run("stop").returncode == 0
    fresh = home.base / "fresh"
    fresh.mkdir(mode=0o700)
    shutil.copy(home.state / "ci-keys", fresh / "ci-keys")
    home.state = fresh
    done = home.run(*EDIT, "--permission-mode", "acceptEdits", "edit")
    assert done.returncode == 0, done.stderr
