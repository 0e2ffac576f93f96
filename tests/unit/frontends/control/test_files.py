"""Content by reference: one way in, and all the others."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flybridge.frontends.control import files as control_files
from flybridge.frontends.control.files import read_ref
from flybridge.frontends.control.refusals import ControlRefused
from flybridge.wire.control.messages import ContentRef

TEXT = "content\nof a file, é\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file").write_text(TEXT)
    (folder / "file").write_text(TEXT)
    (tmp_path / "outside").write_text(TEXT)
    return folder


def ref(path: object, **more: Any) -> ContentRef:
    data = TEXT.encode()
    fields = {"size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **more}
    return ContentRef(path=str(path), mime="text/plain", **fields)


def code(base: Path, wanted: ContentRef) -> str:
    with pytest.raises(ControlRefused) as refused:
        read_ref(base, wanted)
    assert refused.value.result == "rejected"
    assert str(base) not in str(refused.value), "a path is nobody's business"
    return refused.value.code


@pytest.mark.conforms("S2-6c", "S2-6f")
@pytest.mark.parametrize("path", ["file", "sub/file"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_file_beneath_the_folder_is_read(base: Path, path: str, absolute: bool) -> None:
    assert read_ref(base, ref(base / path if absolute else path)) == TEXT


@pytest.mark.conforms("S2-6d", "S2-6e")
@pytest.mark.abuse(46)
@pytest.mark.parametrize(
    "path",
    [
        "../outside",
        "sub/../file",
        "sub/../../outside",
        "./file",
        "sub//file",
        "/etc/passwd",
        "file/",
        "",
        ".",
        "..",
        "file\0",
        "BASE/../outside",
        "BASE",
        "BASE/",
        "BASEx/file",
        "/proc/self/root/BASE/file",
    ],
)
def test_abuse_46_no_path_leads_out(base: Path, path: str) -> None:
    assert code(base, ref(path.replace("BASE", str(base)) or " ")) in (
        "ref_outside",
        "ref_unreadable",
    )


def linked_file(base: Path) -> str:
    (base / "link").symlink_to(base / "file")
    return "link"


def linked_outside(base: Path) -> str:
    (base / "link").symlink_to(base.parent / "outside")
    return "link"


def linked_folder(base: Path) -> str:
    (base / "folder").symlink_to(base / "sub")
    return "folder/file"


def fifo(base: Path) -> str:
    os.mkfifo(base / "fifo")
    return "fifo"


def folder(base: Path) -> str:
    return "sub"


def hard_link(base: Path) -> str:
    (base / "second").hardlink_to(base.parent / "outside")
    return "second"


def missing(base: Path) -> str:
    return "none"


def huge(base: Path) -> str:
    with (base / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    return "sparse"


def too_short(base: Path) -> str:
    (base / "short").write_text(TEXT[:-1])
    return "short"


def other_bytes(base: Path) -> str:
    (base / "other").write_bytes(b"x" * len(TEXT.encode()))
    return "other"


@pytest.mark.conforms("S2-6e", "S2-6f")
@pytest.mark.abuse(46)
@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (linked_file, "ref_unreadable"),
        (linked_outside, "ref_unreadable"),
        (linked_folder, "ref_unreadable"),
        (fifo, "ref_not_a_file"),
        (folder, "ref_not_a_file"),
        (hard_link, "ref_not_a_file"),
        (missing, "ref_unreadable"),
        (huge, "ref_mismatch"),
        (too_short, "ref_mismatch"),
        (other_bytes, "ref_mismatch"),
    ],
)
def test_abuse_46_only_a_plain_file_of_what_was_said_is_read(
    base: Path, make: Callable[[Path], str], wanted: str
) -> None:
    assert code(base, ref(make(base))) == wanted


@pytest.mark.abuse(46)
def test_abuse_46_a_device_is_no_file(tmp_path: Path) -> None:
    assert code(Path("/dev"), ref("null")) == "ref_not_a_file"


@pytest.mark.abuse(46)
def test_abuse_46_what_is_no_text_is_refused(base: Path) -> None:
    data = b"\xff\xfe"
    (base / "binary").write_bytes(data)
    said = ref("binary", size_bytes=2, sha256=hashlib.sha256(data).hexdigest())
    assert code(base, said) == "unsupported_encoding"


@pytest.mark.abuse(46)
def test_abuse_46_somebody_elses_file_is_refused(base: Path) -> None:
    """Only root can give a file away, so the one that was found says so here."""
    found = list((base / "file").stat())
    found[4] = os.geteuid() + 1
    with pytest.raises(ControlRefused) as refused:
        control_files._check(os.stat_result(found), ref("file"))
    assert refused.value.code == "ref_not_ours"


@pytest.mark.abuse(46)
def test_abuse_46_a_file_that_is_swapped_all_the_time_is_never_read_by_half(base: Path) -> None:
    """What is hashed is what is sent: a reader gets the one text, or a refusal."""
    stop = threading.Event()

    def swap() -> None:
        other = base / "new"
        while not stop.is_set():
            for kind in ("text", "link"):
                other.unlink(missing_ok=True)
                if kind == "link":
                    other.symlink_to(base.parent / "outside")
                else:
                    other.write_text(TEXT)
                other.replace(base / "file")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(300):
            try:
                assert read_ref(base, ref("file")) == TEXT
            except ControlRefused as refused:
                assert refused.code in ("ref_unreadable", "ref_mismatch")  # noqa: PT017
    finally:
        stop.set()
        thread.join()


@pytest.mark.abuse(46)
def test_abuse_46_a_file_that_grows_is_refused(base: Path) -> None:
    """It had the right size when it was looked at, and has more when it is read."""
    fd = os.open(base / "file", os.O_RDONLY)
    try:
        with (base / "file").open("a") as more:
            more.write("more")
        data, _ = control_files._read(fd, len(TEXT.encode()) + 1, lambda done: None)
    finally:
        os.close(fd)
    assert len(data) == len(TEXT.encode()) + 1, "one byte too many is enough to know"


def test_no_file_stays_open(base: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    read_ref(base, ref("sub/file"))
    for path in ("none", "sub", "sub/none", "../x"):
        code(base, ref(path))
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_it_tells_how_far_it_is(base: Path) -> None:
    data = b"x" * (5 << 19)
    (base / "long").write_bytes(data)
    told: list[int] = []
    wanted = ref("long", size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    assert read_ref(base, wanted, told.append) == data.decode()
    assert told == [1 << 20, 2 << 20, 5 << 19]
