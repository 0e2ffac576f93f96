from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from flybridge.cli.doctor.state import (
    NETWORK,
    check_journal,
    check_state,
    file_system_of,
    size,
)
from flybridge.cli.doctor.text import Check
from flybridge.config.state_dir import StateDir
from flybridge.store.sqlite import SqliteJournal

NO_GATEWAY = Check(area="gateway", text="none runs")


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    state = StateDir(tmp_path / "s")
    state.prepare()
    return state


def make_journal(state: StateDir) -> None:
    SqliteJournal.open(str(state.journal), boot="b", ballast_bytes=0).close()


def names(state: StateDir) -> list[str]:
    return sorted(one.name for one in state.path.iterdir())


# ---- the directory -------------------------------------------------------------------------------


def test_one_that_is_not_there_is_no_problem_and_is_not_made(tmp_path: Path) -> None:
    check = check_state(StateDir(tmp_path / "a" / "b"))
    assert check.status == "ok"
    assert check.data["exists"] is False
    assert not (tmp_path / "a").exists()


def test_an_own_one_says_how_much_room_there_is(state: StateDir) -> None:
    check = check_state(state)
    assert check.text.startswith(f"{state.path}, yours alone, ")
    room = os.statvfs(state.path)
    assert check.data["file_system"] == file_system_of(state.path)
    free = check.data["free_bytes"]
    assert isinstance(free, int)
    assert 0 < free <= room.f_blocks * room.f_frsize


def test_one_that_others_can_enter_is_a_problem_with_its_cure(state: StateDir) -> None:
    state.path.chmod(0o755)
    check = check_state(state)
    assert (check.status, check.fix) == ("problem", f"run: chmod 700 {state.path}")
    assert "exists" not in check.data


def test_a_link_is_a_problem(state: StateDir, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(state.path)
    assert check_state(StateDir(link)).status == "problem"


def test_a_path_too_long_for_a_socket_is_noted(tmp_path: Path) -> None:
    check = check_state(StateDir(tmp_path / ("x" * 120)))
    assert check.status == "note"
    assert "too long" in check.fix


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_network_file_systems_are_known_by_name(kind: str) -> None:
    assert NETWORK.search(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs"])
def test_local_file_systems_are_not_taken_for_others(kind: str) -> None:
    assert not NETWORK.search(kind)


@pytest.mark.needs("linux")
def test_the_kernel_says_what_a_path_is_on() -> None:
    assert file_system_of(Path("/proc/self")) == "proc"


def test_sizes_are_read_by_people() -> None:
    assert [size(one) for one in (2048, 5 << 20, 3 << 30)] == ["2 KiB", "5 MiB", "3 GiB"]


# ---- the journal ---------------------------------------------------------------------------------


def test_no_journal_is_no_problem(state: StateDir) -> None:
    assert check_journal(state, NO_GATEWAY).text == "none yet"


def test_a_journal_is_read_and_left_as_it_is(state: StateDir) -> None:
    make_journal(state)
    before = (names(state), state.journal.read_bytes())
    check = check_journal(state, NO_GATEWAY)
    assert check.status == "ok"
    assert check.text.startswith("opens, 0 sessions, ")
    assert (names(state), state.journal.read_bytes()) == before


def test_a_log_without_its_journal_is_a_problem(state: StateDir) -> None:
    (state.path / "journal.db-wal").write_bytes(b"x")
    check = check_journal(state, NO_GATEWAY)
    assert check.status == "problem"
    assert "missing" in check.text


@pytest.mark.parametrize("data", [b"", b"no database at all " * 100])
def test_what_is_no_database_is_a_problem(state: StateDir, data: bytes) -> None:
    state.journal.write_bytes(data)
    check = check_journal(state, NO_GATEWAY)
    assert check.status == "problem"
    assert "journal.db*" in check.fix
    assert state.journal.read_bytes() == data


def test_a_damaged_page_is_found(state: StateDir) -> None:
    make_journal(state)
    data = bytearray(state.journal.read_bytes())
    data[4096 : 2 * 4096] = os.urandom(4096)
    state.journal.write_bytes(data)
    assert check_journal(state, NO_GATEWAY).status == "problem"


def test_a_database_of_somebody_else_is_a_problem(state: StateDir) -> None:
    other = sqlite3.connect(state.journal)
    other.execute("CREATE TABLE meta (name, value)")
    other.execute("CREATE TABLE sessions (id)")
    other.commit()
    other.close()
    check = check_journal(state, NO_GATEWAY)
    assert check.status == "problem"
    assert "has no version" in check.text


def test_one_that_was_not_closed_is_not_judged_by_half_of_it(state: StateDir) -> None:
    state.journal.write_bytes(b"half a journal " * 100)
    (state.path / "journal.db-wal").write_bytes(b"the other half")
    check = check_journal(state, NO_GATEWAY)
    assert (check.status, "was not closed" in check.text) == ("note", True)


def test_one_from_the_future_is_a_problem(state: StateDir) -> None:
    make_journal(state)
    journal = sqlite3.connect(state.journal)
    journal.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
    journal.commit()
    journal.close()
    check = check_journal(state, NO_GATEWAY)
    assert check.status == "problem"
    assert check.fix.startswith("upgrade Flybridge")


def test_a_running_gateway_answers_for_its_journal(state: StateDir) -> None:
    running = Check(area="gateway", text="answers", data={"pid": 1, "sessions": 2})
    assert check_journal(state, running).text == "held by the gateway, 2 sessions"
    silent = Check(area="gateway", status="problem", text="silent", data={"pid": 1})
    assert check_journal(state, silent).text == "held by a gateway that does not answer"
