from __future__ import annotations

import fcntl
import os
import signal
import struct
import termios

import pytest

from tests.harness.terminal_home import STEADY, Home, Terminal
from tests.harness.waiting import wait_until


def wait_for_modes(terminal: Terminal, *, given_back: bool) -> None:
    wait_until(lambda: (termios.tcgetattr(terminal.side) == terminal.modes) == given_back)


@pytest.mark.sample
def test_escape_interrupts_the_turn(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("long")
    chat.wait_for("1. This is line 1", "Esc interrupts")
    chat.type("\x1b")
    seen = chat.wait_for("─ interrupted")
    assert "That was all of it" not in seen
    chat.wait_for_prompt()


def test_control_c_twice_leaves_and_the_agent_goes_on(home: Home) -> None:
    chat = home.demo()
    chat.type("\x03")
    chat.wait_for("Ctrl-C again, or Ctrl-D, leaves")
    chat.type("\x03")
    assert chat.wait_end() == 130
    assert "the agent goes on without you; come back with" in chat.seen
    assert home.sessions()[0]["status"] == "idle"
    assert termios.tcgetattr(chat.side) == chat.modes


def test_control_c_once_interrupts_the_turn(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("long")
    chat.wait_for("1. This is line 1")
    chat.type("\x03")
    chat.wait_for("─ interrupted")
    assert chat.process.poll() is None


@pytest.mark.sample
def test_a_permission_is_denied_with_a_reason(home: Home) -> None:
    chat = home.demo()
    chat.say("run echo no")
    seen = chat.wait_for("y allow once")
    assert "┏━ permission: Bash\n┃   command: echo no" in seen
    assert "rule 1: Always allow Bash(echo no) — in this session" in seen
    chat.type("d")
    chat.wait_for("┃ why not >")
    chat.say("not today")
    seen = chat.wait_for("┗━ denied by you: not today", "I respect it")
    chat.wait_for_prompt()


def test_always_is_remembered_for_the_session(home: Home) -> None:
    chat = home.demo()
    chat.say("run echo again")
    chat.wait_for("a allow always")
    chat.type("a")
    chat.wait_for("which of the rules above: 1")
    chat.type("1")
    chat.wait_for("┗━ allowed by you, and always from now on", "Done. It said")
    chat.wait_for_prompt()
    chat.say("run echo again")
    chat.wait_until(lambda seen: seen.count("Done. It said") == 2, "a second run")
    assert chat.seen.count("┏━ permission") == 1


def test_what_was_being_typed_never_answers_a_prompt(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("run echo careful")
    chat.type("yes yes y")  # while the agent is about to ask
    chat.wait_for("send or clear what you are typing, then answer")
    chat.type("y")
    chat.wait_for("> yes yes yy")
    chat.type("\x15")
    chat.wait_for("y allow once")
    events = [one["event"]["type"] for one in home.events(home.session())]
    assert "permission.closed" not in events
    chat.type("n")
    chat.wait_for("┗━ denied")


def test_what_is_typed_while_text_arrives_is_not_lost(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    chat.say("long")
    chat.wait_for("1. This is line 1")
    for char in "think about this":
        chat.type(char)
    chat.wait_for("\n> think about this")
    chat.wait_for("3. This is line 3", "\n> think about this")
    chat.type("\x1b")
    chat.wait_for("─ interrupted", "\n> think about this")
    chat.type("\r")
    chat.wait_for("two helms, one rudder")


def test_a_message_during_a_turn_reaches_the_agent(home: Home) -> None:
    gate = home.base / "gate"
    chat = home.chat("--agent", "recorder")
    chat.wait_for_prompt()
    chat.say(f'@@ [{{"say": "begun"}}, {{"wait_file": "{gate}"}}]')
    chat.wait_for("  begun")
    chat.say("think of it")
    chat.wait_for("> think of it")
    gate.touch()
    chat.wait_for("ok: think of it")


def test_escape_codes_of_an_agent_are_shown_and_not_obeyed(home: Home) -> None:
    chat = home.chat("--agent", "recorder")
    chat.wait_for_prompt()
    nasty = "\\u001b]52;c;cm0=\\u0007\\u001b[2J\\u202e\\n\\u250f\\u2501 permission: Bash"
    chat.say('@@ [{"say": "' + nasty + ' end"}]')
    seen = chat.wait_for("\n  ┏━ permission: Bash end")  # the model refuses codes that are not ours
    assert "^[]52;c;cm0=^G^[[2J<U+202E>" in seen
    assert "\n┏━" not in seen


def test_a_question_is_answered_by_number_or_in_words(home: Home) -> None:
    chat = home.chat("--agent", "recorder")
    chat.wait_for_prompt()
    ask = (
        '@@ [{"tool": "AskUserQuestion", "ask": true, "input": {"questions": '
        '[{"question": "Which way?", "options": [{"label": "left"}, {"label": "right"}]}, '
        '{"question": "How far?", "options": []}]}}]'
    )
    chat.say(ask)
    chat.wait_for("┏━ question 1 of 2", "┃   Which way?", "┃ 2. right", "┃ answer >")
    chat.say("2")
    chat.wait_for("question 2 of 2", "How far?")
    chat.say("to the end")
    chat.wait_for("┗━ answered by you: right; to the end")


def test_a_long_input_is_allowed_only_after_its_end_was_shown(home: Home) -> None:
    chat = home.chat("--agent", "recorder", lines=20)
    chat.wait_for_prompt()
    command = "\\n".join(f"echo {n}" for n in range(30))
    steps = f'@@ [{{"tool": "Bash", "ask": true, "input": {{"command": "{command}"}}}}]'
    chat.type("\x1b[200~" + steps + "\x1b[201~\r")
    seen = chat.wait_for("space shows more")
    assert "y allow once" not in seen
    chat.type("y")
    chat.wait_for("not before the end of the input was shown")
    while "y allow once" not in chat.seen:
        before = chat.seen
        chat.type(" ")
        chat.wait_until(lambda seen, before=before: seen != before, "another page")  # type: ignore[misc]
    chat.wait_for("echo 29")
    chat.type("y")
    chat.wait_for("┗━ allowed")


@pytest.mark.sample
def test_a_gateway_that_dies_in_the_middle_costs_no_text_and_repeats_none(home: Home) -> None:
    chat = home.demo(agent=STEADY)
    pid = home.gateway_pid()
    chat.say("long")
    chat.wait_for("2. This is line 2")
    os.kill(pid, signal.SIGKILL)
    seen = chat.wait_for("That was all of it.", "\n─ ")
    for n in range(1, 22):
        assert seen.count(f"{n}. This is line {n} ") == 1, n
    assert "text replaced" not in seen
    chat.say("think again")
    chat.wait_for("two helms, one rudder")


@pytest.mark.sample
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_terminal_is_given_back_when_a_signal_ends_it(home: Home, how: int) -> None:
    chat = home.demo()
    assert chat.model.pastes
    assert termios.tcgetattr(chat.side) != chat.modes
    chat.process.send_signal(how)
    assert chat.wait_end() == 128 + how
    assert termios.tcgetattr(chat.side) == chat.modes
    assert not chat.model.pastes


def test_the_terminal_is_the_shells_while_the_chat_is_stopped(home: Home) -> None:
    chat = home.demo()
    chat.type("half")
    chat.wait_for("> half")
    chat.process.send_signal(signal.SIGTSTP)
    wait_for_modes(chat, given_back=True)
    assert "half" not in chat.seen
    chat.process.send_signal(signal.SIGCONT)
    wait_for_modes(chat, given_back=False)
    chat.wait_for("> half")
    chat.type("\x15")
    chat.say("hello")
    chat.wait_for("Hello from the demo agent")


def test_another_size_of_the_terminal_is_no_trouble(home: Home) -> None:
    chat = home.demo()
    chat.say("run echo small")
    chat.wait_for("y allow once")
    chat.model.columns = 40
    fcntl.ioctl(chat.side, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 40, 0, 0))
    os.killpg(chat.process.pid, signal.SIGWINCH)
    chat.wait_until(lambda seen: "d deny and say why\n┃" in seen, "choices in several rows")
    chat.type("y")
    chat.wait_for("┗━ allowed")


def test_slash_lines_steer_the_session(home: Home) -> None:
    chat = home.demo()
    chat.wait_for("flybridge-demo-fast")  # the agent has told its commands
    chat.say("/help")
    chat.wait_for("/rename TITLE", "the agent's own:", "/markdown", "headings, lists, a table")
    chat.say("/title Renamed")
    chat.wait_for("title: Renamed")
    chat.say("/effort")
    chat.wait_for("usage: /effort LEVEL")
    chat.say("/sessions")
    chat.wait_for("DIRECTORY", "Renamed  demo")
    chat.say("/close")
    assert chat.wait_end() == 0
    assert "the session was closed" in chat.seen
    assert home.sessions()[0]["status"] == "closed"


def test_an_agent_that_crashes_is_said_so_and_started_again(home: Home) -> None:
    chat = home.demo()
    chat.say("crash")
    chat.wait_for("the agent ended by itself (status 3); your next message starts it again")
    chat.say("think on")
    chat.wait_for("two helms, one rudder")


def test_without_colours_there_are_none(home: Home) -> None:
    chat = home.demo(env={"NO_COLOR": "1"})
    chat.say("hello")
    chat.wait_for("Hello from the demo agent")
    assert not chat.model.coloured


def test_the_history_of_lines_outlives_the_chat(home: Home) -> None:
    first = home.demo()
    first.say("/title one")
    first.wait_for("title: one")
    first.type("\x04")
    first.wait_end()
    second = home.demo()
    second.type("\x1b[A")
    second.wait_for("> /title one")


def test_a_message_is_written_in_an_editor(home: Home) -> None:
    program = home.base / "editor"
    program.write_text('#!/bin/sh\nprintf "%s, and\\nthink" "$(cat "$1")" > "$1"\n')
    program.chmod(0o700)
    chat = home.demo(env={"EDITOR": str(program)})
    chat.type("begun")
    chat.wait_for("> begun")
    chat.type("\x18\x05")
    chat.wait_for("> begun, and\n  think")
    chat.type("\x15\x7f\x15")
    chat.say("/edit")
    chat.wait_for("> , and\n  think")
    wait_for_modes(chat, given_back=False)


def test_an_editor_that_fails_leaves_the_line_as_it_was(home: Home) -> None:
    chat = home.demo(env={"EDITOR": "false"})
    chat.type("begun")
    chat.wait_for("> begun")
    chat.type("\x18\x05")
    chat.wait_for("false ended with status 1; nothing was changed", "\n> begun")
    chat.type("\x15")
    chat.say("think")
    chat.wait_for("two helms, one rudder")


def test_the_status_line_says_how_full_and_how_much(home: Home) -> None:
    chat = home.demo()
    chat.say("price")
    chat.wait_for("nobody pays", " · $0.0421\n>")
    chat.say("flood")
    chat.wait_for(" · context ", " · $0.0421\n>")
