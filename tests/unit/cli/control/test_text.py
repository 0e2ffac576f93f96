"""Acknowledgements in words."""

from __future__ import annotations

from typing import Any

import pytest

from flybridge.cli.control.text import line_of, rows_of
from flybridge.wire.control import messages as w


def ack(kind: type[w.StdinAck] | type[w.InterruptAck] = w.StdinAck, **more: Any) -> w.Ack:
    head = {"v": 1, "request_id": "r", "team": "t", "session_id": "s", "agent_id": "a:1"}
    usual = {"acked_at": "1970-01-01T00:00:00Z", "result": "ok", "duplicate": False}
    return kind(**{**head, **usual, **more})


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (ack(stage="written", detail="steered"), "ok: sent into the running turn"),
        (ack(stage="observed", detail="started"), "ok: started a turn"),
        (ack(stage="accepted", detail="queued"), "ok: queued until the running turn ends"),
        (
            ack(stage="written", outcome="cancelled", detail="Cancelled.", duplicate=True),
            "ok (already known): Cancelled.",
        ),
        (ack(w.InterruptAck, stage="observed", outcome="done"), "ok: the turn was stopped"),
        (ack(w.InterruptAck, stage="written"), "ok: the interrupt was sent"),
        (ack(w.InterruptAck, detail="idle"), "ok: no turn was running"),
        (
            ack(result="busy", detail="wait", error=w.Failure(code="busy", message="wait")),
            "busy wait (busy)",
        ),
        (
            ack(result="not_live", error=w.Failure(code="turn_ended", message="It ended.")),
            "not_live It ended. (turn_ended)",
        ),
        (ack(), "ok"),
    ],
)
def test_an_acknowledgement_is_one_plain_line(found: w.Ack, line: str) -> None:
    assert line_of(found) == line


def test_what_a_session_takes_is_shown_without_code() -> None:
    limits = w.Limits(soft_bytes=1, hard_bytes=2, ref_bytes=3, max_age_s=300, skew_s=0.5)
    rows = rows_of(
        w.Capabilities(
            live=True,
            busy=False,
            turn_id="",
            stdin=True,
            stdin_while_busy="now",
            steer=True,
            interrupt=True,
            queue=True,
            queued=0,
            echo=False,
            limits=limits,
        )
    )
    assert rows[:3] == ["live: yes", "busy: no", "turn: none"]
    assert "queued: 0" in rows
    assert rows[-2:] == ["max_age_s: 300", "skew_s: 0.5"]
