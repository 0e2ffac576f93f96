"""Who may come in, at rest: names, scopes and hashes. No secret can be read off this file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flybridge.store.private_file import read_versioned, write_private

VERSION = 1


class Credential(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named token, or a login that a browser keeps as a cookie."""

    id: str
    name: str
    scopes: tuple[str, ...]
    digest: str  # sha256 of the secret, in hex
    created_ms: int
    expires_ms: int = 0  # 0: when it is revoked
    principal: str = ""  # who acts, if not the credential itself
    sessions: tuple[str, ...] = ()  # only these; empty: all
    forwarding: bool = False  # it holds in full through SSH or a proxy, too
    key_digest: str = ""  # of a login: sha256 of its login key, in hex


class Password(msgspec.Struct, frozen=True, kw_only=True):
    """A scrypt hash and what it was made with."""

    salt: bytes
    hash: bytes
    n: int
    r: int
    p: int


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the file."""

    version: int = VERSION
    tokens: tuple[Credential, ...] = ()
    logins: tuple[Credential, ...] = ()
    password: Password | None = None


class CredentialFile:
    """The file ``tokens`` in the state directory. One gateway writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Credentials:
        """What the file holds; nothing where there is none.

        Raises:
            StorageError: somebody else could have written or read it.
            StorageCorruptError: it is not ours to read.
        """
        return read_versioned(self._path, Credentials, VERSION)

    def save(self, credentials: Credentials) -> None:
        """Replace it.

        Raises:
            StorageError: the disk refused; the old ones hold.
        """
        write_private(self._path, msgspec.json.format(msgspec.json.encode(credentials)))
