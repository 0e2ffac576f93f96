from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.older_keeper import with_pipes
from tests.harness.terminal_home import FAST, Home

DEMO = ("chat", "--agent", "demo", "--model", FAST)


def test_the_list_shows_first_words_status_and_directory(home: Home) -> None:
    assert home.run("sessions", "list").stdout == "no sessions\n"
    home.run(*DEMO, stdin="think of boats")
    done = home.run("sessions", "list")
    assert done.returncode == 0
    heading, line = done.stdout.splitlines()
    assert heading.split() == ["ID", "TITLE", "AGENT", "STATUS", "DIRECTORY", "CHANGED"]
    for text in (home.session()[:12], "think of boats", "demo", "idle", str(home.work), "now"):
        assert text in line


def test_closed_sessions_are_listed_only_when_asked_for(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    closed = home.run("sessions", "kill", home.session(), "--close")
    assert closed.stdout == f"{home.session()[:12]}: closed; its log stays\n"
    assert home.run("sessions", "list").stdout == "no sessions\n"
    assert "closed" in home.run("sessions", "list", "--all").stdout


@pytest.mark.sample
def test_show_prints_the_conversation_and_json_every_event(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    session = home.session()
    shown = home.run("sessions", "show", session[:9])
    assert shown.returncode == 0
    for text in ("> think", "∴ The question is", "two helms, one rudder"):
        assert text in shown.stdout
    events = home.events(session)
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
    assert events[0]["event"]["type"] == "session.opened"


def test_a01_show_and_chat_advise_to_restart_an_agent_on_pipes(home: Home, tmp_path: Path) -> None:
    advice = "restart this session's agent to protect its prompts"
    home.env["PYTHONPATH"] = str(with_pipes(tmp_path))
    home.run(*DEMO, stdin="think")
    session = home.session()
    assert advice in home.run("sessions", "show", session).stdout
    home.chat("--session", session, columns=240).wait_for(advice)
    home.run("gateway", "stop")
    del home.env["PYTHONPATH"]
    assert advice in home.run("sessions", "show", session).stdout
    home.run("sessions", "kill", session)
    home.run(*DEMO, "--session", session, stdin="think")
    assert advice not in home.run("sessions", "show", session).stdout


def test_follow_goes_on_until_the_session_is_gone(home: Home) -> None:
    chat = home.demo()
    follower = home.start("sessions", "show", home.session(), "--follow")
    chat.say("think")
    chat.wait_for("two helms, one rudder")
    chat.wait_for_prompt()
    home.run("sessions", "kill", home.session(), "--delete")
    out, err = follower.communicate(timeout=20)
    assert out.count("two helms, one rudder") == 1
    assert err == ""


@pytest.mark.sample
def test_kill_ends_the_agent_and_keeps_the_session(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    session = home.session()
    done = home.run("sessions", "kill", session[4:12])
    assert done.stdout == f"{session[:12]}: its agent was ended; the session stays\n"
    assert home.sessions()[0]["status"] == "off"
    again = home.run("sessions", "kill", session)
    assert again.stdout == f"{session[:12]}: it had no agent; the session stays\n"
    assert json.loads(home.run("gateway", "status", "--json").stdout)["agents"] == 0
    assert "rudder" in home.run("chat", "--last", stdin="think").stdout


def test_delete_forgets_the_session(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    done = home.run("sessions", "kill", home.session(), "--delete")
    assert done.returncode == 0, done.stderr
    assert home.sessions() == []


def test_an_unknown_session_is_one_line(home: Home) -> None:
    for command in (["show", "x"], ["kill", "x"]):
        done = home.run("sessions", *command)
        assert done.returncode == 1
        assert done.stderr == "flybridge: no session 'x' (session_not_found)\n"


def test_a_reader_that_has_enough_is_no_error(home: Home) -> None:
    home.run(*DEMO, stdin="hello")
    shown = home.start("sessions", "show", home.session())
    assert shown.stdout is not None
    shown.stdout.close()
    assert shown.wait(20) in (0, 1)
    assert shown.stderr is not None
    assert "Traceback" not in shown.stderr.read()
    shown.stderr.close()
