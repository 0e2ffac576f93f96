"""How a command ends: its exit status, and one line for whatever went wrong."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from flybridge.cli.rendering.safe_text import visible
from flybridge.errors import FlybridgeError, NotAllowedError

USAGE = 2
INTERRUPTED = 130
_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command to its end; what goes wrong is said in one line, never as a traceback."""
    try:
        return asyncio.run(work)
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # whoever read us has enough; Python would complain once more when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except NotAllowedError as error:
        fail(_refusal(error), error.code)
    except FlybridgeError as error:
        fail(str(error), error.code)
    except Exception as error:
        if os.environ.get("FLYBRIDGE_LOG_LEVEL") == "debug":
            raise
        fail(f"{type(error).__name__}: {error}", "internal")


def _refusal(error: NotAllowedError) -> str:
    """Return what to do about a missing right. At the gateway's own socket, somebody at a terminal
    administers it."""
    unexplained = str(error) == str(NotAllowedError("admin"))
    if unexplained and not sys.stdin.isatty():
        return "This command requires an interactive terminal."
    return str(error)


def ask(name: str, params: dict[str, Any], state: Path | None, *, us: str) -> dict[str, Any]:
    """Ask the gateway one thing, and be done."""
    return run(_asked(name, params, state, us))


async def _asked(name: str, params: dict[str, Any], state: Path | None, us: str) -> dict[str, Any]:
    from flybridge.client import connect

    async with await connect(state, name=us) as client:
        return await client.ask(name, params)


def fail(text: str, code: str, status: int = 1) -> NoReturn:
    """Say what went wrong, and what it is called; then exit."""
    click.echo(f"flybridge: {visible(text)} ({code})", err=True)
    sys.exit(status)
