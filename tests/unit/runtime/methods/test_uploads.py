from __future__ import annotations

import hashlib

import pytest

from flybridge.errors import InvalidRequestError
from flybridge.model import commands as c
from flybridge.model.content import Document, Image, Text
from flybridge.runtime.methods.uploads import with_uploads
from flybridge.store.memory import MemoryBlobs


async def test_uploads_have_a_bound_together() -> None:
    blobs = MemoryBlobs()
    data = b"x" * (6 << 20)
    digest = hashlib.sha256(data).hexdigest()
    blobs.put(digest, data)
    one = Document("application/pdf", blob=digest)
    filled = await with_uploads(c.SendInput(content=(one, one)), blobs)
    assert isinstance(filled, c.SendInput)
    assert [one.blob for one in filled.content if isinstance(one, Document)] == ["", ""]
    with pytest.raises(InvalidRequestError, match="together"):
        await with_uploads(c.SendInput(content=(one, one, one)), blobs)
    plain = c.SendInput(content=(Text("a"), Image("image/png", data="aGk=")))
    assert await with_uploads(plain, blobs) is plain
