from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from flybridge.agents.claude.history import ClaudeHistory
from flybridge.cli.history.command import history
from flybridge.config.state_dir import StateDir
from tests.harness.claude_transcripts import SESSION, Writer, golden, talk
from tests.harness.scripted_gateway import ScriptedGateway
from tests.harness.waiting import WAIT_S

SHORT = SESSION[:8]
KILLED = "5ceb776c-f43c-42a0-969a-0439a8e6a235"
PROGRAM = "from flybridge.cli.history.command import history; history(prog_name='history')"


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeHistory:
    """Claude's folder of this test, where the command looks for it."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return ClaudeHistory.of(os.environ)


def put(
    past: ClaudeHistory, lines: list[bytes], session: str = SESSION, *, end: bytes = b"\n"
) -> Path:
    path = past.projects / "-home-ada-boat" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines) + end)
    return path


def run(*args: str) -> Result:
    return CliRunner().invoke(history, list(args), catch_exceptions=False)


def said(*args: str) -> Any:
    done = run(*args, "--json")
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


def test_nothing_there_is_said_plainly(past: ClaudeHistory) -> None:
    assert run("list").stdout == "no conversations\n"
    assert run("search", "x").stdout == "not found in 0 files\n"
    assert run("doctor").stdout == "0 looked at, 0 would not resume\n"
    missing = run("show", SHORT)
    assert missing.exit_code == 1
    assert missing.stderr == f"flybridge: no session '{SHORT}' (session_not_found)\n"


def test_the_list_shows_what_a_conversation_was_about(past: ClaudeHistory) -> None:
    put(past, talk().lines)
    heading, line = run("list").stdout.splitlines()
    assert heading.split() == ["ID", "TITLE", "MODEL", "DIRECTORY", "CHANGED"]
    for text in (SHORT, "look around", "claude-x", "/home/ada/boat", "now"):
        assert text in line
    (row,) = said("list")
    assert (row["session"], row["prompt"], row["version"]) == (SESSION, "look around", "2.1.38")
    assert said("list", "--here") == []


def test_a_first_prompt_longer_than_the_head_is_still_shown(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("a chart: " + "x" * 100_000)
    writer.say("y" * 50_000)
    put(past, writer.lines)
    (row,) = said("list")
    assert row["prompt"].startswith("a chart: ")


def test_words_lead_to_their_conversation(past: ClaudeHistory) -> None:
    put(past, talk().lines)
    assert run("search", "AHOY").stdout == f"{SHORT}  2026-01-01  assistant: Ahoy.\n"
    found = said("search", "look", "around")
    assert [hit["session"] for hit in found["hits"]] == [SESSION]
    more = run("search", "o", "--limit", "1").stdout
    assert "there may be more" in more


def test_a_conversation_is_shown_word_for_word(past: ClaudeHistory) -> None:
    put(past, golden("2.1.38-tools"))
    shown = run("show", SHORT).stdout
    for text in ("> look around please", "∴ I should look.", "● Bash ls", "⎿ a.txt", "Two lines."):
        assert text in shown
    assert "compacted here" in shown
    whole = said("show", SHORT)
    assert whole["prompts"] == 4
    assert whole["pieces"][0]["kind"] == "prompt"


def test_what_an_agent_said_cannot_move_the_cursor(past: ClaudeHistory) -> None:
    writer = Writer()
    writer.prompt("hello \x1b[2J there")
    writer.say("\x1b]0;title\x07")
    put(past, writer.lines)
    for command in (["list"], ["show", SHORT], ["search", "there"], ["doctor"]):
        assert "\x1b" not in run(*command).stdout


def test_the_doctor_says_what_each_version_would_do(past: ClaudeHistory) -> None:
    put(past, talk().lines)
    put(past, golden("2.1.38-killed"), KILLED)
    done = run("doctor")
    assert done.exit_code == 1
    assert f"{KILLED}  2.1.38: does not resume, 2.1.325: does not resume" in done.stdout
    assert SESSION not in done.stdout
    assert done.stdout.endswith("2 looked at, 1 would not resume\n")
    assert run("doctor", SHORT).exit_code == 0


def test_the_doctor_changes_nothing_unless_told_to(past: ClaudeHistory) -> None:
    path = put(past, [*talk().lines, b"noise"])
    before = path.read_bytes()
    assert "not_json" in run("doctor").stdout
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_doctor_repairs_after_a_backup(past: ClaudeHistory) -> None:
    lines = talk().lines
    path = put(past, [*lines[:5], lines[5] + lines[6], lines[7]], end=b"")
    before = path.read_bytes()
    done = run("doctor", "--repair")
    backup = path.with_name(f"{path.name}.bak-1")
    assert f"what it was before is in {backup}" in done.stdout
    assert backup.read_bytes() == before
    assert path.read_bytes() == b"".join(line + b"\n" for line in lines)
    again = said("doctor", "--repair")
    assert again[0]["findings"] == []
    assert (again[0]["repaired"], again[0]["backup"]) == ([], "")


def test_what_is_in_use_is_not_repaired(past: ClaudeHistory) -> None:
    path = put(past, [*talk().lines, b"noise"])
    before = path.read_bytes()
    pid = os.getppid()
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    (past.config / "sessions").mkdir()
    entry = {"pid": pid, "sessionId": SESSION, "procStart": start}
    (past.config / "sessions" / f"{pid}.json").write_text(json.dumps(entry))
    (seen,) = said("doctor", "--repair")
    assert [one["code"] for one in seen["findings"]] == ["in_use", "not_json"]
    assert seen["error"] == "not repaired: a program has it open"
    assert path.read_bytes() == before
    refused = run("resume", SHORT, "--state", str(past.config / "s"))
    assert refused.exit_code == 1
    assert "another program has it open" in refused.stderr


def test_one_bad_transcript_does_not_hide_the_others(past: ClaudeHistory) -> None:
    put(past, talk().lines)
    path = put(past, [], KILLED, end=b"")
    os.truncate(path, 300 << 20)  # a hole: takes no room
    seen = {one["session"]: one for one in said("doctor")}
    assert "are read at most" in seen[KILLED]["error"]
    assert seen[SESSION]["error"] == ""


# ---- on with it ----------------------------------------------------------------------------------


class Gateway:
    """A gateway that notes what it is asked to open."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.opened: list[dict[str, Any]] = []
        self.stopped: list[str] = []
        self.reply: dict[str, object] = {"session": "ses_0123456789", "resumed": SESSION}
        self.scripted = ScriptedGateway(StateDir(str(state)))
        self.scripted.asks["open"] = self._open
        self.scripted.asks["stop_agent"] = self._stop
        self.scripted.asks["import"] = self._import
        self.imported: list[dict[str, Any]] = []

    def _open(self, params: dict[str, Any]) -> object:
        self.opened.append(params)
        return self.reply

    def _stop(self, params: dict[str, Any]) -> object:
        self.stopped.append(params["session"])
        return {}

    def _import(self, params: dict[str, Any]) -> object:
        self.imported.append(params)
        return {"session": "ses_0123456789", "conversation": params["conversation"], "turns": 2}

    async def run(self, *args: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, *args, "--state", str(self.state)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), WAIT_S)
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("command", ["resume", "fork"])
async def test_a_session_is_opened_on_the_conversation_where_it_was(
    past: ClaudeHistory, short_tmp: Path, command: str
) -> None:
    put(past, talk().lines)
    gateway = Gateway(short_tmp / "s")
    await gateway.scripted.start()
    code, out, err = await gateway.run(command, SHORT, "--title", "again")
    await gateway.scripted.stop()
    assert (code, err) == (0, "")
    assert out.startswith("ses_01234567: go on with  flybridge chat --session ses_01234567")
    (params,) = gateway.opened
    assert params.pop("request")
    assert params == {
        "agent": "claude",
        "cwd": "/home/ada/boat",
        "title": "again",
        "resume": SESSION,
        "fork": command == "fork",
        "folder": "ask",
    }


async def test_a_gateway_that_began_a_new_conversation_instead_is_stopped(
    past: ClaudeHistory, short_tmp: Path
) -> None:
    put(past, talk().lines)
    gateway = Gateway(short_tmp / "s")
    gateway.reply = {"session": "ses_0123456789"}
    await gateway.scripted.start()
    code, _, err = await gateway.run("resume", SHORT)
    await gateway.scripted.stop()
    assert code == 1
    assert "too old" in err
    assert gateway.stopped == ["ses_0123456789"]


async def test_what_cannot_resume_is_not_opened_and_what_it_forgets_is_said(
    past: ClaudeHistory, short_tmp: Path
) -> None:
    put(past, golden("2.1.38-killed"), KILLED)
    torn = talk().lines
    del torn[5]
    put(past, torn)
    gateway = Gateway(short_tmp / "s")
    await gateway.scripted.start()
    code, _, err = await gateway.run("resume", KILLED)
    assert (code, gateway.opened) == (1, [])
    assert "it would not resume" in err
    code, out, err = await gateway.run("resume", SHORT, "--json")
    await gateway.scripted.stop()
    assert code == 0
    assert "missing_parent" in err
    assert msgspec.json.decode(out) == gateway.reply


async def test_conversations_are_imported_by_name_or_all_of_some_days(
    past: ClaudeHistory, short_tmp: Path
) -> None:
    put(past, talk().lines)
    old = put(past, talk().lines, KILLED)
    os.utime(old, (1_000_000, 1_000_000))
    gateway = Gateway(short_tmp / "s")
    await gateway.scripted.start()
    code, out, err = await gateway.run("import", SHORT)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == [SHORT, "ses_01234567", "-", "2", "imported"]
    code, out, _ = await gateway.run("import", "--all", "--since", "2", "--active", "--json")
    assert [one["conversation"] for one in json.loads(out)] == [SESSION]
    await gateway.run("import", "--all")
    await gateway.scripted.stop()
    asked = [(one["conversation"], one["archived"]) for one in gateway.imported]
    assert asked == [(SESSION, True), (SESSION, False), (SESSION, True), (KILLED, True)]


@pytest.mark.parametrize("args", [(), (SHORT, "--all"), (SHORT, "--since", "1")])
def test_what_to_import_is_said_in_one_way(past: ClaudeHistory, args: tuple[str, ...]) -> None:
    done = run("import", *args)
    assert done.exit_code == 2
    assert "Usage:" in done.stderr
