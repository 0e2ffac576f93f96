"""How a run ends early survives the log."""

from __future__ import annotations

import pytest

from flybridge.frontends.runs.ending import MAX_REASON, end_of, reason_of
from flybridge.frontends.runs.wire.messages import Cancelled, Failed


@pytest.mark.parametrize(
    "end",
    [
        Cancelled(),
        Cancelled(reason="two\nlines: and more"),
        Failed(code="timeout", message="Timed out after 3 s."),
        Failed(code="protocol_error", message=""),
    ],
)
def test_what_the_log_is_told_is_what_it_tells(end: Failed | Cancelled) -> None:
    assert end_of(reason_of(end)) == end


def test_a_session_that_somebody_closed_is_a_run_that_was_cancelled() -> None:
    assert end_of("") == Cancelled(reason="the session was closed")
    assert end_of("tidying up") == Cancelled(reason="tidying up")
    assert end_of("run.failed nonsense: x") == Cancelled(reason="run.failed nonsense: x")


def test_a_reason_is_bounded() -> None:
    assert len(reason_of(Failed(code="timeout", message="x" * 10**6))) < 2 * MAX_REASON
