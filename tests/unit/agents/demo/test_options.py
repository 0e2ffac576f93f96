from __future__ import annotations

import uuid

import pytest

from flybridge.agents.demo.options import DEFAULT_MODEL, UsageError, parse_options
from tests.harness.agent_host import FLAGS

ID = "11111111-2222-4333-8444-555555555555"


def test_claudes_stdio_flags_are_understood() -> None:
    options = parse_options(FLAGS, {})
    assert (options.asks, options.partial, options.replay) == (True, True, True)
    assert options.model == DEFAULT_MODEL
    assert options.mode == "default"
    assert str(uuid.UUID(options.session_id)) == options.session_id


def test_a_bare_command_line_asks_and_replays_nothing() -> None:
    options = parse_options([], {})
    assert (options.asks, options.partial, options.replay) == (False, False, False)


def test_flags_nobody_heard_of_do_no_harm() -> None:
    argv = ["--effort", "high", "--brand-new", "--model=m", "--add-dir", "a", "b", "-p"]
    assert parse_options(argv, {}).model == "m"


def test_a_session_id_is_taken_and_must_be_a_uuid() -> None:
    assert parse_options(["--session-id", ID], {}).session_id == ID
    with pytest.raises(UsageError, match="UUID"):
        parse_options(["--session-id", "mine"], {})


def test_resume_keeps_the_id_and_a_fork_does_not() -> None:
    resumed = parse_options(["--resume", ID], {})
    assert (resumed.session_id, resumed.resumed) == (ID, True)
    assert parse_options(["-r", ID], {}).session_id == ID
    assert parse_options(["--resume", ID, "--fork-session"], {}).session_id != ID
    with pytest.raises(UsageError, match="fork-session"):
        parse_options(["--resume", ID, "--session-id", ID], {})


@pytest.mark.parametrize(
    ("argv", "mode", "may_bypass"),
    [
        (["--permission-mode", "plan"], "plan", False),
        (["--permission-mode", "manual"], "default", False),
        (["--permission-mode", "bypassPermissions"], "bypassPermissions", True),
        (["--dangerously-skip-permissions"], "bypassPermissions", True),
        (["--allow-dangerously-skip-permissions"], "default", True),
    ],
)
def test_only_a_launch_flag_gives_the_right_to_bypass(
    argv: list[str], mode: str, may_bypass: bool
) -> None:
    options = parse_options(argv, {})
    assert (options.mode, options.may_bypass) == (mode, may_bypass)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="delegate"):
        parse_options(["--permission-mode", "delegate"], {})


@pytest.mark.parametrize(
    ("text", "pace_s"), [("0", 0), ("50", 0.05), ("", 0.025), ("fast", 0.025), ("-1", 0.025)]
)
def test_the_pace_comes_from_the_environment(text: str, pace_s: float) -> None:
    assert parse_options([], {"FLYBRIDGE_DEMO_SPEED": text}).pace_s == pace_s
