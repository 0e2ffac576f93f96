"""A session's log as a file: read page by page, written as it is read.

Memory is bounded by one page and one blob. A file appears when it is whole, is this user's
alone, and replaces nothing unless that was asked for.
"""

from __future__ import annotations

import base64
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Raw

from flybridge.cli.export.markdown import LINES as LINES
from flybridge.cli.export.markdown import MarkdownExport
from flybridge.client import Client, EventItem
from flybridge.errors import FlybridgeError, InvalidRequestError
from flybridge.model import events as ev

Kind: TypeAlias = Literal["markdown", "json", "jsonl"]
FORMATS: dict[str, Kind] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
NAME = "flybridge.session"
VERSION = 1
PAGE_EVENTS = 1000
BLOB_PAGE = 1 << 20  # more the gateway does not give at once
MAX_TEXT_BYTES = 4 << 20  # of what was said
MAX_TOOL_BYTES = 256 << 10  # of a tool's input or output, which is shortened anyway


async def export_file(
    client: Client, session: str, path: Path, *, kind: Kind, lines: int = LINES, force: bool = False
) -> int:
    """Write a session to a file; how many bytes it has.

    Raises:
        InvalidRequestError: the file exists, or cannot be written.
    """
    with new_file(path, force=force) as write:
        return await export_to(client, session, write, kind=kind, lines=lines)


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[Callable[[bytes], object]]:
    """A file of this user's alone that is there when the context ends well, and else is not."""
    try:
        if not force:  # takes the name, so that nobody else can meanwhile
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except FileExistsError:
        raise InvalidRequestError(f"{path} exists already: choose another name") from None
    except OSError as error:
        raise InvalidRequestError(f"cannot write {path}: {error.strerror}") from error
    part = Path(name)
    try:
        with os.fdopen(fd, "wb") as file:
            yield file.write
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if not force:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InvalidRequestError(f"cannot write {path}: {error.strerror}") from error
        raise


async def export_to(
    client: Client,
    session: str,
    write: Callable[[bytes], object],
    *,
    kind: Kind,
    lines: int = LINES,
) -> int:
    """Hand a session over piece by piece; how many bytes there were."""
    pieces = (
        _markdown(client, session, lines) if kind == "markdown" else _json(client, session, kind)
    )
    size = 0
    async for piece in pieces:
        data = piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace")
        write(data)
        size += len(data)
    return size


async def _items(client: Client, session: str) -> AsyncIterator[EventItem]:
    """Everything there is when this begins, in order."""
    after, head, epoch = 0, -1, -1
    while True:
        page = await client.page(session, after, PAGE_EVENTS)
        if head < 0:
            head, epoch = page.head, page.epoch
        if page.epoch != epoch:
            raise InvalidRequestError("the log began anew while it was read: try again")
        for item in page.events:
            if item.seq <= head:
                yield item
                after = item.seq
        if after >= head or not page.events:
            return


async def _row(client: Client, session: str) -> dict[str, Any]:
    rows = await client.list()
    return next((row for row in rows if row["session"] == session), {"session": session})


# ---- JSON ----------------------------------------------------------------------------------------


async def _json(client: Client, session: str, kind: Kind) -> AsyncIterator[bytes]:
    if kind == "jsonl":
        async for item in _items(client, session):
            yield event_json(item) + b"\n"
        return
    frame = {
        "format": NAME,
        "version": VERSION,
        "session": session,
        "exported_ms": time.time_ns() // 1_000_000,
        "info": await _row(client, session),
    }
    yield msgspec.json.encode(frame)[:-1] + b',"events":['
    first = True
    async for item in _items(client, session):
        yield (b"\n" if first else b",\n") + event_json(item)
        first = False
    yield b"\n]}\n"


def event_json(item: EventItem) -> bytes:
    """An event as it is stored, byte for byte, and its place."""
    return b'{"seq":%d,"at_ms":%d,"event":%b}' % (item.seq, item.at_ms, item.raw)


# ---- Markdown ------------------------------------------------------------------------------------


async def _markdown(client: Client, session: str, lines: int) -> AsyncIterator[str]:
    document = MarkdownExport(lines=lines)
    yield document.head(await _row(client, session))
    async for item in _items(client, session):
        whole = await _completed(client, item.event)
        yield document.event(msgspec.structs.replace(item, event=whole))
    yield document.tail()


async def _completed(client: Client, event: ev.Event | None) -> ev.Event | None:
    """An event with the text that was too long for the log, up to a bound."""
    match event:
        case ev.TextDone(blob=str(blob)) | ev.ThinkingDone(blob=str(blob)) if blob:
            text, is_all = await _blob(client, blob, MAX_TEXT_BYTES)
            return msgspec.structs.replace(
                event, text=text or event.text, blob="" if is_all else blob
            )
        case ev.ToolResult(blob=str(blob)) if blob:
            text, is_all = await _blob(client, blob, MAX_TOOL_BYTES)
            return msgspec.structs.replace(
                event, text=text or event.text, blob="" if is_all else blob
            )
        case ev.ToolStarted(blob=str(blob)) | ev.PermissionClosed(blob=str(blob)) if blob:
            text, is_all = await _blob(client, blob, MAX_TOOL_BYTES)
            given = text.encode() if is_all else msgspec.json.encode(f"{text} …")
            return msgspec.structs.replace(event, input=Raw(given)) if text else event
        case _:
            return event


async def _blob(client: Client, digest: str, limit: int) -> tuple[str, bool]:
    """The beginning of a blob, and whether it is all of it; nothing if it is gone."""
    data, size = b"", 1
    try:
        while len(data) < min(size, limit):
            params = {"digest": digest, "start": len(data), "size": BLOB_PAGE}
            answer = await client.ask("blob", params)
            piece = base64.b64decode(str(answer["data"]))
            data, size = data + piece, int(answer["size"])
            if not piece:
                break
    except FlybridgeError:
        return "", False
    return data[:limit].decode(errors="replace"), size <= min(len(data), limit)
