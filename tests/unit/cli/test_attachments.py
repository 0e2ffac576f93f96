from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from flybridge.cli.attachments import (
    MAX_FILES,
    dragged,
    label,
    media_type,
    mentioned,
    read_attachment,
    size_text,
)
from flybridge.errors import InvalidRequestError
from flybridge.model.content import Document, Image
from flybridge.session.attachments import PICTURE_BYTES

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVE", ""),
        (b"%PDF-1.7", "application/pdf"),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_a_file_is_what_its_first_bytes_say(data: bytes, kind: str) -> None:
    assert media_type(data) == kind


def test_a_picture_and_a_document_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(PNG)  # its name says something else, and that is no matter
    one = read_attachment(tmp_path / "a.txt")
    assert (one.name, one.size) == ("a.txt", len(PNG))
    assert one.content == Image("image/png", data=base64.b64encode(PNG).decode())
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")
    two = read_attachment(tmp_path / "b.pdf")
    data = base64.b64encode(b"%PDF-1.4").decode()
    assert two.content == Document("application/pdf", data=data, title="b.pdf")


def test_what_cannot_be_attached_is_refused_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "big.png").write_bytes(PNG + bytes(PICTURE_BYTES))
    for name, why in {
        "none.png": "cannot read",
        "text.png": "is neither a PNG",
        "big.png": "big.png is larger than 5 MB",
        "pipe.png": "is no file",
        ".": "cannot read",
    }.items():
        with pytest.raises(InvalidRequestError, match=why):
            read_attachment(tmp_path / name)


def test_a_message_names_files_with_an_at_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.png", "b c.jpg", "d.txt"):
        (tmp_path / name).write_bytes(PNG)
    monkeypatch.chdir(tmp_path)
    assert mentioned("look at @a.png, please") == [Path("a.png")]
    assert mentioned('@"b c.jpg" and @b\\ c.jpg') == [Path("b c.jpg")]
    assert mentioned(f"(see) @{tmp_path}/a.png!") == [tmp_path / "a.png"]
    assert mentioned("me@a.png @d.txt @none.png a.png @ @\x00.png") == []


def test_the_number_of_files_has_a_bound(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.png" for n in range(MAX_FILES + 5)]
    for path in paths:
        path.write_bytes(PNG)
    assert len(mentioned(" ".join(f"@{path}" for path in paths))) == MAX_FILES


def test_a_file_that_was_dropped_on_the_terminal_is_named(tmp_path: Path) -> None:
    one, two = tmp_path / "a.png", tmp_path / "b c.png"
    for path in (one, two):
        path.write_bytes(PNG)
    assert dragged(f"{one} ") == f"@{one}"
    assert dragged(f"'{two}'") == f'@"{two}"'
    assert dragged(str(two).replace(" ", "\\ ")) == f'@"{two}"'
    assert dragged(f"file://{str(two).replace(' ', '%20')}") == f'@"{two}"'
    assert dragged(f"{one} '{two}'") == f'@{one} @"{two}"'
    assert mentioned(dragged(f"{one} '{two}'")) == [one, two]


@pytest.mark.parametrize(
    "text", ["", "hello", "a.png", "/none/a.png", "it's", "/etc/passwd", "/\0"]
)
def test_other_text_that_is_pasted_stays_what_it_is(text: str) -> None:
    assert dragged(text) == ""


def test_sizes_are_told_in_the_unit_people_would_use() -> None:
    assert [size_text(n) for n in (0, 999, 2048, 5 << 20, 1_600_000)] == [
        "0 bytes",
        "999 bytes",
        "2 KB",
        "5 MB",
        "1.5 MB",
    ]


def test_an_attachment_is_a_word_in_a_line() -> None:
    data = base64.b64encode(b"x" * 10).decode()
    assert label(Image("image/png", data=data)) == "[image/png, 10 bytes]"
    assert label(Image("image/png", blob="d")) == "[image/png]"
    assert label(Document("application/pdf", title="a.pdf")) == "[a.pdf, application/pdf]"
