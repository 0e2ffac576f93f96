"""Who is let in as a device, and as what."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from flybridge.errors import InvalidRequestError, PairingOverError, TooManyTriesError
from flybridge.frontends.companion.devices import (
    CODE_LETTERS,
    CODE_MS,
    LETTERS,
    MAX_DEVICES,
    MAX_WAITING,
    RIGHTS,
    TRIES,
    Devices,
    is_here,
)
from flybridge.store.devices import DeviceFile

FAR = "198.51.100.7"


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def devices(tmp_path: Path, clock: Clock) -> Devices:
    return Devices(DeviceFile(tmp_path / "devices"), now_ms=clock)


def code(devices: Devices, address: str = FAR) -> str:
    waiting = devices.wait(address)
    assert waiting is not None
    return waiting.code


def test_a_code_has_forty_bits_and_stays_the_same_while_it_holds(
    devices: Devices, clock: Clock
) -> None:
    first = code(devices)
    assert len(first) == CODE_LETTERS == 8
    assert len(set(LETTERS)) == 32
    assert code(devices) == first
    assert code(devices, "198.51.100.8") != first
    clock.now_ms += CODE_MS
    assert code(devices) != first


def test_a_code_pairs_the_address_that_shows_it(devices: Devices) -> None:
    heard: list[str] = []
    devices.paired = heard.append
    device = devices.pair(f" {code(devices).lower()} ", "box", ("approve",), (2, 1, 1))
    assert (device.address, device.rights, device.slots) == (FAR, ("view", "approve"), (1, 2))
    assert heard == [FAR]
    assert devices.by_address(FAR) == device
    assert devices.by_address("198.51.100.8") is None
    assert devices.waiting() == []


def test_a_code_holds_once_and_for_two_minutes(devices: Devices, clock: Clock) -> None:
    """Abuse case 25."""
    used, late = code(devices), code(devices, "198.51.100.8")
    devices.pair(used, "box", ("view",))
    with pytest.raises(PairingOverError):
        devices.pair(used, "other", ("view",))
    clock.now_ms += CODE_MS
    with pytest.raises(PairingOverError):
        devices.pair(late, "other", ("view",))


def test_there_are_five_tries(devices: Devices, clock: Clock) -> None:
    good = code(devices)
    for _ in range(TRIES):
        with pytest.raises(PairingOverError):
            devices.pair("WRONGONE", "box", ("view",))
    with pytest.raises(TooManyTriesError):
        devices.pair(good, "box", ("view",))
    clock.now_ms += CODE_MS
    devices.pair(code(devices), "box", ("view",))


def test_a_code_is_gone_with_the_device_that_shows_it(devices: Devices) -> None:
    left = code(devices)
    devices.leave(FAR)
    with pytest.raises(PairingOverError):
        devices.pair(left, "box", ("view",))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "", "::ffff:127.0.0.1"])
def test_loopback_addresses_never_pair_by_address(devices: Devices, address: str) -> None:
    assert devices.wait(address) is None
    assert devices.by_address(address) is None


def test_every_address_of_this_machine_is_here_and_no_other() -> None:
    assert is_here("0.0.0.0")
    assert is_here("no address")
    assert is_here("fe80::1%eth0")
    assert not is_here(FAR)
    assert not is_here("2001:db8::1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((FAR, 9))  # sends nothing: it only chooses the way there
        except OSError:
            return  # a machine without any network
        assert is_here(sock.getsockname()[0])


def test_only_so_many_can_wait(devices: Devices) -> None:
    for n in range(MAX_WAITING):
        assert devices.wait(f"198.51.100.{n}") is not None
    assert devices.wait("203.0.113.1") is None
    assert devices.wait("198.51.100.0") is not None


def test_a_token_is_known_and_kept_as_a_hash(devices: Devices, tmp_path: Path) -> None:
    device, token = devices.create_token("box", ("input",))
    assert devices.by_token(token) == device
    assert devices.by_token(token[:-1]) is None
    assert devices.by_token(token.removeprefix("fbd_")) is None
    assert devices.by_token("fbd_" + device.id) is None
    assert devices.by_token("") is None
    assert devices.by_address(device.address) is None
    assert token.partition(".")[2] not in (tmp_path / "devices").read_text()
    again = Devices(DeviceFile(tmp_path / "devices"), now_ms=Clock())
    assert again.by_token(token) == device


def test_a_device_known_by_its_address_has_no_token(devices: Devices) -> None:
    device = devices.pair(code(devices), "box", ("view",))
    assert devices.by_token(f"fbd_{device.id}.") is None


def test_a_device_is_a_caller_with_its_rights_and_in_its_own_name(devices: Devices) -> None:
    device, _ = devices.create_token("box", RIGHTS)
    caller = devices.caller(device, source=FAR, session="ses_1")
    assert caller.principal == "device:box"
    assert caller.scopes == {"view", "input", "interrupt", "approve", "spawn"}
    assert caller.sessions == {"ses_1"}
    assert (caller.door, caller.source) == ("companion", FAR)
    assert caller.process == ""


def test_a_device_that_is_revoked_is_nobody(tmp_path: Path, clock: Clock) -> None:
    withdrawn: list[str] = []
    devices = Devices(DeviceFile(tmp_path / "d"), now_ms=clock, withdraw=withdrawn.append)
    gone: list[str] = []
    devices.gone = gone.append
    device, token = devices.create_token("box", ("view",))
    assert devices.revoke("box") == device
    assert (gone, withdrawn) == ([device.id], ["device:box"])
    assert devices.by_token(token) is None
    assert devices.get(device.id) is None
    with pytest.raises(InvalidRequestError):
        devices.revoke("box")


@pytest.mark.parametrize(
    ("name", "rights", "slots"),
    [
        ("", ("view",), ()),
        ("x" * 41, ("view",), ()),
        ("a\nb", ("view",), ()),
        ("taken", ("view",), ()),
        ("box", (), ()),
        ("box", ("admin",), ()),
        ("box", ("view",), (-1,)),
    ],
)
def test_a_device_without_a_name_or_with_a_right_nobody_has_is_refused(
    devices: Devices, name: str, rights: tuple[str, ...], slots: tuple[int, ...]
) -> None:
    devices.create_token("taken", ("view",))
    with pytest.raises(InvalidRequestError):
        devices.create_token(name, rights, slots)


def test_there_is_an_end_to_devices(devices: Devices) -> None:
    for n in range(MAX_DEVICES):
        devices.create_token(f"box {n}", ("view",))
    with pytest.raises(InvalidRequestError, match="too many"):
        devices.create_token("one more", ("view",))
