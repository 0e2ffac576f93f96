"""Everything the doctor looks at, in the order it is shown. Nothing is started or changed."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

import flybridge
from flybridge.cli.doctor.agents import check_agents
from flybridge.cli.doctor.gateway import check_gateway, check_keepers
from flybridge.cli.doctor.isolation import check_isolation, check_other_users
from flybridge.cli.doctor.state import check_journal, check_state
from flybridge.cli.doctor.text import Check
from flybridge.config import Config, load, project_file, user_file
from flybridge.config.schema import KEYS
from flybridge.config.sources import variable
from flybridge.config.state_dir import StateDir
from flybridge.errors import ConfigError
from flybridge.store.database import OLDEST_SQLITE

DISK_S = 5.0
_T = TypeVar("_T")


async def examine(state: StateDir, environ: Mapping[str, str], cwd: Path) -> list[Check]:
    """Look at everything; takes seconds at most, whatever hangs."""
    try:
        config, about_config = await within(DISK_S, lambda: check_configuration(environ, cwd))
        about_state = await within(DISK_S, lambda: check_state(state))
    except TimeoutError:
        stuck = Check(
            area="disk",
            status="problem",
            text=f"{state.path} or a configuration file does not answer within {DISK_S:.0f} s",
            fix="look after the file system it is on, or choose another place with --state DIR",
        )
        return [check_system(), stuck]
    agents, inside = await asyncio.gather(_agents(config, environ), _inside(state, about_state))
    users = check_other_users(config.serve.users, config.serve.forwarders) if config else []
    git = check_git(environ)
    return [check_system(), *about_config, *users, *agents, *git, about_state, *inside]


async def _inside(state: StateDir, about_state: Check) -> list[Check]:
    """What the state directory holds, if it can be trusted."""
    if "exists" not in about_state.data:
        return []
    gateway = await check_gateway(state)
    isolation = await check_isolation(state, gateway)
    return [await _journal(state, gateway), gateway, check_keepers(state, gateway), *isolation]


async def _agents(config: Config | None, environ: Mapping[str, str]) -> list[Check]:
    if config is not None:
        return await check_agents(config, environ)
    text = "not looked at while the configuration cannot be read"
    return [Check(area="agents", status="note", text=text)]


async def _journal(state: StateDir, gateway: Check) -> Check:
    try:
        return await within(DISK_S, lambda: check_journal(state, gateway))
    except TimeoutError:
        return Check(
            area="journal",
            status="note",
            text=f"could not be read within {DISK_S:.0f} s",
            fix="ask again; if it stays so, look after the disk",
        )


async def within(seconds: float, work: Callable[[], _T]) -> _T:
    """Do something that may block for ever, in a thread that nobody waits for in the end.

    Raises:
        TimeoutError: it was not done in time.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: _T | None = None
        failed: BaseException | None = None
        try:
            result = work()
        except BaseException as error:
            failed = error
        try:
            loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(seconds):
        return await done


# ---- this program, and what it runs on -----------------------------------------------------------


def check_system() -> Check:
    python, sqlite = platform.python_version(), sqlite3.sqlite_version
    system = f"{platform.system()} {platform.release()}"
    text = f"{flybridge.__version__}, Python {python}, SQLite {sqlite}, {system}"
    data: dict[str, object] = {
        "version": flybridge.__version__,
        "python": python,
        "sqlite": sqlite,
        "system": system,
    }
    fix = ""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        fix = "this SQLite is too old: use a Python that comes with 3.37 or newer"
    elif not hasattr(os, "pidfd_open"):
        fix = "agents are kept on Linux only"
    return Check(area="flybridge", status="problem" if fix else "ok", text=text, fix=fix, data=data)


def check_git(environ: Mapping[str, str]) -> list[Check]:
    """Only worth a word where it is missing."""
    if shutil.which("git", path=environ.get("PATH")):
        return []
    text = "not found on PATH; agents then see no branch and no changes"
    return [Check(area="git", status="note", text=text, fix="install git")]


# ---- configuration -------------------------------------------------------------------------------


def check_configuration(environ: Mapping[str, str], cwd: Path) -> tuple[Config | None, list[Check]]:
    """What holds everywhere, None if it cannot be read; and a word on every source of it."""
    user = user_file(environ)
    config, about = _read(None, environ, user, "configuration")
    if config is None:
        return None, [about]
    names = [name for name in map(variable, KEYS) if name in environ]
    if names:
        about = msgspec.structs.replace(
            about,
            detail=f"set in the environment: {', '.join(names)}",
            data=about.data | {"environment": names},
        )
    project = project_file(cwd)
    if project is None or project == user:
        return config, [about]
    return config, [about, _read(cwd, environ, project, "project file")[1]]


def _read(
    cwd: Path | None, environ: Mapping[str, str], path: Path | None, area: str
) -> tuple[Config | None, Check]:
    data: dict[str, object] = {"file": None if path is None else str(path)}
    try:
        config = load(cwd, env=environ)
        there = path is not None and path.exists()
    except (ConfigError, OSError) as error:
        fix = "correct it: nothing starts with a setting that is not understood"
        return None, Check(area=area, status="problem", text=str(error), fix=fix, data=data)
    text = str(path) if there else f"no file, all as built in ({path or 'no home directory'})"
    return config, Check(area=area, text=text, data=data | {"exists": there})
