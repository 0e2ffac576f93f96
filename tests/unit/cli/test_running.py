from __future__ import annotations

import asyncio

import pytest

from flybridge.cli.running import run
from flybridge.errors import GatewayUnreachableError


async def value() -> int:
    return 7


async def known() -> None:
    raise GatewayUnreachableError("no gateway\x1b answers")


async def unknown() -> None:
    raise ZeroDivisionError("oops")


async def cancelled() -> None:
    raise asyncio.CancelledError


def test_what_a_command_returns_comes_back() -> None:
    assert run(value()) == 7


def test_an_error_is_one_line_and_exit_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run(known())
    assert end.value.code == 1
    assert capsys.readouterr().err == "flybridge: no gateway^[ answers (gateway_unreachable)\n"


def test_a_mistake_of_ours_is_one_line_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as end:
        run(unknown())
    assert end.value.code == 1
    assert capsys.readouterr().err == "flybridge: ZeroDivisionError: oops (internal)\n"
    monkeypatch.setenv("FLYBRIDGE_LOG_LEVEL", "debug")
    with pytest.raises(ZeroDivisionError):
        run(unknown())


def test_an_interrupted_command_exits_with_130() -> None:
    with pytest.raises(SystemExit) as end:
        run(cancelled())
    assert end.value.code == 130
