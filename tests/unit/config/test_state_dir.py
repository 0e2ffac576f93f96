"""Where the state directory is, and which ones are refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from flybridge.config.state_dir import SOCKET_PATH_BYTES, StateDir
from flybridge.errors import GatewayError


def test_the_option_wins_then_the_variable_then_xdg_then_home(tmp_path: Path) -> None:
    environ = {"FLYBRIDGE_STATE": "/own", "XDG_STATE_HOME": "/xdg", "HOME": "/home/ada"}
    assert StateDir.resolve("/given", environ).path == Path("/given")
    assert StateDir.resolve(None, environ).path == Path("/own")
    del environ["FLYBRIDGE_STATE"]
    assert StateDir.resolve(None, environ).path == Path("/xdg/flybridge")
    for none in ({}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}):
        expected = Path.home() / ".local/state/flybridge"
        assert StateDir.resolve(None, none).path == expected
    known = StateDir(tmp_path)
    assert StateDir.resolve(known) is known


def test_a_relative_directory_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert StateDir("here/../there").path == tmp_path / "there"


def test_everything_lies_inside() -> None:
    state = StateDir("/s")
    names = [state.socket, state.lock, state.journal, state.blobs, state.keepers, state.log]
    assert [path.name for path in names] == [
        "gateway.sock",
        "gateway.lock",
        "journal.db",
        "blobs",
        "keepers",
        "gateway.log",
    ]
    assert {path.parent for path in names} == {state.path}
    assert repr(state) == "StateDir('/s')"


def test_it_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "a" / "b")
    before = os.umask(0)
    try:
        state.prepare()
    finally:
        os.umask(before)
    assert state.path.stat().st_mode & 0o777 == 0o700
    state.prepare()  # again is fine


def test_a_link_is_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(real)
    with pytest.raises(GatewayError, match="is a symbolic link; point --state at"):
        StateDir(tmp_path / "link").prepare()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with pytest.raises(GatewayError, match="is a symbolic link"):
        StateDir(tmp_path / "dangling").prepare()


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_directory_open_to_others_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "state"
    path.mkdir()
    path.chmod(mode)
    with pytest.raises(GatewayError, match=rf"mode 0{mode:o}\); run: chmod 700 {path}"):
        StateDir(path).prepare()


@pytest.mark.needs("root")
def test_somebody_elses_directory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    os.chown(path, 65534, 65534)
    with pytest.raises(GatewayError, match="belongs to user 65534, not to you"):
        StateDir(path).prepare()


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(GatewayError, match="is not a directory; move it away"):
        StateDir(tmp_path / "state").prepare()
    with pytest.raises(GatewayError, match="choose another with --state DIR"):
        StateDir(tmp_path / "state" / "below").prepare()
    with pytest.raises(GatewayError, match="is not a directory"):
        StateDir(tmp_path / "state").check()


def test_check_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        StateDir(tmp_path / "state").check()
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("length", [SOCKET_PATH_BYTES, SOCKET_PATH_BYTES + 1, 240])
def test_a_socket_can_be_bound_and_reached_however_long_its_path(
    short_tmp: Path, length: int
) -> None:
    path = short_tmp
    fill = length - len(str(path / "gateway.sock"))
    while fill > 0:
        part = min(fill - 1, 100) if fill - 1 <= 100 or fill - 1 > 101 else 50
        path = path / ("x" * part)
        fill -= part + 1
    state = StateDir(path)
    assert len(str(state.socket)) == length
    state.prepare()
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        with state.socket_address() as address:
            server.bind(address)
        server.listen()
        with state.socket_address() as address:
            assert len(address) <= SOCKET_PATH_BYTES
            client.connect(address)
    assert state.socket.is_socket()
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
