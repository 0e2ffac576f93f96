from __future__ import annotations

import pytest

from tests.harness.terminal_home import STEADY, Home


@pytest.mark.sample
def test_a_prompt_is_answered_and_leaving_says_how_to_come_back(home: Home) -> None:
    chat = home.demo()
    chat.say("hello")
    seen = chat.wait_for("Open this session in a second window", "\n─ ")
    assert seen.index("> hello") < seen.index("Hello from the demo agent")
    assert seen.count("Hello from the demo agent") == 1
    chat.type("\x04")
    assert chat.wait_end() == 0
    assert f"come back with: flybridge chat --session {home.session()[:12]}" in chat.seen
    assert home.sessions()[0]["status"] == "idle"


def test_words_on_the_command_line_are_the_first_prompt(home: Home) -> None:
    chat = home.demo("think", "boats")
    chat.wait_for("> think boats", "two helms, one rudder", "\n─ ")


def test_coming_back_shows_what_was_said(home: Home) -> None:
    first = home.demo()
    first.say("run echo one-two-three")
    first.wait_for("y allow once")
    first.type("y")
    first.wait_for("Done. It said")
    first.wait_for_prompt()
    first.say("/quit")
    assert first.wait_end() == 0
    for again in (["--last"], ["--session", home.session()[4:10]]):
        chat = home.chat(*again)
        chat.wait_for("run echo one-two-three", "● Bash echo one-two-three", "Done. It said")
        assert "permission" not in chat.wait_for_prompt()
        chat.type("\x04")
        assert chat.wait_end() == 0


@pytest.mark.sample
def test_two_chats_share_a_session_and_nothing_is_lost_when_both_are_killed(home: Home) -> None:
    one = home.demo(agent=STEADY)
    session = home.session()
    two = home.chat("--session", session)
    two.wait_for_prompt()
    one.say("run echo shared")
    one.wait_for("> run echo shared", "y allow once")
    two.wait_for("> you (other client): run echo shared", "y allow once")
    two.type("y")
    two.wait_for("┗━ allowed", "Done. It said")
    one.wait_for("┗━ allowed by you, elsewhere", "Done. It said")
    two.say("long")
    for chat in (one, two):
        chat.wait_for("1. This is line 1")
    one.kill()
    two.kill()
    third = home.chat("--session", session)
    seen = third.wait_for("That was all of it.", "\n─ ")
    third.wait_for_prompt()
    for n in range(1, 22):
        assert seen.count(f"{n}. This is line {n} ") == 1, n
    numbers = [event["seq"] for event in home.events(session)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_options_of_a_new_session_reach_it(home: Home) -> None:
    chat = home.demo("--title", "A title", "--mode", "plan")
    chat.say("hello")
    chat.wait_for("Open this session")
    (row,) = home.sessions()
    assert row["title"] == "A title"
    assert row["agent"] == "demo"
    assert row["cwd"] == str(home.work)
    modes = [e["event"].get("mode") for e in home.events(row["session"])]
    assert "plan" in modes


def test_what_cannot_be_is_said_in_one_line(home: Home) -> None:
    for args, text in (
        (["--session", "nope"], "flybridge: no session 'nope' (session_not_found)"),
        (["--last"], "(invalid_request)"),
        (["--agent", "nobody"], "(agent_not_found)"),
    ):
        chat = home.chat(*args, columns=300)
        assert chat.wait_end() == 1
        assert text in chat.seen
        assert "Traceback" not in chat.seen
    wrong = home.run("chat", "--last", "--agent", "demo", stdin="x")
    assert wrong.returncode == 2
    assert "--agent is for a new session" in wrong.stderr
