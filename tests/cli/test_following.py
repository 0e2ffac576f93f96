from __future__ import annotations

import msgspec

from flybridge.cli.following import SessionState, state_of


def test_a_view_says_what_matters_and_may_say_more() -> None:
    view = {"status": "running", "why": "tool", "tools": [{"name": "Bash", "item": "x"}], "new": 1}
    state = state_of(msgspec.json.encode(view))
    assert (state.status, state.why, state.tools[0].name) == ("running", "tool", "Bash")


def test_a_view_that_makes_no_sense_says_nothing() -> None:
    assert state_of(b'{"status": 3}') == SessionState()
    assert state_of(b"nonsense") == SessionState()
