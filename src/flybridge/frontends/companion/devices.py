"""Which devices there are: who pairs them, how one is known again, and what it may do.

A device that can say a token is known by it. One that cannot is known by its address, once a
person has typed the code that it shows. An address of this machine is nobody's: agents live
there. What a device may do is what the person who paired it said, and nothing before that.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Callable
from typing import Final

import msgspec

from flybridge.auth.limiter import Limiter
from flybridge.errors import InvalidRequestError, PairingOverError, TooManyTriesError
from flybridge.session.authorisation import Caller, Scope
from flybridge.store.devices import Device, DeviceFile

DOOR = "companion"
TOKEN = "fbd_"
RIGHTS: Final = ("view", "input", "interrupt", "approve", "spawn", "auto_edit")
AUTO_EDIT = "auto_edit"
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # 32 that cannot be mistaken for each other
CODE_LETTERS = 8  # 40 bits
CODE_MS = 120_000
TRIES = 5
MAX_WAITING = 32
MAX_DEVICES = 64
MAX_NAME = 40
_SCOPES: dict[str, Scope] = {
    "view": "view",
    "input": "input",
    "interrupt": "interrupt",
    "approve": "approve",
    "spawn": "spawn",
}


class Waiting(msgspec.Struct, frozen=True):
    """An address that nobody has paired; ``code`` is on its screen."""

    address: str
    code: str
    since_ms: int
    until_ms: int


class Devices:
    """All paired devices, and those that wait for a person.

    ``paired`` and ``gone`` are told the address or the id at once, so that doors can act.
    ``here`` says whether an address is one of this machine.
    """

    def __init__(
        self,
        file: DeviceFile,
        *,
        now_ms: Callable[[], int],
        withdraw: Callable[[str], None] = lambda principal: None,
        here: Callable[[str], bool] | None = None,
    ) -> None:
        self.file = file
        self.here = here or is_here
        self._now_ms = now_ms
        self._withdraw = withdraw
        self._waiting: dict[str, Waiting] = {}
        self._wrong = Limiter(per_source=TRIES, in_all=TRIES, window_ms=CODE_MS)
        self.paired: Callable[[str], None] = lambda address: None
        self.gone: Callable[[str], None] = lambda device: None

    # ---- who is there --------------------------------------------------------------------------

    def all(self) -> tuple[Device, ...]:
        return self.file.known.devices

    def get(self, device: str) -> Device | None:
        """A device by its id, as long as it is paired."""
        return next((one for one in self.all() if one.id == device), None)

    def by_address(self, address: str) -> Device | None:
        if not address or self.here(address):
            return None
        return next((one for one in self.all() if one.address == address), None)

    def by_token(self, token: str) -> Device | None:
        name, _, secret = token.removeprefix(TOKEN).partition(".")
        found = self.get(name) if token.startswith(TOKEN) else None
        known = found.digest if found is not None and found.digest else "0" * 64
        same = hmac.compare_digest(known, _digest(secret))
        return found if same else None

    def caller(self, device: Device, *, source: str, session: str = "") -> Caller:
        """The device as the desk sees it: in its own name, with its rights, in one session."""
        return Caller(
            principal=f"device:{device.name}",
            scopes=frozenset(_SCOPES[one] for one in device.rights if one in _SCOPES),
            credential=device.id,
            sessions=frozenset({session}) if session else frozenset(),
            door=DOOR,
            source=source,
        )

    # ---- pairing -------------------------------------------------------------------------------

    def waiting(self) -> list[Waiting]:
        """Addresses that show a code, the first to come first."""
        now_ms = self._now_ms()
        return [one for one in self._waiting.values() if one.until_ms > now_ms]

    def wait(self, address: str) -> Waiting | None:
        """The code that an address shows from now on; None where none will help."""
        if self.here(address):
            return None
        alive = {one.address: one for one in self.waiting()}
        found = alive.get(address)
        if found is None:
            if len(alive) >= MAX_WAITING:
                return None
            now_ms = self._now_ms()
            code = "".join(secrets.choice(LETTERS) for _ in range(CODE_LETTERS))
            found = alive[address] = Waiting(address, code, now_ms, now_ms + CODE_MS)
        self._waiting = alive
        return found

    def leave(self, address: str) -> None:
        """Nobody at this address shows a code any more."""
        self._waiting.pop(address, None)

    def pair(
        self, code: str, name: str, rights: tuple[str, ...], slots: tuple[int, ...] = ()
    ) -> Device:
        """Let the device in that shows this code. It holds once, and for two minutes.

        Raises:
            InvalidRequestError: the name is taken, or there is no such right.
            PairingOverError: no device shows this code, or not any more.
            TooManyTriesError: there were too many codes that none shows.
        """
        self._check(name, rights, slots)
        wait_ms = self._wrong.wait_ms("", self._now_ms())
        if wait_ms:
            raise TooManyTriesError(wait_ms // 1000 + 1)
        wanted = code.strip().upper().replace("-", "").encode()
        found = [one for one in self.waiting() if hmac.compare_digest(one.code.encode(), wanted)]
        if not found:
            self._wrong.failed("", self._now_ms())
            raise PairingOverError("no device shows this code, or not any more")
        device = self._new(name, rights, slots, address=found[0].address)
        self.leave(device.address)
        self.paired(device.address)
        return device

    def create_token(
        self, name: str, rights: tuple[str, ...], slots: tuple[int, ...] = ()
    ) -> tuple[Device, str]:
        """Let a device in that can say a token. This is the only time its secret is seen.

        Raises:
            InvalidRequestError: the name is taken, or there is no such right.
        """
        self._check(name, rights, slots)
        secret = secrets.token_urlsafe(32)
        device = self._new(name, rights, slots, digest=_digest(secret))
        return device, f"{TOKEN}{device.id}.{secret}"

    def revoke(self, name: str) -> Device:
        """Take a device's rights back, by its name or id. Its connections end at once.

        Raises:
            InvalidRequestError: there is none.
        """
        found = next((one for one in self.all() if name in (one.id, one.name)), None)
        if found is None:
            raise InvalidRequestError(f"no device is called {name[:MAX_NAME]!r}")
        self.file.change(devices=tuple(one for one in self.all() if one is not found))
        self.gone(found.id)
        self._withdraw(f"device:{found.name}")
        return found

    def _check(self, name: str, rights: tuple[str, ...], slots: tuple[int, ...]) -> None:
        if not 0 < len(name) <= MAX_NAME or not name.isprintable():
            raise InvalidRequestError(f"a name has 1 to {MAX_NAME} printable characters")
        if any(one.name == name for one in self.all()):
            raise InvalidRequestError(f"there is a device called {name!r} already")
        if not rights or set(rights) - set(RIGHTS):
            raise InvalidRequestError(f"a device may {', '.join(RIGHTS)}, and nothing else")
        if any(not 0 <= one < 2**31 for one in slots):
            raise InvalidRequestError("slots are counted from 0")
        if len(self.all()) >= MAX_DEVICES:
            raise InvalidRequestError("there are too many devices; revoke some")

    def _new(
        self,
        name: str,
        rights: tuple[str, ...],
        slots: tuple[int, ...],
        *,
        address: str = "",
        digest: str = "",
    ) -> Device:
        allowed = {"view", *rights}  # what cannot be seen cannot be used
        device = Device(
            id=secrets.token_hex(8),
            name=name,
            rights=tuple(one for one in RIGHTS if one in allowed),
            created_ms=self._now_ms(),
            address=address,
            digest=digest,
            slots=tuple(sorted(set(slots))),
        )
        self.file.change(devices=(*self.all(), device))
        return device


def is_here(address: str) -> bool:
    """Whether somebody at this address is on this machine, or may be: an agent may be there.

    The kernel binds only what is its own, whatever the interface.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    found = getattr(found, "ipv4_mapped", None) or found
    if found.is_loopback or found.is_unspecified:
        return True
    if found.is_link_local and found.version == 6:
        return True  # the same address is on every interface, and the scope tells which
    family = socket.AF_INET6 if found.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(found), 0))
    except OSError:
        return False
    return True


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
