from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import FAST, Home, Terminal


def at_terminal(home: Home, *args: str, columns: int = 100) -> Terminal:
    terminal = Terminal(
        home.argv("sessions", *args), env=home.env, cwd=home.work, columns=columns, lines=40
    )
    home.terminals.append(terminal)
    return terminal


def test_a_new_session_is_its_id_and_nothing_else(home: Home) -> None:
    done = home.run("sessions", "new", "--agent", "demo", "--title", "one", "--effort", "low")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == home.session() + "\n"
    assert home.sessions()[0]["title"] == "one"
    said = home.run("sessions", "new", "--agent", "demo", "--json")
    assert json.loads(said.stdout)["session"] in [row["session"] for row in home.sessions()]


def test_what_cannot_be_opened_is_wrong_usage(home: Home) -> None:
    done = home.run("sessions", "new", "--agent", "demo", "--effort", "silly")
    assert done.returncode == 2
    assert done.stderr.endswith("(agent_start)\n")


@pytest.mark.sample
def test_resume_goes_on_chatting_and_brings_the_agent_back(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    home.run("sessions", "kill", home.session())
    chat = at_terminal(home, "resume", home.session()[:8])
    chat.wait_for("two helms, one rudder", "no agent runs; your next message starts it")
    chat.say("hello")
    chat.wait_for("I continue session")
    chat.type("\x04")
    assert chat.wait_end() == 0


def test_a_closed_session_cannot_be_resumed(home: Home) -> None:
    home.run("sessions", "new", "--agent", "demo")
    home.run("sessions", "kill", home.session(), "--close")
    chat = at_terminal(home, "resume", home.session())
    assert chat.wait_end() == 1
    assert f"session {home.session()[:12]} is closed (session_closed)" in chat.seen
    piped = home.run("sessions", "resume", home.session())
    assert piped.returncode == 2
    assert "not at a terminal" in piped.stderr


def test_a_fork_goes_on_in_a_copy(home: Home) -> None:
    home.run("chat", "--agent", "demo", "--model", FAST, stdin="think")
    first = home.session()
    done = home.run("sessions", "fork", first[4:10], "--title", "copy", "--json")
    copy = json.loads(done.stdout)["session"]
    assert copy != first
    opened = home.events(copy)[0]["event"]
    assert opened["forked"]
    assert opened["title"] == "copy"
    answer = home.run("chat", "--session", copy, stdin="hello").stdout
    assert "I continue session" in answer
