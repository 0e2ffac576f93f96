from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.agents.claude import history as ch
from flybridge.agents.claude.history import ClaudeHistory, Transcript
from flybridge.errors import InvalidRequestError, SessionNotFoundError, StorageError

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def past(tmp_path: Path) -> ClaudeHistory:
    return ClaudeHistory(tmp_path / "claude")


def write(
    past: ClaudeHistory, session: str, data: bytes = b"{}\n", *, folder: str = "-a", at: int = 1000
) -> Path:
    path = past.projects / folder / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (at, at))
    return path


def test_it_looks_where_claude_would(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert ClaudeHistory.of(home).projects == tmp_path / ".claude" / "projects"
    chosen = {**home, "CLAUDE_CONFIG_DIR": str(tmp_path / "x")}
    assert ClaudeHistory.of(chosen).projects == tmp_path / "x" / "projects"


def test_no_folder_is_no_transcripts(past: ClaudeHistory) -> None:
    assert past.newest() == []
    with pytest.raises(SessionNotFoundError):
        past.find(ONE)


def test_every_project_is_listed_the_newest_first(past: ClaudeHistory) -> None:
    write(past, ONE, at=1000)
    write(past, TWO, folder="-" + "d" * 200 + "-5o0z2", at=2000)
    assert [one.session for one in past.newest()] == [TWO, ONE]
    assert [one.session for one in past.newest(1)] == [TWO]
    (_, old) = past.newest()
    assert (old.folder, old.size, old.modified_ms, old.agent) == ("-a", 3, 1_000_000, "")


def test_only_plain_files_with_a_uuid_for_a_name_count(past: ClaudeHistory, tmp_path: Path) -> None:
    real = write(past, ONE)
    (real.parent / "notes.jsonl").write_bytes(b"{}\n")
    (real.parent / f"{ONE}.jsonl.bak-1").write_bytes(b"{}\n")
    (real.parent / f"{TWO}.jsonl").mkdir()
    os.mkfifo(real.parent / "33333333-3333-4333-8333-333333333333.jsonl")
    assert [one.session for one in past.newest()] == [ONE]


def test_no_link_is_followed(past: ClaudeHistory, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / f"{TWO}.jsonl").write_bytes(b"{}\n")
    real = write(past, ONE)
    (real.parent / f"{TWO}.jsonl").symlink_to(secret / f"{TWO}.jsonl")
    (past.projects / "-linked").symlink_to(secret)
    assert [one.session for one in past.newest()] == [ONE]
    for folder in ("-a", "-linked", "..", "../secret", ""):
        there = Transcript(session=TWO, folder=folder, size=3, modified_ms=0)
        with pytest.raises((StorageError, InvalidRequestError)):
            past.read(there)


def test_a_link_put_in_the_place_of_a_file_is_not_followed(
    past: ClaudeHistory, tmp_path: Path
) -> None:
    path = write(past, ONE)
    (found,) = past.newest()
    path.unlink()
    path.symlink_to("/etc/hostname")
    for look in (past.read, past.ends, lambda one: list(past.chunks(one))):
        with pytest.raises(StorageError):
            look(found)


def test_a_pipe_put_in_the_place_of_a_file_holds_nobody_up(past: ClaudeHistory) -> None:
    path = write(past, ONE)
    (found,) = past.newest()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidRequestError, match="no plain file"):
        past.read(found)


def test_the_folder_of_all_may_itself_be_a_link(tmp_path: Path) -> None:
    real = ClaudeHistory(tmp_path / "real")
    write(real, ONE)
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert [one.session for one in ClaudeHistory(tmp_path / "linked").newest()] == [ONE]


def test_the_first_letters_of_an_id_do(past: ClaudeHistory) -> None:
    write(past, ONE)
    write(past, TWO)
    assert past.find("1111").session == ONE
    assert past.find(TWO.upper()).session == TWO
    for given in ("", "111", "9999", "../../x", "1111*", ONE + "x"):
        with pytest.raises(SessionNotFoundError):
            past.find(given)


def test_one_id_in_two_folders_is_refused_with_both_names(past: ClaudeHistory) -> None:
    write(past, ONE)
    write(past, ONE, folder="-b")
    with pytest.raises(InvalidRequestError, match=r"-a.*-b"):
        past.find(ONE)


def test_a_short_file_is_its_own_ends(past: ClaudeHistory) -> None:
    write(past, ONE, b"a\n\nb\nc")
    (found,) = past.newest()
    assert past.ends(found) == ch.Ends(head=(b"a", b"b", b"c"), whole=True)


def test_of_a_long_file_only_the_ends_are_read(past: ClaudeHistory) -> None:
    rows = [b"%06d " % number + b"x" * 93 for number in range(10_000)]
    write(past, ONE, b"\n".join(rows) + b"\n")
    (found,) = past.newest()
    ends = past.ends(found)
    assert not ends.whole
    assert ends.head[0] == rows[0]
    assert ends.tail[-1] == rows[-1]
    assert set(ends.head) | set(ends.tail) < set(rows)
    assert sum(map(len, ends.head + ends.tail)) < ch.HEAD_BYTES + ch.TAIL_BYTES
    assert len(past.ends(found, head=100_000).head) > len(ends.head)


def test_a_long_first_line_is_left_out(past: ClaudeHistory) -> None:
    write(past, ONE, b"x" * 100_000 + b"\nend\n")
    (found,) = past.newest()
    assert past.ends(found) == ch.Ends(head=(), tail=(b"end",), whole=False)


@pytest.mark.parametrize(
    ("data", "lines", "ended"),
    [(b"", (), True), (b"a\nb\n", (b"a", b"b"), True), (b"a\nb", (b"a", b"b"), False)],
)
def test_all_of_a_file(
    past: ClaudeHistory, data: bytes, lines: tuple[bytes, ...], ended: bool
) -> None:
    write(past, ONE, data)
    whole = past.read(past.find(ONE))
    assert (whole.lines, whole.ended) == (lines, ended)
    assert b"".join(past.chunks(past.find(ONE))) == data


def test_a_file_that_is_too_long_is_refused(past: ClaudeHistory) -> None:
    write(past, ONE, b"x" * 100)
    with pytest.raises(InvalidRequestError, match="has 100 bytes; 99"):
        past.read(past.find(ONE), max_bytes=99)


def test_what_subagents_said_lies_beside(past: ClaudeHistory) -> None:
    path = write(past, ONE)
    assert past.subagents(past.find(ONE)) == []
    folder = path.parent / ONE / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(b"x\n")
    (folder / "agent-a1.meta.json").write_bytes(b"{}")
    (found,) = past.subagents(past.find(ONE))
    assert (found.session, found.agent) == (ONE, "agent-a1")
    assert past.read(found).lines == (b"x",)
    assert [one.session for one in past.newest()] == [ONE]


def test_a_replaced_file_is_kept_beside_it(past: ClaudeHistory) -> None:
    path = write(past, ONE, b"old\n")
    path.chmod(0o600)
    for number, (before, after) in enumerate([(b"old", b"new"), (b"new", b"newer")], 1):
        found = past.find(ONE)
        backup = past.replace(found, past.read(found), [after])
        assert backup == path.with_name(f"{path.name}.bak-{number}")
        assert backup.read_bytes() == before + b"\n"
        assert path.read_bytes() == after + b"\n"
        assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(path.parent.iterdir())) == 3


def test_a_file_that_somebody_writes_to_is_not_replaced(past: ClaudeHistory) -> None:
    path = write(past, ONE, b"old\n")
    found = past.find(ONE)
    old = past.read(found)
    with path.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(InvalidRequestError, match="written to meanwhile"):
        past.replace(found, old, [b"new"])
    assert path.read_bytes() == b"old\nmore\n"
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name, f"{path.name}.bak-1"]


def test_a_folder_that_takes_no_files_leaves_the_transcript(past: ClaudeHistory) -> None:
    path = write(past, ONE, b"old\n")
    found = past.find(ONE)
    old = past.read(found)
    for number in range(1, ch.MAX_BACKUPS):
        path.with_name(f"{path.name}.bak-{number}").touch()
    with pytest.raises(StorageError, match="backups"):
        past.replace(found, old, [b"new"])
    assert path.read_bytes() == b"old\n"


@pytest.mark.needs("linux")
def test_reading_leaves_no_descriptor_open(past: ClaudeHistory) -> None:
    write(past, ONE, b"old\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        found = past.find(ONE)
        past.ends(found)
        past.read(found)
        past.subagents(found)
        past.replace(found, past.read(found), [b"old"])
        with pytest.raises(StorageError):
            past.read(Transcript(session=TWO, folder="-a", size=0, modified_ms=0))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_conversation_is_found_by_its_whole_id_and_nothing_less(past: ClaudeHistory) -> None:
    write(past, ONE)
    assert past.of_session(ONE).session == ONE
    for wrong in (TWO, ONE[:8], "", "../../etc/passwd"):
        with pytest.raises(SessionNotFoundError):
            past.of_session(wrong)


def test_of_two_copies_the_one_of_the_directory_counts_or_else_the_newest(
    past: ClaudeHistory,
) -> None:
    write(past, ONE, folder="-home-ada-boat", at=1000)
    write(past, ONE, folder="-home-ada-dock", at=2000)
    assert past.of_session(ONE, "/home/ada/boat").folder == "-home-ada-boat"
    assert past.of_session(ONE, "/elsewhere").folder == "-home-ada-dock"


@pytest.mark.parametrize(
    ("max_bytes", "lines", "unread"),
    [
        (100, (b"one", b"two", b"three"), 0),
        (12, (b"two", b"three"), 4),
        (10, (b"two", b"three"), 4),
        (9, (b"three",), 8),
        (5, (), 13),
        (0, (), 13),
    ],
)
def test_of_a_long_file_the_last_whole_lines_are_read(
    past: ClaudeHistory, max_bytes: int, lines: tuple[bytes, ...], unread: int
) -> None:
    write(past, ONE, b"one\ntwo\nthree")
    found = past.read_newest(past.find(ONE), max_bytes)
    assert (found.lines, found.unread_bytes) == (lines, unread)


def test_a_line_longer_than_a_read_is_passed_over_whole(
    past: ClaudeHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ch, "CHUNK", 4)
    write(past, ONE, b"x" * 50 + b"\nlast\n")
    found = past.read_newest(past.find(ONE), 40)
    assert (found.lines, found.unread_bytes) == ((b"last",), 51)
