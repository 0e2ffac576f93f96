"""A run at a terminal."""

from __future__ import annotations

from tests.harness.agent_programs import steps
from tests.harness.run_script import marker
from tests.harness.terminal_home import FAST, Home


def test_a_run_is_shown_and_left_when_it_is_over(home: Home) -> None:
    terminal = home.at_terminal("adhoc", "--agent", "demo", "--model", FAST, "think")
    assert terminal.wait_end() == 0
    assert "two helms, one rudder" in terminal.seen


def test_a_permission_is_asked_in_place(home: Home) -> None:
    terminal = home.at_terminal("adhoc", "--agent", "demo", "--model", FAST, "run echo ahoy")
    terminal.wait_for("echo ahoy", "y allow once")
    terminal.type("y")
    assert terminal.wait_end() == 0
    assert "allowed by you" in terminal.seen


def test_a_question_in_the_text_is_answered_by_the_next_line(home: Home) -> None:
    text = steps({"say": f"Well. {marker({'question': 'Your name?', 'freeText': True})}"})
    terminal = home.at_terminal("adhoc", "--agent", "recorder", text)
    terminal.wait_for("? Your name?")
    terminal.say("Ada")
    assert terminal.wait_end() == 0
    assert "ok: Ada" in terminal.seen


def test_a_secret_is_typed_where_nobody_sees_it(home: Home) -> None:
    text = steps({"say": marker({"question": "Key?", "kind": "secret"})})
    terminal = home.at_terminal("adhoc", "--agent", "recorder", text)
    terminal.wait_for("Key? (not shown):")
    terminal.say("abc")
    terminal.wait_for("a secret has 4 characters or more")
    terminal.wait_until(lambda seen: seen.count("Key? (not shown):") == 2, "asked again")
    terminal.say("canary-bird")
    assert terminal.wait_end() == 0
    assert "canary" not in terminal.seen
    assert "ok: [secret]" in terminal.seen
    assert not [one for one in home.state.rglob("*.db*") if b"canary" in one.read_bytes()]


def test_a_run_that_fails_or_is_interrupted_says_so(home: Home) -> None:
    terminal = home.at_terminal("adhoc", "--agent", "recorder", steps({"die": 3}))
    assert terminal.wait_end() == 1
    assert "agent_error" in terminal.seen
    terminal = home.at_terminal("adhoc", "--agent", "recorder", steps({"say": "x"}, {"stall": 60}))
    terminal.wait_for("Esc interrupts")
    terminal.type("\x1b")
    assert terminal.wait_end() == 0
    assert "cancelled: the turn was interrupted" in terminal.seen
    terminal = home.at_terminal(
        "adhoc", "--agent", "recorder", "--timeout", "1", steps({"stall": 60})
    )
    assert terminal.wait_end() == 1
    assert "timeout" in terminal.seen
