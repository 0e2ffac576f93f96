"""What was uploaded before it is sent: a message names it, and gets its bytes here."""

from __future__ import annotations

import asyncio
import base64

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model import commands as c
from flybridge.model.content import Content, Text
from flybridge.session.ports import Blobs

MAX_TOGETHER = 16 << 20


async def with_uploads(given: c.Command, blobs: Blobs) -> c.Command:
    """A message whose pictures and documents were uploaded before, with their bytes in it.

    Raises:
        InvalidRequestError: one of them is not there, or they are too much together.
    """
    if not isinstance(given, c.SendInput | c.EditQueued):
        return given
    if all(isinstance(one, Text) or not one.blob or one.data for one in given.content):
        return given
    content = await asyncio.to_thread(_filled, given.content, blobs)
    return msgspec.structs.replace(given, content=content)


def _filled(content: tuple[Content, ...], blobs: Blobs) -> tuple[Content, ...]:
    left = MAX_TOGETHER
    filled: list[Content] = []
    for one in content:
        if not isinstance(one, Text) and one.blob and not one.data:
            left -= blobs.size(one.blob) or 0
            if left < 0:
                raise InvalidRequestError(f"uploads have {MAX_TOGETHER} bytes together at most")
            data = base64.b64encode(blobs.get(one.blob)).decode()
            one = msgspec.structs.replace(one, data=data, blob="")
        filled.append(one)
    return tuple(filled)
