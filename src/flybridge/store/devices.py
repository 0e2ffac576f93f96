"""Paired devices and their slots, at rest. No secret can be read off this file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flybridge.store.private_file import read_versioned, write_private

VERSION = 1


class Device(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A device that a person let in: known by its address, or by a token of its own."""

    id: str
    name: str
    rights: tuple[str, ...]
    created_ms: int
    address: str = ""
    digest: str = ""  # sha256 of the token's secret, in hex
    slots: tuple[int, ...] = ()  # only these; empty: all


class SlotSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is started in a slot. Empty: as the gateway would."""

    agent: str = ""
    dir: str = ""
    mode: str = ""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the file."""

    version: int = VERSION
    devices: tuple[Device, ...] = ()
    slots: tuple[SlotSpec, ...] = ()  # none: the usual number of usual ones
    used: dict[str, str] = {}  # slot → the session in it, when it was last seen alive


class DeviceFile:
    """The file ``devices`` in the state directory. One gateway writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known = self._load()

    def _load(self) -> Known:
        return read_versioned(self._path, Known, VERSION)

    def change(
        self,
        *,
        devices: tuple[Device, ...] | None = None,
        slots: tuple[SlotSpec, ...] | None = None,
        used: dict[str, str] | None = None,
    ) -> None:
        """Replace parts of it; what could not be written does not hold.

        Raises:
            StorageError: the disk refused.
        """
        known = Known(
            devices=self.known.devices if devices is None else devices,
            slots=self.known.slots if slots is None else slots,
            used=self.known.used if used is None else used,
        )
        if known != self.known:
            write_private(self._path, msgspec.json.format(msgspec.json.encode(known)))
            self.known = known
