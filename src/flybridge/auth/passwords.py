"""A password at rest: scrypt, from the standard library, with what it was made with."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from flybridge.store.credentials import Password

N, R, P = 2**15, 8, 1  # 32 MiB and some 0.1 s for each try
_MEMORY = 128 * 1024 * 1024


def hash_password(password: str) -> Password:
    salt = secrets.token_bytes(16)
    return Password(salt=salt, hash=_scrypt(password, salt, N, R, P), n=N, r=R, p=P)


def is_password(password: str, known: Password) -> bool:
    """Whether that is it. Takes as long for a wrong one as for the right one."""
    found = _scrypt(password, known.salt, known.n, known.r, known.p)
    return hmac.compare_digest(found, known.hash)


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    data = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(data, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=32)
