from __future__ import annotations

import pytest

from tests.harness.terminal_home import FAST, Home

DEMO = ("chat", "--agent", "demo", "--model", FAST)


@pytest.mark.sample
def test_a_piped_prompt_gets_its_answer_on_standard_output(home: Home) -> None:
    done = home.run(*DEMO, stdin="think\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "I thought about it: **two helms, one rudder.**\n"
    assert "Traceback" not in done.stderr


def test_words_and_standard_input_are_one_prompt(home: Home) -> None:
    done = home.run(*DEMO, "think about", stdin="boats\n")
    assert done.returncode == 0
    events = home.events(home.session())
    said = [e["event"]["content"] for e in events if e["event"]["type"] == "input.accepted"]
    assert said == [[{"type": "text", "text": "think about\n\nboats"}]]


def test_a_session_goes_on_without_telling_its_past_again(home: Home) -> None:
    home.run(*DEMO, stdin="hello")
    done = home.run("chat", "--last", stdin="think")
    assert done.stdout == "I thought about it: **two helms, one rudder.**\n"


@pytest.mark.sample
def test_a_permission_stays_open_and_is_announced(home: Home) -> None:
    done = home.run(*DEMO, "--timeout", "3", stdin="run echo hi")
    assert done.returncode == 1
    short = home.session()[:12]
    back = f"flybridge chat --session {short} --state {home.state}"
    assert f"! Bash needs a permission; answer it with: {back}\n" in done.stderr
    assert "Timed out after 3 s. The agent goes on" in done.stderr
    assert "(timeout)" in done.stderr
    (row,) = home.sessions()
    assert row["why"] == "permission"
    later = home.chat("--session", short)
    later.wait_for("y allow once")
    later.type("y")
    later.wait_for("Done. It said")


def test_c10_a_prompt_that_nobody_can_answer_ends_a_piped_chat_at_once(home: Home) -> None:
    done = home.run(*DEMO, stdin="run echo hi")
    assert done.returncode == 1
    short = home.session()[:12]
    back = f"flybridge chat --session {short} --state {home.state}"
    assert done.stderr.splitlines()[-1] == (
        "flybridge: Permission required to run `echo hi`, and this chat is not interactive. "
        f"Answer it with: {back} (interaction_required)"
    )
    (row,) = home.sessions()
    assert row["why"] == "permission"  # it stays open
    asked = home.run(*DEMO, stdin="question")
    assert asked.returncode == 1
    assert "The agent asks a question, and this chat is not interactive" in asked.stderr


def test_d03_what_a_local_command_prints_goes_to_standard_output(home: Home) -> None:
    done = home.run(*DEMO, stdin="/cost")
    assert done.returncode == 0, done.stderr
    assert "cost" in done.stdout.lower()
    assert done.stdout.strip() not in done.stderr


def test_a_turn_that_fails_is_exit_1(home: Home) -> None:
    assert home.run(*DEMO, stdin="error").returncode == 1
    done = home.run(*DEMO, stdin="crash")
    assert done.returncode == 1
    assert "the agent ended by itself (status 3)" in done.stderr


def test_nothing_to_say_is_a_mistake(home: Home) -> None:
    done = home.run(*DEMO)
    assert done.returncode == 2
    assert "nothing to say" in done.stderr
