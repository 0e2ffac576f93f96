"""What a stream can show: colours, marks beyond ASCII, a width."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TextIO

from flybridge.cli.rendering.screen import Look, Plain
from flybridge.cli.terminal import size_of


def look_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> Look:
    """Colours only on a terminal that has them and for people who want them."""
    encoding = (stream.encoding or "ascii").lower().replace("-", "")
    colour = (
        stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"
    )
    return Look(colour=colour, unicode=encoding.startswith("utf"))


def plain_paper(stream: TextIO, *, marks: bool) -> Plain:
    """Paper that is written from top to bottom."""
    width = size_of(stream.fileno())[0] - 1 if stream.isatty() else None
    return Plain(writer(stream), look=look_of(stream), width=width, marks=marks)


def writer(stream: TextIO) -> Callable[[str], None]:
    """Write at once; what the stream cannot encode is spelled out."""
    encoding = stream.encoding or "ascii"

    def write(text: str) -> None:
        if text:
            stream.buffer.write(text.encode(encoding, "backslashreplace"))
            stream.buffer.flush()

    return write
