"""The commands, as a script uses them: exit status, output, and the same id twice."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.harness.terminal_home import FAST, Home

ME = ("--sender", "me")


def allowed(home: Home) -> str:
    """A session that somebody may steer; its id."""
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think of boats")
    for words in (("team", "add", "default", "me"), ("team", "allow", "default", "me")):
        assert home.at_terminal(*words).wait_end() == 0
    return home.session()


@pytest.mark.sample
def test_a_message_is_sent_once_however_often_it_is_sent(home: Home) -> None:
    session = allowed(home)
    sent = home.run("control", "send", session, "think", *ME, "--request-id", "r1")
    assert (sent.returncode, sent.stdout) == (0, "ok: started a turn\n"), sent
    assert "request id: r1" in sent.stderr
    again = home.run("control", "send", session, "think", *ME, "--request-id", "r1", "--json")
    ack = json.loads(again.stdout)
    assert (ack["result"], ack["duplicate"], ack["team"]) == ("ok", True, "default")
    assert re.fullmatch(r"demo:[0-9a-f-]{36}", ack["agent_id"])
    other = home.run("control", "send", session, "other", *ME, "--request-id", "r1")
    assert other.returncode == 3
    words = "Request ID r1 was already used with different content. (request_id_reused)"
    assert words in other.stderr
    inputs = [
        one["event"]
        for one in home.events(session)
        if one["event"]["type"] == "input.accepted" and one["event"]["key"].endswith(":control/r1")
    ]
    assert len(inputs) == 1


def test_the_results_can_be_told_apart_by_the_exit_status(home: Home) -> None:
    session = allowed(home)
    refused = home.run("control", "send", session, "x", "--sender", "you")
    assert refused.returncode == 3
    assert "(unknown_sender)" in refused.stderr
    wrong = home.run("control", "send", session, "x", *ME, "--agent-id", "demo:none")
    assert (wrong.returncode, wrong.stderr.split()[0]) == (4, "not_found")
    idle = home.run("control", "interrupt", session, *ME)
    assert (idle.returncode, idle.stdout) == (0, "ok: no turn was running\n")
    home.run("sessions", "kill", session)
    off = home.run("control", "send", session, "x", *ME)
    assert (off.returncode, off.stderr.split()[0]) == (5, "not_live")
    unknown = home.run("control", "send", "ses_none", "x", *ME)
    assert (unknown.returncode, "session_not_found" in unknown.stderr) == (4, True)


def test_c10_an_acknowledgement_that_does_not_come_in_time_has_its_own_status(home: Home) -> None:
    session = allowed(home)
    more = (*ME, "--timeout", "0.000001", "--retries", "0")
    late = home.run("control", "send", session, "think", *more)
    assert (late.returncode, "no acknowledgement of" in late.stderr) == (7, True), late


def test_c04_an_interrupt_is_repeated_with_the_id_that_it_printed(home: Home) -> None:
    session = allowed(home)
    sent = home.run("control", "send", session, "run ls", *ME)
    assert sent.returncode == 0, sent
    stopped = home.run("control", "interrupt", session, *ME)
    assert (stopped.returncode, stopped.stdout) == (0, "ok: the turn was stopped\n"), stopped
    [request] = re.findall(r"request id: (\S+)", stopped.stderr)
    again = home.run("control", "interrupt", session, *ME, "--request-id", request)
    assert again.returncode == 0, again
    assert again.stdout == "ok (already known): the turn was stopped\n"
    new = home.run("control", "send", session, "run ls", *ME)
    assert new.returncode == 0, new
    other = f"req_{'0' * 32}@{request.rpartition('@')[2]}"  # as if the first had never arrived
    late = home.run("control", "interrupt", session, *ME, "--request-id", other)
    assert (late.returncode, "(turn_ended)" in late.stderr) == (5, True), late
    assert home.run("control", "interrupt", session, *ME).returncode == 0


@pytest.mark.conforms("S2-6b")
def test_a_long_text_is_warned_about_and_goes_by_a_file(home: Home) -> None:
    session = allowed(home)
    text = "boats " * (1 << 18)
    path = home.work / "long"
    path.write_text(text)
    sent = home.run("control", "send", session, "--file", str(path), *ME)
    assert sent.returncode == 0, sent
    assert "warning: Message is 1.5 MiB; sending it as a file." in sent.stderr
    assert list((home.state / "inbox").iterdir()) == []
    piped = home.run("control", "send", session, "--file", "-", *ME, stdin="from a pipe")
    assert piped.returncode == 0
    for bad in ((), ("x", "--file", str(path))):
        assert home.run("control", "send", session, *bad, *ME).returncode == 2


@pytest.mark.conforms("S2-1")
def test_what_a_session_takes_is_shown(home: Home) -> None:
    session = allowed(home)
    shown = home.run("control", "capabilities", session, *ME)
    assert shown.returncode == 0
    for words in ("live: yes", "busy: no", "turn: none", "hard_bytes: 1048576", "max_age_s: 300"):
        assert words in shown.stdout
    found = json.loads(home.run("control", "capabilities", session, *ME, "--json").stdout)
    assert found["capabilities"]["interrupt"] is True


@pytest.mark.conforms("S2-7a", "S2-7d")
@pytest.mark.abuse(63)
def test_63_a_flipped_byte_in_a_control_record_is_found_on_both_sides(home: Home) -> None:
    session = allowed(home)
    home.run("control", "send", session, "think of a secret", *ME, "--request-id", "r1")
    home.run("gateway", "stop")
    for name, more in (("audit.log", ()), ("sent.log", ("--sent",))):
        log = home.state / name
        good = log.read_bytes()
        assert b"control.stdin.ack" in good
        assert b"of a secret" not in good
        assert "none changed" in home.run("audit", "verify", *more).stdout
        bad = bytearray(good)
        bad[bad.index(b'"request":"r1"') + 12] ^= 1
        log.write_bytes(bad)
        done = home.run("audit", "verify", *more)
        assert (done.returncode, "was changed" in done.stderr) == (1, True)
        log.write_bytes(good)
    assert "sender=me" in home.run("audit", "show", "--sent").stdout


def test_a_sender_has_a_name(home: Home) -> None:
    assert home.run("control", "send", "x", "y").returncode == 2
    elsewhere = home.run("control", "send", "x", "y", *ME, "--url", "http://127.0.0.1:9")
    assert (elsewhere.returncode, "--agent-id" in elsewhere.stderr) == (1, True)


@pytest.mark.conforms("S2-9c")
def test_a_key_signs_for_whoever_holds_it(home: Home) -> None:
    session = allowed(home)
    made = subprocess.run(
        [sys.executable, "-m", "flybridge", "control", "keygen", str(home.base / "key")],
        capture_output=True,
        text=True,
        timeout=30,
    )
    public = made.stdout.strip()
    assert len(public) == 43
    pinned = home.at_terminal("team", "pin", "far", public)
    assert pinned.wait_end() == 0
    (audience,) = re.findall(r"gw_\w+", pinned.seen)
    for words in (
        ("team", "add", "default", "lead", "--principal", "key:far"),
        ("team", "allow", "default", "lead"),
    ):
        assert home.at_terminal(*words).wait_end() == 0
    key = ("--key", str(home.base / "key"), "--key-name", "far", "--sender", "lead")
    sent = home.run("control", "send", session, "think", *key, "--audience", audience)
    assert (sent.returncode, sent.stdout) == (0, "ok: started a turn\n"), sent
    wrong = home.run("control", "send", session, "think", *key, "--audience", "gw_other")
    assert wrong.returncode == 1
    assert home.run("control", "send", session, "x", *key[:4], *ME).returncode == 1
    assert home.at_terminal("team", "unpin", "far").wait_end() == 0
