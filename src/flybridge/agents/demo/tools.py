"""The demo's hands. They are tied: four harmless programs, small files, and pretending.

Nothing here goes through a shell, and nothing runs before a person (or a mode a person
chose) allowed it.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
from collections.abc import Callable

import msgspec

from flybridge.agents.demo.blocks import Outcome, failed
from flybridge.agents.demo.files import edit_file, read_file, write_file
from flybridge.agents.demo.options import DEFAULT_PACE_MS
from flybridge.agents.demo.stream import Json

SAFE_PATH = "/usr/bin:/bin"
RUN_S = 10.0
MAX_OUTPUT_BYTES = 30_000
MAX_SLEEP_S = 60

Progress = Callable[[int, float], None]


class Hands(msgspec.Struct, frozen=True):
    cwd: str
    pace_s: float

    async def use(self, name: str, given: Json, progress: Progress) -> Outcome:
        """Carry out one allowed call. Never raises on what the call asks for."""
        path = str(given.get("file_path"))
        match name:
            case "Write":
                return write_file(self.cwd, path, str(given.get("content")))
            case "Read":
                return read_file(self.cwd, path)
            case "Edit":
                old, new = str(given.get("old_string")), str(given.get("new_string"))
                everywhere = given.get("replace_all") is True
                return edit_file(self.cwd, path, old, new, everywhere=everywhere)
            case _:
                return await self._bash(given, progress)

    async def _bash(self, given: Json, progress: Progress) -> Outcome:
        command = str(given.get("command", ""))
        if asleep := re.fullmatch(r"sleep (\d{1,2})", command.strip()):
            return await self._sleep(min(int(asleep[1]), MAX_SLEEP_S), progress)
        argv = harmless(command)
        if argv is None:
            return pretended(command)
        return await run_program(argv, self.cwd)

    async def _sleep(self, seconds: int, progress: Progress) -> Outcome:
        """Wait without a process. Its seconds follow the pace, so that tests need not wait."""
        for count in range(seconds):
            await asyncio.sleep(seconds_at(self.pace_s))
            progress(count, count + 1)
        return shown(f"slept for {seconds} s")


def seconds_at(pace_s: float, seconds: float = 1) -> float:
    """How long the demo's seconds are: at another pace than the usual one, longer or shorter."""
    return seconds * pace_s / (DEFAULT_PACE_MS / 1000)


def harmless(command: str) -> list[str] | None:
    """The program and its arguments if it is one the demo really runs, else None."""
    try:
        argv = shlex.split(command)
    except ValueError:
        return None
    if not argv or argv[0] not in ("ls", "date", "echo", "pwd"):
        return None
    # `date` can set the clock and read files: only its format is let through.
    if argv[0] == "date" and not all(arg == "-u" or arg.startswith("+") for arg in argv[1:]):
        return None
    program = shutil.which(argv[0], path=SAFE_PATH)
    return [program, *argv[1:]] if program else None


def pretended(command: str) -> Outcome:
    note = "simulated: the demo agent really runs only ls, date, echo and pwd"
    return shown(f"({note}; `{command[:200]}` was not run)")


async def run_program(argv: list[str], cwd: str) -> Outcome:
    """Run it without a shell, without our environment, and not for long."""
    env = {"PATH": SAFE_PATH, "LC_ALL": "C.UTF-8"}
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=cwd, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        return failed(f"could not start {argv[0]}: {error.strerror}")
    try:
        async with asyncio.timeout(RUN_S):  # wait_for may swallow an interrupt
            out, err = await process.communicate()
    except TimeoutError:
        return failed(f"stopped after {RUN_S:g} s")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = (out + err)[:MAX_OUTPUT_BYTES].decode(errors="replace").rstrip("\n")
    if process.returncode:
        return failed(f"Exit code {process.returncode}\n{text}")
    return shown(text)


def shown(text: str) -> Outcome:
    detail: Json = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    return Outcome(text=text or "(no output)", detail={**detail, "noOutputExpected": False})
