from __future__ import annotations

from tests.harness.terminal_home import Home


def test_an_answer_that_came_first_closes_the_box_everywhere(home: Home) -> None:
    one = home.demo()
    two = home.chat("--last")
    two.wait_for_prompt()
    one.say("run echo race")
    one.wait_for("y allow once")
    two.wait_for("y allow once")
    one.type("n")
    one.wait_for("┗━ denied")
    two.wait_for("┗━ denied by you, elsewhere")
    two.wait_for_prompt()


def test_prompts_are_asked_one_after_the_other(home: Home) -> None:
    chat = home.demo()
    chat.say("parallel")
    chat.wait_for("command: date", "y allow once")
    assert "command: pwd" not in chat.seen
    chat.type("y")
    chat.wait_for("┗━ allowed", "command: pwd", "y allow once")
    chat.type("n")
    chat.wait_for("┗━ denied", "Both are settled")
    chat.wait_for_prompt()


def test_a_prompt_that_is_open_is_there_for_whoever_comes(home: Home) -> None:
    first = home.demo()
    first.say("run echo later")
    first.wait_for("y allow once")
    first.kill()
    second = home.chat("--last")
    second.wait_for("┏━ permission: Bash", "y allow once")
    second.type("y")
    second.wait_for("┗━ allowed", "Done. It said")


def test_an_interrupt_withdraws_the_prompt(home: Home) -> None:
    chat = home.demo()
    chat.say("run echo never")
    chat.wait_for("y allow once")
    chat.type("\x1b")
    chat.wait_for("┗━ withdrawn by the agent", "─ interrupted")
    chat.wait_for_prompt()


def test_a_deleted_session_ends_the_chat(home: Home) -> None:
    chat = home.demo()
    assert home.run("sessions", "kill", home.session(), "--delete").returncode == 0
    assert chat.wait_end() == 0
    assert "gone" in chat.seen or "closed" in chat.seen
