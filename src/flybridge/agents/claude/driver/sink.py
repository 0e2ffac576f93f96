"""Where a driver puts what it produced, until it is taken. Big bodies become blobs here."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.agents.claude.wire import decode
from flybridge.model.deliveries import Answer, Gauge, Preview
from flybridge.model.events import Unrecognised
from flybridge.model.facts import Fact
from flybridge.model.ids import InputKey, ItemId, SessionId
from flybridge.session.ports import BLOB_BYTES, Line, Out, Output

HEAD_BYTES = 2 * 1024
FIELD_BYTES = 8 * 1024
SOURCE = "claude"


class Sink:
    def __init__(self) -> None:
        self.session = SessionId("")
        self._output = Output(out=[], lines=[], blobs={})

    def put(self, what: Fact | Preview | Gauge | Answer) -> None:
        out: Out = what
        self._output.out.append((self.session, out))

    def write(
        self,
        data: bytes,
        key: InputKey | None = None,
        on_restart: Literal["send", "drop"] = "send",
    ) -> None:
        self._output.lines.append(Line(data=data, key=key, on_restart=on_restart))

    def take(self) -> Output:
        output = self._output
        self._output = Output(out=[], lines=[], blobs={})
        return output

    def store(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._output.blobs[digest] = data
        return digest

    def text(self, text: str) -> tuple[str, str]:
        """The text and no blob; or, when it is too long for a row, its head and the blob."""
        if len(text) * 4 <= BLOB_BYTES:
            return text, ""
        data = text.encode("utf-8", "replace")
        if len(data) <= BLOB_BYTES:
            return text, ""
        return data[:HEAD_BYTES].decode("utf-8", "ignore"), self.store(data)

    def body(self, raw: Raw | UnsetType) -> tuple[Raw | UnsetType, str]:
        """The JSON and no blob; or nothing and the blob."""
        if raw is UNSET or len(bytes(raw)) <= BLOB_BYTES:
            return raw, ""
        return UNSET, self.store(bytes(raw))

    def detail(self, raw: Raw | UnsetType) -> Raw | UnsetType:
        """The agent's own object; when too big, without its big fields, ``_blob`` has all. That
        name is ours: an agent cannot give it to a blob that is not its own."""
        if raw is UNSET or len(bytes(raw)) <= BLOB_BYTES:
            return _without_our_name(raw)
        kept = slim(raw)
        kept["_blob"] = Raw(msgspec.json.encode(self.store(bytes(raw))))
        return Raw(msgspec.json.encode(kept))

    def unrecognised(self, line: bytes | Raw, parent: str = "") -> None:
        text, blob = self.text(bytes(line).decode("utf-8", "replace"))
        self.put(Unrecognised(source=SOURCE, text=text, parent=ItemId(parent), blob=blob))


def _without_our_name(raw: Raw | UnsetType) -> Raw | UnsetType:
    if raw is UNSET or (b"_blob" not in bytes(raw) and b"\\u" not in bytes(raw)):
        return raw
    kept = decode.fields(raw)
    if "_blob" not in kept:
        return raw
    del kept["_blob"]
    return Raw(msgspec.json.encode(kept))


def slim(raw: Raw | bytes) -> dict[str, Raw]:
    """The fields of an object but the big ones; ``_omitted`` names those."""
    kept: dict[str, Raw] = {}
    omitted: list[str] = []
    room = BLOB_BYTES // 2
    for name, value in decode.fields(raw).items():
        size = len(bytes(value))
        if size > FIELD_BYTES or size > room:
            omitted.append(name)
        else:
            kept[name] = value
            room -= size
    if omitted:
        kept["_omitted"] = Raw(msgspec.json.encode(omitted[:64]))
    return kept
