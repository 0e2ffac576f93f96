"""The page as its build left it: files that are sent as they are, but for one line of the first.

Nothing is compressed here: the build wrote a ``.br`` and a ``.gz`` beside every text. Nothing is
remembered either, so a page that is built anew is there at once. A name has no slash and begins
with no dot, so nothing outside the folder can be named.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

import msgspec

THEMES = frozenset({"light", "dark"})
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
FOR_EVER = "public, max-age=31536000, immutable"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))  # best first
_HASHED = re.compile(r"[A-Za-z0-9_][\w.-]{0,150}-[\w-]{8}\.[a-z0-9]{2,5}", re.ASCII)
_NEVER = re.compile(rb"q=0(\.0{0,3})?")


class WebFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file, and how it is sent."""

    body: bytes
    headers: dict[str, str]


class WebFiles:
    """The folder of a built page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def shell(self, *, theme: str = "", base_path: str = "") -> WebFile | None:
        """The page that every view begins with; nothing where none was built.

        ``theme`` is what a cookie says, and counts only if it is one of ours. Addresses in the
        page are made absolute, because views lie at different depths.
        """
        try:
            text = (self._folder / "index.html").read_text(encoding="utf-8")
        except OSError:
            return None
        base = html.escape(base_path)
        chosen = theme if theme in THEMES else ""
        text = text.replace('data-theme=""', f'data-theme="{chosen}"', 1)
        text = text.replace('data-base=""', f'data-base="{base}"', 1)
        text = re.sub(r'( (?:href|src)=")\./', lambda found: f"{found[1]}{base}/", text)
        headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache"}
        return WebFile(body=text.encode(), headers=headers)

    def asset(self, name: str, accepts: bytes = b"") -> WebFile | None:
        """A file whose name holds a digest of its content, so that it is good for ever."""
        kind = KINDS.get(name[name.rfind(".") :])
        if kind is None or not _HASHED.fullmatch(name):
            return None
        path = self._folder / "assets" / name
        headers = {"content-type": kind, "cache-control": FOR_EVER, "vary": "accept-encoding"}
        wanted = accepted(accepts)
        for encoding, suffix in _ENCODINGS:
            if encoding in wanted and (body := _read(Path(f"{path}{suffix}"))) is not None:
                return WebFile(body=body, headers={**headers, "content-encoding": encoding})
        body = _read(path)
        return None if body is None else WebFile(body=body, headers=headers)


def accepted(header: bytes) -> frozenset[str]:
    """The encodings that a browser names and does not rule out."""
    found = set()
    for part in header.lower().split(b",")[:20]:
        name, _, quality = part.partition(b";")
        if not _NEVER.fullmatch(quality.replace(b" ", b"")):
            found.add(name.strip().decode("ascii", "replace"))
    return frozenset(found)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
