"""The recorder agent with a shell: it runs whatever its ``--hands`` socket is told to.

A real agent runs commands for a model; this one runs them for a test, while its turn waits at a
prompt. What it starts are its own children, and so descend from its keeper. A request is a line
of JSON, ``{"argv": [...], "stdin": "", "env": {}, "terminal": false, "typed": ""}``, and so is
the answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import socketserver
import subprocess
import sys
import termios
import threading
from typing import Any

from flybridge.testing import recorder

WITHIN_S = 30


def carry_out(asked: dict[str, Any]) -> dict[str, Any]:
    """Run one command to its end; ``terminal``: with a controlling terminal of its own."""
    side = pty.openpty() if asked.get("terminal") else None

    def control() -> None:
        if side is not None:
            fcntl.ioctl(side[1], termios.TIOCSCTTY, 0)

    if side is not None:
        os.write(side[0], asked.get("typed", "").encode())
    try:
        done = subprocess.run(
            asked["argv"],
            input=asked.get("stdin", ""),
            capture_output=True,
            text=True,
            env={**os.environ, **asked.get("env", {})},
            start_new_session=True,
            pass_fds=side or (),
            preexec_fn=control,
            timeout=asked.get("within_s", WITHIN_S),
        )
    except subprocess.TimeoutExpired as late:
        return {"status": -1, "out": str(late.stdout), "err": f"{late} {late.stderr!r}"}
    finally:
        for one in side or ():
            os.close(one)
    return {"status": done.returncode, "out": done.stdout, "err": done.stderr}


class Hand(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        answer = carry_out(json.loads(self.rfile.readline()))
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class Hands(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def main() -> int:
    if "--hands" in sys.argv and "--version" not in sys.argv:
        path = sys.argv[sys.argv.index("--hands") + 1]
        if os.access(path, os.F_OK):  # an earlier life's
            os.unlink(path)  # noqa: PTH108
        threading.Thread(target=Hands(path, Hand).serve_forever, daemon=True).start()
    return recorder.main()


if __name__ == "__main__":
    sys.exit(main())
