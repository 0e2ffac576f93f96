"""Pictures and documents that go with a message: found by what they are, not by their name."""

from __future__ import annotations

import base64
import os
import re
import shlex
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from flybridge.client import pictures
from flybridge.errors import InvalidRequestError
from flybridge.model.content import Document, Image
from flybridge.session.attachments import DOCUMENT_BYTES as MAX_PDF_BYTES
from flybridge.session.attachments import PICTURE_BYTES as MAX_IMAGE_BYTES

MAX_FILES = 20  # with one message
MAX_DRAGGED = 4096
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
PDF = "application/pdf"
_mention = re.compile(r"""(?<!\S)@(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\])+))""")


class Attachment(msgspec.Struct, frozen=True):
    name: str
    size: int
    content: Image | Document


def read_attachment(path: Path) -> Attachment:
    """Read a file that is to go with a message.

    Raises:
        InvalidRequestError: there is none, it is none an agent can look at, or too large.
    """
    path = path.expanduser()
    data = _read(path)
    kind = media_type(data)
    if not kind:
        raise InvalidRequestError(f"{path.name} is neither a PNG, JPEG, GIF, WebP nor a PDF")
    limit = MAX_PDF_BYTES if kind == PDF else MAX_IMAGE_BYTES
    if len(data) > limit:
        raise InvalidRequestError(f"{path.name} is larger than {size_text(limit)}")
    text = base64.b64encode(data).decode()
    if kind == PDF:
        return Attachment(path.name, len(data), Document(kind, data=text, title=path.name))
    return Attachment(path.name, len(data), Image(kind, data=text))


def _read(path: Path) -> bytes:
    try:
        # a name may belong to a pipe or a device, which would keep us waiting
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise InvalidRequestError(f"{path.name} is no file")
            return file.read(MAX_PDF_BYTES + 1)
    except OSError as error:
        raise InvalidRequestError(f"cannot read {path}: {error.strerror}") from error


def media_type(data: bytes) -> str:
    """What the first bytes say it is; empty: nothing we can attach."""
    return PDF if data.startswith(b"%PDF-") else pictures.media_type(data)


def mentioned(text: str) -> list[Path]:
    """The files a message names like ``@picture.png``; other words with an at sign are words."""
    found: dict[Path, None] = {}
    for match in _mention.finditer(text):
        quoted = match[1] or match[2]
        name = quoted or re.sub(r"\\(.)", r"\1", match[3])
        for one in (name, name.rstrip(".,;:!?)")):
            path = Path(one).expanduser()
            if _is_attachable(path):
                found[path] = None
                break
    return list(found)[:MAX_FILES]


def dragged(text: str) -> str:
    """What a terminal pastes when files are dropped on it, as mentions; else nothing."""
    if len(text) > MAX_DRAGGED or "\n" in text.strip():
        return ""
    try:
        names = [_local(one) for one in shlex.split(text)]
    except ValueError:
        return ""
    paths = [Path(name) for name in names]
    if not names or not all(name.startswith("/") for name in names):
        return ""
    if not all(map(_is_attachable, paths)) or any('"' in name for name in names):
        return ""
    return " ".join(f'@"{name}"' if re.search(r"[\s'\\]", name) else f"@{name}" for name in names)


def _local(name: str) -> str:
    return unquote(urlsplit(name).path) if name.startswith("file://") else name


def _is_attachable(path: Path) -> bool:
    try:
        return path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):  # no name any file could have
        return False


def size_text(size: int) -> str:
    """Bytes in the unit people would use."""
    if size < 1000:
        return f"{size} bytes"
    if size < 1 << 20:
        return f"{size / 1024:.0f} KB"
    return f"{size / (1 << 20):.1f} MB".replace(".0 ", " ")


def label(content: Image | Document) -> str:
    """An attachment as a word in a line."""
    count = len(content.data) * 3 // 4 - content.data[-2:].count("=")
    size = f", {size_text(count)}" if content.data else ""
    title = f"{content.title}, " if isinstance(content, Document) and content.title else ""
    return f"[{title}{content.media_type}{size}]"
