"""Event lines: what is a row of the journal, a frame to every client and a chunk of a stream.

They are made once per step by splicing bytes: the events are JSON already.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flybridge.errors import RemoteProtocolError
from flybridge.wire.native.messages import EventLine, decode_gateway, on_one_line


def encode_entries(
    session: str, epoch: int, first_seq: int, at_ms: int, events: Sequence[bytes]
) -> bytes:
    """Join the lines of consecutive events, numbered from ``first_seq``, no newline at the end."""
    head = b'{"type":"event","session":%b,"epoch":%d,"seq":' % (msgspec.json.encode(session), epoch)
    middle = b',"at_ms":%d,"event":' % at_ms
    lines = b"\n".join(
        [b"%b%d%b%b}" % (head, seq, middle, event) for seq, event in enumerate(events, first_seq)]
    )
    if lines.count(b"\n") >= max(len(events), 1):  # an agent's own object came pretty-printed
        return encode_entries(session, epoch, first_seq, at_ms, [on_one_line(e) for e in events])
    return lines


def decode_entries(lines: bytes) -> list[EventLine]:
    """Take joined event lines apart again.

    Raises:
        RemoteProtocolError: one of them is no event line.
    """
    return [_event_line(line) for line in lines.split(b"\n") if line]


def _event_line(line: bytes) -> EventLine:
    message = decode_gateway(line)
    if not isinstance(message, EventLine):
        raise RemoteProtocolError("an event line was expected")
    return message
