"""Runs a program and adds to what it prints: lines that are none of its own.

    python noisy.py PROGRAM [ARGUMENT ...]

Before everything, and before each tenth line, there is one that is no message: plain words, a
cut object, another program's JSON, bytes that are no text. The program keeps our stdin.
"""

from __future__ import annotations

import subprocess
import sys

NOISE = (
    b"npm warn deprecated inflight@1.0.6\n",
    b'{"type":"assistant","message":{"content":[{"type":"te\n',
    b'{"level":"info","msg":"a log line"}\n',
    b"\xff\xfe\x00 no text\n",
    b"[1, 2, 3]\n",
    b"\n",
)


def main(program: list[str]) -> int:
    out = sys.stdout.buffer
    out.write(b"".join(NOISE))
    out.flush()
    agent = subprocess.Popen(program, stdout=subprocess.PIPE)
    assert agent.stdout is not None
    for at, line in enumerate(agent.stdout):
        if at % 10 == 0:
            out.write(NOISE[at // 10 % len(NOISE)])
        out.write(line)
        out.flush()
    return agent.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
