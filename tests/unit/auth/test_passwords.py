from __future__ import annotations

from flybridge.auth.passwords import hash_password, is_password


def test_a_password_is_known_again_and_cannot_be_read() -> None:
    known = hash_password("correct horse \udc80")
    assert is_password("correct horse \udc80", known)
    assert not is_password("correct horse", known)
    assert b"correct" not in known.hash
    assert hash_password("correct horse \udc80").salt != known.salt
