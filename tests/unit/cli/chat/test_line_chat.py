from __future__ import annotations

from tests.harness.terminal_home import FAST, Home, Terminal


def dumb(home: Home, *args: str) -> Terminal:
    chat = home.chat("--agent", "demo", "--model", FAST, *args, env={"TERM": "dumb"})
    chat.wait_for("· demo · ")
    return chat


def test_a_dumb_terminal_gets_plain_text(home: Home) -> None:
    chat = dumb(home)
    chat.say("hello")
    seen = chat.wait_for("Open this session in a second window", "\n─ ")
    assert seen.count("Hello from the demo agent") == 1
    assert not chat.model.coloured
    assert not chat.model.pastes
    chat.type("\x04")
    assert chat.wait_end() == 0
    assert "come back with" in chat.seen


def test_a_permission_is_answered_by_a_line(home: Home) -> None:
    chat = dumb(home)
    chat.say("run echo plain")
    chat.wait_for("┃   command: echo plain", "┃ y allow once")
    chat.say("y")
    chat.wait_for("┗━ allowed", "Done. It said")
    chat.say("run echo no")
    chat.wait_for("┃   command: echo no")
    chat.wait_until(lambda seen: seen.count("┃ y allow once") == 2, "the choices again")
    chat.say("d")
    chat.wait_for("┃ why not >")
    chat.say("because")
    chat.wait_for("┗━ denied by you: because")


def test_control_c_twice_leaves(home: Home) -> None:
    chat = dumb(home)
    chat.type("\x03")
    chat.wait_for("Ctrl-C again")
    chat.type("\x03")
    assert chat.wait_end() == 130


def test_slash_lines_work_here_too(home: Home) -> None:
    chat = dumb(home)
    chat.say("/title Dumb")
    chat.wait_for("title: Dumb")
    chat.say("/quit")
    assert chat.wait_end() == 0
