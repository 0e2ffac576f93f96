from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.client.transport.tokens import Token, find_token, read_token
from flybridge.errors import GatewayError

TEXT = "fbt_0a1b2c3d4e5f6071." + "S" * 43


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TEXT}\n")
    path.chmod(0o600)
    return path


def test_a_token_shows_no_secret() -> None:
    token = Token(TEXT)
    assert token.text == TEXT
    assert (token.id, token.secret) == ("0a1b2c3d4e5f6071", "S" * 43)
    assert "SSS" not in repr(token) + str(token)


@pytest.mark.parametrize(
    "text", ["", "abc", "fbt_a", "fbt_a.", TEXT + "\nX: y", "fbt_ä." + "S" * 43]
)
def test_what_is_no_token_is_not_repeated(text: str) -> None:
    with pytest.raises(GatewayError, match="no token of ours") as caught:
        Token(text)
    assert "SSS" not in str(caught.value)


def test_the_nearest_place_counts(file: Path) -> None:
    other = TEXT.replace("S", "O")
    everything = {"FLYBRIDGE_TOKEN": other, "FLYBRIDGE_TOKEN_FILE": str(file)}
    assert find_token(TEXT, None, everything).text == TEXT
    assert find_token(None, file, everything).text == TEXT
    assert find_token(None, None, everything).text == other
    assert find_token(None, None, {"FLYBRIDGE_TOKEN_FILE": str(file)}).text == TEXT
    with pytest.raises(GatewayError, match="FLYBRIDGE_TOKEN_FILE"):
        find_token(None, None, {})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_refused(file: Path, mode: int) -> None:
    file.chmod(mode)
    with pytest.raises(GatewayError, match="chmod 600"):
        read_token(file)


def test_only_a_short_file_can_be_a_token(file: Path, tmp_path: Path) -> None:
    file.write_text(TEXT + " " * 2000)
    with pytest.raises(GatewayError, match="more than a token"):
        read_token(file)
    with pytest.raises(GatewayError, match="No such file"):
        read_token(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(GatewayError, match="no token"):  # and does not wait for one
        read_token(tmp_path / "pipe")
