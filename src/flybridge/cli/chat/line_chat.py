"""A chat without cursor movements: a dumb terminal, or output into a pipe.

The terminal itself edits the line; what comes is printed as it comes.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import time
from collections.abc import Sequence

from flybridge.cli.attachments import Attachment
from flybridge.cli.chat.asking import SETTLE_S
from flybridge.cli.chat.conversation import Conversation
from flybridge.cli.chat.interactive import ENDING, READ_BYTES
from flybridge.cli.rendering.screen import Plain
from flybridge.client import Client

MAX_LINE = 1 << 20


class LineChat:
    """Reads whole lines; a prompt is answered by a line with its letter."""

    def __init__(
        self,
        client: Client,
        session: str,
        *,
        stdin: int,
        paper: Plain,
        size: tuple[int, int],
        come_back: str,
    ) -> None:
        self._stdin = stdin
        self._paper = paper
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._told = ""  # which choices were printed last
        self._talk = Conversation(
            client,
            session,
            paper,
            size=lambda: size,
            changed=self._tell,
            come_back=come_back,
            inline=True,
        )

    async def run(self, first: str = "", files: Sequence[Attachment] = ()) -> int:
        loop = asyncio.get_running_loop()
        for ending in ENDING:
            loop.add_signal_handler(ending, self._talk.leave, 128 + ending)
        loop.add_signal_handler(signal.SIGINT, self._talk.ctrl_c)
        loop.add_reader(self._stdin, self._read)
        try:
            return await self._talk.run(first, files)
        finally:
            loop.remove_reader(self._stdin)
            self._paper.fresh()

    def _tell(self) -> None:
        """Say what can be answered, once it can be."""
        asking = self._talk.asking
        box = asking.box
        if box is None or asking.sending:
            self._told = ""
        elif asking.has_keys(typing=False):
            said = f"{box.hint} · {box.label}" if box.hint else box.label
            if (now := f"{box.prompt} {said}") != self._told:
                self._told = now
                self._paper.line(said, "box")

    def _read(self) -> None:
        try:
            data = os.read(self._stdin, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self._talk.quit(0)
            return
        self._text += self._decoder.decode(data)
        *lines, rest = self._text.split("\n")
        self._text = rest[:MAX_LINE]
        for line in lines:
            self._take(line.removesuffix("\r"))
        self._tell()

    def _take(self, line: str) -> None:
        asking = self._talk.asking
        box = asking.box
        if box is None or not asking.has_keys(typing=False):
            asking.typed_at = time.monotonic()
            asyncio.get_running_loop().call_later(SETTLE_S + 0.01, self._tell)
            self._talk.line(line)
        elif box.wants == "line":
            asking.enter(line)
        else:
            asking.press(line.strip()[:1] or "\n")
