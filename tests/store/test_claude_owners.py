from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.store.claude_owners import Owner, _conversations, owners_of
from tests.store.test_claude_history import ONE, TWO

pytestmark = pytest.mark.needs("linux")


@pytest.fixture
def other() -> Iterator[int]:
    """Another process, with this conversation in its arguments as Claude has it."""
    argv = [sys.executable, "-c", "input()", "--resume", ONE]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE)
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
    deadline = time.monotonic() + 20
    while not (found := owners_of(tmp_path, ONE)) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert found == [Owner(other, "arguments")]
    assert owners_of(tmp_path, TWO) == []


def test_a_living_process_in_claudes_own_list_owns_it(tmp_path: Path, other: int) -> None:
    listed(tmp_path, other, TWO, start_of(other))
    assert owners_of(tmp_path, TWO) == [Owner(other, "list")]


def test_an_entry_that_outlived_its_process_counts_for_nothing(tmp_path: Path, other: int) -> None:
    listed(tmp_path, other, TWO, "1")
    assert owners_of(tmp_path, TWO) == []


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
        ("grep a", set()),
    ],
)
def test_which_conversations_arguments_speak_of(words: str, written: set[str]) -> None:
    found = _conversations(words.encode().split(b" "))
    assert {one.decode() for one in found} == written
