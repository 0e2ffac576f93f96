from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import FAST, Home
from tests.unit.cli.sessions.test_open import at_terminal

DEMO = ("chat", "--agent", "demo", "--model", FAST)


@pytest.mark.sample
def test_a_session_is_written_to_standard_output_or_to_a_file(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    short = home.session()[4:10]
    shown = home.run("sessions", "export", short)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"# Session {home.session()[:12]}\n")
    assert "two helms, one rudder" in shown.stdout
    assert "\n## Cost\n" in shown.stdout
    done = home.run("sessions", "export", short, "-o", "out.md")
    assert done.stdout.startswith(f"{home.session()[:12]}: written to out.md, ")
    assert (home.work / "out.md").read_text() == shown.stdout


def test_the_name_of_the_file_or_the_flag_says_how(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    home.run("sessions", "export", home.session(), "-o", "a.json")
    assert json.loads((home.work / "a.json").read_text())["session"] == home.session()
    home.run("sessions", "export", home.session(), "-o", "a.txt", "--format", "jsonl")
    lines = (home.work / "a.txt").read_text().splitlines()
    assert [json.loads(line) for line in lines] == home.events(home.session())


def test_nothing_is_overwritten_by_accident(home: Home) -> None:
    home.run(*DEMO, stdin="think")
    (home.work / "a.md").write_text("mine")
    refused = home.run("sessions", "export", home.session(), "-o", "a.md")
    assert refused.returncode == 2
    assert "--force replaces it" in refused.stderr
    assert (home.work / "a.md").read_text() == "mine"
    home.run("sessions", "export", home.session(), "-o", "a.md", "--force")
    assert (home.work / "a.md").read_text() != "mine"


def test_no_code_of_an_agents_reaches_the_terminal(home: Home) -> None:
    nasty = json.dumps([{"say": "\x9b2J and \u202e end"}])
    home.run("chat", "--agent", "recorder", stdin=f"@@ {nasty}")
    for kind in ("markdown", "jsonl"):
        shown = at_terminal(home, "export", home.session(), "--format", kind, columns=9999)
        assert shown.wait_end() == 0
        assert "<U+009B>2J" in shown.seen
        assert "\u202e" not in shown.seen


def test_an_unknown_session_is_one_line(home: Home) -> None:
    done = home.run("sessions", "export", "x", "-o", "x.md")
    assert done.returncode == 1
    assert done.stderr == "flybridge: no session 'x' (session_not_found)\n"
    assert not (home.work / "x.md").exists()
