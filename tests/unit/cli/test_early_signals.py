"""Signals that come while a run is still being imported."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from flybridge.cli import early_signals
from flybridge.cli.early_signals import ENDING, held, install


@pytest.fixture
def handlers() -> Iterator[None]:
    """Start as at a terminal, however the tests were started; put everything back afterwards."""
    before = {number: signal.getsignal(number) for number in ENDING}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    held.clear()


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["flybridge"],
        ["/usr/bin/flybridge", "chat"],
        ["/usr/bin/flybridge", "--help", "adhoc"],
        ["/usr/bin/pytest", "run"],
        ["-m", "adhoc"],
    ],
)
def test_other_programs_and_commands_keep_their_handlers(argv: list[str], handlers: None) -> None:
    before = [signal.getsignal(number) for number in ENDING]
    assert not install(argv)
    assert [signal.getsignal(number) for number in ENDING] == before


@pytest.mark.parametrize("command", ["adhoc", "run"])
def test_c09_signals_of_a_run_are_kept_in_their_order(command: str, handlers: None) -> None:
    assert install(["/usr/bin/flybridge", command, "x"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.raise_signal(number)
    assert early_signals.held == [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def test_c09_a_run_under_nohup_keeps_ignoring_sighup(handlers: None) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert install(["/usr/bin/flybridge", "adhoc"])
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.raise_signal(number)
    assert early_signals.held == [signal.SIGTERM]


def test_c09_the_handlers_come_before_everything_that_takes_time() -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "flybridge", "adhoc", "--help"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    names = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    first = names.index("flybridge.cli.early_signals")
    heavy = {"click", "asyncio", "msgspec", "flybridge.cli.main"}
    assert heavy & set(names[:first]) == set()
    assert {"click", "flybridge.cli.main"} <= set(names[first:])
