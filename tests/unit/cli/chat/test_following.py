from __future__ import annotations

import msgspec

from flybridge.cli.chat.following import ContextState, SessionState, context_of, state_of


def test_a_view_says_what_matters_and_may_say_more() -> None:
    view = {"status": "running", "why": "tool", "tools": [{"name": "Bash", "item": "x"}], "new": 1}
    state = state_of(msgspec.json.encode(view))
    assert (state.status, state.why, state.tools[0].name) == ("running", "tool", "Bash")


def test_a_view_that_makes_no_sense_says_nothing() -> None:
    assert state_of(b'{"status": 3}') == SessionState()
    assert state_of(b"nonsense") == SessionState()


def test_a_context_is_read_or_left_alone() -> None:
    assert context_of(b'{"tokens":50,"window":200}').text == "context 25%"
    assert context_of(b'{"tokens":"x"}') == context_of(b"nonsense") == ContextState()


def test_a_view_says_what_waits_and_what_it_costs() -> None:
    state = state_of(
        b'{"status":"idle","cost_usd":0.5,"queue":[{"key":"k","by":"b","head":"h"}],'
        b'"gauges":{"context":{"tokens":1}}}'
    )
    assert (state.cost_usd, state.queue[0].head) == (0.5, "h")
    assert bytes(state.gauges["context"]) == b'{"tokens":1}'
