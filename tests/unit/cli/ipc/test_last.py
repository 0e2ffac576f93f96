from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.cli.ipc.last import tugtalk_session

ID = "dffc8d55-7d1e-4059-b36d-76b86ee58f87"


def note(project: Path, data: bytes) -> Path:
    file = project / ".tugtool" / ".session"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    return file


def test_d11_the_conversation_that_tugtalk_noted_is_found(tmp_path: Path) -> None:
    assert tugtalk_session(tmp_path) == ""
    note(tmp_path, f"{ID}\n".encode())
    assert tugtalk_session(tmp_path) == ID


@pytest.mark.parametrize(
    "data", [b"", b"pending", b"../../x", f"{ID} --flag".encode(), b"\xff" * 40, b"a" * 10_000]
)
def test_d11_what_is_no_conversation_is_passed_over(tmp_path: Path, data: bytes) -> None:
    note(tmp_path, data)
    assert tugtalk_session(tmp_path) == ""


def test_d11_a_link_a_pipe_or_a_folder_is_not_followed(tmp_path: Path) -> None:
    file = note(tmp_path, ID.encode())
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert tugtalk_session(tmp_path) == ""
    file.unlink()
    os.mkfifo(file)
    assert tugtalk_session(tmp_path) == ""
    file.unlink()
    file.mkdir()
    assert tugtalk_session(tmp_path) == ""
