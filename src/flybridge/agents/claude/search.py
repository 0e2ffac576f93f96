"""Words found in Claude's transcripts, read piece by piece within a bound.

A piece is searched as bytes first: most hold nothing, and are never taken apart. Only what was
said counts: the many lines a newer version writes about itself do not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import msgspec

from flybridge.agents.claude.history import ClaudeHistory, Transcript
from flybridge.agents.claude.wire.transcript import Node, read_line, texts
from flybridge.errors import InvalidRequestError, StorageError

MAX_LINE_BYTES = 32 << 20
MAX_BYTES = 4 << 30
MAX_HITS = 50
PER_SESSION = 3
BEFORE, AFTER = 60, 100
_ASCII = re.compile(r"[\x20-\x7e]+")


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One line that says it; ``who`` is user, assistant, thinking, tool, result or system."""

    transcript: Transcript
    uuid: str
    at: str
    who: str
    excerpt: str


class Found(msgspec.Struct, kw_only=True):
    """What was found, and how far was looked. ``stopped``: why not to the end."""

    hits: list[Hit] = []
    files: int = 0
    bytes: int = 0
    skipped: int = 0  # lines too long to look into, files that cannot be read
    stopped: str = ""


def search(
    history: ClaudeHistory,
    transcripts: Iterable[Transcript],
    words: str,
    *,
    max_hits: int = MAX_HITS,
    max_bytes: int = MAX_BYTES,
    per_session: int = PER_SESSION,
    max_line: int = MAX_LINE_BYTES,
) -> Found:
    """Look for ``words`` as they stand, in whatever case, in this order of transcripts.

    Raises:
        InvalidRequestError: there are no words to look for.
    """
    wanted = words.strip().lower()
    if not wanted:
        raise InvalidRequestError("nothing to look for")
    found = Found()
    for transcript in transcripts:
        left = per_session
        for one in (transcript, *history.subagents(transcript)):
            if found.bytes + one.size > max_bytes:
                found.stopped = f"{max_bytes} bytes were read"
                return found
            found.files += 1
            found.bytes += one.size
            for hit in _hits(history, one, wanted, found, max_line):
                found.hits.append(hit)
                left -= 1
                if len(found.hits) >= max_hits:
                    found.stopped = f"{max_hits} places were found"
                    return found
                if not left:
                    break
            if not left:
                break
    return found


def _hits(
    history: ClaudeHistory, transcript: Transcript, wanted: str, found: Found, max_line: int
) -> Iterator[Hit]:
    needle = needle_of(wanted)
    try:
        for line in _candidates(history.chunks(transcript), needle, found, max_line):
            node = read_line(line)
            if isinstance(node, Node) and (hit := _hit(transcript, node, wanted)):
                yield hit
    except (StorageError, InvalidRequestError):
        found.skipped += 1


def _hit(transcript: Transcript, node: Node, wanted: str) -> Hit | None:
    if node.is_meta:
        return None
    for who, said in texts(node):
        at = said.lower().find(wanted)
        if at >= 0:
            return Hit(
                transcript=transcript,
                uuid=node.uuid,
                at=node.timestamp or "",
                who=who,
                excerpt=_excerpt(said, at, len(wanted)),
            )
    return None


def _excerpt(said: str, at: int, length: int) -> str:
    start, end = max(at - BEFORE, 0), at + length + AFTER
    cut = " ".join(said[start:end].split())
    return f"{'…' if start else ''}{cut}{'…' if end < len(said) else ''}"


def needle_of(wanted: str) -> bytes:
    """The longest run of it that looks the same in a line of JSON, whoever wrote the line."""
    runs = [json.dumps(run)[1:-1] for run in _ASCII.findall(wanted)]
    return max(runs, key=len, default="").encode()


def _candidates(
    chunks: Iterable[bytes], needle: bytes, found: Found, max_line: int
) -> Iterator[bytes]:
    rest = b""
    too_long = False
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest = b"" if too_long else rest + chunk
        else:
            yield from _matching((b"" if too_long else rest) + chunk[:cut], needle)
            found.skipped += too_long
            rest, too_long = chunk[cut:], False
        if len(rest) > max_line:
            rest, too_long = b"", True
    if too_long:
        found.skipped += 1
    elif rest:
        yield from _matching(rest, needle)


def _matching(block: bytes, needle: bytes) -> Iterator[bytes]:
    """The lines of a block that hold the needle."""
    low = block.lower()
    at = low.find(needle)
    while 0 <= at < len(block):
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        if end > start:
            yield block[start:end]
        at = low.find(needle, end + 1)
