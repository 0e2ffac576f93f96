"""How the command line makes a sender: its manners, its log, and the names it finds out."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from flybridge.cli.control.sender import SentLog, manners_of, named, show_progress, triple
from flybridge.config import Config
from flybridge.config.state_dir import StateDir
from flybridge.model.audit import Record
from flybridge.store.audit import verify
from flybridge.wire.control.messages import StdinProgress
from tests.harness.terminal_home import FAST, Home

ROW = {"session": "ses_1", "agent": "claude", "conversation": "c1", "labels": {}}
FAR = {"type": "control.stdin.progress", "stage": "reading", "bytes": 1, "total": 2}


def test_a_session_has_three_names() -> None:
    assert triple(ROW, "default") == ("default", "ses_1", "claude:c1")
    red = {**ROW, "labels": {"flybridge.team": "red"}, "conversation": ""}
    assert triple(red, "default") == ("red", "ses_1", "claude:ses_1")
    (found,) = named([dict(ROW)])
    assert (found["team"], found["session_id"], found["agent_id"]) == (
        "default",
        "ses_1",
        "claude:c1",
    )


def test_the_command_line_wins_over_the_configuration() -> None:
    usual = manners_of(Config(), {"timeout": None, "retries": None})
    assert (usual.timeout_s, usual.retries, usual.source) == (2.0, 1, "cli")
    chosen = manners_of(Config(), {"timeout": 9.0, "retries": 0})
    assert (chosen.timeout_s, chosen.retries) == (9.0, 0)


def test_many_senders_write_one_chain(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    record = Record(event="control.stdin.request", outcome="sent")
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(SentLog(state).write, record) for _ in range(40)]:
            done.result()
    assert verify(state.sent) == 40


def test_the_list_prints_what_control_messages_say(home: Home) -> None:
    demo = ("sessions", "new", "--agent", "demo", "--model", FAST)
    opened = home.run(*demo, "--team", "red")
    session = opened.stdout.strip()
    (row,) = json.loads(home.run("sessions", "list", "--json").stdout)
    assert (row["team"], row["session_id"]) == ("red", session)
    shown = home.run("sessions", "list", "--ids").stdout
    assert shown.splitlines()[0].split() == ["TEAM", "SESSION_ID", "AGENT_ID", "STATUS"]
    assert shown.splitlines()[1].split()[:3] == ["red", session, row["agent_id"]]


def test_somebody_who_waits_sees_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"request_id": "r", "team": "t", "session_id": "s", "agent_id": "a:1", "at": ""}
    show_progress(msgspec.convert({"v": 1, **names, **FAR}, StdinProgress))
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "reading: 1 of 2 bytes\n")
