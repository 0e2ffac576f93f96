"""Blobs: uploaded for a message to come, and read in parts. What is in one is never run."""

from __future__ import annotations

import asyncio
import hashlib
import re
from typing import Annotated

import msgspec
from msgspec import Meta

from flybridge.listeners.http.problems import HttpError
from flybridge.listeners.http.route import API, MAX_UPLOAD, Answered, Api, Call, Params, Route
from flybridge.listeners.http.sse import Receive, Send
from flybridge.session.ports import Blobs

CHUNK = 1 << 20
HOUR_MS = 3_600_000
MAX_UPLOADED = 512 << 20  # an hour, for each principal: unused ones are swept after that
_RANGE = re.compile(rb"bytes=(\d{0,15})-(\d{0,15})")


class OneBlob(Params, kw_only=True):
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Uploaded(msgspec.Struct, kw_only=True):
    """How a message names it."""

    digest: str
    size: int


async def upload(call: Call) -> Uploaded:
    data: bytes = call.body
    _count(call.api, call.caller.principal, len(data))
    uploaded = await asyncio.to_thread(_put, call.api.blobs, data)
    call.api.desk.blob_access.note_upload(call.caller, uploaded.digest)
    return uploaded


def _put(blobs: Blobs, data: bytes) -> Uploaded:
    digest = hashlib.sha256(data).hexdigest()
    blobs.put(digest, data)
    return Uploaded(digest=digest, size=len(data))


def _count(api: Api, principal: str, size: int) -> None:
    now_ms = api.now_ms()
    alive = {who: one for who, one in api.uploads.items() if one[0] > now_ms - HOUR_MS}
    since_ms, so_far = alive.get(principal, (now_ms, 0))
    if so_far + size > MAX_UPLOADED:
        wait_s = str((since_ms + HOUR_MS - now_ms) // 1000 + 1)
        raise HttpError(429, "too_many_uploads", "that is enough for an hour", retry_after=wait_s)
    api.uploads = {**alive, principal: (since_ms, so_far + size)}


async def read(call: Call) -> Answered:
    digest, blobs = call.params.digest, call.api.blobs
    size = await asyncio.to_thread(blobs.size, digest)
    if size is None or not await call.api.desk.blob_access.may_read(call.caller, digest):
        raise HttpError(404, "no_such_blob", "there is no such blob")
    asked = call.head.all(b"range")
    start, end = range_of(asked[0], size) if len(asked) == 1 else (0, size)
    part = (start, end) != (0, size)
    headers = {
        "content-type": "application/octet-stream",
        "content-disposition": "attachment",
        "accept-ranges": "bytes",
        "content-length": str(end - start),
        "etag": f'"{digest}"',
    }
    if part:
        headers["content-range"] = f"bytes {start}-{end - 1}/{size}"

    async def write(send: Send, _: Receive) -> None:
        for at in range(start, end, CHUNK):
            await send(await asyncio.to_thread(blobs.get, digest, at, min(CHUNK, end - at)))

    return Answered(status=206 if part else 200, headers=headers, stream=write)


def range_of(text: bytes, size: int) -> tuple[int, int]:
    """Start and end of what is wanted; all of it where that cannot be understood.

    Raises:
        HttpError: there is nothing there.
    """
    found = _RANGE.fullmatch(text.strip())
    if found is None or found[0] == b"bytes=-":
        return 0, size
    first, last = found.groups()
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last) + 1, size) if first and last else size
    if start >= size or end <= start:
        said = "there is nothing in that range"
        raise HttpError(416, "no_such_range", said, content_range=f"bytes */{size}")
    return start, end


ROUTES = (
    Route(
        method="POST",
        path=f"{API}/blobs",
        scope="input",
        handler=upload,
        body=bytes,
        result=Uploaded,
        status=201,
        max_body=MAX_UPLOAD,
        summary="Upload a picture or document for a message to come",
    ),
    Route(
        method="GET",
        path=f"{API}/blobs/{{digest}}",
        scope="view",
        handler=read,
        params=OneBlob,
        result=bytes,
        or_status=(206,),
        media_type="application/octet-stream",
        summary="Read a blob, or the part that the header Range names",
    ),
)
