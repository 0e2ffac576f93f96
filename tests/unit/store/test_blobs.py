from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.errors import (
    FlybridgeError,
    InvalidRequestError,
    LocalProtocolError,
    StorageError,
)
from flybridge.session.ports import Blobs
from flybridge.store.blobs import FileBlobs
from flybridge.store.memory import MemoryBlobs


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(params=["file", "memory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return FileBlobs(str(tmp_path / "blobs")) if request.param == "file" else MemoryBlobs()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def age(path: Path, seconds: int) -> None:
    now = path.stat().st_mtime
    os.utime(path, (now - seconds, now - seconds))


def test_what_was_put_is_got_back_whole_and_in_parts(blobs: Blobs) -> None:
    data = bytes(range(256)) * 300
    blobs.put(digest_of(data), data)
    blobs.put(digest_of(data), data)
    assert blobs.size(digest_of(data)) == len(data)
    assert blobs.get(digest_of(data)) == data
    for start, size in ((0, 10), (70_000, -1), (76_790, 100), (99_999, 5), (5, 0)):
        want = data[start:] if size < 0 else data[start : start + size]
        assert blobs.get(digest_of(data), start, size) == want


def test_an_empty_blob_is_a_blob(blobs: Blobs) -> None:
    blobs.put(digest_of(b""), b"")
    assert blobs.size(digest_of(b"")) == 0
    assert blobs.get(digest_of(b"")) == b""


def test_a_wrong_name_is_refused_and_nothing_is_kept(blobs: Blobs) -> None:
    with pytest.raises(LocalProtocolError):
        blobs.put(digest_of(b"this"), b"that")
    assert blobs.size(digest_of(b"this")) is None


def test_what_is_not_there_is_said_so(blobs: Blobs) -> None:
    assert blobs.size(digest_of(b"none")) is None
    with pytest.raises(InvalidRequestError, match="no blob"):
        blobs.get(digest_of(b"none"))


@pytest.mark.parametrize("name", ["../../secret", "a" * 63 + "/", "A" * 64, "\0" * 64])
def test_a_name_is_no_path(blobs: Blobs, name: str) -> None:
    for ask in (blobs.get, blobs.size, lambda name: blobs.put(name, b"")):
        with pytest.raises(InvalidRequestError):
            ask(name)


def test_a_range_before_the_beginning_is_refused(blobs: Blobs) -> None:
    blobs.put(digest_of(b"x"), b"x")
    with pytest.raises(InvalidRequestError):
        blobs.get(digest_of(b"x"), -1)


def test_only_we_may_read_them(tmp_path: Path) -> None:
    FileBlobs(str(tmp_path / "blobs")).put(digest_of(b"x"), b"x")
    for path in (tmp_path / "blobs", *(tmp_path / "blobs").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)


def test_a_blob_cut_by_somebody_else_is_made_whole(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path))
    blobs.put(digest_of(b"whole"), b"whole")
    (path,) = files(tmp_path)
    path.write_bytes(b"who")
    blobs.put(digest_of(b"whole"), b"whole")
    assert blobs.get(digest_of(b"whole")) == b"whole"


def test_a_sweep_takes_what_is_old_and_not_named(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path))
    for data in (b"old", b"kept", b"new"):
        blobs.put(digest_of(data), data)
    for path in files(tmp_path):
        if path.name != digest_of(b"new"):
            age(path, 3700)
    (tmp_path / "incoming" / "half").write_bytes(b"ha")
    age(tmp_path / "incoming" / "half", 3700)
    stranger = tmp_path / "ab" / "cd" / "README"
    stranger.parent.mkdir(parents=True, exist_ok=True)
    stranger.write_bytes(b"")
    age(stranger, 3700)
    assert blobs.sweep({digest_of(b"kept")}) == 1
    left = {path.name for path in files(tmp_path)}
    assert left == {digest_of(b"kept"), digest_of(b"new"), "README"}


def test_a_blob_that_is_put_again_is_young_again(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path))
    blobs.put(digest_of(b"x"), b"x")
    age(files(tmp_path)[0], 3700)
    blobs.put(digest_of(b"x"), b"x")
    assert blobs.sweep(set()) == 0


def test_a_disk_that_refuses_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError):
        FileBlobs(str(tmp_path / "file" / "blobs"))
    blobs = FileBlobs(str(tmp_path / "blobs"))
    digest = digest_of(b"x")
    (tmp_path / "blobs" / digest[:2]).write_bytes(b"in the way")
    for ask in (blobs.get, blobs.size, lambda digest: blobs.put(digest, b"x")):
        with pytest.raises(StorageError):
            ask(digest)
    assert files(tmp_path / "blobs" / "incoming") == []


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path))
    digest = digest_of(b"x")
    (tmp_path / digest[:2] / digest[2:4] / digest / "a folder").mkdir(parents=True)
    with pytest.raises(StorageError):
        blobs.put(digest, b"x")
    assert files(tmp_path) == []


def test_many_threads_may_put_the_same_blob(tmp_path: Path) -> None:
    blobs = FileBlobs(str(tmp_path))
    data = b"x" * 100_000
    failed: list[FlybridgeError] = []

    def put() -> None:
        try:
            blobs.put(digest_of(data), data)
        except FlybridgeError as error:
            failed.append(error)

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [path.name for path in files(tmp_path)] == [digest_of(data)]


@given(st.lists(st.binary(max_size=20), max_size=8), st.integers(0, 7))
def test_memory_sweeps_what_is_not_named(data: list[bytes], kept: int) -> None:
    blobs = MemoryBlobs()
    for one in data:
        blobs.put(digest_of(one), one)
    keep = {digest_of(one) for one in data[:kept]}
    blobs.sweep(keep)
    for one in data:
        assert (blobs.size(digest_of(one)) is not None) == (digest_of(one) in keep)
