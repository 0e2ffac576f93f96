from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.config.document import (
    MAX_FILE_BYTES,
    MAX_FOREIGN_BYTES,
    parse_document,
    read_document,
)
from flybridge.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text("title: hello\n")
    path.chmod(0o644)
    return path


def test_a_file_of_our_own_is_read(file: Path) -> None:
    assert read_document(file, foreign=False) == "title: hello\n"


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(ConfigError, match="chmod go-w") as caught:
        read_document(file, foreign=False)
    assert caught.value.where == str(file)


@pytest.mark.needs("root")
def test_a_file_of_somebody_else_is_refused(file: Path) -> None:
    os.chown(file, 4242, -1)
    with pytest.raises(ConfigError, match="belongs to user 4242"):
        read_document(file, foreign=False)


def test_a_missing_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        read_document(tmp_path / "none.yaml", foreign=False)


def test_a_pipe_in_place_of_a_file_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.yaml", 0o600)
    with pytest.raises(ConfigError, match="not a regular file"):
        read_document(tmp_path / "config.yaml", foreign=False)


def test_only_a_file_of_our_own_may_be_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    assert read_document(link, foreign=False) == "title: hello\n"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_document(link, foreign=True)


@pytest.mark.parametrize(("foreign", "limit"), [(False, MAX_FILE_BYTES), (True, MAX_FOREIGN_BYTES)])
def test_the_length_of_a_file_is_bounded(file: Path, foreign: bool, limit: int) -> None:
    file.write_bytes(b"#" * limit)
    assert len(read_document(file, foreign=foreign)) == limit
    file.write_bytes(b"#" * (limit + 1))
    with pytest.raises(ConfigError, match=f"longer than {limit} bytes"):
        read_document(file, foreign=foreign)


def test_bytes_that_are_no_text_are_refused_with_their_line(file: Path) -> None:
    file.write_bytes(b"title: a\nlabels: \xff\n")
    with pytest.raises(ConfigError, match=r"config\.yaml:2: not UTF-8"):
        read_document(file, foreign=False)


def test_yaml_is_read_as_version_1_2() -> None:
    assert parse_document("f", "a: yes\nb: 0o14\nc: [x, 1.5]\n") == {
        "a": "yes",
        "b": 12,
        "c": ["x", 1.5],
    }


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_document_is_nothing(text: str) -> None:
    assert parse_document("f", text) is None


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("a: 1\nb: [1\nc: 2\n", "f:3", "expected ','"),
        ("a: 1\n\tb: 2\n", "f:2", "found character"),
        ("a: 1\na: 2\n", "f:2", "duplicate key"),
        ("a: 1\n---\nb: 1\n", "f:2", "another document"),
        ("a: \x01\n", "f", "special characters are not allowed"),
        ("a: 2001-99-99\n", "f", "month must be in"),
        ("a: &x 1\nb: 2\n", "f:1", "anchors and aliases"),
        ("a: 1\nb: *x\n", "f:2", "anchors and aliases"),
        ("a: !!int 1\n", "f:1", "tags"),
        ("a: 1\nb: !!python/object:os.system x\n", "f:2", "tags"),
        ("%YAML 1.1\n---\na: yes\n", "f:2", "only YAML 1.2"),
        ("a: " + "[" * 40, "f:1", "deeply nested"),
        ("".join(f"k{n}: 1\n" for n in range(20_000)), "f:5000", "too long"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(text: str, where: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        parse_document("f", text)
    assert caught.value.where == where


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{here}: &{here} [*{before}, *{before}]\n"
        for before, here in zip("abcdefghijklmnop", "bcdefghijklmnopq", strict=True)
    )
    with pytest.raises(ConfigError, match="anchors and aliases"):
        parse_document("f", bomb)


awkward = st.text("ab: -?|>&*!%@`'\"#{}[],\n\t0129.~=<\\é")


@given(text=awkward | st.text())
def test_any_text_gives_a_value_or_a_config_error(text: str) -> None:
    with contextlib.suppress(ConfigError):
        parse_document("f", text)
