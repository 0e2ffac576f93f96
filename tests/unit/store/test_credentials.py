from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError
from flybridge.store.credentials import Credential, CredentialFile, Credentials, Password

ONE = Credential(id="a1", name="ci", scopes=("view",), digest="0" * 64, created_ms=1)


def test_everything_comes_back(tmp_path: Path) -> None:
    file = CredentialFile(tmp_path / "tokens")
    assert file.load() == Credentials()
    kept = Credentials(
        tokens=(ONE,), logins=(ONE,), password=Password(salt=b"s", hash=b"h", n=2, r=1, p=1)
    )
    file.save(kept)
    assert file.load() == kept


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"version":2}', b'{"tokens":[{}]}', b"\xff", b'{"tokens":1e999}']
)
def test_a_file_that_cannot_be_read_lets_nobody_in(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(StorageCorruptError):
        CredentialFile(path).load()
