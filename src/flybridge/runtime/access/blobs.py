"""Which blobs a caller may read: those of the sessions it may see, and those it uploaded.

A blob has no owner: equal bytes of two sessions are one file. So a caller that is bound to some
sessions may read a blob if an event of one of them names it. Only fields that the gateway writes
count. A digest in a text, in a tool's input or in a message's content is somebody's word for it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.errors import InvalidRequestError, SessionNotFoundError
from flybridge.model import commands as c
from flybridge.model.content import Text
from flybridge.model.ids import SessionId
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Journal

SCAN_BYTES = 1 << 20  # of a log, until others get their turn
MAX_INDEXED = 64  # sessions whose blobs are remembered
MAX_UPLOADS = 256  # of each credential; older ones are to be uploaded again
MAX_UPLOADERS = 256
_WITH_DETAIL = frozenset({"tool.result", "agent.ready"})  # ``detail`` may name a blob there


class _Detail(msgspec.Struct):
    blob: str = msgspec.field(default="", name="_blob")


class _Event(msgspec.Struct):
    type: str = ""
    blob: str = ""
    detail: Raw | UnsetType = UNSET


class _Line(msgspec.Struct):
    event: _Event | UnsetType = UNSET


class _Index(msgspec.Struct):
    """The digests that a log names, up to an entry."""

    epoch: int
    seq: int = 0
    digests: set[str] = msgspec.field(default_factory=set)


_line = msgspec.json.Decoder(_Line)
_detail = msgspec.json.Decoder(_Detail)


class BlobAccess:
    """Decides which blobs a caller may read. Callers that see every session may read all."""

    def __init__(self, sessions: Sessions, journal: Journal) -> None:
        self._sessions = sessions
        self._journal = journal
        self._indexes: OrderedDict[str, _Index] = OrderedDict()
        self._uploads: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def note_upload(self, caller: Caller, digest: str) -> None:
        """Remember who uploaded a blob: no event names it before it is sent."""
        if not caller.sessions:
            return
        uploads = self._uploads.setdefault(_owner(caller), OrderedDict())
        self._uploads.move_to_end(_owner(caller))
        uploads[digest] = None
        uploads.move_to_end(digest)
        if len(uploads) > MAX_UPLOADS:
            uploads.popitem(last=False)
        if len(self._uploads) > MAX_UPLOADERS:
            self._uploads.popitem(last=False)

    async def may_read(self, caller: Caller, digest: str) -> bool:
        """Return whether the caller may read this blob, if there is one."""
        if not caller.sessions or digest in self._uploads.get(_owner(caller), ()):
            return True
        for session in sorted(caller.sessions):
            if await self._names(SessionId(session), digest):
                return True
        return False

    async def check_content(self, caller: Caller, command: c.Command) -> None:
        """Refuse a message that names a blob which its sender may not read: it would be copied
        into a log that the sender does read.

        Raises:
            InvalidRequestError: there is no such blob, as far as this caller may know.
        """
        if not caller.sessions or not isinstance(command, c.SendInput | c.EditQueued):
            return
        for part in command.content:
            if isinstance(part, Text) or not part.blob:
                continue
            if not await self.may_read(caller, part.blob):
                raise InvalidRequestError(f"no blob {part.blob[:64]}")

    async def _names(self, session: SessionId, digest: str) -> bool:
        """Return whether a session's log names a blob. Each entry is looked at once."""
        try:
            live = self._sessions.get(session)
        except SessionNotFoundError:
            self._indexes.pop(session, None)
            return False
        index = self._indexes.get(session)
        if index is None or index.epoch != live.memory.epoch:
            index = self._indexes[session] = _Index(live.memory.epoch)
            if len(self._indexes) > MAX_INDEXED:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(session)
        while digest not in index.digests:
            batches = self._journal.read(session, index.seq, SCAN_BYTES)
            if not batches:
                return False
            for batch in batches:
                index.digests.update(digests_in(batch.wire))
                index.seq = batch.first_seq + batch.count - 1
            await asyncio.sleep(0)
        return True


def digests_in(wire: bytes) -> set[str]:
    """Return the digests of the blobs that these events name."""
    found: set[str] = set()
    for line in wire.split(b"\n"):
        if b"blob" not in line:
            continue
        try:
            event = _line.decode(line).event
            if event is UNSET:
                continue
            found.add(event.blob)
            if event.type in _WITH_DETAIL and event.detail is not UNSET:
                found.add(_detail.decode(event.detail).blob)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue  # a detail that is no object; the blob itself was added before
    return found - {""}


def _owner(caller: Caller) -> str:
    return caller.credential or caller.principal
