from __future__ import annotations

import asyncio
import os
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from flybridge.runtime.keeper.process import start_time
from flybridge.runtime.keeper.programs import (
    bare_environment,
    channel,
    command,
    read_all,
    reap_when_over,
    spawn,
    write_all,
)

ECHO = "import os, sys\nos.write(1, sys.stdin.buffer.read()[::-1])\n"


async def test_a_document_goes_in_and_an_answer_comes_out() -> None:
    document = os.urandom(3000) * 5  # not more than an answer may have
    with ExitStack() as files:
        document_r, document_w = channel(files)
        answer_r, answer_w = channel(files)
        argv = [sys.executable, "-I", "-S", "-c", ECHO]
        pid = spawn(argv, document_r.fileno(), answer_w.fileno())
        reap_when_over(pid)
        document_r.close()
        answer_w.close()
        async with asyncio.timeout(60):
            await write_all(document_w, document)
            assert await read_all(answer_r) == document[::-1]
            while start_time(pid) is not None:  # no zombie stays
                await asyncio.sleep(0.005)


async def test_a_program_that_does_not_read_is_no_error() -> None:
    with ExitStack() as files:
        document_r, document_w = channel(files)
        document_r.close()
        await write_all(document_w, b"x" * 10**6)


def test_a01_a_document_cannot_be_read_through_proc() -> None:
    with ExitStack() as files:
        for end in channel(files):
            with pytest.raises(OSError, match="No such device or address"):
                os.open(f"/proc/self/fd/{end.fileno()}", os.O_RDWR)


def test_a_program_gets_little_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    assert bare_environment().keys() <= {"PATH", "FLYBRIDGE_BOOT_ID"}


def test_a_program_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(OSError, match="No such file"):
        spawn(["/no/such/program"], 0, 1)


def test_the_compiled_file_is_run_where_it_is_this_sources(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text("pass\n")
    assert command(str(source), sys.executable, "x")[3:] == [str(source), "x"]
    import py_compile

    compiled = py_compile.compile(str(source))
    assert command(str(source), sys.executable)[3] == compiled
    assert command(str(source), "/usr/bin/python3.99")[3] == str(source)
    source.write_text("pass  # changed\n")
    assert command(str(source), sys.executable)[3] == str(source)
