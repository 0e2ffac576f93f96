from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.agents.claude import owners as claude_owners
from flybridge.agents.claude.history import Transcript
from flybridge.agents.claude.owners import Owner, _conversations, owners_of
from flybridge.session.ports import CONVERSATION_ENV
from tests.harness.waiting import wait_until
from tests.unit.agents.claude.test_history import ONE, TWO

pytestmark = pytest.mark.needs("linux")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[int]:
    """Another process, with this conversation in its arguments as Claude has it."""
    argv = [sys.executable, "-c", "input()", "--resume", ONE]
    env = {**os.environ, "CLAUDE_CONFIG_DIR": str(tmp_path)}
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE)
    yield process.pid
    process.communicate(b"\n", timeout=20)


def listed(config: Path, pid: int, session: str, start: str) -> None:
    folder = config / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {"pid": pid, "sessionId": session, "procStart": start, "status": "busy"}
    (folder / f"{pid}.json").write_text(json.dumps(entry))


def start_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_a_process_that_names_it_in_its_arguments_owns_it(tmp_path: Path, other: int) -> None:
    # between fork and exec the arguments are still ours
    assert wait_until(lambda: owners_of(tmp_path, ONE)) == [Owner(other, "arguments")]
    assert owners_of(tmp_path, TWO) == []
    assert owners_of(tmp_path / "elsewhere", ONE) == []  # a copy is another conversation


def test_a_living_process_in_claudes_own_list_owns_it(tmp_path: Path, other: int) -> None:
    listed(tmp_path, other, TWO, start_of(other))
    assert owners_of(tmp_path, TWO) == [Owner(other, "list")]


def test_an_entry_that_outlived_its_process_counts_for_nothing(tmp_path: Path, other: int) -> None:
    listed(tmp_path, other, TWO, "1")
    assert owners_of(tmp_path, TWO) == []


def test_one_that_ended_and_was_not_waited_for_owns_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    start = start_of(process.pid)
    stat = Path(f"/proc/{process.pid}/stat")
    wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z")
    listed(tmp_path, process.pid, TWO, start)
    assert owners_of(tmp_path, TWO) == []
    process.wait()


def test_a_process_of_our_own_is_known_by_its_environment(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "print(1, flush=True); input()", "--resume", ONE]
    env = {**os.environ, "SOME_MARK": "ses_1", "CLAUDE_CONFIG_DIR": str(tmp_path)}
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert owners_of(tmp_path, ONE, but=["SOME_MARK=ses_1"]) == []
    for other in (["SOME_MARK=ses"], ["SOME_MARK=ses_1", "OTHER=1"]):
        assert owners_of(tmp_path, ONE, but=other) == [Owner(process.pid, "arguments")]
    process.communicate(b"\n", timeout=20)


def test_entries_nobody_can_read_are_passed_over(tmp_path: Path) -> None:
    listed(tmp_path, os.getppid(), TWO, start_of(os.getppid()))
    folder = tmp_path / "sessions"
    (folder / "1.json").write_text("{")
    (folder / "2.json").symlink_to("/etc/hostname")
    os.mkfifo(folder / "3.json")
    (folder / "4.key").write_text("{}")
    assert owners_of(tmp_path, TWO) == [Owner(os.getppid(), "list")]


def test_we_do_not_own_it_ourselves(tmp_path: Path) -> None:
    listed(tmp_path, os.getpid(), TWO, start_of(os.getpid()))
    assert owners_of(tmp_path, TWO) == []


def test_what_is_no_id_has_no_owner(tmp_path: Path) -> None:
    assert owners_of(tmp_path, "") == []
    assert owners_of(tmp_path, "--resume") == []


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("claude --resume a -x", {"a"}),
        ("claude --resume=a", {"a"}),
        ("claude -r a --session-id b", {"a", "b"}),
        ("claude --resume a --fork-session --session-id b", {"b"}),
        ("claude --resume", set()),
        ("python /usr/bin/flybridge chat --resume a", set()),
        ("python -m flybridge chat --resume a", set()),
        ("python -m flybridge.agents.demo --resume a", {"a"}),
        ("grep a", set()),
    ],
)
def test_which_conversations_arguments_speak_of(words: str, written: set[str]) -> None:
    found = _conversations(words.encode().split(b" "))
    assert {one.decode() for one in found} == written


# ---- older versions write over their arguments ---------------------------------------------------

BOOTED = 1_000_000
WRITTEN = Transcript(session=ONE, folder="-home-ada-boat", size=1, modified_ms=BOOTED * 1000 + 5000)
OLDER = {
    "stat": "7 (claude) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 0 0 0 0 200 0",
    "cmdline": "claude" + "\0" * 90,
    "environ": "HOME=/home/ada\0",
    "cwd": "/home/ada/boat",
}


def processes(proc: Path, *given: dict[str, str]) -> Path:
    """What the kernel would show of these: pids from 7 on."""
    proc.mkdir(parents=True)
    (proc / "stat").write_text(f"cpu 1\nbtime {BOOTED}\n")
    for pid, one in enumerate(given, 7):
        (proc / str(pid)).mkdir()
        for name, text in one.items():
            if name == "cwd":
                (proc / str(pid) / name).symlink_to(text)
            else:
                (proc / str(pid) / name).write_text(text)
    return proc


def seen(tmp_path: Path, *given: dict[str, str], transcript: Transcript | None = WRITTEN) -> object:
    proc = processes(tmp_path / "proc", *given)
    found = owners_of(Path("/home/ada/.claude"), ONE, transcript=transcript, proc=proc)
    return [(one.pid, one.told_by) for one in found]


def test_one_in_the_directory_of_a_conversation_that_grew_since_may_have_it(tmp_path: Path) -> None:
    assert seen(tmp_path, OLDER) == [(7, "looks")]


@pytest.mark.parametrize(
    "change",
    [
        {"stat": OLDER["stat"].replace(" 200 ", " 600 ")},  # it began after the last word
        {"stat": OLDER["stat"].replace(") S ", ") Z ")},
        {"stat": "7 (claude) S 1"},
        {"cwd": "/home/ada/dock"},
        {"environ": "HOME=/home/eve\0"},
        {"environ": f"HOME=/home/ada\0{CONVERSATION_ENV}={TWO}\0"},
        {"cmdline": "vim\0"},
        {"cmdline": ""},
    ],
)
def test_one_that_cannot_have_it_is_not_suspected(tmp_path: Path, change: dict[str, str]) -> None:
    assert seen(tmp_path, {**OLDER, **change}) == []


def test_nobody_is_suspected_of_what_was_never_written(tmp_path: Path) -> None:
    assert seen(tmp_path, OLDER, transcript=None) == []
    assert seen(tmp_path / "gone", {"cmdline": OLDER["cmdline"]}) == []


def test_an_agent_is_known_by_what_its_keeper_gave_it(tmp_path: Path) -> None:
    keeper = {"stat": "7 (p) S 1", "cmdline": "python\0-I\0/lib/keeper_program.py\0"}
    agent = {**OLDER, "stat": OLDER["stat"].replace(" S 1 ", " S 7 ")}
    mine = {**agent, "environ": f"HOME=/home/ada\0{CONVERSATION_ENV}={ONE}\0"}
    other = {**agent, "environ": f"HOME=/home/ada\0{CONVERSATION_ENV}={TWO}\0"}
    tool = {**mine, "stat": OLDER["stat"].replace(" S 1 ", " S 8 "), "cmdline": "sleep\0"}
    assert seen(tmp_path, keeper, mine, other, tool) == [(8, "environment")]


def test_an_agent_that_is_just_being_started_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = {"stat": "7 (p) S 1", "cmdline": "python\0-I\0/lib/keeper_program.py\0"}
    begins = {"stat": OLDER["stat"].replace(" S 1 ", " S 7 "), "cmdline": "", "environ": ""}
    mark = f"HOME=/home/ada\0{CONVERSATION_ENV}={ONE}\0"
    late = threading.Timer(
        0.05,
        lambda: (tmp_path / "proc/8/environ").write_text(mark),
    )
    late.start()
    assert seen(tmp_path, keeper, begins) == [(8, "environment")]
    late.join()
    monkeypatch.setattr(claude_owners, "STARTING_S", 0.01)
    assert seen(tmp_path / "never", keeper, begins) == []
