from __future__ import annotations

import pytest

from tests.harness.terminal_home import Home


def bring_settings(home: Home) -> str:
    path = home.work / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}")
    return str(path)


def test_a_program_is_told_how_to_open_a_folder_that_brings_settings(home: Home) -> None:
    bring_settings(home)
    done = home.run("chat", "--agent", "demo", stdin="hello")
    assert done.returncode == 1
    assert "--folder restrict" in done.stderr
    assert done.stderr.endswith("(folder_not_trusted)\n")
    assert home.sessions() == []
    done = home.run("sessions", "new", "--agent", "demo", "--folder", "restrict")
    assert done.returncode == 0, done.stderr
    assert home.run("sessions", "new", "--folder", "trust").stderr.endswith("(not_allowed)\n")


def test_a08_a_program_is_told_the_option_and_the_key(home: Home) -> None:
    skill = home.work / ".claude" / "skills" / "x" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: x\n---\n")
    done = home.run("chat", "--agent", "demo", stdin="hello")
    assert done.returncode == 1
    for words in (str(skill), "--folder restrict", "flybridge trust add", "folder_settings"):
        assert words in done.stderr
    for how, command in (("chat", ()), ("adhoc", ("hello",))):
        done = home.run(how, "--agent", "demo", *command, stdin="hello")
        assert "folder_settings" in done.stderr, how


def test_a08_a_person_is_shown_the_files_and_the_instructions(home: Home) -> None:
    path = bring_settings(home)
    (home.work / "CLAUDE.md").write_text("be kind")
    chat = home.chat("--agent", "demo", columns=300)
    chat.wait_for(path, "instructions", "CLAUDE.md", "Do you trust this folder?")
    chat.say("n")
    assert chat.wait_end() == 1


@pytest.mark.sample
def test_a_person_is_asked_and_asked_once(home: Home) -> None:
    path = bring_settings(home)
    chat = home.chat("--agent", "demo", columns=300)
    chat.wait_for(path, "Do you trust this folder?")
    chat.say("t")
    chat.wait_for_prompt()
    listed = home.run("trust", "list")
    assert listed.stdout == f"{home.work}  (demo)\n"
    again = home.chat("--agent", "demo")
    again.wait_for_prompt()
    assert "trust" not in again.seen


def test_a_person_may_say_no(home: Home) -> None:
    bring_settings(home)
    chat = home.chat("--agent", "demo", columns=300)
    chat.wait_for("Do you trust this folder?")
    chat.say("n")
    assert chat.wait_end() == 1
    assert home.sessions() == []


def test_folders_are_trusted_and_not_by_programs(home: Home) -> None:
    assert home.run("trust", "list").stdout == "no folder is trusted\n"
    assert home.run("trust", "add", str(home.work)).stderr.endswith("(not_allowed)\n")
    for words, said in (
        (("add", str(home.work)), "trusted: "),
        (("remove", str(home.work)), "trusted no more: "),
        (("remove", str(home.work)), "was not trusted: "),
    ):
        terminal = home.at_terminal("trust", *words)
        assert terminal.wait_end() == 0
        assert said in terminal.seen
