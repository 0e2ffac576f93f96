from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator

import pytest

from flybridge.cli.terminal import TerminalModes, size_of, write_all


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    main, side = pty.openpty()
    yield main, side
    for fd in (main, side):
        try:
            os.close(fd)
        except OSError:
            pass


def test_modes_are_given_back_as_they_were(ends: tuple[int, int]) -> None:
    _, side = ends
    before = termios.tcgetattr(side)
    modes = TerminalModes(side, side)
    modes.enter()
    modes.enter()
    flags = termios.tcgetattr(side)[3]
    assert not flags & (termios.ICANON | termios.ECHO)
    assert flags & termios.ISIG  # Ctrl-Z still stops
    modes.leave()
    modes.leave()
    assert termios.tcgetattr(side) == before


def test_leaving_a_terminal_that_is_gone_is_no_error(ends: tuple[int, int]) -> None:
    main, side = ends
    modes = TerminalModes(side, side)
    modes.enter()
    os.close(main)
    modes.leave()


def test_a_size_that_makes_no_sense_is_replaced(ends: tuple[int, int]) -> None:
    _, side = ends
    assert size_of(side) == (80, 24)
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 2, 7, 0, 0))
    assert size_of(side) == (20, 5)
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    assert size_of(side) == (100, 40)
    assert size_of(999) == (80, 24)


def test_everything_is_written_even_if_the_descriptor_does_not_block() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    os.write(write, b"x" * 65536)  # the pipe is full
    pid = os.fork()
    if pid == 0:
        got = 0
        while got < 65536 + 10:
            got += len(os.read(read, 65536))
        os._exit(0)
    write_all(write, b"y" * 10)
    _, status = os.waitpid(pid, 0)
    assert status == 0
    os.close(read)
    os.close(write)
