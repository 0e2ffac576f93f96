from __future__ import annotations

from tests.cli.at_terminal import Home


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


def test_a_person_is_asked_and_asked_once(home: Home) -> None:
    path = bring_settings(home)
    chat = home.chat("--agent", "demo", columns=300)
    chat.wait_for(path, "Do you trust this folder?")
    chat.say("t")
    chat.wait_for_prompt()
    listed = home.run("trust", "list")
    assert listed.stdout == f"{home.work}\n"
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
