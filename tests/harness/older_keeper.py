"""Packages of an older version, whose keepers connect agents by pipes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import flybridge
from tests.conftest import COULD_NOT_RUN

PACKAGE = Path(flybridge.__file__).parent
LAST_WITH_PIPES = "70385c4"

# What an older keeper is to its gateway and its agent: pipes, and a WELCOME that does not say
# how the agent is connected.
KEEPER_WITH_PIPES = """
import os, sys
sys.path.insert(0, {folder!r})
import the_keeper as program

def frame(kind, number=0, body=b""):
    if kind == program.WELCOME:
        welcome = program.json.loads(body)
        del welcome["agent_io"]
        body = program.json.dumps(welcome).encode()
    return program.FRAME.pack(kind, number, len(body)) + body

program.frame = frame
program.one_way_sockets = lambda _: os.pipe()
sys.exit(program.main())
"""


def with_pipes(folder: Path) -> Path:
    """Return a package whose gateway is this one and whose keepers use pipes."""
    package = folder / "old" / "flybridge"
    ignored = shutil.ignore_patterns("built", "__pycache__")
    shutil.copytree(PACKAGE, package, ignore=ignored)
    keeper = package / "runtime" / "keeper"
    (keeper / "keeper_program.py").rename(folder / "the_keeper.py")
    shim = KEEPER_WITH_PIPES.format(folder=str(folder))
    imported = "from the_keeper import *  # noqa\nfrom the_keeper import _compare_digest  # noqa\n"
    body = f"import sys\nsys.path.insert(0, {str(folder)!r})\n"
    body += f"if __name__ == '__main__':\n    exec({shim!r})\nelse:\n"
    body += "".join(f"    {line}\n" for line in imported.splitlines())
    (keeper / "keeper_program.py").write_text(body)
    return package.parent


def released(folder: Path) -> Path:
    """Return the package of the last version with pipes, from the history of this repository."""
    here, archive = ["git", "-C", str(PACKAGE)], folder / "old.zip"
    try:
        top = subprocess.run([*here, "rev-parse", "--show-toplevel"], capture_output=True)
        root = ["git", "-C", top.stdout.decode().strip(), "archive", "--format=zip"]
        subprocess.run([*root, f"--output={archive}", LAST_WITH_PIPES, "src"], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{COULD_NOT_RUN}the repository's history")
    shutil.unpack_archive(archive, folder / "old")
    return folder / "old" / "src"
