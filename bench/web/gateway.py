"""A gateway of the benchmark's own that serves a page of its own to browsers that are logged in."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

from bench.gateway import PLAIN, Gateway
from bench.pieces import Pieces

SERVE = (sys.executable, str(Path(__file__).parent / "serve_page.py"))
LINK_S = 30
MOST = 1 << 16


class PageGateway(Gateway):
    """``async with PageGateway(pieces, page) as gateway``"""

    def __init__(self, pieces: Pieces, page: Path, folder: Path | None = None) -> None:
        super().__init__(pieces, folder, launcher=SERVE, environ={"BENCH_PAGE": str(page)})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def link(self) -> str:
        """A link that logs one browser in, once; only somebody at a terminal gets one."""
        said = await asyncio.to_thread(
            at_terminal, *PLAIN, "open", "--print", "--state", str(self.state.path)
        )
        found = re.search(r"http\S+", said)
        if found is None:
            raise RuntimeError(f"there is no link for a browser: {said}")
        return found[0]


def at_terminal(*argv: str) -> str:
    """What a program says to somebody who sits at a terminal, when it has ended."""
    main, side = pty.openpty()
    try:
        process = subprocess.Popen(
            argv,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        process.wait(LINK_S)
        return os.read(main, MOST).decode()
    finally:
        os.close(main)
        os.close(side)
